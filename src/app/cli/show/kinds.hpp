// The kinds of entries that `ridge show` knows, and what completion offers for them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/line/options.hpp"
#include "app/cli/session/session.hpp"
#include "app/cli/show/sheet.hpp"
#include "ridge/base/result.hpp"

namespace ridge::cli {

struct Kind {
  std::string_view plural;
  std::string_view singular;
  Sheet (*sheet)(const SheetContext& context);
};

/// In the order in which they are listed.
[[nodiscard]] std::span<const Kind> kinds();
/// By plural or singular; nullptr if the word is neither.
[[nodiscard]] const Kind* find_kind(std::string_view word);

/// The catalogue as of --as-of; without it as of the newest price, not of today: the same catalogue gives the same
/// answer tomorrow. Refuses a catalogue that cannot be read, and what is no date.
Result<SheetContext> sheet_context(Session& session);

/// Kinds and ids, keys of the fields, and the values that a text field has.
std::vector<std::string> complete_entries(Session& session, const std::vector<std::string>& words);
std::vector<std::string> complete_keys(Session& session, const std::vector<std::string>& words);
[[nodiscard]] Completer complete_values(std::string_view key);

}  // namespace ridge::cli
