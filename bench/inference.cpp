// Operating points per second: one point is a plan, a batch and two lengths, with its interval.
#include "ridge/perf/inference.hpp"

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <vector>

#include "perf/inference/resolved.hpp"
#include "support/bundle.hpp"

namespace ridge {
namespace {

using testing_support::knowledge;

/// Every plan of a small space, resolved once as a search does.
std::vector<InferenceDeployment> plans(const char* model, bool experts) {
  std::vector<InferenceDeployment> out;
  for (const char* device : {"h100-sxm", "h200-sxm", "b200-sxm-180"}) {
    for (const Format weights : {Format::bf16, Format::fp8}) {
      InferenceQuery q;
      q.model = model;
      q.device = device;
      q.weights = weights;
      q.tp = q.gpus = 8;
      if (experts) q.ep = 8;
      if (auto d = resolve(q, knowledge())) {
        if (d->resolved->reason == Reason::none) out.push_back(std::move(*d));
      }
    }
  }
  return out;
}

void evaluate_points(benchmark::State& state, const char* model, bool experts) {
  const auto space = plans(model, experts);
  if (space.empty()) {
    state.SkipWithError("no plan fits");
    return;
  }
  // Scrambled order: an odd multiplier visits all of a power of two, so that no branch or cache line is predictable.
  std::uint32_t at = 1;
  double sum = 0;
  for (auto _ : state) {
    at = at * 2654435761u + 12345u;
    const InferenceLoad load{.mode = LoadMode::fixed_batch,
                             .isl = 128.0 + (at >> 8) % 4096,
                             .osl = 16.0 + (at >> 20) % 1024,
                             .batch = 1.0 + (at >> 4) % 128};
    const InferenceOutcome o = evaluate(*space[at % space.size()].resolved, load);
    sum += o.estimate.output_tokens_per_s.high;
  }
  benchmark::DoNotOptimize(sum);
  state.SetItemsProcessed(state.iterations());
}

void inference_dense_70b_tp8(benchmark::State& state) {
  evaluate_points(state, "llama3.1-70b", false);
}
void inference_deepseek_v3_ep8(benchmark::State& state) {
  evaluate_points(state, "deepseek-v3", true);
}
BENCHMARK(inference_dense_70b_tp8);
BENCHMARK(inference_deepseek_v3_ep8);

}  // namespace
}  // namespace ridge
