// docs/schema/estimate.json, kind "infer": base units, the unit in the key.
#include "report/estimate/inference_report.hpp"

namespace ridge::report {

namespace {

Json text_or_null(std::string_view text) {
  return text.empty() ? Json() : Json(text);
}

Json query_json(const InferenceAnswer& a) {
  static constexpr std::string_view kModes[] = {"batch", "concurrency", "offline", "prefill", "decode", "open-loop"};
  const InferenceLoad& load = a.query.load;
  const DeploymentFacts& f = a.facts;
  const bool by_batch =
      load.mode == LoadMode::fixed_batch || load.mode == LoadMode::prefill || load.mode == LoadMode::decode;
  Json json = Json::object();
  json.set("model", a.query.model).set("device", f.device).set("system", text_or_null(a.query.system));
  json.set("gpus", f.gpus).set("tp", f.tp).set("pp", f.pp).set("ep", f.ep).set("dp", f.dp);
  json.set("redundant_experts", f.redundant_experts);
  json.set("dispatch", f.exchange ? Json(name(*f.exchange)) : Json());
  json.set("weight_precision", name(f.weights)).set("activation_precision", name(f.activations));
  json.set("kv_precision", name(f.kv)).set("engine", f.engine).set("engine_era", text_or_null(f.era));
  json.set("mode", kModes[static_cast<std::size_t>(load.mode)]);
  json.set("isl_tokens", load.isl).set("osl_tokens", load.mode == LoadMode::prefill ? Json() : Json(load.osl));
  json.set("batch", by_batch ? Json(load.batch) : Json());
  json.set("concurrency", load.mode == LoadMode::closed_loop ? Json(load.concurrency) : Json());
  return json;
}

Json memory_json(const InferenceAnswer& a) {
  Json json = Json::object();
  double total = 0;
  for (std::size_t i = 0; i < kMemoryParts; ++i) {
    json.set(name(static_cast<MemoryPart>(i)), a.outcome.estimate.memory_bytes[i]);
    total += a.outcome.estimate.memory_bytes[i];
  }
  return total > 0 ? json.set("total", total) : Json();
}

Json terms_json(const std::array<double, kTerms>& terms) {
  Json json = Json::object();
  double total = 0;
  for (std::size_t i = 0; i < kTerms; ++i) {
    if (terms[i] > 0) json.set(name(static_cast<Term>(i)), terms[i]);
    total += terms[i];
  }
  return total > 0 ? json : Json();
}

Json elasticity_json(const ResourceScale& e) {
  return Json::object()
      .set("compute", e.compute)
      .set("memory_bandwidth", e.memory_bandwidth)
      .set("memory_capacity", e.memory_capacity)
      .set("scale_up", e.scale_up)
      .set("scale_out", e.scale_out)
      .set("clock", e.clock);
}

Json operators_json(const std::vector<OperatorLine>& lines) {
  double total = 0;
  for (const OperatorLine& line : lines) total += line.seconds;
  Json list = Json::array();
  for (const OperatorLine& line : lines) {
    const bool network = line.bound == Bound::scale_up || line.bound == Bound::scale_out;
    list.push(Json::object()
                  .set("operator", line.what)
                  .set("term", name(line.term))
                  .set("layers", line.layers)
                  .set("time_s", line.seconds)
                  .set("share", total > 0 ? line.seconds / total : 0)
                  .set("work_flop", line.flops)
                  .set("traffic_bytes", line.bytes)
                  .set("bound", name(line.bound))
                  .set("roofline_share", network ? Json() : Json(line.roofline_share)));
  }
  return list;
}

Json confidence_json(const IntervalClass& c) {
  if (c.rows == 0) return {};
  return Json::object()
      .set("resembles", c.resembles)
      .set("cases", c.rows)
      .set("median_error", c.median_error)
      .set("p90_error", c.p90_error);
}

}  // namespace

Json inference_json(const InferenceAnswer& a, const InferenceReportOptions& options) {
  const InferenceEstimate& e = a.outcome.estimate;
  const bool fits = !a.refusal;
  const bool decodes = fits && a.query.load.mode != LoadMode::prefill;
  const auto predicted = [](bool known, const Interval& i) { return known ? interval_json(i) : Json(); };
  Json json = Json::object();
  json.set("schema", kEstimateSchema).set("kind", "infer").set("query", query_json(a));
  json.set("fits", fits).set("reason", fits ? Json() : Json(a.refusal->why));
  json.set("reason_code", fits ? Json() : Json(name(a.refusal->reason)));
  json.set("short_by_bytes", !fits && a.refusal->short_by ? Json(*a.refusal->short_by) : Json());
  Json near = Json::array();
  if (!fits) {
    for (const NearestPlan& plan : a.refusal->nearest) {
      near.push(nearest_json(plan));
    }
  }
  json.set("nearest", std::move(near));
  json.set("memory_bytes", memory_json(a));
  json.set("prefill_s", predicted(fits, e.prefill_s)).set("ttft_s", predicted(fits, e.ttft_s));
  json.set("decode_step_s", predicted(decodes, e.decode_step_s)).set("tpot_s", predicted(decodes, e.tpot_s));
  json.set("itl_s", predicted(decodes, e.itl_s)).set("e2e_s", predicted(fits, e.e2e_s));
  json.set("output_tokens_per_s", predicted(decodes, e.output_tokens_per_s));
  json.set("output_tokens_per_s_as_tuned", decodes && a.facts.sure.tuned_rows > 0 ? Json(as_record(a)) : Json());
  json.set("total_tokens_per_s", predicted(fits, e.total_tokens_per_s));
  json.set("tokens_per_s_per_gpu", predicted(decodes, per_gpu(a)));
  json.set("tokens_per_s_per_user", predicted(decodes, per_user(a)));
  if (options.embeds) json.set("texts_per_s", predicted(fits, texts_per_s(a, options)));
  if (options.sound_s > 0) json.set("sound_s_per_s", predicted(fits, sound_per_s(a, options)));
  json.set("max_batch", fits ? Json(e.max_batch) : Json());
  json.set("running_batch", fits ? Json(e.running_batch) : Json());
  json.set("kv_capacity_tokens", fits ? Json(e.kv_capacity_tokens) : Json());
  json.set("power_w", predicted(fits && e.power_w.mid > 0, e.power_w));
  json.set("joules_per_output_token", predicted(decodes && e.power_w.mid > 0, e.joules_per_output_token));
  json.set("bottleneck", fits ? Json(name(e.bound)) : Json());
  json.set("bottleneck_phase", fits ? Json(phase(e)) : Json());
  Json terms = Json::object();
  terms.set("prefill", fits ? terms_json(e.prefill_terms_s) : Json());
  terms.set("decode", decodes ? terms_json(e.decode_terms_s) : Json());
  json.set("terms_s", std::move(terms));
  json.set("elasticity", a.explanation ? elasticity_json(a.explanation->elasticity) : Json());
  Json suggestions = Json::array();
  if (a.explanation) {
    for (const Suggestion& s : a.explanation->suggestions) {
      suggestions.push(Json::object().set("change", s.change).set("gain", s.gain));
    }
  }
  json.set("suggestions", std::move(suggestions));
  if (options.operators && a.explanation) {
    Json operators = Json::object();
    operators.set("decode", operators_json(a.explanation->decode));
    operators.set("prefill", operators_json(a.explanation->prefill));
    json.set("operators", std::move(operators));
  }
  json.set("confidence", fits ? confidence_json(a.facts.resembles) : Json());
  json.set("assumptions", texts_json(a.assumptions));
  return json;
}

}  // namespace ridge::report
