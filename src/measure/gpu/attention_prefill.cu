#include <algorithm>
#include <cmath>

#include "measure/gpu/attention.hpp"
#include "measure/gpu/attention_tiles.hpp"

namespace ridge::measure {
namespace {

constexpr int kQueries = 128;  // rows of a block: eight warps of sixteen
constexpr int kKeys = 64;      // of a step
constexpr int kStages = 3;
constexpr int kWarps = kQueries / 16;
constexpr int kThreads = 32 * kWarps;
constexpr int kTile = kKeys * kRowBytes;
constexpr int kSharedBytes = kQueries * kRowBytes + 2 * kStages * kTile;

struct PrefillArguments {
  const std::uint16_t* queries;
  const std::uint16_t* keys;
  const std::uint16_t* values;
  int query_stride, q_heads, kv_heads, q_len, kv_len, capacity;
  float scale_log2;
};

__device__ void load_tile(std::uint32_t tile, const std::uint16_t* rows, std::size_t stride, int count, int available) {
  for (int i = static_cast<int>(threadIdx.x); i < count * 16; i += kThreads) {
    const int row = i / 16, chunk = i % 16;
    const bool valid = row < available;
    copy_chunk(tile_address(tile, row, chunk), rows + (valid ? row : 0) * stride + chunk * 8, valid);
  }
}

template <class Out>
__global__ void __launch_bounds__(kThreads, 1) prefill_kernel(PrefillArguments a, Out* out) {
  extern __shared__ __align__(1024) std::uint8_t shared[];
  const std::uint32_t query_tile = shared_address(shared);
  const std::uint32_t key_tiles = query_tile + kQueries * kRowBytes;
  const std::uint32_t value_tiles = key_tiles + kStages * kTile;

  const int blocks = static_cast<int>(gridDim.x);
  const int first = (blocks - 1 - static_cast<int>(blockIdx.x)) * kQueries;  // the longest rows first
  const int head = static_cast<int>(blockIdx.y), sequence = static_cast<int>(blockIdx.z);
  const int kv_head = head / (a.q_heads / a.kv_heads);
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int before = a.kv_len - a.q_len;  // keys in the cache before the first query

  const std::size_t first_token = static_cast<std::size_t>(sequence) * a.q_len + first;
  const std::size_t cache = (static_cast<std::size_t>(sequence) * a.kv_heads + kv_head) * a.capacity * kHeadDim;
  const std::uint16_t* keys = a.keys + cache;
  const std::uint16_t* values = a.values + cache;

  const int last_key = min(a.kv_len, before + min(first + kQueries, a.q_len));  // exclusive
  const int steps = (last_key + kKeys - 1) / kKeys;

  load_tile(query_tile, a.queries + first_token * a.query_stride + head * kHeadDim, a.query_stride, kQueries,
            a.q_len - first);
  const auto fetch = [&](int step) {
    if (step < steps) {
      const int stage = step % kStages;
      const std::size_t row = static_cast<std::size_t>(step) * kKeys;
      load_tile(key_tiles + stage * kTile, keys + row * kHeadDim, kHeadDim, kKeys, a.kv_len - step * kKeys);
      load_tile(value_tiles + stage * kTile, values + row * kHeadDim, kHeadDim, kKeys, a.kv_len - step * kKeys);
    }
    close_copies();
  };
  fetch(0);  // together with the queries
  fetch(1);

  std::uint32_t query[kHeadDim / 16][4];
  float result[kHeadDim / 8][4] = {};
  OnlineSoftmax softmax;
  const int row0 = first + warp * 16 + lane / 4;  // this lane's rows: row0 and row0 + 8
  const int newest = before + first + warp * 16 + 15;

  for (int step = 0; step < steps; ++step) {
    wait_copies<1>();
    __syncthreads();  // what was fetched is there for all, and nobody reads the stage that is fetched next
    fetch(step + 2);
    if (step == 0) {
#pragma unroll
      for (int k = 0; k < kHeadDim / 16; ++k) {
        load_matrices(query[k], tile_address(query_tile, warp * 16 + lane % 16, 2 * k + lane / 16));
      }
    }
    const int key0 = step * kKeys;
    if (key0 > newest) continue;  // this warp's rows see none of these keys
    const std::uint32_t key_tile = key_tiles + (step % kStages) * kTile;
    const std::uint32_t value_tile = value_tiles + (step % kStages) * kTile;

    float scores[kKeys / 8][4] = {};
#pragma unroll
    for (int k = 0; k < kHeadDim / 16; ++k) {
#pragma unroll
      for (int j = 0; j < kKeys / 16; ++j) {
        std::uint32_t b[4];
        load_matrices(b, tile_address(key_tile, j * 16 + (lane / 16) * 8 + lane % 8, 2 * k + (lane / 8) % 2));
        multiply(scores[2 * j], query[k], b[0], b[1]);
        multiply(scores[2 * j + 1], query[k], b[2], b[3]);
      }
    }
    const bool masked = key0 + kKeys - 1 > before + first + warp * 16 || key0 + kKeys > a.kv_len;
#pragma unroll
    for (int j = 0; j < kKeys / 8; ++j) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        scores[j][i] *= a.scale_log2;
        if (masked) {
          const int key = key0 + j * 8 + 2 * (lane % 4) + i % 2;
          const int row = row0 + (i / 2) * 8;
          if (key > before + row || key >= a.kv_len) scores[j][i] = -INFINITY;
        }
      }
    }
    float shrink[2];
    softmax.weigh(scores, shrink);
#pragma unroll
    for (int n = 0; n < kHeadDim / 8; ++n) {
#pragma unroll
      for (int i = 0; i < 4; ++i) result[n][i] *= shrink[i / 2];
    }
#pragma unroll
    for (int j = 0; j < kKeys / 16; ++j) {
      const std::uint32_t weights[4] = {
          pack(scores[2 * j][0], scores[2 * j][1]), pack(scores[2 * j][2], scores[2 * j][3]),
          pack(scores[2 * j + 1][0], scores[2 * j + 1][1]), pack(scores[2 * j + 1][2], scores[2 * j + 1][3])};
#pragma unroll
      for (int n = 0; n < kHeadDim / 16; ++n) {
        std::uint32_t b[4];
        load_matrices_transposed(b, tile_address(value_tile, j * 16 + lane % 16, 2 * n + lane / 16));
        multiply(result[2 * n], weights, b[0], b[1]);
        multiply(result[2 * n + 1], weights, b[2], b[3]);
      }
    }
  }

#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = row0 + 8 * half;
    const float inverse = 1.0F / row_sum(softmax.sum[half]);
    if (row >= a.q_len) continue;
    const std::size_t token = static_cast<std::size_t>(sequence) * a.q_len + row;
    Out* to = out + (token * a.q_heads + head) * kHeadDim + 2 * (lane % 4);
#pragma unroll
    for (int n = 0; n < kHeadDim / 8; ++n) {
      store_pair(to + n * 8, result[n][2 * half] * inverse, result[n][2 * half + 1] * inverse);
    }
  }
}

template <class Out>
void launch(const PrefillArguments& arguments, Out* out, const AttentionCall& call, gpuStream_t stream) {
  check(cudaFuncSetAttribute(prefill_kernel<Out>, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes),
        "shared memory of prefill attention");
  const dim3 grid(static_cast<unsigned>((call.q_len + kQueries - 1) / kQueries), static_cast<unsigned>(call.q_heads),
                  static_cast<unsigned>(call.batch));
  prefill_kernel<Out><<<grid, kThreads, kSharedBytes, stream>>>(arguments, out);
  check_launch("prefill attention");
}

}  // namespace

void prefill_attention(const AttentionCall& call, gpuStream_t stream) {
  const float scale = 1.0F / std::sqrt(static_cast<float>(kHeadDim)) * 1.44269504F;
  const PrefillArguments arguments{call.queries,  call.keys,  call.values, call.query_stride, call.q_heads,
                                   call.kv_heads, call.q_len, call.kv_len, call.capacity,     scale};
  if (call.narrow == Narrow::yes) {
    launch(arguments, static_cast<std::uint8_t*>(call.out), call, stream);
  } else {
    launch(arguments, static_cast<std::uint16_t*>(call.out), call, stream);
  }
}

}  // namespace ridge::measure
