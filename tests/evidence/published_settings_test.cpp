#include "evidence/settings/published_settings.hpp"

#include <gtest/gtest.h>

namespace ridge::evidence {
namespace {

const std::string kHeader =
    "source,engine,model,device,precision,since,isl,osl,most_tp,least_concurrency,max_batched_tokens,"
    "tokens_beside_prompt,max_sequences,memory_utilization,requests,poll_steps,gather_share,gather_ranks,gather_steps,"
    "published,"
    "read\n";

InferenceQuery asked(double clients) {
  InferenceQuery q;
  q.engine = "sglang";
  q.model = "deepseek-v3";
  q.device = "b200-sxm-180";
  q.date = "2026-03-25";
  q.load.concurrency = clients;
  return q;
}

TEST(PublishedSettings, TheFirstEntryWhoseConditionsAllHoldIsTaken) {
  const auto all =
      read_published_settings(kHeader +
                                  "x,sglang,deepseek-v3,b200,,2026-04,,,,,,,,,,99,,,,a script,2026-11\n"
                                  "x,sglang,deepseek-v3,b200,,,,,,16,32768,,128,0.8,,30,,,,a script,2026-11\n"
                                  "x,sglang,deepseek-v3,b200,,,,,,,32768,,128,,,10,,,,a script,2026-11\n",
                              "s.csv");
  ASSERT_TRUE(all) << all.error().text();
  EXPECT_EQ(find_settings(*all, "x", asked(16))->poll_steps, 30);
  EXPECT_EQ(find_settings(*all, "x", asked(15))->poll_steps, 10);
  EXPECT_EQ(find_settings(*all, "another", asked(16)), nullptr) << "what one publisher says holds for its rows alone";
  InferenceQuery other = asked(16);
  other.model = "glm-5";
  EXPECT_EQ(find_settings(*all, "x", other), nullptr);
  SimulationQuery q;
  q.deployment = asked(16);
  apply((*all)[1], q);
  EXPECT_EQ(q.deployment.max_batched_tokens, 32768);
  EXPECT_EQ(q.deployment.max_sequences, 128);
  EXPECT_EQ(q.deployment.memory_utilization, 0.8);
  EXPECT_EQ(q.policies.poll_steps, 30);
}

TEST(PublishedSettings, AStepTakesAPromptBesideAllClients) {
  ServerSettings s;
  s.tokens_beside_prompt = 64;
  SimulationQuery q;
  q.deployment.load = {.isl = 1024, .concurrency = 70};
  apply(s, q);
  EXPECT_EQ(q.deployment.max_batched_tokens, 1216) << "1,024 + 70 + 64 = 1,158, in whole 64s";
  s.max_batched_tokens = 8192;
  apply(s, q);
  EXPECT_EQ(q.deployment.max_batched_tokens, 8192);
}

// TensorRT-LLM publishes how many requests it sends for each pair of lengths: 3,000 of 1,024 tokens over eight ranks
// are 375 for each, fewer than a cache may hold.
TEST(PublishedSettings, SayHowManyRequestsWereSent) {
  const auto all = load_published_settings(RIDGE_DATA_DIR);
  ASSERT_TRUE(all);
  InferenceQuery q;
  q.engine = "trtllm";
  q.date = "2025-12-16";
  const auto sent = [&](const char* source, double isl, double osl) {
    q.load = {.mode = LoadMode::offline, .isl = isl, .osl = osl};
    const ServerSettings* s = find_settings(*all, source, q);
    if (s == nullptr) return 0.0;
    apply(*s, q);
    return q.load.requests;
  };
  EXPECT_EQ(sent("trtllm-perf-overview-v1.1", 1024, 1024), 3000);
  EXPECT_EQ(sent("trtllm-perf-overview-v1.1", 1024, 32768), 1000);
  EXPECT_EQ(sent("trtllm-perf-overview-v1.0", 128, 128), 30000);
  EXPECT_EQ(sent("trtllm-perf-overview-v1.0", 1024, 2048), 0) << "not in the table";
  EXPECT_EQ(sent("trtllm-tuning-guide", 2048, 2048), 0) << "another publisher";
}

TEST(PublishedSettings, WhatIsMissingOrWrongIsRefused) {
  EXPECT_NE(read_published_settings("source,engine\nx,y\n", "s.csv").error().text().find("model"), std::string::npos);
  const auto no_source = read_published_settings(kHeader + "x,sglang,,,,,,,,,,,,,,30,,,,,2026-11\n", "s.csv");
  ASSERT_FALSE(no_source);
  EXPECT_NE(no_source.error().text().find("s.csv:2:"), std::string::npos) << no_source.error().text();
  EXPECT_FALSE(read_published_settings(kHeader + "x,sglang,,,,,,,,,,,,,,0,,,,a script,2026-11\n", "s.csv"));
  EXPECT_TRUE(load_published_settings(RIDGE_DATA_DIR));
}

}  // namespace
}  // namespace ridge::evidence
