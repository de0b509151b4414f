#include "measure/gpu/gemm.hpp"

#include <algorithm>
#include <string>

#include "measure/gpu/timing.hpp"

namespace ridge::measure {
namespace {

constexpr std::size_t kWorkspace = 64u << 20;

void check(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw GpuFailure{std::string(what) + ": " + cublasGetStatusString(status), status == CUBLAS_STATUS_ALLOC_FAILED};
}

cudaDataType_t operand_type(GemmFormat format) {
  switch (format) {
    case GemmFormat::fp16:
      return CUDA_R_16F;
    case GemmFormat::fp8:
      return CUDA_R_8F_E4M3;
    case GemmFormat::bf16:
      break;
  }
  return CUDA_R_16BF;
}

cudaDataType_t output_type(GemmFormat format) {
  return format == GemmFormat::fp16 ? CUDA_R_16F : CUDA_R_16BF;
}

}  // namespace

const char* name(GemmFormat format) {
  switch (format) {
    case GemmFormat::fp16:
      return "fp16";
    case GemmFormat::fp8:
      return "fp8";
    case GemmFormat::bf16:
      break;
  }
  return "bf16";
}

struct GemmPlan::Descriptors {
  cublasLtMatmulDesc_t operation = nullptr;
  cublasLtMatrixLayout_t weights = nullptr, activations = nullptr, out = nullptr;

  Descriptors() = default;
  Descriptors(const Descriptors&) = delete;
  Descriptors& operator=(const Descriptors&) = delete;
  ~Descriptors() {
    if (operation != nullptr) (void)cublasLtMatmulDescDestroy(operation);
    for (cublasLtMatrixLayout_t layout : {weights, activations, out}) {
      if (layout != nullptr) (void)cublasLtMatrixLayoutDestroy(layout);
    }
  }
};

Blas::Blas(gpuStream_t stream) : stream_(stream), workspace_(kWorkspace), one_(1) {
  check(cublasLtCreate(&lt_), "starting cuBLASLt");
  check(cublasCreate(&blas_), "starting cuBLAS");
  check(cublasSetStream(blas_, stream), "starting cuBLAS");
  const float one = 1;
  measure::check(gpuMemcpyAsync(one_.data(), &one, sizeof(one), gpuMemcpyHostToDevice, stream), "copying a scale");
  measure::check(gpuStreamSynchronize(stream), "copying a scale");
}

Blas::~Blas() {
  if (blas_ != nullptr) (void)cublasDestroy(blas_);
  if (lt_ != nullptr) (void)cublasLtDestroy(lt_);
}

// Column by column, as the library thinks, a matrix stored row by row is its own transpose: out^T (n x m) is
// weights (stored k x n, to be transposed) times activations^T (k x m). FP8 knows this order alone.
GemmPlan Blas::tune(const GemmShape& shape, const std::vector<GemmOperands>& sets, int candidates) {
  GemmPlan plan;
  plan.shape = shape;
  plan.descriptors = std::make_shared<GemmPlan::Descriptors>();
  GemmPlan::Descriptors& d = *plan.descriptors;
  const cublasOperation_t transpose = CUBLAS_OP_T, keep = CUBLAS_OP_N;
  const cudaDataType_t in = operand_type(shape.format);
  check(cublasLtMatmulDescCreate(&d.operation, CUBLAS_COMPUTE_32F, CUDA_R_32F), "describing a product");
  const auto set = [&](cublasLtMatmulDescAttributes_t attribute, const auto& value) {
    check(cublasLtMatmulDescSetAttribute(d.operation, attribute, &value, sizeof(value)), "describing a product");
  };
  set(CUBLASLT_MATMUL_DESC_TRANSA, transpose);
  set(CUBLASLT_MATMUL_DESC_TRANSB, keep);
  if (shape.format == GemmFormat::fp8) {
    const float* scale = one_.data();
    const std::int8_t fast = 1;
    set(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, scale);
    set(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, scale);
    set(CUBLASLT_MATMUL_DESC_FAST_ACCUM, fast);
  }
  const auto m = static_cast<std::uint64_t>(shape.m), n = static_cast<std::uint64_t>(shape.n),
             k = static_cast<std::uint64_t>(shape.k);
  check(cublasLtMatrixLayoutCreate(&d.weights, in, k, n, shape.k), "describing weights");
  check(cublasLtMatrixLayoutCreate(&d.activations, in, k, m, shape.k), "describing activations");
  check(cublasLtMatrixLayoutCreate(&d.out, output_type(shape.format), n, m, shape.n), "describing an output");

  cublasLtMatmulPreference_t preference = nullptr;
  check(cublasLtMatmulPreferenceCreate(&preference), "preferences of a product");
  std::vector<cublasLtMatmulHeuristicResult_t> found(static_cast<std::size_t>(std::max(candidates, 1)));
  int count = 0;
  cublasStatus_t status = cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                                               &kWorkspace, sizeof(kWorkspace));
  if (status == CUBLAS_STATUS_SUCCESS) {
    status = cublasLtMatmulAlgoGetHeuristic(lt_, d.operation, d.weights, d.activations, d.out, d.out, preference,
                                            static_cast<int>(found.size()), found.data(), &count);
  }
  (void)cublasLtMatmulPreferenceDestroy(preference);
  check(status, "asking for algorithms");
  if (count == 0) throw GpuFailure{"cuBLASLt has no algorithm for this product"};

