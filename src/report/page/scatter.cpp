#include "report/page/scatter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "report/chart/svg.hpp"
#include "report/page/html.hpp"

namespace ridge::report {
namespace {

constexpr double kLeft = 76;
constexpr double kTop = 58;
constexpr double kSide = 440;  // the plot is square: equal errors look equal everywhere
constexpr std::string_view kInk = "#24292f";

bool drawable(const ScatterPoint& p) {
  return p.measured > 0 && p.predicted > 0 && std::isfinite(p.measured) && std::isfinite(p.predicted);
}

// Both axes share one range, widened to leave air around the outermost points.
class Axes {
 public:
  explicit Axes(const Scatter& scatter) {
    double low = 0;
    double high = 0;
    for (const ScatterPoint& p : scatter.points) {
      if (!drawable(p)) continue;
      const double a = std::min(p.measured, p.predicted);
      const double b = std::max(p.measured, p.predicted);
      low = low == 0 ? a : std::min(low, a);
      high = std::max(high, b);
    }
    if (low == 0) low = high = 1;
    const double air = std::max(0.03 * std::log10(high / low), 0.1);
    low_ = std::log10(low) - air;
    high_ = std::log10(high) + air;
  }
  [[nodiscard]] double low() const { return std::pow(10, low_); }
  [[nodiscard]] double high() const { return std::pow(10, high_); }
  [[nodiscard]] double share(double value) const { return (std::log10(value) - low_) / (high_ - low_); }
  [[nodiscard]] double x(double value) const { return kLeft + kSide * share(value); }
  [[nodiscard]] double y(double value) const { return kTop + kSide * (1 - share(value)); }

 private:
  double low_;
  double high_;
};

// The region between predicted = measured (1 - band) and measured (1 + band), cut off at the frame.
std::vector<SvgPoint> band_outline(const Axes& axes, double band) {
  const double low = axes.low();
  const double high = axes.high();
  const double up = 1 + band;
  const double down = 1 - band;
  return {{axes.x(low), axes.y(low * up)},     {axes.x(high / up), axes.y(high)}, {axes.x(high), axes.y(high)},
          {axes.x(high), axes.y(high * down)}, {axes.x(low / down), axes.y(low)}, {axes.x(low), axes.y(low)}};
}

void draw_frame(Svg& svg, const Scatter& scatter, const Axes& axes) {
  svg.text(kLeft, 24, scatter.title, {.size = 16, .bold = true});
  svg.text(kLeft, 44, scatter.subtitle, {.size = 12, .fill = kFaint});
  svg.polygon(band_outline(axes, scatter.band), {.fill = "#eef1f4"});
  for (const double tick : logarithmic_ticks(axes.low(), axes.high())) {
    svg.line(axes.x(tick), kTop, axes.x(tick), kTop + kSide, {.stroke = kGrid});
    svg.line(kLeft, axes.y(tick), kLeft + kSide, axes.y(tick), {.stroke = kGrid});
    svg.text(axes.x(tick), kTop + kSide + 17, tick_label(tick), {.anchor = "middle", .size = 11, .fill = kFaint});
    svg.text(kLeft - 7, axes.y(tick) + 4, tick_label(tick), {.anchor = "end", .size = 11, .fill = kFaint});
  }
  svg.line(axes.x(axes.low()), axes.y(axes.low()), axes.x(axes.high()), axes.y(axes.high()),
           {.stroke = kFaint, .dashes = "5 4"});
  svg.rectangle(kLeft, kTop, kSide, kSide, {.stroke = "#afb8c1"});
  svg.text(kLeft + kSide / 2, kTop + kSide + 40, "measured, " + scatter.axis, {.anchor = "middle", .fill = kInk});
  svg.text(20, kTop + kSide / 2, "predicted, " + scatter.axis, {.anchor = "middle", .fill = kInk, .turned = -90});
}

void draw_legend(Svg& svg, const Scatter& scatter, const std::vector<int>& counts) {
  const double x = kLeft + kSide + 24;
  double y = kTop + 8;
  const auto shown = static_cast<double>(std::count_if(counts.begin(), counts.end(), [](int n) { return n > 0; }));
  const double pitch = std::min(20.0, (kSide - 40) / std::max(1.0, shown));
  for (std::size_t i = 0; i < scatter.series.size(); ++i) {
    if (counts[i] == 0) continue;
    const ScatterSeries& series = scatter.series[i];
    svg.mark(x, y - 4, 4, series.style / kColours, {.fill = colour(series.style)});
    svg.text(x + 12, y, fmt::format("{} ({})", series.name, counts[i]), {.size = 11});
    y += pitch;
  }
  svg.rectangle(x - 5, y - 3, 11, 11, {.fill = "#e4e8ec"});
  svg.text(x + 12, y + 7, fmt::format("within {:.0f} %", 100 * scatter.band), {.size = 11, .fill = kFaint});
}

}  // namespace

std::string scatter_svg(const Scatter& scatter) {
  Svg svg(kScatterWidth, kScatterHeight);
  svg.rectangle(0, 0, kScatterWidth, kScatterHeight, {.fill = "#ffffff"});
  const Axes axes(scatter);
  draw_frame(svg, scatter, axes);
  std::vector<int> counts(scatter.series.size(), 0);
  for (const ScatterPoint& p : scatter.points) {
    if (!drawable(p) || p.series >= counts.size()) continue;
    ++counts[p.series];
    const int style = scatter.series[p.series].style;
    svg.mark(axes.x(p.measured), axes.y(p.predicted), 3.2, style / kColours,
             {.stroke = "#ffffff", .width = 0.5, .fill = colour(style), .opacity = 0.75}, p.tip);
  }
  draw_legend(svg, scatter, counts);
  return svg.finish();
}

std::string scatter_sheet(std::span<const Scatter> scatters, int columns) {
  const auto across = static_cast<std::size_t>(std::max(1, columns));
  const std::size_t down = std::max<std::size_t>(1, (scatters.size() + across - 1) / across);
  Svg svg(kScatterWidth * static_cast<double>(std::min(across, std::max<std::size_t>(1, scatters.size()))),
          kScatterHeight * static_cast<double>(down));
  for (std::size_t i = 0; i < scatters.size(); ++i) {
    const std::size_t row = i / across;
    const std::size_t column = i % across;
    svg.inset(kScatterWidth * static_cast<double>(column), kScatterHeight * static_cast<double>(row),
              scatter_svg(scatters[i]));
  }
  return svg.finish();
}

std::string scatter_page(const Document& text, std::span<const Scatter> scatters, const Provenance& provenance) {
  HtmlPage page(text.title);
  page.add(text);
  std::vector<std::string> figures;
  for (const Scatter& scatter : scatters) figures.push_back(scatter_svg(scatter));
  page.add_figures(figures);
  page.add(provenance);
  return page.finish();
}

}  // namespace ridge::report
