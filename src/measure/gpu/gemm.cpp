#include "measure/gpu/gemm.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "measure/choose.hpp"

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
  if (thorough) {  // each finalist as it will be timed: on its own, at the clock it leads to
    tuning.candidates = 32;
    tuning.finalists = 4;
    tuning.alone = 0.04;
  }
  if (is_large(shape)) {
    tuning.rounds = 3;
    tuning.finalists = thorough ? 5 : 2;
    tuning.alone = thorough ? 0.15 : 0.05;
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

// Replayed graphs, because the host takes as long to launch a small product as the device to run it.
std::vector<Blas::Candidate> Blas::runnable(std::vector<GemmPlan> plans, const std::vector<GemmOperands>& sets) const {
  constexpr double kTurn = 1e-3;  // seconds of one replay
  constexpr int kMost = 200;
  std::vector<Candidate> out;
  for (GemmPlan& plan : plans) {
    const auto launch = [&](int at) { run(plan, sets[static_cast<std::size_t>(at) % sets.size()]); };
    try {
      const double once = std::max(quick_time(stream_, launch, 2), 1e-6);
      const int launches = std::clamp(static_cast<int>(kTurn / once), 1, kMost);
      auto graph = std::make_unique<Graph>(stream_, [&] {
        for (int i = 0; i < launches; ++i) launch(i);
      });
      graph->replay(stream_);  // uploads it
      out.push_back({plan, std::move(graph), launches});
    } catch (const GpuFailure&) {
      (void)gpuGetLastError();  // an algorithm that the heuristic offers but the device refuses
    }
  }
  if (out.empty()) throw GpuFailure{"no algorithm of cuBLASLt runs this product"};
  return out;
}

double Blas::turn(const Candidate& candidate, int replays) const {
  const Events events(2);
  events.record(0, stream_);
  for (int i = 0; i < replays; ++i) candidate.graph->replay(stream_);
  events.record(1, stream_);
  return events.between(0, 1) / replays / candidate.launches;
}

// Every other round goes the other way, so that no one always follows the hungriest.
std::vector<double> Blas::round(const std::vector<Candidate>& candidates, int number,
                                const std::function<double(const Candidate&)>& take) {
  std::vector<double> times(candidates.size());
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const std::size_t at = number % 2 == 0 ? i : candidates.size() - 1 - i;
    times[at] = take(candidates[at]);
  }
  return times;
}

// Those that did best in short turns. The libraries' own choices are among them even if they did a little worse: they
// were made for the clocks of long runs.
std::vector<Blas::Candidate> Blas::finalists(std::vector<Candidate> candidates, const std::vector<double>& seconds,
                                             int places) {
  constexpr double kClose = 1.06, kOwnIsClose = 1.15;
  std::vector<double> order = seconds;
  std::sort(order.begin(), order.end());
  const double last = order[std::min(static_cast<std::size_t>(places), order.size()) - 1];
  std::vector<Candidate> out;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const bool own = candidates[i].plan.rank == 0 || candidates[i].plan.by_cublas;
    if (seconds[i] <= (own ? kOwnIsClose * order.front() : std::min(kClose * order.front(), last))) {
      out.push_back(std::move(candidates[i]));
    }
  }
  return out;
}

std::size_t Blas::run_off(const std::vector<Candidate>& candidates, double seconds) const {
  constexpr double kClear = 1.02;  // a lead that needs no second round
  const auto alone = [&](const Candidate& c) {
    const int replays = std::max(1, static_cast<int>(seconds / 2 / (turn(c, 1) * c.launches)));
    (void)turn(c, replays);
    return turn(c, replays);
  };
  (void)alone(candidates.front());  // warms the board
  std::vector<std::vector<double>> rounds;
  for (int number = 0; number < 3; ++number) {
    rounds.push_back(round(candidates, number, alone));
    std::vector<double> order = rounds.back();
    std::sort(order.begin(), order.end());
    if (order[1] > kClear * order[0]) break;
  }
  return choose(rounds).best;
}

GemmPlan Blas::tune(const GemmShape& shape, const std::vector<GemmOperands>& sets, const Tuning& tuning) {
  std::vector<GemmPlan> plans = candidates_of(shape, tuning.candidates);
  if (tuning.candidates <= 1) return plans.front();
  std::vector<Candidate> candidates = runnable(std::move(plans), sets);
  const auto tried = static_cast<int>(candidates.size());
  std::vector<std::vector<double>> rounds;
  for (int number = 0; number < tuning.rounds; ++number) {
    rounds.push_back(round(candidates, number, [&](const Candidate& c) { return turn(c, 1); }));
  }
  const Choice choice = choose(rounds);
  std::size_t best = choice.best;
  if (tuning.finalists > 0) {
    candidates = finalists(std::move(candidates), choice.seconds, tuning.finalists);
    best = candidates.size() > 1 ? run_off(candidates, tuning.alone) : 0;
  }
  GemmPlan plan = candidates[best].plan;
  plan.tried = tried;
  return plan;
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
