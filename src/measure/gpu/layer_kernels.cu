#include <cuda_bf16.h>
#include <cuda_fp8.h>

#include "measure/gpu/layer_kernels.hpp"

namespace ridge::measure {
namespace {

constexpr int kVector = 8;  // bf16 values of a 16-byte access

__device__ std::uint16_t narrow16(float x) {
  return __bfloat16_as_ushort(__float2bfloat16(x));
}
__device__ std::uint8_t narrow8(float x) {
  return __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E4M3);
}

__device__ void load8(const std::uint16_t* from, float (&out)[kVector]) {
  const uint4 raw = *reinterpret_cast<const uint4*>(from);
  const std::uint32_t words[4] = {raw.x, raw.y, raw.z, raw.w};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    out[2 * i] = __uint_as_float(words[i] << 16);
    out[2 * i + 1] = __uint_as_float(words[i] & 0xFFFF0000U);
  }
}
__device__ void store8(std::uint16_t* to, const float (&in)[kVector]) {
  std::uint32_t words[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    words[i] = narrow16(in[2 * i]) | (static_cast<std::uint32_t>(narrow16(in[2 * i + 1])) << 16);
  }
  *reinterpret_cast<uint4*>(to) = make_uint4(words[0], words[1], words[2], words[3]);
}
__device__ void store8(std::uint8_t* to, const float (&in)[kVector]) {
  std::uint32_t words[2] = {0, 0};
#pragma unroll
  for (int i = 0; i < kVector; ++i) words[i / 4] |= static_cast<std::uint32_t>(narrow8(in[i])) << (8 * (i % 4));
  *reinterpret_cast<uint2*>(to) = make_uint2(words[0], words[1]);
}

__device__ float block_sum(float value, float* shared) {
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xFFFFFFFFU, value, offset);
  const int warps = static_cast<int>(blockDim.x) / 32;
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = value;
  __syncthreads();
  float total = 0;
  for (int i = 0; i < warps; ++i) total += shared[i];
  return total;
}

template <class Out>
__global__ void add_norm_kernel(std::uint16_t* residual, const std::uint16_t* delta, const std::uint16_t* weight,
                                Out* out, int hidden) {
  constexpr int kMost = 8;  // vectors per thread: hidden up to 16,384 with 256 threads
  __shared__ float shared[32];
  const std::size_t row = static_cast<std::size_t>(blockIdx.x) * hidden;
  float kept[kMost][kVector];
  float squares = 0;
#pragma unroll
  for (int j = 0; j < kMost; ++j) {
    const int at = (j * static_cast<int>(blockDim.x) + static_cast<int>(threadIdx.x)) * kVector;
    if (at < hidden) {
      load8(residual + row + at, kept[j]);
      if (delta != nullptr) {
        float added[kVector];
        load8(delta + row + at, added);
#pragma unroll
        for (int i = 0; i < kVector; ++i) kept[j][i] += added[i];
        store8(residual + row + at, kept[j]);
      }
#pragma unroll
      for (int i = 0; i < kVector; ++i) squares += kept[j][i] * kept[j][i];
    }
  }
  const float scale = rsqrtf(block_sum(squares, shared) / static_cast<float>(hidden) + 1e-5F);
#pragma unroll
  for (int j = 0; j < kMost; ++j) {
    const int at = (j * static_cast<int>(blockDim.x) + static_cast<int>(threadIdx.x)) * kVector;
    if (at < hidden) {
      float factors[kVector];
      load8(weight + at, factors);
#pragma unroll
      for (int i = 0; i < kVector; ++i) factors[i] *= kept[j][i] * scale;
      store8(out + row + at, factors);
    }
  }
}

