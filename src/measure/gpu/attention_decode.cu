#include <algorithm>
#include <cmath>

#include "measure/gpu/attention.hpp"
#include "measure/gpu/attention_tiles.hpp"

namespace ridge::measure {
namespace {

constexpr int kWarps = 4;
constexpr int kThreads = 32 * kWarps;
constexpr int kKeys = 16;  // of a step of one warp
constexpr int kStages = 3;
constexpr int kTile = kKeys * kRowBytes;
constexpr int kWarpBytes = 2 * kStages * kTile;
constexpr int kSharedBytes = kWarps * kWarpBytes;
constexpr int kMostGrouped = 16;
constexpr int kBlocksPerCore = 2;

struct DecodeArguments {
  const std::uint16_t* queries;
  const std::uint16_t* keys;
  const std::uint16_t* values;
  float* partial;  ///< [sequence][query head][split][130]: largest, sum, result; unused with one split
  int query_stride, q_heads, kv_heads, kv_len, capacity, splits;
  float scale_log2;
};

constexpr int kPartial = kHeadDim + 2;

// Every warp goes through its own sixteenths of the sequence without waiting for others; at the end the four of a block
// are joined in shared memory.
template <class Out>
__global__ void __launch_bounds__(kThreads, kBlocksPerCore) decode_kernel(DecodeArguments a, Out* out) {
  extern __shared__ __align__(1024) std::uint8_t shared[];
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int split = static_cast<int>(blockIdx.x), kv_head = static_cast<int>(blockIdx.y);
  const int sequence = static_cast<int>(blockIdx.z);
  const int group = a.q_heads / a.kv_heads;
  const std::uint32_t key_tiles = shared_address(shared) + warp * kWarpBytes;
  const std::uint32_t value_tiles = key_tiles + kStages * kTile;
  const std::size_t cache = (static_cast<std::size_t>(sequence) * a.kv_heads + kv_head) * a.capacity * kHeadDim;
  const std::uint16_t* keys = a.keys + cache;
  const std::uint16_t* values = a.values + cache;

  const int tiles = (a.kv_len + kKeys - 1) / kKeys;
  const int first_tile = static_cast<int>(static_cast<long long>(tiles) * split / a.splits);
  const int last_tile = static_cast<int>(static_cast<long long>(tiles) * (split + 1) / a.splits);
  const int steps = last_tile - first_tile > warp ? (last_tile - first_tile - warp + kWarps - 1) / kWarps : 0;

  const auto fetch = [&](int step) {
    if (step < steps) {
      const int key0 = (first_tile + warp + step * kWarps) * kKeys;
      const int stage = step % kStages;
#pragma unroll
      for (int i = 0; i < kKeys * 16 / 32; ++i) {
        const int row = i * 2 + lane / 16, chunk = lane % 16;
        const bool valid = key0 + row < a.kv_len;
        const std::size_t from = static_cast<std::size_t>(valid ? key0 + row : 0) * kHeadDim + chunk * 8;
        copy_chunk(tile_address(key_tiles + stage * kTile, row, chunk), keys + from, valid);
        copy_chunk(tile_address(value_tiles + stage * kTile, row, chunk), values + from, valid);
      }
    }
    close_copies();
  };
#pragma unroll
  for (int i = 0; i < kStages - 1; ++i) fetch(i);

  std::uint32_t query[kHeadDim / 16][4];
  const std::uint16_t* rows =
      a.queries + static_cast<std::size_t>(sequence) * a.query_stride + kv_head * group * kHeadDim;
#pragma unroll
  for (int k = 0; k < kHeadDim / 16; ++k) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int row = lane / 4 + (i % 2) * 8;
      const int column = k * 16 + 2 * (lane % 4) + (i / 2) * 8;
      query[k][i] = row < group ? *reinterpret_cast<const std::uint32_t*>(rows + row * kHeadDim + column) : 0;
    }
  }

