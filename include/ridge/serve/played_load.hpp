// A load played request by request instead of by the steady-state formula: what a benchmark that sends it would see.
//
//   SimulationQuery q = played_load(query);        // closed or open loop, with the lengths and clients of the query
//   std::optional<PlayedMeans> seen = play(q, query.load, knowledge);
//   play_first_token(query, knowledge, estimate);  // its ttft_s and e2e_s become those that were played
//
// A formula knows the mean step, not which prompts wait for which, and no start: times to first token want to be
// played. An open loop whose list of prompts the server has seen before (`distinct` and `prefix_hit`) sends it twice;
// the second time counts. Nothing is returned, or changed, if the load cannot be played: too many clients, no room in
// memory. Pure; any thread.
#pragma once

#include <optional>

#include "ridge/base/patience.hpp"
#include "ridge/catalogue/response.hpp"
#include "ridge/perf/inference.hpp"
#include "ridge/serve/simulation.hpp"

namespace ridge {

/// Means over the requests of a run, and over runs where requests come by chance.
struct PlayedMeans {
  double output_tokens_per_s = 0;  ///< while all clients are at work; of the whole run if the load says how long it is
  double total_tokens_per_s = 0;
  double ttft_s = 0, tpot_s = 0, itl_s = 0, e2e_s = 0;
  double power_w = 0;  ///< 0: not said, of a list that is sent twice with a rest between
};

/// Real text varies in length, synthetic prompts by a tenth; ten requests a client unless the load says how many.
[[nodiscard]] SimulationQuery played_load(const InferenceQuery& query);

/// What playing may take: what takes more is not played.
struct PlayLimits {
  double turns = 0;  ///< of events, as SimulationObserver counts them, whatever the machine; 0: as many as it takes
  Patience patience = {};
};

[[nodiscard]] std::optional<PlayedMeans> play(SimulationQuery simulation, const InferenceLoad& load,
                                              const Knowledge& knowledge, const PlayLimits& limits = {});

/// How the figures of an open loop answer to a slower or faster engine.
struct PlayedResponse {
  Response output, ttft, tpot, e2e;
};
/// Played twice more: an engine that takes f times as long is the same engine at f times the rate, with a clock that
/// ticks f times as slowly.
[[nodiscard]] PlayedResponse play_response(const SimulationQuery& simulation, const InferenceLoad& load,
                                           const PlayedMeans& means, const Knowledge& knowledge);

/// Of a closed loop of up to some thousand clients; rates and times per token stay those of `estimate`. The interval
/// keeps its factors.
void play_first_token(const SimulationQuery& simulation, const InferenceLoad& load, const Knowledge& knowledge,
                      InferenceEstimate& estimate, const PlayLimits& limits = {});
void play_first_token(const InferenceQuery& query, const Knowledge& knowledge, InferenceEstimate& estimate,
                      const PlayLimits& limits = {});

}  // namespace ridge
