#include "ridge/base/random.hpp"

#include <cassert>
#include <cmath>

namespace ridge {

namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::uint32_t low(std::uint64_t v) {
  return static_cast<std::uint32_t>(v);
}
constexpr std::uint32_t high(std::uint64_t v) {
  return static_cast<std::uint32_t>(v >> 32);
}

}  // namespace

// Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC'11: two 32x32 → 64 bit multiplications
// a round, the halves crossed over and mixed with a key that advances by a Weyl sequence.
std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                        std::array<std::uint32_t, 2> key) noexcept {
  constexpr int kRounds = 10;
  constexpr std::uint64_t kMultiplier0 = 0xD2511F53, kMultiplier1 = 0xCD9E8D57;
  constexpr std::uint32_t kGoldenRatio = 0x9E3779B9, kSquareRootOf3 = 0xBB67AE85;
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t p0 = kMultiplier0 * counter[0];
    const std::uint64_t p1 = kMultiplier1 * counter[2];
    counter = {high(p1) ^ counter[1] ^ key[0], low(p1), high(p0) ^ counter[3] ^ key[1], low(p0)};
    key[0] += kGoldenRatio;
    key[1] += kSquareRootOf3;
  }
  return counter;
}

std::uint64_t Random::bits() noexcept {
  if (left_ == 0) {
    block_ = philox4x32({low(index_), high(index_), low(stream_), high(stream_)}, {low(seed_), high(seed_)});
    ++index_;
    left_ = 2;
  }
  const auto at = static_cast<std::size_t>(4 - 2 * left_);
  --left_;
  return static_cast<std::uint64_t>(block_[at + 1]) << 32 | block_[at];
}

double Random::uniform() noexcept {
  return static_cast<double>(bits() >> 11) * 0x1p-53;
}

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
