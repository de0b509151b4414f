// What both attention kernels are made of: tiles of rows of 128 bf16 in shared memory, tensor-core products on them.
//
// A row is 16 chunks of 16 bytes; chunk c of row r lies at c ^ (r & 7), so that eight rows of one chunk are in
// different banks. Fragments follow the layout of mma.m16n8k16: lane = 4 g + t holds rows g and g + 8, columns 2t and
// 2t + 1.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp8.h>

#include <cstdint>

namespace ridge::measure {

inline constexpr int kRowBytes = 256;

__device__ inline std::uint32_t shared_address(const void* pointer) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

__device__ inline std::uint32_t tile_address(std::uint32_t tile, int row, int chunk) {
  return tile + static_cast<std::uint32_t>(row * kRowBytes + ((chunk ^ (row & 7)) << 4));
}

/// 16 bytes from global to shared memory, zeros where `valid` is false.
__device__ inline void copy_chunk(std::uint32_t to, const void* from, bool valid) {
  const int bytes = valid ? 16 : 0;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\n" ::"r"(to), "l"(from), "r"(bytes));
}
__device__ inline void close_copies() {
  asm volatile("cp.async.commit_group;\n");
}
template <int kPending>
__device__ inline void wait_copies() {
  asm volatile("cp.async.wait_group %0;\n" ::"n"(kPending));
}

__device__ inline void load_matrices(std::uint32_t (&out)[4], std::uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];\n"
               : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
               : "r"(address));
}
__device__ inline void load_matrices_transposed(std::uint32_t (&out)[4], std::uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];\n"
               : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
               : "r"(address));
}

__device__ inline void multiply(float (&c)[4], const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};\n"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ inline std::uint32_t pack(float low, float high) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
  return *reinterpret_cast<const std::uint32_t*>(&pair);
}

/// The largest, and the sum, over the four lanes that hold one row.
__device__ inline float row_max(float x) {
  x = fmaxf(x, __shfl_xor_sync(0xFFFFFFFFU, x, 1));
  return fmaxf(x, __shfl_xor_sync(0xFFFFFFFFU, x, 2));
}
__device__ inline float row_sum(float x) {
  x += __shfl_xor_sync(0xFFFFFFFFU, x, 1);
  return x + __shfl_xor_sync(0xFFFFFFFFU, x, 2);
}

/// Two neighbouring results of one row, in bf16 or e4m3.
__device__ inline void store_pair(std::uint16_t* to, float low, float high) {
  *reinterpret_cast<std::uint32_t*>(to) = pack(low, high);
}
__device__ inline void store_pair(std::uint8_t* to, float low, float high) {
  *reinterpret_cast<std::uint16_t*>(to) =
      static_cast<std::uint16_t>(__nv_cvt_float2_to_fp8x2(make_float2(low, high), __NV_SATFINITE, __NV_E4M3));
}

/// Softmax over a sequence that arrives in pieces: sixteen rows of one warp, two per lane.
struct OnlineSoftmax {
  float largest[2] = {-INFINITY, -INFINITY};
  float sum[2] = {0, 0};

  /// Turns scores (in units of the binary logarithm) into weights, and returns by what the results so far shrink.
  template <int kTiles>
  __device__ void weigh(float (&scores)[kTiles][4], float (&shrink)[2]) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float top = -INFINITY;
#pragma unroll
      for (int j = 0; j < kTiles; ++j) top = fmaxf(top, fmaxf(scores[j][2 * half], scores[j][2 * half + 1]));
      top = fmaxf(largest[half], row_max(top));
      const float base = top == -INFINITY ? 0.0F : top;  // a row that has seen no key yet
      shrink[half] = exp2f(largest[half] - base);
      largest[half] = top;
      float added = 0;
#pragma unroll
      for (int j = 0; j < kTiles; ++j) {
#pragma unroll
        for (int i = 2 * half; i < 2 * half + 2; ++i) {
          scores[j][i] = exp2f(scores[j][i] - base);
          added += scores[j][i];
        }
      }
      sum[half] = sum[half] * shrink[half] + added;  // of this lane's columns; row_sum() at the end
    }
  }
};

}  // namespace ridge::measure
