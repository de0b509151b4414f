#include <cuda_bf16.h>
#include <cuda_fp8.h>

#include <cmath>

#include "measure/gpu/attention.hpp"
#include "measure/gpu/bytes.hpp"
#include "measure/gpu/self_check.hpp"

namespace ridge::measure {
namespace {

__device__ float value_of(const std::uint16_t* data, std::size_t at) {
  return __uint_as_float(static_cast<std::uint32_t>(data[at]) << 16);
}
__device__ float value_of(const std::uint8_t* data, std::size_t at) {
  __nv_fp8_e4m3 x;
  x.__x = data[at];
  return static_cast<float>(x);
}

template <class T>
__global__ void plain_product(const T* activations, const T* weights, float* out, int m, int n, int k) {
  const int column = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x), row = static_cast<int>(blockIdx.y);
  if (column >= n || row >= m) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) {
    sum += value_of(activations, static_cast<std::size_t>(row) * k + i) *
           value_of(weights, static_cast<std::size_t>(column) * k + i);
  }
  out[static_cast<std::size_t>(row) * n + column] = sum;
}

// One thread per query and head, three passes.
__global__ void plain_attention(AttentionCall c, float* out) {
  const int token = static_cast<int>(blockIdx.x), head = static_cast<int>(threadIdx.x);
  if (head >= c.q_heads) return;
  const int sequence = token / c.q_len, row = token % c.q_len;
  const int seen = c.kv_len - c.q_len + row + 1;
  const std::uint16_t* q = c.queries + static_cast<std::size_t>(token) * c.query_stride + head * kHeadDim;
  const int kv_head = head / (c.q_heads / c.kv_heads);
  const std::size_t cache = (static_cast<std::size_t>(sequence) * c.kv_heads + kv_head) * c.capacity * kHeadDim;
  const auto score = [&](int key) {
    float sum = 0;
    for (int d = 0; d < kHeadDim; ++d) {
      sum += value_of(q, d) * value_of(c.keys + cache, static_cast<std::size_t>(key) * kHeadDim + d);
    }
    return sum * rsqrtf(static_cast<float>(kHeadDim));
  };
  float largest = -INFINITY, total = 0;
  for (int key = 0; key < seen; ++key) largest = fmaxf(largest, score(key));
  float* to = out + (static_cast<std::size_t>(token) * c.q_heads + head) * kHeadDim;
  for (int d = 0; d < kHeadDim; ++d) to[d] = 0;
  for (int key = 0; key < seen; ++key) {
    const float weight = expf(score(key) - largest);
    total += weight;
    for (int d = 0; d < kHeadDim; ++d) {
      to[d] += weight * value_of(c.values + cache, static_cast<std::size_t>(key) * kHeadDim + d);
    }
  }
  for (int d = 0; d < kHeadDim; ++d) to[d] /= total;
}

double relative_error(const GpuBuffer<std::uint16_t>& out, const GpuBuffer<float>& plain, std::size_t count,
                      gpuStream_t stream) {
  std::vector<std::uint16_t> got(count);
  std::vector<float> wanted(count);
  check(gpuMemcpyAsync(got.data(), out.data(), count * 2, gpuMemcpyDeviceToHost, stream), "copying a result");
  check(gpuMemcpyAsync(wanted.data(), plain.data(), count * 4, gpuMemcpyDeviceToHost, stream), "copying a result");
  check(gpuStreamSynchronize(stream), "checking a kernel");
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t bits = static_cast<std::uint32_t>(got[i]) << 16;
    float x = 0;
    static_assert(sizeof(x) == sizeof(bits));
    __builtin_memcpy(&x, &bits, sizeof(x));
    difference += (static_cast<double>(x) - wanted[i]) * (static_cast<double>(x) - wanted[i]);
    norm += static_cast<double>(wanted[i]) * wanted[i];
  }
  return std::sqrt(difference / norm);
}

constexpr double kAllowed = 1e-2;

