// Two pools as the flags of --disaggregate say them: for `ridge estimate infer` and for `ridge emit`.
#pragma once

#include "app/cli/estimate/flags.hpp"
#include "app/cli/session/session.hpp"
#include "report/plan/pools_report.hpp"

namespace ridge::cli {

/// One engine of each pool and what the pair does. Refuses a pool that cannot run, with the smallest that can.
Result<report::PoolsAnswer> answer_pools(Session& session, const EstimateFlags& flags, const Knowledge& knowledge);

}  // namespace ridge::cli
