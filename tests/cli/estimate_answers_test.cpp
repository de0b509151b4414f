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

TEST(EmbeddingModels, SayTextsASecond) {
  const auto together = typed({"estimate", "infer", "--model", "bge-m3", "--device", "l4", "--isl", "512", "--json"});
  ASSERT_TRUE(together) << together.error().text();
  EXPECT_NE(together->json.find("\"texts_per_s\""), std::string::npos) << together->json;
  const auto clients =
      typed({"estimate", "infer", "--model", "bge-m3", "--device", "l4", "--isl", "512", "--concurrency", "16"});
  ASSERT_TRUE(clients) << clients.error().text();
  EXPECT_NE(clients->json.find("A text is back after"), std::string::npos) << clients->json;
  EXPECT_EQ(clients->json.find("decode"), std::string::npos) << clients->json;
  const auto short_ones = typed({"estimate", "infer", "--model", "e5-large-v2", "--device", "l4"});
  ASSERT_TRUE(short_ones) << short_ones.error().text();
  EXPECT_NE(short_ones->json.find("32 texts of 512 tokens"), std::string::npos) << short_ones->json;
  EXPECT_FALSE(typed({"estimate", "infer", "--model", "e5-large-v2", "--device", "l4", "--isl", "1024"}));
}

// The command that goes on asks for the same pictures and sound, not for their tokens.
TEST(Media, StandInTheNextCommand) {
  const auto seen = typed({"estimate", "infer", "--model", "qwen3-vl-8b", "--device", "h100-sxm", "--isl", "200",
                           "--images", "2", "--image-size", "1280x720"});
  ASSERT_TRUE(seen) << seen.error().text();
  const std::string next = seen->json.substr(seen->json.find("Next"));
  EXPECT_NE(next.find("--isl 200 "), std::string::npos) << next;
  EXPECT_NE(next.find("--images 2 --image-size 1280x720"), std::string::npos) << next;
  const auto heard = typed(
      {"estimate", "infer", "--model", "whisper-large-v3", "--device", "l4", "--audio", "10min", "--concurrency", "4"});
  ASSERT_TRUE(heard) << heard.error().text();
  const std::string again = heard->json.substr(heard->json.find("Next"));
  EXPECT_NE(again.find("--concurrency 4 "), std::string::npos) << again;
  EXPECT_NE(again.find("--audio 10min"), std::string::npos) << again;
}

TEST(FineTuning, PacksOrPadsExamples) {
  const auto with = [&](std::initializer_list<const char*> more) {
    std::vector<std::string> words = {"estimate", "train",        "--model", "llama3.1-8b",   "--device",
                                      "h100-sxm", "--seq-length", "2048",    "--micro-batch", "8"};
    words.insert(words.end(), more.begin(), more.end());
    return typed(words);
  };
  const auto padded = with({"--task", "lora", "--example-tokens", "400", "--packing", "off"});
  ASSERT_TRUE(padded) << padded.error().text();
  EXPECT_NE(padded->json.find("is padding"), std::string::npos) << padded->json;
  const auto packed = with({"--task", "lora", "--example-tokens", "400", "--json"});
  ASSERT_TRUE(packed) << packed.error().text();
  EXPECT_NE(packed->json.find("\"padding_share\": 0,"), std::string::npos) << packed->json;
  EXPECT_EQ(with({"--task", "lora", "--packing", "off"}).error().where, "--packing");
  EXPECT_EQ(with({"--gpus", "1", "--example-tokens", "400"}).error().where, "--example-tokens");
  EXPECT_FALSE(with({"--task", "lora", "--example-tokens", "4000"}));
}

// bitsandbytes calls its four bits nf4; full fine-tuning runs in what has its optimizers.
TEST(FineTuning, TakesTheWordsOfItsLibraries) {
  const auto asked = [](const char* format) {
    return typed({"estimate", "train", "--model", "llama3.1-8b", "--device", "rtx4090", "--task", "lora", "--frozen",
                  format, "--json"});
  };
  const auto nf4 = asked("nf4");
  ASSERT_TRUE(nf4) << nf4.error().text();
  EXPECT_EQ(nf4->json, asked("int4")->json);
  const auto whole = typed({"estimate", "train", "--model", "llama3.1-8b", "--device", "h100-sxm", "--gpus", "1",
                            "--task", "sft", "--optimizer", "adamw-8bit", "--seq-length", "2048"});
  ASSERT_TRUE(whole) << whole.error().text();
  EXPECT_NE(whole->json.find("transformers"), std::string::npos) << whole->json;
}

