#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "perf/operators/power.hpp"
#include "ridge/base/limits.hpp"
#include "ridge/base/text.hpp"
#include "ridge/perf/capacity.hpp"
#include "ridge/perf/encoder.hpp"
#include "ridge/serve/live.hpp"
#include "ridge/serve/simulation_load.hpp"
#include "serve/deployment_shape.hpp"

namespace ridge {

namespace {

using serve::Cluster;
using serve::ClusterSetup;
using serve::EnginePool;

constexpr double kUsualNic = 12.5e9;  ///< bytes/s per device where nothing is said: 100 Gb/s

/// Waits that the clock can hold.
Status check_times(const SimulationQuery& q) {
  const ServingPolicies& p = q.policies;
  const Autoscaling scaling = p.autoscaling.value_or(Autoscaling());
  const double link = p.disaggregation ? p.disaggregation->link_latency : 0;
  for (const auto& [what, seconds] : {std::pair("batch window", p.limits.batch_window),
                                      {"ttft timeout", p.limits.ttft_timeout},
                                      {"idle timeout", p.limits.idle_timeout},
                                      {"cold start", scaling.cold_start},
                                      {"scale idle", scaling.idle},
                                      {"repair", p.failures.repair},
                                      {"kill", p.failures.killed_at},
                                      {"link latency", link}}) {
    if (!(seconds >= 0 && seconds <= serve::kLongTime)) {
      return Error{ErrorCode::bad_input, what, "write a time of at most four months"};
    }
  }
  if (!(scaling.interval >= 1e-3 && scaling.interval <= serve::kLongTime)) {
    return Error{ErrorCode::bad_input, "autoscaling", "decide every millisecond at most, every four months at least"};
  }
  if (!(p.failures.mean_time_between >= 0)) {
    return Error{ErrorCode::bad_input, "mtbf", "write a time above 0, or 0 for engines that never fail"};
  }
  if (p.failures.killed < 0 || p.failures.killed > q.replicas) {
    return Error{ErrorCode::bad_input, "kill", fmt::format("there are engines 1 to {}", q.replicas)};
  }
  for (const RequestClass& c : q.workload.classes) {
    if (!(c.think_time >= 0 && c.think_time <= serve::kLongTime)) {
      return Error{ErrorCode::bad_input, "think time", "write a time of at most four months"};
    }
  }
  return {};
}

Status check_load(const SimulationQuery& q) {
  const auto refuse = [](const char* what, const char* why) { return Error{ErrorCode::bad_input, what, why}; };
  const OfferedLoad& l = q.load;
  if (l.kind == OfferedKind::rate && !(l.rate > 0 && l.rate < 1e9)) {
    return refuse("request rate", "write a rate above 0, in requests per second");
  }
  if (l.kind == OfferedKind::concurrency && !(l.concurrency >= 1 && l.concurrency <= 1e7)) {
    return refuse("concurrency", "write 1 to 10,000,000 clients");
  }
  if (l.kind == OfferedKind::trace && !q.workload.trace) return refuse("trace", "the workload is not a trace");
  if (l.kind == OfferedKind::trace && !(l.speed > 0 && l.speed < 1e9)) return refuse("speed", "write a factor above 0");
  if (q.workload.classes.empty() || (q.workload.trace && q.workload.trace->requests.empty())) {
    return refuse("workload", "there are no requests in it");
  }
  const bool ends = q.requests > 0 || q.duration > 0 || (q.workload.trace && l.kind != OfferedKind::concurrency);
  if (!ends) return refuse("requests", "say how many requests, or for how long they arrive");
  if (l.kind == OfferedKind::offline && q.requests <= 0 && !q.workload.trace) {
    return refuse("requests", "offline needs a number of requests");
  }
  const double span = l.kind == OfferedKind::rate && !(q.duration > 0) ? q.requests / l.rate : q.duration;
  if (!(span <= 0.1 * serve::kMostSeconds)) {
    return refuse("duration", "the arrivals would take more than five months: fewer requests, or a higher rate");
  }
  if (q.policies.block_tokens < 1 || q.policies.block_tokens > 4096) {
    return refuse("block size", "write 1 to 4,096 tokens");
  }
  if (const Status s = check_tiers(q.policies.tiers); !s) return s;
  if (!q.policies.tiers.empty() && !q.policies.prefix_cache) {
    return refuse("kv tiers", "hold beginnings of prompts: they need the prefix cache");
  }
  if (q.replicas < 1 || q.replicas > limits::kEngines.most) return refuse("replicas", "write 1 to 100,000");
  if (l.kind == OfferedKind::rate) {
    if (const Status s = serve::check(q.workload.arrivals, l.rate); !s) return s;
  }
  return check_times(q);
}

std::string hundred(double share) {
  return fmt::format("{:.0f} %", 100 * share);
}

void add_power(const SimulationQuery&, const std::vector<const ResolvedInference*>& deployments,
               const ClusterSetup& setup, const Cluster& cluster, SimulationResult& result) {
  double busy_seconds = 0;
  double up_seconds = 0;
  for (std::size_t i = 0; i < cluster.engines().size(); ++i) {
    const serve::Engine& engine = *cluster.engines()[i];
    const std::size_t pool = setup.pools.size() > 1 && i >= static_cast<std::size_t>(setup.pools[0].engines) ? 1 : 0;
    const ResolvedInference& r = *deployments[std::min(pool, deployments.size() - 1)];
    const serve::Work& work = engine.work();
    const double up = std::max(cluster.up_seconds(i), work.seconds);
    const double busy = perf::device_power(r.device, r.power, {work.flops, work.bytes, work.seconds, work.waiting});
    const double idle = r.power.idle * r.device.tdp;
    result.energy_j += engine.shape().gpus * (busy * work.seconds + idle * (up - work.seconds));
    busy_seconds += work.seconds;
    up_seconds += up;
  }
  result.busy_share = up_seconds > 0 ? busy_seconds / up_seconds : 0;
  result.mean_power_w = result.makespan > 0 ? result.energy_j / result.makespan : 0;
}

PredictionSpread spread_of(const ResolvedInference& r, const OfferedLoad& load) {
  const auto mode =
      static_cast<std::size_t>(load.kind == OfferedKind::offline ? LoadMode::offline : LoadMode::closed_loop);
  const auto& of = r.spread[mode];
  const perf::Spread ttft = of[static_cast<std::size_t>(perf::Metric::ttft)];
  const perf::Spread tpot = of[static_cast<std::size_t>(perf::Metric::tpot)];
  const perf::Spread rate = of[static_cast<std::size_t>(perf::Metric::output_tok_s)];
  return {ttft.low, ttft.high, tpot.low, tpot.high, rate.low, rate.high};
}

/// Reason for a deployment that cannot run, or nothing.
Status runs(const ResolvedInference& r, const EnginePool& pool) {
  if (r.reason != Reason::none) {
    return Error{ErrorCode::infeasible, "", fmt::format("the deployment cannot run: {}", name(r.reason))};
  }
  if (pool.shape.blocks < 1) {
    return Error{ErrorCode::infeasible, "", "the deployment cannot run: no memory is left for the KV cache"};
  }
  return {};
}

}  // namespace

std::string_view name(BatchingPolicy policy) {
  static constexpr std::string_view kNames[] = {"chunked", "in-flight", "prefill-first", "static"};
  return kNames[static_cast<std::size_t>(policy)];
}
std::string_view name(PreemptionPolicy policy) {
  return policy == PreemptionPolicy::swap ? "swap" : "recompute";
}
std::string_view name(RouterPolicy policy) {
  static constexpr std::string_view kNames[] = {"round-robin", "least-outstanding", "prefix-aware", "session-sticky"};
  return kNames[static_cast<std::size_t>(policy)];
}
std::string_view name(RequestRecord::End end) {
  static constexpr std::string_view kNames[] = {"finished", "too_long", "rejected", "timed_out"};
  return kNames[static_cast<std::size_t>(end)];
}

namespace {

/// A power cap holds the clock of a full engine all the time: a service that has less to do would be faster.
ResolvedInference at_full_load(const ResolvedInference& r, const Workload& workload) {
  if (r.device.power_cap <= 0) return r;
  InferenceLoad full;
  full.mode = LoadMode::offline;
  full.isl = workload.mean_input();
  full.osl = std::max(1.0, workload.mean_output());
  return perf::within_cap(r, full);
}

Result<SimulationResult> run(const SimulationQuery& query, const InferenceDeployment& deployment,
                             const InferenceDeployment* prefill, SimulationObserver* observer, LiveTraffic* live) {
  if (const Status s = check_load(query); !s) return s.error();
  const ResolvedInference main = at_full_load(*deployment.resolved, query.workload);
  const double tokens = std::max(1.0, query.workload.mean_input() + query.workload.mean_output());
  ClusterSetup setup;
  EnginePool pool = serve::engine_pool(main, query, tokens);
  if (const Status s = runs(main, pool); !s) return s.error();

  SimulationResult result;
  result.facts = deployment.facts;
  result.assumptions = deployment.assumptions;
  result.spread = spread_of(main, query.load);
  result.batching = pool.batching;
  const serve::ResolvedModel model(main);
  const ResolvedInference before = prefill != nullptr ? at_full_load(*prefill->resolved, query.workload) : main;
  const serve::ResolvedModel prefill_model(before);
  std::vector<const ResolvedInference*> deployments{&main};
  pool.model = &model;
  if (query.policies.disaggregation) {
    const Disaggregation& d = *query.policies.disaggregation;
    SimulationQuery alone = query;
    alone.replicas = 1;
    EnginePool first = serve::engine_pool(before, alone, tokens);
    if (const Status s = runs(before, first); !s) return s.error();
    first.model = &prefill_model;
    first.role = serve::Engine::Role::prefill;
    first.batching = BatchingPolicy::chunked;
    first.engines = std::max(1, d.prefill_engines);
    first.shape.reserve_all = false;
    result.prefill_facts = prefill != nullptr ? prefill->facts : deployment.facts;
    result.prefill_engines = first.engines;
    pool.role = serve::Engine::Role::decode;
    setup.link_latency = d.link_latency;
    setup.link_bytes_per_s = d.link_bytes_per_s > 0 ? d.link_bytes_per_s : kUsualNic * first.shape.gpus;
    setup.pools.push_back(first);
    deployments = {&before, &main};
    result.assumptions.push_back(
        fmt::format("KV caches leave a prefill engine at {}", format(BytesPerSecond(setup.link_bytes_per_s))));
  } else if (const auto& scaling = query.policies.autoscaling) {
    if (scaling->most < 1 || scaling->least < 0 || scaling->least > scaling->most || !(scaling->target > 0) ||
        !(scaling->interval > 0)) {
      return Error{ErrorCode::bad_input, "autoscaling",
                   "write least <= most engines, a target and an interval above 0"};
    }
    pool.engines = scaling->most;
  }
  setup.pools.push_back(pool);
  setup.server_seconds =
      query.server_overhead ? main.costs.server + main.costs.server_token * query.workload.mean_input() : 0;
  result.engines = 0;
  result.gpus = 0;
  for (const EnginePool& p : setup.pools) {
    if (p.engines > limits::kEngines.most - result.engines) {
      return Error{ErrorCode::bad_input, "replicas", limits::beyond(limits::kEngines)};
    }
    result.engines += p.engines;
    result.gpus += p.engines * p.shape.gpus;
  }
  result.kv_capacity_tokens = static_cast<double>(pool.shape.blocks * pool.shape.block_tokens);
  if (!query.policies.batching) {
    result.assumptions.push_back(fmt::format("batching {}, as the engine does", name(pool.batching)));
  }
  if (query.load.kind == OfferedKind::concurrency && query.deployment.max_sequences <= 0 &&
      static_cast<double>(pool.shape.max_sequences) > main.max_sequences * pool.shape.expert_lanes) {
    result.assumptions.push_back(fmt::format("the engine runs up to {} sequences", pool.shape.max_sequences));
  }
  if (query.policies.preemption == PreemptionPolicy::swap) {
    result.assumptions.push_back("blocks are swapped at 25 GB/s per device");
  }
  if (pool.shape.draft_tokens > 0) {
    result.assumptions.push_back(fmt::format(
        "{} of proposed tokens are accepted; blocks of the whole output are reserved", hundred(pool.shape.acceptance)));
  }

  Cluster cluster(query, setup, result, observer, live);
  cluster.run();
  if (cluster.hopeless()) {
    return Error{ErrorCode::refused, "mtbf",
                 fmt::format("an engine fails every {} on average: in {} failures no request was finished",
                             format(Seconds(query.policies.failures.mean_time_between)),
                             format_number(limits::kFailedStarts.most, 9))};
  }
  for (const TierResult& tier : result.tiers) {
    if (tier.declined_tokens <= tier.fetched_tokens) continue;
    result.assumptions.push_back(
        fmt::format("tier {} is slower than recomputing: {} tokens that it held were computed again, {} fetched",
                    tier.name, format_number(static_cast<double>(tier.declined_tokens), 9),
                    format_number(static_cast<double>(tier.fetched_tokens), 9)));
  }
  add_power(query, deployments, setup, cluster, result);
  return result;
}

/// Refuses a pool that cannot run, with the smallest of its kind that can.
Status exists(std::string_view which, const InferenceQuery& asked, const InferenceDeployment& pool,
              const Workload& workload, const Knowledge& knowledge) {
  const ResolvedInference& r = *pool.resolved;
  const double tokens = std::max(1.0, workload.mean_input() + workload.mean_output());
  const bool holds = r.reason == Reason::none && r.kv_pool_bytes >= perf::kv_bytes(r, tokens);
  if (holds) return {};
  const Reason reason = r.reason == Reason::none ? Reason::out_of_memory : r.reason;
  CapacityQuestion question{.engine = asked.engine, .date = asked.date, .kv = asked.kv};
  question.isl = workload.mean_input();
  question.osl = std::max(1.0, workload.mean_output());
  const auto fewest = fewest_devices(question, asked.model, pool.facts.device, pool.facts.weights, knowledge);
  const std::string nearest =
      fewest ? fmt::format("the smallest that can has {} × {}, TP {}{}", fewest->gpus, pool.facts.device, fewest->tp,
                           fewest->pp > 1 ? fmt::format(", PP {}", fewest->pp) : "")
             : fmt::format("no 64 of {} can", pool.facts.device);
  return Error{ErrorCode::infeasible, "",
               fmt::format("the {} pool cannot run on {} × {}: {}; {}", which, pool.facts.gpus, pool.facts.device,
                           name(reason), nearest)};
}

Result<SimulationResult> run(const SimulationQuery& query, const Knowledge& knowledge, SimulationObserver* observer,
                             LiveTraffic* live) {
  if (const Result<Model> model = knowledge.catalogue.find_model(query.deployment.model)) {
    const Workload& w = query.workload;
    if (const Status s = within_reach(*model, w.mean_input(), w.mean_output()); !s) return s.error();
  }
  Result<InferenceDeployment> deployment = resolve(query.deployment, knowledge);
  if (!deployment) return deployment.error();
  if (!query.policies.disaggregation) return run(query, *deployment, nullptr, observer, live);
  if (const Status s = exists("decode", query.deployment, *deployment, query.workload, knowledge); !s) return s.error();
  SimulationQuery completed = query;
  Disaggregation& d = *completed.policies.disaggregation;
  if (d.prefill.model.empty()) d.prefill = query.deployment;
  Result<InferenceDeployment> prefill = resolve(d.prefill, knowledge);
  if (!prefill) return prefill.error();
  if (const Status s = exists("prefill", d.prefill, *prefill, query.workload, knowledge); !s) return s.error();
  if (d.link_bytes_per_s <= 0) {
    const Result<Device> device = knowledge.catalogue.find_device(prefill->facts.device);
    const double nic = device && device->nic_per_direction ? device->nic_per_direction->value.value() : kUsualNic;
    d.link_bytes_per_s = nic * prefill->facts.gpus;
  }
  return run(completed, *deployment, &*prefill, observer, live);
}

}  // namespace

Result<SimulationResult> simulate(const SimulationQuery& query, const InferenceDeployment& deployment,
                                  const InferenceDeployment* prefill, SimulationObserver* observer) {
  return run(query, deployment, prefill, observer, nullptr);
}

Result<SimulationResult> simulate(const SimulationQuery& query, const Knowledge& knowledge,
                                  SimulationObserver* observer) {
  return run(query, knowledge, observer, nullptr);
}

double load_share(const SimulationQuery& query, const SimulationResult& result, const Knowledge& knowledge) {
  if (result.finished == 0 || !(result.makespan > 0) || result.input_tokens == 0) return 0;
  if (query.policies.disaggregation) return 0;
  const Result<InferenceDeployment> deployment = resolve(query.deployment, knowledge);
  if (!deployment) return 0;
  InferenceLoad full;
  full.mode = LoadMode::offline;
  full.natural_text = query.deployment.load.natural_text;
  full.draft_tokens = query.deployment.load.draft_tokens;
  full.acceptance = query.deployment.load.acceptance;
  full.isl = static_cast<double>(result.input_tokens) / static_cast<double>(result.finished);
  full.osl = std::max(1.0, static_cast<double>(result.output_tokens) / static_cast<double>(result.finished));
  full.prefix_hit = static_cast<double>(result.cached_tokens) / static_cast<double>(result.input_tokens);
  const InferenceOutcome outcome = evaluate(at_full_load(*deployment->resolved, query.workload), full);
  if (outcome.reason != Reason::none) return 0;
  // The estimate is of all replicas that its devices hold.
  const double copies = static_cast<double>(result.gpus) / deployment->facts.gpus;
  const double up = query.policies.autoscaling && result.engines > 0 ? result.mean_engines / result.engines : 1;
  const double most = outcome.estimate.output_tokens_per_s.mid * copies * up;
  return most > 0 ? static_cast<double>(result.output_tokens) / result.makespan / most : 0;
}

Result<SimulationResult> serve_live(const SimulationQuery& query, const Knowledge& knowledge, LiveTraffic& traffic) {
  SimulationQuery live = query;
  live.step_by_step = true;  // every token is told when it is out
  live.requests = 1;
  live.duration = 0;
  if (live.load.kind != OfferedKind::concurrency) live.load = {.kind = OfferedKind::concurrency, .concurrency = 1};
  return run(live, knowledge, nullptr, &traffic);
}

}  // namespace ridge
