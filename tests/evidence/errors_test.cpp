#include "evidence/rows/errors.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace ridge::evidence {
namespace {

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

// Signed errors +10 %, -20 %, +50 %: absolute 0.1 0.2 0.5, median 0.2, p90 at position 1.8: 0.2 + 0.8 * 0.3.
TEST(Errors, MedianP90AndBiasOfThreeCases) {
  const Comparison rows[] = {{100, 110, 90, 130}, {100, 80, 60, 90}, {100, 150, 120, 200}};
  const ErrorSummary s = summarise(rows);
  EXPECT_DOUBLE_EQ(s.median, 0.2);
  EXPECT_NEAR(s.p90, 0.44, 1e-12);
  EXPECT_NEAR(s.bias, 0.1, 1e-12);
  EXPECT_DOUBLE_EQ(s.within_20, 2.0 / 3);  // the bound itself is inside
  EXPECT_DOUBLE_EQ(s.within_30, 2.0 / 3);
}

TEST(Errors, IntervalHoldsIfTheMeasurementIsInside) {
  const Comparison rows[] = {{100, 110, 90, 130}, {100, 80, 60, 90}, {100, 150, 100, 200}};
  EXPECT_DOUBLE_EQ(summarise(rows).held, 2.0 / 3);  // [60, 90] misses 100; [100, 200] holds it
}

TEST(Errors, RefusalsLowerTheCoverageAndNothingElse) {
  const Comparison rows[] = {{100, 110, 90, 130}, {100, kNothing, kNothing, kNothing}};
  const ErrorSummary s = summarise(rows);
  EXPECT_EQ(s.asked, 2);
  EXPECT_EQ(s.predicted, 1);
  EXPECT_DOUBLE_EQ(s.coverage(), 0.5);
  EXPECT_NEAR(s.median, 0.1, 1e-12);
  EXPECT_DOUBLE_EQ(s.held, 1);
}

TEST(Errors, NothingPredictedHasNoMedian) {
  const Comparison rows[] = {{100, kNothing, kNothing, kNothing}};
  EXPECT_TRUE(std::isnan(summarise(rows).median));
  EXPECT_TRUE(std::isnan(summarise({}).p90));
}

// Position q (n - 1) between order statistics: 0.25 * 3 = 0.75 between 1 and 2.
TEST(Errors, QuantileInterpolatesBetweenOrderStatistics) {
  EXPECT_DOUBLE_EQ(quantile({4, 1, 3, 2}, 0.25), 1.75);
  EXPECT_DOUBLE_EQ(quantile({4, 1, 3, 2}, 1), 4);
  EXPECT_DOUBLE_EQ(quantile({7}, 0.9), 7);
}

}  // namespace
}  // namespace ridge::evidence
