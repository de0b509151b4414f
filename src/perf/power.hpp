// Board power by what a device does on average; shared by inference and diffusion.
//
//   double watts = device_power(rates, coefficients, {flops, bytes, seconds});
//
// Pure; any thread.
#pragma once

#include <algorithm>
#include <cmath>

#include "perf/kernels.hpp"

namespace ridge::perf {

/// Shares of the board's power; the parameters power.* of the calibration.
struct PowerCoefficients {
  double idle = 0.2;
  double memory = 0.5;
  double compute = 0.5;
  double cap = 0.97;
};

[[nodiscard]] inline PowerCoefficients power_coefficients(const Calibration& calibration,
                                                          std::string_view architecture) {
  return {calibration.value("power.idle", {architecture}), calibration.value("power.memory", {architecture}),
          calibration.value("power.compute", {architecture}), calibration.value("power.cap")};
}

/// What an operation on zeros takes of one on numbers: operands hardly change, clocks and instructions do not care.
inline constexpr double kFillerWork = 0.6;

/// Work of one device and the time it took.
struct DeviceActivity {
  double flops = 0, bytes = 0, seconds = 0;
};

[[nodiscard]] inline double device_power(const DeviceRates& rates, const PowerCoefficients& power,
                                         const DeviceActivity& a) noexcept {
  if (a.seconds <= 0) return 0;
  const double peak = rates.peak[static_cast<std::size_t>(Format::bf16)];
  const double memory = std::min(1.0, a.bytes / a.seconds / rates.memory_bandwidth);
  const double compute = std::min(1.0, peak > 0 ? a.flops / a.seconds / peak : 0.0);
  const double share = power.idle + power.memory * std::pow(memory, 0.7) + power.compute * std::sqrt(compute);
  return std::min(rates.tdp * std::min(share, power.cap), std::max(rates.power_limit, 0.0));
}

}  // namespace ridge::perf
