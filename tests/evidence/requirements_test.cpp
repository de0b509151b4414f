#include "evidence/validate/requirements.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace ridge::evidence {
namespace {

SummaryLine line(Metric metric, const char* mode, double median, double p90, int asked = 10, int predicted = 10) {
  SummaryLine l;
  l.category = {metric, mode, true};
  l.errors.median = median;
  l.errors.p90 = p90;
  l.errors.asked = asked;
  l.errors.predicted = predicted;
  return l;
}

TEST(Requirements, MedianAndP90AreInPercent) {
  const auto r = parse_requirement("output_tok_s@offline<=7.5/23");
  ASSERT_TRUE(r.ok()) << r.error().text();
  const SummaryLine good[] = {line(Metric::output_tok_s, "offline", 0.07, 0.22)};
  const SummaryLine slow_tail[] = {line(Metric::output_tok_s, "offline", 0.07, 0.24)};
  EXPECT_TRUE(check(*r, good)[0].met);
  EXPECT_FALSE(check(*r, slow_tail)[0].met);
}

TEST(Requirements, WithoutAModeEveryModeHasToClearTheBar) {
  const auto r = parse_requirement("output_tok_s<=10/30");
  ASSERT_TRUE(r.ok());
  const SummaryLine lines[] = {line(Metric::output_tok_s, "offline", 0.05, 0.1),
                               line(Metric::output_tok_s, "prefill", 0.2, 0.3),
                               line(Metric::tpot_ms, "prefill", 0.9, 0.9)};
  const auto verdicts = check(*r, lines);
  ASSERT_EQ(verdicts.size(), 2u);
  EXPECT_TRUE(verdicts[0].met);
  EXPECT_FALSE(verdicts[1].met);
}

TEST(Requirements, CoverageIsAtLeast) {
  const auto r = parse_requirement("step_time_s>=97");
  ASSERT_TRUE(r.ok());
  const SummaryLine lines[] = {line(Metric::step_time_s, "", 0.1, 0.2, 100, 97)};
  EXPECT_TRUE(check(*r, lines)[0].met);
  const SummaryLine fewer[] = {line(Metric::step_time_s, "", 0.1, 0.2, 100, 96)};
  EXPECT_FALSE(check(*r, fewer)[0].met);
}

TEST(Requirements, NothingShownMissesTheBar) {
  const auto r = parse_requirement("step_time_s<=6/16");
  ASSERT_TRUE(r.ok());
  EXPECT_FALSE(check(*r, {})[0].met);
  const double nothing = std::numeric_limits<double>::quiet_NaN();
  const SummaryLine lines[] = {line(Metric::step_time_s, "", nothing, nothing, 5, 0)};
  EXPECT_FALSE(check(*r, lines)[0].met);
}

TEST(Requirements, OtherFormsAreRefusedWithAnExample) {
  for (const char* text : {"", "output_tok_s", "speed<=3", "ttft_ms<=x", "ttft_ms<=3/", "ttft_ms>=-1"}) {
    const auto r = parse_requirement(text);
    ASSERT_FALSE(r.ok()) << text;
    EXPECT_NE(r.error().message.find("output_tok_s@offline<=7.5/23"), std::string::npos);
  }
}

}  // namespace
}  // namespace ridge::evidence
