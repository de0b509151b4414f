// Answers that can be worked out by hand, and published ones.
#include <gtest/gtest.h>

#include "support/knowledge.hpp"

namespace ridge {
namespace {

using testing_support::answer;

InferenceQuery query_of(const char* model, const char* device, int gpus, const char* engine, Format weights) {
  InferenceQuery q;
  q.model = model;
  q.device = device;
  q.gpus = q.tp = gpus;
  q.engine = engine;
  q.weights = weights;
  q.load = {.mode = LoadMode::fixed_batch, .isl = 1, .osl = 2, .batch = 1};
  return q;
}

// A decode step reads every weight but the input embedding once: (8.030 - 0.525) G x 2 B / 3.35 TB/s = 4.48 ms.
TEST(IdealEngine, Decodes8BOnOneH100At223TokensPerSecond) {
  const auto o = answer(query_of("llama3.1-8b", "h100-sxm", 1, "ideal", Format::bf16));
  ASSERT_EQ(o.reason, Reason::none);
  EXPECT_NEAR(1 / o.estimate.tpot_s.mid, 223.2, 0.5);
}

// (70.55 - 1.05) G x 2 B / (4 x 3.35 TB/s): 96.4 tokens per second.
TEST(IdealEngine, Decodes70BOnFourH100At96TokensPerSecond) {
  const auto o = answer(query_of("llama3.1-70b", "h100-sxm", 4, "ideal", Format::bf16));
  ASSERT_EQ(o.reason, Reason::none);
  EXPECT_NEAR(1 / o.estimate.tpot_s.mid, 96.4, 0.4);
}

// 405.9 G x 4.5 bits = 228 GB of NVFP4; even 4.0 bits would be 203 GB, and one B200 has 192e9 bytes.
TEST(Capacity, Llama405BInFourBitsDoesNotFitOneB200ButTwo) {
  const auto one = answer(query_of("llama3.1-405b", "b200-sxm-180", 1, "trtllm", Format::nvfp4));
  EXPECT_EQ(one.reason, Reason::out_of_memory);
  EXPECT_GT(one.short_by, 10e9);
  const auto two = answer(query_of("llama3.1-405b", "b200-sxm-180", 2, "trtllm", Format::nvfp4));
  EXPECT_EQ(two.reason, Reason::none);
}

// 8 x 141 GB hold the 811.7 GB of Llama 3.1 405B in 16 bits; 8 x 80 GB do not.
TEST(Capacity, Llama405BInSixteenBitsFitsEightH200NotEightH100) {
  EXPECT_EQ(answer(query_of("llama3.1-405b", "h200-sxm", 8, "vllm", Format::bf16)).reason, Reason::none);
  EXPECT_EQ(answer(query_of("llama3.1-405b", "h100-sxm", 8, "vllm", Format::bf16)).reason, Reason::out_of_memory);
}

// 80 layers x 8 KV heads x 128 x 2 x 2 B = 327,680 B per token, on 8 devices 40,960 B each.
TEST(Capacity, CacheTokensAreTheFreeBytesOverTheBytesOfAToken) {
  const auto o = answer(query_of("llama3.1-70b", "h100-sxm", 8, "vllm", Format::bf16));
  ASSERT_EQ(o.reason, Reason::none);
  const double pool = o.estimate.memory_bytes[static_cast<std::size_t>(MemoryPart::kv_cache)];
  EXPECT_NEAR(o.estimate.kv_capacity_tokens, pool / 40960, 1e-6 * pool / 40960);
}

TEST(Refusal, TensorParallelismMustDivideTheHeads) {
  auto q = query_of("llama3.1-8b", "h100-sxm", 3, "vllm", Format::bf16);
  EXPECT_EQ(answer(q).reason, Reason::heads_not_divisible);
}

TEST(Refusal, Fp8ActivationsNeedAChipThatComputesInFp8) {
  auto q = query_of("llama3.1-8b", "a100-sxm-80", 1, "vllm", Format::fp8);
  q.activations = Format::fp8;
  EXPECT_EQ(answer(q).reason, Reason::format_not_supported);
  q.activations.reset();  // widened to 16 bits instead
  EXPECT_EQ(answer(q).reason, Reason::none);
}

TEST(Refusal, ExpertParallelismNeedsExperts) {
  auto q = query_of("llama3.1-8b", "h100-sxm", 2, "vllm", Format::bf16);
  q.ep = 2;
  EXPECT_EQ(answer(q).reason, Reason::experts_not_divisible);
}

TEST(Refusal, AnUnknownEngineIsNotRefusedButStoodInFor) {
  auto q = query_of("llama3.1-8b", "h100-sxm", 1, "my-own-engine", Format::bf16);
  const auto d = resolve(q, testing_support::knowledge());
  ASSERT_TRUE(d) << d.error().text();
  EXPECT_EQ(evaluate(*d->resolved, q.load).reason, Reason::none);
  bool said = false;
  for (const auto& a : d->assumptions) said = said || a.find("my-own-engine") != std::string::npos;
  EXPECT_TRUE(said);
}

TEST(Refusal, ADeviceWithoutPublicFiguresIsRefusedByName) {
  const auto d = resolve(query_of("llama3.1-8b", "mlu590", 1, "vllm", Format::bf16), testing_support::knowledge());
  ASSERT_FALSE(d);
  EXPECT_NE(d.error().text().find("mlu590"), std::string::npos);
}

}  // namespace
}  // namespace ridge
