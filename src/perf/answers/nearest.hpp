// Ways to walk from a plan that cannot run to the nearest one that can. `offer(value)` tries one and says whether it
// runs; every function returns whether any did. Internal to src/perf.
//
//   first_doubled(tp * 2, 64, [&](int tp) { return offer_tensor_parallel(tp); });    // the narrowest that fits
#pragma once

#include <algorithm>

namespace ridge {

/// The first of `from`, twice that, and so on up to `most`.
template <class Offer>
bool first_doubled(int from, int most, Offer&& offer) {
  for (long value = from; value <= most; value *= 2) {
    if (offer(static_cast<int>(value))) return true;
  }
  return false;
}

/// The first of `from`, half of it, and so on down to 1.
template <class Offer>
bool first_halved(int from, Offer&& offer) {
  for (int value = from; value >= 1; value /= 2) {
    if (offer(value)) return true;
  }
  return false;
}

/// The first of `from`, one less, and so on down to 1.
template <class Offer>
bool first_below(int from, Offer&& offer) {
  for (int value = from; value >= 1; --value) {
    if (offer(value)) return true;
  }
  return false;
}

/// The nearest on either side of `value`, none above `most`.
template <class Offer>
bool either_side(int value, int most, Offer&& offer) {
  bool any = first_below(std::min(value - 1, most), offer);
  for (int above = value + 1; above <= most; ++above) {
    if (offer(above)) return true;
  }
  return any;
}

/// The multiples of `unit` on either side of `value`.
template <class Offer>
bool multiples_around(int value, int unit, Offer&& offer) {
  const int below = value / unit * unit;
  bool any = below > 0 && offer(below);
  return offer(below + unit) || any;
}

}  // namespace ridge
