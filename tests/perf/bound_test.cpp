// The datasheet is a bound: no prediction is faster than `--engine ideal`, whatever is asked.
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>

#include "ridge/perf/inference.hpp"
#include "ridge/perf/training.hpp"
#include "support/bundle.hpp"

namespace ridge {
namespace {

using testing_support::bundle;
using testing_support::knowledge;

/// Output tokens per second, or a negative number where it does not run.
double rate(InferenceQuery query, const std::string& engine) {
  query.engine = engine;
  const auto deployment = resolve(query, knowledge());
  if (!deployment) return -1;
  const InferenceOutcome outcome = evaluate(*deployment->resolved, query.load);
  return outcome.reason == Reason::none ? outcome.estimate.output_tokens_per_s.mid : -1;
}

TEST(Bound, NoPredictionIsFasterThanTheDatasheet) {
  constexpr std::array kModels = {"llama3.1-8b", "llama3.3-70b", "mixtral-8x7b", "deepseek-v3", "gpt-oss-120b"};
  constexpr std::array kEngines = {"vllm", "sglang", "trtllm"};
  std::mt19937 random(7);
  const auto pick = [&](const auto& list) { return list[random() % list.size()]; };
  const auto log_uniform = [&](double low, double high) {
    return std::round(low * std::pow(high / low, std::uniform_real_distribution<>(0, 1)(random)));
  };
  const auto& devices = bundle().catalogue.devices();
  int compared = 0;
  for (int i = 0; i < 4000; ++i) {
    InferenceQuery q;
    q.model = pick(kModels);
    // Cards on PCIe are where a bound once was none: every fourth question is about one.
    q.device = i % 4 == 0 ? (random() % 2 == 0 ? "l40s" : "rtx4090") : devices[random() % devices.size()].id;
    q.tp = 1 << random() % 4;
    q.gpus = q.tp;
    q.load.mode = LoadMode::closed_loop;
    q.load.isl = log_uniform(16, 32000);
    q.load.osl = log_uniform(1, 4000);
    q.load.concurrency = log_uniform(1, 1024);
    const double bound = rate(q, "ideal");
    const std::string engine = pick(kEngines);
    const double predicted = rate(q, engine);
    if (bound < 0 || predicted < 0) continue;
    ++compared;
    EXPECT_LE(predicted, bound * (1 + 1e-9)) << engine << " " << q.model << " on " << q.tp << " x " << q.device << ", "
                                             << q.load.isl << "/" << q.load.osl << ", " << q.load.concurrency;
  }
  EXPECT_GT(compared, 1000);
}

// 8 cards on PCIe 4.0: the question that was once answered faster than its bound, by 23 %.
TEST(Bound, HoldsWhereCardsTalkOverPcie) {
  InferenceQuery q;
  q.model = "llama3.1-8b";
  q.device = "l40s";
  q.gpus = q.tp = 8;
  q.load.mode = LoadMode::closed_loop;
  q.load.isl = 4000;
  q.load.osl = 50;
  q.load.concurrency = 256;
  EXPECT_LE(rate(q, "vllm"), rate(q, "ideal"));
}

// Experts over the network: the bound once had every rank gather all tokens, and was 4 to 8 times slower than what
// DeepSeek and SGLang measured.
TEST(Bound, HoldsWhereExpertsAreSharedOutWidely) {
  std::mt19937 random(11);
  const auto pick = [&](const auto& list) { return list[random() % list.size()]; };
  constexpr std::array kModels = {"deepseek-v3", "kimi-k2", "qwen3-235b-a22b"};
  constexpr std::array kDevices = {"h100-sxm", "h200-sxm", "h800-sxm", "b200-sxm-180", "mi300x"};
  constexpr std::array kEngines = {"sglang", "vllm", "trtllm"};
  constexpr std::array kModes = {LoadMode::decode, LoadMode::closed_loop, LoadMode::prefill};
  int compared = 0;
  for (int i = 0; i < 600; ++i) {
    InferenceQuery q;
    q.model = pick(kModels);
    q.device = pick(kDevices);
    q.tp = 1 << random() % 2;
    q.dp = 8 << random() % 4;
    q.gpus = q.ep = q.tp * q.dp;
    q.load.mode = pick(kModes);
    q.load.isl = 100 << random() % 6;
    q.load.osl = 10 << random() % 6;
    q.load.concurrency = q.load.batch = q.gpus << random() % 8;
    const std::string engine = pick(kEngines);
    const double bound = rate(q, "ideal");
    const double predicted = rate(q, engine);
    if (bound <= 0 || predicted <= 0) continue;
    ++compared;
    EXPECT_LE(predicted, bound * (1 + 1e-9))
        << engine << " " << q.model << " on " << q.gpus << " x " << q.device << ", TP" << q.tp << ", " << q.load.isl
        << "/" << q.load.osl << ", " << q.load.concurrency;
  }
  EXPECT_GT(compared, 150);
}

// The first token: its own prompt and nothing else, so that no other order of prompts is faster.
TEST(Bound, OfAFirstTokenIsItsPromptAlone) {
  InferenceQuery q;
  q.model = "llama3.3-70b";
  q.device = "h100-sxm";
  q.gpus = q.tp = 8;
  q.engine = "ideal";
  q.load = {.mode = LoadMode::closed_loop, .isl = 4000, .osl = 200, .concurrency = 64};
  const auto many = evaluate(*resolve(q, knowledge())->resolved, q.load);
  EXPECT_DOUBLE_EQ(many.estimate.ttft_s.mid, many.estimate.prefill_s.mid);
}

/// Seconds of a step, or a negative number where it does not run. No MFU is above 100 %.
double step(TrainingQuery query, const std::string& engine) {
  query.engine = engine;
  const auto job = resolve(query, knowledge());
  if (!job) return -1;
  const TrainingOutcome outcome = evaluate(*job->resolved, query.plan);
  EXPECT_LE(outcome.estimate.mfu.high, 1 + 1e-9) << engine << ", sequences of " << query.plan.sequence;
  return outcome.reason == Reason::none ? outcome.estimate.step_time_s.mid : -1;
}

// LLMQ's 16-bit states leave room on a card where the usual ones do not: measured 16.4 s, the bound was 16.7 s.
TEST(Bound, HoldsWhereOnlyOneFrameworkHasRoom) {
  TrainingQuery q;
  q.model = "qwen2.5-3b";
  q.device = "rtx5090";
  q.precision = Format::bf16;
  q.plan = {.gpus = 4, .dp = 4, .sequence = 1024, .global_batch = 512, .micro_batch = 4};
  q.plan.sharding = Sharding::zero1;
  q.plan.recompute = Recompute::selective;
  EXPECT_GT(step(q, "ideal"), 0);
  EXPECT_GE(step(q, "llmq"), step(q, "ideal"));
}

// Layers that run twice because what one framework keeps does not fit are no part of the bound: others keep less.
TEST(Bound, NoStepOfTrainingIsFasterThanTheDatasheet) {
  std::mt19937 random(13);
  const auto pick = [&](const auto& list) { return list[random() % list.size()]; };
  constexpr std::array kModels = {"llama3.1-8b", "qwen2.5-3b", "llama3.1-70b", "mixtral-8x7b", "qwen3-30b-a3b"};
  constexpr std::array kDevices = {"h100-sxm", "rtx5090", "b200-sxm-180", "mi300x", "a100-sxm-80", "l40s"};
  constexpr std::array kEngines = {"megatron-lm", "fsdp", "llmq", "deepspeed", "hai-llm", "maxtext"};
  constexpr std::array kShardings = {Sharding::none, Sharding::zero1, Sharding::zero3};
  constexpr std::array kRecomputes = {Recompute::none, Recompute::selective, Recompute::full, Recompute::unknown};
  int compared = 0;
  for (int i = 0; i < 3000; ++i) {
    TrainingQuery q;
    q.model = pick(kModels);
    q.device = pick(kDevices);
    q.plan.tp = 1 << random() % 4;
    q.plan.pp = 1 << random() % 3;
    q.plan.gpus = q.plan.tp * q.plan.pp << random() % 5;
    q.plan.sequence = 1024 << random() % 8;
    q.plan.micro_batch = 1 << random() % 3;
    q.plan.global_batch = q.plan.gpus / (q.plan.tp * q.plan.pp) * q.plan.micro_batch << random() % 5;
    q.plan.sharding = pick(kShardings);
    q.plan.recompute = pick(kRecomputes);
    const std::string engine = pick(kEngines);
    const double bound = step(q, "ideal");
    const double predicted = step(q, engine);
    if (bound <= 0 || predicted <= 0) continue;
    ++compared;
    EXPECT_GE(predicted, bound * (1 - 1e-9))
        << engine << " " << q.model << " on " << q.plan.gpus << " x " << q.device << ", TP" << q.plan.tp << " PP"
        << q.plan.pp << ", " << q.plan.global_batch << " x " << q.plan.sequence;
  }
  EXPECT_GT(compared, 500);
}

}  // namespace
}  // namespace ridge
