// A closed or open loop played request by request instead of by the steady-state formula.
//
//   InferenceEstimate e = simulated_estimate(query, knowledge, evaluate(...).estimate, sureness, settings).estimate;
//
// The estimate's times and rates are replaced by those of the simulation; intervals keep their factors, those of open
// loops are as wide as the figure answers to an engine whose speed is not known. `settings` says how the server was
// started, nullptr: with its defaults. Pure; any thread.
#pragma once

#include "evidence/settings/published_settings.hpp"
#include "ridge/perf/inference.hpp"
#include "ridge/serve/played_load.hpp"

namespace ridge::evidence {

struct Simulated {
  InferenceEstimate estimate;
  PlayedResponse response;  ///< of open loops
};
[[nodiscard]] Simulated simulated_estimate(const InferenceQuery& query, const Knowledge& knowledge,
                                           const InferenceEstimate& analytic, const Sureness& sure,
                                           const ServerSettings* settings = nullptr);

/// Of a closed loop the time to first token alone is played.
[[nodiscard]] InferenceEstimate with_played_first_token(const InferenceQuery& query, const Knowledge& knowledge,
                                                        const InferenceEstimate& analytic,
                                                        const ServerSettings* settings = nullptr);

}  // namespace ridge::evidence
