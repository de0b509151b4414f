#include "evidence/rows/skewed_routing.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace ridge::evidence {
namespace {

TEST(SkewedRouting, OneRankHasAllPairs) {
  for (const double tokens : {1.0, 8.0, 48.0, 192.0}) {
    EXPECT_NEAR(busiest_rank({.tokens = tokens, .experts = 128, .top_k = 8}).rows, 8 * tokens, 1e-9) << tokens;
  }
}

// One token: every popularity rounds to zero, and the eight pairs go to eight neighbours, which one rank of sixteen
// experts holds.
TEST(SkewedRouting, FewTokensLandOnOneRank) {
  const BusiestRank rank = busiest_rank({.tokens = 1, .experts = 128, .top_k = 8, .ranks = 8});
  EXPECT_NEAR(rank.experts, 8, 1e-9);
  EXPECT_NEAR(rank.rows, 8, 1e-9);
}

// More than an even share and no more than all; fewer experts than tokens drawn evenly would touch, 128
// (1-(1-1/16)^48).
TEST(SkewedRouting, TheBusiestRankHasMoreRowsOnFewerExperts) {
  for (const double ranks : {1.0, 4.0, 8.0}) {
    const BusiestRank rank = busiest_rank({.tokens = 48, .experts = 128, .top_k = 8, .ranks = ranks});
    const double even = 128 / ranks * (1 - std::pow(15.0 / 16, 48));
    EXPECT_GE(rank.rows, 384 / ranks - 1e-9);
    EXPECT_LE(rank.rows, 384);
    EXPECT_LT(rank.experts, even);
    EXPECT_GT(rank.experts, 0.7 * even);
  }
}

// Two experts and one token of two: each has it once, whatever the draw.
TEST(SkewedRouting, NoExpertMeetsATokenTwice) {
  const BusiestRank rank = busiest_rank({.tokens = 1, .experts = 2, .top_k = 2, .ranks = 2});
  EXPECT_NEAR(rank.rows, 1, 1e-9);
  EXPECT_NEAR(rank.experts, 1, 1e-9);
}

TEST(SkewedRouting, NonsenseGivesZeros) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  for (const SkewedRouting& r :
       {SkewedRouting{}, SkewedRouting{1.5, 8, 2, 1}, SkewedRouting{4, 8, 9, 1}, SkewedRouting{4, 8, 2, 3},
        SkewedRouting{kNan, 8, 2, 1}, SkewedRouting{4, 1e12, 2, 1}, SkewedRouting{-4, 8, 2, 1}}) {
    EXPECT_EQ(busiest_rank(r).rows, 0);
    EXPECT_EQ(busiest_rank(r).experts, 0);
  }
}

}  // namespace
}  // namespace ridge::evidence
