// docs/schema/simulate.json: base units, the unit in the key.
#include "report/simulate/report.hpp"

namespace ridge::report {

namespace {

Json whole_json(std::uint64_t n) {
  return Json(static_cast<double>(n));
}

Json spread_json(double mid, double low, double high) {
  return Json::object().set("low", mid * low).set("mid", mid).set("high", mid * high);
}

Json latency_json(const LatencyDistribution& d, double low, double high) {
  if (d.count() == 0) return {};
  Json json = Json::object();
  json.set("count", whole_json(d.count()));
  const auto add = [&](const char* key, double value) { json.set(key, spread_json(value, low, high)); };
  add("mean", d.mean());
  add("p50", d.p50());
  add("p90", d.p90());
  add("p95", d.p95());
  add("p99", d.p99());
  add("max", d.greatest());
  return json;
}

/// Shares at which a distribution is told: every fiftieth, and finer where people look, at the ends.
std::vector<double> told_shares() {
  std::vector<double> shares = {0.001, 0.005, 0.01};
  for (int i = 1; i < 50; ++i) shares.push_back(i / 50.0);
  shares.insert(shares.end(), {0.985, 0.99, 0.995, 0.999, 1});
  return shares;
}

/// The whole curves, mid values; their intervals are those of the percentiles, by the same factors.
Json cdf_json(const SimulationResult& r) {
  const std::vector<double> shares = told_shares();
  Json list = Json::array();
  for (const double share : shares) list.push(share);
  Json json = Json::object().set("share", std::move(list));
  const std::pair<const char*, const LatencyDistribution*> curves[] = {
      {"ttft_s", &r.ttft}, {"tpot_s", &r.tpot}, {"itl_s", &r.itl}, {"e2e_s", &r.e2e}, {"wait_s", &r.wait}};
  for (const auto& [key, distribution] : curves) {
    Json values = Json::array();
    for (const double share : shares) values.push(distribution->quantile(share));
    json.set(key, distribution->count() > 0 ? std::move(values) : Json());
  }
  return json;
}

Json query_json(const SimulationAnswer& a) {
  static constexpr std::string_view kKinds[] = {"rate", "concurrency", "offline", "trace"};
  const SimulationQuery& q = a.query;
  const DeploymentFacts& f = a.result.facts;
  Json json = Json::object();
  json.set("model", q.deployment.model).set("device", f.device);
  json.set("gpus", f.gpus).set("tp", f.tp).set("pp", f.pp).set("ep", f.ep).set("dp", f.dp);
  json.set("weight_precision", name(f.weights)).set("activation_precision", name(f.activations));
  json.set("kv_precision", name(f.kv)).set("engine", f.engine);
  json.set("engine_era", f.era.empty() ? Json() : Json(f.era));
  json.set("replicas", q.replicas).set("workload", q.workload.id);
  json.set("mean_input_tokens", q.workload.mean_input()).set("mean_output_tokens", q.workload.mean_output());
  json.set("load", kKinds[static_cast<std::size_t>(q.load.kind)]);
  json.set("request_rate_per_s", q.load.kind == OfferedKind::rate ? Json(q.load.rate) : Json());
  json.set("concurrency", q.load.kind == OfferedKind::concurrency ? Json(q.load.concurrency) : Json());
  json.set("requests", q.requests > 0 ? Json(q.requests) : Json());
  json.set("duration_s", q.duration > 0 ? Json(q.duration) : Json());
  json.set("seed", whole_json(q.seed));
  const auto limit = [](double value) { return value > 0 ? Json(value) : Json(); };
  json.set("ttft_limit_s", limit(q.limits.ttft)).set("tpot_limit_s", limit(q.limits.tpot));
  json.set("e2e_limit_s", limit(q.limits.e2e)).set("limit_share", q.limits.share);
  json.set("batching", name(a.result.batching)).set("preemption", name(q.policies.preemption));
  json.set("router", name(q.policies.router)).set("prefix_cache", q.policies.prefix_cache);
  return json;
}

/// Of conversations; null where there are none.
Json turns_json(const SimulationResult& r) {
  if (r.first_turn_ttft.count() == 0) return {};
  const PredictionSpread& s = r.spread;
  return Json::object()
      .set("tasks", whole_json(r.task.count()))
      .set("first_turn_ttft_s", latency_json(r.first_turn_ttft, s.ttft_low, s.ttft_high))
      .set("later_turn_ttft_s", latency_json(r.later_turn_ttft, s.ttft_low, s.ttft_high))
      .set("task_s", latency_json(r.task, 1, 1))
      .set("task_busy_s", latency_json(r.task_busy, s.tpot_low, s.tpot_high));
}

Json tiers_json(const SimulationAnswer& a) {
  Json list = Json::array();
  for (const TierResult& t : a.result.tiers) {
    list.push(Json::object()
                  .set("name", t.name)
                  .set("fetched_tokens", whole_json(t.fetched_tokens))
                  .set("fetches", whole_json(t.fetches))
                  .set("fetch_s", t.fetch_seconds)
                  .set("recomputed_tokens", whole_json(t.declined_tokens))
                  .set("lost_tokens", whole_json(t.lost_tokens))
                  .set("peak_bytes", t.peak_bytes));
  }
  return list;
}

Json sizes_json(const SimulationAnswer& a) {
  Json list = Json::array();
  for (const TierSize& s : a.sizes) {
    list.push(Json::object()
                  .set("capacity_bytes", s.capacity)
                  .set("cached_share", s.cached_share)
                  .set("later_turn_ttft_p95_s", s.later_ttft_p95)
                  .set("requests_per_s", s.requests_per_s)
                  .set("overloaded", s.overloaded)
                  .set("peak_bytes", s.peak_bytes));
  }
  return list;
}

Json timeline_json(const SimulationResult& r) {
  Json list = Json::array();
  for (const TimelinePoint& p : r.timeline) {
    list.push(Json::object()
                  .set("start_s", p.start)
                  .set("queue", p.queue)
                  .set("running", p.running)
                  .set("kv_share", p.kv_share)
                  .set("engines", p.engines)
                  .set("arrivals_per_s", p.arrivals_per_s)
                  .set("output_tokens_per_s", p.output_tokens_per_s));
  }
  return list;
}

}  // namespace

Json simulation_json(const SimulationAnswer& a) {
  const SimulationResult& r = a.result;
  const PredictionSpread& s = r.spread;
  Json json = Json::object();
  json.set("schema", kSimulateSchema).set("query", query_json(a));
  json.set("engines", r.engines).set("gpus", r.gpus);
  json.set("overloaded", r.overloaded).set("growth_requests_per_s", r.overloaded ? Json(r.growth_per_s) : Json());
  json.set("stopped_early", r.stopped_early);
  json.set("arrived", whole_json(r.arrived))
      .set("finished", whole_json(r.finished))
      .set("too_long", whole_json(r.too_long));
  json.set("rejected", whole_json(r.rejected))
      .set("timed_out", whole_json(r.timed_out))
      .set("good", whole_json(r.good));
  json.set("restarted", whole_json(r.restarted));
  json.set("makespan_s", r.makespan).set("arrival_span_s", r.arrival_span);
  json.set("input_tokens", whole_json(r.input_tokens)).set("output_tokens", whole_json(r.output_tokens));
  json.set("cached_tokens", whole_json(r.cached_tokens)).set("preemptions", whole_json(r.preemptions));
  json.set("steps", whole_json(r.steps));
  // What an open loop is given it serves, unless it is overloaded: only then and in closed loops is this a prediction.
  const bool given = a.query.load.kind == OfferedKind::rate && !r.overloaded;
  const double low = given ? 1 : s.throughput_low;
  const double high = given ? 1 : s.throughput_high;
  json.set("requests_per_s", spread_json(r.requests_per_s, low, high));
  json.set("output_tokens_per_s", spread_json(r.output_tokens_per_s, low, high));
  json.set("total_tokens_per_s", spread_json(r.total_tokens_per_s, low, high));
  json.set("goodput_requests_per_s", r.goodput);
  json.set("ttft_s", latency_json(r.ttft, s.ttft_low, s.ttft_high));
  json.set("tpot_s", latency_json(r.tpot, s.tpot_low, s.tpot_high));
  json.set("itl_s", latency_json(r.itl, s.tpot_low, s.tpot_high));
  json.set("e2e_s", latency_json(r.e2e, s.tpot_low, s.tpot_high));
  json.set("wait_s", latency_json(r.wait, s.ttft_low, s.ttft_high));
  json.set("cdf", cdf_json(r));
  Json classes = Json::array();
  if (r.classes.size() > 1) {
    for (const ClassResult& c : r.classes) {
      classes.push(Json::object()
                       .set("name", c.name)
                       .set("finished", whole_json(c.finished))
                       .set("good", whole_json(c.good))
                       .set("ttft_s", latency_json(c.ttft, s.ttft_low, s.ttft_high))
                       .set("tpot_s", latency_json(c.tpot, s.tpot_low, s.tpot_high))
                       .set("e2e_s", latency_json(c.e2e, s.tpot_low, s.tpot_high)));
    }
  }
  json.set("classes", std::move(classes));
  json.set("turns", turns_json(r)).set("kv_tiers", tiers_json(a)).set("tier_sizes", sizes_json(a));
  json.set("mean_queue", r.mean_queue).set("mean_running", r.mean_running);
  json.set("mean_in_system", r.mean_in_system);
  json.set("kv_capacity_tokens", r.kv_capacity_tokens).set("mean_kv_share", r.mean_kv_share);
  json.set("peak_kv_share", r.peak_kv_share).set("busy_share", r.busy_share);
  json.set("load_share", a.load_share > 0 ? Json(a.load_share) : Json());
  const auto published = [](double value) { return value > 0 ? Json(value) : Json(); };
  json.set("energy_j", published(r.energy_j)).set("mean_power_w", published(r.mean_power_w));
  json.set("mean_engines", r.mean_engines).set("cold_starts", whole_json(r.cold_starts));
  json.set("failures", whole_json(r.failures)).set("mean_transfer_s", r.transfer_seconds);
  if (a.search) {
    json.set("find_rate", Json::object()
                              .set("rate_per_s", a.search->rate)
                              .set("refused_rate_per_s", a.search->refused_rate)
                              .set("limited_by", a.search->limited_by)
                              .set("simulations", a.search->simulations));
  } else {
    json.set("find_rate", Json());
  }
  json.set("timeline", timeline_json(r));
  Json assumptions = Json::array();
  for (const auto* list : {&a.assumptions, &r.assumptions}) {
    for (const std::string& text : *list) assumptions.push(text);
  }
  json.set("assumptions", std::move(assumptions));
  json.set("statistics", Json::object().set("wall_s", a.wall_seconds));
  return json;
}

}  // namespace ridge::report
