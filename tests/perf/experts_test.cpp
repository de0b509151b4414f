// Experts on other devices: what is sent, how they are dealt out, what is hidden.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "perf/inference/resolved.hpp"
#include "ridge/base/random.hpp"
#include "support/knowledge.hpp"

namespace ridge {
namespace {

using perf::ExchangeRates;
using perf::ExchangeShape;
using perf::low_latency_time;
using perf::throughput_time;
using testing_support::answer;
using testing_support::knowledge;

constexpr ExchangeRates kPlain{.scale_up = 100e9, .scale_out = 50e9};

InferenceQuery wide(int ranks) {
  InferenceQuery q;
  q.model = "deepseek-v3";
  q.device = "h200-sxm";
  q.engine = "sglang";
  q.tp = 1;
  q.gpus = q.dp = q.ep = ranks;
  q.load = {.mode = LoadMode::fixed_batch, .isl = 1000, .osl = 100, .batch = 64.0 * ranks};
  return q;
}

TEST(ExpertExchange, NothingLeavesALoneRank) {
  const ExchangeShape s{.tokens = 128, .bytes = 7168, .top_k = 8, .ranks = 1, .inside = 8};
  EXPECT_EQ(low_latency_time(kPlain, s), 0);
  EXPECT_EQ(throughput_time(kPlain, s), 0);
}

// 128 tokens x 8 copies x 7,168 B = 7.34 MB; of eight ranks the own one keeps an eighth: 6.42 MB at 100 GB/s.
TEST(ExpertExchange, EveryCopyLeavesButTheRanksOwn) {
  const ExchangeShape s{.tokens = 128, .bytes = 7168, .top_k = 8, .ranks = 8, .inside = 8};
  EXPECT_NEAR(low_latency_time(kPlain, s), 128 * 8 * 7168 * 7.0 / 8 / 100e9, 1e-12);
}

// Of 64 ranks 56 stand in other nodes: 7/8 of the copies cross the network, which is slower than the eighth inside.
TEST(ExpertExchange, TheSlowerTierCounts) {
  const ExchangeShape s{.tokens = 128, .bytes = 7168, .top_k = 8, .ranks = 64, .inside = 8};
  EXPECT_NEAR(low_latency_time(kPlain, s), 128 * 8 * 7168 * 56.0 / 64 / 50e9, 1e-12);
}

// Eight choices among four nodes meet 4 (1 - (3/4)^8) = 3.6 of them; three quarters of these are others.
TEST(ExpertExchange, ThroughputKernelsSendATokenOncePerNode) {
  const ExchangeShape s{.tokens = 4096, .bytes = 7168, .top_k = 8, .ranks = 32, .inside = 8};
  ExchangeRates network = kPlain;
  network.scale_up = 1e15;
  EXPECT_NEAR(throughput_time(network, s), 4096 * 7168 * 4 * (1 - std::pow(0.75, 8)) * 0.75 / 50e9, 1e-9);
  EXPECT_LT(throughput_time(network, s), low_latency_time(network, s));
}

TEST(ExpertExchange, ATokenThatMayGoToFewNodesSendsLess) {
  ExchangeShape s{.tokens = 4096, .bytes = 7168, .top_k = 8, .ranks = 128, .inside = 8};
  const double anywhere = throughput_time(kPlain, s);
  s.reachable = 4;
  EXPECT_LT(throughput_time(kPlain, s), anywhere);
}

TEST(ExpertExchange, GrowsWithTokensBytesAndChoices) {
  for (const double ranks : {2, 8, 9, 16, 72, 144, 1024}) {
    ExchangeShape s{.tokens = 64, .bytes = 7168, .top_k = 4, .ranks = ranks, .inside = 8};
    for (double ExchangeShape::*part : {&ExchangeShape::tokens, &ExchangeShape::bytes, &ExchangeShape::top_k}) {
      ExchangeShape more = s;
      more.*part *= 1.5;
      EXPECT_GT(low_latency_time(kPlain, more), low_latency_time(kPlain, s)) << ranks;
      EXPECT_GT(throughput_time(kPlain, more), throughput_time(kPlain, s)) << ranks;
    }
  }
}

// A chip of a torus forwards what is not for it: the larger the torus, the less is left for its own tokens.
TEST(ExpertExchange, ATorusCarriesLessTheLargerItIs) {
  const Device* tpu = knowledge().catalogue.device("tpu-v6e");
  ASSERT_NE(tpu, nullptr);
  const auto& c = knowledge().calibration;
  EXPECT_LT(perf::exchange_rates(*tpu, 25e9, 256, c).scale_up, perf::exchange_rates(*tpu, 25e9, 16, c).scale_up);
  const Device* rack = knowledge().catalogue.device("gb200-nvl72");
  EXPECT_EQ(perf::exchange_rates(*rack, 50e9, 72, c).scale_up, perf::exchange_rates(*rack, 50e9, 8, c).scale_up);
}

// 256 experts on 72 ranks: four on each are 288, so 32 are there twice, and each rank holds 4/256 of the experts.
TEST(ExpertPlacement, RanksThatDoNotDivideTheExpertsHoldCopies) {
  const auto even = resolve(wide(64), knowledge());
  const auto uneven = resolve(wide(72), knowledge());
  ASSERT_TRUE(even && uneven);
  EXPECT_EQ(even->facts.redundant_experts, 0);
  EXPECT_EQ(uneven->facts.redundant_experts, 32);
  EXPECT_NEAR(uneven->resolved->weight_bytes, even->resolved->weight_bytes, 1e-6 * even->resolved->weight_bytes);
  for (const int ranks : {72, 96, 144}) EXPECT_EQ(answer(wide(ranks)).reason, Reason::none) << ranks;
}

TEST(ExpertPlacement, SaysWhereTheCopiesAskedForDoNotDealThemOut) {
  const auto said = [](int copies) {
    InferenceQuery q = wide(72);
    q.experts.redundant = copies;
    const auto d = resolve(q, knowledge());
    EXPECT_TRUE(d);
    return std::any_of(d->assumptions.begin(), d->assumptions.end(), [](const std::string& text) {
      return text.find("5 copies do not deal them out evenly") != std::string::npos;
    });
  };
  EXPECT_TRUE(said(5));
  EXPECT_FALSE(said(32));
}

TEST(ExpertPlacement, CopiesTakeMemory) {
  InferenceQuery q = wide(64);
  const auto none = resolve(q, knowledge());
  q.experts.redundant = 64;
  const auto some = resolve(q, knowledge());
  ASSERT_TRUE(none && some);
  // One more expert in each of 58 layers: 3 x 7,168 x 2,048 weights of one byte and its scales.
  EXPECT_NEAR(some->resolved->weight_bytes - none->resolved->weight_bytes,
              58 * 3 * 7168.0 * 2048 * bytes_per_weight(Format::fp8), 1e6);
}

TEST(ExpertPlacement, RefusesMoreRanksThanTwiceTheExpertsAndGroupsThatDoNotDivideTheRanks) {
  EXPECT_EQ(answer(wide(600)).reason, Reason::experts_not_divisible);
  InferenceQuery q = wide(72);
  q.ep = 64;
  EXPECT_EQ(answer(q).reason, Reason::experts_not_divisible);
}

// SGLang 0.5 on Hopper: where each device has a part of every expert, the one that every token passes is rows of the
// routed product. Its two products a layer, in 58 of them, do not start by themselves. Blackwell's experts, groups that
// spread experts and releases before keep it apart.
TEST(ExpertPlacement, SharedExpertsStartWithTheRoutedOnesWhereTheReleaseFusesThem) {
  const auto on = [](const char* device, const char* version, int ep) {
    InferenceQuery q;
    q.model = "deepseek-v3";
    q.device = device;
    q.engine = "sglang";
    q.engine_version = version;
    q.tp = q.gpus = 8;
    q.ep = ep;
    q.weights = Format::fp8;
    q.load = {.mode = LoadMode::fixed_batch, .isl = 1000, .osl = 100, .batch = 16};
    return resolve(q, knowledge());
  };
  const auto fused = on("h200-sxm", "0.5.2", 1);
  const auto before = on("h200-sxm", "0.4.6", 1);
  const auto spread = on("h200-sxm", "0.5.2", 8);
  const auto other = on("b200-sxm-180", "0.5.2", 1);
  ASSERT_TRUE(fused && before && spread && other);
  EXPECT_TRUE(fused->resolved->fuses_shared);
  EXPECT_FALSE(before->resolved->fuses_shared);
  EXPECT_FALSE(spread->resolved->fuses_shared);
  EXPECT_FALSE(other->resolved->fuses_shared);
  EXPECT_EQ(fused->resolved->weight_bytes, before->resolved->weight_bytes);

  ResolvedInference apart = *fused->resolved;
  apart.fuses_shared = false;
  perf::Step step;
  step.decode = 16;
  step.context = 1000;
  const double saved = perf::step_time(apart, step).fixed - perf::step_time(*fused->resolved, step).fixed;
  const double start = fused->resolved->gemm[ResolvedInference::kNarrow].fixed;
  EXPECT_GE(saved, 0.9 * 58 * 2 * start * fused->resolved->costs.decode);
}

TEST(ExpertPlacement, PlacingByLoadIsFaster) {
  InferenceQuery q = wide(64);
  q.experts.rebalanced = false;
  const double left = answer(q).estimate.decode_step_s.mid;
  q.experts.rebalanced = true;
  EXPECT_LT(answer(q).estimate.decode_step_s.mid, left);
}

// Gathering brings every token to every rank: with 64 ranks of 64 sequences eight times what is dispatched.
TEST(ExpertExchange, DispatchBeatsGatheringInWideGroups) {
  InferenceQuery q = wide(64);
  q.experts.exchange = ExpertExchange::gather;
  const double gathered = answer(q).estimate.decode_step_s.mid;
  q.experts.exchange = ExpertExchange::dispatch;
  EXPECT_LT(answer(q).estimate.decode_step_s.mid, 0.7 * gathered);
}

TEST(ExpertExchange, EnginesBeforeDispatchKernelsGather) {
  InferenceQuery q = wide(16);
  q.engine = "vllm";
  q.engine_version = "0.8";
  auto d = resolve(q, knowledge());
  ASSERT_TRUE(d);
  EXPECT_EQ(d->facts.exchange, ExpertExchange::gather);
  q.engine_version = "0.11";
  d = resolve(q, knowledge());
  ASSERT_TRUE(d);
  EXPECT_EQ(d->facts.exchange, ExpertExchange::dispatch);
  q.dp = q.ep = q.gpus = 8;  // one node gathers, unless told otherwise
  d = resolve(q, knowledge());
  ASSERT_TRUE(d);
  EXPECT_EQ(d->facts.exchange, ExpertExchange::gather);
}

// Whoever can split a batch does so only where it is faster, and steps do not get shorter with more to do.
TEST(TwoBatches, NeverSlowDownAStepAndKeepItGrowing) {
  Random random(7);
  for (int i = 0; i < 200; ++i) {
    const int ranks = 8 * static_cast<int>(1 + random.below(18));
    InferenceQuery q = wide(ranks);
    q.experts.two_batches = false;
    const auto one = resolve(q, knowledge());
    q.experts.two_batches = true;
    const auto two = resolve(q, knowledge());
    ASSERT_TRUE(one && two);
    perf::Step step;
    step.decode = static_cast<double>(1 + random.below(512));
    step.context = static_cast<double>(100 + random.below(8000));
    if (random.below(2) == 0) {
      step.prefill = static_cast<double>(128 + random.below(8000));
      step.prompts = 1;
      step.prefill_length = step.prefill_context = step.prefill;
    }
    const perf::StepTime whole = perf::step_time(*one->resolved, step);
    const perf::StepTime halves = perf::step_time(*two->resolved, step);
    EXPECT_LE(halves.seconds, whole.seconds * (1 + 1e-9));
    double sum = 0;
    for (const double term : halves.terms) sum += term;
    EXPECT_NEAR(sum, halves.seconds, 1e-9 * sum);
    perf::Step more = step;
    more.decode *= 1.1;
    EXPECT_GE(perf::step_time(*two->resolved, more).seconds, halves.seconds * (1 - 1e-9));
  }
}

// DeepSeek-V3 is stored in eight bits with scales for blocks of each token: what ranks gather travels in 16 bits. Llama
// 4 Maverick was narrowed afterwards with one scale for all tokens, so that eight travel; four bits bring their scales.
TEST(ExpertExchange, WhatAllGatherIsNarrowedFirstWhereItsScalesAreKnown) {
  const auto gathered = [](const char* model, const char* device, Format weights) {
    InferenceQuery q = wide(8);
    q.model = model;
    q.device = device;
    q.weights = weights;
    const auto d = resolve(q, knowledge());
    EXPECT_TRUE(d);
    return d->resolved->bytes_gathered;
  };
  EXPECT_EQ(gathered("deepseek-v3", "h200-sxm", Format::fp8), 2);
  EXPECT_EQ(gathered("llama4-maverick", "h200-sxm", Format::fp8), 1);
  EXPECT_EQ(gathered("llama4-maverick", "h200-sxm", Format::bf16), 2);
  EXPECT_LT(gathered("deepseek-v3", "b200-sxm-180", Format::nvfp4), 1);
}

TEST(ExpertExchange, WordsAreReadBack) {
  for (const auto way :
       {ExpertExchange::gather, ExpertExchange::dispatch, ExpertExchange::low_latency, ExpertExchange::throughput}) {
    const auto read = parse_expert_exchange(name(way));
    ASSERT_TRUE(read);
    EXPECT_EQ(*read, way);
  }
  EXPECT_FALSE(parse_expert_exchange("carrier pigeon"));
}

}  // namespace
}  // namespace ridge
