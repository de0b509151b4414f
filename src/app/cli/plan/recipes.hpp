// `ridge plan train --against recipes`: what vendors publish beside what the search finds.
#pragma once

#include "app/cli/plan/flags.hpp"
#include "app/cli/session/session.hpp"

namespace ridge::cli {

/// Takes --model, --devices, --gpus and --top as filters. Refuses (bad_input) other flags, (infeasible) where no
/// recipe is left.
Result<int> plan_recipes(Session& session, const PlanFlags& flags);

}  // namespace ridge::cli
