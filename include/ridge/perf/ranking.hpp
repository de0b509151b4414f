// Ranks of predictions, with ties where they cannot be told apart.
//
//   rank_with_ties(intervals)    // {{0, 1, false}, {2, 1, true}, {1, 3, false}}: "1", "1=", "3"
//
// Pure; any thread.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "ridge/perf/perf.hpp"

namespace ridge {

struct Rank {
  std::size_t index = 0;  ///< into what was ranked
  int place = 1;
  bool tie = false;  ///< its interval overlaps that of the best of this place

  /// "1", "1=", "3".
  [[nodiscard]] std::string text() const { return std::to_string(place) + (tie ? "=" : ""); }
};

/// Largest `mid` first; what overlaps the first of a place shares it, the next place counts all before it. Equal values
/// keep their order.
[[nodiscard]] std::vector<Rank> rank_with_ties(std::span<const Interval> values);

}  // namespace ridge
