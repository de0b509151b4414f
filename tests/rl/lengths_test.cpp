// Lengths of answers: what is said is what is drawn, and what cannot be is refused.
#include <gtest/gtest.h>

#include <cmath>

#include "ridge/rl/rl.hpp"

namespace ridge {
namespace {

double drawn_mean(const LengthDistribution& d) {
  Random draws(7);
  double sum = 0;
  constexpr int kDraws = 200'000;
  for (int i = 0; i < kDraws; ++i) sum += d.draw(draws);
  return sum / kDraws;
}

TEST(AnswerLengths, KeepTheirMeanAfterTheCut) {
  for (const double mean : {200.0, 1000.0, 2500.0, 3600.0}) {
    const auto d = distribution_of({.mean = mean, .cv = 0.8, .most = 4096});
    ASSERT_TRUE(d);
    EXPECT_NEAR(drawn_mean(*d), mean, 0.01 * mean);
    EXPECT_NEAR(moments_of(*d, 0).mean, mean, 0.01 * mean);
  }
}

TEST(AnswerLengths, WeighTheLongOnesInAttention) {
  const auto even = distribution_of({.mean = 1000, .cv = 0, .most = 4096});
  const auto spread = distribution_of({.mean = 1000, .cv = 0.8, .most = 1e6});
  EXPECT_NEAR(moments_of(*even, 0).weighted, 1000, 1);
  EXPECT_NEAR(moments_of(*spread, 0).weighted, 1000 * (1 + 0.8 * 0.8), 30);  // E[L²]/E[L] = mean (1 + cv²)
  EXPECT_NEAR(moments_of(*even, 500).weighted, 1500, 1);
}

TEST(AnswerLengths, OfSharesAreEvenWithinEach) {
  const auto shares = parse_length_shares("1000:0.5,3000:0.5");
  ASSERT_TRUE(shares);
  const auto d = distribution_of({.shares = *shares});
  ASSERT_TRUE(d);
  EXPECT_NEAR(drawn_mean(*d), 0.5 * 500 + 0.5 * 2000, 15);
}

TEST(AnswerLengths, ThatDoNotAddUpAreRefusedWithWhatIsMissing) {
  const auto short_of = parse_length_shares("512:0.5,2048:0.3");
  ASSERT_FALSE(short_of);
  EXPECT_NE(short_of.error().message.find("0.8"), std::string::npos);
  EXPECT_NE(short_of.error().message.find("0.2"), std::string::npos);
  EXPECT_FALSE(parse_length_shares("512:0.7,2048:0.7"));
  EXPECT_FALSE(parse_length_shares("2048:0.5,512:0.5"));  // unsorted
  EXPECT_FALSE(parse_length_shares("512"));
  EXPECT_FALSE(parse_length_shares(""));
  EXPECT_FALSE(parse_length_shares("a:b"));
}

TEST(AnswerLengths, BeyondTheirCutAreRefused) {
  EXPECT_FALSE(distribution_of({.mean = 5000, .most = 4096}));
  EXPECT_FALSE(distribution_of({.mean = 100, .cv = -1}));
  EXPECT_FALSE(distribution_of({.mean = 100, .most = 0}));
  EXPECT_TRUE(distribution_of({.mean = 4096, .most = 4096}));
}

}  // namespace
}  // namespace ridge
