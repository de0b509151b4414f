// The nearest goal that is really met, where the one asked for is not.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "economics/cost_case.hpp"
#include "ridge/base/text.hpp"
#include "search/buyer/sentences.hpp"
#include "search/problem.hpp"
#include "search/problems/serving_problem.hpp"

namespace ridge::search {

namespace {

/// Limits on times that are tried, over the least by the means.
constexpr double kLooser[] = {1, 1.1, 1.25, 1.5, 2, 3};
constexpr double kJustAbove = 1.005;
constexpr double kYearHours = 8760;

/// To three digits, as it is written.
double rounded_up(double seconds) {
  const double unit = std::pow(10.0, std::floor(std::log10(seconds)) - 2);
  return std::ceil(seconds / unit * (1 - 1e-12)) * unit;
}

}  // namespace

Changes met_goal(const ServingQuest& quest, const ServingPlan& closest, const Knowledge& knowledge,
                 std::size_t finalists) {
  const ServingGoal& asked = quest.goal;
  if (asked.request_rate <= 0) return {};
  double slow = 1;
  double slow_first = 1;
  for (std::size_t g = 0; g < quest.problem->groups(); ++g) {
    const ServingGroupSpec& spec = quest.problem->spec(g);
    if (spec.device != closest.query.device) continue;
    slow = spec.slowness;
    slow_first = spec.ttft_slowness;
  }
  const auto missed = [](double value, double most) { return most > 0 && value > most; };
  const bool ttft = missed(closest.ttft_s.mid * slow_first, asked.ttft_s);
  const bool tpot = missed(closest.tpot_s.mid * slow, asked.tpot_s);
  const bool e2e = missed(closest.e2e_s.mid * slow, asked.e2e_s);
  for (const double looser : kLooser) {
    if (asked.patience.over()) return {};
    ServingGoal goal = asked;
    goal.buyer.devices = {closest.query.device};
    if (ttft) goal.ttft_s = rounded_up(closest.ttft_s.mid * slow_first * kJustAbove * looser);
    if (tpot) goal.tpot_s = rounded_up(closest.tpot_s.mid * slow * kJustAbove * looser);
    if (e2e) goal.e2e_s = rounded_up(closest.e2e_s.mid * slow * kJustAbove * looser);
    // What has to be had is known once there is a plan.
    goal.buyer.budget_usd = goal.buyer.power_w = 0;
    goal.buyer.gpus = 0;
    const auto tried = prepare(goal, knowledge, quest.economics);
    if (!tried) return {};
    const ServingVerdict verdict = judged(*tried, search(*tried->problem, {}).findings, knowledge, finalists, false);
    if (verdict.plans.empty()) continue;
    const ServingPlan& plan = verdict.plans.front();
    Changes changes;
    const auto add = [&](const char* field, std::string value) { changes.push_back({field, std::move(value)}); };
    if (ttft) add("ttft", compact(Seconds(goal.ttft_s)));
    if (tpot) add("tpot", compact(Seconds(goal.tpot_s)));
    if (e2e) add("e2e", compact(Seconds(goal.e2e_s)));
    if (plan.usd_per_hour && missed(*plan.usd_per_hour * kYearHours, asked.buyer.budget_usd)) {
      add("budget", format(Dollars(*plan.usd_per_hour * kYearHours * kJustAbove)) + "/year");
    }
    double watts = plan.watts.mid;
    const auto device = knowledge.catalogue.find_device(plan.query.device);
    if (device && quest.economics != nullptr) {
      watts += plan.gpus * host_watts(knowledge.catalogue, *quest.economics, *device, asked.buyer.date);
    }
    if (missed(watts, asked.buyer.power_w)) add("power", compact(Watts(watts * kJustAbove)));
    if (missed(plan.gpus, asked.buyer.gpus)) add("gpus", std::to_string(plan.gpus));
    return changes;
  }
  return {};
}

HeldWith met_confidence(const ServingQuest& quest, const std::vector<ServingPlan>& nearest, const Knowledge& knowledge,
                        std::size_t finalists) {
  constexpr std::size_t kTried = 3;  // devices: those that come closest
  constexpr double kLeast = 0.05;
  constexpr double kFine = 0.025;
  HeldWith best;
  if (quest.goal.request_rate <= 0) return best;
  for (std::size_t i = 0; i < std::min(kTried, nearest.size()); ++i) {
    ServingGoal goal = quest.goal;
    goal.buyer.devices = {nearest[i].query.device};
    const auto holds = [&](double confidence) {
      goal.confidence = confidence;
      const auto tried = prepare(goal, knowledge, quest.economics);
      if (!tried) return false;
      const ServingVerdict v = judged(*tried, search(*tried->problem, {}).findings, knowledge, finalists, false);
      return !v.plans.empty() || (goal.buyer.budget_usd <= 0 && !v.unpriced.empty());
    };
    double low = std::max(kLeast, best.confidence);
    if (quest.goal.patience.over() || !holds(low)) continue;
    double high = quest.goal.confidence;
    while (high - low > kFine && !quest.goal.patience.over()) {
      const double middle = 0.5 * (low + high);
      (holds(middle) ? low : high) = middle;
    }
    best = {low, nearest[i].query.device};
  }
  return best;
}

}  // namespace ridge::search
