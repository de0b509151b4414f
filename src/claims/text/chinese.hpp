// Chinese words of the field, as the English ones that the patterns are written with. Figures, units and names are the
// same in both; word order is not, and what follows from it is in the patterns themselves.
#pragma once

#include <cstddef>
#include <string_view>

namespace ridge::claims {

struct Translated {
  std::string_view english;  ///< with the spaces it needs
  std::size_t length = 0;    ///< bytes of the Chinese word; 0 if none starts there
};

/// The longest known word at the start of `text` (UTF-8), simplified or traditional.
[[nodiscard]] Translated translate_word(std::string_view text);

}  // namespace ridge::claims
