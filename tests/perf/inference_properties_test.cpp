// Rules that hold whatever the calibration says.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "perf/inference/step.hpp"
#include "ridge/base/random.hpp"
#include "support/knowledge.hpp"

namespace ridge {
namespace {

using testing_support::answer;
using testing_support::bundle;
using testing_support::knowledge;

constexpr const char* kModels[] = {"llama3.1-8b", "llama3.1-70b", "qwen3-30b-a3b", "deepseek-v3", "gpt-oss-120b"};
constexpr const char* kDevices[] = {"h100-sxm", "h200-sxm", "b200-sxm-180", "mi300x", "a100-sxm-80"};
constexpr const char* kEngines[] = {"vllm", "trtllm", "sglang", "ideal"};

/// A random query of sizes that usually fit.
InferenceQuery random_query(Random& draws) {
  InferenceQuery q;
  q.model = kModels[draws.below(std::size(kModels))];
  q.device = kDevices[draws.below(std::size(kDevices))];
  q.engine = kEngines[draws.below(std::size(kEngines))];
  q.tp = q.gpus = 8;
  q.load.mode = static_cast<LoadMode>(draws.below(4));
  q.load.isl = 1 + static_cast<double>(draws.below(8000));
  q.load.osl = 2 + static_cast<double>(draws.below(2000));
  q.load.batch = 1 + static_cast<double>(draws.below(128));
  q.load.concurrency = 1 + static_cast<double>(draws.below(256));
  if (draws.uniform() < 0.3) q.weights = Format::fp8;
  return q;
}

double merit(const InferenceOutcome& o, LoadMode mode) {
  return mode == LoadMode::prefill ? 1 / o.estimate.prefill_s.mid : o.estimate.output_tokens_per_s.mid;
}

TEST(InferenceProperty, PromptsAloneWaitForEachOther) {
  // With one token to answer nothing is decoded: clients wait for the prompts of all, however many steps one takes.
  for (const char* engine : {"vllm", "sglang", "sglang-jax"}) {
    for (const double isl : {1024.0, 8192.0, 32768.0}) {
      InferenceQuery q;
      q.model = "llama3.1-8b";
      q.device = "h100-sxm";
      q.engine = engine;
      q.load = {.mode = LoadMode::prefill, .isl = isl, .osl = 1, .batch = 8};
      const double all = answer(q).estimate.prefill_s.mid;
      q.load = {.mode = LoadMode::closed_loop, .isl = isl, .osl = 1, .concurrency = 8};
      const InferenceEstimate e = answer(q).estimate;
      EXPECT_NEAR(e.ttft_s.mid / all, 1, 0.2) << engine << ", " << isl;
      EXPECT_LT(e.output_tokens_per_s.mid, 1.1 * 8 / all) << engine << ", " << isl;
    }
  }
}

TEST(InferenceProperty, MoreOfAnyResourceIsNeverSlower) {
  Random draws(1);
  int compared = 0;
  for (int i = 0; i < 300; ++i) {
    const InferenceQuery q = random_query(draws);
    const auto base = answer(q);
    if (base.reason != Reason::none) continue;
    for (double ResourceScale::*resource :
         {&ResourceScale::compute, &ResourceScale::memory_bandwidth, &ResourceScale::memory_capacity,
          &ResourceScale::scale_up, &ResourceScale::scale_out, &ResourceScale::clock}) {
      InferenceQuery more = q;
      more.scale.*resource = 1.3;
      const auto better = answer(more);
      ASSERT_EQ(better.reason, Reason::none);
      EXPECT_GE(merit(better, q.load.mode), merit(base, q.load.mode) * (1 - 1e-6))
          << q.model << " on " << q.device << " with " << q.engine << ", mode " << static_cast<int>(q.load.mode);
      ++compared;
    }
  }
  EXPECT_GT(compared, 500);
}

TEST(InferenceProperty, NothingIsFasterThanTheRoofline) {
  Random draws(2);
  for (int i = 0; i < 300; ++i) {
    InferenceQuery q = random_query(draws);
    q.load.mode = LoadMode::fixed_batch;
    q.kv = Format::bf16;  // engines differ in what they choose
    const auto real = answer(q);
    q.engine = "ideal";
    const auto ideal = answer(q);
    if (real.reason != Reason::none || ideal.reason != Reason::none) continue;
    EXPECT_GE(real.estimate.tpot_s.mid, ideal.estimate.tpot_s.mid * (1 - 1e-9)) << q.model << " on " << q.device;
  }
}

TEST(InferenceProperty, MemoryPartsAddUpToTheBoard) {
  Random draws(3);
  for (int i = 0; i < 100; ++i) {
    const InferenceQuery q = random_query(draws);
    const auto d = resolve(q, knowledge());
    ASSERT_TRUE(d);
    const auto o = evaluate(*d->resolved, q.load);
    if (o.reason != Reason::none) continue;
    const auto& parts = o.estimate.memory_bytes;
    const double sum = std::accumulate(parts.begin(), parts.end(), 0.0);
    EXPECT_NEAR(sum, d->resolved->device.memory_capacity, 1e-6 * sum);
  }
}

TEST(InferenceProperty, TermsOfAStepAddUpToTheStep) {
  Random draws(4);
  for (int i = 0; i < 100; ++i) {
    InferenceQuery q = random_query(draws);
    q.load.mode = LoadMode::fixed_batch;
    const auto o = answer(q);
    if (o.reason != Reason::none) continue;
    const auto& terms = o.estimate.decode_terms_s;
    EXPECT_NEAR(std::accumulate(terms.begin(), terms.end(), 0.0), o.estimate.decode_step_s.mid,
                1e-9 * o.estimate.decode_step_s.mid);
  }
}

// The weights of all devices of a tensor-parallel group are the whole model, and a little that is replicated.
TEST(InferenceProperty, TensorParallelShardsAddUpToTheWhole) {
  for (const char* model : {"llama3.1-70b", "qwen3-30b-a3b"}) {
    InferenceQuery q;
    q.model = model;
    q.device = "h200-sxm";
    q.weights = Format::bf16;
    q.tp = q.gpus = 1;
    const auto whole = resolve(q, knowledge());
    q.tp = q.gpus = 4;
    const auto part = resolve(q, knowledge());
    ASSERT_TRUE(whole && part);
    EXPECT_NEAR(4 * part->resolved->weight_bytes, whole->resolved->weight_bytes, 0.01 * whole->resolved->weight_bytes);
  }
}

// Weights by component are the parameter count: 2 bytes each (norms and biases are not modelled: below a thousandth).
TEST(InferenceProperty, WeightsAreTheParametersTimesTheirBytes) {
  for (const char* model : {"llama3.1-8b", "llama3.1-405b", "deepseek-v3", "qwen3-235b-a22b", "mixtral-8x7b"}) {
    const Model* m = bundle().catalogue.model(model);
    ASSERT_NE(m, nullptr) << model;
    InferenceQuery q;
    q.model = model;
    q.device = "h200-sxm";
    q.weights = Format::bf16;
    q.tp = q.gpus = 1;
    const auto d = resolve(q, knowledge());
    ASSERT_TRUE(d);
    EXPECT_NEAR(d->resolved->weight_bytes, 2 * count_parameters(*m).total, 0.002 * d->resolved->weight_bytes) << model;
  }
}

// A step of the dense part costs 2 FLOPs per weight and token (embedding apart), attention 4 x heads x dim x context.
TEST(InferenceProperty, FlopsOfAStepAreTheTextbookCount) {
  const Model* m = bundle().catalogue.model("llama3.1-8b");
  ASSERT_NE(m, nullptr);
  InferenceQuery q;
  q.model = m->id;
  q.device = "h100-sxm";
  q.weights = Format::bf16;
  q.tp = q.gpus = 1;
  const auto d = resolve(q, knowledge());
  ASSERT_TRUE(d);
  perf::Step step;
  step.decode = 7;
  step.context = 1000;
  const auto t = perf::step_time(*d->resolved, step);
  const Parameters p = count_parameters(*m);
  const double attention = 32.0 * 4 * 32 * 128 * 1000 * 7;
  EXPECT_NEAR(t.flops, 2 * 7 * (p.total - p.embedding - p.norms) + attention, 1e-3 * t.flops);
}

TEST(InferenceProperty, TimeIsContinuousInBatchAndContext) {
  InferenceQuery q;
  q.model = "llama3.1-70b";
  q.device = "h200-sxm";
  q.tp = q.gpus = 4;
  const auto d = resolve(q, knowledge());
  ASSERT_TRUE(d);
  perf::Step step;
  for (double batch = 1; batch < 600; batch *= 1.03) {
    step.context = 100 * batch;
    step.decode = batch;
    const double here = perf::step_time(*d->resolved, step).seconds;
    step.decode = batch * 1.0001;
    step.context *= 1.0001;
    EXPECT_NEAR(perf::step_time(*d->resolved, step).seconds, here, 0.002 * here) << batch;
  }
}

// At 1 client the loop is a prefill and a decode after each other.
TEST(InferenceProperty, OneClientSeesPrefillAndDecodeAlone) {
  InferenceQuery q;
  q.model = "llama3.1-8b";
  q.device = "h100-sxm";
  q.tp = q.gpus = 1;
  q.load = {.mode = LoadMode::closed_loop, .isl = 1000, .osl = 1000, .concurrency = 1};
  const auto loop = answer(q);
  q.load.mode = LoadMode::fixed_batch;
  q.load.batch = 1;
  const auto fixed = answer(q);
  ASSERT_EQ(loop.reason, Reason::none);
  EXPECT_NEAR(loop.estimate.tpot_s.mid, fixed.estimate.tpot_s.mid, 0.1 * fixed.estimate.tpot_s.mid);
  EXPECT_GE(loop.estimate.ttft_s.mid, fixed.estimate.ttft_s.mid);
}

// Clients = request rate x latency (Little's law), up to the token that prefill itself brings.
TEST(InferenceProperty, ClosedLoopObeysLittlesLaw) {
  for (const double clients : {1.0, 8.0, 64.0, 200.0}) {
    InferenceQuery q;
    q.model = "llama3.1-70b";
    q.device = "h100-sxm";
    q.tp = q.gpus = 4;
    q.load = {.mode = LoadMode::closed_loop, .isl = 1000, .osl = 500, .concurrency = clients};
    const auto o = answer(q);
    ASSERT_EQ(o.reason, Reason::none);
    const double rate = o.estimate.output_tokens_per_s.mid / q.load.osl;
    const double latency = o.estimate.ttft_s.mid + q.load.osl * o.estimate.tpot_s.mid;
    EXPECT_NEAR(rate * latency, clients, 0.01 * clients);
  }
}

TEST(InferenceProperty, SpeculationGainsTheExpectedTokensAtFreeVerification) {
  InferenceQuery q;
  q.model = "llama3.1-70b";
  q.device = "h100-sxm";
  q.engine = "ideal";
  q.tp = q.gpus = 4;
  q.load = {.mode = LoadMode::fixed_batch, .isl = 16, .osl = 128, .batch = 1};
  const auto plain = answer(q);
  q.load.draft_tokens = 2;
  q.load.acceptance = 0.5;
  q.draft_model_share = 1e-9;
  const auto drafted = answer(q);
  // 1 + 1/2 + 1/4 tokens per step, and a step of three tokens is as memory-bound as a step of one.
  EXPECT_NEAR(plain.estimate.tpot_s.mid / drafted.estimate.tpot_s.mid, 1.75, 0.02);
}

TEST(InferenceProperty, ACachedPrefixCostsNoPrefill) {
  InferenceQuery q;
  q.model = "llama3.1-70b";
  q.device = "h100-sxm";
  q.tp = q.gpus = 4;
  q.load = {.mode = LoadMode::fixed_batch, .isl = 4000, .osl = 10, .batch = 1};
  const double cold = answer(q).estimate.ttft_s.mid;
  q.load.prefix_hit = 0.9;
  EXPECT_LT(answer(q).estimate.ttft_s.mid, 0.5 * cold);
}

TEST(InferenceProperty, OffloadedWeightsCrossTheHostLinkInEveryStep) {
  InferenceQuery q;
  q.model = "llama3.1-70b";
  q.device = "h100-sxm";
  q.engine = "ideal";
  q.tp = q.gpus = 1;
  q.load = {.mode = LoadMode::fixed_batch, .isl = 16, .osl = 128, .batch = 1};
  EXPECT_EQ(answer(q).reason, Reason::out_of_memory);
  q.cpu_offload = 80e9;
  const auto offloaded = answer(q);
  ASSERT_EQ(offloaded.reason, Reason::none);
  // PCIe 5 x16: 63 GB/s one way. 80 GB take 1.27 s, whatever else the step does.
  const double seconds = offloaded.estimate.decode_terms_s[static_cast<std::size_t>(Term::offload)];
  EXPECT_NEAR(seconds, 80e9 / 63e9, 1e-3);
  EXPECT_GT(offloaded.estimate.tpot_s.mid, seconds);
  EXPECT_EQ(offloaded.estimate.bound, Bound::host);
  q.cpu_offload = 100e9;
  EXPECT_GT(answer(q).estimate.tpot_s.mid, offloaded.estimate.tpot_s.mid);
}

TEST(InferenceProperty, ChipsThatWereMeasuredHaveTheNarrowerInterval) {
  InferenceQuery q;
  q.model = "llama3.1-8b";
  q.engine = "vllm";
  q.tp = q.gpus = 1;
  q.load = {.mode = LoadMode::closed_loop, .isl = 1000, .osl = 200, .concurrency = 16};
  const auto resembles = [&](const char* device) {
    q.device = device;
    const auto deployment = resolve(q, knowledge());
    return deployment ? deployment->facts.resembles.resembles : deployment.error().text();
  };
  EXPECT_EQ(resembles("h100-sxm"), "dense");
  EXPECT_EQ(resembles("a100-sxm-80"), "dense");
  EXPECT_EQ(resembles("gaudi3-oam"), "new software");  // vLLM's own, which nobody measured there
  EXPECT_EQ(resembles("maia100"), "new device");
}

TEST(InferenceProperty, IntervalsHoldTheirMiddle) {
  Random draws(5);
  for (int i = 0; i < 50; ++i) {
    const auto o = answer(random_query(draws));
    if (o.reason != Reason::none) continue;
    for (const Interval& v : {o.estimate.output_tokens_per_s, o.estimate.ttft_s, o.estimate.power_w}) {
      EXPECT_LE(v.low, v.mid);
      EXPECT_GE(v.high, v.mid);
    }
  }
}

}  // namespace
}  // namespace ridge
