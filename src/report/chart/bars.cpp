#include "report/chart/bars.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "report/chart/svg.hpp"
#include "ridge/base/text.hpp"
#include "ridge/report/report.hpp"

namespace ridge::report {

namespace {

constexpr double kWidth = 820;
constexpr double kLeftLeast = 120;
constexpr double kRight = 150;  // for the figures behind the bars
constexpr double kTop = 64;
constexpr double kBottom = 44;
constexpr double kBar = 14;
constexpr double kBetween = 9;

bool drawable(double value) {
  return std::isfinite(value) && value > 0;
}

/// About what a text takes at size 12.
double text_width(std::string_view text) {
  return 7.2 * display_width(text);
}

double greatest(const Bars& bars) {
  double most = 0;
  for (const BarLine& line : bars.lines) {
    for (const double value : line.values) {
      if (drawable(value)) most = std::max(most, value);
    }
  }
  return most;
}

void draw_heads(Svg& svg, const std::string& title, const std::string& subtitle) {
  svg.text(16, 26, title, {.size = 15, .bold = true});
  svg.text(16, 44, subtitle, {.size = 12, .fill = kFaint});
}

void draw_legend(Svg& svg, const std::vector<std::string>& series, double y) {
  if (series.size() < 2) return;
  double x = 16;
  for (std::size_t i = 0; i < series.size(); ++i) {
    svg.rectangle(x, y - 9, 10, 10, {.fill = colour(static_cast<int>(i))});
    svg.text(x + 15, y, series[i], {.size = 12});
    x += 15 + text_width(series[i]) + 18;
  }
}

}  // namespace

std::string bars_svg(const Bars& bars) {
  const std::size_t series = std::max<std::size_t>(1, bars.series.size());
  double left = kLeftLeast;
  for (const BarLine& line : bars.lines) left = std::max(left, text_width(line.name) + 28);
  const double legend = series > 1 ? 22 : 0;
  const double top = kTop + legend;
  const double pitch = kBar * static_cast<double>(series) + kBetween;
  const double height = top + pitch * static_cast<double>(bars.lines.size());
  const double width = kWidth - left - kRight;
  const double most = std::max(greatest(bars), 1e-300);

  Svg svg(kWidth, height + kBottom);
  svg.rectangle(0, 0, kWidth, height + kBottom, {.fill = "#ffffff"});
  draw_heads(svg, bars.title, bars.subtitle);
  draw_legend(svg, bars.series, kTop + 6);
  for (const double tick : linear_ticks(0, most, 6)) {
    const double x = left + width * tick / most;
    svg.line(x, top - 4, x, height, {.stroke = kGrid});
    svg.text(x, height + 16, tick_label(tick), {.anchor = "middle", .size = 11, .fill = kFaint});
  }
  svg.text(left + width / 2, height + 34, bars.axis, {.anchor = "middle", .size = 12});
  double y = top;
  for (const BarLine& line : bars.lines) {
    svg.text(left - 10, y + kBar * static_cast<double>(series) / 2 + 4, line.name, {.anchor = "end", .size = 12});
    for (std::size_t s = 0; s < std::min(series, line.values.size()); ++s) {
      const double value = line.values[s];
      if (!drawable(value)) continue;
      const double bar_top = y + kBar * static_cast<double>(s);
      svg.rectangle(left, bar_top + 1, std::max(1.0, width * value / most), kBar - 2,
                    {.fill = colour(static_cast<int>(s))});
      const std::string figure = format_number(value);
      const double x = left + width * value / most + 6;
      svg.text(x, bar_top + 11, figure, {.size = 11});
      if (s < line.notes.size() && !line.notes[s].empty()) {
        svg.text(x + text_width(figure) + 6, bar_top + 11, line.notes[s], {.size = 10, .fill = kFaint});
      }
    }
    y += pitch;
  }
  svg.line(left, top - 4, left, height, {.stroke = "#afb8c1"});
  return svg.finish();
}

std::string bars_text(const Bars& bars, int width) {
  const double most = std::max(greatest(bars), 1e-300);
  int longest = 0;
  int widest = 0;
  for (const BarLine& line : bars.lines) longest = std::max(longest, display_width(line.name));
  for (const std::string& name : bars.series) widest = std::max(widest, display_width(name));
  const bool named = bars.series.size() > 1;
  const auto padded = [](const std::string& text, int columns) {
    return text + std::string(static_cast<std::size_t>(std::max(0, columns - display_width(text))), ' ');
  };
  std::string out;
  for (const BarLine& line : bars.lines) {
    bool first = true;
    for (std::size_t s = 0; s < line.values.size(); ++s) {
      if (!drawable(line.values[s])) continue;
      out += padded(first ? line.name : "", longest) + "  ";
      if (named && s < bars.series.size()) out += padded(bars.series[s], widest) + "  ";
      const double eighths = 8 * width * line.values[s] / most;
      const int full = static_cast<int>(eighths / 8);
      const int rest = static_cast<int>(std::lround(eighths)) - 8 * full;
      static constexpr const char* kParts[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};
      for (int i = 0; i < full; ++i) out += "█";
      out += kParts[std::clamp(rest, full == 0 ? 1 : 0, 8)];
      out += " " + format_number(line.values[s]);
      if (s < line.notes.size() && !line.notes[s].empty()) out += "  " + line.notes[s];
      out += "\n";
      first = false;
    }
  }
  return out;
}

std::string trend_svg(const Trend& trend) {
  constexpr double kLeft = 84;
  constexpr double kPlotHeight = 340;
  double legend_width = 120;
  for (const std::string& name : trend.series) legend_width = std::max(legend_width, 0.92 * text_width(name) + 44);
  const double width = kWidth - kLeft - legend_width;
  double low = std::numeric_limits<double>::infinity();
  double high = 0;
  for (const auto& line : trend.values) {
    for (const double value : line) {
      if (!drawable(value)) continue;
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
  if (!(high > 0)) low = high = 1;
  low /= 1.15;
  high *= 1.15;
  const auto y = [&](double value) { return kTop + kPlotHeight * (std::log(high / value) / std::log(high / low)); };
  const double step = trend.points.size() > 1 ? width / static_cast<double>(trend.points.size() - 1) : 0;
  const auto x = [&](std::size_t i) {
    return kLeft + (trend.points.size() > 1 ? step * static_cast<double>(i) : width / 2);
  };

  Svg svg(kWidth, kTop + kPlotHeight + kBottom);
  svg.rectangle(0, 0, kWidth, kTop + kPlotHeight + kBottom, {.fill = "#ffffff"});
  draw_heads(svg, trend.title, trend.subtitle);
  for (const double tick : logarithmic_ticks(low, high)) {
    svg.line(kLeft, y(tick), kLeft + width, y(tick), {.stroke = kGrid});
    svg.text(kLeft - 7, y(tick) + 4, tick_label(tick), {.anchor = "end", .size = 11, .fill = kFaint});
  }
  for (std::size_t i = 0; i < trend.points.size(); ++i) {
    svg.text(x(i), kTop + kPlotHeight + 18, trend.points[i], {.anchor = "middle", .size = 11, .fill = kFaint});
  }
  svg.text(24, kTop + kPlotHeight / 2, trend.axis, {.anchor = "middle", .size = 12, .turned = -90});
  svg.rectangle(kLeft, kTop, width, kPlotHeight, {.stroke = "#afb8c1"});
  const double pitch = std::min(20.0, kPlotHeight / std::max<double>(1, static_cast<double>(trend.series.size())));
  double legend = kTop + 10;
  for (std::size_t s = 0; s < trend.series.size() && s < trend.values.size(); ++s) {
    const auto style = static_cast<int>(s);
    std::vector<SvgPoint> line;
    for (std::size_t i = 0; i < trend.points.size() && i < trend.values[s].size(); ++i) {
      const double value = trend.values[s][i];
      if (!drawable(value)) continue;
      line.push_back({x(i), y(value)});
    }
    if (line.empty()) continue;
    svg.polyline(line, {.stroke = colour(style), .width = 1.8});
    for (std::size_t i = 0; i < trend.points.size() && i < trend.values[s].size(); ++i) {
      const double value = trend.values[s][i];
      if (!drawable(value)) continue;
      svg.mark(x(i), y(value), 3.6, style / kColours, {.fill = colour(style)},
               fmt::format("{} {}: {}", trend.series[s], trend.points[i], format_number(value)));
    }
    svg.mark(kLeft + width + 22, legend - 4, 4, style / kColours, {.fill = colour(style)});
    svg.text(kLeft + width + 34, legend, trend.series[s], {.size = 11});
    legend += pitch;
  }
  return svg.finish();
}

std::string stacked(const std::vector<std::string>& figures) {
  const auto height_of = [](const std::string& svg) {
    const std::size_t at = svg.find("height=\"");
    return at == std::string::npos ? 0.0 : std::strtod(svg.c_str() + at + 8, nullptr);
  };
  double height = 0;
  for (const std::string& figure : figures) height += height_of(figure);
  Svg svg(kWidth, height);
  double y = 0;
  for (const std::string& figure : figures) {
    svg.inset(0, y, figure);
    y += height_of(figure);
  }
  return svg.finish();
}

}  // namespace ridge::report
