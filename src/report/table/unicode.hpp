// Characters of UTF-8 text and the columns they take on a terminal.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ridge {

struct Character {
  char32_t code = 0;
  std::size_t size = 0;  ///< bytes it takes in the text
  bool valid = true;     ///< false: one byte that starts no character
};

/// The character at the start of `text`, which must not be empty.
[[nodiscard]] Character first_character(std::string_view text);

/// Columns of one character: 0, 1 or 2.
[[nodiscard]] int display_width(char32_t code);

/// The text with U+FFFD for each byte that is not UTF-8.
[[nodiscard]] std::string valid_utf8(std::string_view text);

/// Valid UTF-8 on one line: control characters are written as \x1b, line ends and tabs as a space.
[[nodiscard]] std::string printable(std::string_view text);

/// The longest start of `text` that fits into `width` columns; with "…" as its last column if something was cut.
[[nodiscard]] std::string truncated(std::string_view text, int width);

}  // namespace ridge
