// Training runs looked at failure by failure before they are shown.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/parallel.hpp"
#include "economics/goodput/case.hpp"
#include "ridge/base/text.hpp"
#include "ridge/economics/goodput.hpp"
#include "search/buyer/sentences.hpp"

namespace ridge::search {

namespace {

constexpr double kSecondsADay = 86400;
constexpr double kUsualRunDays = 30;
constexpr int kTrials = 60;

}  // namespace

RunGoodput goodput_of(const TrainingQuest& quest, const std::string& device, int gpus, double parameters,
                      const Knowledge& knowledge) {
  const TrainingGoal& goal = quest.goal;
  if (goal.goodput > 0) return {goal.goodput, 0};
  if (quest.economics == nullptr || goal.tokens <= 0) return {};
  GoodputQuery query;
  query.gpus = gpus;
  query.parameters = parameters;
  query.device = device;
  query.useful_s = (goal.days > 0 ? goal.days : kUsualRunDays) * kSecondsADay;
  const auto inputs = goodput_inputs(query, knowledge.catalogue, *quest.economics);
  if (!inputs) return {};
  const GoodputOutputs out = expected_goodput(*inputs);
  if (!(out.goodput > 0 && out.goodput <= 1)) return {};
  // What is lost is a sum of as many independent losses as there are interruptions.
  return {out.goodput, (1 - out.goodput) / std::sqrt(std::max(1.0, out.interruptions))};
}

void confirm(const TrainingQuest& quest, TrainingVerdict& verdict, std::size_t finalists, const Knowledge& knowledge) {
  if (quest.economics == nullptr || quest.goal.goodput > 0) return;
  const auto model = knowledge.catalogue.find_model(quest.goal.model);
  if (!model) return;
  const double parameters = count_parameters(*model).total;
  const std::size_t count = std::min(finalists, verdict.plans.size());
  parallel_for(count, 0, [&](std::size_t i) {
    TrainingPick& pick = verdict.plans[i];
    if (!pick.days || quest.goal.patience.over()) return;
    GoodputQuery query;
    query.gpus = pick.plan.gpus;
    query.parameters = parameters;
    query.device = pick.device;
    query.useful_s = pick.days->mid * pick.goodput * kSecondsADay;
    const auto inputs = goodput_inputs(query, knowledge.catalogue, *quest.economics);
    if (!inputs) return;
    const GoodputSample sample = simulate_goodput(*inputs, kTrials, 1, quest.goal.patience);
    if (quest.goal.patience.over()) return;
    pick.days_p95 = sample.time_to_train_s.high / kSecondsADay;
    pick.confirmed =
        fmt::format("simulated: {:.0f} interruptions, goodput {:.1f} %, {} days, {} at p95", sample.mean.interruptions,
                    100 * sample.mean.goodput, format_number(sample.mean.time_to_train_s / kSecondsADay),
                    format_number(*pick.days_p95));
  });
  if (quest.goal.patience.over()) verdict.assumptions.emplace_back(kNotSimulated);
}

}  // namespace ridge::search
