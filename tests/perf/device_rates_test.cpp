#include <gtest/gtest.h>

#include "kernel_shapes.hpp"

namespace ridge::perf {
namespace {

using testing_support::bundle;
using testing_support::calibration;
using testing_support::rates_of;

TEST(DeviceRates, CopyTheDatasheet) {
  const DeviceRates r = rates_of("b200-sxm-180");
  EXPECT_DOUBLE_EQ(r.peak[static_cast<std::size_t>(Format::nvfp4)], 9e15);
  EXPECT_DOUBLE_EQ(r.memory_bandwidth, 7.7e12);
  EXPECT_EQ(r.cores, 148);
  EXPECT_EQ(r.power_cap, 0);
  EXPECT_TRUE(r.native[static_cast<std::size_t>(Format::nvfp4)]);
  EXPECT_FALSE(r.native[static_cast<std::size_t>(Format::int4)]);
}

TEST(DeviceRates, ADesignThatWasNeverMeasuredTakesItsAncestorsCalibration) {
  EXPECT_EQ(rates_of("h200-sxm").architecture, "hopper");
  EXPECT_EQ(rates_of("gb300-nvl72").architecture, "blackwell");
}

TEST(DeviceRates, ADeviceWithoutPublicFiguresIsRefusedByName) {
  Device nameless = *bundle().catalogue.find_device("h200-sxm");
  nameless.id = "secret-1";
  nameless.memory_bandwidth.reset();
  const auto r = device_rates(nameless, bundle().catalogue, calibration());
  ASSERT_FALSE(r);
  EXPECT_EQ(r.error().code, ErrorCode::refused);
  EXPECT_EQ(r.error().text().rfind("secret-1: no memory bandwidth is public", 0), 0u) << r.error().text();
}

TEST(DeviceRates, ASliceHasItsShare) {
  const DeviceRates whole = rates_of("h200-sxm");
  const DeviceRates slice = rates_of("h200-sxm/mig-3g.71gb");
  EXPECT_NEAR(slice.memory_bandwidth / whole.memory_bandwidth, 0.5, 1e-9);
  const auto bf16 = static_cast<std::size_t>(Format::bf16);
  EXPECT_NEAR(slice.peak[bf16] / whole.peak[bf16], 0.4286, 1e-3);
}

TEST(DeviceRates, WithoutAKnownPowerNothingIsClockedDown) {
  DeviceRates r = rates_of("h200-sxm");
  r.tdp = 0;
  EXPECT_EQ(sustained_clock_share(r, calibration()), 1);
}

}  // namespace
}  // namespace ridge::perf
