// Pictures and sound in prompts: tokens counted by hand, work that grows, what is refused.
#include "ridge/perf/encoder.hpp"

#include <gtest/gtest.h>

#include "support/knowledge.hpp"

namespace ridge {
namespace {

using testing_support::bundle;
using testing_support::knowledge;

Result<EncoderEstimate> encoded(const std::string& model, const MediaLoad& media, int tp = 1) {
  DeploymentFacts facts;
  facts.device = "h100-sxm";
  facts.tp = tp;
  return encode(*bundle().catalogue.find_model(model), facts, media, false, knowledge());
}

double tokens(const std::string& model, const MediaLoad& media) {
  const auto e = encoded(model, media);
  EXPECT_TRUE(e) << e.error().text();
  return e ? e->tokens : 0;
}

// Patches of 16 pixels, four of them a token: 32 pixels of a side. 40 x 22.5 becomes 40 x 23.
TEST(Encoder, TokensOfAPictureAreCountedByHand) {
  EXPECT_EQ(tokens("qwen3-vl-8b", {.images = 1, .width = 1024, .height = 1024}), 32 * 32);
  EXPECT_EQ(tokens("qwen3-vl-8b", {.images = 2, .width = 1280, .height = 720}), 2 * 40 * 23);
  // Tiles of 336 pixels, 24 x 24 patches, 144 tokens; 3 x 2 tiles and the whole picture.
  EXPECT_EQ(tokens("llama4-scout", {.images = 1, .width = 1000, .height = 600}), 7 * 144);
  EXPECT_EQ(tokens("llama4-scout", {.images = 1, .width = 336, .height = 336}), 144) << "one tile is the whole picture";
  EXPECT_EQ(tokens("internvl3-8b", {.images = 1, .width = 448, .height = 448}), 256);
  // 30 s at 50 positions a second, two of them a token.
  EXPECT_EQ(tokens("qwen2-audio-7b", {.audio_s = 30}), 750);
  EXPECT_EQ(tokens("qwen2-audio-7b", {.audio_s = 31}), 1500) << "a second clip is filled up";
}

TEST(Encoder, LargePicturesAreScaledDownToTheMostTokens) {
  EXPECT_LE(tokens("qwen3-vl-8b", {.images = 1, .width = 20000, .height = 20000}), 16384);
  EXPECT_GT(tokens("qwen3-vl-8b", {.images = 1, .width = 20000, .height = 20000}), 15000);
  EXPECT_EQ(tokens("llama4-scout", {.images = 1, .width = 20000, .height = 20000}), 17 * 144);
}

// n patches through 27 layers: 2 n (4 h^2 + 2 h f) + 4 h n^2 each.
TEST(Encoder, WorkIsCountedByHandAndNeverFasterThanTheDatasheet) {
  const auto e = encoded("qwen3-vl-8b", {.images = 1, .width = 1024, .height = 1024});
  ASSERT_TRUE(e);
  const double h = 1152;
  const double n = 4096;
  EXPECT_EQ(e->patches, n);
  EXPECT_NEAR(e->flops, 27 * (2 * n * (4 * h * h + 2 * h * 4304) + 4 * h * n * n), 1e-6 * e->flops);
  EXPECT_GT(e->seconds, e->flops / 989.4e12);
  EXPECT_LT(e->seconds, 20 * e->flops / 989.4e12);
}

TEST(Encoder, PicturesAreSpreadOverTheDevicesOfAReplica) {
  const MediaLoad eight{.images = 8, .width = 1024, .height = 1024};
  const auto one = encoded("qwen3-vl-32b", eight, 1);
  const auto four = encoded("qwen3-vl-32b", eight, 4);
  ASSERT_TRUE(one && four);
  EXPECT_LT(four->seconds, 0.4 * one->seconds);
  const auto alone = encoded("qwen3-vl-32b", {.images = 1}, 4);
  ASSERT_TRUE(alone);
  EXPECT_EQ(alone->seconds, encoded("qwen3-vl-32b", {.images = 1}, 1)->seconds);
}

TEST(Encoder, ItsTimeComesBeforeEachPromptAndTakesThroughput) {
  InferenceEstimate e;
  e.ttft_s = {0.1, 0.2, 0.3};
  e.output_tokens_per_s = {900, 1000, 1100};
  EncoderEstimate encoder;
  encoder.seconds = 0.1;
  InferenceLoad load;
  load.mode = LoadMode::closed_loop;
  load.osl = 100;  // 10 requests a second: the encoder takes as long as everything else
  add_encoder(e, encoder, load, 1);
  EXPECT_NEAR(e.ttft_s.mid, 0.3, 1e-12);
  EXPECT_NEAR(e.output_tokens_per_s.mid, 500, 1e-9);
}

TEST(Encoder, RefusesModelsThatSeeNothingAndSizesThatAreNone) {
  EXPECT_FALSE(encoded("llama3.1-8b", {.images = 1}));
  EXPECT_FALSE(encoded("qwen3-vl-8b", {.audio_s = 30}));
  EXPECT_FALSE(encoded("qwen3-vl-8b", {}));
  EXPECT_FALSE(encoded("qwen3-vl-8b", {.images = 1, .width = 8, .height = 8}));
}

}  // namespace
}  // namespace ridge
