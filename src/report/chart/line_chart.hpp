// Curves over one axis: latency distributions, timelines.
//
//   LineChart c{.title = "Time to first token", .x_axis = "seconds", .y_axis = "share of requests", .log_x = true};
//   c.series = {{"TTFT", points, 0}};
//   c.marks = {{0.5, "limit"}};                       // upright lines
//   std::string svg = line_chart_svg(c);
//
// Points outside the axes are left out; so are those that are not finite. Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "report/chart/svg.hpp"

namespace ridge::report {

struct LineSeries {
  std::string name;
  std::vector<SvgPoint> points;  ///< in the units of the axes, x growing
  int style = 0;
  double low = 1, high = 1;  ///< factors on x: the band of the prediction, drawn where they differ
};

struct LineMark {
  double x = 0;
  std::string name;
};

struct LineChart {
  std::string title;
  std::string subtitle;
  std::string x_axis;
  std::string y_axis;
  bool log_x = false;
  double y_top = 0;  ///< 0 = what the points need
  std::vector<LineSeries> series;
  std::vector<LineMark> marks;
  double width = 720;
  double height = 320;
};

[[nodiscard]] std::string line_chart_svg(const LineChart& chart);

}  // namespace ridge::report
