// Training figures that others published or that follow from them by arithmetic.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "perf/training/resolved.hpp"
#include "ridge/perf/training.hpp"
#include "support/knowledge.hpp"

namespace ridge {
namespace {

using testing_support::bundle;
using testing_support::knowledge;

constexpr double kH100Fp8 = 1978.9e12;
constexpr double kH100Bf16 = 989.4e12;

double flops_per_token(const char* model, int sequence) {
  const auto found = bundle().catalogue.find_model(model);
  EXPECT_TRUE(found) << found.error().text();
  return found ? training_flops_per_token(*found, sequence) : 0;
}

// 6 P + 12 L h s: what the published MFU figures of Llama 3 on H100 count, attention in full.
TEST(TrainingFlops, SixParametersAndTwelveLayersHiddenSequence) {
  EXPECT_NEAR(flops_per_token("llama3.1-405b", 8192) / 2.638e12, 1, 1e-3);
  EXPECT_NEAR(flops_per_token("llama3.1-70b", 8192) / 4.877e11, 1, 1e-3);
  EXPECT_NEAR(flops_per_token("llama3.1-8b", 8192) / 6.107e10, 1, 1e-3);
}

// Megatron's 72 L h^2 (1 + s/6h + V/16Lh) for GPT-3; it counts the embedding a quarter less, 0.1 % of the sum.
TEST(TrainingFlops, MegatronsFormulaForGpt3) {
  EXPECT_NEAR(flops_per_token("megatron-175b", 2048) / 1.0755e12, 1, 2e-3);
}

// A window of 128 in every other layer: those layers cost what 128 positions cost, however long the sequence.
TEST(TrainingFlops, WindowedLayersCountTheirWindow) {
  const auto model = *bundle().catalogue.find_model("gpt-oss-20b");
  const double growth = training_flops_per_token(model, 16384) - training_flops_per_token(model, 8192);
  EXPECT_NEAR(growth, 12.0 * 12 * 64 * 64 * 8192, 1e-6 * growth);  // 12 of 24 layers, 64 heads of 64
}

// tok/s per device = MFU x peak / FLOPs per token; GPT-3 in FP8 at 39.5 %: 726.8.
TEST(TrainingRate, FollowsFromMfu) {
  EXPECT_NEAR(tokens_per_s_at(0.395, kH100Fp8, 1, 1.0755e12), 726.8, 0.5);
  EXPECT_NEAR(tokens_per_s_at(0.54, kH100Bf16, 1, 1.0755e12), 496.8, 0.5);
}

struct PublishedRun {
  const char* model;
  double tokens;
  int gpus;
  double mfu;
  double days;
};

// days = FLOPs x tokens / (devices x MFU x peak x 86,400).
TEST(TrainingRun, DaysOfPublishedRuns) {
  for (const PublishedRun& run :
       {PublishedRun{"llama3-8b", 15e12, 64, 0.40, 418.56}, PublishedRun{"llama3-70b", 15e12, 512, 0.40, 417.89},
        PublishedRun{"llama3.1-405b", 15.6e12, 16384, 0.41, 71.67}}) {
    const double rate = tokens_per_s_at(run.mfu, kH100Bf16, run.gpus, flops_per_token(run.model, 8192));
    const TrainingRun answer = training_run(run.tokens, rate, run.gpus);
    EXPECT_NEAR(answer.days, run.days, 0.01 * run.days) << run.model;
    EXPECT_NEAR(answer.gpu_hours, answer.days * 24 * run.gpus, 1e-6 * answer.gpu_hours);
  }
}

double state_bytes(const std::array<double, kTrainingMemory>& bytes) {
  const auto part = [&](TrainingMemory p) { return bytes[static_cast<std::size_t>(p)]; };
  return part(TrainingMemory::weights) + part(TrainingMemory::gradients) + part(TrainingMemory::optimizer);
}

// Weights 2, gradients 2, master weight and two moments 12: 16 bytes per parameter, 1,129 GB for 70B; an eighth of it
// on each of eight devices that share everything.
TEST(TrainingMemoryOf70B, SixteenBytesPerParameterAndAnEighthOfIt) {
  TrainingQuery query;
  query.model = "llama3-70b";
  query.device = "h100-sxm";
  query.engine = "fsdp";
  query.plan.gpus = 1;
  query.plan.global_batch = 16;  // two micro-batches: gradients add up
  query.plan.sharding = Sharding::none;
  const auto whole = resolve(query, knowledge());
  ASSERT_TRUE(whole);
  EXPECT_NEAR(state_bytes(stage_memory(*whole->resolved, query.plan, 0)), 1128.832e9, 1e-3 * 1128.832e9);
  query.plan.gpus = 8;
  query.plan.sharding = Sharding::zero3;
  EXPECT_NEAR(state_bytes(stage_memory(*whole->resolved, query.plan, 0)), 141.104e9, 1e-3 * 141.104e9);
}

// S2-09: 175e9 parameters x 16 bytes = 2.8 TB; the catalogue's GPT-3 has 174.6e9.
TEST(TrainingMemoryOf175B, SixteenBytesPerParameterAreAlmostThreeTerabytes) {
  TrainingQuery query;
  query.model = "gpt3-175b";
  query.device = "h100-sxm";
  query.engine = "fsdp";
  query.plan = {.gpus = 1, .global_batch = 2, .sharding = Sharding::none};
  const auto job = resolve(query, knowledge());
  ASSERT_TRUE(job);
  EXPECT_NEAR(state_bytes(stage_memory(*job->resolved, query.plan, 0)), 2.8e12, 0.005 * 2.8e12);
}

// PyTorch drops gradients after each update. With one micro-batch they grow as activations go: 2 bytes of 8.03 billion
// gradients are beside none of them at the end, so that weights, states and the larger of the two are all there is.
TEST(TrainingMemoryOfAModel, GradientsOfOneMicroBatchTakeThePlaceOfActivations) {
  TrainingQuery query;
  query.model = "llama3.1-8b";
  query.device = "h200-sxm";
  query.engine = "fsdp";
  query.plan = {.gpus = 1, .sequence = 2048, .global_batch = 1, .sharding = Sharding::none};
  query.plan.recompute = Recompute::none;
  const auto part = [](const std::array<double, kTrainingMemory>& bytes, TrainingMemory p) {
    return bytes[static_cast<std::size_t>(p)];
  };
  const auto job = resolve(query, knowledge());
  ASSERT_TRUE(job);
  const auto once = stage_memory(*job->resolved, query.plan, 0);
  const double activations = part(once, TrainingMemory::activations);
  EXPECT_NEAR(activations + part(once, TrainingMemory::gradients), std::max(activations, 2 * 8.03e9), 0.01e9);
  query.plan.global_batch = 2;  // gradients add up beside the activations of the second
  const auto twice = stage_memory(*job->resolved, query.plan, 0);
  EXPECT_NEAR(part(twice, TrainingMemory::gradients), 2 * 8.03e9, 0.01e9);
  EXPECT_NEAR(part(twice, TrainingMemory::activations), activations, 1);
}

// nanotron fills a stage until its parameters pass their share: 32 layers of 218 million and a head of 525 million over
// eight stages are 4.3 layers each, so that the first stage takes five, the first seven 31 and the last the head and
// one.
TEST(TrainingStages, FillUpInNanotron) {
  TrainingQuery query;
  query.model = "llama3.1-8b";
  query.device = "h100-sxm";
  query.engine = "nanotron";
  query.plan = {.gpus = 8, .pp = 8, .sequence = 2048, .global_batch = 8};
  const auto job = resolve(query, knowledge());
  ASSERT_TRUE(job);
  const auto stages = cut_stages(*job->resolved, 8, 1, 2);
  EXPECT_EQ(stages.first_layers, 5);
  EXPECT_EQ(stages.last_layers, 1);
}

// Korthikanti et al. 2022, equation 1 without the scores: 34 s b h bytes per layer; ours keeps no dropout masks (2 s b
// h).
TEST(TrainingMemoryOfALayer, ThirtyTwoBytesPerTokenAndChannel) {
  TrainingQuery query;
  query.model = "dense:layers=2,hidden=1024,heads=8,kv_heads=8,ffn=4096,gated=0,vocab=64,tied=1";
  query.device = "h100-sxm";
  query.plan.global_batch = 1;
  query.plan.sequence = 1024;
  query.plan.recompute = Recompute::none;
  const auto job = resolve(query, knowledge());
  ASSERT_TRUE(job);
  const double kept =
      stage_memory(*job->resolved, query.plan, 0)[static_cast<std::size_t>(TrainingMemory::activations)];
  const double logits = 1024.0 * 64 * 6;
  EXPECT_NEAR(kept - logits, 2 * 32.0 * 1024 * 1024, 1);
}

}  // namespace
}  // namespace ridge
