#include "evidence/predict/simulated.hpp"

#include "ridge/serve/played_load.hpp"

namespace ridge::evidence {

namespace {

void set(Interval& i, double mid) {
  if (!(i.mid > 0)) return;
  const double factor = mid / i.mid;
  i = {i.low * factor, mid, i.high * factor};
}

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
  set(e.output_tokens_per_s, played->output_tokens_per_s);
  set(e.total_tokens_per_s, played->total_tokens_per_s);
  set(e.ttft_s, played->ttft_s);
  set(e.tpot_s, played->tpot_s);
  set(e.itl_s, played->itl_s);
  set(e.e2e_s, played->e2e_s);
  set(e.power_w, played->power_w);
  set(e.joules_per_output_token, played->power_w / played->output_tokens_per_s);
  return e;
}

InferenceEstimate with_played_first_token(const InferenceQuery& query, const Knowledge& knowledge,
                                          const InferenceEstimate& analytic, const ServerSettings* settings) {
  InferenceEstimate e = analytic;
  play_first_token(load_of(query, settings), query.load, knowledge, e);
  return e;
}

}  // namespace ridge::evidence
