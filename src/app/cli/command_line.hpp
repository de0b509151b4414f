// What a verb understands on the command line. CLI11 stays in command_line.cpp; verbs only declare.
//
//   Action declare_greet(Options& options) {
//     auto arguments = std::make_shared<GreetArguments>();
//     options.words("NAME", arguments->names, "whom to greet");
//     options.flag("--loud", arguments->loud, "in capitals");
//     return [arguments](Session& session) -> Result<int> { ...; return 0; };
//   }
//
// The targets must live until the action has run: keep them in what the action captures.
#pragma once

#include <concepts>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ridge/report.hpp"
#include "ridge/result.hpp"

namespace ridge::cli {

class Session;
struct GlobalOptions;

/// What a verb does once the line is understood: the exit code, or an error that main prints.
using Action = std::function<Result<int>(Session&)>;

/// What the shell may offer, given the words that stand after the verb already; the caller keeps those that fit.
using Completer = std::function<std::vector<std::string>(Session&, const std::vector<std::string>& words)>;
/// The shell's own paths.
std::vector<std::string> complete_files(Session&, const std::vector<std::string>&);
std::vector<std::string> complete_directories(Session&, const std::vector<std::string>&);

/// Refuses a text that is no value of the option. What it says is put behind the option's name.
using ValueCheck = std::function<Status(Session&, const std::string& text)>;

/// What an option takes; app/cli/value.hpp makes them. Its check runs before the verb does, whether the verb will look
/// at the option or not: what was typed is never ignored.
struct Takes {
  Takes() = default;
  /// Offers without a check, for words that the verb always checks itself.
  template <std::convertible_to<Completer> C>
  Takes(C offers) : completer(std::move(offers)) {}  // NOLINT(google-explicit-constructor): an offer is a value
  Takes(ValueCheck checked, Completer offers, bool is_path = false)
      : completer(std::move(offers)), check(std::move(checked)), path(is_path) {}

  Completer completer;  ///< may be empty
  ValueCheck check;     ///< empty only for the words of a verb
  bool path = false;    ///< names a file or folder of this machine, always
};

/// Refuses (bad_input or not_found, `where` = the option) what the value's check refuses.
[[nodiscard]] Status check_value(Session& session, std::string_view option, const Takes& value,
                                 const std::string& text);

/// One option, or the words of a verb, as help and completion show it.
struct OptionText {
  std::string name;   ///< "--where"; empty for the words
  std::string value;  ///< "KEY>VALUE", empty for a flag
  std::string help;
  Takes takes;
  bool hidden = false;
};

/// The options of one verb, or those that all verbs share.
class Options {
 public:
  struct Parser;  // the CLI11 side
  explicit Options(std::unique_ptr<Parser> parser);
  Options(Options&&) noexcept;
  ~Options();

  void flag(std::string name, bool& into, std::string help, bool hidden = false);
  /// An empty value is as if it had not been given.
  void text(std::string name, std::string value, std::string& into, std::string help, Takes takes = {});
  /// May be given several times; each value is checked.
  void list(std::string name, std::string value, std::vector<std::string>& into, std::string help, Takes takes = {});
  /// A whole number >= 1.
  void count(std::string name, std::string value, int& into, std::string help);
  /// The words that belong to no option.
  void words(std::string value, std::vector<std::string>& into, std::string help, Takes takes = {});
  /// At most one of these flags.
  void exclusive(std::initializer_list<std::string_view> names);

  [[nodiscard]] const std::vector<OptionText>& texts() const { return declared_->texts; }
  [[nodiscard]] Parser& parser() { return *parser_; }
  /// The targets as they were when they were declared.
  void forget() const;
  /// Refuses the first value that its option does not take. May be called as long as the targets live.
  [[nodiscard]] std::function<Status(Session&)> checks() const;

 private:
  template <class T>
  void remember(T& into) {
    resets_.push_back([&into, initial = into] { into = initial; });
  }
  std::unique_ptr<Parser> parser_;
  /// Where the value of an option is, for its check.
  struct Target {
    std::size_t text = 0;  ///< of the texts
    std::string* one = nullptr;
    std::vector<std::string>* many = nullptr;
  };
  struct Declared {
    std::vector<OptionText> texts;
    std::vector<Target> targets;
  };
  std::shared_ptr<Declared> declared_ = std::make_shared<Declared>();
  std::vector<std::function<void()>> resets_;
};

/// A command of the program: one line in verbs.cpp, one file verb_NAME.cpp.
struct Verb {
  std::string_view name;
  std::string_view summary;  ///< one line for `ridge help`
  std::string_view details;  ///< paragraphs for `ridge help NAME`, parted by blank lines; may be empty
  std::string_view example;  ///< a command that runs as it stands; lines of several
  Action (*declare)(Options&);
  bool keeps_arguments = false;  ///< its action changes nothing that was declared: one declaration serves many lines
};

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

/// Reads line after line for one verb that keeps its arguments (assert): declaring costs more than most answers. An
/// action must have run before the next line is read. One thread at a time.
class LineReader {
 public:
  explicit LineReader(const Verb& verb);
  ~LineReader();
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;
  /// As parse_command_line() with that verb alone.
  Result<Command> read(const std::vector<std::string>& words, GlobalOptions& globals);

 private:
  struct Declared;
  std::unique_ptr<Declared> declared_;
};

/// What can be completed: the options of every verb, and those that all share.
struct VerbText {
  const Verb* verb = nullptr;
  std::vector<OptionText> options;
};
struct Grammar {
  std::vector<VerbText> verbs;
  std::vector<OptionText> globals;
};
[[nodiscard]] Grammar grammar(std::span<const Verb> verbs);

}  // namespace ridge::cli
