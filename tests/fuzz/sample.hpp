#pragma once
// Which inputs are looked at in full, where that takes a hundred times as long as reading them: the same ones in every
// run, so that what was found is found again.
#include <cstddef>
#include <cstdint>

namespace ridge::fuzz {

inline bool one_in(std::uint32_t many, const std::uint8_t* data, std::size_t size) {
  std::uint32_t hash = 2166136261u;  // FNV-1a
  for (std::size_t i = 0; i < size; ++i) hash = (hash ^ data[i]) * 16777619u;
  return (hash ^ hash >> 15) % many == 0;
}

}  // namespace ridge::fuzz
