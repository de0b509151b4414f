// ridge plan rl: placements and splits of the devices, on each kind of device that is named.
#pragma once

#include "app/cli/estimate/flags.hpp"
#include "app/cli/plan/flags.hpp"
#include "app/cli/session/session.hpp"

namespace ridge::cli {

/// The exit code, or what is wrong with the question. `flags` are those that all plans share.
Result<int> plan_rl_run(Session& session, const PlanFlags& flags, EstimateFlags rl);

}  // namespace ridge::cli
