// Faults of a board, from a management library that makes them up (fake_nvml/).
#include "measure/gpu/monitor.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace ridge::measure {
namespace {

class FakeBoard : public ::testing::Test {
 protected:
  static void fault(const char* which) { setenv("RIDGE_FAKE_NVML", which, 1); }
  void TearDown() override { unsetenv("RIDGE_FAKE_NVML"); }
};

TEST_F(FakeBoard, HealthyBoardsHaveNothingToReport) {
  const Monitor monitor("0000:00:00.0");
  ASSERT_TRUE(monitor.available());
  EXPECT_EQ(monitor.driver(), "fake");
  EXPECT_EQ(monitor.read().watts, 300);
  EXPECT_EQ(monitor.read().clock_hz, 1.5e9);
  EXPECT_EQ(spoiling_reason(monitor.read().throttle), "");
  EXPECT_EQ(monitor.other_processes(), 0);
  EXPECT_EQ(monitor.uncorrected_errors(), 0);
}

TEST_F(FakeBoard, HeatSpoilsAFigure) {
  fault("heat");
  const Monitor monitor("0000:00:00.0");
  EXPECT_EQ(spoiling_reason(monitor.read().throttle), "clocks were slowed: thermal, by software");
}

TEST_F(FakeBoard, MemoryErrorsAreCounted) {
  fault("memory");
  const Monitor monitor("0000:00:00.0");
  EXPECT_GE(monitor.uncorrected_errors(), 1);
}

TEST_F(FakeBoard, ProcessesOfOthersAreCounted) {
  fault("process");
  const Monitor monitor("0000:00:00.0");
  EXPECT_EQ(monitor.other_processes(), 1);
}

// Large products reach the power limit on every board: that is named, and spoils nothing.
TEST(ThrottleReasons, ThePowerLimitIsNoFault) {
  EXPECT_EQ(throttle_reasons(0x4), std::vector<std::string>{"power limit"});
  EXPECT_EQ(spoiling_reason(0x4), "");
  EXPECT_EQ(spoiling_reason(0x4 | 0x80), "clocks were slowed: power brake");
}

}  // namespace
}  // namespace ridge::measure
