// Matrix products through cuBLASLt, as models use them: out[m][n] = activations[m][k] x weights[n][k], all row by row.
//
//   Blas blas(stream);
//   GemmPlan plan = blas.tune({64, 28672, 4096, GemmFormat::fp8}, sets, 8);   // tries the eight best by the heuristic
//   blas.run(plan, activations, weights, out);
//
// Output is bf16 (fp16 for fp16). FP8 is e4m3 with one scale per tensor and fast accumulation, as serving engines call
// it. Throws GpuFailure. One thread per object.
#pragma once

#include <cublasLt.h>
#include <cublas_v2.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "measure/gpu/gpu.hpp"

namespace ridge::measure {

enum class GemmFormat : std::uint8_t { bf16, fp16, fp8 };
[[nodiscard]] const char* name(GemmFormat format);
[[nodiscard]] inline std::size_t bytes_of(GemmFormat format) {
  return format == GemmFormat::fp8 ? 1 : 2;
}

struct GemmShape {
  int m = 1, n = 1, k = 1;
  GemmFormat format = GemmFormat::bf16;
};

/// Where the operands of one call are.
struct GemmOperands {
  const void* activations = nullptr;
  const void* weights = nullptr;
  void* out = nullptr;
};

/// Descriptors and the algorithm that was fastest.
struct GemmPlan {
  struct Descriptors;
  GemmShape shape;
  std::shared_ptr<Descriptors> descriptors;
  cublasLtMatmulAlgo_t algorithm{};
  std::size_t workspace = 0;
  int tried = 0;
  double quick_seconds = 0;  ///< of the best in the tuning
  double first_seconds = 0;  ///< of the heuristic's first choice
};

class Blas {
 public:
  explicit Blas(gpuStream_t stream);
  Blas(const Blas&) = delete;
  Blas& operator=(const Blas&) = delete;
  ~Blas();

  /// Tries up to `candidates` algorithms on the operand sets in turn; 1 takes the heuristic's first choice untried.
  [[nodiscard]] GemmPlan tune(const GemmShape& shape, const std::vector<GemmOperands>& sets, int candidates);
  void run(const GemmPlan& plan, const GemmOperands& operands) const;

  /// Products of `groups` experts, each rows[i] x n x k, in one call (bf16). Refused by older libraries.
  void run_grouped(const std::vector<int>& rows, int n, int k, void* const* activations, void* const* weights,
                   void* const* out) const;
  [[nodiscard]] cublasLtHandle_t handle() const { return lt_; }
  [[nodiscard]] static std::size_t version() { return cublasLtGetVersion(); }

 private:
  gpuStream_t stream_;
  cublasLtHandle_t lt_ = nullptr;
  cublasHandle_t blas_ = nullptr;
  GpuBuffer<std::uint8_t> workspace_;
  GpuBuffer<float> one_;
};

}  // namespace ridge::measure
