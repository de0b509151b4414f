#include "report/chart/roofline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/chart/svg.hpp"
#include "ridge/base/quantity.hpp"
#include "ridge/base/text.hpp"

namespace ridge::report {

namespace {

constexpr double kWidth = 1000;
constexpr double kHeight = 620;
constexpr double kLeft = 84;
constexpr double kTop = 64;
constexpr double kPlotWidth = 640;
constexpr double kPlotHeight = 480;
constexpr double kLabelShare = 0.06;  // smaller parts of the time go without a name
constexpr double kLetter = 5.6;       // mean width of a letter at 11 px
constexpr int kCircle = 0;
constexpr int kTriangle = 2;

bool drawable(const RooflinePoint& p) {
  return p.intensity > 0 && p.rate > 0 && std::isfinite(p.intensity) && std::isfinite(p.rate);
}

/// Both axes logarithmic.
class Axes {
 public:
  explicit Axes(const Roofline& r) {
    double low_x = 1e300;
    double high_x = 0;
    double low_y = 1e300;
    double high_y = 0;
    for (const Roof& roof : r.roofs) {
      const double ridge = roof.peak / roof.bandwidth;
      low_x = std::min(low_x, ridge / 30);
      high_x = std::max(high_x, ridge * 4);
      high_y = std::max(high_y, roof.peak);
      low_y = std::min(low_y, roof.peak / 50);
    }
    for (const RooflinePoint& p : r.points) {
      if (!drawable(p)) continue;
      low_x = std::min(low_x, p.intensity);
      high_x = std::max(high_x, p.intensity);
      low_y = std::min(low_y, p.rate);
      high_y = std::max(high_y, p.rate);
    }
    low_x_ = std::log10(low_x) - 0.15;
    high_x_ = std::log10(high_x) + 0.15;
    low_y_ = std::log10(low_y) - 0.15;
    high_y_ = std::log10(high_y) + 0.25;
  }
  [[nodiscard]] double x(double v) const { return kLeft + kPlotWidth * (std::log10(v) - low_x_) / (high_x_ - low_x_); }
  [[nodiscard]] double y(double v) const {
    return kTop + kPlotHeight * (1 - (std::log10(v) - low_y_) / (high_y_ - low_y_));
  }
  [[nodiscard]] double low_x() const { return std::pow(10, low_x_); }
  [[nodiscard]] double high_x() const { return std::pow(10, high_x_); }
  [[nodiscard]] double low_y() const { return std::pow(10, low_y_); }
  [[nodiscard]] double high_y() const { return std::pow(10, high_y_); }

 private:
  double low_x_, high_x_, low_y_, high_y_;
};

/// Names are put where no other stands.
class Labels {
 public:
  explicit Labels(Svg& svg) : svg_(svg) {}
  /// A mark that names have to keep clear of.
  void occupy(double x, double y, double radius) { taken_.push_back({x - radius, y - radius, x + radius, y + radius}); }
  void place(double x, double y, double radius, const std::string& text) {
    const double width = kLetter * static_cast<double>(text.size());
    const Box right{x + radius + 4, y - 6, x + radius + 4 + width, y + 6};
    const Box left{x - radius - 4 - width, y - 6, x - radius - 4, y + 6};
    const Box above{x - width / 2, y - radius - 16, x + width / 2, y - radius - 4};
    const Box below{x - width / 2, y + radius + 4, x + width / 2, y + radius + 16};
    for (const Box& box : {right, left, below, above}) {
      if (!free(box)) continue;
      taken_.push_back(box);
      svg_.rectangle(box.x1 - 1, box.y1, width + 2, 13, {.fill = "#ffffff", .opacity = 0.75});
      svg_.text(box.x1, box.y2 - 2, text, {.size = 11, .fill = "#24292f"});
      return;
    }
  }

