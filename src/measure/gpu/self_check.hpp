// The kernels of ridge-measure against plain ones: what is timed also has to be right.
//
//   for (const CheckLine& line : check_kernels(bench)) ...;    // relative error ||out - plain|| / ||plain||
//
// Throws GpuFailure.
#pragma once

#include <string>
#include <vector>

#include "measure/gpu/suite.hpp"

namespace ridge::measure {

struct CheckLine {
  std::string what;
  double error = 0;
  double allowed = 0;
  [[nodiscard]] bool good() const { return error <= allowed; }  // false for NaN
};

[[nodiscard]] std::vector<CheckLine> check_kernels(Bench& bench);

}  // namespace ridge::measure
