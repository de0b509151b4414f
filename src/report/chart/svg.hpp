// A small writer of SVG: what the figures of reports are drawn with.
//
//   Svg svg(640, 480);
//   svg.line(40, 440, 600, 440, {.stroke = "#333"});
//   svg.text(320, 470, "batch size", {.anchor = "middle"});
//   std::string file = svg.finish();          // a whole, self-contained document
//
// Text is escaped; control characters become spaces. Numbers are written with at most two decimals and without locale.
// Pure but for the object itself; one thread per object.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ridge::report {

inline constexpr std::string_view kFaint = "#6e7781";  ///< notes, labels of axes
inline constexpr std::string_view kGrid = "#e4e7eb";   ///< lines behind what is drawn

struct Stroke {
  std::string_view stroke = "none";
  double width = 1;
  std::string_view fill = "none";
  double opacity = 1;
  std::string_view dashes = {};  ///< "4 3"
};

struct TextStyle {
  std::string_view anchor = "start";  ///< start, middle, end
  double size = 12;
  std::string_view fill = "#24292f";
  bool bold = false;
  double turned = 0;  ///< degrees, around the point
};

struct SvgPoint {
  double x = 0;
  double y = 0;
};

class Svg {
 public:
  Svg(double width, double height);

  void line(double x1, double y1, double x2, double y2, const Stroke& style);
  void rectangle(double x, double y, double width, double height, const Stroke& style);
  void polygon(std::span<const SvgPoint> points, const Stroke& style);
  void polyline(std::span<const SvgPoint> points, const Stroke& style);
  void text(double x, double y, std::string_view content, const TextStyle& style = {});
  /// A mark of one of four shapes (0 circle, 1 square, 2 triangle, 3 diamond); `tip` is shown under the pointer.
  void mark(double x, double y, double radius, int shape, const Stroke& style, std::string_view tip = {});
  /// Another figure, already finished, with its upper left corner at (x, y).
  void inset(double x, double y, std::string_view finished);

  /// The document. The object is empty afterwards.
  [[nodiscard]] std::string finish();

 private:
  void close(const Stroke& style, std::string_view tip = {});
  std::string out_;
};

/// Text for use between tags or in attributes.
[[nodiscard]] std::string escape_markup(std::string_view text);

/// Colours that stay apart for most kinds of colour vision; they repeat after kColours.
inline constexpr int kColours = 10;
[[nodiscard]] std::string_view colour(int index);

/// Ticks of a logarithmic axis at 1, 2 and 5 times powers of ten within [low, high]; only powers of ten if there would
/// be more than `limit`, and only some of them if there would still be more.
[[nodiscard]] std::vector<double> logarithmic_ticks(double low, double high, int limit = 12);
/// Ticks of a linear axis at a step of 1, 2 or 5 times a power of ten, at most `limit` of them.
[[nodiscard]] std::vector<double> linear_ticks(double low, double high, int limit = 8);
/// "0.02", "500", "20k", "5M", "1e-05": a tick without its unit, which stands in the label of the axis.
[[nodiscard]] std::string tick_label(double value);

}  // namespace ridge::report
