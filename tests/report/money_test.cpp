#include <gtest/gtest.h>

#include <cmath>

#include "report/chart/money_charts.hpp"
#include "report/cost/assumptions.hpp"
#include "report/cost/decision_report.hpp"
#include "report/cost/report.hpp"

namespace ridge::report {
namespace {

std::size_t count(const std::string& text, std::string_view what) {
  std::size_t n = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

TEST(Money, IsWrittenForPeople) {
  EXPECT_EQ(money(0.2354166), "$0.235");
  EXPECT_EQ(money(162815.69), "$162,816");
  EXPECT_EQ(money(40.2e6), "$40.2M");
  EXPECT_EQ(money(-0.05), "−$0.0500");
  EXPECT_EQ(money(kUnknown), "unknown") << "never $0";
}

TEST(MoneyCharts, WaterfallDrawsEveryStepAndNothingUnknown) {
  const std::string svg =
      waterfall_svg({"t",
                     "s",
                     "$",
                     {{"server", 1, false}, {"residual", -0.2, false}, {"lost", kUnknown, false}, {"all", 0.8, true}}});
  EXPECT_NE(svg.find("server"), std::string::npos);
  EXPECT_NE(svg.find("−0.20"), std::string::npos);
  EXPECT_EQ(svg.find("lost"), std::string::npos);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(count(svg, "<rect"), 4U) << "the ground and three bars";
}

TEST(MoneyCharts, CurveLeavesOutWhatALogarithmCannotShow) {
  CurveChart chart;
  chart.logarithmic_x = chart.logarithmic_y = true;
  chart.series = {{"a<b", {{1, 10}, {0, 5}, {10, -1}, {100, 1000}}}};
  const std::string svg = curve_svg(chart);
  EXPECT_EQ(count(svg, "<circle"), 2U);
  EXPECT_NE(svg.find("a&lt;b"), std::string::npos);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.find("inf"), std::string::npos);
}

TEST(MoneyCharts, TornadoWithoutBarsIsStillAFigure) {
  EXPECT_NE(tornado_svg({}).find("</svg>"), std::string::npos);
  EXPECT_NE(curve_svg({}).find("</svg>"), std::string::npos);
  EXPECT_NE(waterfall_svg({}).find("</svg>"), std::string::npos);
}

TEST(CostReport, AssumptionsStandInTheOrderOfWhatTheyMove) {
  CostCase c;
  c.inputs.rent_usd_per_gpu_hour = 2;
  c.inputs.utilisation = 0.5;
  c.inputs.platform_share = 0.1;
  c.inputs.mode = CostMode::managed;
  c.assumptions = {{"offer", "no number"}, {"platform", "platform"}, {"price", "rent"}, {"profile", "owner: x"}};
  const std::vector<Weighed> assumed = weighed(c);
  ASSERT_EQ(assumed.size(), 4U);
  EXPECT_EQ(assumed[0].assumption.field, "profile") << "it sets others";
  EXPECT_EQ(assumed[1].assumption.field, "price");
  EXPECT_NEAR(*assumed[1].change, 0.1, 1e-12) << "a rent that is 10 % higher";
  EXPECT_NEAR(*assumed[2].change, 0.01 / 1.1, 1e-12) << "0.11 over the rent instead of 0.1";
  EXPECT_FALSE(assumed[3].change);
  Document page;
  page.blocks.emplace_back(assumptions_table(assumed));
  shorten_assumptions(page, 2);
  ASSERT_EQ(page.blocks.size(), 2U);
  EXPECT_EQ(std::get<Table>(page.blocks[0]).rows.size(), 2U);
  EXPECT_NE(std::get<Paragraph>(page.blocks[1]).text.find("and 2 more"), std::string::npos);
}

TEST(CostReport, WaterfallMarksThePaidHourBeforeLosses) {
  CostCase c;
  c.inputs.rent_usd_per_gpu_hour = 2;
  c.inputs.utilisation = 0.5;
  const CostAnswer a = answer_cost("x", c, std::nullopt, false, 0);
  const Waterfall w = cost_waterfall(a);
  ASSERT_EQ(w.steps.size(), 4U);
  EXPECT_EQ(w.steps[1].name, "paid hour");
  EXPECT_TRUE(w.steps[1].subtotal);
  EXPECT_NEAR(w.steps[3].amount, 4, 1e-12);
}

}  // namespace
}  // namespace ridge::report