__global__ void rotate_and_store_kernel(std::uint16_t* qkv, std::uint16_t* keys, std::uint16_t* values,
                                        const float2* rotations, Heads heads, int per_sequence, int first_position,
                                        int capacity) {
  const int token = static_cast<int>(blockIdx.x);
  const int sequence = token / per_sequence;
  const int position = first_position + token % per_sequence;
  const int half = heads.dim / 2;
  std::uint16_t* row = qkv + static_cast<std::size_t>(token) * ((heads.query + 2 * heads.kv) * heads.dim);
  const float2* angle = rotations + static_cast<std::size_t>(position) * half;
  const int chunks = half / kVector;  // a thread rotates eight pairs (i, i + dim / 2)
  for (int work = static_cast<int>(threadIdx.x); work < (heads.query + heads.kv) * chunks;
       work += static_cast<int>(blockDim.x)) {
    const int head = work / chunks;
    const int at = work % chunks * kVector;
    std::uint16_t* from = row + head * heads.dim;
    float low[kVector], high[kVector];
    load8(from + at, low);
    load8(from + half + at, high);
#pragma unroll
    for (int i = 0; i < kVector; ++i) {
      const float2 turn = angle[at + i];
      const float turned = low[i] * turn.x - high[i] * turn.y;
      high[i] = high[i] * turn.x + low[i] * turn.y;
      low[i] = turned;
    }
    std::uint16_t* to = from;
    if (head >= heads.query) {
      const std::size_t line =
          (static_cast<std::size_t>(sequence) * heads.kv + (head - heads.query)) * capacity + position;
      to = keys + line * heads.dim;
    }
    store8(to + at, low);
    store8(to + half + at, high);
  }
  const int value_chunks = heads.dim / kVector;
  for (int work = static_cast<int>(threadIdx.x); work < heads.kv * value_chunks; work += static_cast<int>(blockDim.x)) {
    const int head = work / value_chunks;
    const int at = work % value_chunks * kVector;
    const std::uint16_t* from = row + (heads.query + heads.kv + head) * heads.dim + at;
    const std::size_t line = (static_cast<std::size_t>(sequence) * heads.kv + head) * capacity + position;
    *reinterpret_cast<uint4*>(values + line * heads.dim + at) = *reinterpret_cast<const uint4*>(from);
  }
}

__global__ void make_rotations_kernel(float2* rotations, int dim, float base) {
  const int half = dim / 2;
  const int position = static_cast<int>(blockIdx.x);
  for (int i = static_cast<int>(threadIdx.x); i < half; i += static_cast<int>(blockDim.x)) {
    const float angle =
        static_cast<float>(position) * powf(base, -2.0F * static_cast<float>(i) / static_cast<float>(dim));
    rotations[static_cast<std::size_t>(position) * half + i] = make_float2(cosf(angle), sinf(angle));
  }
}

template <class Out>
__global__ void activate_kernel(const std::uint16_t* in, Out* out, bool gated, int width, std::size_t vectors) {
  const std::size_t at = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (at >= vectors) return;
  const std::size_t per_row = static_cast<std::size_t>(width) / kVector;
  const std::size_t row = at / per_row;
  const std::size_t column = at % per_row * kVector;
  const std::uint16_t* from = in + row * width * (gated ? 2 : 1) + column;
  float gate[kVector], up[kVector];
  load8(from, gate);
  if (gated) load8(from + width, up);
#pragma unroll
  for (int i = 0; i < kVector; ++i) {
    const float x = gate[i];
    gate[i] = gated ? x / (1.0F + __expf(-x)) * up[i] : x / (1.0F + __expf(-1.702F * x));
  }
  store8(out + row * width + column, gate);
}

__global__ void embed_kernel(const std::uint16_t* table, const int* tokens_in, std::uint16_t* out, int hidden) {
  const std::size_t from = static_cast<std::size_t>(tokens_in[blockIdx.x]) * hidden;
  const std::size_t to = static_cast<std::size_t>(blockIdx.x) * hidden;
  for (int i = static_cast<int>(threadIdx.x) * kVector; i < hidden; i += static_cast<int>(blockDim.x) * kVector) {
    *reinterpret_cast<uint4*>(out + to + i) = *reinterpret_cast<const uint4*>(table + from + i);
  }
}

__global__ void take_last_kernel(const std::uint16_t* rows, std::uint16_t* out, int stride, int hidden) {
  const std::size_t from = ((static_cast<std::size_t>(blockIdx.x) + 1) * stride - 1) * hidden;
  const std::size_t to = static_cast<std::size_t>(blockIdx.x) * hidden;
  for (int i = static_cast<int>(threadIdx.x) * kVector; i < hidden; i += static_cast<int>(blockDim.x) * kVector) {
    *reinterpret_cast<uint4*>(out + to + i) = *reinterpret_cast<const uint4*>(rows + from + i);
  }
}

