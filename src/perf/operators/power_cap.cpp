#include <fmt/format.h>

#include "perf/operators/power.hpp"

namespace ridge::perf {

namespace {
constexpr double kLeastMeasuredCap = 0.4;  ///< of the power limit: what published runs were capped to
}

Result<std::vector<std::string>> cap_power(DeviceRates& rates, double cap_w, const std::string& device,
                                           const Calibration& calibration) {
  const double idle = rates.tdp * calibration.value("power.idle", {rates.architecture});
  if (cap_w <= idle) {
    return Error{ErrorCode::refused, "⟦power_cap⟧",
                 fmt::format("{:.0f} W is no more than {} draws idle, about {:.0f} W", cap_w, device, idle)};
  }
  std::vector<std::string> said;
  if (rates.tdp > 0 && cap_w >= rates.tdp) {
    said.push_back(fmt::format("a cap of {:.0f} W is above the limit of {}, {:.0f} W: it changes nothing", cap_w,
                               device, rates.tdp));
    return said;
  }
  rates.power_cap = cap_w;
  rates.idle_power = idle;
  rates.sustained_clock = sustained_clock_share(rates, calibration);
  said.push_back(
      fmt::format("power capped at {:.0f} W per device, on the mean: work that draws less keeps its speed; what a cap "
                  "takes from it is known to {:.0f} % of it",
                  cap_w, 100 * kUnsureOfCap));
  if (cap_w < kLeastMeasuredCap * rates.tdp) {
    said.push_back(fmt::format("caps below {:.0f} % of the limit were never measured: speed there is extrapolated",
                               100 * kLeastMeasuredCap));
  }
  return said;
}

}  // namespace ridge::perf
