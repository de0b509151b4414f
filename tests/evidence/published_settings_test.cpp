#include "evidence/settings/published_settings.hpp"

#include <gtest/gtest.h>

namespace ridge::evidence {
namespace {

const std::string kHeader =
    "source,engine,model,device,precision,since,isl,osl,most_tp,least_concurrency,max_batched_tokens,"
    "tokens_beside_prompt,max_sequences,memory_utilization,poll_steps,gather_share,gather_ranks,gather_steps,published,"
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
                                  "x,sglang,deepseek-v3,b200,,2026-04,,,,,,,,,99,,,,a script,2026-11\n"
                                  "x,sglang,deepseek-v3,b200,,,,,,16,32768,,128,0.8,30,,,,a script,2026-11\n"
                                  "x,sglang,deepseek-v3,b200,,,,,,,32768,,128,,10,,,,a script,2026-11\n",
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

TEST(PublishedSettings, WhatIsMissingOrWrongIsRefused) {
  EXPECT_NE(read_published_settings("source,engine\nx,y\n", "s.csv").error().text().find("model"), std::string::npos);
  const auto no_source = read_published_settings(kHeader + "x,sglang,,,,,,,,,,,,,30,,,,,2026-11\n", "s.csv");
  ASSERT_FALSE(no_source);
  EXPECT_NE(no_source.error().text().find("s.csv:2:"), std::string::npos) << no_source.error().text();
  EXPECT_FALSE(read_published_settings(kHeader + "x,sglang,,,,,,,,,,,,,0,,,,a script,2026-11\n", "s.csv"));
  EXPECT_TRUE(load_published_settings(RIDGE_DATA_DIR));
}

}  // namespace
}  // namespace ridge::evidence
