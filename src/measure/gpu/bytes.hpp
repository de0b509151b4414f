// Kernels that only move bytes, and the filling of buffers with random data.
//
//   fill_random_bf16(weights, n, 0.02F, seed, stream);     // never zeros: they run faster than real data
//   copy_bytes(in, out, bytes, stream);                    // bytes must be a multiple of 16, pointers aligned so
//
// All enqueue on the stream and throw GpuFailure.
#pragma once

#include <cstdint>

#include "measure/gpu/gpu.hpp"

namespace ridge::measure {

/// Uniform in [-scale, scale], as bits of bf16 or fp16.
void fill_random_bf16(std::uint16_t* data, std::size_t count, float scale, std::uint32_t seed, gpuStream_t stream);
void fill_random_fp16(std::uint16_t* data, std::size_t count, float scale, std::uint32_t seed, gpuStream_t stream);
/// The same in e4m3; no NaN among them.
void fill_random_fp8(std::uint8_t* data, std::size_t count, float scale, std::uint32_t seed, gpuStream_t stream);

void copy_bytes(const void* in, void* out, std::size_t bytes, gpuStream_t stream);
void write_bytes(void* out, std::size_t bytes, std::uint32_t seed, gpuStream_t stream);
/// Reads everything; `sink` is written where a thread's sum happens to have one value of four billion.
void read_bytes(const void* in, std::size_t bytes, std::uint32_t* sink, gpuStream_t stream);
/// A kernel that does nothing.
void do_nothing(gpuStream_t stream);

}  // namespace ridge::measure
