// One verb called by a program instead of a person: a JSON object of flags in, the verb's own --json out. HTTP, the C
// interface and, through it, Python all come here.
//
//   Result<std::vector<Flag>> flags = read_flags(R"({"kind": "infer", "model": "llama3.3-70b", "gpus": 2})", "body");
//   Result<std::vector<std::string>> words = call_words("estimate", *flags, catalogue, {});
//   Result<Answer> answer = call(*words, shared, surroundings, stop);      // the same bytes as `ridge estimate ...
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

#include "app/cli/session.hpp"

namespace ridge::cli {

struct Verb;

struct CallLimits {
  Files files = Files::refused;
  double most_requests = std::numeric_limits<double>::infinity();  ///< of one simulation
  double most_draws = std::numeric_limits<double>::infinity();     ///< of one Monte-Carlo
};

/// One member of the object: a switch, or the values of a flag.
struct Flag {
  std::string key;
  std::vector<std::string> values;
  bool is_switch = false;
};

struct Answer {
  int exit_code = 0;
  std::string json;
};

/// The verb of that name, or null.
[[nodiscard]] const Verb* verb_of(std::string_view name);

/// Refuses what is no JSON object, and members that are no text, number, switch, or list of texts and numbers. null and
/// false are as if not said.
Result<std::vector<Flag>> read_flags(std::string_view json, std::string_view where);

/// The command line that the flags stand for, for people to copy: {"estimate", "infer", "--model=...", "--json"}.
/// Refuses (not_found) a verb that does not exist.
Result<std::vector<std::string>> call_words(std::string_view verb, const std::vector<Flag>& flags,
                                            const Catalogue& catalogue, const CallLimits& limits);

/// Runs the line, with what all calls share. What a verb answers as a text (emit, mlperf chart, calibrate, ...) becomes
/// {"schema": "ridge.text/1", "text": "..."}. Refuses what the verb refuses.
Result<Answer> call(const std::vector<std::string>& words, const SharedData& shared, const Surroundings& surroundings,
                    const StopSign& stop, Files files);

}  // namespace ridge::cli
