// Keys that take one of a few words.
//
//   fabric.kind = enumerator<FabricKind>(t, "kind", kFabricKinds);   // the words in the order of the enumerators
//   fabric.status = sale(t);                                         // shipping if the key is absent
//
// All refuse any other word, naming those that there are.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

#include "catalogue/files/table_reader.hpp"
#include "ridge/catalogue/catalogue.hpp"

namespace ridge {

/// Position of the required word among `words`; 0 if it is refused.
inline std::size_t word_index(TableReader& t, std::string_view key, std::span<const std::string_view> words) {
  const std::string value = t.text(key);
  const auto at = std::find(words.begin(), words.end(), value);
  if (at != words.end()) return static_cast<std::size_t>(at - words.begin());
  t.refuse(key, fmt::format("'{}' is no {}; use {}", value, key, fmt::join(words, ", ")));
  return 0;
}

template <class E>
E enumerator(TableReader& t, std::string_view key, std::span<const std::string_view> words) {
  return static_cast<E>(word_index(t, key, words));
}

inline constexpr std::string_view kSales[] = {"shipping", "announced", "discontinued"};
inline Sale sale(TableReader& t) {
  return t.has("status") ? enumerator<Sale>(t, "status", kSales) : Sale::shipping;
}

}  // namespace ridge
