#include "base/cut_lognormal.hpp"

#include <algorithm>
#include <cmath>

namespace ridge {

namespace {

constexpr double kNoSpread = 1e-3;  ///< of the mean: what varies less does not
constexpr double kAllCut = 0.995;   ///< of the cut: a mean as long leaves nothing to vary
constexpr int kSlices = 2048;       ///< of an integral over lengths
constexpr int kHalvings = 60;

double normal_below(double z) noexcept {
  return 0.5 * std::erfc(-z / std::sqrt(2.0));
}

/// Mean of a log-normal of that mean and cv once everything above `most` is `most`.
double mean_after(double mean, double cv, double most) noexcept {
  const double variance = std::log1p(cv * cv);
  const double sigma = std::sqrt(variance);
  const double z = (std::log(most / mean) + 0.5 * variance) / sigma;
  return mean * normal_below(z - sigma) + most * (1 - normal_below(z));
}

/// The integral of 1 - F from 0 to the cut, times `weight` of the place.
template <class Weight, class Share>
double integral_beyond(double most, const Weight& weight, const Share& share) noexcept {
  double sum = 0;
  for (int i = 0; i < kSlices; ++i) {
    const double x = most * (i + 0.5) / kSlices;
    sum += weight(x) * (1 - share(x));
  }
  return sum * most / kSlices;
}

}  // namespace

double CutLognormal::share_below(double length) const noexcept {
  if (length >= most) return 1;
  if (cv <= 0) return length >= mean ? 1 : 0;
  const double variance = std::log1p(cv * cv);
  return length > 0 ? normal_below((std::log(length / mean) + 0.5 * variance) / std::sqrt(variance)) : 0;
}

double CutLognormal::moment(int power) const noexcept {
  if (cv <= 0) return std::pow(std::min(mean, most), power);
  if (power == 1) return mean_after(mean, cv, most);
  return integral_beyond(
      most, [](double x) { return 2 * x; }, [this](double x) { return share_below(x); });
}

double CutLognormal::longest_of(double count) const noexcept {
  if (cv <= 0) return std::min(mean, most);
  return integral_beyond(
      most, [](double) { return 1.0; }, [&](double x) { return std::pow(share_below(x), std::max(1.0, count)); });
}

CutLognormal cut_lognormal(double mean, double cv, double most) noexcept {
  if (cv < kNoSpread || mean > kAllCut * most) return {mean, 0, most};
  double low = mean, high = mean;
  while (mean_after(high, cv, most) < mean && high < 1e12) high *= 2;
  for (int i = 0; i < kHalvings; ++i) {
    const double mid = std::sqrt(low * high);
    (mean_after(mid, cv, most) < mean ? low : high) = mid;
  }
  return {high, cv, most};
}

}  // namespace ridge
