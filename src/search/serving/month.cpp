// The bill of a month, and the climb of a day simulated.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ridge/search/headroom.hpp"
#include "ridge/serve/simulation.hpp"
#include "search/buyer/sentences.hpp"

namespace ridge {

namespace {

constexpr double kSecondsOfAnHour = 3600;

/// Hours of a month that `replicas` and more of them are paid for.
struct Staircase {
  std::vector<double> hours;  ///< by replica, the first is needed longest

  Staircase(const std::vector<int>& needed, double part_hours, double cold_start_h) {
    const double parts = static_cast<double>(needed.size());
    const double times = kHoursAMonth / (parts * part_hours);
    const int most = *std::max_element(needed.begin(), needed.end());
    hours.assign(static_cast<std::size_t>(most), 0);
    for (std::size_t i = 0; i < needed.size(); ++i) {
      const int now = needed[i];
      const int next = needed[(i + 1) % needed.size()];
      for (int r = 0; r < most; ++r) {
        // A replica of the next part starts before it.
        const double part = r < now ? part_hours : r < next ? std::min(cold_start_h, part_hours) : 0;
        hours[static_cast<std::size_t>(r)] += part * times;
      }
    }
  }
  [[nodiscard]] double above(int replica) const {
    double sum = 0;
    for (std::size_t r = static_cast<std::size_t>(replica); r < hours.size(); ++r) sum += hours[r];
    return sum;
  }
};

}  // namespace

MonthlyBill month_of(const FleetSize& fleet, const TrafficShape& shape, const CapacityPrices& prices,
                     double cold_start_s) {
  MonthlyBill bill;
  const int serving = std::max(1, fleet.replicas - fleet.spares);
  const double peak = std::max(1e-9, shape.peak());
  for (const double part : shape.parts) {
    bill.replicas.push_back(std::max(1, static_cast<int>(std::ceil(serving * part / peak - 1e-9))) + fleet.spares);
  }
  if (bill.replicas.empty()) bill.replicas = {fleet.replicas};
  const Staircase stairs(bill.replicas, shape.part_hours, cold_start_s / kSecondsOfAnHour);
  const double each = fleet.gpus_per_replica;
  bill.gpu_hours = each * stairs.above(0);
  const double always = each * fleet.replicas * kHoursAMonth;
  const auto add = [&](std::string text, double usd, double gpu_hours) {
    bill.ways.push_back({std::move(text), usd, gpu_hours});
  };
  if (prices.on_demand) {
    add(fmt::format("all {} replicas on demand all month", fleet.replicas), always * *prices.on_demand, always);
    add("on demand, as traffic comes", bill.gpu_hours * *prices.on_demand, bill.gpu_hours);
  }
  if (prices.reserved) {
    add(fmt::format("all {} replicas reserved", fleet.replicas), always * *prices.reserved, always);
    // Reserving pays for a replica that runs long enough; the base is found by trying all.
    const auto mixed = [&](double above, const char* how) {
      int best = 0;
      double least = 0;
      double hours = 0;
      for (int base = 1; base < fleet.replicas; ++base) {
        const double rest = each * stairs.above(base);
        const double usd = each * base * kHoursAMonth * *prices.reserved + rest * above;
        if (best != 0 && usd >= least) continue;
        best = base;
        least = usd;
        hours = each * base * kHoursAMonth + rest;
      }
      if (best == 0) return;
      add(fmt::format("{} replicas reserved, the rest {} as traffic comes", best, how), least, hours);
    };
    if (prices.on_demand) mixed(*prices.on_demand, "on demand");
    if (prices.spot) mixed(*prices.spot, "spot");
  } else if (prices.spot && prices.on_demand) {
    const int base = *std::min_element(bill.replicas.begin(), bill.replicas.end());
    const double rest = each * stairs.above(base);
    const double steady = each * base * kHoursAMonth;
    add(fmt::format("{} replicas on demand all month, the rest spot as traffic comes", base),
        steady * *prices.on_demand + rest * *prices.spot, steady + rest);
  }
  std::stable_sort(bill.ways.begin(), bill.ways.end(),
                   [](const MonthlyWay& a, const MonthlyWay& b) { return a.usd < b.usd; });
  return bill;
}

namespace search {

namespace {

constexpr double kClimbRequests = 60'000;  ///< simulated at most
constexpr int kClimbReplicas = 8;          ///< of them, the peak is scaled down to
constexpr double kScaleAt = 0.7;           ///< of the requests that a replica is rated at: then another is started
constexpr int kMonthsAYear = 12;

CapacityPrices capacity_prices(const ServingQuest& quest, const std::string& device, const Knowledge& knowledge) {
  CapacityPrices prices;
  Buyer other = quest.goal.buyer;
  const auto price = [&](Purchase purchase) -> std::optional<double> {
    other.purchase = purchase;
    const auto quote = price_of(knowledge.catalogue, device, other, quest.economics);
    return quote ? std::optional(quote->mid / kept_share(other, quest.economics)) : std::nullopt;
  };
  prices.on_demand = price(Purchase::on_demand);
  prices.reserved = price(Purchase::reserved);
  prices.spot = price(Purchase::spot);
  return prices;
}

/// The part that the next one exceeds by most.
std::size_t steepest(const TrafficShape& shape) {
  std::size_t at = 0;
  const auto climb = [&](std::size_t i) { return shape.parts[(i + 1) % shape.parts.size()] - shape.parts[i]; };
  for (std::size_t i = 1; i < shape.parts.size(); ++i) {
    if (climb(i) > climb(at)) at = i;
  }
  return at;
}

/// The steepest climb, with engines that are started by the requests that wait.
void climb_of(const ServingQuest& quest, const ServingPlan& plan, const Knowledge& knowledge, MonthlyBill& bill) {
  const ServingGoal& goal = quest.goal;
  const TrafficShape& shape = *goal.traffic;
  const std::size_t at = steepest(shape);
  const int serving = std::max(1, plan.replicas - plan.spares);
  const int most = std::min(plan.replicas, kClimbReplicas + plan.spares);
  const double scale = static_cast<double>(std::max(1, most - plan.spares)) / serving;
  SimulationQuery q;
  q.deployment = plan.query;
  q.workload = goal.requests();
  const double low = shape.parts[at];
  const double high = shape.parts[(at + 1) % shape.parts.size()];
  const double mean = 0.5 * (low + high);
  if (!(mean > 0)) return;
  // Half a part before the climb and half of one after it.
  const double seconds = shape.part_hours * kSecondsOfAnHour;
  q.workload.arrivals.kind = ArrivalKind::diurnal;
  q.workload.arrivals.period = seconds;
  q.workload.arrivals.parts = {low / mean, high / mean};
  q.load.kind = OfferedKind::rate;
  q.load.rate = goal.request_rate * mean * scale;
  q.replicas = most;
  q.requests = 0;
  q.duration = std::min(seconds, kClimbRequests / q.load.rate);
  q.workload.arrivals.period = q.duration;
  q.limits.ttft = goal.ttft_s;
  q.limits.tpot = goal.tpot_s;
  q.limits.e2e = goal.e2e_s;
  Autoscaling scaling;
  scaling.least = std::clamp(static_cast<int>(std::ceil(bill.replicas[at] * scale)), 1, most);
  scaling.most = most;
  scaling.target = std::max(1.0, kScaleAt * plan.concurrency);
  scaling.cold_start = goal.cold_start_s;
  scaling.idle = 10 * goal.cold_start_s;
  q.policies.autoscaling = scaling;
  PatientObserver observer(goal.patience);
  const auto result = simulate(q, knowledge, &observer);
  if (!result || goal.patience.over() || result->arrived == 0) return;
  bill.held_scaled = static_cast<double>(result->good) / static_cast<double>(result->arrived);
  bill.cold_starts = static_cast<double>(result->cold_starts);
}

}  // namespace

std::optional<MonthlyBill> bill_of(const ServingQuest& quest, const ServingPlan& plan, const Knowledge& knowledge) {
  const ServingGoal& goal = quest.goal;
  if (!goal.traffic || plan.replicas <= 0) return {};
  const CapacityPrices prices = capacity_prices(quest, plan.query.device, knowledge);
  const FleetSize fleet{plan.replicas, plan.spares, plan.query.gpus};
  MonthlyBill bill = month_of(fleet, *goal.traffic, prices, goal.cold_start_s);
  for (int month = 0; month < kMonthsAYear && !bill.ways.empty(); ++month) {
    FleetSize grown = fleet;
    const double more = std::pow(1 + goal.growth, month);
    grown.replicas = fleet.spares + static_cast<int>(std::ceil((fleet.replicas - fleet.spares) * more - 1e-9));
    const MonthlyBill then = month_of(grown, *goal.traffic, prices, goal.cold_start_s);
    bill.year_usd += then.ways.front().usd;
    bill.replicas_in_a_year = grown.replicas;
  }
  if (goal.request_rate > 0) climb_of(quest, plan, knowledge, bill);
  return bill;
}

}  // namespace search

}  // namespace ridge
