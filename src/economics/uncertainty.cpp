#include "economics/uncertainty.hpp"

#include <algorithm>
#include <cmath>

#include "base/normal.hpp"
#include "ridge/base/limits.hpp"
#include "ridge/base/random.hpp"

namespace ridge {

namespace {

using Field = double& (*)(CostScenario&);

double draw(const InputSpread& spread, double middle, double normal) {
  const double end = normal < 0 ? spread.low : spread.high;
  const double steps = std::abs(normal) / kNormal90;
  const double value =
      middle > 0 && end > 0 ? middle * std::exp(steps * std::log(end / middle)) : middle + steps * (end - middle);
  return std::clamp(value, spread.least, spread.most);
}

double quantile(std::vector<double>& values, double share) {
  const auto at = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<std::size_t>(at)];
}

class SpreadList {
 public:
  explicit SpreadList(const CostScenario& scenario) : scenario_(scenario) {}

  /// By factors, or not at all where the middle is zero.
  void factor(std::string name, Field field, double low, double high, double most = 1e300) {
    const double middle = field(scenario_);
    if (middle > 0) list_.push_back({std::move(name), field, middle * low, std::min(middle * high, most), 0, most});
  }
  void range(std::string name, Field field, double low, double high, double least, double most) {
    if (!std::isnan(field(scenario_))) list_.push_back({std::move(name), field, low, high, least, most});
  }
  std::vector<InputSpread> take() { return std::move(list_); }
  CostScenario& scenario() { return scenario_; }

 private:
  CostScenario scenario_;
  std::vector<InputSpread> list_;
};

}  // namespace

double scenario_cost(const CostScenario& s) noexcept {
  CostInputs in = s.cost;
  if (s.with_failures) in.goodput = expected_goodput(s.failures).goodput;
  const CostOutputs out = evaluate(in);
  return std::isnan(s.cost.output_tokens_per_s) ? out.usd_per_useful_gpu_hour : out.usd_per_million_tokens;
}

std::string_view scenario_unit(const CostScenario& s) {
  return std::isnan(s.cost.output_tokens_per_s) ? "$ per useful GPU-hour" : "$ per million tokens";
}

std::vector<InputSpread> usual_spreads(const CostScenario& s, const MarketSpread& market) {
  SpreadList list(s);
  const CostInputs& in = s.cost;
  if (in.mode == CostMode::own) {
    list.factor(
        "server price", [](CostScenario& x) -> double& { return x.cost.server_usd; }, 0.85, 1.2);
    list.factor(
        "network price", [](CostScenario& x) -> double& { return x.cost.network_usd; }, 0.7, 1.4);
    list.range(
        "cost of capital", [](CostScenario& x) -> double& { return x.cost.cost_of_capital; },
        std::max(0.0, in.cost_of_capital - 0.02), in.cost_of_capital + 0.04, 0, 1);
    list.factor(
        "life", [](CostScenario& x) -> double& { return x.cost.life_years; }, 0.75, 1.4);
    list.factor(
        "electricity", [](CostScenario& x) -> double& { return x.cost.electricity_usd_per_kwh; }, 0.75, 1.4);
    list.factor(
        "colocation", [](CostScenario& x) -> double& { return x.cost.colocation_usd_per_kw_month; }, 0.8, 1.4);
    list.range(
        "PUE", [](CostScenario& x) -> double& { return x.cost.power.pue; }, std::max(1.05, in.power.pue - 0.1),
        in.power.pue + 0.15, 1, 4);
    list.factor(
        "staff", [](CostScenario& x) -> double& { return x.cost.staff_usd_per_year; }, 0.5, 2);
  } else if (in.mode == CostMode::api) {
    list.factor(
        "input price", [](CostScenario& x) -> double& { return x.cost.api_input_usd_per_million; }, 0.6, 1.5);
    list.factor(
        "output price", [](CostScenario& x) -> double& { return x.cost.api_output_usd_per_million; }, 0.6, 1.5);
  } else {
    const Field price = [](CostScenario& x) -> double& { return x.cost.rent_usd_per_gpu_hour; };
    if (market.price_low > 0 && market.price_high > market.price_low) {
      list.range("rent", price, market.price_low, market.price_high, 0, 1000);
    } else {
      list.factor("rent", price, 0.75, 1.25);
    }
    list.factor(
        "preemptions", [](CostScenario& x) -> double& { return x.cost.preemptions_per_hour; }, 0.1, 3);
  }
  if (in.mode != CostMode::api) {
    const Field rate = [](CostScenario& x) -> double& { return x.cost.output_tokens_per_s; };
    if (market.tokens_per_s.low > 0) {
      list.range("throughput", rate, market.tokens_per_s.low, market.tokens_per_s.high, 0, 1e300);
    } else {
      list.factor("throughput", rate, 0.9, 1.1);
    }
    list.factor(
        "utilisation", [](CostScenario& x) -> double& { return x.cost.utilisation; }, 0.7, 1.2, 1);
    if (!s.with_failures && in.goodput < 1) {
      list.factor(
          "goodput", [](CostScenario& x) -> double& { return x.cost.goodput; }, 0.95, 1.04, 1);
    }
  }
  if (s.with_failures) {
    // Two research clusters of one operator are 0.62 and 1.72 times the Llama 3 run's rate (data/economics).
    list.factor(
        "GPU failures", [](CostScenario& x) -> double& { return x.failures.per_gpu_hour[0]; }, 0.6, 1.7);
    list.factor(
        "memory failures", [](CostScenario& x) -> double& { return x.failures.per_gpu_hour[1]; }, 0.6, 1.7);
    list.factor(
        "link failures", [](CostScenario& x) -> double& { return x.failures.per_gpu_hour[2]; }, 0.2, 3);
    list.factor(
        "time to restart", [](CostScenario& x) -> double& { return x.failures.restart_s; }, 0.6, 3);
  }
  return list.take();
}

