// The pages of `ridge`, `ridge help` and `ridge help COMMAND`.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "app/cli/line/options.hpp"
#include "ridge/report/report.hpp"

namespace ridge::cli {

/// A question of the first screen and the command that answers it; a test runs every one.
struct StartQuestion {
  std::string_view question;
  std::string_view command;
};
[[nodiscard]] std::span<const StartQuestion> start_questions();

/// What `ridge` alone prints: where to start. `catalogue_month` is "2026-11", or empty where no catalogue can be read.
[[nodiscard]] Document start_page(const Grammar& grammar, std::string_view version, std::string_view catalogue_month);
[[nodiscard]] Document program_help(const Grammar& grammar);
/// `index` counts grammar.verbs. `word` is what stands behind the command: of a kind of question that has a page of its
/// own the page is that one, with its options by heading; anything else is as if nothing stood there.
[[nodiscard]] Document verb_help(const Grammar& grammar, std::size_t index, std::string_view word = {});

}  // namespace ridge::cli
