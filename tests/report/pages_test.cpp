// Pages to hand on: one file, for screens and paper, with what a reader needs to ask again.
#include <gtest/gtest.h>

#include "catalogue/files/json_document.hpp"
#include "report/chart/line_chart.hpp"
#include "report/chart/ranges.hpp"
#include "report/page/html.hpp"
#include "report/plan/parts.hpp"
#include "report/simulate/report.hpp"

namespace ridge::report {
namespace {

int count(std::string_view text, std::string_view what) {
  int n = 0;
  for (std::size_t at = text.find(what); at != std::string_view::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

TEST(Pages, EndWithSourcesAndTheCommand) {
  HtmlPage page("A <question>");
  page.add(Provenance{{"h200-sxm: a <datasheet>"}, "ridge plan serve --model 'a b'"});
  const std::string text = page.finish();
  EXPECT_NE(text.find("<li>h200-sxm: a &lt;datasheet&gt;</li>"), std::string::npos);
  EXPECT_NE(text.find("<code>ridge plan serve --model 'a b'</code>"), std::string::npos);
  EXPECT_EQ(text.find("<script"), std::string::npos);
  EXPECT_EQ(text.find("src="), std::string::npos);
}

// A doubt that many rows share is said once.
TEST(Pages, DoubtsNameTheRowsThatHaveThem) {
  struct Row {
    std::string device;
    std::vector<std::string> doubts;
  };
  const std::vector<Row> rows = {
      {"a", {"one quote", "not measured"}}, {"b", {}}, {"c", {"not measured"}}, {"d", {"x"}}};
  const auto text = [&](std::size_t shown) {
    return doubts_text(
        rows, shown, [](const Row& r) { return r.device; }, [](const Row& r) { return r.doubts; });
  };
  EXPECT_EQ(text(3), "! one quote: a; not measured: a, c.");
  EXPECT_EQ(text(0), "");
}

TEST(Pages, AreForDarkScreensAndPaper) {
  const std::string text = HtmlPage("t").finish();
  EXPECT_NE(text.find("@media print"), std::string::npos);
  EXPECT_NE(text.find("@media screen and (prefers-color-scheme: dark)"), std::string::npos);
  // The ground of every figure turns dark with the page.
  EXPECT_NE(text.find("svg [fill=\"#ffffff\"] { fill: #0d1117 }"), std::string::npos);
}

TEST(Pages, SourcesAreNamedOnceAndUnknownOnesNotAtAll) {
  const auto catalogue = Catalogue::load({.data_directory = RIDGE_DATA_DIR, .overlays = {}, .price_lists = {}});
  ASSERT_TRUE(catalogue);
  const auto lines = sources_of(*catalogue, {"llama3.1-8b", "no-such-model"}, {"h100-sxm", "h100-sxm"});
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_TRUE(lines[0].starts_with("llama3.1-8b: "));
  EXPECT_TRUE(lines[1].starts_with("h100-sxm: "));
}

TEST(Ranges, HaveALineForEachIntervalThatCanBeDrawn) {
  Ranges r{.title = "t", .subtitle = "s", .axis = "$ per token", .lines = {}};
  r.lines = {{"a", {1, 2, 3}}, {"b", {0, 2, 3}}, {"c", {3, 2, 1}}, {"d", {2, 2, 2}}};
  const std::string svg = ranges_svg(r);
  EXPECT_EQ(count(svg, "<circle"), 2);
  EXPECT_NE(svg.find("$ per token"), std::string::npos);
  EXPECT_EQ(svg.find("limit"), std::string::npos);
  r.limit = 2.5;
  EXPECT_NE(ranges_svg(r).find(">limit<"), std::string::npos);
}

TEST(LineCharts, DrawABandOnlyWhereThePredictionHasOne) {
  LineChart c;
  c.series = {{"s", {{1, 0.1}, {2, 0.9}}, 0}};
  EXPECT_EQ(count(line_chart_svg(c), "<polygon"), 0);
  c.series[0].low = 0.8;
  c.series[0].high = 1.3;
  EXPECT_EQ(count(line_chart_svg(c), "<polygon"), 1);
}

TEST(SimulationJson, TellsTheWholeDistribution) {
  SimulationAnswer answer;
  for (int i = 1; i <= 1000; ++i) answer.result.ttft.add(static_cast<std::int64_t>(i * kTicksPerSecond / 1000));
  const auto json = parse_json(simulation_json(answer).text(), "answer");
  ASSERT_TRUE(json);
  const JsonNode* cdf = json->find("cdf");
  ASSERT_NE(cdf, nullptr);
  const auto& shares = cdf->find("share")->items;
  const auto& times = cdf->find("ttft_s")->items;
  ASSERT_EQ(shares.size(), times.size());
  ASSERT_GT(shares.size(), 50U);
  for (std::size_t i = 0; i < shares.size(); ++i) {
    EXPECT_NEAR(times[i].number, shares[i].number, 0.004) << i;  // requests took 1 ms, 2 ms, ... 1 s
    if (i > 0) {
      EXPECT_GT(shares[i].number, shares[i - 1].number);
    }
  }
  EXPECT_EQ(shares.back().number, 1);
  EXPECT_EQ(cdf->find("e2e_s"), nullptr);  // null: no request ended
}

}  // namespace
}  // namespace ridge::report
