#include "evidence/validate/plan_backtest.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "ridge/search/confidence.hpp"

namespace ridge::evidence {
namespace {

constexpr Interval kStated{0.8, 1, 1.3};

/// Training runs that took these times where 1 was predicted.
std::vector<PlanTest> tested(const std::vector<double>& measured, const std::vector<std::string>& sources) {
  std::vector<Case> cases;
  std::vector<ResultRow> rows;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    Case c;
    c.kind = CaseKind::training;
    c.source = sources[i % sources.size()];
    ResultRow r;
    r.case_index = i;
    r.metric = Metric::step_time_s;
    r.measured = measured[i];
    r.predicted = kStated;
    cases.push_back(std::move(c));
    rows.push_back(std::move(r));
  }
  return test_plans(rows, cases);
}

// Times drawn from the stated distribution itself hold as often as is stated.
TEST(PlanTest, AnHonestPredictionHoldsAsOftenAsItSays) {
  const LogError error = time_error(kStated, {});
  std::vector<double> times;
  for (int i = 0; i < 1000; ++i) times.push_back(error.factor((i + 0.5) / 1000));
  const std::vector<PlanTest> tests = tested(times, {"one"});
  ASSERT_EQ(tests.size(), 1u);
  for (std::size_t i = 0; i < kTestedConfidences.size(); ++i) {
    EXPECT_NEAR(tests[0].held[i], kTestedConfidences[i], 0.002);
  }
}

TEST(PlanTest, CountsPublishersOnceWhereAsked) {
  // Three runs of one are fast, one of another is slow.
  const std::vector<PlanTest> tests = tested({0.9, 0.9, 0.9, 2}, {"one", "one", "one", "two"});
  ASSERT_EQ(tests.size(), 1u);
  EXPECT_EQ(tests[0].publishers, 2);
  EXPECT_EQ(tests[0].held[0], 0.75);
  EXPECT_EQ(tests[0].held_evenly[0], 0.5);
}

// A rate below the prediction is a time above it.
TEST(PlanTest, ReadsRatesAsTimes) {
  Case c;
  c.kind = CaseKind::inference;
  c.source = "one";
  c.mode = "offline";
  ResultRow r;
  r.metric = Metric::output_tok_s;
  r.measured = 900;
  r.predicted = {800, 1000, 1100};
  const std::vector<PlanTest> tests = test_plans(std::vector<ResultRow>{r}, std::vector<Case>{c});
  ASSERT_EQ(tests.size(), 2u);
  EXPECT_EQ(tests[0].held[0], 0);
  EXPECT_EQ(tests[0].held[2], 1);
}

}  // namespace
}  // namespace ridge::evidence
