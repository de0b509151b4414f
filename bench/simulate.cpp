// Simulated requests per second on one core: chat on Llama-3.1-70B, eight H100, 90 % of the rate it can hold.
#include <benchmark/benchmark.h>

#include <cstdlib>

#include "ridge/simulation.hpp"
#include "support/bundle.hpp"

namespace ridge {
namespace {

using testing_support::knowledge;

SimulationQuery chat() {
  SimulationQuery q;
  q.deployment.model = "llama3.1-70b";
  q.deployment.device = "h100-sxm";
  q.deployment.gpus = q.deployment.tp = 8;
  auto workload = find_workload(std::string(RIDGE_DATA_DIR) + "/workloads", "chat");
  if (!workload) std::abort();
  q.workload = *std::move(workload);
  q.requests = 20'000;
  return q;
}

/// The rate that 20,000 requests at once are served at: the most the engine can do.
double most() {
  SimulationQuery q = chat();
  q.load.kind = OfferedKind::offline;
  const auto r = simulate(q, knowledge());
  if (!r) std::abort();
  return r->requests_per_s;
}

void simulate_chat(benchmark::State& state) {
  SimulationQuery q = chat();
  q.load.rate = 0.01 * static_cast<double>(state.range(0)) * most();
  q.requests = 200'000;
  double steps = 0;
  for (auto _ : state) {
    const auto r = simulate(q, knowledge());
    if (!r || r->overloaded) {
      state.SkipWithError("the load is not what it should be");
      return;
    }
    steps = static_cast<double>(r->steps);
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * static_cast<std::int64_t>(q.requests));
  state.counters["steps/request"] = steps / q.requests;
}

BENCHMARK(simulate_chat)->Name("simulate/chat_70b_8xh100/load%")->Arg(30)->Arg(90)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ridge