  float result[kHeadDim / 8][4] = {};
  OnlineSoftmax softmax;
  for (int step = 0; step < steps; ++step) {
    wait_copies<kStages - 2>();
    __syncwarp();
    fetch(step + kStages - 1);
    const int key0 = (first_tile + warp + step * kWarps) * kKeys;
    const std::uint32_t key_tile = key_tiles + (step % kStages) * kTile;
    const std::uint32_t value_tile = value_tiles + (step % kStages) * kTile;
    float scores[2][4] = {};
#pragma unroll
    for (int k = 0; k < kHeadDim / 16; ++k) {
      std::uint32_t b[4];
      load_matrices(b, tile_address(key_tile, (lane / 16) * 8 + lane % 8, 2 * k + (lane / 8) % 2));
      multiply(scores[0], query[k], b[0], b[1]);
      multiply(scores[1], query[k], b[2], b[3]);
    }
#pragma unroll
    for (int j = 0; j < 2; ++j) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int key = key0 + j * 8 + 2 * (lane % 4) + i % 2;
        scores[j][i] = key < a.kv_len ? scores[j][i] * a.scale_log2 : -INFINITY;
      }
    }
    float shrink[2];
    softmax.weigh(scores, shrink);
    const std::uint32_t weights[4] = {pack(scores[0][0], scores[0][1]), pack(scores[0][2], scores[0][3]),
                                      pack(scores[1][0], scores[1][1]), pack(scores[1][2], scores[1][3])};
#pragma unroll
    for (int n = 0; n < kHeadDim / 16; ++n) {
      std::uint32_t b[4];
      load_matrices_transposed(b, tile_address(value_tile, lane % 16, 2 * n + lane / 16));
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        result[2 * n][i] *= shrink[i / 2];
        result[2 * n + 1][i] *= shrink[i / 2];
      }
      multiply(result[2 * n], weights, b[0], b[1]);
      multiply(result[2 * n + 1], weights, b[2], b[3]);
    }
    __syncwarp();  // all lanes have read the stage before it is filled again
  }
  wait_copies<0>();
  __syncthreads();

  // [warp][16 rows][130]: 33 KB, where the tiles were.
  auto* joined = reinterpret_cast<float*>(shared);
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = lane / 4 + 8 * half;
    float* mine = joined + (warp * kMostGrouped + row) * kPartial;
    const float sum = row_sum(softmax.sum[half]);
    if (row < group) {
      if (lane % 4 == 0) {
        mine[0] = softmax.largest[half];
        mine[1] = sum;
      }
#pragma unroll
      for (int n = 0; n < kHeadDim / 8; ++n) {
        mine[2 + n * 8 + 2 * (lane % 4)] = result[n][2 * half];
        mine[2 + n * 8 + 2 * (lane % 4) + 1] = result[n][2 * half + 1];
      }
    }
  }
  __syncthreads();
  for (int work = static_cast<int>(threadIdx.x); work < group * kHeadDim / 2; work += kThreads) {
    const int row = work / (kHeadDim / 2), column = work % (kHeadDim / 2) * 2;
    float largest = -INFINITY;
    for (int w = 0; w < kWarps; ++w) largest = fmaxf(largest, joined[(w * kMostGrouped + row) * kPartial]);
    const float base = largest == -INFINITY ? 0.0F : largest;
    float sum = 0, low = 0, high = 0;
    for (int w = 0; w < kWarps; ++w) {
      const float* part = joined + (w * kMostGrouped + row) * kPartial;
      const float share = exp2f(part[0] - base);
      sum += share * part[1];
      low += share * part[2 + column];
      high += share * part[3 + column];
    }
    const std::size_t head = static_cast<std::size_t>(sequence) * a.q_heads + kv_head * group + row;
    if (a.splits == 1) {
      store_pair(out + head * kHeadDim + column, low / sum, high / sum);
    } else {
      float* to = a.partial + (head * a.splits + split) * kPartial;
      if (column == 0) {
        to[0] = largest;
        to[1] = sum;
      }
      to[2 + column] = low;
      to[3 + column] = high;
    }
  }
}

