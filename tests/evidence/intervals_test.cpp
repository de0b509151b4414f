#include "evidence/calibration/intervals.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace ridge::evidence {
namespace {

std::vector<Residual> spread_evenly(const char* key, const char* resembles, int n) {
  std::vector<Residual> out;
  for (int i = 0; i <= n; ++i) {
    out.push_back({key, resembles, "fold " + std::to_string(i % 4), static_cast<std::size_t>(i),
                   std::log(0.5) + std::log(4.0) * i / n});
  }
  return out;
}

const IntervalClass* find(const std::vector<IntervalClass>& classes, const char* metric, const char* resembles) {
  for (const IntervalClass& c : classes) {
    if (c.metric == metric && c.resembles == resembles) return &c;
  }
  return nullptr;
}

// measured/predicted uniform in the logarithm from 1/2 to 2: the tenth percentile is 4^0.1 / 2.
TEST(Intervals, BoundsAreTheTenthAndNinetiethPercentile) {
  const auto classes = interval_classes(spread_evenly("tpot_ms/closed-loop", "moe", 100));
  const IntervalClass* c = find(classes, "tpot_ms/closed-loop", "moe");
  ASSERT_NE(c, nullptr);
  EXPECT_NEAR(c->low, std::pow(4.0, 0.1) / 2, 1e-3);
  EXPECT_NEAR(c->high, std::pow(4.0, 0.9) / 2, 1e-3);
  EXPECT_EQ(c->rows, 101);
  EXPECT_NE(find(classes, "tpot_ms", "moe"), nullptr);  // for loads without evidence
}

TEST(Intervals, AFewCasesAreNoClass) {
  EXPECT_TRUE(interval_classes(spread_evenly("tpot_ms/closed-loop", "moe", 10), {}, 12).empty());
}

TEST(Intervals, PredictionIsInsideItsIntervalEvenIfAllEvidenceIsAbove) {
  std::vector<Residual> all;
  for (int i = 0; i < 20; ++i) all.push_back({"step_time_s", "dense", "f", 0, 0.1 + 0.01 * i});
  const auto classes = interval_classes(all);
  ASSERT_EQ(classes.size(), 1u);
  EXPECT_EQ(classes[0].low, 1);
  EXPECT_GT(classes[0].high, 1.1);
}

// Two devices, both predicted too low: a third may as well be predicted too high.
TEST(Intervals, ANewDeviceMayBeOffInEitherDirection) {
  std::vector<Residual> all;
  for (int i = 0; i <= 20; ++i) all.push_back({"step_time_s", "new-device", "f", 0, 0.01 * i});
  const auto classes = interval_classes(all);
  ASSERT_EQ(classes.size(), 1u);
  EXPECT_NEAR(classes[0].high, std::exp(0.16), 1e-3);
  EXPECT_NEAR(classes[0].low, std::exp(-0.16), 1e-3);
}

// The fold under test must not widen its own interval: with one wild fold, that fold gets the narrow interval of the
// rest.
TEST(Intervals, ARowIsJudgedByOtherFoldsOnly) {
  const Catalogue catalogue;
  std::vector<Case> cases(2);
  CrossValidation cv;
  cv.by = FoldBy::models;
  cv.folds = {{"tame", 1}, {"wild", 1}};
  for (std::size_t i = 0; i < 2; ++i) {
    cases[i].kind = CaseKind::training;
    cv.rows.push_back({i, Metric::step_time_s, i == 0 ? 1.0 : 10.0, {1, 1, 1}, {}, 1, 1});
    cv.fold_of.push_back(i);
  }
  std::vector<Residual> pool;
  for (int i = 0; i < 20; ++i) {
    pool.push_back({"step_time_s", "dense", "models tame", 0, i % 2 == 0 ? 0.01 : -0.01});
    pool.push_back({"step_time_s", "dense", "models wild", 1, std::log(10.0)});
  }
  apply_intervals(cv, pool, {}, cases, catalogue);
  EXPECT_LT(cv.rows[1].predicted.high, 1.02);
  EXPECT_GT(cv.rows[0].predicted.high, 9);
}

// Eight folds whose centres scatter: bounds of seven hold too little of the eighth, so that the
// tails get shorter. Folds without such scatter need no correction.
TEST(Intervals, BoundsMoveOutWhereFoldsDiffer) {
  std::vector<Residual> apart;
  std::vector<Residual> alike;
  for (int fold = 0; fold < 8; ++fold) {
    for (int i = 0; i < 30; ++i) {
      const double within = (i - 14.5) / 14.5;
      const auto at = static_cast<std::size_t>(30 * fold + i);
      const std::string name = "fold " + std::to_string(fold);
      apart.push_back({"k", "dense", name, at, 0.3 * within + 0.1 * (fold - 3.5)});
      alike.push_back({"k", "dense", name, at, within});
    }
  }
  EXPECT_LT(fair_tails(apart)["dense"], 0.09);
  EXPECT_NEAR(fair_tails(alike)["dense"], 0.1, 1e-9);
}

}  // namespace
}  // namespace ridge::evidence
