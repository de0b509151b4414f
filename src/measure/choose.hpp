// The fastest of several candidates that ran turn by turn while the clock moved.
//
//   std::vector<std::vector<double>> rounds = {{7.2e-6, 7.0e-6}, {8.1e-6, 7.9e-6}};   // rounds[r][i]: candidate i,
//   seconds Choice choice = choose(rounds); choice.best; choice.seconds[choice.best];
//
// Each time counts relative to the median of its round, so that a round at a lower clock speaks for nobody, and the
// median over the rounds counts, so that one disturbed turn does not. Of candidates as fast as the fastest but for the
// noise the first is taken: an order that somebody thought about is worth more than noise. Pure; any thread may call.
#pragma once

#include <cstddef>
#include <vector>

namespace ridge::measure {

struct Choice {
  std::size_t best = 0;
  std::vector<double> seconds;  ///< of each candidate, at the clock of the middle round
};

/// At least one round; every round has a time above 0 for each of the same candidates, at least one.
[[nodiscard]] Choice choose(const std::vector<std::vector<double>>& rounds);

}  // namespace ridge::measure
