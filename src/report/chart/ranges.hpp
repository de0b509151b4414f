// Predictions beside each other: a dot, its interval as a bar through it, one line per name.
//
//   Ranges r{.title = "What a million tokens cost", .axis = "$ per million output tokens", .limit = 0, ...};
//   r.lines = {{"b200-sxm-180", {0.31, 0.42, 0.55}, "rank 1"}};
//   std::string svg = ranges_svg(r);                  // one self-contained figure
//
// The axis begins at zero, or is logarithmic where the values span more than a factor of thirty. Lines that are not
// positive and finite are left out. Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "ridge/perf/perf.hpp"

namespace ridge::report {

struct RangeLine {
  std::string name;
  Interval value;
  std::string note = {};  ///< behind the figure, faint
};

struct Ranges {
  std::string title;
  std::string subtitle;
  std::string axis;  ///< what is drawn, with its unit
  std::vector<RangeLine> lines;
  double limit = 0;  ///< an upright dashed line; 0 = none
};

[[nodiscard]] std::string ranges_svg(const Ranges& ranges);

}  // namespace ridge::report