TEST(LongPrompts, OfModelsThatReadTextsOrHearAreRefusedInTheirWords) {
  const auto texts = typed({"estimate", "infer", "--model", "bge-m3", "--device", "l4", "--lengths", "512,16k"});
  ASSERT_FALSE(texts);
  EXPECT_EQ(texts.error().where, "--lengths");
  EXPECT_TRUE(typed({"estimate", "infer", "--model", "bge-m3", "--device", "l4", "--lengths", "512,8192"}));
  const auto sound = typed({"estimate", "infer", "--model", "whisper-large-v3", "--device", "l4", "--lengths", "1k"});
  ASSERT_FALSE(sound);
  EXPECT_NE(sound.error().message.find("--audio"), std::string::npos) << sound.error().message;
}

TEST(Speech, IsAnsweredInSound) {
  const std::vector<std::string> ask = {"estimate", "infer", "--model", "whisper-large-v3", "--device", "l4"};
  const auto with = [&](std::initializer_list<const char*> more) {
    std::vector<std::string> words = ask;
    words.insert(words.end(), more.begin(), more.end());
    return typed(words);
  };
  const auto clip = with({"--json"});
  ASSERT_TRUE(clip) << clip.error().text();
  EXPECT_NE(clip->json.find("\"sound_s_per_s\""), std::string::npos) << clip->json;
  const auto text = with({});
  ASSERT_TRUE(text);
  EXPECT_NE(text->json.find("times real time"), std::string::npos) << text->json;
  // 90 s are three clips at once of each client.
  const auto long_one = with({"--audio", "90s", "--concurrency", "4"});
  ASSERT_TRUE(long_one) << long_one.error().text();
  EXPECT_NE(long_one->json.find("of sound are 3"), std::string::npos) << long_one->json;
  EXPECT_NE(long_one->json.find("12 clients"), std::string::npos) << long_one->json;
  EXPECT_EQ(with({"--images", "1"}).error().where, "--images");
  EXPECT_EQ(with({"--prefill"}).error().where, "--prefill");
  EXPECT_EQ(with({"--audio", "0s"}).error().where, "--audio");
  EXPECT_FALSE(with({"--isl", "1000"}));
}

TEST(LongPrompts, TakeTheDevicesThatAreThere) {
  const std::vector<std::string> ask = {"estimate",  "infer", "--model", "llama3.1-8b", "--device", "h100-sxm",
                                        "--lengths", "128k",  "--gpus",  "8",           "--cp",     "4"};
  const auto shared = typed(ask);
  ASSERT_TRUE(shared) << shared.error().text();
  EXPECT_NE(shared->json.find("on 8 × h100-sxm, TP 2, CP 4"), std::string::npos) << shared->json;
  const std::vector<std::string> unsaid = {"estimate", "infer", "--model",   "deepseek-v3.2", "--device",    "h200-sxm",
                                           "--gpus",   "16",    "--lengths", "128k",          "--precision", "fp8"};
  const auto all = typed(unsaid);  // two nodes, each of which holds the model
  ASSERT_TRUE(all) << all.error().text();
  EXPECT_NE(all->json.find("on 16 × h200-sxm, TP 8, CP 2"), std::string::npos) << all->json;
  std::vector<std::string> longer = unsaid;  // the layout is that of the longest: stages where one node is too small
  longer[9] = "128k,1M";
  const auto staged = typed(longer);
  ASSERT_TRUE(staged) << staged.error().text();
  EXPECT_EQ(staged->json.find("out of memory"), std::string::npos) << staged->json;
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
  const auto adapters = typed({"estimate", "train", "--model", "llama3.1-8b", "--device", "rtx4090", "--task", "lora",
                               "--gpus", "2", "--seq-length", "2048"});
  ASSERT_TRUE(adapters) << adapters.error().text();
  EXPECT_NE(adapters->json.find("MFU by 4 P alone"), std::string::npos) << adapters->json;
  EXPECT_EQ(adapters->json.find("6 P"), std::string::npos) << adapters->json;
  const auto wide = typed({"estimate", "train", "--model", "llama3.1-70b", "--device", "h100-sxm", "--task", "lora"});
  ASSERT_FALSE(wide);
  EXPECT_NE(wide.error().message.find("frozen"), std::string::npos) << wide.error().text();
}

}  // namespace
}  // namespace ridge::cli
