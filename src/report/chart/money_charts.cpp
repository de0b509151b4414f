#include "report/chart/money_charts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/chart/svg.hpp"
#include "ridge/base/text.hpp"

namespace ridge::report {

namespace {

constexpr std::string_view kFrame = "#afb8c1";
constexpr double kWidth = 760;

void heading(Svg& svg, double height, double left, const std::string& title, const std::string& subtitle) {
  svg.rectangle(0, 0, kWidth, height, {.fill = "#ffffff"});
  svg.text(left, 26, title, {.size = 15, .bold = true});
  if (!subtitle.empty()) svg.text(left, 45, subtitle, {.size = 12, .fill = kFaint});
}

/// Where a value stands between two ends, linear or logarithmic.
class Axis {
 public:
  Axis(double low, double high, bool logarithmic) : low_(low), high_(high), logarithmic_(logarithmic) {
    if (!(high_ > low_)) high_ = low_ == 0 ? 1 : low_ * 1.1;
  }
  [[nodiscard]] double share(double v) const {
    return logarithmic_ ? std::log(v / low_) / std::log(high_ / low_) : (v - low_) / (high_ - low_);
  }
  [[nodiscard]] std::vector<double> ticks() const {
    return logarithmic_ ? logarithmic_ticks(low_, high_, 9) : linear_ticks(low_, high_, 8);
  }

 private:
  double low_, high_;
  bool logarithmic_;
};

}  // namespace

std::string waterfall_svg(const Waterfall& waterfall) {
  constexpr double kLeft = 90, kTop = 62, kPlotWidth = 640, kPlotHeight = 300;
  std::vector<WaterfallStep> steps;
  for (const WaterfallStep& step : waterfall.steps) {
    if (std::isfinite(step.amount)) steps.push_back(step);
  }
  double most = 0;
  double sum = 0;
  for (const WaterfallStep& step : steps) {
    sum = step.subtotal ? step.amount : sum + step.amount;
    most = std::max({most, sum, sum - (step.subtotal ? 0 : step.amount)});
  }
  const double height = kTop + kPlotHeight + 110;
  Svg svg(kWidth, height);
  heading(svg, height, kLeft, waterfall.title, waterfall.subtitle);
  if (steps.empty() || !(most > 0)) return svg.finish();
  const Axis axis(0, most * 1.08, false);
  const auto y = [&](double v) { return kTop + kPlotHeight * (1 - axis.share(v)); };
  for (const double tick : axis.ticks()) {
    svg.line(kLeft, y(tick), kLeft + kPlotWidth, y(tick), {.stroke = kGrid});
    svg.text(kLeft - 7, y(tick) + 4, tick_label(tick), {.anchor = "end", .size = 11, .fill = kFaint});
  }
  const double pitch = kPlotWidth / static_cast<double>(steps.size());
  const double bar = std::min(46.0, pitch * 0.66);
  sum = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const WaterfallStep& step = steps[i];
    const double from = step.subtotal ? 0 : sum;
    sum = step.subtotal ? step.amount : sum + step.amount;
    const double x = kLeft + pitch * (static_cast<double>(i) + 0.5);
    const double top = y(std::max(from, sum));
    const double tall = std::max(1.0, std::abs(y(from) - y(sum)));
    svg.rectangle(x - bar / 2, top, bar, tall, {.fill = step.subtotal ? colour(9) : colour(step.amount < 0 ? 4 : 0)});
    svg.text(
        x, top - 5,
        fmt::format("{}{}", step.amount < 0 ? "−" : "", format_number(std::abs(step.amount), step.subtotal ? 3 : 2)),
        {.anchor = "middle", .size = 10.5});
    svg.text(x + 4, kTop + kPlotHeight + 14, step.name, {.anchor = "end", .size = 11, .turned = -38});
    if (i + 1 < steps.size()) {
      svg.line(x + bar / 2, y(sum), x + pitch - bar / 2, y(sum), {.stroke = kFaint, .dashes = "2 2"});
    }
  }
  svg.line(kLeft, kTop + kPlotHeight, kLeft + kPlotWidth, kTop + kPlotHeight, {.stroke = kFrame});
  svg.text(24, kTop + kPlotHeight / 2, waterfall.unit, {.anchor = "middle", .turned = -90});
  return svg.finish();
}

