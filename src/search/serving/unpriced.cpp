// Devices whose price nobody publishes: the price at which each would be the one to take.
#include <fmt/format.h>

#include <algorithm>

#include "ridge/base/text.hpp"
#include "search/buyer/sentences.hpp"

namespace ridge::search {

namespace {

constexpr double kHoursOfAYear = 8760;

}  // namespace

void rank_unpriced(const ServingQuest& quest, std::vector<ServingPlan> plans, std::size_t finalists,
                   ServingVerdict& verdict, const Knowledge& knowledge) {
  const ServingGoal& goal = quest.goal;
  ServingVerdict sized;
  sized.plans = std::move(plans);
  std::stable_sort(sized.plans.begin(), sized.plans.end(),
                   [](const ServingPlan& a, const ServingPlan& b) { return a.gpus < b.gpus; });
  confirm(quest, sized, finalists, knowledge);
  verdict.losers.insert(verdict.losers.end(), sized.losers.begin(), sized.losers.end());
  // What the cheapest costs an hour; a budget is a bound too.
  double beats = goal.buyer.budget_usd / kHoursOfAYear;
  if (!verdict.plans.empty() && verdict.plans.front().usd_per_hour && *verdict.plans.front().usd_per_hour > 0) {
    const double best = *verdict.plans.front().usd_per_hour;
    beats = beats > 0 ? std::min(beats, best) : best;
  }
  for (ServingPlan& plan : sized.plans) {
    if (!plan.sure.holds && goal.request_rate > 0) plan.sure.holds = chance_by_means(goal, plan);
    UnpricedPlan one;
    if (beats > 0 && plan.gpus > 0 && goal.objective == Objective::cost) one.wins_below = beats / plan.gpus;
    if (goal.buyer.purchase != Purchase::own) {
      Buyer owner = goal.buyer;
      owner.purchase = Purchase::own;
      owner.region.clear();  // of the rent
      one.bought = price_of(knowledge.catalogue, plan.query.device, owner, quest.economics);
    }
    std::string why = fmt::format("{} would do, but no {} price is published{}", plan.gpus, name(goal.buyer.purchase),
                                  search::other_purchases(quest, plan.query.device, knowledge));
    if (one.wins_below) why += fmt::format("; it would win below ${}/h", format_number(*one.wins_below, 3));
    if (one.bought) {
      why += fmt::format("{} bought, an hour costs ${}", one.wins_below ? "," : ";", format_number(one.bought->mid, 3));
    }
    verdict.losers.push_back({plan.query.device, std::move(why), "price", 0, true});
    one.plan = std::move(plan);
    verdict.unpriced.push_back(std::move(one));
  }
  std::stable_sort(verdict.unpriced.begin(), verdict.unpriced.end(), [](const UnpricedPlan& a, const UnpricedPlan& b) {
    return a.wins_below.value_or(0) > b.wins_below.value_or(0);
  });
}

}  // namespace ridge::search
