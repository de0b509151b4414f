// Probabilities that plans and rankings are made of.
#include "ridge/search/confidence.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace ridge {
namespace {

LogError error_of(const std::string& device, double low = 0.8, double high = 1.3) {
  return time_error({low, 1, high}, {device, "NVIDIA", "vllm", "dense"});
}

TEST(LogError, HasTheIntervalItWasMadeFrom) {
  const LogError error = error_of("a", 0.91, 1.31);
  EXPECT_NEAR(error.factor(0.1), 0.91, 1e-9);
  EXPECT_NEAR(error.factor(error.faster), 1, 1e-12);
  EXPECT_NEAR(error.factor(0.9), 1.31, 1e-9);
  for (const double p : {0.05, 0.3, 0.5, 0.8, 0.95, 0.99}) EXPECT_NEAR(error.probability(error.factor(p)), p, 1e-9);
  EXPECT_LT(error.factor(0.8), error.factor(0.9));
}

// An interval that reaches further up than down is that of a distribution which does.
TEST(LogError, IsMoreOftenSlowerWhereTheIntervalIsLongerUpwards) {
  const LogError error = error_of("a", 0.85, 1.68);
  EXPECT_LT(error.faster, 0.45);
  EXPECT_GT(error.factor(0.5), 1.02);
  EXPECT_NEAR(error.probability(1), error.faster, 1e-12);
  const LogError even = error_of("a", 0.8, 1.25);
  EXPECT_NEAR(even.faster, 0.5, 1e-6);
  EXPECT_NEAR(even.factor(0.5), 1, 1e-6);
  EXPECT_GT(error_of("a", 0.6, 1.1).factor(0.5), 0.8);
  EXPECT_LT(error_of("a", 0.6, 1.1).factor(0.5), 1);
}

// Of a normal distribution with the same 80 %, the 99th percentile is 2.326 / 1.2816 times as far out as the 90th.
TEST(LogError, HasHeavyTails) {
  const LogError error = error_of("a");
  EXPECT_GT(std::log(error.factor(0.99)), 2.0 * std::log(error.factor(0.9)));
}

TEST(LogError, IsSmallerOnceDeviceAndStackAreMeasured) {
  const LogError error = error_of("a");
  const LogError left = error.without(kSettledByARun);
  EXPECT_NEAR(left.sigma() * left.sigma(), 0.55 * error.sigma() * error.sigma(), 1e-12);
  EXPECT_LT(left.factor(0.8), error.factor(0.8));
}

// 0.3² of the device, 0.2² of the software, 0.1² between those who run it, 0.2² of the rest: 0.18 in all.
TEST(LogError, SharesItsVarianceOutAsTheEvidenceDoes) {
  ErrorSubject about{"mi355x", "AMD", "vllm", "dense"};
  about.metric = "output_tok_s/closed-loop";
  about.sure.software = "vllm@cdna4";
  about.sure.device_spread = 0.3;
  about.sure.software_spread = 0.2;
  EffectRest rest;
  rest.metric = "output_tok_s/closed-loop";
  rest.between = 0.1;
  rest.within = 0.2;
  about.sure.rests = {rest};
  const LogError error = time_error({0.7, 1, 1.5}, about);
  EXPECT_NEAR(error.factor(0.9), 1.5, 1e-9);
  const LogError left = error.without(kSettledByARun);
  EXPECT_NEAR(left.sigma() * left.sigma(), error.sigma() * error.sigma() * 0.04 / 0.18, 1e-12);
  // Measured already: another run of the same stack settles little.
  about.sure.own_rows = 5;
  const LogError known = time_error({0.7, 1, 1.5}, about);
  EXPECT_GT(known.without(kSettledByARun).sigma(), 0.9 * known.sigma());
}

TEST(LogError, OfAPredictionWithoutAnIntervalIsNone) {
  const LogError none = time_error({1, 1, 1}, {});
  EXPECT_EQ(none.factor(0.95), 1);
  EXPECT_EQ(none.probability(0.99), 0);
  EXPECT_EQ(none.probability(1), 1);
}

// Both have 0.3² = 0.09 of variance; the step's 0.2² are in the whole's.
TEST(LogError, BeyondIsWhatTheStepDoesNotExplain) {
  const double z = 1.2815515655446004;
  const LogError step = time_error({std::exp(-0.2 * z), 1, std::exp(0.2 * z)}, {});
  const LogError own = beyond(step, {std::exp(-0.3 * z), 1, std::exp(0.3 * z)}, "ttft:a");
  EXPECT_NEAR(own.sigma(), std::sqrt(0.09 - 0.04), 1e-9);
  EXPECT_TRUE(beyond(step, {0.99, 1, 1.01}, "ttft:a").effects.empty());
}

TEST(Race, ProbabilitiesAddUpAndFollowTheOrder) {
  const Race race = run_race({{1.0, error_of("a"), {}}, {1.1, error_of("b"), {}}, {1.5, error_of("c"), {}}});
  EXPECT_NEAR(std::accumulate(race.best.begin(), race.best.end(), 0.0), 1, 1e-9);
  EXPECT_GT(race.best[0], race.best[1]);
  EXPECT_GT(race.best[1], race.best[2]);
  EXPECT_EQ(race.ahead[0], 0.5);
  EXPECT_GT(race.ahead[2], race.ahead[1]);
  EXPECT_GT(race.regret, 0);
  EXPECT_LT(race.regret, 0.1);
}

// What two devices share cancels: two of one vendor are told apart sooner than two that share nothing but the model.
TEST(Race, SharedErrorsMakeADifferenceSurer) {
  const LogError own = error_of("a");
  LogError other = error_of("b");
  const double vendor = run_race({{1, own, {}}, {1.15, other, {}}}).ahead[1];
  for (ErrorPart& effect : other.effects) effect.key += "/other";
  const double stranger = run_race({{1, own, {}}, {1.15, other, {}}}).ahead[1];
  EXPECT_GT(vendor, stranger + 0.02);
  // All of it shared: the cheaper one is cheaper.
  EXPECT_EQ(run_race({{1, own, {}}, {1.001, own, {}}}).ahead[1], 1);
}

TEST(Race, AnUncertainPriceMakesARankLessSure) {
  const LogError a = error_of("a");
  const LogError b = error_of("b");
  LogError price;
  price.effects = {{"price:b", 0.43}};
  EXPECT_GT(run_race({{1, a, {}}, {1.3, b, {}}}).ahead[1], run_race({{1, a, {}}, {1.3, b, price}}).ahead[1] + 0.05);
}

TEST(Race, SharesAPlaceOnlyBelowThreeQuarters) {
  std::vector<Runner> runners;
  for (const double mid : {1.0, 1.02, 1.2, 1.9, 1.95, 4.0}) {
    runners.push_back({mid, error_of("d" + std::to_string(runners.size())), {}});
  }
  const std::vector<Rank> ranks = rank_race(runners);
  ASSERT_EQ(ranks.size(), runners.size());
  for (std::size_t i = 1; i < ranks.size(); ++i) {
    const std::size_t first = static_cast<std::size_t>(ranks[i].place) - 1;
    if (first == i) continue;
    EXPECT_LT(run_race({runners[first], runners[i]}).ahead[1], kToldApart) << i;
  }
  EXPECT_EQ(ranks[1].text(), "1=");
  EXPECT_EQ(ranks[3].text(), "4");
  EXPECT_EQ(ranks[5].text(), "6");
}

TEST(Interval, IsWidenedByAPrice) {
  const Interval wide = widened({0.9, 1, 1.2}, 0.43);
  EXPECT_LT(wide.low, 0.6);
  EXPECT_GT(wide.high, 1.7);
  EXPECT_EQ(widened({0.9, 1, 1.2}, 0).high, 1.2);
}

}  // namespace
}  // namespace ridge
