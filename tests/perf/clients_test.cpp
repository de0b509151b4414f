// Clients of a closed loop: who keeps in step, how a run ends, how often a scheduler looks, what a record takes.
#include <gtest/gtest.h>

#include "ridge/perf/inference.hpp"
#include "support/bundle.hpp"

namespace ridge {
namespace {

using testing_support::knowledge;

InferenceQuery served(double clients) {
  InferenceQuery q;
  q.model = "llama3.1-8b";
  q.device = "h100-sxm";
  q.gpus = q.tp = 1;
  q.load = {.mode = LoadMode::closed_loop, .isl = 2000, .osl = 500, .concurrency = clients};
  return q;
}

InferenceEstimate answered(const InferenceQuery& q) {
  const auto deployment = resolve(q, knowledge());
  EXPECT_TRUE(deployment) << deployment.error().text();
  const InferenceOutcome o = evaluate(*deployment->resolved, q.load);
  EXPECT_EQ(o.reason, Reason::none);
  return o.estimate;
}

TEST(Clients, WithAnswersOfOneLengthQueueTogetherInEveryRound) {
  const InferenceQuery service = served(64);
  InferenceQuery benchmark = service;
  benchmark.load.exact = true;
  const InferenceEstimate spread = answered(service), in_step = answered(benchmark);
  EXPECT_GT(in_step.ttft_s.mid, 2 * spread.ttft_s.mid);
  EXPECT_LT(in_step.tpot_s.mid, spread.tpot_s.mid) << "what waits before the first token does not wait after it";
  EXPECT_NEAR(in_step.output_tokens_per_s.mid, spread.output_tokens_per_s.mid, 0.15 * spread.output_tokens_per_s.mid)
      << "the same prompts and answers take the same time";
}

TEST(Clients, AloneWaitForNobody) {
  InferenceQuery one = served(1);
  const InferenceEstimate spread = answered(one);
  one.load.exact = true;
  EXPECT_DOUBLE_EQ(answered(one).ttft_s.mid, spread.ttft_s.mid);
  EXPECT_NEAR(spread.tpot_s.mid, spread.decode_step_s.mid, 1e-9 * spread.tpot_s.mid)
      << "its own prompt is not between its tokens";
}

TEST(Clients, OfAShortRunLeavePlacesEmptyAtItsEnd) {
  InferenceQuery q = served(32);
  q.load.length_low = 0.8;
  const double endless = answered(q).output_tokens_per_s.mid;
  q.load.requests = 320;
  const double ten = answered(q).output_tokens_per_s.mid;
  q.load.requests = 96;
  const double three = answered(q).output_tokens_per_s.mid;
  EXPECT_LT(ten, 0.97 * endless);
  EXPECT_LT(three, 0.9 * ten);
}

TEST(Clients, WaitUntilTheSchedulerLooks) {
  InferenceQuery q = served(16);
  const InferenceEstimate often = answered(q);
  q.poll_steps = 30;
  EXPECT_NEAR(answered(q).ttft_s.mid - often.ttft_s.mid, 14.5 * often.tpot_s.mid, 0.2 * 14.5 * often.tpot_s.mid);
}

TEST(Clients, BeyondAStatedLimitWaitForAPlace) {
  InferenceQuery q = served(256);
  q.max_sequences = 64;
  const InferenceEstimate e = answered(q);
  EXPECT_LE(e.running_batch, 64);
  EXPECT_GT(e.ttft_s.mid, 2 * e.e2e_s.mid / 4) << "three of four wait";
}

TEST(Records, AreAnsweredApartFromWhatPeopleRun) {
  InferenceQuery q = served(64);
  q.device = "mi355x";
  const double people = answered(q).output_tokens_per_s.mid;
  q.as_tuned = true;
  EXPECT_GT(answered(q).output_tokens_per_s.mid, people);
}

}  // namespace
}  // namespace ridge
