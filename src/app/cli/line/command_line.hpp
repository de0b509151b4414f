// The command line of people. CLI11 stays in command_line.cpp; verbs only declare (options.hpp).
//
//   GlobalOptions globals;
//   Result<Command> command = parse_command_line({"show", "h100-sxm"}, verbs(), globals);
//   if (command && command->action) return command->action(session);
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/cli/line/options.hpp"
#include "ridge/base/result.hpp"
#include "ridge/report/report.hpp"

namespace ridge::cli {

/// The line as understood: exactly one of the three.
struct Command {
  Action action;                          ///< begins with `check`
  std::function<Status(Session&)> check;  ///< refuses the first value on the line that its option does not take
  std::optional<Document> help;           ///< asked for by `help` or --help
  bool version = false;
  bool start = false;  ///< nothing was said: start_page()
};

/// Reads the words after the program's name into `globals` and the verb's own targets. Global options may stand before
/// or after the verb. Refuses (bad_input): an unknown verb or option, naming the nearest; a missing or malformed value.
Result<Command> parse_command_line(const std::vector<std::string>& words, std::span<const Verb> verbs,
                                   GlobalOptions& globals);

}  // namespace ridge::cli
