// The pages of `ridge help` and `ridge help VERB`.
#pragma once

#include <cstddef>

#include "app/cli/command_line.hpp"
#include "ridge/report.hpp"

namespace ridge::cli {

[[nodiscard]] Document program_help(const Grammar& grammar);
/// `index` counts grammar.verbs.
[[nodiscard]] Document verb_help(const Grammar& grammar, std::size_t index);

}  // namespace ridge::cli
