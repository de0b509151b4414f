// What a board draws, and how long a step takes, while it does one thing.
//
//   PowerPrediction p = predict_power(c, knowledge, false);   // true: from the datasheet alone
//   p.watts;                                                  // of all devices; NaN where p.refusal says why
//
// Pure; any thread.
#pragma once

#include <limits>
#include <string>

#include "evidence/cases/power_cases.hpp"
#include "ridge/perf/inference.hpp"

namespace ridge::evidence {

struct PowerPrediction {
  double watts = std::numeric_limits<double>::quiet_NaN();
  double seconds = std::numeric_limits<double>::quiet_NaN();  ///< one copy, product or step; not for idling
  double joules_per_token = std::numeric_limits<double>::quiet_NaN();
  std::string refusal;
};

[[nodiscard]] PowerPrediction predict_power(const PowerCase& c, const Knowledge& knowledge, bool roofline);

}  // namespace ridge::evidence
