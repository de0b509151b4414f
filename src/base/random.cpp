#include "ridge/base/random.hpp"

#include <cassert>
#include <cmath>

namespace ridge {

namespace {

__extension__ using Wide = unsigned __int128;

}  // namespace

// Inverse of the distribution function; 1 - u is in (0, 1], so the logarithm is finite.
double Random::exponential() noexcept {
  return -std::log1p(-uniform());
}

// Box and Muller (1958), keeping one of the two: every normal costs two draws, whatever their values.
double Random::normal() noexcept {
  constexpr double kTwoPi = 6.283185307179586;
  const double radius = std::sqrt(2 * exponential());
  return radius * std::cos(kTwoPi * uniform());
}

// Marsaglia and Tsang, "A simple method for generating gamma variables", ACM TOMS 26 (2000); below shape 1 by their
// note that gamma(a) = gamma(a + 1) * u^(1/a).
double Random::gamma(double shape) noexcept {
  assert(shape > 0 && "a gamma distribution has a positive shape");
  if (shape < 1) {
    const double grown = gamma(shape + 1);
    return grown * std::pow(1 - uniform(), 1 / shape);
  }
  const double d = shape - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = normal();
    const double root = 1 + c * x;
    if (root <= 0) continue;
    const double v = root * root * root;
    if (std::log1p(-uniform()) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v;
  }
}

// Lemire, "Fast random integer generation in an interval", ACM TOMACS 29 (2019): the high half of bits * n, drawn
// again for the few low halves that would favour some results.
std::uint64_t Random::below(std::uint64_t n) noexcept {
  assert(n > 0 && "there is no number below zero");
  Wide product = static_cast<Wide>(bits()) * n;
  if (static_cast<std::uint64_t>(product) < n) {
    const std::uint64_t unfair = (0 - n) % n;
    while (static_cast<std::uint64_t>(product) < unfair) product = static_cast<Wide>(bits()) * n;
  }
  return static_cast<std::uint64_t>(product >> 64);
}

}  // namespace ridge
