// Two pools as the flags of --disaggregate say them: for `ridge estimate infer`, `simulate`, `cost` and `emit`.
#pragma once

#include "app/cli/estimate/flags.hpp"
#include "app/cli/session/session.hpp"
#include "report/plan/pools_report.hpp"

namespace ridge::cli {

/// An engine for prompts: as that for tokens, but for what is said of it by --prefill-tp and the like. What proposes
/// tokens, and limits how many sequences decode at once, is of those that decode. Refuses (bad_input) what is no
/// number.
Result<InferenceQuery> prefill_query(const EstimateFlags& flags, const InferenceQuery& decode);

/// One engine of each pool and what the pair does. Refuses a pool that cannot run, with the smallest that can.
Result<report::PoolsAnswer> answer_pools(Session& session, const EstimateFlags& flags, const Knowledge& knowledge);

}  // namespace ridge::cli
