// Loads of the formula, played: what changes, what stays, and what cannot be played.
#include "ridge/serve/played_load.hpp"

#include <gtest/gtest.h>

#include <ctime>

#include "support/knowledge.hpp"

namespace ridge {
namespace {

InferenceQuery asked(double clients) {
  InferenceQuery q;
  q.model = "llama3.1-8b";
  q.device = "h100-sxm";
  q.gpus = q.tp = 1;
  q.load = {.mode = LoadMode::closed_loop, .isl = 2000, .osl = 100, .concurrency = clients};
  return q;
}

InferenceEstimate formula(const InferenceQuery& q) {
  return evaluate(*resolve(q, testing_support::knowledge())->resolved, q.load).estimate;
}

InferenceEstimate with_first_token(const InferenceQuery& q) {
  InferenceEstimate e = formula(q);
  play_first_token(q, testing_support::knowledge(), e);
  return e;
}

TEST(PlayedLoad, TheFirstTokenIsThatOfTheSimulationAndRatesStay) {
  const InferenceQuery q = asked(32);
  const InferenceEstimate before = formula(q);
  const InferenceEstimate after = with_first_token(q);
  const Result<SimulationResult> run = simulate(played_load(q), testing_support::knowledge());
  ASSERT_TRUE(run);
  EXPECT_DOUBLE_EQ(after.ttft_s.mid, run->ttft.mean());
  EXPECT_NE(after.ttft_s.mid, before.ttft_s.mid);
  EXPECT_NEAR(after.e2e_s.mid - before.e2e_s.mid, after.ttft_s.mid - before.ttft_s.mid, 1e-9);
  EXPECT_EQ(after.output_tokens_per_s.mid, before.output_tokens_per_s.mid);
  EXPECT_EQ(after.tpot_s.mid, before.tpot_s.mid);
  EXPECT_NEAR(after.ttft_s.high / after.ttft_s.mid, before.ttft_s.high / before.ttft_s.mid, 1e-9);
}

TEST(PlayedLoad, WhatTakesMoreThanItMayIsNotPlayed) {
  const InferenceQuery q = asked(4096);
  const InferenceEstimate before = formula(q);
  InferenceEstimate e = before;
  play_first_token(q, testing_support::knowledge(), e, {.turns = 1});
  EXPECT_EQ(e.ttft_s.mid, before.ttft_s.mid);
  play_first_token(q, testing_support::knowledge(), e, {.patience = Patience([] { return true; })});
  EXPECT_EQ(e.ttft_s.mid, before.ttft_s.mid);
  play_first_token(q, testing_support::knowledge(), e, {.turns = 1e6});
  EXPECT_NE(e.ttft_s.mid, before.ttft_s.mid);
}

// Engines that start together are listed once, not once for each of them: minutes before, for a million devices.
TEST(PlayedLoad, AHundredThousandEnginesStartAtOnce) {
  InferenceQuery q = asked(100);
  q.gpus = 100'000;
  const std::clock_t start = std::clock();  // of the processor: the machine may have other work
  const InferenceEstimate e = with_first_token(q);
  EXPECT_NE(e.ttft_s.mid, formula(q).ttft_s.mid);
  EXPECT_LT(std::clock() - start, 5 * CLOCKS_PER_SEC);
}

TEST(PlayedLoad, OneClientWaitsForNobody) {
  const InferenceEstimate alone = with_first_token(asked(1));
  EXPECT_GE(alone.ttft_s.mid, 0.9 * alone.prefill_s.mid);
  EXPECT_LT(alone.ttft_s.mid, 1.2 * alone.prefill_s.mid + 0.05);
}

TEST(PlayedLoad, MoreClientsWaitLonger) {
  double last = 0;
  for (const double clients : {1, 4, 16, 64, 256}) {
    const double now = with_first_token(asked(clients)).ttft_s.mid;
    EXPECT_GT(now, last) << clients;
    last = now;
  }
}

TEST(PlayedLoad, PromptsInTheCacheAreNotWorkedOnAgain) {
  InferenceQuery q = asked(64);
  const double whole = with_first_token(q).ttft_s.mid;
  q.load.prefix_hit = 0.9;
  EXPECT_LT(with_first_token(q).ttft_s.mid, 0.5 * whole);
}

TEST(PlayedLoad, OtherLoadsAndCrowdsKeepTheFormula) {
  InferenceQuery batch = asked(0);
  batch.load = {.mode = LoadMode::fixed_batch, .isl = 2000, .osl = 100, .batch = 8};
  EXPECT_EQ(with_first_token(batch).ttft_s.mid, formula(batch).ttft_s.mid);
  EXPECT_EQ(with_first_token(asked(1e6)).ttft_s.mid, formula(asked(1e6)).ttft_s.mid);
}

}  // namespace
}  // namespace ridge
