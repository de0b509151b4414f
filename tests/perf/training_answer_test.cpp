// Scaling curves, long sequences and the software of a date, as `ridge estimate train` asks for them.
#include "ridge/perf/training_answer.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "perf/training/resolved.hpp"
#include "support/knowledge.hpp"

namespace ridge {
namespace {

using testing_support::knowledge;

constexpr const char* kEven = "dense:layers=16,hidden=4096,heads=32,kv_heads=32,ffn=16384,gated=0,vocab=64,tied=1";

/// An answer whose collectives cost nothing and whose step has a part of `fixed` seconds that never shrinks.
TrainingAnswer answer_with(TrainingPlan plan, double fixed) {
  TrainingAnswer a;
  a.query.model = kEven;
  a.query.device = "h100-sxm";
  a.query.engine = "ideal";
  a.query.network_per_gpu = 1e30;
  a.query.plan = plan;
  auto job = resolve(a.query, knowledge());
  EXPECT_TRUE(job);
  job->resolved->coefficients.scale_up = 1e30;
  job->resolved->coefficients.host_step = fixed;
  a.job = std::make_shared<const TrainingJob>(std::move(*job));
  return a;
}

constexpr TrainingPlan kPlain = {
    .gpus = 8, .sequence = 4096, .global_batch = 1024, .sharding = Sharding::none, .recompute = Recompute::none};

TEST(TrainingScaling, WeakScalingOfFreeCommunicationIsFlat) {
  const ScalingCurve curve = scaling(answer_with(kPlain, 0.1), Scaling::weak, 8, 1024);
  ASSERT_EQ(curve.points.size(), 8u);
  for (const ScalingPoint& p : curve.points) {
    EXPECT_NEAR(p.efficiency, 1, 1e-9) << p.plan.gpus;
    EXPECT_EQ(p.plan.global_batch, 128 * p.plan.gpus);
  }
  ASSERT_TRUE(curve.serial_share);
  EXPECT_NEAR(*curve.serial_share, 0, 1e-9);
}

// T(n) = s + W/n: Amdahl's share is s / (s + W) of the first point's time, whatever the curve is fitted with.
TEST(TrainingScaling, StrongScalingGivesAmdahlsShareBack) {
  constexpr double kFixed = 0.5;
  const TrainingAnswer a = answer_with(kPlain, kFixed);
  const double first = evaluate(*a.job->resolved, kPlain).estimate.step_time_s.mid;
  const ScalingCurve curve = scaling(a, Scaling::strong, 8, 1024);
  ASSERT_TRUE(curve.serial_share);
  // The update of the weights does not spread either: 30 bytes a parameter without sharding.
  const double update = evaluate(*a.job->resolved, kPlain).estimate.terms_s[static_cast<std::size_t>(Term::optimizer)];
  EXPECT_NEAR(*curve.serial_share, (kFixed + update) / first, 1e-6);
  EXPECT_LT(curve.points.back().efficiency, curve.points[1].efficiency);
}

TEST(TrainingScaling, PointsThatCannotRunSayWhy) {
  const ScalingCurve curve = scaling(answer_with(kPlain, 0), Scaling::strong, 512, 4096);
  ASSERT_EQ(curve.points.size(), 4u);
  EXPECT_EQ(curve.points[1].outcome.reason, Reason::none);
  EXPECT_EQ(curve.points[3].outcome.reason, Reason::batch_not_divisible);
  EXPECT_EQ(curve.points[3].efficiency, 0);
}

TrainingEstimate estimate(const TrainingQuery& query) {
  const auto job = resolve(query, knowledge());
  EXPECT_TRUE(job);
  const TrainingOutcome o = evaluate(*job->resolved, job->plan);
  EXPECT_EQ(o.reason, Reason::none) << name(o.reason);
  return o.estimate;
}

// 8,192 tokens on one device, or 131,072 on sixteen: as many tokens per device, and each sees sixteen times as many
// others, so attention takes sixteen times as long but for its ramp, and everything else as long as before.
TEST(TrainingLongContext, ContextParallelismKeepsAllButAttention) {
  TrainingQuery query;
  query.model = "llama3.1-8b";
  query.device = "h100-sxm";
  query.plan = {.gpus = 128, .tp = 8, .cp = 1, .sequence = 8192, .global_batch = 512, .recompute = Recompute::none};
  const TrainingEstimate usual = estimate(query);
  query.plan.cp = 16;
  query.plan.sequence = 131072;
  query.plan.global_batch = 32;
  const TrainingEstimate extended = estimate(query);
  const auto term = [](const TrainingEstimate& e, Term t) { return e.terms_s[static_cast<std::size_t>(t)]; };
  EXPECT_NEAR(term(extended, Term::linear), term(usual, Term::linear), 1e-9 * term(usual, Term::linear));
  const double ratio = term(extended, Term::attention) / term(usual, Term::attention);
  EXPECT_GT(ratio, 13);
  EXPECT_LT(ratio, 16);
  EXPECT_GT(extended.phases_s[static_cast<std::size_t>(TrainingPhase::context_parallel)], 0);
  EXPECT_LT(extended.tokens_per_s.mid, usual.tokens_per_s.mid);
  EXPECT_GT(extended.model_flops_per_token, 2 * usual.model_flops_per_token);
  for (const std::size_t part : {0u, 1u, 3u}) {  // weights, gradients, activations
    EXPECT_NEAR(extended.memory_bytes[part], usual.memory_bytes[part], 1e-6 * usual.memory_bytes[part]);
  }
}

TEST(TrainingLongContext, KindsOfContextParallelismDifferInWhatTheyExchange) {
  TrainingQuery query;
  query.model = "llama3.1-8b";
  query.device = "h100-sxm";
  query.plan = {.gpus = 64, .tp = 4, .cp = 8, .sequence = 131072, .global_batch = 32};
  const auto exposed = [&](ContextParallel kind) {
    query.plan.context = kind;
    return estimate(query).phases_s[static_cast<std::size_t>(TrainingPhase::context_parallel)];
  };
  const double ring = exposed(ContextParallel::ring);
  EXPECT_GT(exposed(ContextParallel::all_gather), ring) << "a ring passes keys on beside the work";
  EXPECT_NE(exposed(ContextParallel::ulysses), ring);
}

TEST(TrainingDate, AReleaseIsTheSoftwareOfItsMonthOrRefused) {
  TrainingQuery query;
  query.model = "gpt3-175b";
  query.device = "h100-sxm";
  query.engine = "nemo";
  query.plan = {.gpus = 128, .tp = 4, .pp = 8, .sequence = 2048, .global_batch = 256};
  const auto step = [&](const std::string& release, const std::string& date) {
    query.engine_version = release;
    query.date = date;
    return estimate(query).step_time_s.mid;
  };
  EXPECT_EQ(step("24.01", ""), step("", "2024-01"));
  EXPECT_EQ(step("v24.12.1", ""), step("", "2024-12"));
  EXPECT_GT(step("24.01", ""), 1.02 * step("24.12", ""));
  query.engine_version = "0.10";
  query.date = "";
  const Result<TrainingJob> unknown = resolve(query, knowledge());
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().text().find("software_as_of"), std::string::npos) << unknown.error().text();
}

// One configuration, the software of two dates: 6 % a year for kernels, and what an era does differently.
TEST(TrainingDate, AsOfTwoDatesDiffersByTheDriftBetweenThem) {
  TrainingQuery query;
  query.model = "llama3.1-70b";
  query.device = "h100-sxm";
  query.plan = {.gpus = 512, .tp = 8, .pp = 4, .sequence = 8192, .global_batch = 1024};
  query.date = "2024-01";
  const TrainingEstimate before = estimate(query);
  query.date = "2024-12";
  const TrainingEstimate after = estimate(query);
  const double drift = knowledge().calibration.value("training.drift", {});
  const auto linear = static_cast<std::size_t>(Term::linear);
  EXPECT_NEAR(after.terms_s[linear] / before.terms_s[linear], std::exp(-drift * 11 / 12), 2e-3);
  EXPECT_LT(after.step_time_s.mid, before.step_time_s.mid);
  query.date = "2021-06";  // scores through memory, no sequence parallelism
  EXPECT_GT(estimate(query).step_time_s.mid, 1.2 * before.step_time_s.mid);
}

TEST(TrainingRecipe, NarrowFormatsLeaveWhatTheyMustNotTouch) {
  TrainingQuery query;
  query.model = "llama3.1-70b";
  query.device = "b200-sxm-180";
  query.plan = {.gpus = 64, .tp = 2, .pp = 4, .sequence = 8192, .global_batch = 512, .recompute = Recompute::none};
  const auto at = [&](Format format, int wide_layers = 0, bool block = false) {
    query.precision = format;
    query.wide_layers = wide_layers;
    query.block_scales = block;
    return estimate(query);
  };
  const auto term = [](const TrainingEstimate& e, Term t) { return e.terms_s[static_cast<std::size_t>(t)]; };
  const TrainingEstimate wide = at(Format::bf16);
  double before = term(wide, Term::linear);
  for (const Format format : {Format::mxfp8, Format::nvfp4}) {
    const TrainingEstimate e = at(format);
    EXPECT_LT(term(e, Term::linear), before) << name(format);
    EXPECT_EQ(term(e, Term::attention), term(wide, Term::attention));
    EXPECT_EQ(term(e, Term::head), term(wide, Term::head));
    EXPECT_GT(term(e, Term::elementwise), term(wide, Term::elementwise)) << "casts";
    before = term(e, Term::linear);
  }
  const double narrow = term(at(Format::nvfp4), Term::linear);
  EXPECT_NEAR(term(at(Format::nvfp4, 8), Term::linear), narrow + 0.1 * (term(wide, Term::linear) - narrow), 1e-9);
  EXPECT_NEAR(term(at(Format::nvfp4, 80), Term::linear), term(wide, Term::linear), 1e-9);
  EXPECT_EQ(at(Format::fp8, 0, true).step_time_s.mid, at(Format::mxfp8).step_time_s.mid) << "blocks on Blackwell";
  query.device = "h100-sxm";
  query.plan = {.gpus = 64, .tp = 8, .pp = 4, .sequence = 8192, .global_batch = 512};
  EXPECT_LT(at(Format::fp8, 0, true).step_time_s.mid, at(Format::fp8).step_time_s.mid) << "one pass fewer to cast";
}

TEST(TrainingExperts, DroppingBoundsTheBusiestRank) {
  TrainingQuery query;
  query.model = "qwen3-30b-a3b";
  query.device = "h100-sxm";
  query.plan = {.gpus = 64, .ep = 8, .sequence = 4096, .global_batch = 256};
  const auto at = [&](float imbalance, float capacity) {
    query.plan.imbalance = imbalance;
    query.plan.capacity = capacity;
    return estimate(query).step_time_s.mid;
  };
  EXPECT_GT(at(1.5F, 0), at(1, 0));
  EXPECT_GT(at(1.5F, 0), at(1.5F, 1.2F));
  EXPECT_GT(at(1.5F, 1.2F), at(1, 1.2F));
  EXPECT_EQ(at(1.5F, 1.2F), at(1.2F, 1.2F));
  EXPECT_LT(at(1, 1), at(1, 0)) << "the host knows how many tokens each expert gets";
}

TEST(TrainingMtp, ModelsWithoutSuchLayersAreRefused) {
  TrainingQuery query;
  query.model = "llama3.1-8b";
  query.device = "h100-sxm";
  query.plan = {.gpus = 8, .global_batch = 8};
  query.mtp = true;
  EXPECT_FALSE(resolve(query, knowledge()));
  query.model = "deepseek-v3";
  EXPECT_TRUE(resolve(query, knowledge()));
}

TEST(TrainingRefusal, OffersALayoutWhereTheDegreesAskForTooManyDevices) {
  TrainingQuery query;
  query.model = "llama3.1-70b";
  query.device = "h100-sxm";
  query.plan = {.gpus = 512, .tp = 8, .pp = 128, .sequence = 8192, .global_batch = 1024};
  const auto a = answer(query, {}, knowledge());
  ASSERT_TRUE(a);
  ASSERT_TRUE(a->refusal);
  ASSERT_FALSE(a->refusal->nearest.empty());
  // 72 devices do not share 512 sequences evenly, and do not fit the model one by one.
  query.device = "gb200-nvl72";
  query.plan = {.gpus = 72, .sequence = 8192, .global_batch = 512};
  const auto rack = answer(query, {.tp = true, .pp = true, .micro_batch = true}, knowledge());
  ASSERT_TRUE(rack);
  ASSERT_TRUE(rack->refusal);
  EXPECT_FALSE(rack->refusal->nearest.empty());
}

}  // namespace
}  // namespace ridge
