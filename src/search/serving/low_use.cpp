// A run on more devices than its batch can feed.
#include <fmt/format.h>

#include <algorithm>

#include "ridge/base/text.hpp"
#include "ridge/perf/training_answer.hpp"
#include "search/buyer/sentences.hpp"

namespace ridge::search {

std::string low_use_text(const TrainingQuest& quest, const TrainingPick& pick, const Knowledge& knowledge) {
  constexpr int kFewer[] = {4, 16, 64, 256};
  constexpr double kHalf = 0.5;
  double best = pick.estimate.mfu.mid;
  int there = pick.plan.gpus;
  for (const int fewer : kFewer) {
    TrainingQuery query;
    query.model = quest.goal.model;
    query.device = pick.device;
    query.engine = quest.goal.engine;
    query.date = quest.goal.buyer.software_date;
    query.task = quest.goal.task;
    query.precision = pick.precision;
    query.plan.sequence = pick.plan.sequence;
    query.plan.gpus = pick.plan.gpus / fewer;
    if (query.plan.gpus < 1) break;
    TrainingFreedom free;
    free.tp = free.pp = free.ep = free.micro_batch = free.schedule = free.global_batch = true;
    const auto found = answer(query, free, knowledge);
    if (!found || found->refusal) continue;
    if (found->outcome.estimate.mfu.mid > best) {
      best = found->outcome.estimate.mfu.mid;
      there = query.plan.gpus;
    }
  }
  if (pick.estimate.mfu.mid >= kHalf * best) return {};
  const double tokens = static_cast<double>(pick.plan.global_batch) * pick.plan.sequence;
  return fmt::format(
      "Its MFU of {:.0f} % is less than half of the {:.0f} % that {} of them reach: a batch of {} M tokens is too "
      "small "
      "to feed {}; take fewer, or say a larger one by ⟦global_batch⟧.",
      100 * pick.estimate.mfu.mid, 100 * best, format_number(there, 7), format_number(tokens / 1e6),
      format_number(pick.plan.gpus, 7));
}

}  // namespace ridge::search
