#include "ridge/perf/ranking.hpp"

#include <algorithm>
#include <numeric>

namespace ridge {

std::vector<Rank> rank_with_ties(std::span<const Interval> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return values[a].mid > values[b].mid; });
  std::vector<Rank> ranks;
  for (std::size_t i = 0; i < order.size(); ++i) {
    Rank rank{order[i], static_cast<int>(i) + 1, false};
    if (!ranks.empty()) {
      const int place = ranks.back().place;
      const Interval& best = values[ranks[static_cast<std::size_t>(place) - 1].index];
      if (values[order[i]].high >= best.low) rank = {order[i], place, true};
    }
    ranks.push_back(rank);
  }
  return ranks;
}

}  // namespace ridge
