// Requests as a real engine served them, from its own log, against the simulator.
#include "evidence/predict/trace_replay.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace ridge::evidence {
namespace {

TEST(RecordedTraces, MediansWithinFifteenPercentAndDistributionsWithinAFifth) {
  const std::string data = RIDGE_DATA_DIR;
  const auto catalogue = Catalogue::load({.data_directory = data, .overlays = {}, .price_lists = {}});
  const auto engines = load_engines(data + "/engines");
  const auto calibration = load_calibration(data + "/calibration");
  ASSERT_TRUE(catalogue && engines && calibration);
  const auto all = replay_traces(data + "/evidence/traces", {*catalogue, *engines, *calibration});
  ASSERT_TRUE(all) << all.error().text();
  EXPECT_EQ(all->size(), 6U);
  for (const TraceComparison& c : *all) {
    EXPECT_LE(std::abs(c.error()), 0.15) << c.file << ", " << c.measure;
    EXPECT_LE(c.distance, 0.2) << c.file << ", " << c.measure;
    EXPECT_EQ(c.requests, 300) << c.file;
  }
}

}  // namespace
}  // namespace ridge::evidence
