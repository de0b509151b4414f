#include "ridge/catalogue/own_runs.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "ridge/base/file.hpp"
#include "ridge/catalogue/calibration.hpp"

namespace ridge {
namespace {

OwnPoint at(double clients, std::string stack = "vllm-moe", std::string model = "m") {
  return {
      std::move(stack), "h200-sxm", std::move(model), "fp8", "closed-loop", OwnPoint::serving(clients, 1000, 1000, 8)};
}

TEST(OwnRuns, NobodyMeasuredMeansNothingIsKnown) {
  const OwnRuns::Says says = OwnRuns().of(at(16));
  EXPECT_EQ(says.slower, 0);
  EXPECT_EQ(says.left, 1);
  EXPECT_EQ(says.rows, 0);
}

TEST(OwnRuns, AnotherStackLearnsNothing) {
  const OwnRuns runs({{at(16), 0.4}});
  EXPECT_EQ(runs.of(at(16, "sglang-moe")).slower, 0);
  EXPECT_EQ(runs.of(at(16, "sglang-moe")).left, 1);
}

// The farther the load, another model, another mode: the less is believed, and the more is left.
TEST(OwnRuns, WhatIsLikeTheRunLearnsMost) {
  const OwnRuns runs({{at(16), 0.4}});
  const OwnPoint questions[] = {at(16), at(32), at(256), at(256, "vllm-moe", "other")};
  double believed = 0.4;
  double left = 0;
  for (const OwnPoint& q : questions) {
    const OwnRuns::Says says = runs.of(q);
    EXPECT_LT(says.slower, believed);
    EXPECT_GT(says.left, left);
    believed = says.slower;
    left = says.left;
  }
  EXPECT_GT(believed, 0.2);  // what all loads share: 0.04 / 0.0689 of it
}

TEST(OwnRuns, MoreRunsNeverWiden) {
  std::vector<OwnRun> runs;
  double left = 1;
  for (const double clients : {4.0, 64.0, 8.0, 1000.0, 4.0, 4.0}) {
    runs.push_back({at(clients), 0.1});
    const double now = OwnRuns(runs).of(at(32)).left;
    EXPECT_LE(now, left);
    left = now;
  }
  EXPECT_GT(left, 0);
}

// Runs that agree are believed whole, and a load between two of them gets what lies between.
TEST(OwnRuns, ManyRunsThatAgreeAreBelieved) {
  std::vector<OwnRun> runs;
  for (int i = 0; i < 40; ++i) runs.push_back({at(8 + i), -0.5});
  EXPECT_NEAR(OwnRuns(runs).of(at(20)).slower, -0.5, 0.01);
  const OwnRuns two({{at(4), 0.0}, {at(64), 0.4}});
  const double between = two.of(at(16)).slower;
  EXPECT_GT(between, two.of(at(4)).slower);
  EXPECT_LT(between, two.of(at(64)).slower);
}

TEST(OwnRuns, AnOverlayThatIsWrongIsRefusedWithItsPlace) {
  const auto said = [](const std::string& text) {
    const std::string path = testing::TempDir() + "/runs.toml";
    EXPECT_TRUE(write_file_atomically(path, text).ok());
    const std::string overlays[] = {path};
    const auto read = load_calibration(std::string(RIDGE_DATA_DIR) + "/calibration", overlays);
    return read.ok() ? std::string("taken") : read.error().text();
  };
  const std::string head =
      "[[run]]\nstack = \"vllm-moe\"\ndevice = \"h200-sxm\"\nmodel = \"m\"\nformat = \"fp8\"\nmode = \"closed-loop\"\n";
  EXPECT_EQ(said(head + "at = [1, 2, 3, 4, 0]\nslower = 0.2\n"), "taken");
  EXPECT_NE(said(head + "at = [1, 2, 3, 4]\nslower = 0.2\n").find("runs.toml:7"), std::string::npos);
  EXPECT_NE(said(head + "at = [1, 2, 3, 4, 99]\nslower = 0.2\n").find("five logarithms"), std::string::npos);
  EXPECT_NE(said(head + "at = [1, 2, 3, 4, 0]\nslower = 9\n").find("from -5 to 5"), std::string::npos);
  EXPECT_NE(said(head + "at = [1, 2, 3, 4, 0]\nslwer = 0.2\n").find("slower"), std::string::npos);
  EXPECT_NE(said("[[effect]]\ngroup = \"serving\"\n").find("[[run]]"), std::string::npos);
}

}  // namespace
}  // namespace ridge