 private:
  struct Box {
    double x1, y1, x2, y2;
  };
  [[nodiscard]] bool free(const Box& b) const {
    if (b.x1 < kLeft || b.x2 > kLeft + kPlotWidth || b.y1 < kTop || b.y2 > kTop + kPlotHeight) return false;
    return std::none_of(taken_.begin(), taken_.end(),
                        [&](const Box& o) { return b.x1 < o.x2 && o.x1 < b.x2 && b.y1 < o.y2 && o.y1 < b.y2; });
  }
  Svg& svg_;
  std::vector<Box> taken_;
};

void draw_frame(Svg& svg, const Roofline& r, const Axes& axes) {
  svg.text(kLeft, 26, r.title, {.size = 16, .bold = true});
  svg.text(kLeft, 46, r.subtitle, {.size = 12, .fill = kFaint});
  for (const double tick : logarithmic_ticks(axes.low_x(), axes.high_x(), 8)) {
    svg.line(axes.x(tick), kTop, axes.x(tick), kTop + kPlotHeight, {.stroke = kGrid});
    svg.text(axes.x(tick), kTop + kPlotHeight + 17, tick_label(tick), {.anchor = "middle", .size = 11, .fill = kFaint});
  }
  for (const double tick : logarithmic_ticks(axes.low_y() / 1e12, axes.high_y() / 1e12, 8)) {
    const double y = axes.y(tick * 1e12);
    svg.line(kLeft, y, kLeft + kPlotWidth, y, {.stroke = kGrid});
    svg.text(kLeft - 7, y + 4, tick_label(tick), {.anchor = "end", .size = 11, .fill = kFaint});
  }
  svg.rectangle(kLeft, kTop, kPlotWidth, kPlotHeight, {.stroke = "#afb8c1"});
  svg.text(kLeft + kPlotWidth / 2, kTop + kPlotHeight + 42, "arithmetic intensity, FLOP per byte",
           {.anchor = "middle"});
  svg.text(22, kTop + kPlotHeight / 2, "TFLOP/s per device", {.anchor = "middle", .turned = -90});
}

void draw_roof(Svg& svg, const Roof& roof, const Axes& axes, std::string_view ink) {
  const double ridge = roof.peak / roof.bandwidth;
  const double start = std::max(axes.low_x(), axes.low_y() / roof.bandwidth);
  const std::vector<SvgPoint> line = {{axes.x(start), axes.y(start * roof.bandwidth)},
                                      {axes.x(ridge), axes.y(roof.peak)},
                                      {axes.x(axes.high_x()), axes.y(roof.peak)}};
  svg.polyline(line, {.stroke = ink, .width = 2});
  if (roof.peak_wide > 0 && roof.peak_wide < 0.99 * roof.peak) {
    svg.line(axes.x(roof.peak_wide / roof.bandwidth), axes.y(roof.peak_wide), axes.x(axes.high_x()),
             axes.y(roof.peak_wide), {.stroke = ink, .width = 1.5, .dashes = "6 4"});
  }
}

double radius_of(const RooflinePoint& p) {
  return 3 + 11 * std::sqrt(std::clamp(p.share, 0.0, 1.0));
}

void draw_points(Svg& svg, const Roofline& r, const Axes& axes) {
  std::vector<const RooflinePoint*> order;
  for (const RooflinePoint& p : r.points) {
    if (drawable(p) && p.roof < r.roofs.size()) order.push_back(&p);
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const RooflinePoint* a, const RooflinePoint* b) { return a->share > b->share; });
  Labels labels(svg);
  for (const RooflinePoint* p : order) {
    const std::string tip = fmt::format("{}, {} on {}: {} FLOP/byte, {}, {:.1f} % of the time", p->what,
                                        p->prefill ? "prefill" : "decode", r.roofs[p->roof].name,
                                        format_number(p->intensity), format(FlopsPerSecond(p->rate)), 100 * p->share);
    svg.mark(axes.x(p->intensity), axes.y(p->rate), radius_of(*p), p->prefill ? kTriangle : kCircle,
             {.stroke = "#ffffff", .width = 1, .fill = colour(static_cast<int>(p->roof)), .opacity = 0.8}, tip);
    labels.occupy(axes.x(p->intensity), axes.y(p->rate), radius_of(*p));
  }
  for (const RooflinePoint* p : order) {
    if (p->roof == 0 && p->share >= kLabelShare)
      labels.place(axes.x(p->intensity), axes.y(p->rate), radius_of(*p), p->what);
  }
}

void draw_legend(Svg& svg, const Roofline& r) {
  const double x = kLeft + kPlotWidth + 26;
  double y = kTop + 10;
  bool two_peaks = false;
  for (std::size_t i = 0; i < r.roofs.size(); ++i) {
    const Roof& roof = r.roofs[i];
    svg.line(x - 8, y - 4, x + 8, y - 4, {.stroke = colour(static_cast<int>(i)), .width = 3});
    svg.text(x + 16, y, roof.name, {.size = 12, .bold = true});
    svg.text(x + 16, y + 15,
             fmt::format("{}, {}", format(FlopsPerSecond(roof.peak)), format(BytesPerSecond(roof.bandwidth))),
             {.size = 11, .fill = kFaint});
    two_peaks = two_peaks || (roof.peak_wide > 0 && roof.peak_wide < 0.99 * roof.peak);
    y += 38;
  }
  y += 6;
  const auto explain = [&](int shape, const char* text) {
    svg.mark(x, y - 4, 5, shape, {.fill = kFaint});
    svg.text(x + 16, y, text, {.size = 11, .fill = kFaint});
    y += 20;
  };
  explain(kCircle, "operator of a decode step");
  explain(kTriangle, "operator of a prefill");
  svg.text(x - 6, y, "the area is its share of the time", {.size = 11, .fill = kFaint});
  y += 20;
  if (two_peaks) {
    svg.line(x - 8, y - 4, x + 8, y - 4, {.stroke = kFaint, .width = 1.5, .dashes = "4 3"});
    svg.text(x + 16, y, "peak in 16 bits", {.size = 11, .fill = kFaint});
  }
}

}  // namespace

std::string roofline_svg(const Roofline& roofline) {
  Svg svg(kWidth, kHeight);
  svg.rectangle(0, 0, kWidth, kHeight, {.fill = "#ffffff"});
  const Axes axes(roofline);
  draw_frame(svg, roofline, axes);
  for (std::size_t i = 0; i < roofline.roofs.size(); ++i) {
    draw_roof(svg, roofline.roofs[i], axes, colour(static_cast<int>(i)));
  }
  draw_points(svg, roofline, axes);
  draw_legend(svg, roofline);
  return svg.finish();
}

}  // namespace ridge::report
