// Board power by what a device does on average, shared by inference and diffusion; its limit lowered, shared by all.
//
//   double watts = device_power(rates, coefficients, {flops, bytes, seconds, waiting});
//   Result<std::vector<std::string>> said = cap_power(rates, 500, "h100-sxm", calibration);
//
// Pure; any thread.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "perf/kernels.hpp"

namespace ridge::perf {

/// Shares of the board's power; the parameters power.* of the calibration.
struct PowerCoefficients {
  double idle = 0.2;
  double running = 0;       ///< beyond idle while it works at all: clocks are up, units awake
  double memory = 0.2;      ///< of saturated memory traffic, before saturation
  double compute = 2;       ///< of saturated matrix units, before saturation
  double saturation = 0.5;  ///< exponent: what memory and matrix units take together grows more slowly than their work
  double cap = 0.97;
};

[[nodiscard]] inline PowerCoefficients power_coefficients(const Calibration& calibration,
                                                          std::string_view architecture) {
  return {calibration.value("power.idle", {architecture}),
          calibration.value("power.running", {architecture}),
          calibration.value("power.memory"),
          calibration.value("power.compute"),
          calibration.value("power.saturation"),
          calibration.value("power.cap")};
}

/// What an operation on zeros takes of one on numbers: operands hardly change, clocks and instructions do not care.
inline constexpr double kFillerWork = 0.6;

/// Of the time, at least: what waits for itself still does its work at some time.
inline constexpr double kLeastBusy = 0.1;

/// Work of one device and the time it took.
struct DeviceActivity {
  double flops = 0, bytes = 0, seconds = 0;
  double waiting = 0;  ///< of these seconds: for the host, for launches or for other devices
};

[[nodiscard]] inline double device_power(const DeviceRates& rates, const PowerCoefficients& power,
                                         const DeviceActivity& a) noexcept {
  if (a.seconds <= 0) return 0;
  const double peak = rates.peak[static_cast<std::size_t>(Format::bf16)];
  // A mean over time: what matters is how hard the device works while it works, and how long.
  const double busy = std::max(a.seconds - a.waiting, kLeastBusy * a.seconds);
  const double memory = std::min(1.0, a.bytes / busy / rates.memory_bandwidth);
  const double compute = std::min(1.0, peak > 0 ? a.flops / busy / peak : 0.0);
  const double working = std::pow(power.memory * memory + power.compute * compute, power.saturation);
  const double share = power.idle + (power.running + working) * busy / a.seconds;
  return std::min(rates.tdp * std::min(share, power.cap), std::max(rates.power_limit, 0.0));
}

/// Lowers what the board may draw, and says what was taken for granted. Refuses (refused) a cap that it exceeds idle.
Result<std::vector<std::string>> cap_power(DeviceRates& rates, double cap_w, const std::string& device,
                                           const Calibration& calibration);

}  // namespace ridge::perf
