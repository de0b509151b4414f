// Matrix products through cuBLASLt, as models use them: out[m][n] = activations[m][k] x weights[n][k], all row by row.
//
//   Blas blas(stream);
//   const GemmShape shape{64, 28672, 4096, GemmFormat::fp8};
//   GemmPlan plan = blas.tune(shape, sets, tuning_for(shape, false));   // tries the eight best by the heuristic
//   blas.run(plan, sets[0]);
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
  bool operator==(const GemmShape&) const = default;
};

/// Where the operands of one call are.
struct GemmOperands {
  const void* activations = nullptr;
  const void* weights = nullptr;
  void* out = nullptr;
};

/// How an algorithm is chosen: all candidates in short turns, then the best of them each alone for a while, because one
/// that wins at the highest clock may draw more power and lose once the power limit has found its clock.
struct Tuning {
  int candidates = 8;   ///< asked of the heuristic; 1 takes its first choice untried
  int finalists = 0;    ///< that run alone; 0: the short turns decide
  double alone = 0.06;  ///< seconds of each such run, the first half untimed
};

/// Heavy enough to run into the power limit.
[[nodiscard]] inline bool is_large(const GemmShape& s) {
  return 2.0 * s.m * s.n * s.k > 2e11;
}
/// Finalists for products that reach the power limit, more and longer where the time for it is there.
[[nodiscard]] Tuning tuning_for(const GemmShape& shape, bool thorough);

/// Descriptors and the algorithm that was fastest.
struct GemmPlan {
  struct Descriptors;
  GemmShape shape;
  std::shared_ptr<Descriptors> descriptors;
  cublasLtMatmulAlgo_t algorithm{};
  std::size_t workspace = 0;
  bool by_cublas = false;  ///< cuBLAS's own choice, which is not always among what cuBLASLt's heuristic offers
  int rank = 0;            ///< of the choice in the heuristic's order, from 0; the number of candidates: cuBLAS's own
  int tried = 0;
  double seconds = 0;        ///< of the choice in the tuning
  double first_seconds = 0;  ///< of the heuristic's first choice, as far as the tuning took it
};

class Blas {
 public:
  explicit Blas(gpuStream_t stream);
  Blas(const Blas&) = delete;
  Blas& operator=(const Blas&) = delete;
  ~Blas();

  /// Tries algorithms on the operand sets in turn.
  [[nodiscard]] GemmPlan tune(const GemmShape& shape, const std::vector<GemmOperands>& sets, const Tuning& tuning);
  void run(const GemmPlan& plan, const GemmOperands& operands) const;

  /// Products of `groups` experts, each rows[i] x n x k, in one call (bf16). Refused by older libraries.
  void run_grouped(const std::vector<int>& rows, int n, int k, void* const* activations, void* const* weights,
                   void* const* out) const;
  [[nodiscard]] cublasLtHandle_t handle() const { return lt_; }
  [[nodiscard]] static std::size_t version() { return cublasLtGetVersion(); }

 private:
  /// Descriptors of the shape, and the heuristic's algorithms as plans, best first.
  [[nodiscard]] std::vector<GemmPlan> candidates_of(const GemmShape& shape, int most) const;
  [[nodiscard]] double burst(const GemmPlan& plan, const std::vector<GemmOperands>& sets, int launches) const;

  gpuStream_t stream_;
  cublasLtHandle_t lt_ = nullptr;
  cublasHandle_t blas_ = nullptr;
  GpuBuffer<std::uint8_t> workspace_;
  GpuBuffer<float> one_;
};

}  // namespace ridge::measure
