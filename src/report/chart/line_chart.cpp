#include "report/chart/line_chart.hpp"

#include <algorithm>
#include <cmath>

namespace ridge::report {

namespace {

constexpr double kLeft = 64;
constexpr double kTop = 56;
constexpr double kBottom = 48;
constexpr double kRight = 20;
constexpr double kLegend = 100;  ///< more on the right where several curves have names

class Axes {
 public:
  explicit Axes(const LineChart& c)
      : log_(c.log_x),
        width_(c.width - kLeft - kRight - (c.series.size() > 1 ? kLegend : 0)),
        height_(c.height - kTop - kBottom) {
    bool any = false;
    for (const LineSeries& s : c.series) {
      for (const SvgPoint& p : s.points) {
        if (!std::isfinite(p.x) || !std::isfinite(p.y) || (log_ && p.x <= 0)) continue;
        low_ = any ? std::min(low_, p.x * s.low) : p.x * s.low;
        high_ = any ? std::max(high_, p.x * s.high) : p.x * s.high;
        top_ = std::max(top_, p.y);
        any = true;
      }
    }
    for (const LineMark& m : c.marks) {
      if (any && m.x > 0) high_ = std::max(high_, 1.1 * m.x);
    }
    if (c.y_top > 0) top_ = c.y_top;
    if (top_ <= 0) top_ = 1;
    if (!any) low_ = log_ ? 0.1 : 0;
    if (high_ <= low_) high_ = log_ ? low_ * 1.5 : low_ + 1;
  }
  [[nodiscard]] double low() const { return low_; }
  [[nodiscard]] double high() const { return high_; }
  [[nodiscard]] double top() const { return top_; }
  [[nodiscard]] double x(double v) const {
    const double share = log_ ? std::log(v / low_) / std::log(high_ / low_) : (v - low_) / (high_ - low_);
    return kLeft + width_ * share;
  }
  [[nodiscard]] double y(double v) const { return kTop + height_ * (1 - std::min(v, top_) / top_); }
  [[nodiscard]] double right() const { return kLeft + width_; }
  [[nodiscard]] double bottom() const { return kTop + height_; }
  [[nodiscard]] bool holds(const SvgPoint& p) const {
    return std::isfinite(p.x) && std::isfinite(p.y) && p.x >= low_ && p.x <= high_;
  }

 private:
  bool log_;
  double width_;
  double height_;
  double low_ = 0;
  double high_ = 0;
  double top_ = 0;
};

void draw_frame(Svg& svg, const LineChart& c, const Axes& axes) {
  svg.text(kLeft, 24, c.title, {.size = 16, .bold = true});
  svg.text(kLeft, 43, c.subtitle, {.size = 12, .fill = kFaint});
  const auto ticks = c.log_x ? logarithmic_ticks(axes.low(), axes.high(), 9) : linear_ticks(axes.low(), axes.high(), 9);
  for (const double tick : ticks) {
    svg.line(axes.x(tick), kTop, axes.x(tick), axes.bottom(), {.stroke = kGrid});
    svg.text(axes.x(tick), axes.bottom() + 16, tick_label(tick), {.anchor = "middle", .size = 11, .fill = kFaint});
  }
  for (const double tick : linear_ticks(0, axes.top(), 6)) {
    svg.line(kLeft, axes.y(tick), axes.right(), axes.y(tick), {.stroke = kGrid});
    svg.text(kLeft - 7, axes.y(tick) + 4, tick_label(tick), {.anchor = "end", .size = 11, .fill = kFaint});
  }
  svg.rectangle(kLeft, kTop, axes.right() - kLeft, axes.bottom() - kTop, {.stroke = "#afb8c1"});
  svg.text(0.5 * (kLeft + axes.right()), axes.bottom() + 36, c.x_axis, {.anchor = "middle"});
  svg.text(18, 0.5 * (kTop + axes.bottom()), c.y_axis, {.anchor = "middle", .turned = -90});
}

}  // namespace

std::string line_chart_svg(const LineChart& c) {
  Svg svg(c.width, c.height);
  svg.rectangle(0, 0, c.width, c.height, {.fill = "#ffffff"});
  const Axes axes(c);
  draw_frame(svg, c, axes);
  double y = kTop + 10;
  for (const LineSeries& s : c.series) {
    std::vector<SvgPoint> points;
    for (const SvgPoint& p : s.points) {
      if (axes.holds(p)) points.push_back({axes.x(p.x), axes.y(p.y)});
    }
    if (s.low < s.high) {
      std::vector<SvgPoint> band;
      const auto edge = [&](const SvgPoint& p, double factor) {
        const double at = std::clamp(p.x * factor, axes.low(), axes.high());
        band.push_back({axes.x(at), axes.y(p.y)});
      };
      for (const SvgPoint& p : s.points) {
        if (axes.holds(p)) edge(p, s.low);
      }
      for (auto p = s.points.rbegin(); p != s.points.rend(); ++p) {
        if (axes.holds(*p)) edge(*p, s.high);
      }
      svg.polygon(band, {.fill = colour(s.style), .opacity = 0.15});
    }
    svg.polyline(points, {.stroke = colour(s.style), .width = 1.8});
    if (c.series.size() == 1) continue;  // the title names it
    svg.line(axes.right() + 14, y - 4, axes.right() + 32, y - 4, {.stroke = colour(s.style), .width = 2.5});
    svg.text(axes.right() + 38, y, s.name, {.size = 11});
    y += 18;
  }
  for (const LineMark& m : c.marks) {
    if (m.x < axes.low() || m.x > axes.high()) continue;
    svg.line(axes.x(m.x), kTop, axes.x(m.x), axes.bottom(), {.stroke = "#cf222e", .dashes = "5 4"});
    svg.text(axes.x(m.x) + 4, axes.bottom() - 6, m.name, {.size = 11, .fill = "#cf222e"});
  }
  return svg.finish();
}

}  // namespace ridge::report
