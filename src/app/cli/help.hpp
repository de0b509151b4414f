// The pages of `ridge`, `ridge help` and `ridge help COMMAND`.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "app/cli/options.hpp"
#include "ridge/report.hpp"

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
/// `index` counts grammar.verbs.
[[nodiscard]] Document verb_help(const Grammar& grammar, std::size_t index);

}  // namespace ridge::cli
