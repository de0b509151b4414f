// Read before every piece of a unity build (-DRIDGE_UNITY=ON), and by nothing else. There one file's <filesystem> is
// every file's, and with it comes std::quoted, which would be chosen for strings in place of ridge::quoted.
#pragma once

#include <string>
#include <string_view>

#include "ridge/base/text.hpp"

namespace ridge {

inline std::string quoted(const std::string& text) {
  return quoted(std::string_view(text));
}
inline std::string quoted(std::string& text) {
  return quoted(std::string_view(text));
}

}  // namespace ridge
