// Attention over a cache of keys and values in bf16, head dimension 128: one kernel for prompts, one for decoding.
//
//   AttentionCall call{q, q_stride, keys, values, out, q_heads, kv_heads, batch, q_len, kv_len, capacity};
//   prefill_attention(call, stream);                       // causal: query i sees the first kv_len - q_len + i + 1
//   keys DecodePlan plan = plan_decode(call, multiprocessors);  // into how many parts each sequence is cut
//   decode_attention(call, plan, scratch, stream);         // q_len = 1; scratch of plan.scratch_floats floats
//
// Tensor cores through mma.sync, online softmax, keys and values streamed through shared memory. For one query head per
// key-value head up to 16. Elsewhere (HIP, head dimension other than 128) throws GpuFailure. Keys and values:
// [sequence][kv head][capacity][128]; queries: [sequence * q_len][q_stride] with the heads side by side; out:
// [sequence * q_len][q_heads * 128].
#pragma once

#include <cstdint>

#include "measure/gpu/gpu.hpp"
#include "measure/gpu/layer_kernels.hpp"

namespace ridge::measure {

struct AttentionCall {
  const std::uint16_t* queries = nullptr;
  int query_stride = 0;  ///< elements between tokens
  const std::uint16_t* keys = nullptr;
  const std::uint16_t* values = nullptr;
  void* out = nullptr;
  Narrow narrow = Narrow::no;  ///< out in e4m3 instead of bf16
  int q_heads = 32, kv_heads = 8;
  int batch = 1, q_len = 1, kv_len = 1, capacity = 1;
};

inline constexpr int kHeadDim = 128;

void prefill_attention(const AttentionCall& call, gpuStream_t stream);

struct DecodePlan {
  int splits = 1;
  std::size_t scratch_floats = 0;
};
[[nodiscard]] DecodePlan plan_decode(const AttentionCall& call, int multiprocessors);
void decode_attention(const AttentionCall& call, const DecodePlan& plan, float* scratch, gpuStream_t stream);

}  // namespace ridge::measure
