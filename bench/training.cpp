// Training plans per second on one core: what a search over layouts costs.
//
//   ridge_bench --benchmark_filter=Training
//
// Goal: a million plans per second for a dense model with TP, PP and DP, half a million for experts with EP.
#include "ridge/perf/training.hpp"

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <vector>

#include "support/bundle.hpp"

namespace ridge {
namespace {

template <class T>
T loaded(Result<T> result) {
  if (!result) std::abort();
  return std::move(*result);
}

/// Every layout of 1,024 devices with TP up to 8 and PP up to 16, three micro-batches and all kinds of recompute.
std::vector<TrainingPlan> layouts(int ep) {
  std::vector<TrainingPlan> plans;
  for (int tp = 1; tp <= 8; tp *= 2) {
    for (int pp = 1; pp <= 16; pp *= 2) {
      for (int micro = 1; micro <= 4; micro *= 2) {
        for (const Recompute recompute : {Recompute::none, Recompute::full, Recompute::unknown}) {
          TrainingPlan plan;
          plan.gpus = 1024;
          plan.tp = tp;
          plan.pp = pp;
          plan.ep = ep;
          plan.sequence = 8192;
          plan.global_batch = 4096;
          plan.micro_batch = micro;
          plan.recompute = recompute;
          plans.push_back(plan);
        }
      }
    }
  }
  return plans;
}

void evaluate_layouts(benchmark::State& state, const char* model, int ep) {
  TrainingQuery query;
  query.model = model;
  query.device = "gb300-nvl72";
  query.plan.gpus = 1024;
  query.plan.global_batch = 4096;
  const TrainingJob job = loaded(resolve(query, testing_support::knowledge()));
  const std::vector<TrainingPlan> plans = layouts(ep);
  std::size_t feasible = 0;
  std::size_t i = 0;
  for ([[maybe_unused]] const auto _ : state) {
    const TrainingOutcome outcome = evaluate(*job.resolved, plans[i]);
    feasible += outcome.reason == Reason::none ? 1 : 0;
    benchmark::DoNotOptimize(outcome);
    i = i + 1 == plans.size() ? 0 : i + 1;
  }
  state.counters["plans"] = benchmark::Counter(static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
  state.counters["feasible"] = static_cast<double>(feasible) / static_cast<double>(state.iterations());
}

BENCHMARK_CAPTURE(evaluate_layouts, TrainingDense70B, "llama3.1-70b", 1);
BENCHMARK_CAPTURE(evaluate_layouts, TrainingExpertsQwen235B, "qwen3-235b-a22b", 32);
BENCHMARK_CAPTURE(evaluate_layouts, TrainingExpertsDeepSeekV3, "deepseek-v3", 32);

}  // namespace
}  // namespace ridge
