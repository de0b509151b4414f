// Points of matrix products, experts and attention, and the steady loads.
#include <algorithm>
#include <cmath>
#include <istream>
#include <optional>
#include <ostream>
#include <sstream>

#include "measure/gpu/attention.hpp"
#include "measure/gpu/bytes.hpp"
#include "measure/gpu/suite.hpp"

namespace ridge::measure {
namespace {

constexpr std::size_t kGiB = 1u << 30;

/// From Ada on; the text is "8.9" or "10.0".
bool has_fp8(const Bench& bench) {
  return std::stod(bench.profile.facts.compute_capability) >= 8.9;
}

/// Random operands that all points cut theirs from.
struct Arenas {
  Arenas(const Bench& bench, bool narrow, bool half) {
    const auto share = static_cast<std::size_t>(bench.profile.facts.free_bytes / 6);
    const std::size_t elements = std::min<std::size_t>(5 * kGiB / 2, share) / 2;
    weights = GpuBuffer<std::uint16_t>(elements);
    activations = GpuBuffer<std::uint16_t>(elements);
    out = GpuBuffer<std::uint16_t>(elements);
    if (half) {
      fill_random_fp16(weights.data(), elements, 0.05F, 11, bench.stream);
      fill_random_fp16(activations.data(), elements, 1, 12, bench.stream);
    } else if (narrow) {
      fill_random_fp8(narrow_weights(), 2 * elements, 1, 11, bench.stream);
      fill_random_fp8(narrow_activations(), 2 * elements, 1, 12, bench.stream);
    } else {
      fill_random_bf16(weights.data(), elements, 0.05F, 11, bench.stream);
      fill_random_bf16(activations.data(), elements, 1, 12, bench.stream);
    }
  }
  [[nodiscard]] std::uint8_t* narrow_weights() const { return reinterpret_cast<std::uint8_t*>(weights.data()); }
  [[nodiscard]] std::uint8_t* narrow_activations() const { return reinterpret_cast<std::uint8_t*>(activations.data()); }
  GpuBuffer<std::uint16_t> weights, activations, out;
};

/// Operands of a product: weights rotate past the cache, activations stay, as if the operator before had just made
/// them.
std::vector<GemmOperands> operands_of(const Bench& bench, const Arenas& arenas, const GemmShape& s) {
  const std::size_t each = bytes_of(s.format);
  const auto rows = static_cast<std::size_t>(s.n) * s.k;
  const std::size_t arena = arenas.weights.bytes() / each;
  const bool fits = static_cast<std::size_t>(s.m) * s.k * each <= arenas.activations.bytes() &&
                    static_cast<std::size_t>(s.m) * s.n * 2 <= arenas.out.bytes();
  if (!fits) throw GpuFailure{"does not fit the memory set aside for it", true};
  std::vector<GemmOperands> sets;
  for (const std::size_t offset : bench.rotate(rows, each, arena)) {
    sets.push_back({arenas.activations.data(), arenas.narrow_weights() + offset * each, arenas.out.data()});
  }
  return sets;
}

struct Matrix {
  int n, k;
  bool every_m;  ///< the whole range of m; else a few
};

/// Projections of Llama 3.1 8B (QKV, output, gate and up, down, head), of 70B under tensor parallelism 8, 4 and 1, and
/// squares.
const std::vector<Matrix>& matrices(bool full) {
  static const std::vector<Matrix> kQuick = {
      {6144, 4096, true},  {4096, 4096, true},  {28672, 4096, true}, {4096, 14336, true},  {1280, 8192, false},
      {8192, 1024, false}, {7168, 8192, false}, {8192, 3584, false}, {10240, 8192, false}, {8192, 28672, false}};
  static const std::vector<Matrix> kFull = {
      {6144, 4096, true},  {4096, 4096, true}, {28672, 4096, true}, {4096, 14336, true}, {1280, 8192, true},
      {8192, 1024, true},  {7168, 8192, true}, {8192, 3584, true},  {2560, 8192, true},  {8192, 2048, true},
      {14336, 8192, true}, {8192, 7168, true}, {10240, 8192, true}, {8192, 8192, true},  {57344, 8192, true},
      {8192, 28672, true}, {5120, 5120, true}, {7168, 2048, true},  {4096, 7168, true},  {2112, 7168, true}};
  return full ? kFull : kQuick;
}

/// Large products first run until the power limit has found its clock; so do those of a tenth their size, for less
/// long.
Timing time_product(const Bench& bench, const Blas& blas, const GemmPlan& plan, const std::vector<GemmOperands>& sets,
                    bool full) {
  const GemmShape& s = plan.shape;
  const bool large = is_large(s), middling = 2.0 * s.m * s.n * s.k > 2e10;
  TimingOptions o;
  o.budget = large ? (full ? 0.2 : 0.15) : (full ? 0.1 : 0.025);
  o.sample = large ? 5e-3 : 5e-4;
  o.settle = large ? 0.12 : middling ? 0.04 : 0;
  o.rotation = static_cast<int>(sets.size());
  return time_operation(
      bench.stream, [&](int i) { blas.run(plan, sets[static_cast<std::size_t>(i) % sets.size()]); }, o);
}

void products_in(Bench& bench, Blas& blas, GemmFormat format, bool full) {
  const Arenas arenas(bench, format == GemmFormat::fp8, format == GemmFormat::fp16);
  std::vector<int> every = {1, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384};
  std::vector<int> few = {1, 16, 64, 256, 2048, 8192};
  if (full) {
    every = {1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 4096, 8192, 16384};
    few = every;
  }
  const auto measure = [&](int m, int n, int k) {
    const GemmShape shape{m, n, k, format};
    Point p;
    p.op = "gemm";
    p.format = name(format);
    p.m = m;
    p.n = n;
    p.k = k;
    p.notes = "cuBLASLt, sustained";
    bench.point(p, [&] {
      const auto sets = operands_of(bench, arenas, shape);
      return time_product(bench, blas, blas.tune(shape, sets, tuning_for(shape, full)), sets, full);
    });
  };
  if (format == GemmFormat::fp16) {  // the same units as bf16: a few points show it
    for (const int m : {16, 512, 8192}) measure(m, 4096, 4096);
    measure(8192, 8192, 8192);
    return;
  }
  for (const Matrix& matrix : matrices(full)) {
    for (const int m : matrix.every_m ? every : few) measure(m, matrix.n, matrix.k);
  }
  if (format == GemmFormat::bf16) {
    for (const int m : {1, 16, 64, 256}) measure(m, 128256, 4096);
  }
  measure(8192, 8192, 8192);
}

}  // namespace

void measure_products(Bench& bench, bool full) {
  Blas blas(bench.stream);
  products_in(bench, blas, GemmFormat::bf16, full);
  products_in(bench, blas, GemmFormat::fp16, full);
  if (has_fp8(bench)) {
    products_in(bench, blas, GemmFormat::fp8, full);
  } else {
    bench.skip("gemm fp8", "the device has no FP8 products");
  }
}

void answer_products(Bench& bench, std::istream& in, std::ostream& out) {
  Blas blas(bench.stream);
  std::optional<Arenas> arenas;
  std::optional<GemmPlan> plan;
  for (std::string line; std::getline(in, line) && !bench.interrupted();) {
    std::istringstream words(line);
    std::string format;
    GemmShape s;
    constexpr int kMost = 1 << 20;
    const auto fine = [](int size) { return size >= 1 && size <= kMost; };
    if (!(words >> format >> s.m >> s.n >> s.k) || (format != "bf16" && format != "fp16" && format != "fp8") ||
        !fine(s.m) || !fine(s.n) || !fine(s.k)) {
      out << "refused: a line is a format (bf16, fp16, fp8) and m, n and k from 1 to " << kMost << std::endl;
      continue;
    }
    s.format = format == "fp8" ? GemmFormat::fp8 : format == "fp16" ? GemmFormat::fp16 : GemmFormat::bf16;
    try {
      if (!arenas || !plan || plan->shape.format != s.format) {
        arenas.reset();
        arenas.emplace(bench, s.format == GemmFormat::fp8, s.format == GemmFormat::fp16);
      }
      const auto sets = operands_of(bench, *arenas, s);
      if (!plan || plan->shape != s) plan = blas.tune(s, sets, tuning_for(s, false));
      const Timing timing = time_product(bench, blas, *plan, sets, false);
      out << timing.seconds << ' ' << timing.low << ' ' << timing.high << ' ' << bench.monitor.read().clock_hz << ' '
          << (plan->by_cublas ? "cublas" : std::to_string(plan->rank)) << ' ' << plan->tried << std::endl;
    } catch (const GpuFailure& failure) {
      (void)gpuGetLastError();
      out << "refused: " << failure.text << std::endl;
    }
  }
}

// Gate and up, then down, of Mixtral's experts cut in two, each expert with the same number of rows.
void measure_experts(Bench& bench, bool full) {
  Blas blas(bench.stream);
  const Arenas arenas(bench, false, false);
  constexpr int kExperts = 8, kHidden = 4096, kWidth = 7168, kTopK = 2;
  std::vector<int> tokens = {4, 16, 64, 256, 1024, 4096};
  if (full) tokens = {4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192};
  for (const int t : tokens) {
    const int rows = t * kTopK / kExperts;
    Point p;
    p.op = "moe_ffn";
    p.format = "bf16";
    p.m = t;
    p.n = kWidth;
    p.k = kHidden;
    p.experts = kExperts;
    p.top_k = kTopK;
    p.group = 1;
    p.notes = "cuBLAS grouped GEMM; routing balanced; gate and up, then down; no activation, no permutation";
    bench.point(p, [&] {
      const std::size_t up = 2ull * kWidth * kHidden, down = static_cast<std::size_t>(kWidth) * kHidden;
      const std::size_t inner = static_cast<std::size_t>(rows) * 2 * kWidth,
                        outer = static_cast<std::size_t>(rows) * kHidden;
      if (kExperts * (up + down) > arenas.weights.count()) throw GpuFailure{"does not fit the memory set aside", true};
      std::vector<void*> in, weights_up, middle, weights_down, out;
      for (std::size_t e = 0; e < kExperts; ++e) {
        in.push_back(arenas.activations.data() + e * outer);
        weights_up.push_back(arenas.weights.data() + e * up);
        middle.push_back(arenas.out.data() + e * inner);
        weights_down.push_back(arenas.weights.data() + kExperts * up + e * down);
        out.push_back(arenas.out.data() + kExperts * inner + e * outer);
      }
      const auto upload = [&](const std::vector<void*>& pointers) {
        GpuBuffer<void*> buffer(pointers.size());
        check(gpuMemcpyAsync(buffer.data(), pointers.data(), buffer.bytes(), gpuMemcpyHostToDevice, bench.stream),
              "copying pointers");
        return buffer;
      };
      const GpuBuffer<void*> d_in = upload(in), d_up = upload(weights_up), d_middle = upload(middle),
                             d_down = upload(weights_down), d_out = upload(out);
      const std::vector<int> each(kExperts, rows);
      TimingOptions o;
      o.budget = full ? 0.4 : 0.08;
      o.graph = false;  // the library copies its arguments from host memory at each call
      return time_operation(
          bench.stream,
          [&](int) {
            blas.run_grouped(each, 2 * kWidth, kHidden, d_in.data(), d_up.data(), d_middle.data());
            blas.run_grouped(each, kHidden, kWidth, d_middle.data(), d_down.data(), d_out.data());
          },
          o);
    });
  }
}

void measure_attention(Bench& bench, bool full) {
  const Arenas arenas(bench, false, false);
  GpuBuffer<float> scratch(64u << 20);
  struct Layout {
    int q, kv;
  };
  TimingOptions o;
  o.budget = full ? 0.4 : 0.05;
  const auto shape_of = [](const AttentionCall& c, const char* op) {
    Point p;
    p.op = op;
    p.format = "bf16";
    p.batch = c.batch;
    p.q_heads = c.q_heads;
    p.kv_heads = c.kv_heads;
    p.head_dim = kHeadDim;
    p.q_len = c.q_len;
    p.kv_len = c.kv_len;
    p.notes = "own kernel, mma.sync";
    return p;
  };
  // Queries lie in the arena of outputs, keys and values in the others; the result goes behind the queries.
  const auto call_of = [&](const Layout& l, int batch, int q_len, int kv_len) {
    AttentionCall c;
    c.q_heads = l.q;
    c.kv_heads = l.kv;
    c.batch = batch;
    c.q_len = q_len;
    c.kv_len = c.capacity = kv_len;
    c.query_stride = l.q * kHeadDim;
    c.queries = arenas.out.data();
    c.out = arenas.out.data() + arenas.out.count() / 2;
    c.keys = arenas.weights.data();
    c.values = arenas.activations.data();
    return c;
  };
  fill_random_bf16(arenas.out.data(), arenas.out.count(), 1, 13, bench.stream);

  struct Prompt {
    int batch, length;
  };
  std::vector<Prompt> prompts = {{1, 1024}, {1, 2048}, {1, 4096},  {1, 8192},  {1, 16384}, {4, 1024},
                                 {4, 2048}, {4, 4096}, {16, 1024}, {16, 2048}, {32, 1024}, {16, 512}};
  for (const Layout& l : {Layout{32, 8}, Layout{8, 1}, Layout{64, 8}}) {
    const bool main = l.q == 32;
    for (const Prompt& prompt : prompts) {
      if (!main && !full && prompt.batch != 1) continue;
      const AttentionCall c = call_of(l, prompt.batch, prompt.length, prompt.length);
      bench.point(shape_of(c, "attn_prefill"), [&] {
        if (static_cast<std::size_t>(c.batch) * c.q_len * c.q_heads * kHeadDim > arenas.out.count() / 2) {
          throw GpuFailure{"does not fit the memory set aside for it", true};
        }
        return time_operation(
            bench.stream, [&](int) { prefill_attention(c, bench.stream); }, o);
      });
    }
    std::vector<int> batches = {1, 4, 16, 64, 256};
    if (full) batches = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512};
    for (const int batch : batches) {
      for (const int length : {512, 1024, 2048, 4096, 8192}) {
        if (!main && !full && length != 1024 && length != 4096) continue;
        AttentionCall c = call_of(l, batch, 1, length);
        const std::size_t elements = static_cast<std::size_t>(batch) * l.kv * length * kHeadDim;
        if (elements > arenas.weights.count()) continue;  // the largest batches of the longest sequences
        bench.point(shape_of(c, "attn_decode"), [&] {
          const auto sets = bench.rotate(elements, 4, arenas.weights.count());
          const DecodePlan plan = plan_decode(c, bench.multiprocessors);
          if (plan.scratch_floats > scratch.count()) throw GpuFailure{"scratch is too small for this", true};
          TimingOptions rotating = o;
          rotating.rotation = static_cast<int>(sets.size());
          return time_operation(
              bench.stream,
              [&](int i) {
                AttentionCall at = c;
                at.keys += sets[static_cast<std::size_t>(i) % sets.size()];
                at.values += sets[static_cast<std::size_t>(i) % sets.size()];
                decode_attention(at, plan, scratch.data(), bench.stream);
              },
              rotating);
        });
      }
    }
  }
}