__global__ void choose_token_kernel(const std::uint16_t* logits, int* token, int vocabulary) {
  __shared__ float best_value[32];
  __shared__ int best_index[32];
  const std::uint16_t* row = logits + static_cast<std::size_t>(blockIdx.x) * vocabulary;
  float value = -3.4e38F;
  int index = 0;
  for (int i = static_cast<int>(threadIdx.x) * kVector; i + kVector <= vocabulary;
       i += static_cast<int>(blockDim.x) * kVector) {
    float x[kVector];
    load8(row + i, x);
#pragma unroll
    for (int j = 0; j < kVector; ++j) {
      if (x[j] > value) {
        value = x[j];
        index = i + j;
      }
    }
  }
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) {
    const float other = __shfl_xor_sync(0xFFFFFFFFU, value, offset);
    const int where = __shfl_xor_sync(0xFFFFFFFFU, index, offset);
    if (other > value || (other == value && where < index)) {
      value = other;
      index = where;
    }
  }
  if (threadIdx.x % 32 == 0) {
    best_value[threadIdx.x / 32] = value;
    best_index[threadIdx.x / 32] = index;
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (unsigned i = 1; i < blockDim.x / 32; ++i) {
    if (best_value[i] > value) {
      value = best_value[i];
      index = best_index[i];
    }
  }
  token[blockIdx.x] = index;
}

}  // namespace

void add_norm(std::uint16_t* residual, const std::uint16_t* delta, const std::uint16_t* weight, void* out,
              Narrow narrow, int tokens, int hidden, gpuStream_t stream) {
  if (hidden % kVector != 0 || hidden > 16384) throw GpuFailure{"a norm over " + std::to_string(hidden) + " elements"};
  const int threads = hidden > 4096 ? 256 : 128;
  if (hidden > threads * kVector * 8) throw GpuFailure{"a norm this wide needs more threads"};
  if (narrow == Narrow::yes) {
    add_norm_kernel<<<tokens, threads, 0, stream>>>(residual, delta, weight, static_cast<std::uint8_t*>(out), hidden);
  } else {
    add_norm_kernel<<<tokens, threads, 0, stream>>>(residual, delta, weight, static_cast<std::uint16_t*>(out), hidden);
  }
  check_launch("a norm");
}

void rotate_and_store(std::uint16_t* qkv, std::uint16_t* keys, std::uint16_t* values, const float2* rotations,
                      const Heads& heads, int tokens, int per_sequence, int first_position, int capacity,
                      gpuStream_t stream) {
  rotate_and_store_kernel<<<tokens, 256, 0, stream>>>(qkv, keys, values, rotations, heads, per_sequence, first_position,
                                                      capacity);
  check_launch("rotary embedding");
}

void make_rotations(float2* rotations, int positions, int dim, float base, gpuStream_t stream) {
  make_rotations_kernel<<<positions, 64, 0, stream>>>(rotations, dim, base);
  check_launch("rotation table");
}

void activate(const std::uint16_t* in, void* out, Narrow narrow, bool gated, int tokens, int width,
              gpuStream_t stream) {
  const std::size_t vectors = static_cast<std::size_t>(tokens) * (static_cast<std::size_t>(width) / kVector);
  const auto blocks = static_cast<unsigned>((vectors + 255) / 256);
  if (narrow == Narrow::yes) {
    activate_kernel<<<blocks, 256, 0, stream>>>(in, static_cast<std::uint8_t*>(out), gated, width, vectors);
  } else {
    activate_kernel<<<blocks, 256, 0, stream>>>(in, static_cast<std::uint16_t*>(out), gated, width, vectors);
  }
  check_launch("an activation");
}

void embed(const std::uint16_t* table, const int* tokens_in, std::uint16_t* out, int tokens, int hidden,
           gpuStream_t stream) {
  embed_kernel<<<tokens, 128, 0, stream>>>(table, tokens_in, out, hidden);
  check_launch("an embedding");
}

void take_last(const std::uint16_t* rows, std::uint16_t* out, int sequences, int stride, int hidden,
               gpuStream_t stream) {
  take_last_kernel<<<sequences, 128, 0, stream>>>(rows, out, stride, hidden);
  check_launch("taking the last tokens");
}

void choose_token(const std::uint16_t* logits, int* token, int tokens, int vocabulary, gpuStream_t stream) {
  choose_token_kernel<<<tokens, 512, 0, stream>>>(logits, token, vocabulary);
  check_launch("choosing a token");
}

}  // namespace ridge::measure
