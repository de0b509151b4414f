// Keys that take one of a few words.
//
//   fabric.kind = enumerator<FabricKind>(t, "kind", kFabricKinds);   // the words in the order of the enumerators
//   system.kind = word(t, "kind", kSystemKinds);                     // kept as text
//   fabric.status = status(t);                                       // "shipping" if the key is absent
//
// All refuse any other word, naming those that there are.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

#include "catalogue/files/table_reader.hpp"

namespace ridge {

/// Position of the required word among `words`; 0 if it is refused.
inline std::size_t word_index(TableReader& t, std::string_view key, std::span<const std::string_view> words) {
  const std::string value = t.text(key);
  const auto at = std::find(words.begin(), words.end(), value);
  if (at != words.end()) return static_cast<std::size_t>(at - words.begin());
  t.refuse(key, fmt::format("'{}' is no {}; use {}", value, key, fmt::join(words, ", ")));
  return 0;
}

inline std::string word(TableReader& t, std::string_view key, std::span<const std::string_view> words) {
  return std::string(words[word_index(t, key, words)]);
}

inline std::string status(TableReader& t) {
  static constexpr std::string_view kWords[] = {"shipping", "announced", "discontinued"};
  return t.has("status") ? word(t, "status", kWords) : std::string(kWords[0]);
}

template <class E>
E enumerator(TableReader& t, std::string_view key, std::span<const std::string_view> words) {
  return static_cast<E>(word_index(t, key, words));
}

}  // namespace ridge
