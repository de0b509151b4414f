#include "base/digest.hpp"

#include <bit>
#include <cstring>

namespace ridge {

namespace {

// The finishing steps of SplitMix64 (Steele, Lea and Flood 2014) and of MurmurHash3: every bit in moves every bit out.
std::uint64_t split_mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}
std::uint64_t murmur(std::uint64_t x) {
  x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdu;
  x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53u;
  return x ^ (x >> 33);
}

}  // namespace

void Digest::mix(std::uint64_t word) {
  a_ = split_mix(a_ ^ word);
  b_ = murmur(std::rotl(b_, 29) + word);
}

Digest& Digest::add(std::string_view bytes) {
  mix(bytes.size());
  std::uint64_t word = 0;
  while (bytes.size() >= sizeof word) {
    std::memcpy(&word, bytes.data(), sizeof word);
    mix(word);
    bytes.remove_prefix(sizeof word);
  }
  word = 0;
  if (!bytes.empty()) std::memcpy(&word, bytes.data(), bytes.size());
  mix(word);
  return *this;
}

Digest& Digest::add(std::uint64_t number) {
  mix(number);
  return *this;
}

Digest& Digest::add(double number) {
  return add(std::bit_cast<std::uint64_t>(number));
}

std::string Digest::hex() const {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (const std::uint64_t half : {split_mix(a_ + b_), murmur(b_ ^ std::rotl(a_, 17))}) {
    for (int shift = 60; shift >= 0; shift -= 4) out += kDigits[(half >> shift) & 15u];
  }
  return out;
}

}  // namespace ridge