template <class Out>
__global__ void join_kernel(const float* partial, Out* out, int splits) {
  const std::size_t head = blockIdx.x;
  const float* parts = partial + head * splits * kPartial;
  const int column = static_cast<int>(threadIdx.x) * 2;
  float largest = -INFINITY;
  for (int s = 0; s < splits; ++s) largest = fmaxf(largest, parts[s * kPartial]);
  const float base = largest == -INFINITY ? 0.0F : largest;
  float sum = 0, low = 0, high = 0;
  for (int s = 0; s < splits; ++s) {
    const float share = exp2f(parts[s * kPartial] - base);
    sum += share * parts[s * kPartial + 1];
    low += share * parts[s * kPartial + 2 + column];
    high += share * parts[s * kPartial + 3 + column];
  }
  store_pair(out + head * kHeadDim + column, low / sum, high / sum);
}

template <class Out>
void launch(const DecodeArguments& arguments, Out* out, const AttentionCall& call, gpuStream_t stream) {
  check(cudaFuncSetAttribute(decode_kernel<Out>, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes),
        "shared memory of decode attention");
  const dim3 grid(static_cast<unsigned>(arguments.splits), static_cast<unsigned>(call.kv_heads),
                  static_cast<unsigned>(call.batch));
  decode_kernel<Out><<<grid, kThreads, kSharedBytes, stream>>>(arguments, out);
  check_launch("decode attention");
  if (arguments.splits == 1) return;
  join_kernel<Out><<<static_cast<unsigned>(call.batch * call.q_heads), kHeadDim / 2, 0, stream>>>(
      arguments.partial, out, arguments.splits);
  check_launch("joining decode attention");
}

}  // namespace

DecodePlan plan_decode(const AttentionCall& call, int multiprocessors) {
  const int tiles = (call.kv_len + kKeys - 1) / kKeys;
  const double heads = static_cast<double>(call.batch) * call.kv_heads;
  const double places = static_cast<double>(multiprocessors) * kBlocksPerCore;
  constexpr double kStart = 10;  // what starting a block costs, in steps of its warps
  DecodePlan best;
  double least = 1e30;
  const int most = std::clamp(tiles / (2 * kWarps), 1, 64);
  for (int splits = 1; splits <= most; ++splits) {
    const double steps = std::ceil(std::ceil(static_cast<double>(tiles) / splits) / kWarps);
    const double waves = std::max(1.0, std::ceil(heads * splits / places - 0.05));
    const double cost = waves * (steps + kStart) + (splits > 1 ? 4 + 0.3 * splits : 0);
    if (cost < least) {
      least = cost;
      best.splits = splits;
    }
  }
  if (best.splits > 1) {
    best.scratch_floats = static_cast<std::size_t>(call.batch) * call.q_heads * best.splits * kPartial;
  }
  return best;
}

void decode_attention(const AttentionCall& call, const DecodePlan& plan, float* scratch, gpuStream_t stream) {
  if (call.q_heads / call.kv_heads > kMostGrouped) throw GpuFailure{"more than 16 query heads per key-value head"};
  const float scale = 1.0F / std::sqrt(static_cast<float>(kHeadDim)) * 1.44269504F;
  const DecodeArguments arguments{call.queries,      call.keys,    call.values,   scratch,
                                  call.query_stride, call.q_heads, call.kv_heads, call.kv_len,
                                  call.capacity,     plan.splits,  scale};
  if (call.narrow == Narrow::yes) {
    launch(arguments, static_cast<std::uint8_t*>(call.out), call, stream);
  } else {
    launch(arguments, static_cast<std::uint16_t*>(call.out), call, stream);
  }
}

}  // namespace ridge::measure
