// Predicted against measured, both axes logarithmic: how far each point is from the diagonal is its error.
//
//   Scatter s{.title = "output tokens/s, offline", .axis = "tokens/s"};
//   s.series = {{"h100-sxm", 0}, {"b200-sxm-180", 1}};
//   s.points = {{1200, 1100, 0, "inf-0001: 1200 measured, 1100 predicted"}};
//   std::string svg = scatter_svg(s);                 // one self-contained figure
//   std::string page = scatter_page(text, all, {});   // HTML with one figure per metric, no scripts
//
// Points that are not positive and finite are left out. Pure; any thread.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "report/page/provenance.hpp"
#include "ridge/report/report.hpp"

namespace ridge::report {

/// What one colour and shape stands for. `style` fixes both, so that a device looks the same in every figure of a page.
struct ScatterSeries {
  std::string name;
  int style = 0;
};

struct ScatterPoint {
  double measured = 0;
  double predicted = 0;
  std::size_t series = 0;
  std::string tip;  ///< shown under the pointer
};

struct Scatter {
  std::string title;
  std::string subtitle;
  std::string axis;  ///< what is measured, with its unit: "tokens/s", "seconds"
  std::vector<ScatterSeries> series;
  std::vector<ScatterPoint> points;
  double band = 0.2;  ///< half width of the grey band: predictions within it are 20 % off at most
};

inline constexpr double kScatterWidth = 720;
inline constexpr double kScatterHeight = 560;

[[nodiscard]] std::string scatter_svg(const Scatter& scatter);
/// All figures in one SVG, `columns` beside each other.
[[nodiscard]] std::string scatter_sheet(std::span<const Scatter> scatters, int columns = 2);
/// A page with the text, the figures, and where it all is from.
[[nodiscard]] std::string scatter_page(const Document& text, std::span<const Scatter> scatters,
                                       const Provenance& provenance);

}  // namespace ridge::report
