#include "ridge/base/random.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <set>
#include <vector>

namespace ridge {
namespace {

using Block = std::array<std::uint32_t, 4>;
constexpr std::uint32_t kOnes = 0xffffffff;

// The known answers that come with Random123 for philox4x32, 10 rounds.
TEST(Philox, GivesThePublishedAnswers) {
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}), (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}),
            (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, DrawsAreTheBlocksOfSeedStreamAndIndex) {
  Random draws(0x299f31d0a4093822, 0x0370734413198a2e);
  for (std::uint32_t index = 0; index < 3; ++index) {
    const Block block = philox4x32({index, 0, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0});
    EXPECT_EQ(draws.bits(), std::uint64_t{block[1]} << 32 | block[0]);
    EXPECT_EQ(draws.bits(), std::uint64_t{block[3]} << 32 | block[2]);
  }
}

TEST(Random, SameSeedAndStreamRepeatOthersDiffer) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    for (std::uint64_t stream = 0; stream < 10; ++stream) {
      Random a(seed, stream), b(seed, stream);
      const std::uint64_t first = a.bits();
      EXPECT_EQ(first, b.bits());
      seen.insert(first);
    }
  }
  EXPECT_EQ(seen.size(), 100u);
}

TEST(Random, CopyGoesOnWhereTheOriginalStood) {
  Random a(7);
  (void)a.bits();  // in the middle of a block
  Random b = a;
  for (int i = 0; i < 5; ++i) EXPECT_EQ(a.bits(), b.bits());
}

// Mean and variance of n draws lie within five standard errors. The variance of the sample variance is
// (kurtosis - 1) * variance^2 / n. Draws are fixed by the seed: the test passes always or never.
void check_moments(double mean, double variance, double kurtosis, const std::function<double(Random&)>& draw) {
  constexpr int kDraws = 200'000;
  Random draws(42, 17);
  double sum = 0, squares = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = draw(draws) - mean;
    sum += x;
    squares += x * x;
  }
  EXPECT_NEAR(sum / kDraws, 0, 5 * std::sqrt(variance / kDraws));
  EXPECT_NEAR(squares / kDraws, variance, 5 * variance * std::sqrt((kurtosis - 1) / kDraws));
}

TEST(Random, UniformHasMeanHalfAndVarianceTwelfth) {
  check_moments(0.5, 1 / 12.0, 1.8, [](Random& r) { return r.uniform(); });
}

TEST(Random, ExponentialHasMeanAndVarianceOne) {
  check_moments(1, 1, 9, [](Random& r) { return r.exponential(); });
}

TEST(Random, NormalHasMeanZeroAndVarianceOne) {
  check_moments(0, 1, 3, [](Random& r) { return r.normal(); });
}

TEST(Random, GammaHasMeanAndVarianceOfItsShape) {
  for (const double shape : {0.1, 0.5, 1.0, 2.5, 40.0}) {
    check_moments(shape, shape, 3 + 6 / shape, [=](Random& r) { return r.gamma(shape); });
  }
}

TEST(Random, BelowHasTheMomentsOfADie) {
  // n equally likely values: mean (n - 1) / 2, variance (n^2 - 1) / 12; kurtosis of a die 3 - 1.2 (n^2 + 1)/(n^2 - 1)
  check_moments(2.5, 35 / 12.0, 3 - 1.2 * 37 / 35, [](Random& r) { return static_cast<double>(r.below(6)); });
}

// The Kolmogorov-Smirnov distance of n draws stays below 1.95 / sqrt(n) with 99.9 % probability.
void check_distribution(const std::function<double(double)>& cumulative, const std::function<double(Random&)>& draw) {
  constexpr int kDraws = 50'000;
  Random draws(3, 1);
  std::multiset<double> sorted;
  for (int i = 0; i < kDraws; ++i) sorted.insert(draw(draws));
  double distance = 0;
  int i = 0;
  for (const double x : sorted) {
    const double expected = cumulative(x);
    distance =
        std::max({distance, std::abs(expected - i / double{kDraws}), std::abs(expected - (i + 1) / double{kDraws})});
    ++i;
  }
  EXPECT_LT(distance, 1.95 / std::sqrt(double{kDraws}));
}

TEST(Random, DrawsFollowTheirDistributionFunctions) {
  check_distribution([](double x) { return x; }, [](Random& r) { return r.uniform(); });
  check_distribution([](double x) { return 1 - std::exp(-x); }, [](Random& r) { return r.exponential(); });
  check_distribution([](double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; }, [](Random& r) { return r.normal(); });
  // Gamma of shape 1/2 is half the square of a normal, of shape 2 it is 1 - (1 + x) e^-x.
  check_distribution([](double x) { return std::erf(std::sqrt(x)); }, [](Random& r) { return r.gamma(0.5); });
  check_distribution([](double x) { return 1 - (1 + x) * std::exp(-x); }, [](Random& r) { return r.gamma(2); });
}

TEST(Random, UniformStaysInItsHalfOpenInterval) {
  Random draws(1);
  for (int i = 0; i < 100'000; ++i) {
    const double u = draws.uniform();
    ASSERT_TRUE(u >= 0 && u < 1);
  }
}

TEST(Random, BelowStaysBelowAndReachesEverything) {
  Random draws(5);
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(draws.below(7));
  EXPECT_EQ(seen.size(), 7u);
  EXPECT_EQ(*seen.rbegin(), 6u);
  EXPECT_EQ(draws.below(1), 0u);
}

// n = 3 * 2^62: four 64-bit words for every three results, so that without drawing again results divisible by 3 would
// come twice as often as others.
TEST(Random, BelowIsUnbiasedForLargeRanges) {
  Random draws(6);
  const std::uint64_t n = std::uint64_t{3} << 62;
  int thirds[3] = {};
  constexpr int kDraws = 30'000;
  for (int i = 0; i < kDraws; ++i) {
    const std::uint64_t x = draws.below(n);
    ASSERT_LT(x, n);
    ++thirds[x % 3];
  }
  for (const int count : thirds) EXPECT_NEAR(count, kDraws / 3, 5 * std::sqrt(kDraws * 2 / 9.0));
}

}  // namespace
}  // namespace ridge
