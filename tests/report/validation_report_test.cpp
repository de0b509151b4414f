#include "report/evidence/validation_report.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace ridge::report {
namespace {

using evidence::Case;
using evidence::CaseKind;
using evidence::Metric;
using evidence::ResultRow;

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

std::vector<Case> cases(int n) {
  std::vector<Case> out;
  for (int i = 0; i < n; ++i) {
    Case c;
    c.id = "row-" + std::to_string(i);
    c.kind = CaseKind::training;
    c.device = i % 2 == 0 ? "h100-sxm" : "b200-sxm-180";
    out.push_back(std::move(c));
  }
  return out;
}

// Row i is predicted i times too high.
std::vector<ResultRow> rows(int n) {
  std::vector<ResultRow> out;
  for (int i = 0; i < n; ++i) {
    const double p = 1.0 + i;
    out.push_back({static_cast<std::size_t>(i), Metric::step_time_s, 1, {p / 2, p, p * 2}, {}, kNothing, kNothing});
  }
  return out;
}

TEST(ValidationReport, EachFigureSaysWhetherItsIntervalHoldsIt) {
  auto some = rows(4);  // measured 1; predicted 1, 2, 3, 4 from half to twice
  some[3].predicted = {kNothing, kNothing, kNothing};
  const Table table = case_table(cases(4), some);
  ASSERT_EQ(table.rows.size(), 4U);
  EXPECT_EQ(table.rows[0].back().text(), "yes");
  EXPECT_EQ(table.rows[2].back().text(), "below") << "1 is below 1.5";
  EXPECT_EQ(table.rows[2][4].text(), "0.33");
  EXPECT_EQ(table.rows[3].back().text(), "not predicted");
}

// A time above its interval is worse, a rate above it better.
TEST(ValidationReport, SaysHowManyFiguresAreAsPredicted) {
  auto some = rows(4);
  some[3].predicted = {kNothing, kNothing, kNothing};  // counts for nothing
  some.push_back({0, Metric::output_tok_s, 9, {1, 2, 3}, {}, kNothing, kNothing});
  some.push_back({0, Metric::ttft_ms, 9, {1, 2, 3}, {}, kNothing, kNothing});
  EXPECT_EQ(cases_text(some), "2 of 5 figures are as predicted (inside the interval), 2 are better, 1 is worse.");
  EXPECT_EQ(cases_text(rows(1)), "1 of 1 figure is as predicted (inside the interval), none is better, none is worse.");
  EXPECT_EQ(cases_text({}), "");
}

TEST(ValidationReport, WorstComeFirstOncePerCase) {
  auto all = rows(12);
  all.push_back({11, Metric::power_w, 1, {50, 50, 50}, {}, kNothing, kNothing});  // the same case, another figure
  const auto worst_rows = worst(all, 3);
  ASSERT_EQ(worst_rows.size(), 3u);
  EXPECT_EQ(worst_rows[0].case_index, 11u);
  EXPECT_EQ(worst_rows[0].metric, Metric::power_w);
  EXPECT_EQ(worst_rows[1].case_index, 10u);
}

TEST(ValidationReport, FiguresColourByDeviceAlike) {
  const auto all = cases(12);
  const auto figures = scatters(all, rows(12));
  ASSERT_EQ(figures.size(), 1u);
  EXPECT_EQ(figures[0].series.size(), 2u);
  EXPECT_EQ(figures[0].points.size(), 12u);
  EXPECT_NE(figures[0].series[0].style, figures[0].series[1].style);
  EXPECT_EQ(figures[0].axis, "s");
}

TEST(ValidationReport, PageExplainsTheWorstAndListsWhatLooksWrong) {
  const Catalogue catalogue;
  const Calibration calibration;
  const auto all = cases(12);
  const auto found = rows(12);
  ValidationFindings f{all, found, {}, {}, catalogue, calibration, {}};
  f.explanations["row-11"] = {"evidence", "a regression"};
  f.explanations["row-10"] = {"physics", "no overlap"};
  const std::string page = accuracy_markdown(f);
  EXPECT_NE(page.find("evidence: a regression"), std::string::npos);
  EXPECT_NE(page.find("physics: no overlap"), std::string::npos);
  EXPECT_NE(page.find("not explained yet"), std::string::npos);
  const std::size_t suspects = page.find("## Rows that look wrong");
  ASSERT_NE(suspects, std::string::npos);
  EXPECT_NE(page.find("row-11", suspects), std::string::npos);
  EXPECT_EQ(page.find("row-10", suspects), std::string::npos);
}

TEST(ValidationReport, PageTellsWhatMeasuredDevicesGain) {
  const Catalogue catalogue;
  const Calibration calibration;
  ValidationFindings f{{}, {}, {}, {}, catalogue, calibration, {}};
  EXPECT_EQ(accuracy_markdown(f).find("## Devices that were measured"), std::string::npos);
  f.measured.push_back({.device = "chip",
                        .date = "2026-11-15",
                        .driver = "580",
                        .models = {"small", "large"},
                        .points = {{"gemm bf16", 7, 0.061, 0.15, 0.021, 0.09}},
                        .steps = {{"all", 9, 0.1, 0.2, 0.008, 0.054}}});
  const std::string page = accuracy_markdown(f);
  EXPECT_NE(page.find("### chip, 2026-11-15, driver 580"), std::string::npos);
  EXPECT_NE(page.find("Whole steps of small, large"), std::string::npos);
  EXPECT_NE(page.find("| all | 9 | 10.0 | 20.0 | 0.8 | 5.4 |"), std::string::npos);
  EXPECT_NE(page.find("| gemm bf16 | 7 | 6.1 | 15.0 | 2.1 | 9.0 |"), std::string::npos);
  f.measured[0].steps.clear();
  EXPECT_EQ(accuracy_markdown(f).find("Whole steps"), std::string::npos);
}

TEST(ValidationReport, ExplanationsNameACauseAndAnIdOnce) {
  EXPECT_TRUE(read_explanations("id,cause,explanation\na,physics,x\n", "e.csv").ok());
  const auto other = read_explanations("id,cause,explanation\na,weather,x\n", "e.csv");
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().where, "e.csv:2:3");
  EXPECT_FALSE(read_explanations("id,cause,explanation\na,physics,x\na,physics,y\n", "e.csv").ok());
}

TEST(ValidationReport, IntervalsAreCountedByClass) {
  const Catalogue catalogue;
  const auto all = cases(4);
  const ValidationFindings::LeftOut left_out[] = {{"devices", rows(4)}};  // [p/2, 2p] holds 1 for p = 1 and 2 only
  const Table table = interval_table(left_out, all, catalogue);
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[1][0].text(), "new device");
  EXPECT_DOUBLE_EQ(table.rows[1][2].mid(), 0.5);
}

}  // namespace
}  // namespace ridge::report
