// How fast a search is, per core and with two: ridge_bench --benchmark_filter=Plan
//
// Goals: a million training candidates a second and core, counting only evaluated ones; two cores at least 1.8 times
// one; GPT-3 175B on 4,096 H100 (more than seven million) in 5 s exhaustively and in 1 s with pruning on two cores; a
// 70B serving question over all devices, more than a million candidates, in 2 s; a DeepSeek question over all devices
// with EP up to 144 and both pools in 5 s on two cores, and half a million plans a second and core with experts.
#include "ridge/search/plan.hpp"

#include <benchmark/benchmark.h>

#include <cstdlib>

#include "search/problem.hpp"
#include "search/problems/serving_problem.hpp"
#include "search/problems/training_problem.hpp"
#include "support/bundle.hpp"

namespace ridge {
namespace {

using testing_support::knowledge;

template <class T>
T loaded(Result<T> result) {
  if (!result) std::abort();
  return std::move(*result);
}

void count(benchmark::State& state, const search::Problem& problem, const search::Count& counted) {
  using benchmark::Counter;
  state.counters["space"] = static_cast<double>(problem.all().size());
  state.counters["evaluated"] = static_cast<double>(counted.evaluated) / static_cast<double>(state.iterations());
  state.counters["evaluated_per_s"] = Counter(static_cast<double>(counted.evaluated), Counter::kIsRate);
}

void training(benchmark::State& state) {
  TrainingGoal goal;
  goal.model = "gpt3-175b";
  goal.buyer.devices = {"h100-sxm"};
  goal.gpus = {4096};
  goal.sequence = 2048;
  goal.global_batch = 4096;
  goal.full_space = true;
  goal.objective = Objective::time;
  const TrainingQuest quest = loaded(prepare(goal, knowledge()));
  search::SearchOptions options;
  options.threads = static_cast<int>(state.range(0));
  options.prune = state.range(1) != 0;
  search::Count counted;
  for ([[maybe_unused]] const auto _ : state) {
    const search::SearchOutcome found = search::search(*quest.problem, options);
    counted += found.count;
  }
  count(state, *quest.problem, counted);
}
BENCHMARK(training)
    ->Name("PlanTraining175B")
    ->ArgNames({"threads", "prune"})
    ->ArgsProduct({{1, 2}, {0, 1}})
    ->MeasureProcessCPUTime()
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

void serving(benchmark::State& state) {
  ServingGoal goal;
  goal.model = "llama3.3-70b";
  goal.request_rate = 50;
  goal.ttft_s = 1;
  goal.tpot_s = 0.04;
  search::Count counted;
  std::optional<ServingQuest> quest;
  for ([[maybe_unused]] const auto _ : state) {
    quest = loaded(prepare(goal, knowledge()));
    counted += search::search(*quest->problem, {}).count;
    counted.evaluated += quest->problem->setup_evaluations();
  }
  count(state, *quest->problem, counted);
}
BENCHMARK(serving)
    ->Name("PlanServing70BAllDevices")
    ->MeasureProcessCPUTime()
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

/// A mixture of experts on every device, layouts up to EP 144; `judged`: finalists simulated and pools apart as well.
/// Rates are per second of CPU time, of all threads: a core's.
void serving_experts(benchmark::State& state) {
  ServingGoal goal;
  goal.model = "deepseek-v3";
  goal.request_rate = 50;
  goal.isl = 2000;
  goal.osl = 500;
  goal.ttft_s = 2;
  goal.tpot_s = 0.05;
  search::Count counted;
  std::optional<ServingQuest> quest;
  for ([[maybe_unused]] const auto _ : state) {
    quest = loaded(prepare(goal, knowledge()));
    const search::SearchOutcome found = search::search(*quest->problem, {});
    counted += found.count;
    counted.evaluated += quest->problem->setup_evaluations();
    if (state.range(0) != 0) benchmark::DoNotOptimize(judge(*quest, found.findings, knowledge()));
  }
  count(state, *quest->problem, counted);
  state.counters["decided_per_s"] =
      benchmark::Counter(static_cast<double>(counted.evaluated + counted.pruned), benchmark::Counter::kIsRate);
}
BENCHMARK(serving_experts)
    ->Name("PlanServingDeepSeekAllDevices")
    ->ArgName("judged")
    ->Arg(0)
    ->Arg(1)
    ->MeasureProcessCPUTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ridge