std::string curve_svg(const CurveChart& chart) {
  constexpr double kLeft = 90, kTop = 62, kPlotWidth = 480, kPlotHeight = 330;
  constexpr double kHeight = kTop + kPlotHeight + 66;
  const auto drawable = [&](const CurvePoint& p) {
    return std::isfinite(p.x) && std::isfinite(p.y) && (!chart.logarithmic_x || p.x > 0) &&
           (!chart.logarithmic_y || p.y > 0);
  };
  Svg svg(kWidth, kHeight);
  heading(svg, kHeight, kLeft, chart.title, chart.subtitle);
  double x_low = INFINITY, x_high = -INFINITY, y_low = INFINITY, y_high = -INFINITY;
  for (const CurveSeries& series : chart.series) {
    for (const CurvePoint& p : series.points) {
      if (!drawable(p)) continue;
      x_low = std::min(x_low, p.x);
      x_high = std::max(x_high, p.x);
      y_low = std::min(y_low, p.y);
      y_high = std::max(y_high, p.y);
    }
  }
  if (!(x_low <= x_high)) return svg.finish();
  if (chart.logarithmic_y) {
    y_low *= 0.85;
    y_high *= 1.18;
  } else {
    const double air = 0.08 * std::max(y_high - (chart.from_zero ? 0 : y_low), 1e-12);
    y_low = chart.from_zero ? std::min(0.0, y_low) : y_low - air;
    y_high += air;
  }
  const Axis across(x_low, x_high, chart.logarithmic_x);
  const Axis up(y_low, y_high, chart.logarithmic_y);
  const auto x = [&](double v) { return kLeft + kPlotWidth * (0.02 + 0.96 * across.share(v)); };
  const auto y = [&](double v) { return kTop + kPlotHeight * (1 - up.share(v)); };
  for (const double tick : across.ticks()) {
    svg.line(x(tick), kTop, x(tick), kTop + kPlotHeight, {.stroke = kGrid});
    svg.text(x(tick), kTop + kPlotHeight + 17, tick_label(tick), {.anchor = "middle", .size = 11, .fill = kFaint});
  }
  for (const double tick : up.ticks()) {
    svg.line(kLeft, y(tick), kLeft + kPlotWidth, y(tick), {.stroke = kGrid});
    svg.text(kLeft - 7, y(tick) + 4, tick_label(tick), {.anchor = "end", .size = 11, .fill = kFaint});
  }
  double legend = kTop + 12;
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    const CurveSeries& series = chart.series[i];
    const std::string_view ink = colour(static_cast<int>(i));
    std::vector<SvgPoint> line;
    for (const CurvePoint& p : series.points) {
      if (drawable(p)) line.push_back({x(p.x), y(p.y)});
    }
    if (line.empty()) continue;
    svg.polyline(line, {.stroke = ink, .width = 2, .dashes = series.dashed ? "6 4" : ""});
    if (series.marks) {
      for (const CurvePoint& p : series.points) {
        if (drawable(p)) svg.mark(x(p.x), y(p.y), 3.4, 0, {.stroke = "#ffffff", .width = 0.8, .fill = ink}, p.tip);
      }
    }
    svg.line(kLeft + kPlotWidth + 16, legend - 4, kLeft + kPlotWidth + 36, legend - 4,
             {.stroke = ink, .width = 2, .dashes = series.dashed ? "6 4" : ""});
    svg.text(kLeft + kPlotWidth + 42, legend, series.name, {.size = 11});
    legend += 20;
  }
  for (const CurveNote& note : chart.notes) {
    if (!drawable({note.x, note.y})) continue;
    const bool right = across.share(note.x) > 0.45;
    svg.mark(x(note.x), y(note.y), 5.5, 3, {.stroke = "#24292f", .width = 1.4});
    svg.text(x(note.x) + (right ? -10 : 10), y(note.y) - 9, note.text,
             {.anchor = right ? "end" : "start", .size = 11, .bold = true});
  }
  svg.rectangle(kLeft, kTop, kPlotWidth, kPlotHeight, {.stroke = kFrame});
  svg.text(kLeft + kPlotWidth / 2, kTop + kPlotHeight + 42, chart.x_axis, {.anchor = "middle"});
  svg.text(24, kTop + kPlotHeight / 2, chart.y_axis, {.anchor = "middle", .turned = -90});
  return svg.finish();
}

