// Pictures of cost: where each cent goes, curves against one variable, what moves the answer.
//
//   std::string svg = waterfall_svg({.title = "...", .unit = "$/GPU-hour", .steps = {{"server", 0.68},
//   {"rent", 1.2}}});
//
// Self-contained SVG in the style of the other figures. What is not finite is left out. Pure; any thread.
#pragma once

#include <string>
#include <vector>

namespace ridge::report {

struct WaterfallStep {
  std::string name;
  double amount = 0;      ///< negative goes down
  bool subtotal = false;  ///< drawn from zero: `amount` is the sum so far
};

struct Waterfall {
  std::string title;
  std::string subtitle;
  std::string unit;
  std::vector<WaterfallStep> steps;
};
[[nodiscard]] std::string waterfall_svg(const Waterfall& waterfall);

struct CurvePoint {
  double x = 0, y = 0;
  std::string tip = {};
};
struct CurveSeries {
  std::string name;
  std::vector<CurvePoint> points;
  bool dashed = false;
  bool marks = true;
};
/// A place worth pointing at.
struct CurveNote {
  double x = 0, y = 0;
  std::string text;
};

struct CurveChart {
  std::string title;
  std::string subtitle;
  std::string x_axis;
  std::string y_axis;
  bool logarithmic_x = false;
  bool logarithmic_y = false;
  bool from_zero = true;  ///< linear y starts at zero
  std::vector<CurveSeries> series;
  std::vector<CurveNote> notes;
};
[[nodiscard]] std::string curve_svg(const CurveChart& chart);

struct TornadoBar {
  std::string name;
  double low = 0, high = 0;         ///< of the answer, at the low and the high end of the input
  std::string low_text, high_text;  ///< the ends of the input
};
struct Tornado {
  std::string title;
  std::string subtitle;
  std::string axis;
  double middle = 0;
  std::vector<TornadoBar> bars;  ///< widest first
};
[[nodiscard]] std::string tornado_svg(const Tornado& tornado);

}  // namespace ridge::report
