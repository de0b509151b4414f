#include "ridge/base/quantity.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <type_traits>

namespace ridge {
namespace {

// The algebra is checked while compiling; what must not compile is in tests/compile_fail.
static_assert(std::is_same_v<decltype(bytes(1) / seconds(1)), BytesPerSecond>);
static_assert(std::is_same_v<decltype(bytes(1) / (bytes(1) / seconds(1))), Seconds>);
static_assert(std::is_same_v<decltype(bytes(1) / bytes(1)), double>);
static_assert(std::is_same_v<decltype(watts(1) * seconds(1)), Joules>);
static_assert(std::is_same_v<decltype(1.0 / seconds(1)), Hertz>);
static_assert(std::is_same_v<decltype(dollars(1) / Gpus(1) / hours(1)), GpuRent>);
static_assert(std::is_same_v<decltype(GpuRent(1) * Gpus(1)), DollarsPerSecond>);
static_assert(sizeof(Bytes) == sizeof(double) && std::is_trivially_copyable_v<Bytes>);
static_assert(!std::is_convertible_v<double, Bytes> && !std::is_convertible_v<Bytes, double>);

TEST(Quantity, DefaultIsZero) {
  EXPECT_EQ(Bytes().value(), 0);
}

TEST(Quantity, ProductsAndQuotientsFollowTheNumbers) {
  EXPECT_EQ((gigabytes(141) / (gigabytes(4700) / seconds(1))).value(), 0.03);
  EXPECT_EQ((watts(700) * hours(2)).value(), 700 * 7200.0);
  EXPECT_EQ(gibibytes(1) / bytes(1024), 1048576.0);
  EXPECT_EQ((2.0 / microseconds(1)).value(), 2e6);
}

TEST(Quantity, SumsDifferencesAndFactorsStayInTheirDimension) {
  Seconds t = seconds(3) - seconds(1) + -seconds(0.5);
  t += seconds(1);
  t *= 4;
  t -= seconds(2);
  t /= 2;
  EXPECT_EQ(t, seconds(4));
  EXPECT_EQ(2 * t, t * 2);
}

TEST(Quantity, ComparesLikeItsNumber) {
  EXPECT_LT(bytes(1), bytes(2));
  EXPECT_GE(bytes(2), bytes(2));
  EXPECT_NE(bytes(1), bytes(2));
  EXPECT_FALSE(bytes(std::numeric_limits<double>::quiet_NaN()) <= bytes(1));
}

}  // namespace
}  // namespace ridge
