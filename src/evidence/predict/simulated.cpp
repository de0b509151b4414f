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

Simulated simulated_estimate(const InferenceQuery& query, const Knowledge& knowledge, const InferenceEstimate& analytic,
                             const Sureness& sure, const ServerSettings* settings) {
  Simulated out{analytic, {}};
  InferenceEstimate& e = out.estimate;
  const SimulationQuery simulation = load_of(query, settings);
  const auto played = play(simulation, query.load, knowledge);
  if (!played) return out;
  perf::move_to(e.output_tokens_per_s, played->output_tokens_per_s);
  perf::move_to(e.total_tokens_per_s, played->total_tokens_per_s);
  perf::move_to(e.ttft_s, played->ttft_s);
  perf::move_to(e.tpot_s, played->tpot_s);
  perf::move_to(e.itl_s, played->itl_s);
  perf::move_to(e.e2e_s, played->e2e_s);
  if (played->power_w > 0) {
    perf::move_to(e.power_w, played->power_w);
    perf::move_to(e.joules_per_output_token, played->power_w / played->output_tokens_per_s);
  }
  if (query.load.mode != LoadMode::open_loop) return out;
  out.response = play_response(simulation, query.load, *played, knowledge);
  const auto widen = [&](Interval& i, std::string_view key, bool grows, const Response& response) {
    if (sure.rest(key) == nullptr || !(i.mid > 0)) return;
    const Spread80 s = spread(sure, key, grows, response);
    i = {i.mid * s.low, i.mid, i.mid * s.high};
  };
  widen(e.output_tokens_per_s, "output_tok_s/open-loop", false, out.response.output);
  widen(e.total_tokens_per_s, "output_tok_s/open-loop", false, out.response.output);
  widen(e.ttft_s, "ttft_ms/open-loop", true, out.response.ttft);
  widen(e.tpot_s, "tpot_ms/open-loop", true, out.response.tpot);
  widen(e.itl_s, "tpot_ms/open-loop", true, out.response.tpot);
  widen(e.e2e_s, "ttft_ms/open-loop", true, out.response.e2e);
  return out;
}

InferenceEstimate with_played_first_token(const InferenceQuery& query, const Knowledge& knowledge,
                                          const InferenceEstimate& analytic, const ServerSettings* settings) {
  InferenceEstimate e = analytic;
  play_first_token(load_of(query, settings), query.load, knowledge, e);
  return e;
}

}  // namespace ridge::evidence
