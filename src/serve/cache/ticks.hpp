// The clock of the simulator: whole ticks of 1/64 ns, so that sums of steps are exact and have a closed form.
//
//   Ticks t = to_ticks(0.0123);        // rounded to a whole nanosecond
//   double s = to_seconds(t);
//
// 63 bits of them are four and a half years.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "ridge/serve/simulation.hpp"

namespace ridge::serve {

using Ticks = std::int64_t;

inline constexpr Ticks kTicksPerNanosecond = 64;
inline constexpr Ticks kNever = std::numeric_limits<Ticks>::max();
inline constexpr double kMostSeconds = 1.4e8;               ///< what fits, with room to add
inline constexpr double kLongTime = 1e7;                    ///< seconds that any one wait takes at most: four months
inline constexpr double kLongestDraw = 0.1 * kMostSeconds;  ///< of a random wait
inline constexpr double kLastSecond = 0.8 * kMostSeconds;   ///< a simulation ends then: any wait still fits

[[nodiscard]] inline Ticks nanoseconds_of(double seconds) noexcept {
  return static_cast<Ticks>(seconds * 1e9 + 0.5);
}
[[nodiscard]] inline Ticks to_ticks(double seconds) noexcept {
  return nanoseconds_of(seconds) * kTicksPerNanosecond;
}
[[nodiscard]] inline double to_seconds(Ticks ticks) noexcept {
  return static_cast<double>(ticks) / kTicksPerSecond;
}

}  // namespace ridge::serve
