// The program's surroundings and data as tests of verbs see them.
#pragma once

#include <algorithm>

#include "app/cli/call/call.hpp"
#include "app/cli/line/command_line.hpp"
#include "app/cli/verbs.hpp"

namespace ridge::cli::testing_support {

inline const Surroundings& here() {
  static const Surroundings found{.program = "", .data_variable = RIDGE_DATA_DIR};
  return found;
}

inline const SharedData& shared() {
  static const SharedData data = *Session({}, here()).share();
  return data;
}

/// What a person gets who types these words.
inline Result<Answer> typed(const std::vector<std::string>& words) {
  // A plan file may hold flags of all verbs; else one is declared faster.
  const bool plans = std::any_of(words.begin(), words.end(), [](const auto& w) { return w.starts_with("--plan"); });
  GlobalOptions options;
  const Result<Command> command =
      parse_command_line(words, plans ? verbs() : std::span(verb_of(words.front()), 1), options);
  if (!command) return command.error();
  static const StopSign kNever;
  Answer answer;
  Session session(std::move(options), here(), shared(), answer.json, kNever, Files::allowed);
  const Result<int> code = command->action(session);
  if (!code) return code.error();
  answer.exit_code = *code;
  if (!answer.json.starts_with('{')) {
    answer.json = Json::object().set("schema", "ridge.text/1").set("text", answer.json).text();
  }
  return answer;
}

}  // namespace ridge::cli::testing_support
