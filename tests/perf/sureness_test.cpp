// How sure answers are: what is less measured is never answered more narrowly, over the whole catalogue.
#include <gtest/gtest.h>

#include <cmath>

#include "ridge/perf/inference.hpp"
#include "ridge/perf/training.hpp"
#include "support/bundle.hpp"

namespace ridge {
namespace {

using testing_support::bundle;
using testing_support::knowledge;

double width(const Interval& i) {
  return std::log(i.high / i.low);
}

InferenceQuery serving(const std::string& device, const std::string& engine = "vllm") {
  InferenceQuery q;
  q.model = "llama3.1-8b";
  q.device = device;
  q.engine = engine;
  q.gpus = q.tp = 1;
  q.load = {.mode = LoadMode::closed_loop, .isl = 500, .osl = 200, .concurrency = 8};
  return q;
}

struct Answered {
  std::string device;
  int rows;
  double width;
  int novelty;  ///< 0: the physics has rows of it, 1: of its design, 2: of neither
};

/// Spreads of the three classes do not overlap: include/ridge/catalogue/effects.hpp and EffectPriors.
int novelty(double spread) {
  return spread < 0.05 ? 0 : spread < 0.12 ? 1 : 2;
}

TEST(Sureness, NoDeviceWithFewerRowsIsAnsweredMoreNarrowly) {
  std::vector<Answered> all;
  for (const Device& d : bundle().catalogue.devices()) {
    const auto deployment = resolve(serving(d.id, "an-engine-nobody-knows"), knowledge());
    if (!deployment) continue;
    const InferenceOutcome o = evaluate(*deployment->resolved, serving(d.id).load);
    if (o.reason != Reason::none) continue;
    const Sureness& s = deployment->facts.sure;
    all.push_back({d.id, s.device_rows, width(o.estimate.output_tokens_per_s), novelty(s.device_spread)});
  }
  ASSERT_GT(all.size(), 40U);
  for (const Answered& a : all) {
    for (const Answered& b : all) {
      if (a.novelty == b.novelty && a.rows < b.rows) {
        EXPECT_GE(a.width, b.width - 1e-9) << a.device << " against " << b.device;
      }
      if (a.novelty > b.novelty) {
        EXPECT_GE(a.width, b.width - 1e-9) << a.device << " against " << b.device;
      }
    }
  }
}

TEST(Sureness, AnUnknownEngineIsNeverSurerThanAKnownOne) {
  const auto known = resolve(serving("h100-sxm"), knowledge());
  const auto unknown = resolve(serving("h100-sxm", "an-engine-nobody-knows"), knowledge());
  ASSERT_TRUE(known && unknown);
  EXPECT_GE(unknown->facts.sure.software_spread, known->facts.sure.software_spread);
  EXPECT_EQ(unknown->facts.sure.software_rows, 0);
}

TEST(Sureness, TrainingOnAChipWithoutRowsIsLessSureThanOnOneWithHundreds) {
  TrainingQuery q;
  q.model = "mixtral-8x7b";
  q.plan.gpus = 64;
  q.plan.tp = 8;
  q.plan.ep = 8;
  q.plan.global_batch = 256;
  q.plan.sequence = 4096;
  q.device = "h100-sxm";
  const auto hopper = resolve(q, knowledge());
  q.device = "trainium2";
  const auto trainium = resolve(q, knowledge());
  ASSERT_TRUE(hopper && trainium);
  const auto a = evaluate(*hopper->resolved, hopper->plan);
  const auto b = evaluate(*trainium->resolved, trainium->plan);
  ASSERT_EQ(a.reason, Reason::none);
  ASSERT_EQ(b.reason, Reason::none);
  EXPECT_GT(width(b.estimate.step_time_s), width(a.estimate.step_time_s));
}

// Steady decoding alone: tokens a second are sequences over the time of a step.
TEST(DecodePool, RateIsTheBatchOverTheStep) {
  InferenceQuery q = serving("h100-sxm");
  q.load = {.mode = LoadMode::decode, .isl = 2000, .osl = 1, .batch = 64};
  const auto d = resolve(q, knowledge());
  ASSERT_TRUE(d);
  const InferenceEstimate e = evaluate(*d->resolved, q.load).estimate;
  EXPECT_NEAR(e.output_tokens_per_s.mid, 64 / e.tpot_s.mid, 1e-6 * e.output_tokens_per_s.mid);
}

// Below what can be served, what comes in goes out; far above it, capacity does.
TEST(OpenLoop, WhatComesInGoesOutUntilNothingMoreFits) {
  InferenceQuery q = serving("h100-sxm");
  q.load = {.mode = LoadMode::open_loop, .isl = 500, .osl = 200, .rate = 1};
  const auto d = resolve(q, knowledge());
  ASSERT_TRUE(d);
  const InferenceEstimate light = evaluate(*d->resolved, q.load).estimate;
  EXPECT_NEAR(light.output_tokens_per_s.mid, 200, 1);
  q.load.rate = 1e5;
  const InferenceEstimate heavy = evaluate(*d->resolved, q.load).estimate;
  q.load.rate = 2e5;
  const InferenceEstimate heavier = evaluate(*d->resolved, q.load).estimate;
  EXPECT_NEAR(heavier.output_tokens_per_s.mid, heavy.output_tokens_per_s.mid, 0.01 * heavy.output_tokens_per_s.mid);
  EXPECT_GT(heavy.ttft_s.mid, light.ttft_s.mid);
  q.load.rate = 0;
  EXPECT_EQ(evaluate(*d->resolved, q.load).reason, Reason::bad_value);
}

}  // namespace
}  // namespace ridge