CheckLine check_attention(Bench& bench, int batch, int q_len, int kv_len, int q_heads, int kv_heads) {
  AttentionCall c;
  c.batch = batch;
  c.q_len = q_len;
  c.kv_len = kv_len;
  c.capacity = kv_len + 5;
  c.q_heads = q_heads;
  c.kv_heads = kv_heads;
  c.query_stride = q_heads * kHeadDim + 64;
  const std::size_t tokens = static_cast<std::size_t>(batch) * q_len;
  const std::size_t results = tokens * q_heads * kHeadDim;
  GpuBuffer<std::uint16_t> queries(tokens * c.query_stride), out(results);
  GpuBuffer<std::uint16_t> keys(static_cast<std::size_t>(batch) * kv_heads * c.capacity * kHeadDim),
      values(keys.count());
  GpuBuffer<float> plain(results);
  fill_random_bf16(queries.data(), queries.count(), 2, 41, bench.stream);
  fill_random_bf16(keys.data(), keys.count(), 2, 42, bench.stream);
  fill_random_bf16(values.data(), values.count(), 1, 43, bench.stream);
  check(gpuMemsetAsync(out.data(), 0xFF, out.bytes(), bench.stream), "poisoning the output");  // NaN where unwritten
  c.queries = queries.data();
  c.keys = keys.data();
  c.values = values.data();
  c.out = out.data();
  std::string what = q_len > 1 ? "prefill attention" : "decode attention";
  GpuBuffer<float> scratch;
  if (q_len > 1) {
    prefill_attention(c, bench.stream);
  } else {
    const DecodePlan plan = plan_decode(c, bench.multiprocessors);
    scratch = GpuBuffer<float>(plan.scratch_floats + 1);
    decode_attention(c, plan, scratch.data(), bench.stream);
    what += " in " + std::to_string(plan.splits) + " parts";
  }
  plain_attention<<<static_cast<unsigned>(tokens), 64, 0, bench.stream>>>(c, plain.data());
  check_launch("plain attention");
  what += ", " + std::to_string(batch) + " x " + std::to_string(q_len) + " over " + std::to_string(kv_len) + ", " +
          std::to_string(q_heads) + "/" + std::to_string(kv_heads) + " heads";
  return {what, relative_error(out, plain, results, bench.stream), kAllowed};
}

CheckLine check_product(Bench& bench, Blas& blas, const GemmShape& s) {
  const std::size_t each = bytes_of(s.format);
  const std::size_t in = static_cast<std::size_t>(s.m) * s.k, weights = static_cast<std::size_t>(s.n) * s.k;
  const std::size_t results = static_cast<std::size_t>(s.m) * s.n;
  GpuBuffer<std::uint8_t> a(in * each), w(weights * each);
  GpuBuffer<std::uint16_t> out(results);
  GpuBuffer<float> plain(results);
  if (s.format == GemmFormat::fp8) {
    fill_random_fp8(a.data(), in, 1, 44, bench.stream);
    fill_random_fp8(w.data(), weights, 1, 45, bench.stream);
  } else {
    fill_random_bf16(reinterpret_cast<std::uint16_t*>(a.data()), in, 1, 44, bench.stream);
    fill_random_bf16(reinterpret_cast<std::uint16_t*>(w.data()), weights, 1, 45, bench.stream);
  }
  const std::vector<GemmOperands> sets = {{a.data(), w.data(), out.data()}};
  const GemmPlan plan = blas.tune(s, sets, {.candidates = 2});
  check(gpuMemsetAsync(out.data(), 0xFF, out.bytes(), bench.stream), "poisoning the output");
  blas.run(plan, sets[0]);
  const dim3 grid(static_cast<unsigned>((s.n + 127) / 128), static_cast<unsigned>(s.m));
  if (s.format == GemmFormat::fp8) {
    plain_product<<<grid, 128, 0, bench.stream>>>(a.data(), w.data(), plain.data(), s.m, s.n, s.k);
  } else {
    plain_product<<<grid, 128, 0, bench.stream>>>(reinterpret_cast<const std::uint16_t*>(a.data()),
                                                  reinterpret_cast<const std::uint16_t*>(w.data()), plain.data(), s.m,
                                                  s.n, s.k);
  }
  check_launch("a plain product");
  return {std::string("product ") + name(s.format) + ", " + std::to_string(s.m) + " x " + std::to_string(s.n) + " x " +
              std::to_string(s.k),
          relative_error(out, plain, results, bench.stream), kAllowed};
}

}  // namespace

std::vector<CheckLine> check_kernels(Bench& bench) {
  std::vector<CheckLine> lines;
  lines.push_back(check_attention(bench, 2, 300, 300, 8, 2));
  lines.push_back(check_attention(bench, 1, 128, 1024, 4, 1));
  lines.push_back(check_attention(bench, 1, 1024, 1024, 32, 8));
  lines.push_back(check_attention(bench, 3, 1, 777, 32, 8));
  lines.push_back(check_attention(bench, 1, 1, 5000, 32, 8));
  lines.push_back(check_attention(bench, 200, 1, 100, 8, 8));
  lines.push_back(check_attention(bench, 64, 1, 2048, 64, 4));
  Blas blas(bench.stream);
  lines.push_back(check_product(bench, blas, {48, 512, 1024, GemmFormat::bf16}));
  if (std::stod(bench.profile.facts.compute_capability) >= 8.9) {
    lines.push_back(check_product(bench, blas, {48, 512, 1024, GemmFormat::fp8}));
  }
  return lines;
}

}  // namespace ridge::measure
