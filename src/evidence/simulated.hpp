// A closed-loop case played request by request instead of by the steady-state formula.
//
//   InferenceEstimate e = simulated_estimate(query, knowledge, evaluate(...).estimate);
//
// The estimate's times and rates are replaced by those of the simulation; intervals keep their factors. Pure; any
// thread.
#pragma once

#include "ridge/inference.hpp"

namespace ridge::evidence {

[[nodiscard]] InferenceEstimate simulated_estimate(const InferenceQuery& query, const Knowledge& knowledge,
                                                   const InferenceEstimate& analytic);

}  // namespace ridge::evidence