  // Candidates take turns, so that a clock that falls on the way slows all of them, and the best of two rounds counts.
  constexpr int kRounds = 2;
  std::vector<double> best(static_cast<std::size_t>(count), 1e30);
  for (int round = 0; round < (candidates > 1 ? kRounds : 1); ++round) {
    for (int i = 0; i < count; ++i) {
      const auto& candidate = found[static_cast<std::size_t>(i)];
      if (candidate.state != CUBLAS_STATUS_SUCCESS || candidate.workspaceSize > kWorkspace) continue;
      double& seconds = best[static_cast<std::size_t>(i)];
      if (candidates == 1) {
        seconds = 0;
        continue;
      }
      if (round > 0 && seconds == 1e30) continue;
      GemmPlan trial = plan;
      trial.algorithm = candidate.algo;
      trial.workspace = candidate.workspaceSize;
      const auto launch = [&](int at) { run(trial, sets[static_cast<std::size_t>(at) % sets.size()]); };
      try {
        const double once = round == 0 ? quick_time(stream_, launch, 2) : seconds;
        const int launches = std::clamp(static_cast<int>(1.5e-3 / std::max(once, 1e-6)), 2, 40);
        seconds = std::min(seconds, quick_time(stream_, launch, launches));
      } catch (const GpuFailure&) {
        (void)gpuGetLastError();  // an algorithm that the heuristic offers but the device refuses
      }
    }
  }
  plan.quick_seconds = 1e30;
  for (int i = 0; i < count; ++i) {
    const double seconds = best[static_cast<std::size_t>(i)];
    if (seconds == 1e30) continue;
    ++plan.tried;
    if (i == 0) plan.first_seconds = seconds;
    if (seconds < plan.quick_seconds) {
      plan.quick_seconds = seconds;
      plan.algorithm = found[static_cast<std::size_t>(i)].algo;
      plan.workspace = found[static_cast<std::size_t>(i)].workspaceSize;
    }
  }
  if (plan.tried == 0) throw GpuFailure{"no algorithm of cuBLASLt runs this product"};
  return plan;
}

void Blas::run(const GemmPlan& plan, const GemmOperands& operands) const {
  const float one = 1, zero = 0;
  const GemmPlan::Descriptors& d = *plan.descriptors;
  check(cublasLtMatmul(lt_, d.operation, &one, operands.weights, d.weights, operands.activations, d.activations, &zero,
                       operands.out, d.out, operands.out, d.out, &plan.algorithm, workspace_.data(), plan.workspace,
                       stream_),
        "a product");
}

void Blas::run_grouped(const std::vector<int>& rows, int n, int k, void* const* activations, void* const* weights,
                       void* const* out) const {
#if CUBLAS_VERSION >= 120500
  const auto groups = static_cast<int>(rows.size());
  const std::vector<cublasOperation_t> transpose(rows.size(), CUBLAS_OP_T), keep(rows.size(), CUBLAS_OP_N);
  const std::vector<int> all_n(rows.size(), n), all_k(rows.size(), k), each(rows.size(), 1);
  const std::vector<float> one(rows.size(), 1.0F), zero(rows.size(), 0.0F);
  check(
      cublasGemmGroupedBatchedEx(blas_, transpose.data(), keep.data(), all_n.data(), rows.data(), all_k.data(),
                                 one.data(), weights, CUDA_R_16BF, all_k.data(), activations, CUDA_R_16BF, all_k.data(),
                                 zero.data(), out, CUDA_R_16BF, all_n.data(), groups, each.data(), CUBLAS_COMPUTE_32F),
      "a grouped product");
#else
  (void)rows, (void)n, (void)k, (void)activations, (void)weights, (void)out;
  throw GpuFailure{"grouped products need cuBLAS 12.5"};
#endif
}

}  // namespace ridge::measure
