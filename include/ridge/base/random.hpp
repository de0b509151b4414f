// Random numbers that depend on (seed, stream, index) and on nothing else.
//
//   Random draws(seed, request_id);     // one stream per request: order and threads do not matter
//   double u = draws.uniform();         // [0, 1)
//   double gap = draws.exponential() / rate;
//
// The generator is Philox 4x32 with ten rounds (Salmon et al., SC'11): a block of 128 random bits is a pure function of
// key and counter, so that any draw can be had without those before it, whatever the thread count. bits(), uniform()
// and below() are equal bit for bit on every machine; the others go through the logarithm of the C library and are
// equal wherever that library is.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace ridge {

/// The 128 random bits of one counter under one key: two 32x32 -> 64 bit multiplications a round, the halves crossed
/// over and mixed with a key that advances by a Weyl sequence.
[[nodiscard]] inline std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                                             std::array<std::uint32_t, 2> key) noexcept {
  constexpr int kRounds = 10;
  constexpr std::uint64_t kMultiplier0 = 0xD2511F53, kMultiplier1 = 0xCD9E8D57;
  constexpr std::uint32_t kGoldenRatio = 0x9E3779B9, kSquareRootOf3 = 0xBB67AE85;
  const auto low = [](std::uint64_t v) { return static_cast<std::uint32_t>(v); };
  const auto high = [](std::uint64_t v) { return static_cast<std::uint32_t>(v >> 32); };
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t p0 = kMultiplier0 * counter[0];
    const std::uint64_t p1 = kMultiplier1 * counter[2];
    counter = {high(p1) ^ counter[1] ^ key[0], low(p1), high(p0) ^ counter[3] ^ key[1], low(p0)};
    key[0] += kGoldenRatio;
    key[1] += kSquareRootOf3;
  }
  return counter;
}

/// A stream of draws. Copyable: a copy goes on from where the original stood. Not for sharing between threads.
class Random {
 public:
  explicit Random(std::uint64_t seed, std::uint64_t stream = 0) noexcept : seed_(seed), stream_(stream) {}

  /// 64 random bits.
  [[nodiscard]] std::uint64_t bits() noexcept {
    if (left_ == 0) refill();
    const auto at = static_cast<std::size_t>(4 - 2 * left_);
    --left_;
    return static_cast<std::uint64_t>(block_[at + 1]) << 32 | block_[at];
  }
  /// In [0, 1), 53 bits.
  [[nodiscard]] double uniform() noexcept { return static_cast<double>(bits() >> 11) * 0x1p-53; }
  /// Mean 1.
  [[nodiscard]] double exponential() noexcept;
  /// Mean 0, variance 1.
  [[nodiscard]] double normal() noexcept;
  /// Gamma with the given shape and scale 1 (mean = shape > 0).
  [[nodiscard]] double gamma(double shape) noexcept;
  /// In [0, n), unbiased; n > 0.
  [[nodiscard]] std::uint64_t below(std::uint64_t n) noexcept;

 private:
  void refill() noexcept {
    const auto low = [](std::uint64_t v) { return static_cast<std::uint32_t>(v); };
    const auto high = [](std::uint64_t v) { return static_cast<std::uint32_t>(v >> 32); };
    block_ = philox4x32({low(index_), high(index_), low(stream_), high(stream_)}, {low(seed_), high(seed_)});
    ++index_;
    left_ = 2;
  }

  std::uint64_t seed_;
  std::uint64_t stream_;
  std::uint64_t index_ = 0;
  std::array<std::uint32_t, 4> block_{};
  int left_ = 0;  // 64-bit words of block_ not yet given out
};

}  // namespace ridge
