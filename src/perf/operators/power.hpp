// Board power by what a device does on average, shared by inference and diffusion; its limit lowered, shared by all.
//
//   double watts = device_power(rates, coefficients, {flops, bytes, seconds, waiting});
//   Result<std::vector<std::string>> said = cap_power(rates, 500, "h100-sxm", calibration);
//   double clock = clock_within(500, [&](double clock) { return watts of the work at that clock; });
//
// A cap limits the running mean: where the work draws less, nothing changes. Where it draws more, the clock of the
// cores falls. Power of the cores goes with f V^2; the voltage follows the clock down to a floor. Leakage, refresh and
// the board stay, memory draws by its traffic, and memory-bound work keeps its speed until the cores no longer ask for
// all that the memory could give.
//
// Pure; any thread.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "perf/operators/kernels.hpp"

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

/// Of the power of saturated memory on an H200, what the stacks and their links take, which goes with the bytes moved:
/// 4.8 TB/s at some 4.5 pJ a bit are 173 of 420 W. The rest is cores, caches and wires of the die, which goes with the
/// board's limit. The 4.5 pJ are assumed.
inline constexpr double kStacksShare = 0.41;
inline constexpr double kReferenceBytesPerJoule = 4.8e12 / 700;

/// Voltage that cores need at least, of that at the boost clock: about 0.65 of 1.0 V on recent processes. Assumed.
inline constexpr double kVoltageFloor = 0.65;
/// Share of the boost clock below which cores ask for less than memory could give. Assumed.
inline constexpr double kMemoryKnee = 0.5;

/// Dynamic power of busy cores at `clock` over that at the clock they have without a cap: f V^2.
[[nodiscard]] inline double core_power(const DeviceRates& rates, double clock) noexcept {
  const auto voltage = [](double share) { return std::max(kVoltageFloor, share); };
  const double v = voltage(rates.sustained_clock * clock) / voltage(rates.sustained_clock);
  return clock * v * v;
}

/// Of the memory bandwidth that the device reaches without a cap.
[[nodiscard]] inline double memory_left(const DeviceRates& rates, double clock) noexcept {
  return std::min(1.0, rates.sustained_clock * clock / kMemoryKnee);
}

[[nodiscard]] inline double device_power(const DeviceRates& rates, const PowerCoefficients& power,
                                         const DeviceActivity& a) noexcept {
  if (a.seconds <= 0) return 0;
  const double peak = rates.peak[static_cast<std::size_t>(Format::bf16)];
  // A mean over time: what matters is how hard the device works while it works, and how long.
  const double busy = std::max(a.seconds - a.waiting, kLeastBusy * a.seconds);
  const double memory = std::min(1.0, a.bytes / busy / rates.memory_bandwidth);
  const double compute = std::min(1.0, peak > 0 ? a.flops / busy / (peak * rates.clock) : 0.0);
  const double bytes_per_joule = rates.tdp > 0 ? rates.memory_bandwidth / rates.tdp : kReferenceBytesPerJoule;
  const double stacks = kStacksShare * (bytes_per_joule / kReferenceBytesPerJoule - 1);
  const double by_memory = power.memory * memory * (1 + stacks);
  const double by_compute = power.compute * compute;
  double working = std::pow(by_memory + by_compute, power.saturation);
  double running = power.running;
  if (rates.clock < 1) {
    const double core = core_power(rates, rates.clock);
    working *= (by_memory + by_compute * core) / std::max(by_memory + by_compute, 1e-12);
    running *= core;
  }
  const double share = power.idle + (running + working) * busy / a.seconds / rates.overdrawn;
  return rates.tdp * std::min(share, power.cap);
}

/// Sets the cap, and says what was taken for granted. Refuses (refused) one that the device exceeds idle. A cap above
/// the board's own limit is none.
Result<std::vector<std::string>> cap_power(DeviceRates& rates, double cap_w, const std::string& device,
                                           const Calibration& calibration);

/// The clocks that boards go down to: 210 of 1,980 MHz on an H100.
inline constexpr double kLeastClock = 0.1;

/// The highest clock, of that without a cap, at which watts_at(clock), which falls with it, is within the cap.
template <class WattsAt>
[[nodiscard]] double clock_within(double cap_w, const WattsAt& watts_at) noexcept {
  constexpr int kHalvings = 12;
  double low = kLeastClock;
  double high = 1;
  for (int i = 0; i < kHalvings; ++i) {
    const double clock = 0.5 * (low + high);
    (watts_at(clock) <= cap_w ? low : high) = clock;
  }
  return low;
}

/// Of what a cap takes from the speed, the share that it may be off by either way: half, which is what a floor of 0.5
/// or 0.8 of the voltage instead of 0.65 makes of it. Nobody has published enough of capped runs to fit it.
inline constexpr double kUnsureOfCap = 0.5;

}  // namespace ridge::perf
