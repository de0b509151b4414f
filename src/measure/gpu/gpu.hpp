// The few names of the GPU runtime that ridge-measure uses, for CUDA and (with -DRIDGE_HIP) for HIP.
//
//   GpuBuffer<std::uint16_t> weights(n);            // throws GpuFailure(out of memory)
//   check(gpuMemsetAsync(weights.data(), 0, weights.bytes(), stream), "clearing weights");
//
// Inside ridge-measure a failed call is the exception GpuFailure: caught per measured point, so that one point that
// does not fit is reported and the rest go on. Nothing outside this program sees it.
#pragma once

#if defined(RIDGE_HIP)
#include <hip/hip_runtime.h>
#define RIDGE_GPU(name) hip##name
#else
#include <cuda_runtime.h>
#define RIDGE_GPU(name) cuda##name
#endif

#include <cstddef>
#include <string>
#include <utility>

#define gpuMalloc RIDGE_GPU(Malloc)
#define gpuFree RIDGE_GPU(Free)
#define gpuMemcpyAsync RIDGE_GPU(MemcpyAsync)
#define gpuMemsetAsync RIDGE_GPU(MemsetAsync)
#define gpuMemGetInfo RIDGE_GPU(MemGetInfo)
#define gpuMemcpyDeviceToDevice RIDGE_GPU(MemcpyDeviceToDevice)
#define gpuMemcpyHostToDevice RIDGE_GPU(MemcpyHostToDevice)
#define gpuMemcpyDeviceToHost RIDGE_GPU(MemcpyDeviceToHost)
#define gpuGetLastError RIDGE_GPU(GetLastError)
#define gpuGetErrorString RIDGE_GPU(GetErrorString)
#define gpuStreamSynchronize RIDGE_GPU(StreamSynchronize)
#define gpuEventCreate RIDGE_GPU(EventCreate)
#define gpuEventDestroy RIDGE_GPU(EventDestroy)
#define gpuEventRecord RIDGE_GPU(EventRecord)
#define gpuEventSynchronize RIDGE_GPU(EventSynchronize)
#define gpuEventElapsedTime RIDGE_GPU(EventElapsedTime)
#define gpuStreamBeginCapture RIDGE_GPU(StreamBeginCapture)
#define gpuStreamEndCapture RIDGE_GPU(StreamEndCapture)
#define gpuGraphInstantiateWithFlags RIDGE_GPU(GraphInstantiateWithFlags)
#define gpuGraphLaunch RIDGE_GPU(GraphLaunch)
#define gpuGraphDestroy RIDGE_GPU(GraphDestroy)
#define gpuGraphExecDestroy RIDGE_GPU(GraphExecDestroy)
#define gpuSuccess RIDGE_GPU(Success)

namespace ridge::measure {

using gpuError_t = RIDGE_GPU(Error_t);
using gpuStream_t = RIDGE_GPU(Stream_t);
using gpuEvent_t = RIDGE_GPU(Event_t);
using gpuGraph_t = RIDGE_GPU(Graph_t);
using gpuGraphExec_t = RIDGE_GPU(GraphExec_t);

#if defined(RIDGE_HIP)
inline constexpr auto kCaptureMode = hipStreamCaptureModeThreadLocal;
inline constexpr gpuError_t kOutOfMemory = hipErrorOutOfMemory;
#else
inline constexpr auto kCaptureMode = cudaStreamCaptureModeThreadLocal;
inline constexpr gpuError_t kOutOfMemory = cudaErrorMemoryAllocation;
#endif

/// A call of the runtime or of a library that failed.
struct GpuFailure {
  std::string text;
  bool out_of_memory = false;
};

inline void check(gpuError_t code, const char* what) {
  if (code == gpuSuccess) return;
  throw GpuFailure{std::string(what) + ": " + gpuGetErrorString(code), code == kOutOfMemory};
}
/// After a launch.
inline void check_launch(const char* what) {
  check(gpuGetLastError(), what);
}

/// Device memory that is freed with its owner.
template <class T>
class GpuBuffer {
 public:
  GpuBuffer() = default;
  explicit GpuBuffer(std::size_t count) : count_(count) {
    const gpuError_t code = gpuMalloc(reinterpret_cast<void**>(&data_), count * sizeof(T));
    if (code == gpuSuccess) return;
    data_ = nullptr;
    (void)gpuGetLastError();  // an allocation that failed leaves its code behind for the next check
    check(code, ("allocating " + std::to_string(count * sizeof(T) >> 20) + " MiB").c_str());
  }
  GpuBuffer(GpuBuffer&& other) noexcept { *this = std::move(other); }
  GpuBuffer& operator=(GpuBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(count_, other.count_);
    return *this;
  }
  GpuBuffer(const GpuBuffer&) = delete;
  GpuBuffer& operator=(const GpuBuffer&) = delete;
  ~GpuBuffer() {
    if (data_ != nullptr) (void)gpuFree(data_);
  }

  [[nodiscard]] T* data() const { return data_; }
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] std::size_t bytes() const { return count_ * sizeof(T); }

 private:
  T* data_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace ridge::measure
