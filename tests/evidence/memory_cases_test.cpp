// Memory of training layouts: what ran is called feasible, what failed is mostly predicted to.
#include "evidence/validate/memory_cases.hpp"

#include <gtest/gtest.h>

#include "ridge/base/file.hpp"
#include "support/bundle.hpp"

namespace ridge::evidence {
namespace {

TEST(MemoryCases, WhatRanFitsAndWhatFailedIsMostlyFound) {
  const auto text = read_file(std::string(RIDGE_DATA_DIR) + "/evidence/more/memory_fit.csv", 16'000'000);
  ASSERT_TRUE(text);
  const auto cases = read_memory_cases(*text, "memory_fit.csv");
  ASSERT_TRUE(cases) << cases.error().text();
  const MemoryFinding all = judge_memory(*cases, testing_support::knowledge()).front();
  EXPECT_GT(all.ran, 1000);
  EXPECT_LE(all.ran_refused, 0.02);
  EXPECT_GE(all.found, 0.85);  // a run may fail for other reasons
  EXPECT_LE(all.median_error, 0.08);
  EXPECT_LE(all.p90_error, 0.27);
}

// Plain transformers on one H200, all weights or adapters, with and without recomputing: gradients come as activations
// go, and the logits are gone before the first layer is computed again. What did not run is found.
TEST(MemoryCases, OneGpuIsKnownToAFewPercent) {
  const auto text = read_file(std::string(RIDGE_DATA_DIR) + "/evidence/own_memory.csv", 16'000'000);
  ASSERT_TRUE(text);
  const auto cases = read_memory_cases(*text, "own_memory.csv");
  ASSERT_TRUE(cases) << cases.error().text();
  const MemoryFinding all = judge_memory(*cases, testing_support::knowledge()).front();
  EXPECT_EQ(all.ran, 69);
  EXPECT_EQ(all.ran_refused, 0);
  EXPECT_EQ(all.found, 1);
  EXPECT_LE(all.median_error, 0.02);
  EXPECT_LE(all.p90_error, 0.07);
}

// nanotron's GB are 2^30 bytes of PyTorch's allocator: 16 layers whose states are 24.2 GB and whose micro-batch keeps
// 14.5 GB took 36.7 of them.
TEST(MemoryCases, AreCountedAsTheirAuthorsCount) {
  const auto cases = read_memory_cases(
      "model,device,gpus,seq_len,global_batch,micro_batch,tp,pp,dp,zero,ran,memory_gb\n"
      "\"dense:layers=16,hidden=2048,heads=32,kv_heads=32,ffn=8192,gated=1,vocab=131072,tied=1\","
      "h100-sxm,8,4096,256,1,1,1,8,0,yes,36.7\n",
      "one.csv");
  ASSERT_TRUE(cases) << cases.error().text();
  EXPECT_NEAR(cases->front().taken, 39.4e9, 0.1e9);
}

}  // namespace
}  // namespace ridge::evidence
