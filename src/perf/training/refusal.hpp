// Why a training plan cannot run, and the nearest that can: found by evaluating.
#pragma once

#include "ridge/perf/training_answer.hpp"

namespace ridge {

/// Of an answer whose outcome is infeasible; its job and facts are filled.
[[nodiscard]] Refusal explain_refusal(const TrainingAnswer& answer, const Knowledge& knowledge);

}  // namespace ridge
