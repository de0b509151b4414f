// A fingerprint of bytes, to see whether what was read once is what is read now. Not against somebody who forges.
//
//   Digest digest;
//   digest.add("h100-sxm.toml").add(text);
//   digest.hex();                              // 32 digits
//
// The same bytes in the same pieces give the same digits on every machine. A value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ridge {

class Digest {
 public:
  /// Each piece counts with its length, so that moving a byte from one to the next shows.
  Digest& add(std::string_view bytes);
  Digest& add(std::uint64_t number);
  Digest& add(double number);
  [[nodiscard]] std::string hex() const;

 private:
  void mix(std::uint64_t word);
  std::uint64_t a_ = 0x9e3779b97f4a7c15u;
  std::uint64_t b_ = 0xc2b2ae3d27d4eb4fu;
};

}  // namespace ridge
