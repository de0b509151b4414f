#include "report/chart/ranges.hpp"

#include <algorithm>
#include <cmath>

#include "report/chart/svg.hpp"
#include "ridge/base/text.hpp"
#include "ridge/report/report.hpp"

namespace ridge::report {

namespace {

constexpr double kWidth = 820;
constexpr double kLeftLeast = 120;
constexpr double kRight = 190;  // for the figures behind the bars
constexpr double kTop = 64;
constexpr double kBottom = 44;
constexpr double kPitch = 24;
constexpr double kMostLinear = 30;  // beyond that factor the small ones would lie on the axis

bool drawable(const Interval& i) {
  return i.low > 0 && i.mid >= i.low && i.high >= i.mid && std::isfinite(i.high);
}

class Axis {
 public:
  Axis(const Ranges& ranges, double left) : left_(left), width_(kWidth - left - kRight) {
    double least = 0;
    for (const RangeLine& line : ranges.lines) {
      if (!drawable(line.value)) continue;
      least = least == 0 ? line.value.low : std::min(least, line.value.low);
      high_ = std::max(high_, line.value.high);
    }
    high_ = std::max(high_, ranges.limit);
    if (high_ <= 0) high_ = 1;
    log_ = least > 0 && high_ / least > kMostLinear;
    low_ = log_ ? least * 0.9 : 0;
  }
  [[nodiscard]] double x(double value) const {
    const double share = log_ ? std::log(value / low_) / std::log(high_ / low_) : value / high_;
    return left_ + width_ * share;
  }
  [[nodiscard]] std::vector<double> ticks() const {
    return log_ ? logarithmic_ticks(low_, high_, 7) : linear_ticks(0, high_, 7);
  }
  [[nodiscard]] double middle() const { return left_ + width_ / 2; }

 private:
  double left_;
  double width_;
  double low_ = 0;
  double high_ = 0;
  bool log_ = false;
};

}  // namespace

std::string ranges_svg(const Ranges& ranges) {
  std::vector<const RangeLine*> lines;
  double left = kLeftLeast;
  for (const RangeLine& line : ranges.lines) {
    if (!drawable(line.value)) continue;
    lines.push_back(&line);
    left = std::max(left, 7.2 * display_width(line.name) + 28);
  }
  const Axis axis(ranges, left);
  const double bottom = kTop + kPitch * static_cast<double>(lines.size());

  Svg svg(kWidth, bottom + kBottom);
  svg.rectangle(0, 0, kWidth, bottom + kBottom, {.fill = "#ffffff"});
  svg.text(16, 26, ranges.title, {.size = 15, .bold = true});
  svg.text(16, 44, ranges.subtitle, {.size = 12, .fill = kFaint});
  for (const double tick : axis.ticks()) {
    svg.line(axis.x(tick), kTop - 4, axis.x(tick), bottom, {.stroke = kGrid});
    svg.text(axis.x(tick), bottom + 16, tick_label(tick), {.anchor = "middle", .size = 11, .fill = kFaint});
  }
  svg.text(axis.middle(), bottom + 34, ranges.axis, {.anchor = "middle", .size = 12});
  if (ranges.limit > 0) {
    svg.line(axis.x(ranges.limit), kTop - 4, axis.x(ranges.limit), bottom, {.stroke = "#cf222e", .dashes = "5 4"});
    svg.text(axis.x(ranges.limit), kTop - 8, "limit", {.anchor = "middle", .size = 11, .fill = "#cf222e"});
  }
  double y = kTop + kPitch / 2;
  for (const RangeLine* line : lines) {
    const Interval& i = line->value;
    svg.text(left - 12, y + 4, line->name, {.anchor = "end", .size = 12});
    svg.line(axis.x(i.low), y, axis.x(i.high), y, {.stroke = colour(0), .width = 6, .opacity = 0.35});
    svg.mark(axis.x(i.mid), y, 4.5, 0, {.stroke = "#ffffff", .fill = colour(0)},
             format_number(i.mid) + " (" + format_number(i.low) + "–" + format_number(i.high) + ")");
    const std::string figure = format_number(i.mid);
    svg.text(axis.x(i.high) + 8, y + 4, figure, {.size = 11});
    if (!line->note.empty()) {
      svg.text(axis.x(i.high) + 14 + 6.6 * display_width(figure), y + 4, line->note, {.size = 10, .fill = kFaint});
    }
    y += kPitch;
  }
  svg.line(left, kTop - 4, left, bottom, {.stroke = "#afb8c1"});
  return svg.finish();
}

}  // namespace ridge::report
