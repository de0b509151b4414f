#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>

#include "fleet/brute_force.hpp"
#include "fleet/checker.hpp"
#include "fleet/random_problem.hpp"
#include "fleet/solver.hpp"
#include "ridge/fleet.hpp"

namespace ridge::fleet {
namespace {

using tests::BruteForce;
using tests::Checker;
using tests::large_problem;
using tests::small_problem;

std::string all_of(const std::vector<std::string>& complaints) {
  std::string out;
  for (const std::string& c : complaints) out += c + "\n";
  return out;
}

TEST(Solver, FindsWholeNumbers) {
  // 3 x + 2 y >= 7 at 5 and 4 a piece: one x and two y for 13; two x and one y take 14, three x 15.
  LinearProgram p;
  const int x = p.column(5, 0, 10, true);
  const int y = p.column(4, 0, 10, true);
  p.row(7, kNoLimit, {{x, 3}, {y, 2}});
  const Solution s = solve(p, {});
  ASSERT_TRUE(s.found);
  EXPECT_NEAR(s.cost, 13, 1e-9);
  EXPECT_NEAR(s.bound, 13, 1e-6);
  const Solution relaxed = solve(p, {.relaxed = true});
  EXPECT_NEAR(relaxed.cost, 35.0 / 3, 1e-9);
  EXPECT_NEAR(relaxed.price[0], 5.0 / 3, 1e-9);
}

TEST(Solver, SaysThatNothingSolvesIt) {
  LinearProgram p;
  const int x = p.column(1, 0, 2, true);
  p.row(3, kNoLimit, {{x, 1}});
  EXPECT_TRUE(solve(p, {}).infeasible);
  EXPECT_TRUE(solve(p, {.relaxed = true}).infeasible);
}

TEST(Fleet, EqualsBruteForceOnTwoHundredEstates) {
  int compared = 0;
  int infeasible = 0;
  for (std::uint64_t seed = 1; compared < 200; ++seed) {
    const Problem problem = small_problem(seed);
    BruteForce brute(problem);
    if (brute.choices() > 3e4) continue;
    ++compared;
    const double least = brute.least();
    const Answer answer = plan_fleet(problem, {.seconds = 20, .gap = 0, .marginals = false});
    ASSERT_EQ(answer.found, std::isfinite(least)) << "seed " << seed << ", by trying all: " << least;
    if (!answer.found) {
      ++infeasible;
      continue;
    }
    EXPECT_NEAR(answer.usd, least, 1e-5 * least) << "seed " << seed;
    EXPECT_LE(answer.bound, least * (1 + 1e-6)) << "seed " << seed;
    const Checker checker(problem, answer);
    EXPECT_TRUE(checker.complaints().empty()) << "seed " << seed << "\n" << all_of(checker.complaints());
  }
  EXPECT_GT(infeasible, 3);
  EXPECT_LT(infeasible, 120);
}

TEST(Fleet, TenModelsTwelveKindsAYearByTheHourToOnePercent) {
  const Problem problem = large_problem(3, 10, 12, 12, 1);
  const auto start = std::chrono::steady_clock::now();
  const Answer answer = plan_fleet(problem, {.seconds = 55, .gap = 0.01, .marginals = false});
  const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  ASSERT_TRUE(answer.found);
  const Checker checker(problem, answer);
  EXPECT_TRUE(checker.complaints().empty()) << all_of(checker.complaints());
  EXPECT_LE(answer.gap, 0.01);
  RecordProperty("seconds", fmt::format("{:.1f}", took));
  RecordProperty("gap", fmt::format("{:.4f}", answer.gap));
  fmt::print("10 models x 12 kinds x 24 h x 12 months: {:.1f} s, gap {:.3f} %, {} bands, ${:.0f}\n", took,
             100 * answer.gap, answer.bands, answer.usd);
}

}  // namespace
}  // namespace ridge::fleet
