// A question about reinforcement learning from flags, for the verbs that take one.
//
//   Result<RlQuery> q = rl_question(flags, as_of);
//
// Refuses (bad_input, `where` = the flag) what is no number or name, and what excludes each other.
#pragma once

#include "app/cli/estimate/flags.hpp"
#include "ridge/rl/rl.hpp"

namespace ridge::cli {

/// What the library says of a field, said of its flag.
[[nodiscard]] Error of_rl_flag(Error error);
Result<RlQuery> rl_question(const EstimateFlags& flags, const std::string& as_of);

}  // namespace ridge::cli
