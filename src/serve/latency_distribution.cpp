// Log-linear bins: the exponent of a time and its nine leading bits after the first.
#include <algorithm>
#include <bit>
#include <cmath>

#include "ridge/serve/simulation.hpp"

namespace ridge {

std::size_t LatencyDistribution::bin(std::int64_t ticks) noexcept {
  const auto t = static_cast<std::uint64_t>(std::max<std::int64_t>(ticks, 0));
  constexpr std::uint64_t kLinear = 1ULL << (kBits + 1);
  if (t < kLinear) return static_cast<std::size_t>(t);
  const int shift = static_cast<int>(std::bit_width(t)) - (kBits + 1);
  return (static_cast<std::size_t>(shift) << kBits) + static_cast<std::size_t>(t >> shift);
}

std::int64_t LatencyDistribution::edge(std::size_t bin) noexcept {
  constexpr std::size_t kLinear = 1ULL << (kBits + 1);
  if (bin < kLinear) return static_cast<std::int64_t>(bin);
  const std::size_t shift = (bin >> kBits) - 1;
  return static_cast<std::int64_t>((bin - (shift << kBits)) << shift);
}

void LatencyDistribution::add(std::int64_t ticks, std::uint64_t times) noexcept {
  if (times == 0) return;
  const std::size_t at = bin(ticks);
  if (at >= counts_.size()) counts_.resize(at + at / 8 + 64);
  counts_[at] += times;
  least_ = count_ == 0 ? ticks : std::min(least_, ticks);
  greatest_ = count_ == 0 ? ticks : std::max(greatest_, ticks);
  count_ += times;
  sum_ += static_cast<double>(ticks) * static_cast<double>(times);
}

double LatencyDistribution::mean() const {
  return count_ == 0 ? 0 : sum_ / static_cast<double>(count_) / kTicksPerSecond;
}
double LatencyDistribution::least() const {
  return static_cast<double>(least_) / kTicksPerSecond;
}
double LatencyDistribution::greatest() const {
  return static_cast<double>(greatest_) / kTicksPerSecond;
}

double LatencyDistribution::quantile(double q) const {
  if (count_ == 0) return 0;
  // The ceil(q x count)-th value; inside its bin values are taken to be spread evenly.
  const double rank = std::clamp(std::ceil(q * static_cast<double>(count_) - 1e-9), 1.0, static_cast<double>(count_));
  double before = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    const auto here = static_cast<double>(counts_[i]);
    if (before + here < rank) {
      before += here;
      continue;
    }
    const auto low = static_cast<double>(std::max(edge(i), least_));
    const auto high = static_cast<double>(std::min(edge(i + 1) - 1, greatest_));
    const double share = here > 1 ? (rank - before - 1) / (here - 1) : 0.5;
    return (low + std::clamp(share, 0.0, 1.0) * (high - low)) / kTicksPerSecond;
  }
  return greatest();
}

double LatencyDistribution::share_within(double seconds) const {
  if (count_ == 0) return 0;
  const double ticks = seconds * kTicksPerSecond;
  if (ticks >= static_cast<double>(greatest_)) return 1;
  std::uint64_t within = 0;
  for (std::size_t i = 0; i < counts_.size() && static_cast<double>(edge(i + 1)) <= ticks; ++i) within += counts_[i];
  return static_cast<double>(within) / static_cast<double>(count_);
}

}  // namespace ridge