CostRisk monte_carlo(const CostScenario& scenario, std::span<const InputSpread> spreads, int draws, std::uint64_t seed,
                     const Patience& patience) {
  constexpr std::size_t kBetweenLooks = 1024;
  CostRisk risk;
  risk.draws = std::clamp(draws, 1, static_cast<int>(limits::kDraws.most));
  CostScenario one = scenario;
  std::vector<double> middles;
  for (const InputSpread& spread : spreads) middles.push_back(spread.field(one));
  std::vector<double> costs(static_cast<std::size_t>(risk.draws));
  for (std::size_t i = 0; i < costs.size(); ++i) {
    if (i > 0 && i % kBetweenLooks == 0 && patience.over()) {
      risk.mean *= static_cast<double>(risk.draws) / static_cast<double>(i);
      risk.draws = static_cast<int>(i);
      costs.resize(i);
      break;
    }
    Random random(seed, i);
    for (std::size_t k = 0; k < spreads.size(); ++k)
      spreads[k].field(one) = draw(spreads[k], middles[k], random.normal());
    costs[i] = scenario_cost(one);
    risk.mean += costs[i] / risk.draws;
  }
  risk.cost = {quantile(costs, 0.1), quantile(costs, 0.5), quantile(costs, 0.9)};
  return risk;
}

std::vector<TornadoLine> tornado(const CostScenario& scenario, std::span<const InputSpread> spreads) {
  std::vector<TornadoLine> lines;
  for (const InputSpread& spread : spreads) {
    CostScenario one = scenario;
    TornadoLine line;
    line.name = spread.name;
    line.mid_input = spread.field(one);
    line.low_input = std::clamp(spread.low, spread.least, spread.most);
    line.high_input = std::clamp(spread.high, spread.least, spread.most);
    spread.field(one) = line.low_input;
    line.at_low = scenario_cost(one);
    spread.field(one) = line.high_input;
    line.at_high = scenario_cost(one);
    lines.push_back(std::move(line));
  }
  std::stable_sort(lines.begin(), lines.end(), [](const TornadoLine& a, const TornadoLine& b) {
    return std::abs(a.at_high - a.at_low) > std::abs(b.at_high - b.at_low);
  });
  return lines;
}

}  // namespace ridge
