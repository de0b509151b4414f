#include "ridge/catalogue/engine.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "bundled.hpp"

namespace ridge {
namespace {

const Engines& bundled_engines() {
  static const Engines engines = [] {
    auto loaded = load_engines(std::string(RIDGE_DATA_DIR) + "/engines");
    EXPECT_TRUE(loaded) << loaded.error().text();
    return loaded ? *std::move(loaded) : Engines();
  }();
  return engines;
}

std::string refusal(const std::string& toml) {
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  const std::string folder = ::testing::TempDir() + test->test_suite_name() + "." + test->name();
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/mine.toml") << toml;
  const auto loaded = load_engines(folder);
  return loaded ? "" : loaded.error().text();
}

TEST(EngineData, HasOneMedianPerWork) {
  for (const EngineWork work : {EngineWork::inference, EngineWork::training}) {
    int medians = 0;
    for (const Engine& engine : bundled_engines().all()) medians += engine.work == work && engine.median ? 1 : 0;
    EXPECT_EQ(medians, 1);
  }
}

TEST(EngineData, NamesAreUniquePerWorkAndFamiliesExist) {
  for (const Engine& engine : bundled_engines().all()) {
    for (const std::string& alias : engine.aliases) {
      EXPECT_EQ(bundled_engines().find(alias, engine.work).engine->id, engine.id) << alias;
    }
    EXPECT_EQ(bundled_engines().find(engine.family, engine.work).engine->id, engine.family) << engine.id;
    EXPECT_FALSE(engine.source.empty());
  }
}

TEST(EngineFind, IgnoresCaseAndUnderscores) {
  EXPECT_EQ(bundled_engines().find("Megatron_LM", EngineWork::training).engine->id, "megatron-lm");
  EXPECT_EQ(bundled_engines().find("vLLM", EngineWork::inference).engine->id, "vllm");
}

TEST(EngineFind, AnUnknownNameFallsBackToWhatItStartsWithOrToTheMedian) {
  const EngineMatch longer = bundled_engines().find("vllm-rocm", EngineWork::inference);
  EXPECT_EQ(longer.engine->id, "vllm");
  EXPECT_FALSE(longer.exact);
  const EngineMatch unknown = bundled_engines().find("somebodys-own", EngineWork::training);
  EXPECT_TRUE(unknown.engine->median);
  EXPECT_FALSE(unknown.exact);
  EXPECT_EQ(Engines().find("vllm", EngineWork::inference).engine, nullptr);
}

TEST(EngineFind, TheSameNameMayMeanAnotherEngineForAnotherWork) {
  EXPECT_NE(bundled_engines().find("pytorch", EngineWork::training).engine,
            bundled_engines().find("pytorch", EngineWork::inference).engine);
}

TEST(EngineFind, AnEngineWithoutErasTakesThoseOfItsFamily) {
  const EngineMatch m = bundled_engines().find("tgi", EngineWork::inference, "", "2024-03");
  EXPECT_EQ(m.engine->id, "tgi");
  ASSERT_NE(m.era, nullptr);
  EXPECT_EQ(m.era->id.substr(0, 4), "vllm");
  EXPECT_FALSE(m.exact);
}

TEST(EngineFind, TheEraFollowsVersionThenDateThenTheNewest) {
  const auto era = [](const char* version, const char* date) {
    return bundled_engines().find("vllm", EngineWork::inference, version, date).era;
  };
  const EngineEra* newest = &bundled_engines().find("vllm", EngineWork::inference).engine->eras.back();
  const EngineEra* oldest = &bundled_engines().find("vllm", EngineWork::inference).engine->eras.front();
  EXPECT_EQ(era("", ""), newest);
  EXPECT_EQ(era("v99.0", "2020-01"), newest);
  EXPECT_EQ(era("0.1.2", "2026-08"), oldest);
  EXPECT_EQ(era("", "2020-01"), oldest);
  EXPECT_EQ(era("nightly", ""), newest);
}

TEST(EngineEras, SayWhatTheyDoDifferently) {
  const auto traits = [](const char* date) {
    return bundled_engines().find("megatron-lm", EngineWork::training, "", date).era->training;
  };
  EXPECT_EQ(traits("2021-04").attention, AttentionKernel::unfused);
  EXPECT_FALSE(traits("2021-04").sequence_parallel);
  EXPECT_TRUE(traits("2022-06").sequence_parallel);
  EXPECT_EQ(traits("2024-06").attention, AttentionKernel::native);
}

TEST(YearOf, TakesTheMiddleOfWhatADateSpans) {
  EXPECT_NEAR(year_of("2024"), 2024.5, 1e-9);
  EXPECT_NEAR(year_of("2024-01"), 2024 + 0.5 / 12, 1e-9);
  EXPECT_NEAR(year_of("2023-2024"), 2024.0, 1e-9);
  EXPECT_NEAR(year_of("2022-02-25"), 2022 + (1 + 25 / 31.0) / 12, 1e-9);
  for (const char* text : {"", "soon", "24-01", "2024-13", "2024/01", "2024-1", "2024-01-1x"})
    EXPECT_EQ(year_of(text), 0) << text;
}

TEST(EngineLoad, RefusesWithThePlace) {
  using testing_support::contains;
  EXPECT_TRUE(
      contains(refusal("[[engine]]\nid = \"x\"\nname = \"X\"\nwork = \"training\"\nsource = \"s\"\nfoo = 1\n"), "foo"));
  EXPECT_TRUE(
      contains(refusal("[[engine]]\nid = \"x\"\nname = \"X\"\nwork = \"sport\"\nsource = \"s\"\n"), "mine.toml:4"));
  EXPECT_TRUE(contains(refusal("[[engine]]\nid = \"x\"\nname = \"X\"\nwork = \"training\"\n"), "source"));
  EXPECT_TRUE(contains(refusal("[[motor]]\nid = \"x\"\n"), "[[engine]]"));
  const std::string one = "[[engine]]\nid = \"x\"\nname = \"X\"\nwork = \"training\"\nsource = \"s\"\n";
  EXPECT_TRUE(contains(refusal(one + one), "already"));
  EXPECT_TRUE(contains(
      refusal(one + "[[engine.era]]\nid = \"b\"\nsince = \"2024\"\n[[engine.era]]\nid = \"a\"\nsince = \"2023\"\n"),
      "oldest"));
  EXPECT_EQ(refusal(one), "");
}

}  // namespace
}  // namespace ridge
