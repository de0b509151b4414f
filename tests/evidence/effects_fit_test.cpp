#include "evidence/calibration/effects_fit.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "support/bundle.hpp"

namespace ridge::evidence {
namespace {

using testing_support::bundle;

/// Made-up training rows: `ratio` is measured over predicted.
struct Made {
  std::vector<Case> cases;
  std::vector<ResultRow> rows;

  void add(const char* publisher, const char* device, const char* engine, double ratio) {
    Case c;
    c.kind = CaseKind::training;
    c.source = publisher;
    c.device = device;
    c.engine = engine;
    c.input = TrainingQuery{};
    c.targets = {{Metric::step_time_s, ratio}};
    ResultRow r;
    r.case_index = cases.size();
    r.measured = ratio;
    r.predicted = {0.9, 1.0, 1.1};
    cases.push_back(std::move(c));
    rows.push_back(std::move(r));
  }
  [[nodiscard]] EffectFit fit() const {
    return fit_effects({rows, rows}, cases, bundle().catalogue, bundle().engines, bundle().calibration);
  }
};

Made two_vendors() {
  Made m;
  for (int i = 0; i < 40; ++i) {
    const double noise = std::exp(0.1 * std::sin(7.0 * i));
    m.add(i % 2 == 0 ? "one" : "two", "h100-sxm", "megatron-lm", noise);
    m.add(i % 2 == 0 ? "three" : "four", "gaudi3-oam", "optimum-habana", 1.8 * noise);
  }
  return m;
}

const Effect* find(const Effects& e, std::string_view level, std::string_view key) {
  for (const Effect& x : e.effects()) {
    if (x.level == level && x.key == key) return &x;
  }
  return nullptr;
}

TEST(EffectFit, AChipWithoutKernelsIsShiftedByItsOwnRowsAndOneWithThemIsNot) {
  const Effects e = two_vendors().fit().effects;
  const Effect* gaudi = find(e, "device", "gaudi3-oam");
  const Effect* hopper = find(e, "device", "h100-sxm");
  ASSERT_NE(gaudi, nullptr);
  ASSERT_NE(hopper, nullptr);
  EXPECT_GT(gaudi->mean, 0.25);
  EXPECT_LT(gaudi->mean, std::log(1.8));  // shrunk, and the software has its share
  EXPECT_NEAR(hopper->mean, 0, 0.03);
  EXPECT_EQ(gaudi->rows, 40);
}

TEST(EffectFit, ASiblingThatNobodyMeasuredIsShiftedLessAndIsLessSure) {
  const Effects e = two_vendors().fit().effects;
  const Effect* measured = find(e, "device", "gaudi3-oam");
  const Effect* sibling = find(e, "device", "gaudi2");
  ASSERT_NE(sibling, nullptr);
  EXPECT_GT(sibling->mean, 0);
  EXPECT_LT(sibling->mean, measured->mean);
  EXPECT_GT(sibling->spread, measured->spread);
  EXPECT_EQ(sibling->rows, 0);
}

constexpr double kKnownChip = 0.05;  ///< spread of what the physics was fitted to itself,
constexpr double kSister = 0.12;     ///< of another board of that design; above: of designs without kernels

TEST(EffectFit, FewerRowsAreNeverSurer) {
  std::map<std::string, std::vector<Effect>> kinds;
  const Effects& e = bundle().calibration.effects();
  ASSERT_FALSE(e.empty());
  for (const Effect& x : e.effects()) {
    if (x.level != "device" && x.level != "engine") continue;
    const Device* device = bundle().catalogue.device(x.key);
    const char* kind = device == nullptr || x.spread > kSister ? "" : x.spread < kKnownChip ? " known" : " sister";
    kinds[x.group + x.level + kind].push_back(x);
  }
  for (const auto& [kind, all] : kinds) {
    for (const Effect& a : all) {
      for (const Effect& b : all) {
        if (a.rows < b.rows) {
          EXPECT_GE(a.spread, b.spread) << kind << ": " << a.key << " against " << b.key;
        }
      }
    }
  }
}

// A figure that answers to slowness with three times itself moves as far and is as unsure.
TEST(EffectFit, IntervalsFollowHowAFigureAnswers) {
  Made m = two_vendors();
  const EffectFit plain = m.fit();
  for (ResultRow& r : m.rows) r.response = {3, 3};
  const EffectFit queues = m.fit();
  const auto width = [](const ResultRow& r) { return std::log(r.predicted.high / r.predicted.low); };
  EXPECT_GT(width(queues.folds[0].rows[0]), 2 * width(plain.folds[0].rows[0]));
}

TEST(EffectFit, WhatIsLeftOutTogetherHasNoEffectOfItsOwn) {
  const EffectFit fit = two_vendors().fit();
  ASSERT_EQ(fit.folds.size(), 3U);
  double with_sibling_publisher = 0, without_device = 0;
  for (const ResultRow& r : fit.folds[0].rows)
    with_sibling_publisher = std::max(with_sibling_publisher, r.predicted.mid);
  for (const ResultRow& r : fit.folds[1].rows) without_device = std::max(without_device, r.predicted.mid);
  EXPECT_GT(with_sibling_publisher, 1.2);  // the other publisher's rows on the same chip shift it
  EXPECT_LT(without_device, 1.1);          // with the chip gone too, nothing does
}

}  // namespace
}  // namespace ridge::evidence
