#include "measure/gpu/gemm.hpp"

#include <algorithm>
#include <string>

#include "measure/gpu/timing.hpp"

namespace ridge::measure {
namespace {

constexpr std::size_t kWorkspace = 32u << 20;  // what PyTorch gives both libraries on Hopper

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
  check(cublasSetWorkspace(blas_, workspace_.data(), workspace_.bytes()), "starting cuBLAS");
  const float one = 1;
  measure::check(gpuMemcpyAsync(one_.data(), &one, sizeof(one), gpuMemcpyHostToDevice, stream), "copying a scale");
  measure::check(gpuStreamSynchronize(stream), "copying a scale");
}

Blas::~Blas() {
  if (blas_ != nullptr) (void)cublasDestroy(blas_);
  if (lt_ != nullptr) (void)cublasLtDestroy(lt_);
}

Tuning tuning_for(const GemmShape& shape, bool thorough) {
  Tuning tuning;
  if (thorough) tuning.candidates = 16;
  if (is_large(shape)) {
    tuning.finalists = thorough ? 4 : 3;
    tuning.alone = thorough ? 0.1 : 0.06;
  }
  return tuning;
}

// Column by column, as the library thinks, a matrix stored row by row is its own transpose: out^T (n x m) is
// weights (stored k x n, to be transposed) times activations^T (k x m). FP8 knows this order alone.
std::vector<GemmPlan> Blas::candidates_of(const GemmShape& shape, int most) const {
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
  std::vector<cublasLtMatmulHeuristicResult_t> found(static_cast<std::size_t>(std::max(most, 1)));
  int count = 0;
  cublasStatus_t status = cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                                               &kWorkspace, sizeof(kWorkspace));
  if (status == CUBLAS_STATUS_SUCCESS) {
    status = cublasLtMatmulAlgoGetHeuristic(lt_, d.operation, d.weights, d.activations, d.out, d.out, preference,
                                            static_cast<int>(found.size()), found.data(), &count);
  }
  (void)cublasLtMatmulPreferenceDestroy(preference);
  check(status, "asking for algorithms");
  std::vector<GemmPlan> out;
  for (int i = 0; i < count; ++i) {
    const auto& candidate = found[static_cast<std::size_t>(i)];
    if (candidate.state != CUBLAS_STATUS_SUCCESS || candidate.workspaceSize > kWorkspace) continue;
    plan.algorithm = candidate.algo;
    plan.workspace = candidate.workspaceSize;
    plan.rank = i;
    out.push_back(plan);
  }
  if (most > 1 && shape.format != GemmFormat::fp8) {
    plan.by_cublas = true;
    plan.rank = count;
    out.push_back(plan);
  }
  if (out.empty()) throw GpuFailure{"cuBLASLt has no algorithm for this product"};
  return out;
}

double Blas::burst(const GemmPlan& plan, const std::vector<GemmOperands>& sets, int launches) const {
  return quick_time(
      stream_, [&](int at) { run(plan, sets[static_cast<std::size_t>(at) % sets.size()]); }, launches);
}

GemmPlan Blas::tune(const GemmShape& shape, const std::vector<GemmOperands>& sets, const Tuning& tuning) {
  std::vector<GemmPlan> plans = candidates_of(shape, tuning.candidates);
  if (tuning.candidates <= 1) return plans.front();
  const auto launches_in = [](double seconds, double once, int most) {
    return std::clamp(static_cast<int>(seconds / std::max(once, 1e-6)), 2, most);
  };
  // Candidates take turns, so that a clock that falls on the way slows all of them, and the best of two rounds counts.
  constexpr double kTurn = 1.5e-3;
  constexpr int kRounds = 2;
  for (int round = 0; round < kRounds; ++round) {
    for (GemmPlan& plan : plans) {
      if (round > 0 && plan.tried == 0) continue;
      try {
        const double once = round == 0 ? burst(plan, sets, 2) : plan.seconds;
        const double seconds = burst(plan, sets, launches_in(kTurn, once, 40));
        plan.seconds = round == 0 ? seconds : std::min(plan.seconds, seconds);
        plan.tried = 1;
      } catch (const GpuFailure&) {
        (void)gpuGetLastError();  // an algorithm that the heuristic offers but the device refuses
      }
    }
  }
  std::erase_if(plans, [](const GemmPlan& plan) { return plan.tried == 0; });
  if (plans.empty()) throw GpuFailure{"no algorithm of cuBLASLt runs this product"};
  const auto tried = static_cast<int>(plans.size());
  double first_seconds = plans.front().rank == 0 ? plans.front().seconds : 0;
  const auto faster = [](const GemmPlan& a, const GemmPlan& b) { return a.seconds < b.seconds; };

  if (tuning.finalists > 0 && plans.size() > 1) {
    // The libraries' own choices are always among the finalists: they were made for the clocks of long runs.
    std::sort(plans.begin(), plans.end(), faster);
    const double limit = 1.15 * plans.front().seconds;
    int places = tuning.finalists;
    std::erase_if(plans, [&](const GemmPlan& plan) {
      const bool own = plan.rank == 0 || plan.by_cublas;
      return plan.seconds > limit || (places-- <= 0 && !own);
    });
    // The first run warms the board; the second round goes the other way, so that no one always follows the hungriest.
    const auto alone = [&](const GemmPlan& plan, double once) {
      const int launches = launches_in(tuning.alone / 2, once, 4000);
      (void)burst(plan, sets, launches);
      return burst(plan, sets, launches);
    };
    std::vector<double> total(plans.size(), 0);
    (void)alone(plans.front(), plans.front().seconds);
    for (int round = 0; round < kRounds; ++round) {
      for (std::size_t i = 0; i < plans.size(); ++i) {
        const std::size_t at = round % 2 == 0 ? i : plans.size() - 1 - i;
        total[at] += alone(plans[at], plans[at].seconds) / kRounds;
      }
    }
    for (std::size_t i = 0; i < plans.size(); ++i) {
      plans[i].seconds = total[i];
      if (plans[i].rank == 0) first_seconds = total[i];
    }
  }
  GemmPlan best = *std::min_element(plans.begin(), plans.end(), faster);
  best.tried = tried;
  best.first_seconds = first_seconds;
  return best;
}

void Blas::run(const GemmPlan& plan, const GemmOperands& operands) const {
  const float one = 1, zero = 0;
  const GemmShape& s = plan.shape;
  if (plan.by_cublas) {
    check(cublasGemmEx(blas_, CUBLAS_OP_T, CUBLAS_OP_N, s.n, s.m, s.k, &one, operands.weights, operand_type(s.format),
                       s.k, operands.activations, operand_type(s.format), s.k, &zero, operands.out,
                       output_type(s.format), s.n, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT_TENSOR_OP),
          "a product");
    return;
  }
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
  const std::vector<int> all_n(rows.size(), n);
  const std::vector<int> all_k(rows.size(), k);
  const std::vector<int> each(rows.size(), 1);
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
