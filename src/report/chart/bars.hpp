// Horizontal bars: one line per name, groups of bars side by side in colours, the figure at the end of each.
//
//   Bars b{.title = "DeepSeek-R1, Offline", .axis = "tokens/s per accelerator", .series = {"v5.1"}};
//   b.lines = {{"b200-sxm-180gb", {3935.8}, {"5 systems"}}, {"gb200", {4023.8}, {"1 system"}}};
//   std::string svg = bars_svg(b);                    // one self-contained figure
//   std::string text = bars_text(b);                  // the same for Markdown and the terminal
//
// Values that are not positive and finite are left out. Pure; any thread.
#pragma once

#include <string>
#include <vector>

namespace ridge::report {

struct BarLine {
  std::string name;
  std::vector<double> values;      ///< one per series; NaN where there is none
  std::vector<std::string> notes;  ///< shown behind the figure, faint; may be short or empty
};

struct Bars {
  std::string title;
  std::string subtitle;
  std::string axis;  ///< what is drawn, with its unit
  std::vector<std::string> series;
  std::vector<BarLine> lines;
};

[[nodiscard]] std::string bars_svg(const Bars& bars);
/// Bars of at most `width` block characters, with their figures.
[[nodiscard]] std::string bars_text(const Bars& bars, int width = 36);

/// Lines over named points, for trends: one line per series, gaps where a value is not positive.
struct Trend {
  std::string title;
  std::string subtitle;
  std::string axis;
  std::vector<std::string> points;  ///< names along the bottom
  std::vector<std::string> series;
  std::vector<std::vector<double>> values;  ///< [series][point]
};
[[nodiscard]] std::string trend_svg(const Trend& trend);

/// Finished figures below each other in one.
[[nodiscard]] std::string stacked(const std::vector<std::string>& figures);

}  // namespace ridge::report
