// Shell scripts, as far as launch files need them: writing words, and reading them back.
//
//   Command c("vllm serve"); c.word("--tensor-parallel-size", 2); c.text("  ");     // continued lines
//   Script s = read_script(text);  s.value("NODES");  s.commands;                   // words with variables filled in
//
// The reader knows comments, continued lines, single and double quotes, NAME=value, export NAME=value, "$NAME" and
// ${NAME:-otherwise}. What it does not know stays as it is written. Pure; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/shell.hpp"

namespace ridge::launch {

/// A program and its flags. What stands before engine() belongs to whatever starts the engine.
class Command {
 public:
  struct Part {
    std::string flag;                  ///< empty for text that is no flag
    std::optional<std::string> value;  ///< as the engine sees it; of shell text, that text
    std::string text;                  ///< as it stands in the script
  };

  explicit Command(std::string program) { parts_.push_back({"", std::nullopt, std::move(program)}); }
  Command& flag(std::string_view name) {
    parts_.push_back({std::string(name), std::nullopt, std::string(name)});
    return *this;
  }
  Command& flag(std::string_view name, std::string_view value) {
    parts_.push_back({std::string(name), std::string(value), std::string(name) + " " + shell_word(value)});
    return *this;
  }
  Command& flag(std::string_view name, int value) { return flag(name, std::to_string(value)); }
  Command& flag(std::string_view name, double value);
  /// A flag whose value is shell text as it is, not quoted.
  Command& shell(std::string_view name, std::string_view text) {
    parts_.push_back({std::string(name), std::string(text), std::string(name) + " " + std::string(text)});
    return *this;
  }
  /// KEY=VALUE, as engines without flags take it.
  Command& key(std::string_view name, std::string_view value) {
    parts_.push_back({std::string(name), std::string(value), std::string(name) + "=" + shell_word(value)});
    return *this;
  }
  Command& key(std::string_view name, int value) { return key(name, std::to_string(value)); }
  /// KEY=VALUE whose value is shell text as it is.
  Command& shell_key(std::string_view name, std::string_view text) {
    parts_.push_back({std::string(name), std::string(text), std::string(name) + "=" + std::string(text)});
    return *this;
  }
  /// Shell text as it is.
  Command& raw(std::string text) {
    parts_.push_back({"", std::nullopt, std::move(text)});
    return *this;
  }
  /// What follows are the engine's own flags.
  Command& engine() {
    engine_ = parts_.size();
    return *this;
  }
  [[nodiscard]] std::span<const Part> own() const { return std::span(parts_).subspan(engine_); }
  [[nodiscard]] std::string text(std::string_view indent) const;

 private:
  std::vector<Part> parts_;
  std::size_t engine_ = 1;
};

struct Word {
  std::string text;
  std::uint32_t line = 0;
};

struct Script {
  std::map<std::string, std::string, std::less<>> variables;
  std::map<std::string, std::string, std::less<>> ridge;          ///< of the line "# ridge: key=value ..."
  std::vector<std::pair<std::string, std::uint32_t>> directives;  ///< of "#SBATCH --key=value", key=value
  std::vector<std::vector<Word>> commands;
  [[nodiscard]] std::string directive(std::string_view key) const;
};

[[nodiscard]] Script read_script(std::string_view text, std::uint32_t first_line = 1);

}  // namespace ridge::launch
