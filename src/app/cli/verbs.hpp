// The verbs of the program. A new one is a file verb_NAME.cpp, a declaration here and a line in verbs.cpp.
#pragma once

#include <span>

#include "app/cli/command_line.hpp"

namespace ridge::cli {

Action declare_calibrate(Options& options);
Action declare_completion(Options& options);
Action declare_estimate(Options& options);
Action declare_show(Options& options);
Action declare_validate(Options& options);

/// In the order of `ridge help`.
[[nodiscard]] std::span<const Verb> verbs();

}  // namespace ridge::cli
