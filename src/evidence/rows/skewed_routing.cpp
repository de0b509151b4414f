#include "evidence/rows/skewed_routing.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "ridge/base/random.hpp"

namespace ridge::evidence {
namespace {

using Counts = std::vector<std::int64_t>;

/// Tokens of each expert in one draw; they add up to `pairs`, and none has more than `tokens`.
Counts draw_counts(const SkewedRouting& routing, std::int64_t pairs, Random& random) {
  constexpr double kExponent = 1.01;
  const auto tokens = static_cast<std::int64_t>(routing.tokens);
  const auto experts = static_cast<std::size_t>(routing.experts);
  const bool plenty = static_cast<double>(pairs) > routing.experts;
  const double least = std::pow(plenty ? 1.0 : 0.01, 1 - kExponent);
  const double most = std::pow(plenty ? 0.8 * routing.tokens : 2.0, 1 - kExponent);
  std::vector<double> popularity(experts);
  for (double& p : popularity) p = std::pow(least + (most - least) * random.uniform(), 1 / (1 - kExponent));
  const double scale = static_cast<double>(pairs) / std::reduce(popularity.begin(), popularity.end());

  Counts counts(experts);
  std::int64_t beyond = 0;  // what does not fit into the most popular
  std::int64_t missing = pairs;
  for (std::size_t i = 0; i < experts; ++i) {
    const std::int64_t wanted = std::lround(popularity[i] * scale);
    counts[i] = std::min(wanted, tokens);
    beyond += wanted - counts[i];
    missing -= wanted;
  }
  std::vector<std::size_t> order(experts);  // least popular first, of equals the last
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto less_popular = [&](std::size_t a, std::size_t b) {
    return counts[a] != counts[b] ? counts[a] < counts[b] : a > b;
  };
  std::sort(order.begin(), order.end(), less_popular);
  for (const std::size_t i : order) {
    const std::int64_t taken = std::min(beyond, tokens - counts[i]);
    counts[i] += taken;
    beyond -= taken;
  }
  std::sort(order.begin(), order.end(), less_popular);
  while (missing != 0) {
    for (const std::size_t i : order) {
      if (missing > 0 && counts[i] < tokens) {
        ++counts[i];
        --missing;
      } else if (missing < 0) {
        --(counts[i] > 0 ? counts[i] : *std::max_element(counts.begin(), counts.end()));
        ++missing;
      }
    }
  }
  return counts;
}

bool whole(double value, double most) {
  return value >= 1 && value <= most && value == std::floor(value);
}

}  // namespace

BusiestRank busiest_rank(const SkewedRouting& routing) {
  const bool sound = whole(routing.tokens, 1e6) && whole(routing.experts, 4096) &&
                     whole(routing.top_k, routing.experts) && whole(routing.ranks, routing.experts) &&
                     std::fmod(routing.experts, routing.ranks) == 0;
  if (!sound) return {};
  constexpr int kDraws = 32;
  constexpr std::uint64_t kSeed = 1;
  const auto each = static_cast<std::ptrdiff_t>(routing.experts / routing.ranks);
  const auto pairs = static_cast<std::int64_t>(routing.tokens * routing.top_k);
  Random random(kSeed);
  BusiestRank mean;
  for (int draw = 0; draw < kDraws; ++draw) {
    const Counts counts = draw_counts(routing, pairs, random);
    std::int64_t rows = -1;
    std::ptrdiff_t touched = 0;
    for (auto rank = counts.begin(); rank != counts.end(); rank += each) {
      const std::int64_t here = std::accumulate(rank, rank + each, std::int64_t{0});
      if (here <= rows) continue;
      rows = here;
      touched = each - std::count(rank, rank + each, 0);
    }
    mean.experts += static_cast<double>(touched) / kDraws;
    mean.rows += static_cast<double>(rows) / kDraws;
  }
  return mean;
}

}  // namespace ridge::evidence
