#include "report/chart/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "ridge/base/change.hpp"

namespace ridge::report {
namespace {

std::string number(double value) {
  std::string text = fmt::format("{:.2f}", value);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string path_of(std::span<const SvgPoint> points) {
  std::string text;
  for (const SvgPoint& p : points) {
    if (!text.empty()) text += ' ';
    text += number(p.x) + "," + number(p.y);
  }
  return text;
}

}  // namespace

Svg::Svg(double width, double height)
    : out_(fmt::format(
          "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
          "font-family=\"system-ui, 'DejaVu Sans', Arial, 'Noto Sans CJK SC', 'Noto Sans SC', 'PingFang SC', "
          "'Microsoft YaHei', 'WenQuanYi Zen Hei', SimHei, sans-serif\">\n",
          number(width), number(height))) {}

void Svg::close(const Stroke& style, std::string_view tip) {
  out_ += fmt::format(" fill=\"{}\"", style.fill);
  if (style.stroke != "none")
    out_ += fmt::format(" stroke=\"{}\" stroke-width=\"{}\"", style.stroke, number(style.width));
  if (style.opacity < 1) out_ += fmt::format(" opacity=\"{}\"", number(style.opacity));
  if (!style.dashes.empty()) out_ += fmt::format(" stroke-dasharray=\"{}\"", style.dashes);
  out_ += tip.empty() ? "/>\n" : fmt::format("><title>{}</title>", escape_markup(tip));
}

void Svg::line(double x1, double y1, double x2, double y2, const Stroke& style) {
  out_ += fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"", number(x1), number(y1), number(x2), number(y2));
  close(style);
}

void Svg::rectangle(double x, double y, double width, double height, const Stroke& style) {
  out_ += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"", number(x), number(y), number(width),
                      number(height));
  close(style);
}

void Svg::polygon(std::span<const SvgPoint> points, const Stroke& style) {
  out_ += fmt::format("<polygon points=\"{}\"", path_of(points));
  close(style);
}

void Svg::polyline(std::span<const SvgPoint> points, const Stroke& style) {
  out_ += fmt::format("<polyline points=\"{}\"", path_of(points));
  close(style);
}

void Svg::text(double x, double y, std::string_view content, const TextStyle& style) {
  out_ += fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"{}\" fill=\"{}\"", number(x), number(y), number(style.size),
                      style.fill);
  if (style.anchor != "start") out_ += fmt::format(" text-anchor=\"{}\"", style.anchor);
  if (style.bold) out_ += " font-weight=\"600\"";
  if (style.turned != 0) {
    out_ += fmt::format(" transform=\"rotate({} {} {})\"", number(style.turned), number(x), number(y));
  }
  out_ += fmt::format(">{}</text>\n", escape_markup(content));
}

void Svg::mark(double x, double y, double radius, int shape, const Stroke& style, std::string_view tip) {
  const double r = radius;
  std::string_view tag = "polygon";
  switch (((shape % 4) + 4) % 4) {
    case 0:
      tag = "circle";
      out_ += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\"", number(x), number(y), number(r));
      break;
    case 1: {
      const double s = r * 0.89;  // the area of the circle
      tag = "rect";
      out_ += fmt::format("<rect x=\"{0}\" y=\"{1}\" width=\"{2}\" height=\"{2}\"", number(x - s), number(y - s),
                          number(2 * s));
      break;
    }
    case 2: {
      const std::array<SvgPoint, 3> p{{{x, y - 1.35 * r}, {x + 1.17 * r, y + 0.67 * r}, {x - 1.17 * r, y + 0.67 * r}}};
      out_ += fmt::format("<polygon points=\"{}\"", path_of(p));
      break;
    }
    default: {
      const double s = r * 1.25;
      const std::array<SvgPoint, 4> p{{{x, y - s}, {x + s, y}, {x, y + s}, {x - s, y}}};
      out_ += fmt::format("<polygon points=\"{}\"", path_of(p));
    }
  }
  close(style, tip);
  if (!tip.empty()) out_ += fmt::format("</{}>\n", tag);
}

void Svg::inset(double x, double y, std::string_view finished) {
  out_ += fmt::format("<g transform=\"translate({} {})\">\n", number(x), number(y));
  out_ += finished;
  out_ += "</g>\n";
}

std::string Svg::finish() {
  out_ += "</svg>\n";
  return std::move(out_);
}

std::string escape_markup(std::string_view text) {
  std::string out;
  for (const char c : phrased(text, Voice::flags)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return out;
}

std::string_view colour(int index) {
  static constexpr std::array<std::string_view, kColours> kPalette = {
      "#4269d0", "#e8862a", "#d6395c", "#2aa198", "#3b8f3b", "#b38600", "#a463c2", "#8a5a3c", "#e377a8", "#5c6b7a"};
  return kPalette[static_cast<std::size_t>(((index % kColours) + kColours) % kColours)];
}

std::vector<double> logarithmic_ticks(double low, double high, int limit) {
  std::vector<double> fine;
  std::vector<double> decades;
  if (!(low > 0) || !(high >= low)) return fine;
  const int first = static_cast<int>(std::floor(std::log10(low)));
  const int last = static_cast<int>(std::ceil(std::log10(high)));
  const double slack = 1e-9;
  for (int e = first; e <= last; ++e) {
    for (const double step : {1.0, 2.0, 5.0}) {
      const double v = step * std::pow(10.0, e);
      if (v < low * (1 - slack) || v > high * (1 + slack)) continue;
      fine.push_back(v);
      if (step == 1.0) decades.push_back(v);
    }
  }
  if (static_cast<int>(fine.size()) <= limit || decades.size() < 2) return fine;
  const std::size_t every = (decades.size() + static_cast<std::size_t>(limit) - 1) / static_cast<std::size_t>(limit);
  std::vector<double> kept;
  for (std::size_t i = 0; i < decades.size(); i += every) kept.push_back(decades[i]);
  return kept;
}

std::vector<double> linear_ticks(double low, double high, int limit) {
  std::vector<double> ticks;
  if (!(high > low) || limit < 2) return ticks;
  const double raw = (high - low) / (limit - 1);
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  double step = 10 * power;
  for (const double s : {1.0, 2.0, 5.0}) {
    if (s * power >= raw * (1 - 1e-9)) {
      step = s * power;
      break;
    }
  }
  for (double n = std::ceil(low / step - 1e-9); n * step <= high + step * 1e-9; ++n) ticks.push_back(n * step);
  return ticks;
}

std::string tick_label(double value) {
  const double size = std::abs(value);
  if (size == 0) return "0";
  if (size >= 1e13 || size < 1e-4) return fmt::format("{:.0e}", value);
  if (size >= 1e12) return fmt::format("{:g}T", value / 1e12);
  if (size >= 1e9) return fmt::format("{:g}G", value / 1e9);
  if (size >= 1e6) return fmt::format("{:g}M", value / 1e6);
  if (size >= 1e4) return fmt::format("{:g}k", value / 1e3);
  return fmt::format("{:g}", value);
}

}  // namespace ridge::report
