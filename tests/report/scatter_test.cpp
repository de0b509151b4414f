#include "report/page/scatter.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "report/chart/svg.hpp"

namespace ridge::report {
namespace {

int count(const std::string& text, const std::string& part) {
  int n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++n;
  return n;
}

TEST(Svg, LogarithmicTicksAreOneTwoFive) {
  EXPECT_EQ(logarithmic_ticks(0.9, 60), (std::vector<double>{1, 2, 5, 10, 20, 50}));
  const auto wide = logarithmic_ticks(1, 1e9);  // thirty would be too many: powers of ten only
  EXPECT_EQ(wide.size(), 10u);
  EXPECT_TRUE(logarithmic_ticks(-1, 5).empty());
}

TEST(Svg, LinearTicksHaveARoundStep) {
  EXPECT_EQ(linear_ticks(0, 10, 6), (std::vector<double>{0, 2, 4, 6, 8, 10}));
  EXPECT_LE(linear_ticks(0.3, 97.2, 8).size(), 8u);
}

TEST(Svg, TickLabelsAreShort) {
  EXPECT_EQ(tick_label(0.02), "0.02");
  EXPECT_EQ(tick_label(500), "500");
  EXPECT_EQ(tick_label(20000), "20k");
  EXPECT_EQ(tick_label(5e6), "5M");
}

TEST(Svg, TextIsEscaped) {
  Svg svg(10, 10);
  svg.text(0, 0, "a<b & \"c\"\n");
  EXPECT_NE(svg.finish().find("a&lt;b &amp; &quot;c&quot; "), std::string::npos);
}

Scatter small() {
  Scatter s;
  s.title = "output tokens/s";
  s.axis = "tokens/s";
  s.series = {{"h100-sxm", 0}, {"mi300x", 11}, {"never seen", 3}};
  s.points = {{100, 110, 0, "a"},
              {1000, 800, 1, "b"},
              {0, 5, 0, "zero"},
              {5, std::numeric_limits<double>::quiet_NaN(), 0, "nothing"}};
  return s;
}

TEST(Scatter, DrawsOneMarkPerPointThatHasBothValues) {
  const std::string svg = scatter_svg(small());
  EXPECT_EQ(count(svg, "<title>"), 2);
  EXPECT_NE(svg.find("measured, tokens/s"), std::string::npos);
  EXPECT_NE(svg.find("predicted, tokens/s"), std::string::npos);
  EXPECT_NE(svg.find("h100-sxm (1)"), std::string::npos);
  EXPECT_EQ(svg.find("never seen"), std::string::npos);  // series without points have no legend
  EXPECT_NE(svg.find("within 20 %"), std::string::npos);
}

// A perfect prediction lies on the diagonal: equal shares of the square from the left and from the bottom.
TEST(Scatter, PerfectPredictionsLieOnTheDiagonal) {
  Scatter s = small();
  s.points = {{10, 10, 0, "p"}, {1000, 1000, 0, "q"}};
  const std::string svg = scatter_svg(s);
  const auto value = [&](std::size_t from, const char* key) {
    const std::size_t at = svg.find(key, from) + std::string(key).size();
    return std::stod(svg.substr(at));
  };
  const std::size_t circle = svg.find("<circle");
  const double x = value(circle, "cx=\"");
  const double y = value(circle, "cy=\"");
  const double left = 76, top = 58, side = 440;
  EXPECT_NEAR((x - left) / side, (top + side - y) / side, 1e-3);
}

TEST(Scatter, PageIsSelfContained) {
  const Scatter all[] = {small(), small()};
  Document text;
  text.title = "Accuracy <1>";
  const std::string page = scatter_page(text, all, {{"a paper"}, "ridge validate"});
  EXPECT_NE(page.find("<li>a paper</li>"), std::string::npos);
  EXPECT_NE(page.find("<code>ridge validate</code>"), std::string::npos);
  EXPECT_EQ(count(page, "<svg "), 2);
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_EQ(page.find("src="), std::string::npos);
  EXPECT_NE(page.find("<h1>Accuracy &lt;1&gt;</h1>"), std::string::npos);
}

TEST(Scatter, SheetHoldsAllFigures) {
  const Scatter all[] = {small(), small(), small()};
  EXPECT_EQ(count(scatter_sheet(all, 2), "<svg "), 4);
}

}  // namespace
}  // namespace ridge::report
