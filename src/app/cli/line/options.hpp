// What a verb understands: its options, each with what it takes and where its value goes. People fill them from a
// command line (command_line.hpp), programs from JSON (call.hpp), both from a plan file (plan_file.hpp).
//
//   Action declare_greet(Options& options) {
//     auto arguments = std::make_shared<GreetArguments>();
//     options.words("NAME", arguments->names, "whom to greet");
//     options.flag("--loud", arguments->loud, "in capitals");
//     return [arguments](Session& session) -> Result<int> { ...; return 0; };
//   }
//
//   Options options;
//   const Action action = verb.declare(options);
//   if (const Status s = options.set("--loud", {}); !s) return s.error();      // as if it had been typed
//   if (const Status s = options.check(session); !s) return s.error();
//   return action(session);
//
// The targets must live until the action has run: keep them in what the action captures. One thread at a time.
#pragma once

#include <concepts>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ridge/base/result.hpp"

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

/// Where values stand that nobody typed: "--tp" → "chat.toml:7:6".
using Places = std::map<std::string, std::string, std::less<>>;
/// The error of an option with a place has that place, and names the option in its message; others stay.
[[nodiscard]] Error located(const Error& error, const Places& places);

/// One option, or the words of a verb, as help and completion show it.
struct OptionText {
  std::string name;   ///< "--where"; empty for the words
  std::string value;  ///< "KEY>VALUE", empty for a flag
  std::string help;
  Takes takes;
  bool hidden = false;
  bool repeatable = false;
  std::string letter = {};  ///< "-o", where it has one
  unsigned kinds = 0;       ///< verbs of its field (ask/field.hpp), for VerbKind::takes; 0: it has none
};

/// The options of one verb, or those that all verbs share. A copy has the same targets.
class Options {
 public:
  Options() : declared_(std::make_shared<Declared>()) {}
  /// What was declared once is declared again, in the same order: texts are taken from there, targets are new.
  explicit Options(const std::vector<OptionText>& known) : Options() { declared_->known = &known; }

  void flag(std::string_view name, bool& into, std::string_view help, bool hidden = false);
  /// "-o,--out" is --out, and -o does as well.
  void text(std::string_view name, std::string_view value, std::string& into, std::string_view help, Takes takes = {});
  /// May be given several times; each value is checked.
  void list(std::string_view name, std::string_view value, std::vector<std::string>& into, std::string_view help,
            Takes takes = {});
  /// A whole number >= 1.
  void count(std::string_view name, std::string_view value, int& into, std::string_view help);
  /// The words that belong to no option.
  void words(std::string_view value, std::vector<std::string>& into, std::string_view help, Takes takes = {});
  /// The option that was declared last means something to these kinds of question alone.
  void about(unsigned kinds);
  /// At most one of these flags.
  void exclusive(std::vector<std::string_view> names) { declared_->exclusive.push_back(std::move(names)); }
  /// Whether texts are known already, so that nobody has to make what they take.
  [[nodiscard]] bool has_texts() const { return declared_->known != nullptr; }

  [[nodiscard]] const std::vector<OptionText>& texts() const {
    return declared_->known != nullptr ? *declared_->known : declared_->texts;
  }
  [[nodiscard]] const std::vector<std::vector<std::string_view>>& exclusives() const { return declared_->exclusive; }

  /// Where the value of texts()[i] goes.
  using Into = std::variant<bool*, std::string*, std::vector<std::string>*, int*>;
  [[nodiscard]] const std::vector<Into>& targets() const { return declared_->targets; }

  /// The text of an option, or null: "" are the words.
  [[nodiscard]] const OptionText* find(std::string_view name) const;
  /// As if it had been given so: a switch is on, a list gets all values, others the last. Refuses (bad_input) what is
  /// no whole number where one is wanted. The option must exist (assert).
  /// `place` is where a file says so, empty for what was typed.
  Status set(std::string_view name, const std::vector<std::string>& values, std::string_view place = {});
  [[nodiscard]] const Places& places() const { return declared_->places; }
  /// Whether somebody gave it. The option must exist (assert).
  [[nodiscard]] bool given(std::string_view name) const;
  void mark_given(std::size_t index) { declared_->given[index] = true; }
  /// Lets `each` put another value in the place of every one that the option has; nothing if there is no such option.
  [[nodiscard]] Status change(std::string_view name, const std::function<Status(std::string&)>& each);

  /// Refuses the first value that its option does not take, and flags that exclude each other. May be called as long as
  /// the targets live.
  [[nodiscard]] Status check(Session& session) const;

 private:
  template <class Text>
  void add(Into into, const Text& text);
  [[nodiscard]] std::size_t index_of(std::string_view name) const;
  struct Declared {
    std::vector<OptionText> texts;
    const std::vector<OptionText>* known = nullptr;
    std::vector<Into> targets;
    std::vector<bool> given;
    std::vector<std::vector<std::string_view>> exclusive;
    Places places;
  };
  std::shared_ptr<Declared> declared_;
};

/// Whether the text is a whole number >= 1; what to say if it is none, else empty.
[[nodiscard]] std::string no_count(std::string_view text, int& into);

/// What all verbs share: --json, --data, --set, ...
void declare_globals(Options& options, GlobalOptions& into);
/// Refuses the first value of the session's own options that is none.
[[nodiscard]] Status check_globals(Session& session);

/// What one word behind a command makes of it, with a page of help of its own: `ridge plan serve --help`.
struct VerbKind {
  std::string_view word;
  bool (*takes)(const OptionText&);  ///< whether the option means something to it
  std::string_view summary;          ///< one line
  std::string_view most;             ///< the options that are used most, parted by blanks
  std::string_view example;          ///< as that of a verb
};

/// A command of the program: one line in verbs.cpp, one file verb_NAME.cpp.
struct Verb {
  std::string_view name;
  std::string_view summary;  ///< one line for `ridge help`
  std::string_view details;  ///< paragraphs for `ridge help NAME`, parted by blank lines; may be empty
  std::string_view example;  ///< a command that runs as it stands; lines of several
  Action (*declare)(Options&);
  std::span<const VerbKind> kinds = {};
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
