// ridge plan serve --workload: devices and memories for sessions, by playing them.
#pragma once

#include "app/cli/plan/flags.hpp"
#include "app/cli/session/session.hpp"

namespace ridge::cli {

/// The exit code, or what is wrong with the question.
Result<int> plan_agents_run(Session& session, const PlanFlags& flags);

}  // namespace ridge::cli
