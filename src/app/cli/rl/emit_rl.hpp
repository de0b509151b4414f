// ridge emit --for verl, nemo-rl or openrlhf: the configuration of a step of reinforcement learning.
#pragma once

#include <string>

#include "app/cli/estimate/flags.hpp"
#include "app/cli/session/session.hpp"
#include "ridge/rl/rl.hpp"

namespace ridge::cli {

/// Prints the first file, or writes all into `out`. `checkpoint` empty = the catalogue's of the model.
Result<int> emit_rl_files(Session& session, const EstimateFlags& flags, RlFramework framework,
                          const std::string& checkpoint, const std::string& out);

}  // namespace ridge::cli
