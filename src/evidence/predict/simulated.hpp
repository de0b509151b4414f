// A closed or open loop played request by request instead of by the steady-state formula.
//
//   InferenceEstimate e = simulated_estimate(query, knowledge, evaluate(...).estimate, settings);
//
// The estimate's times and rates are replaced by those of the simulation; intervals keep their factors. `settings` says
// how the server was started, nullptr: with its defaults. Pure; any thread.
#pragma once

#include "evidence/settings/published_settings.hpp"
#include "ridge/perf/inference.hpp"

namespace ridge::evidence {

[[nodiscard]] InferenceEstimate simulated_estimate(const InferenceQuery& query, const Knowledge& knowledge,
                                                   const InferenceEstimate& analytic,
                                                   const ServerSettings* settings = nullptr);

/// Of a closed loop the time to first token alone is played.
[[nodiscard]] InferenceEstimate with_played_first_token(const InferenceQuery& query, const Knowledge& knowledge,
                                                        const InferenceEstimate& analytic,
                                                        const ServerSettings* settings = nullptr);

}  // namespace ridge::evidence