std::string tornado_svg(const Tornado& tornado) {
  constexpr double kLeft = 180, kTop = 66, kPlotWidth = 480, kPitch = 30;
  std::vector<TornadoBar> bars;
  double low = tornado.middle, high = tornado.middle;
  for (const TornadoBar& bar : tornado.bars) {
    if (!std::isfinite(bar.low) || !std::isfinite(bar.high)) continue;
    bars.push_back(bar);
    low = std::min({low, bar.low, bar.high});
    high = std::max({high, bar.low, bar.high});
  }
  const double plot = kPitch * static_cast<double>(std::max<std::size_t>(1, bars.size()));
  const double height = kTop + plot + 62;
  Svg svg(kWidth, height);
  heading(svg, height, 40, tornado.title, tornado.subtitle);
  if (bars.empty()) return svg.finish();
  const double air = 0.2 * std::max(high - low, 1e-12);  // for the names of the ends
  const Axis axis(low - air, high + air, false);
  const auto x = [&](double v) { return kLeft + kPlotWidth * axis.share(v); };
  for (const double tick : axis.ticks()) {
    svg.line(x(tick), kTop, x(tick), kTop + plot, {.stroke = kGrid});
    svg.text(x(tick), kTop + plot + 17, tick_label(tick), {.anchor = "middle", .size = 11, .fill = kFaint});
  }
  double y = kTop + 6;
  for (const TornadoBar& bar : bars) {
    const auto half = [&](double value, std::string_view fill, const std::string& text) {
      const double from = std::min(x(value), x(tornado.middle));
      svg.rectangle(from, y, std::max(1.0, std::abs(x(value) - x(tornado.middle))), kPitch - 12, {.fill = fill});
      const bool left = value < tornado.middle;
      svg.text(x(value) + (left ? -4 : 4), y + 13, text,
               {.anchor = left ? "end" : "start", .size = 10, .fill = kFaint});
    };
    half(bar.low, colour(0), bar.low_text);
    half(bar.high, colour(1), bar.high_text);
    svg.text(kLeft - 10, y + 13, bar.name, {.anchor = "end", .size = 12});
    y += kPitch;
  }
  svg.line(x(tornado.middle), kTop, x(tornado.middle), kTop + plot, {.stroke = "#24292f", .width = 1.2});
  svg.rectangle(kLeft, kTop, kPlotWidth, plot, {.stroke = kFrame});
  svg.text(kLeft + kPlotWidth / 2, kTop + plot + 42, tornado.axis, {.anchor = "middle"});
  svg.rectangle(kLeft + kPlotWidth + 14, kTop, 11, 11, {.fill = colour(0)});
  svg.text(kLeft + kPlotWidth + 30, kTop + 10, "low end", {.size = 11});
  svg.rectangle(kLeft + kPlotWidth + 14, kTop + 19, 11, 11, {.fill = colour(1)});
  svg.text(kLeft + kPlotWidth + 30, kTop + 29, "high end", {.size = 11});
  return svg.finish();
}

}  // namespace ridge::report
