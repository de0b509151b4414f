#include "evidence/predict/simulated.hpp"

#include "perf/move_to.hpp"
#include "ridge/serve/played_load.hpp"

namespace ridge::evidence {

namespace {

SimulationQuery load_of(const InferenceQuery& query, const ServerSettings* settings) {
  SimulationQuery q = played_load(query);
  if (settings != nullptr) apply(*settings, q);
  return q;
}

}  // namespace

InferenceEstimate simulated_estimate(const InferenceQuery& query, const Knowledge& knowledge,
                                     const InferenceEstimate& analytic, const ServerSettings* settings) {
  InferenceEstimate e = analytic;
  const auto played = play(load_of(query, settings), query.load, knowledge);
  if (!played) return e;
  perf::move_to(e.output_tokens_per_s, played->output_tokens_per_s);
  perf::move_to(e.total_tokens_per_s, played->total_tokens_per_s);
  perf::move_to(e.ttft_s, played->ttft_s);
  perf::move_to(e.tpot_s, played->tpot_s);
  perf::move_to(e.itl_s, played->itl_s);
  perf::move_to(e.e2e_s, played->e2e_s);
  perf::move_to(e.power_w, played->power_w);
  perf::move_to(e.joules_per_output_token, played->power_w / played->output_tokens_per_s);
  return e;
}

InferenceEstimate with_played_first_token(const InferenceQuery& query, const Knowledge& knowledge,
                                          const InferenceEstimate& analytic, const ServerSettings* settings) {
  InferenceEstimate e = analytic;
  play_first_token(load_of(query, settings), query.load, knowledge, e);
  return e;
}

}  // namespace ridge::evidence
