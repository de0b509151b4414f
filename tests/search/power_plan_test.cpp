// Plans whose devices are capped: the cap as a dimension of the search.
#include <gtest/gtest.h>

#include "world.hpp"

namespace ridge {
namespace {

using testing_support::chat_goal;
using testing_support::knowledge;
using testing_support::planned;

ServingGoal chat(std::vector<double> caps, bool searched) {
  ServingGoal goal = chat_goal({"h100-sxm"});
  goal.tp = goal.pp = 1;
  goal.precisions = {Format::bf16};
  goal.kv = {Format::bf16};
  goal.objective = Objective::energy;
  goal.power_caps = std::move(caps);
  goal.search_caps = searched;
  return goal;
}

TEST(PowerCaps, PrunedFindsWhatExhaustiveFinds) {
  for (const double rate : {5.0, 40.0}) {
    ServingGoal goal = chat({}, true);
    goal.request_rate = rate;
    goal.buyer.power_w = 20e3;
    const auto quest = prepare(goal, knowledge());
    ASSERT_TRUE(quest) << quest.error().text();
    search::SearchOptions all;
    all.prune = false;
    const auto exhaustive = search::search(*quest->problem, all);
    const auto pruned = search::search(*quest->problem, {});
    EXPECT_EQ(exhaustive.findings, pruned.findings) << rate;
    EXPECT_GT(pruned.count.pruned, 0u);
  }
}

TEST(PowerCaps, OfAListAreKept) {
  const ServingVerdict verdict = planned(chat({400}, false));
  ASSERT_FALSE(verdict.plans.empty()) << verdict.fails_first;
  const ServingPlan& plan = verdict.plans.front();
  EXPECT_EQ(plan.query.power_cap, 400);
  EXPECT_LE(plan.watts.mid / plan.gpus, 400);
}

TEST(PowerCaps, AboveTheLimitOfTheBoardAreNone) {
  const ServingVerdict free = planned(chat({}, false));
  const ServingVerdict above = planned(chat({900, 700}, false));
  ASSERT_FALSE(free.plans.empty() || above.plans.empty());
  EXPECT_EQ(above.plans.front().query.power_cap, 0);
  EXPECT_EQ(above.plans.front().watts.mid, free.plans.front().watts.mid);
}

// Who pays for watts caps; the limits hold all the same.
TEST(PowerCaps, SaveWattsWhereWattsCount) {
  const ServingVerdict free = planned(chat({}, false));
  const ServingVerdict searched = planned(chat({}, true));
  ASSERT_FALSE(free.plans.empty() || searched.plans.empty());
  const ServingPlan& plan = searched.plans.front();
  EXPECT_LE(plan.watts.mid, free.plans.front().watts.mid);
  EXPECT_GT(plan.query.power_cap, 0);
  ASSERT_TRUE(plan.tpot_p95_s);
  EXPECT_LE(*plan.tpot_p95_s, 0.04 * 1.001);
}

TrainingGoal run(std::vector<double> caps, bool searched) {
  TrainingGoal goal;
  goal.model = "llama3.1-8b";
  goal.gpus = {64};
  goal.tokens = 1e12;
  goal.precisions = {Format::bf16};
  goal.objective = Objective::energy;
  goal.buyer.devices = {"h100-sxm"};
  goal.power_caps = std::move(caps);
  goal.search_caps = searched;
  return goal;
}

TEST(PowerCapsOfTraining, PrunedFindsWhatExhaustiveFinds) {
  TrainingGoal goal = run({}, true);
  goal.buyer.power_w = 60e3;
  const auto quest = prepare(goal, knowledge());
  ASSERT_TRUE(quest) << quest.error().text();
  search::SearchOptions all;
  all.prune = false;
  const auto exhaustive = search::search(*quest->problem, all);
  const auto pruned = search::search(*quest->problem, {});
  EXPECT_EQ(exhaustive.findings, pruned.findings);
  EXPECT_GT(pruned.count.pruned, 0u);
}

// Joules fall under a cap, the run takes longer; a cap above the limit of the board is none.
TEST(PowerCapsOfTraining, SaveJoulesForTime) {
  const TrainingVerdict free = planned(run({}, false));
  const TrainingVerdict capped = planned(run({400}, false));
  const TrainingVerdict searched = planned(run({}, true));
  const TrainingVerdict above = planned(run({900}, false));
  ASSERT_FALSE(free.plans.empty() || capped.plans.empty() || searched.plans.empty() || above.plans.empty());
  EXPECT_EQ(capped.plans.front().power_cap, 400);
  EXPECT_LE(capped.plans.front().estimate.power_w.mid, 64 * 400 * (1 + 1e-6));
  EXPECT_GT(capped.plans.front().days->mid, free.plans.front().days->mid);
  EXPECT_LE(searched.plans.front().joules_per_token, free.plans.front().joules_per_token);
  EXPECT_EQ(above.plans.front().power_cap, 0);
  EXPECT_EQ(above.plans.front().days->mid, free.plans.front().days->mid);
}

}  // namespace
}  // namespace ridge
