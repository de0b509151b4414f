// How much of a device's memory a program can use, in words.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <string_view>

#include "ridge/base/text.hpp"
#include "ridge/catalogue/catalogue.hpp"

namespace ridge {

/// "85.5 GB, sold as 80 GB": data sheets count 80 GiB as 80 GB, and drivers keep some of it. Without what it is sold as
/// where that is alike.
inline std::string usable_memory(const Device* device, double bytes) {
  constexpr double kAlike = 0.005;
  std::string text = format(Bytes(bytes));
  if (device == nullptr || !device->memory_capacity) return text;
  const double sold = device->memory_capacity->value.value();
  if (std::abs(sold - bytes) >= kAlike * sold) text += fmt::format(", sold as {:g} GB", sold / 1e9);
  return text;
}

}  // namespace ridge
