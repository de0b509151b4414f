// One verb called by a program instead of a person: a JSON object of keys in, the verb's own --json out. HTTP, the C
// interface and, through it, Python all come here. Values go where the verb's options say (options.hpp); there is no
// command line between.
//
//   Result<std::vector<Said>> said = read_said(R"({"kind": "infer", "model": "llama3.3-70b", "gpus": 2})", "body");
//   Result<Call> asked = make_call("estimate", *std::move(said), catalogue, {});
//   Result<Answer> answer = call(*asked, shared, surroundings, stop, Files::refused);   // as `ridge estimate ...
//   --json`
//
// A key is the name of a flag without its dashes, - as _; "kind" and "id" are the words after the verb, as is "file"
// where files may be named, and "text" a sentence (of plan fleet: an estate), which is never taken for a path. Refused
// (bad_input, `where` = the key): unknown keys, keys said twice, values of the wrong kind, and, unless the limits allow
// it, whatever names a file, sets threads, or takes minutes. `serve` never ends, so nobody can call it. Pure but for
// call(), which does what the verb does; any thread.
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/line/options.hpp"
#include "app/cli/session/session.hpp"

namespace ridge::cli {

struct CallLimits {
  Files files = Files::refused;
  double most_requests = std::numeric_limits<double>::infinity();  ///< of one simulation
  double most_draws = std::numeric_limits<double>::infinity();     ///< of one Monte-Carlo
};

/// One member of the object: a switch, or the values under a key.
struct Said {
  std::string key;
  std::vector<std::string> values;
  bool is_switch = false;
};

/// A verb and what is said to it: words, and options by the names they were declared with.
struct Call {
  const Verb* verb = nullptr;
  std::vector<std::string> words;
  std::vector<Said> options;

  [[nodiscard]] bool says(std::string_view option) const;
  /// The line that a person would write, for copying: {"estimate", "infer", "--model=...", "--json"}.
  [[nodiscard]] std::vector<std::string> line() const;
};

struct Answer {
  int exit_code = 0;
  std::string json;
};

/// The verb of that name, or null.
[[nodiscard]] const Verb* verb_of(std::string_view name);

/// Refuses what is no JSON object, and members that are no text, number, switch, or list of texts and numbers. null and
/// false are as if not said.
Result<std::vector<Said>> read_said(std::string_view json, std::string_view where);

/// Refuses (not_found) a verb that does not exist, and what the limits do not allow.
Result<Call> make_call(std::string_view verb, std::vector<Said> said, const Catalogue& catalogue,
                       const CallLimits& limits);

/// Gives the options, and those that all verbs share, what the call says, and what its plan file adds.
[[nodiscard]] Status take_call(const Call& asked, Options own, Options globals);

/// Runs the verb, with what all calls share. What a verb answers as a text (emit, mlperf chart, calibrate, ...) becomes
/// {"schema": "ridge.text/1", "text": "..."}. Refuses what the verb refuses.
Result<Answer> call(const Call& asked, const SharedData& shared, const Surroundings& surroundings, const StopSign& stop,
                    Files files);

}  // namespace ridge::cli