void measure_sustained(Bench& bench, bool full) {
  const double seconds = full ? 6 : 1.2;
  Blas blas(bench.stream);
  const auto product = [&](GemmFormat format, int m, int n, int k, const char* work) {
    const Arenas arenas(bench, format == GemmFormat::fp8, format == GemmFormat::fp16);
    const GemmShape shape{m, n, k, format};
    const auto sets = operands_of(bench, arenas, shape);
    const GemmPlan plan = blas.tune(shape, sets, tuning_for(shape, full));
    bench.sustain(
        work, 2.0 * m * n * k, "FLOP/s", seconds,
        [&](int i) { blas.run(plan, sets[static_cast<std::size_t>(i) % sets.size()]); }, static_cast<int>(sets.size()));
  };
  product(GemmFormat::bf16, 8192, 8192, 8192, "product bf16, 8192 x 8192 x 8192");
  if (has_fp8(bench)) {
    product(GemmFormat::fp8, 8192, 8192, 8192, "product fp8, 8192 x 8192 x 8192");
  }
  product(GemmFormat::bf16, 16, 28672, 4096, "product bf16, 16 x 28672 x 4096");
  const Arenas arenas(bench, false, false);
  const std::size_t bytes = std::min<std::size_t>(kGiB, arenas.weights.bytes());
  bench.sustain(
      "copy", 2.0 * static_cast<double>(bytes), "B/s", seconds,
      [&](int) { copy_bytes(arenas.weights.data(), arenas.out.data(), bytes, bench.stream); }, 1);
  AttentionCall c;
  c.batch = 1;
  c.q_len = c.kv_len = c.capacity = 8192;
  c.query_stride = c.q_heads * kHeadDim;
  c.queries = arenas.out.data();
  c.out = arenas.out.data() + arenas.out.count() / 2;
  c.keys = arenas.weights.data();
  c.values = arenas.activations.data();
  bench.sustain(
      "attention over a prompt of 8192, 32 heads", 2.0 * c.q_heads * kHeadDim * 8192.0 * 8193.0, "FLOP/s", seconds,
      [&](int) { prefill_attention(c, bench.stream); }, 1);
}

}  // namespace ridge::measure
