// The roofline with operators on it: how much work a byte brings against how fast it is done.
//
//   Roofline r{.title = "llama3.3-70b"};
//   r.roofs = {{"h200-sxm", 4.8e12, 1978.9e12, 989.4e12}};
//   r.points = {{0, "gate and up", 125, 4.1e14, 0.3, false}};
//   std::string svg = roofline_svg(r);                   // self-contained
//
// Points without work or bytes are left out. Pure; any thread.
#pragma once

#include <string>
#include <vector>

namespace ridge::report {

/// What a device can do at most.
struct Roof {
  std::string name;
  double bandwidth = 0;  ///< bytes/s
  double peak = 0;       ///< FLOP/s in the format of the products
  double peak_wide = 0;  ///< the same in 16 bits; drawn too if it is another
};

struct RooflinePoint {
  std::size_t roof = 0;
  std::string what;
  double intensity = 0;  ///< FLOP per byte
  double rate = 0;       ///< FLOP/s reached
  double share = 0;      ///< of the time of its phase: the size of the mark
  bool prefill = false;  ///< else of a decode step
};

struct Roofline {
  std::string title;
  std::string subtitle;
  std::vector<Roof> roofs;
  std::vector<RooflinePoint> points;
};

[[nodiscard]] std::string roofline_svg(const Roofline& roofline);

}  // namespace ridge::report
