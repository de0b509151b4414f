// ridge calibrate --profile: what a measured device changes, parameter by parameter.
//
//   return calibrate_profile(session, "mine.toml", "own.toml");      // the second may be empty
#pragma once

#include <string>

#include "app/cli/session/session.hpp"

namespace ridge::cli {

/// Prints the errors before and after and the factors; writes them to `overlay` for --calibration. Refuses what
/// Session::use_profile() and evidence::fit_measured() refuse.
Result<int> calibrate_profile(Session& session, const std::string& profile, const std::string& overlay);

}  // namespace ridge::cli
