// `ridge plan fleet ESTATE.toml`.
#pragma once

#include "app/cli/plan/flags.hpp"
#include "app/cli/session/session.hpp"

namespace ridge::cli {

/// Refuses (bad_input) a file that is missing or wrong, and flags that a fleet has no use for.
Result<int> plan_fleet(Session& session, const std::vector<std::string>& words, const PlanFlags& flags);

}  // namespace ridge::cli
