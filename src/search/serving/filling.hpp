// How long plans are played before they are believed. Engines start empty, and a run that ends before they are full
// finds them idle: it has to bring several times the requests that are in them at once.
//
//   requests_to_fill(9 * 530, 2250)     // 14,310: nine replicas of 530 requests each, three times over
//   requests_to_fill(8, 1000)           // 1,000: percentiles need so many anyway
//
// The one rule of finalists (confirm.cpp), of pools (alternatives.cpp) and, through the number of requests that a saved
// plan names, of `simulate --plan`.
#pragma once

#include <algorithm>
#include <cmath>

namespace ridge::search {

/// Requests that are played, times those in flight once engines are full: the first filling sees them fill, the
/// ninety-fifth percentile is then one of the other two.
inline constexpr double kFillings = 3;
/// No run takes more: twelve replicas of more than 800 requests at once are played by few of them.
inline constexpr double kMostPlayed = 30'000;

/// Of engines with so many requests at once by Little's law; `usual` where those are few.
[[nodiscard]] inline double requests_to_fill(double in_flight, double usual) {
  return std::max(usual, std::min(std::round(kFillings * in_flight), kMostPlayed));
}

}  // namespace ridge::search
