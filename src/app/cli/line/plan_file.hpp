// A plan as a file: the flags that describe it, for every verb that knows them.
//
//   kind = "serve"                 # or "train"
//   [flags]                        # names of flags without the dashes, - as _
//   model = "llama3.3-70b"
//   device = "h200-sxm"
//   gpus = 2
//
// `ridge estimate infer --plan chat.toml --tp 1` is the same as writing the flags out. What the line itself says wins,
// and so does another way to say the same thing (--batch on the line leaves out the file's concurrency). Flags that
// only other verbs know are left out, so that one file serves estimate, simulate, cost and emit. A file may say the
// clients of full load and the rate at which requests arrive: verbs that know arrivals take the rate.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "app/cli/line/options.hpp"
#include "ridge/base/result.hpp"

namespace ridge::cli {

/// Of verbs that want to know whether a plan is to "serve" or to "train": given the file's kind.
inline constexpr std::string_view kKindFlag = "--kind";
inline constexpr std::string_view kKindValue = "serve|train";

struct PlanFile {
  std::string kind;                                        ///< "serve" or "train"
  std::vector<std::pair<std::string, std::string>> flags;  ///< "--tp" → "2"; a switch → "true"
  Places places = {};                                      ///< where the file says them
};

/// Refuses (bad_input, at file:line:column): malformed TOML, unknown keys, a value that is no text, number, switch or
/// list of texts, and one that is empty, which would leave out what somebody meant to ask. `known` are the flags that
/// exist.
Result<PlanFile> parse_plan_file(std::string_view text, const std::string& file,
                                 const std::vector<std::string_view>& known);
[[nodiscard]] std::string plan_file_text(const PlanFile& plan);

/// Gives the verb's options, and those that all share, what the file says and nobody gave. `known` are the flags that
/// exist. Refuses what parse_plan_file() and read_file() refuse.
[[nodiscard]] Status take_plan_file(const std::string& path, Options own, Options globals,
                                    const std::vector<std::string_view>& known);

}  // namespace ridge::cli
