// Moments of cut lengths against sums over draws, and the longest of several.
#include "base/cut_lognormal.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace ridge {
namespace {

TEST(CutLognormal, KeepsTheMeanAfterTheCut) {
  for (const double cv : {0.3, 0.8, 2.0}) {
    const CutLognormal d = cut_lognormal(400, cv, 2048);
    EXPECT_NEAR(d.moment(1), 400, 0.01) << cv;
    EXPECT_GT(d.moment(2), 400 * 400) << cv;
  }
}

TEST(CutLognormal, AgreesWithDraws) {
  const CutLognormal d = cut_lognormal(400, 0.8, 2048);
  const double variance = std::log1p(d.cv * d.cv);
  std::mt19937_64 engine(1);
  std::lognormal_distribution<double> draw(std::log(d.mean) - 0.5 * variance, std::sqrt(variance));
  double squares = 0, longest = 0;
  constexpr int kRounds = 40'000, kTogether = 8;
  for (int i = 0; i < kRounds; ++i) {
    double most = 0;
    for (int k = 0; k < kTogether; ++k) {
      const double length = std::min(draw(engine), 2048.0);
      squares += length * length / kRounds / kTogether;
      most = std::max(most, length);
    }
    longest += most / kRounds;
  }
  EXPECT_NEAR(d.moment(2) / squares, 1, 0.01);
  EXPECT_NEAR(d.longest_of(kTogether) / longest, 1, 0.01);
  EXPECT_NEAR(d.longest_of(1), 400, 0.1);
}

TEST(CutLognormal, OfNoSpreadIsItsMean) {
  const CutLognormal d = cut_lognormal(400, 0, 2048);
  EXPECT_EQ(d.moment(2), 400 * 400);
  EXPECT_EQ(d.longest_of(64), 400);
  EXPECT_EQ(cut_lognormal(2048, 0.8, 2048).longest_of(3), 2048);
}

}  // namespace
}  // namespace ridge
