// How published tables of experts under skewed routing dealt out their tokens.
//
//   const BusiestRank rank = busiest_rank({.tokens = 32, .experts = 256, .top_k = 8, .ranks = 4});
//   rank.experts;   // 43 of its 64 are touched, on average over draws
//   rank.rows;      // 79 of 256 pairs of token and expert
//
// The collector (aiconfigurator's, of early 2026) draws a popularity for each expert from a power law of exponent 1.01,
// scales and rounds these to counts of tokens, hands what is missing to the least popular, and times the rank with
// most. With few tokens all counts round to zero, and what is missing lands on neighbours: on one rank.
#pragma once

namespace ridge::evidence {

struct SkewedRouting {
  double tokens = 0, experts = 0, top_k = 0, ranks = 1;
};

struct BusiestRank {
  double experts = 0;  ///< of the rank that some token meets
  double rows = 0;     ///< pairs of token and expert there
};

/// Means over draws that are the same in every call. Whole positive numbers are asked for: up to a million tokens and
/// 4,096 experts, ranks that divide these, top_k of them at most; all else gives zeros. Any thread.
[[nodiscard]] BusiestRank busiest_rank(const SkewedRouting& routing);

}  // namespace ridge::evidence
