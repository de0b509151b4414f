// A step put together: what overlaps, what is waited for, and that more of something never helps where it cannot.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "ridge/rl/rl.hpp"
#include "rl/compose.hpp"
#include "rl/drawing.hpp"
#include "rl/passes.hpp"
#include "support/knowledge.hpp"

namespace ridge {
namespace {

using testing_support::knowledge;

RlQuery small() {
  RlQuery q;
  q.model = "qwen2.5-7b";
  q.device = "h100-sxm";
  q.gpus = 16;
  q.prompts = 64;
  q.samples = 8;
  q.answers = {.mean = 800, .most = 4096};
  return q;
}

RlAnswer answered(const RlQuery& q) {
  Result<RlAnswer> a = answer(q, knowledge(), {.suggest = false});
  EXPECT_TRUE(a) << (a ? "" : a.error().text());
  if (!a) return {};
  EXPECT_FALSE(a->refusal) << a->refusal->why;
  return *std::move(a);
}

double sum_of_phases(const RlEstimate& e) {
  double sum = 0;
  for (const Interval& i : e.phases_s) sum += i.mid;
  return sum;
}

TEST(RlStep, OfSharedDevicesIsTheSumOfItsPhases) {
  const RlAnswer a = answered(small());
  EXPECT_NEAR(a.estimate.step_s.mid, sum_of_phases(a.estimate), 1e-9 * a.estimate.step_s.mid);
  EXPECT_LT(a.estimate.step_s.low, a.estimate.step_s.mid);
  EXPECT_GT(a.estimate.phase(RlPhase::reference).mid, 0);  // GRPO holds to a reference
  EXPECT_EQ(a.estimate.phase(RlPhase::critic).mid, 0);     // and has no critic
}

// A step of a million long answers takes minutes to draw: whoever has no time left is not kept waiting for it.
TEST(RlStep, IsRefusedOnceTimeIsOver) {
  RlQuery q = small();
  q.prompts = 20'000;
  q.samples = 50;
  int looks = 0;
  const auto a = answer(q, knowledge(), {.patience = Patience([&] { return ++looks > 2; })});
  ASSERT_FALSE(a);
  EXPECT_EQ(a.error().code, ErrorCode::refused);
  const auto plans = plan_rl(q, knowledge(), Patience([] { return true; }));
  ASSERT_FALSE(plans);
  EXPECT_EQ(plans.error().code, ErrorCode::refused);
}

TEST(RlStep, OfPoolsApartIsTheLongerOfThemAndTheWeights) {
  RlQuery q = small();
  q.placement = RlPlacement::one_step_off;
  q.generators = 8;
  const RlAnswer a = answered(q);
  const RlEstimate& e = a.estimate;
  const double trained = e.phase(RlPhase::log_probs).mid + e.phase(RlPhase::reference).mid +
                         e.phase(RlPhase::training).mid + e.phase(RlPhase::other).mid;
  EXPECT_NEAR(e.step_s.mid, std::max(trained, e.phase(RlPhase::generation).mid) + e.phase(RlPhase::weights).mid, 1e-6);
  EXPECT_GE(e.balanced_generators, 1);
  EXPECT_LT(e.balanced_generators, 16);
}

TEST(RlStep, HasACriticWithPpoAndNoReferenceWithDapo) {
  RlQuery q = small();
  q.algorithm = RlAlgorithm::ppo;
  q.samples = 1;
  const RlAnswer ppo = answered(q);
  EXPECT_GT(ppo.estimate.phase(RlPhase::critic).mid, 0);
  EXPECT_GT(ppo.estimate.phase(RlPhase::values).mid, 0);
  EXPECT_GT(ppo.estimate.phase(RlPhase::reward).mid, 0);
  q.algorithm = RlAlgorithm::dapo;
  q.samples = 8;
  EXPECT_EQ(answered(q).estimate.phase(RlPhase::reference).mid, 0);
}

TEST(RlStep, TakesLongerWithLongerAnswersAndATailIsIdle) {
  RlQuery q = small();
  const RlAnswer brief = answered(q);
  q.answers = {.mean = 1600, .most = 8192};
  EXPECT_GT(answered(q).estimate.step_s.mid, 1.3 * brief.estimate.step_s.mid);
  q.answers = {.mean = 800, .cv = 0, .most = 4096};
  const RlAnswer even = answered(q);
  q.answers = {.mean = 800, .cv = 2, .most = 16384};
  const RlAnswer tailed = answered(q);
  EXPECT_GT(tailed.estimate.phase(RlPhase::generation).mid, 1.5 * even.estimate.phase(RlPhase::generation).mid);
  EXPECT_GT(tailed.estimate.tail_share, even.estimate.tail_share);
}

TEST(RlStep, FlowsFasterTheMoreItMayBeAhead) {
  RlQuery q = small();
  q.answers = {.mean = 800, .cv = 2, .most = 16384};
  q.placement = RlPlacement::asynchronous;
  q.generators = 8;
  q.partial = true;
  double before = 1e30;
  for (const double ahead : {0.0, 0.5, 2.0}) {
    q.staleness = ahead;
    const double step = answered(q).estimate.step_s.mid;
    EXPECT_LE(step, before * 1.001) << ahead;
    before = step;
  }
  q.partial = false;  // engines that drain are never faster
  EXPECT_GE(answered(q).estimate.step_s.mid, before * 0.999);
}

TEST(RlStep, MovesAdaptersInsteadOfWeightsWithLora) {
  RlQuery q = small();
  const RlAnswer whole = answered(q);
  q.lora_rank = 16;
  const RlAnswer adapters = answered(q);
  EXPECT_LT(adapters.estimate.weight_bytes, 0.05 * whole.estimate.weight_bytes);
  EXPECT_LT(adapters.estimate.phase(RlPhase::weights).mid, whole.estimate.phase(RlPhase::weights).mid);
}

// A critic on devices of its own works beside the policy, and is seen to.
TEST(RlStep, ShowsWhatACriticApartDoes) {
  RlQuery q = small();
  q.algorithm = RlAlgorithm::ppo;
  q.samples = 1;
  q.critic_gpus = 4;
  const RlEstimate e = answered(q).estimate;
  double of_critic = 0;
  for (const RlSpan& s : e.timeline) {
    EXPECT_LE(s.start + s.seconds, e.step_s.mid * (1 + 1e-9)) << name(s.phase);
    if (s.pool == 2) of_critic += s.seconds;
  }
  const double wanted = e.phase(RlPhase::reward).mid + e.phase(RlPhase::values).mid + e.phase(RlPhase::critic).mid;
  EXPECT_GT(wanted, 0);
  EXPECT_NEAR(of_critic, wanted, 1e-9 * wanted);
}

// Sandboxes judge one batch while the trainers are busy with another: their time is not the trainers'. Where answers
// flow only what they cannot keep up with is waited for.
TEST(RlStep, JudgesBesideTheTrainersWherePoolsAreApart) {
  RlQuery q = small();
  q.placement = RlPlacement::asynchronous;
  q.generators = 8;
  q.partial = true;
  const double plain = answered(q).estimate.step_s.mid;
  q.verifier = {.seconds = 1, .parallel = 0};  // all at once
  EXPECT_LT(answered(q).estimate.step_s.mid, plain + 1);
  q.verifier = {.seconds = 10, .parallel = 8};  // 512 answers take 640 s
  const RlEstimate slow = answered(q).estimate;
  EXPECT_NEAR(slow.step_s.mid, 640 + slow.phase(RlPhase::weights).mid, 1);
  EXPECT_EQ(slow.binds, RlPhase::reward);
  q.verifier.parallel = 32;
  EXPECT_LT(answered(q).estimate.step_s.mid, 0.4 * slow.step_s.mid);
}

TEST(RlStep, SaysThatMoreSandboxesWouldHelp) {
  RlQuery q = small();
  q.verifier = {.seconds = 10, .parallel = 8};
  const Result<RlAnswer> a = answer(q, knowledge());
  ASSERT_TRUE(a);
  ASSERT_FALSE(a->suggestions.empty());
  EXPECT_EQ(a->suggestions.front().changes, (Changes{{"verifier_parallel", "32"}}));
}

// What would do for an engine is said in words for engines; the trainers have tensor parallelism of their own.
TEST(RlStep, RefusesAnEngineInWordsForEngines) {
  RlQuery q = small();
  q.generation.tp = 3;
  const Result<RlAnswer> a = answer(q, knowledge(), {.suggest = false});
  ASSERT_TRUE(a);
  ASSERT_TRUE(a->refusal);
  ASSERT_FALSE(a->refusal->nearest.empty());
  for (const NearestPlan& plan : a->refusal->nearest) {
    ASSERT_EQ(plan.changes.size(), 1U) << plan.effect;
    EXPECT_EQ(plan.changes.front().field, "gen_tp");
    EXPECT_EQ(plan.effect.find('.'), std::string::npos) << plan.effect;
  }
}

TEST(RlStep, ComparesAnswersWithEachOther) {
  RlQuery q = small();
  q.samples = 1;
  const Result<RlAnswer> a = answer(q, knowledge(), {.suggest = false});
  ASSERT_FALSE(a);
  EXPECT_EQ(a.error().where, "samples");
}

TEST(RlStep, SaysThatAnswersAreLongerThanTheModelWasTrainedFor) {
  RlQuery q = small();
  const auto said = [&] {
    const auto all = answered(q).assumptions;
    return std::any_of(all.begin(), all.end(), [](const auto& s) { return s.find("was trained for") != s.npos; });
  };
  EXPECT_FALSE(said());
  q.answers.most = 200'000;
  EXPECT_TRUE(said());
}

TEST(RlStep, PacksOrPads) {
  RlQuery q = small();
  const RlAnswer packed = answered(q);
  q.packing = false;
  EXPECT_GT(answered(q).estimate.phase(RlPhase::training).mid, 1.5 * packed.estimate.phase(RlPhase::training).mid);
}

TEST(RlStep, RefusesPoolsOfZeroStalenessBelowZeroAndStepsWithoutPrompts) {
  const auto refused = [](auto&& change) {
    RlQuery q = small();
    change(q);
    const Result<RlAnswer> a = answer(q, knowledge(), {.suggest = false});
    return a ? std::string() : a.error().text();
  };
  const auto says = [](const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; };
  EXPECT_TRUE(says(refused([](RlQuery& q) {
                     q.placement = RlPlacement::asynchronous;
                     q.staleness = -1;
                   }),
                   "0 (answers of the present weights) or more"));
  EXPECT_TRUE(says(refused([](RlQuery& q) {
                     q.placement = RlPlacement::one_step_off;
                     q.generators = 16;
                   }),
                   "write 1 to 15"));
  EXPECT_TRUE(says(refused([](RlQuery& q) {
                     q.placement = RlPlacement::one_step_off;
                     q.generators = -3;
                   }),
                   "write 1 to 15"));
  EXPECT_TRUE(says(refused([](RlQuery& q) { q.gpus = 0; }), "how many devices"));
  EXPECT_TRUE(says(refused([](RlQuery& q) { q.prompts = 0; }), "1 to"));
  EXPECT_TRUE(says(refused([](RlQuery& q) { q.critic_gpus = 16; }), "none for the policy"));
  EXPECT_TRUE(says(refused([](RlQuery& q) { q.answers.mean = 1e5; }), "lower the mean"));
  EXPECT_TRUE(says(refused([](RlQuery& q) { q.model = "qwen9-7b"; }), "qwen9-7b"));
}

TEST(RlStep, SaysWhatIsOutOfMemory) {
  RlQuery q = small();
  q.model = "llama3.1-405b";
  q.gpus = 8;
  const Result<RlAnswer> a = answer(q, knowledge(), {.suggest = false});
  ASSERT_TRUE(a);
  ASSERT_TRUE(a->refusal);
  EXPECT_FALSE(a->refusal->why.empty());
}

TEST(RlPlan, PutsTheFastestFirstAndKeepsASplitThatIsAsked) {
  const auto plans = plan_rl(small(), knowledge());
  ASSERT_TRUE(plans);
  ASSERT_GE(plans->size(), 3u);
  for (std::size_t i = 1; i < plans->size(); ++i) {
    EXPECT_LE((*plans)[i - 1].estimate.step_s.mid, (*plans)[i].estimate.step_s.mid);
  }
  RlQuery q = small();
  q.generators = 4;
  const auto kept = plan_rl(q, knowledge());
  ASSERT_TRUE(kept);
  for (const RlAnswer& a : *kept) {
    if (a.query.placement != RlPlacement::colocated) {
      EXPECT_EQ(a.generators, 4);
    }
  }
}

TEST(Judging, WaitsForTheLastAnswerAndForSeats) {
  EXPECT_EQ(rl::judging_after({1, 2, 3}, {}), 0);
  EXPECT_EQ(rl::judging_after({1, 2, 3}, {.seconds = 5, .parallel = 0}), 5);
  EXPECT_EQ(rl::judging_after({1, 2, 3}, {.seconds = 5, .parallel = 1}), 1 + 15 - 3);  // one after the other
  EXPECT_EQ(rl::judging_after({1, 2, 30}, {.seconds = 5, .parallel = 1}), 5);
}

TEST(Passes, ForwardIsAboutAThirdOfAStep) {
  const RlAnswer a = answered(small());
  const double share = a.parts->policy_forward_s / a.parts->policy_training_s;
  EXPECT_GT(share, 0.2);
  EXPECT_LT(share, 0.45);
}

}  // namespace
}  // namespace ridge
