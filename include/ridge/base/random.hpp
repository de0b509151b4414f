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
#include <cstdint>

namespace ridge {

/// The 128 random bits of one counter under one key.
[[nodiscard]] std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                                      std::array<std::uint32_t, 2> key) noexcept;

/// A stream of draws. Copyable: a copy goes on from where the original stood. Not for sharing between threads.
class Random {
 public:
  explicit Random(std::uint64_t seed, std::uint64_t stream = 0) noexcept : seed_(seed), stream_(stream) {}

  /// 64 random bits.
  [[nodiscard]] std::uint64_t bits() noexcept;
  /// In [0, 1), 53 bits.
  [[nodiscard]] double uniform() noexcept;
  /// Mean 1.
  [[nodiscard]] double exponential() noexcept;
  /// Mean 0, variance 1.
  [[nodiscard]] double normal() noexcept;
  /// Gamma with the given shape and scale 1 (mean = shape > 0).
  [[nodiscard]] double gamma(double shape) noexcept;
  /// In [0, n), unbiased; n > 0.
  [[nodiscard]] std::uint64_t below(std::uint64_t n) noexcept;

 private:
  std::uint64_t seed_;
  std::uint64_t stream_;
  std::uint64_t index_ = 0;
  std::array<std::uint32_t, 4> block_{};
  int left_ = 0;  // 64-bit words of block_ not yet given out
};

}  // namespace ridge
