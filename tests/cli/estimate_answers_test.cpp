// What `ridge estimate` answers to lines that people type: models that write nothing, long prompts, fine-tuning.
#include <gtest/gtest.h>

#include "support/session.hpp"

namespace ridge::cli {
namespace {

using testing_support::typed;

TEST(EmbeddingModels, ReadTextsAndWriteNone) {
  const auto whole = typed({"estimate", "infer", "--model", "qwen3-embedding-8b", "--device", "l4", "--isl", "512"});
  ASSERT_TRUE(whole) << whole.error().text();
  const auto prompts = typed({"estimate", "infer", "--model", "qwen3-embedding-8b", "--device", "l4", "--isl", "512",
                              "--prefill", "--batch", "32"});
  ASSERT_TRUE(prompts);
  const auto until = [](const std::string& text) { return text.substr(0, text.find("Assumed")); };
  EXPECT_EQ(until(whole->json), until(prompts->json));
  const auto written = typed({"estimate", "infer", "--model", "qwen3-reranker-4b", "--device", "l4", "--osl", "64"});
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().where, "--osl");
}

TEST(LongPrompts, TakeTheDevicesThatAreThere) {
  const std::vector<std::string> ask = {"estimate",  "infer", "--model", "llama3.1-8b", "--device", "h100-sxm",
                                        "--lengths", "128k",  "--gpus",  "8",           "--cp",     "4"};
  const auto shared = typed(ask);
  ASSERT_TRUE(shared) << shared.error().text();
  EXPECT_NE(shared->json.find("on 8 × h100-sxm, TP 2, CP 4"), std::string::npos) << shared->json;
  auto odd = ask;
  odd.back() = "3";
  EXPECT_FALSE(typed(odd));
  auto more = ask;
  more.insert(more.end(), {"--tp", "8"});
  ASSERT_FALSE(typed(more));
  EXPECT_EQ(typed(more).error().where, "--gpus");
}

TEST(FineTuning, OfFourBitsIsNamed) {
  const auto q = typed({"estimate", "train", "--model", "llama3.1-8b", "--device", "rtx4090", "--task", "qlora"});
  ASSERT_FALSE(q);
  EXPECT_NE(q.error().message.find("frozen=int4"), std::string::npos) << q.error().text();
  const auto wide = typed({"estimate", "train", "--model", "llama3.1-70b", "--device", "h100-sxm", "--task", "lora"});
  ASSERT_FALSE(wide);
  EXPECT_NE(wide.error().message.find("frozen"), std::string::npos) << wide.error().text();
}

}  // namespace
}  // namespace ridge::cli
