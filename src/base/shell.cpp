#include "base/shell.hpp"

#include <algorithm>

#include "ridge/base/letters.hpp"

namespace ridge {

std::string shell_word(std::string_view text) {
  constexpr std::string_view kPlain = "_./:,=+%@-";
  const bool plain = !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return is_letter(c) || is_digit(c) || kPlain.find(c) != std::string_view::npos;
  });
  if (plain) return std::string(text);
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace ridge
