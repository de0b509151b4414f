// The cost model and the goodput simulation: what searches and Monte-Carlo call.
#include <benchmark/benchmark.h>

#include <cmath>

#include "economics/uncertainty.hpp"
#include "ridge/economics/cost.hpp"
#include "ridge/economics/goodput.hpp"

namespace ridge {
namespace {

CostScenario training_run() {
  CostScenario s;
  CostInputs& in = s.cost;
  in.mode = CostMode::own;
  in.gpus = 16384;
  in.server_usd = 23750;
  in.network_usd = 5250;
  in.storage_usd = 1125;
  in.installation_usd = 1125;
  in.cost_of_capital = 0.07;
  in.colocation_usd_per_kw_month = 120;
  in.electricity_usd_per_kwh = 0.08;
  in.staff_usd_per_year = 180;
  in.power = {.device_busy_w = 700, .device_idle_w = 100, .host_w = 575, .network_storage_share = 0.1, .pue = 1.27};
  in.utilisation = 0.9;
  in.output_tokens_per_s = 2.5e6;
  s.with_failures = true;
  s.failures.gpus = 16384;
  s.failures.spare_gpus = 168;
  s.failures.per_gpu_hour = {9.2e-6, 3.4e-6, 0, 0.3e-6, 1.6e-6, 2.2e-6, 3e-6};
  s.failures.detection_s = 60;
  s.failures.restart_s = 300;
  s.failures.repair_s = 86400;
  s.failures.checkpoint = {.stall_s = 2.8, .lag_s = 0, .load_s = 2.8, .shortest_interval_s = 2.8};
  s.failures.useful_s = 50 * 86400.0;
  return s;
}

// The yardstick: one exponential and one logarithm, which an annuity needs at least.
void annuity(benchmark::State& state) {
  double rate = 0.05;
  for (auto _ : state) {
    rate = rate < 0.2 ? rate + 1e-6 : 0.05;
    benchmark::DoNotOptimize(std::exp(-48 * std::log1p(rate / 12)));
  }
}
BENCHMARK(annuity);

void cost_evaluate(benchmark::State& state) {
  CostInputs in = training_run().cost;
  in.mode = state.range(0) == 0 ? CostMode::own : CostMode::rent;
  in.rent_usd_per_gpu_hour = 2;
  for (auto _ : state) {
    in.utilisation = in.utilisation < 1 ? in.utilisation + 1e-7 : 0.5;
    benchmark::DoNotOptimize(evaluate(in).usd_per_million_tokens);
  }
}
BENCHMARK(cost_evaluate)->Arg(0)->Arg(1);

void goodput_closed_form(benchmark::State& state) {
  GoodputInputs in = training_run().failures;
  for (auto _ : state) {
    in.restart_s = in.restart_s < 600 ? in.restart_s + 1e-3 : 300;
    benchmark::DoNotOptimize(expected_goodput(in).goodput);
  }
}
BENCHMARK(goodput_closed_form);

// The bar: 100,000 draws of the whole model in less than a second on one core.
void monte_carlo_100k(benchmark::State& state) {
  const CostScenario s = training_run();
  const auto spreads = usual_spreads(s, {});
  for (auto _ : state) benchmark::DoNotOptimize(monte_carlo(s, spreads, 100'000, 1).mean);
}
BENCHMARK(monte_carlo_100k)->Unit(benchmark::kMillisecond);

void goodput_simulated_run(benchmark::State& state) {
  const GoodputInputs in = training_run().failures;
  for (auto _ : state) benchmark::DoNotOptimize(simulate_goodput(in, 10, 1).mean.goodput);
  state.SetItemsProcessed(state.iterations() * 10);
}
BENCHMARK(goodput_simulated_run)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace ridge
