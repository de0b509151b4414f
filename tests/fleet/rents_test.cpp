// Whole replicas by the hour, and plans made better by small changes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "fleet/checker.hpp"
#include "fleet/program/improve.hpp"
#include "fleet/program/mixes.hpp"
#include "fleet/program/program.hpp"
#include "fleet/program/rent_steps.hpp"
#include "fleet/random_problem.hpp"
#include "fleet/tidy.hpp"

namespace ridge::fleet {
namespace {

/// The cheapest of all numbers of two kinds, and the rest elsewhere.
double by_trying_all(const std::vector<RentSteps::Kind>& kinds, double elsewhere, double rate) {
  double least = kNoLimit;
  for (int a = 0; a <= 40; ++a) {
    for (int b = 0; b <= 40; ++b) {
      const double left = rate - a * kinds[0].able - b * kinds[1].able;
      const double rest = left > 1e-12 ? left * elsewhere : 0;
      if (left <= 1e-12 || std::isfinite(elsewhere))
        least = std::min(least, a * kinds[0].usd + b * kinds[1].usd + rest);
    }
  }
  return least;
}

TEST(Rents, StepsBoundAndReachTheCheapestWholeReplicas) {
  Random random(3, 1);
  for (int i = 0; i < 60; ++i) {
    const std::vector<RentSteps::Kind> kinds = {{1 + 4 * random.uniform(), 1 + 5 * random.uniform()},
                                                {1 + 4 * random.uniform(), 1 + 5 * random.uniform()}};
    const double elsewhere = i % 2 == 0 ? kNoLimit : 1 + 3 * random.uniform();
    const RentSteps steps(kinds, elsewhere, 30);
    for (int j = 0; j < 20; ++j) {
      const double rate = 30 * random.uniform();
      const double right = by_trying_all(kinds, elsewhere, rate);
      EXPECT_LE(steps.least(rate), right + 1e-9);
      EXPECT_GE(steps.least(rate), by_trying_all(kinds, elsewhere, std::max(0.0, rate - 0.2)) - 1e-9);
      EXPECT_GE(steps.enough(rate), right - 1e-9);
      const std::vector<int> counts = steps.choose(rate);
      const double usd = counts[0] * kinds[0].usd + counts[1] * kinds[1].usd;
      const double left = rate - counts[0] * kinds[0].able - counts[1] * kinds[1].able;
      if (elsewhere == kNoLimit) {
        EXPECT_LE(left, 1e-9);
      }
      EXPECT_LE(usd + (left > 0 && std::isfinite(elsewhere) ? left * elsewhere : 0), steps.enough(rate) + 0.1);
    }
  }
}

TEST(Rents, ManySmallReplicasAreFoundToo) {
  // A replica does a fraction of a cell: of 30,000 requests/s, 60,000 replicas of the cheaper kind.
  const RentSteps steps({{0.5, 1}, {0.4, 1}}, kNoLimit, 30000);
  const std::vector<int> counts = steps.choose(30000);
  EXPECT_NEAR(counts[0], 60000, 1);
  EXPECT_EQ(counts[1], 0);
  EXPECT_LT(steps.enough(30000), 1.3 * 60000);
}

TEST(Rents, LinesLieBelow) {
  const std::vector<double> x = {0, 1, 2, 3, 4};
  const std::vector<double> y = {10, 9, 4, 3.5, 0};
  const std::vector<LineBelow> lines = lines_below(x, y);
  ASSERT_FALSE(lines.empty());
  for (const LineBelow& line : lines) {
    double nearest = kNoLimit;
    for (std::size_t i = 0; i < x.size(); ++i) {
      EXPECT_LE(line.height - line.slope * x[i], y[i] + 1e-12);
      nearest = std::min(nearest, y[i] - (line.height - line.slope * x[i]));
    }
    EXPECT_NEAR(nearest, 0, 1e-12);
  }
}

TEST(Rents, SumsOfOneKindAreExact) {
  CheapestSums sums(100, 1000);
  sums.take(7.3, 2);
  for (std::size_t i = 1; i < sums.last(); ++i) {
    if (!std::isfinite(sums.usd(i))) continue;
    EXPECT_NEAR(sums.able(i), 7.3 * std::round(sums.usd(i) / 2), 1e-9);
  }
  EXPECT_EQ(sums.usd(sums.last()), 28);  // 14 do 102
}

TEST(Rents, RowsOfWholeReplicasRaiseTheBoundAndCutNoPlanOff) {
  const Problem problem = tests::large_problem(5, 4, 4, 4, 1);
  Program program(problem, Bands::alike(problem, 2, BandDemand::mean));
  const Solution relaxed = solve(program.linear(), {.relaxed = true});
  const int rows = program.linear().rows();
  const Solution tight = program.tighten({.seconds = 60});
  ASSERT_TRUE(relaxed.found && tight.found);
  EXPECT_GT(program.linear().rows(), rows);
  EXPECT_GT(tight.cost, 1.002 * relaxed.cost);
  const Answer answer = plan_fleet(problem, {.seconds = 8, .gap = 0.02, .marginals = false, .bands = 2});
  ASSERT_TRUE(answer.found);
  EXPECT_LE(tight.cost, answer.usd);
}

TEST(Improve, TakesTheWholeNumbersOfAnAnswer) {
  const Problem problem = tests::large_problem(5, 4, 4, 4, 1);
  const Answer answer = plan_fleet(problem, {.seconds = 8, .gap = 0.05, .marginals = false, .bands = 2});
  ASSERT_TRUE(answer.found);
  const Program hourly(problem, Bands::hourly(problem));
  const Solution routed = solve_tidied(hourly.fixed_to(whole_plan_of(problem, hourly.places(), answer)), {});
  ASSERT_TRUE(routed.found);
  EXPECT_NEAR(routed.cost, answer.usd, 1e-6 * answer.usd);
}

TEST(Improve, MakesARoundedPlanCheaperAndKeepsEveryRule) {
  const Problem problem = tests::large_problem(5, 4, 4, 4, 1);
  const Program program(problem, Bands::alike(problem, 2, BandDemand::mean));
  const Solution relaxed = solve(program.linear(), {.relaxed = true});
  ASSERT_TRUE(relaxed.found);
  const Solution near = solve(program.rounded(relaxed.x), {.seconds = 20, .gap = 0.01});
  ASSERT_TRUE(near.found);
  const Program hourly(problem, Bands::hourly(problem));
  const WholePlan before = program.whole(near.x);
  const Solution first = solve_tidied(hourly.fixed_to(before), {});
  ASSERT_TRUE(first.found);
  const Answer answer = hourly.answer(first.x);
  const WholePlan after = improved(problem, hourly.places(), before, answer.jobs, {.seconds = 60});
  const Solution second = solve_tidied(hourly.fixed_to(after), {});
  ASSERT_TRUE(second.found);
  EXPECT_LT(second.cost, 0.99 * first.cost);
  EXPECT_GE(second.cost, relaxed.cost * (1 - 1e-6));
}

TEST(Improve, AnswersOfSmallFleetsHoldWhatTheyPromise) {
  const Problem problem = tests::large_problem(6, 4, 4, 4, 1);
  const Answer answer = plan_fleet(problem, {.seconds = 8, .gap = 0, .marginals = false, .bands = 2});
  ASSERT_TRUE(answer.found);
  const tests::Checker checker(problem, answer);
  EXPECT_TRUE(checker.complaints().empty()) << checker.complaints().front();
  EXPECT_LE(answer.bound, answer.usd);
  EXPECT_LT(answer.gap, 0.15);  // whatever the machine does in its eight seconds
}

TEST(Mixes, DownhillEndsNearTheCheapestOfAllMixes) {
  Problem problem = tests::large_problem(9, 1, 3, 1, 0.2);
  problem.services[0].spare = 1;
  const std::vector<Place> places = Program(problem, Bands::hourly(problem)).places();
  MixSearch all(problem, places);
  MixSearch downhill(problem, places);
  const std::vector<double> prices(problem.pools.size(), 1500);
  std::vector<int> mix(places.size(), 0);
  mix[0] = 2;  // one of which may fail
  downhill.consider(0, 0, mix);
  const double found = downhill.price(0, 0, prices, 1, {0});
  // Up to four of three places each; every mix by itself.
  ASSERT_GE(places.size(), 3U);
  for (int i = 0; i < 125; ++i) {
    mix[0] = i % 5;
    mix[1] = i / 5 % 5;
    mix[2] = i / 25;
    all.consider(0, 0, mix);
  }
  all.price(0, 0, prices, 1, {});
  double least = kNoLimit;
  for (const WholeMix& each : all.mixes(0, 0)) least = std::min(least, each.reduced);
  EXPECT_LE(found, 1.05 * least);
  double again = kNoLimit;
  for (const WholeMix& each : downhill.mixes(0, 0)) again = std::min(again, each.reduced);
  EXPECT_NEAR(again, found, 1e-6 * found);
}

TEST(Mixes, APlanOfMixesKeepsEveryRuleAndBeatsRounding) {
  const Problem problem = tests::large_problem(5, 4, 4, 4, 1);
  Program program(problem, Bands::alike(problem, 2, BandDemand::mean));
  const Solution tight = program.tighten({.seconds = 60});
  ASSERT_TRUE(tight.found);
  const std::optional<WholePlan> plan =
      program.of_mixes(tight, nullptr, program.answer(tight.x).jobs, {.seconds = 60, .gap = 0.005});
  ASSERT_TRUE(plan.has_value());
  const Program hourly(problem, Bands::hourly(problem));
  const Solution routed = solve_tidied(hourly.fixed_to(*plan), {});
  ASSERT_TRUE(routed.found);
  EXPECT_GE(routed.cost, tight.cost);
  EXPECT_LT(routed.cost, 1.05 * tight.cost);
  const Solution near = solve(program.rounded(tight.x), {.seconds = 20, .gap = 0.01});
  ASSERT_TRUE(near.found);
  const Solution rounded = solve_tidied(hourly.fixed_to(program.whole(near.x)), {});
  ASSERT_TRUE(rounded.found);
  EXPECT_LT(routed.cost, rounded.cost);
}

}  // namespace
}  // namespace ridge::fleet
