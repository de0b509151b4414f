#include "evidence/measured/measurement.hpp"

#include <gtest/gtest.h>

namespace ridge::evidence {
namespace {

measure::Profile small() {
  measure::Profile p;
  p.mode = "quick";
  p.date = "2026-11-15T07:40:00Z";
  p.took_seconds = 31.5;
  p.facts.name = "NVIDIA \"H200\"";
  p.facts.multiprocessors = 132;
  p.facts.memory_bytes = 150109880320;
  p.health.watched = true;
  p.health.throttled = {"power limit"};
  p.points.push_back(
      {.op = "gemm", .format = "bf16", .m = 64, .n = 4096, .k = 8192, .seconds = 9.125e-6, .samples = 50});
  p.sustained.push_back({.work = "copy", .seconds = 1e-3, .rate = 4e12, .unit = "B/s", .watts = 475});
  p.steps.push_back({.phase = "decode", .precision = "fp8", .batch = 4, .context = 1024, .seconds = 3.25e-3});
  p.steps.back().operators.push_back({"QKV projection", 1e-4});
  p.skipped.push_back({"gemm fp8", "the device has none"});
  return p;
}

const std::string kHead = "kind = \"measurement\"\nformat = 1\nmode = \"quick\"\ndate = \"2026-11-15\"\n";
const std::string kDevice = "[device]\nname = \"NVIDIA H200\"\n";

std::string refusal(const std::string& text) {
  const auto read = read_measurement(text, "p.toml");
  return read ? "accepted" : read.error().text();
}

TEST(Measurement, WhatIsWrittenReadsBack) {
  const auto read = read_measurement(to_toml(small()), "p.toml");
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->facts.name, "NVIDIA \"H200\"");
  EXPECT_EQ(read->facts.memory_bytes, 150109880320.0);
  ASSERT_EQ(read->points.size(), 1u);
  EXPECT_EQ(read->points[0].k, 8192);
  EXPECT_DOUBLE_EQ(read->points[0].seconds, 9.125e-6);
  EXPECT_EQ(read->points[0].samples, 50);
  EXPECT_EQ(read->health.throttled, std::vector<std::string>{"power limit"});
  ASSERT_EQ(read->steps.size(), 1u);
  EXPECT_EQ(read->steps[0].operators.at(0).what, "QKV projection");
  EXPECT_EQ(read->sustained.at(0).watts, 475);
  EXPECT_EQ(read->skipped.at(0).why, "the device has none");
  EXPECT_EQ(to_toml(*read), to_toml(small()));
}

TEST(Measurement, PassesAndNewcomersReadBack) {
  measure::Profile p = small();
  p.steps.back().phase = "prefill";
  p.steps.back().passes = 4;
  p.health.newcomers = 2;
  const auto read = read_measurement(to_toml(p), "p.toml");
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->steps[0].passes, 4);
  EXPECT_EQ(read->health.newcomers, 2);
  const auto none = read_measurement(to_toml(small()), "p.toml");
  ASSERT_TRUE(none) << none.error().text();
  EXPECT_EQ(none->steps[0].passes, 1);
}

TEST(Measurement, ABrokenFigureIsRefusedWithItsPlace) {
  EXPECT_EQ(refusal(kHead + "point = [\n  { op = \"gemm\", seconds = -1 },\n]\n" + kDevice),
            "p.toml:6:28: 'seconds' has to be a number above 0");
  EXPECT_EQ(refusal(kHead + "point = [\n  { op = \"gem\", seconds = 1 },\n]\n" + kDevice),
            "p.toml:6:10: 'gem' is no operator; did you mean 'gemm'?");
  EXPECT_NE(refusal(kHead + "point = [\n  { op = \"gemm\", second = 1 },\n]\n" + kDevice).find("'seconds' is missing"),
            std::string::npos);
  EXPECT_NE(refusal(kHead + "point = [\n  { op = \"copy\", seconds = 1, size = 1 },\n]\n" + kDevice)
                .find("p.toml:6:31: 'size' is no key of this table"),
            std::string::npos);
}

TEST(Measurement, OtherFilesAreRefused) {
  EXPECT_NE(refusal("[[device]]\nid = \"x\"\n").find("'kind' is missing"), std::string::npos);
  EXPECT_NE(refusal("kind = \"measurement\"\nformat = 2\n").find("profiles of format 1"), std::string::npos);
  EXPECT_NE(refusal(kHead + kDevice).find("nothing was measured"), std::string::npos);
  EXPECT_NE(refusal("kind = ").find("p.toml:1:"), std::string::npos);
}

}  // namespace
}  // namespace ridge::evidence
