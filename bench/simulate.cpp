// Simulated requests per second on one core: chat on Llama-3.1-70B, eight H100, 90 % of the rate it can hold; turns of
// agents on Llama-3.1-8B and one H100 that is given more than it can do, with three memories below the device's.
// Goal: a million turns in 5 s and 500 MB.
#include <benchmark/benchmark.h>

#include <cstdlib>

#include "ridge/serve/simulation.hpp"
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

void simulate_agents(benchmark::State& state) {
  SimulationQuery q;
  q.deployment.model = "llama3.1-8b";
  q.deployment.device = "h100-sxm";
  q.deployment.weights = Format::fp8;
  auto workload = find_workload(std::string(RIDGE_DATA_DIR) + "/workloads", "agent");
  auto tiers = parse_tiers("host:200GB:50GB/s,ssd:2TB:6GB/s:100us,store:inf:10GB/s:1ms:shared");
  if (!workload || !tiers) std::abort();
  q.workload = *std::move(workload);
  q.policies.tiers = *std::move(tiers);
  q.load.rate = 10;
  q.requests = 1'000'000;
  double fetched = 0;
  for (auto _ : state) {
    const auto r = simulate(q, knowledge());
    if (!r) std::abort();
    for (const TierResult& tier : r->tiers) fetched += static_cast<double>(tier.fetches);
  }
  const auto turns = static_cast<double>(state.iterations()) * q.requests;
  state.SetItemsProcessed(static_cast<std::int64_t>(turns));
  state.counters["fetches/turn"] = fetched / turns;
}

BENCHMARK(simulate_agents)->Name("simulate/agents_8b_three_tiers")->Unit(benchmark::kMillisecond);
BENCHMARK(simulate_chat)->Name("simulate/chat_70b_8xh100/load%")->Arg(30)->Arg(90)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ridge
