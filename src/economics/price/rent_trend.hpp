// How rents move in a year, from what clouds asked for the same thing twelve months apart.
//
//   RentTrend t = rent_trend(data.histories, "2026-11");
//   t.mid;                    // 0.02: half of the pairs rose by more than 2 %
//   t.low, t.high;            // -0.21, 0.54: four in five pairs lie between
//
// Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "economics/economics_data.hpp"

namespace ridge {

/// Changes over a year as shares: -0.2 is a fall by a fifth.
struct RentTrend {
  double low = 0, mid = 0, high = 0;  ///< the tenth, the half and nine tenths of the pairs lie below
  int pairs = 0;                      ///< 0: nothing is known, and nothing moves
  int series = 0;                     ///< providers' things that they are of
  std::string first, last;            ///< "2023-01", "2026-08": months of the quotes
};

/// Pairs whose later month is at most `as_of` ("2026-11-15", empty = all).
[[nodiscard]] RentTrend rent_trend(const std::vector<RentHistory>& histories, std::string_view as_of);

}  // namespace ridge
