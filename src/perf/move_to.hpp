// An interval about another middle.
#pragma once

#include "ridge/perf/perf.hpp"

namespace ridge::perf {

/// Puts the middle at `mid` and leaves the ends where they were relative to it; nothing where either is not above zero.
inline void move_to(Interval& i, double mid) {
  if (!(i.mid > 0) || !(mid > 0)) return;
  const double factor = mid / i.mid;
  i = {i.low * factor, mid, i.high * factor};
}

}  // namespace ridge::perf
