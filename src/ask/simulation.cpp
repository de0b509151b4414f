// The fields that only a simulation has. A new one is a line here.
#include "ask/simulation.hpp"

#include <charconv>
#include <cmath>
#include <cstdio>

#include "ask/member.hpp"
#include "ridge/base/text.hpp"
#include "ridge/serve/kv_tiers.hpp"
#include "serve/cache/ticks.hpp"

namespace ridge::ask {

namespace {

using Query = SimulationQuery;
constexpr double kMostSteps = 100'000;
constexpr double kMostEngines = 100'000;
constexpr limits::Limit kSimulatedTime{"seconds of any time in a simulation", serve::kMostSeconds, "s",
                                       "its clock ends there"};

Error no_such(std::string message) {
  return {ErrorCode::bad_input, "", std::move(message)};
}

std::string exact_text(double value) {
  return fmt::format("{}", value);
}

std::string write_arrivals(const Query& q) {
  const ArrivalProcess& a = q.workload.arrivals;
  switch (a.kind) {
    case ArrivalKind::constant:
      return "constant";
    case ArrivalKind::gamma:
      return "gamma:" + exact_text(a.cv);
    case ArrivalKind::on_off:
      return fmt::format("on-off:{}s,{}s", a.on_seconds, a.off_seconds);
    case ArrivalKind::diurnal:
      return fmt::format("diurnal:{}s,{}", a.period, a.swing);
    default:
      return {};
  }
}
Status take_arrivals(std::string_view text, Query& q) {
  return read_arrivals(text, q.workload.arrivals);
}

Status read_seed(std::string_view text, Query& q) {
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), q.seed);
  return code == std::errc() && end == text.data() + text.size() ? Status() : no_such("write a whole number");
}
std::string write_seed(const Query& q) {
  return q.seed == Query{}.seed ? std::string() : std::to_string(q.seed);
}

Status read_tiers(std::string_view text, Query& q) {
  Result<std::vector<KvTier>> tiers = parse_tiers(text);
  if (!tiers) return tiers.error();
  q.policies.tiers = *std::move(tiers);
  return {};
}
std::string write_tiers(const Query& q) {
  const auto most = [](double value, std::string_view unit) {
    return std::isinf(value) ? std::string("inf") : fmt::format("{}{}", value, unit);
  };
  std::string out;
  for (const KvTier& t : q.policies.tiers) {
    out += fmt::format("{}{}:{}:{}:{}s{}", out.empty() ? "" : ",", t.name, most(t.capacity, "B"),
                       most(t.bytes_per_s, "B/s"), t.latency, t.shared ? ":shared" : "");
  }
  return out;
}

Status read_gathering(std::string_view text, Query& q) {
  const std::vector<std::string> parts = split(text, ':');
  const Result<double> share = parse_share(parts[0]);
  const Result<double> steps = parse_count(parts.back());
  if (parts.size() != 2 || !share || !steps || *share <= 0 || *share > 1 || *steps < 1 || *steps > kMostSteps) {
    return no_such("write SHARE:STEPS, for example 0.9:20");
  }
  q.policies.gathering.token_share = *share;
  q.policies.gathering.steps = static_cast<int>(*steps);
  return {};
}
std::string write_gathering(const Query& q) {
  const PromptGathering& g = q.policies.gathering;
  return g.steps == 0 || g.every_rank ? std::string() : fmt::format("{}:{}", g.token_share, g.steps);
}
double ranks_wait(const Query& q) {
  return q.policies.gathering.every_rank ? q.policies.gathering.steps : kNothing;
}
void let_ranks_wait(Query& q, double steps) {
  q.policies.gathering.every_rank = true;
  q.policies.gathering.steps = static_cast<int>(steps);
}

Status read_autoscale(std::string_view text, Query& q) {
  Autoscaling a;
  int used = 0;
  const std::string all(text);
  if (std::sscanf(all.c_str(), "%6d:%6d%n", &a.least, &a.most, &used) != 2 || used != static_cast<int>(all.size()) ||
      a.least < 0 || a.most < 1 || a.least > a.most) {
    return no_such("write MIN:MAX engines, for example 0:8");
  }
  q.policies.autoscaling = a;
  return {};
}
std::string write_autoscale(const Query& q) {
  const auto& a = q.policies.autoscaling;
  return a ? fmt::format("{}:{}", a->least, a->most) : std::string();
}
/// Of autoscaling, where there is any.
template <double Autoscaling::*Of>
double scaling_of(const Query& q) {
  return q.policies.autoscaling ? (*q.policies.autoscaling).*Of : kNothing;
}
template <double Autoscaling::*Of>
void take_scaling(Query& q, double value) {
  if (q.policies.autoscaling) (*q.policies.autoscaling).*Of = value;
}
template <double Autoscaling::*Of>
constexpr AnyMember of_autoscaling() {
  return number_by<Query, scaling_of<Of>, take_scaling<Of>>();
}

Status read_kill(std::string_view text, Query& q) {
  const std::size_t at = std::min(text.find('@'), text.size());
  const Result<double> number = parse_count(text.substr(0, at));
  const Result<Seconds> time = parse_quantity<Seconds>(text.substr(std::min(at + 1, text.size())));
  if (at == text.size() || !number || !time || !(*number >= 1 && *number <= 1e6) || *number != std::floor(*number) ||
      !(time->value() >= 0 && time->value() <= serve::kMostSeconds)) {
    return no_such("write which engine, from 1, and when: 2@30s");
  }
  q.policies.failures.killed = static_cast<int>(*number);
  q.policies.failures.killed_at = time->value();
  return {};
}
std::string write_kill(const Query& q) {
  const Failures& f = q.policies.failures;
  return f.killed == 0 ? std::string() : fmt::format("{}@{}s", f.killed, f.killed_at);
}

template <Status (*Read)(std::string_view, Query&)>
Status can_read(std::string_view text) {
  Query unused;
  return Read(text, unused);
}
double rate_of(const Query& q) {
  return q.load.kind == OfferedKind::rate ? q.load.rate : kNothing;
}
void offer_rate(Query& q, double rate) {
  q.load.kind = OfferedKind::rate;
  q.load.rate = rate;
}

template <auto... Path>
constexpr AnyMember policy() {
  return in<&Query::policies, Path...>();
}
template <auto Of>
constexpr AnyMember api() {
  return in<&Query::policies, &ServingPolicies::limits, Of>();
}

constexpr Word kScenarios[] = {{"offline", 0}, {"server", 1}, {"interactive", 2}};
constexpr Word kRouters[] = {{"round-robin", static_cast<int>(RouterPolicy::round_robin)},
                             {"least-outstanding", static_cast<int>(RouterPolicy::least_outstanding)},
                             {"prefix-aware", static_cast<int>(RouterPolicy::prefix_aware)},
                             {"session-sticky", static_cast<int>(RouterPolicy::session_sticky)}};
constexpr Word kBatchings[] = {{"chunked", static_cast<int>(BatchingPolicy::chunked)},
                               {"in-flight", static_cast<int>(BatchingPolicy::in_flight)},
                               {"prefill-first", static_cast<int>(BatchingPolicy::prefill_first)},
                               {"static", static_cast<int>(BatchingPolicy::fixed)}};
constexpr Word kPreemptions[] = {{"recompute", static_cast<int>(PreemptionPolicy::recompute)},
                                 {"swap", static_cast<int>(PreemptionPolicy::swap)}};
constexpr Word kArrivalExamples[] = {
    {"poisson", 0}, {"constant", 1}, {"gamma:2", 2}, {"on-off:10s,30s", 3}, {"diurnal:1day,0.5", 4}};

// clang-format off
constexpr Field kSimulationFields[] = {
    {.key = "workload", .value_name = "W", .help = "workload by name (chat, code, rag, reasoning, agent, mlperf-...), a workload.toml, or a trace (.csv, .jsonl)", .verbs = kSimulation,
     .takes = Takes::named, .named = Named::workload},
    {.key = "scenario", .value_name = "S", .help = "scenario of an MLPerf workload, with its limits: offline, server or interactive", .verbs = kSimulation,
     .takes = Takes::word, .words = kScenarios},
    {.key = "request_rate", .value_name = "Q", .help = "open loop: requests per second, or 5M/day (default: 1)", .verbs = kSimulation,
     .takes = Takes::per_second, .low = 1e-6, .high = 1e8, .own = number_by<Query, rate_of, offer_rate>()},
    {.key = "arrivals", .value_name = "K", .help = "arrivals of the open loop: poisson (default), constant, gamma:CV, on-off:ON,OFF or diurnal:PERIOD,SWING", .verbs = kSimulation,
     .takes = Takes::parsed, .words = kArrivalExamples, .check = can_read<take_arrivals>, .own = text_by<Query, take_arrivals, write_arrivals>()},
    {.key = "speed", .value_name = "X", .help = "play a trace X times as fast as recorded", .verbs = kSimulation,
     .takes = Takes::count, .low = 1e-6, .high = 1e6, .own = in<&Query::load, &OfferedLoad::speed>()},
    {.key = "requests", .value_name = "N", .help = "number of requests (default: 1000; 20000 with --find-rate)", .verbs = kSimulation,
     .takes = Takes::whole, .low = 1, .high = limits::kRequests.most, .own = in<&Query::requests>()},
    {.key = "duration", .value_name = "T", .help = "time during which requests arrive, instead of their number: 10min", .verbs = kSimulation,
     .takes = Takes::seconds, .example = "500ms", .most = kSimulatedTime, .own = in<&Query::duration>()},
    {.key = "seed", .value_name = "S", .help = "seed of all random draws (default: 1)", .verbs = kSimulation,
     .takes = Takes::parsed, .check = can_read<read_seed>, .own = text_by<Query, read_seed, write_seed>()},
    {.key = "ttft", .value_name = "T", .help = "SLO: time to first token, at most: 500ms", .verbs = kSimulation,
     .takes = Takes::seconds, .example = "500ms", .most = kSimulatedTime, .own = in<&Query::limits, &LatencyLimits::ttft>()},
    {.key = "tpot", .value_name = "T", .help = "SLO: time per output token, at most: 40ms", .verbs = kSimulation,
     .takes = Takes::seconds, .example = "500ms", .most = kSimulatedTime, .own = in<&Query::limits, &LatencyLimits::tpot>()},
    {.key = "e2e", .value_name = "T", .help = "SLO: time of a whole request, at most: 20s", .verbs = kSimulation,
     .takes = Takes::seconds, .example = "500ms", .most = kSimulatedTime, .own = in<&Query::limits, &LatencyLimits::e2e>()},
    {.key = "limit_share", .value_name = "SHARE", .help = "share of the requests that have to meet each SLO, for --find-rate (default: 95%)", .verbs = kSimulation,
     .takes = Takes::share, .own = in<&Query::limits, &LatencyLimits::share>()},
    {.key = "find_rate", .value_name = "", .help = "find the highest Poisson request rate, to 1 %, that meets the SLOs", .verbs = kSimulation, .takes = Takes::on},
    {.key = "replicas", .value_name = "R", .help = "copies of the deployment behind one router (default: 1)", .verbs = kSimulation,
     .takes = Takes::whole, .low = 1, .high = kMostEngines, .own = in<&Query::replicas>()},
    {.key = "router", .value_name = "R", .help = "how requests are routed: round-robin, least-outstanding, prefix-aware or session-sticky", .verbs = kSimulation,
     .takes = Takes::word, .words = kRouters, .own = policy<&ServingPolicies::router>()},
    {.key = "batching", .value_name = "B", .help = "batching: chunked, in-flight, prefill-first or static (default: the engine's)", .verbs = kSimulation,
     .takes = Takes::word, .words = kBatchings, .own = policy<&ServingPolicies::batching>()},
    {.key = "preemption", .value_name = "P", .help = "what happens when the KV cache is full: recompute or swap", .verbs = kSimulation,
     .takes = Takes::word, .words = kPreemptions, .own = policy<&ServingPolicies::preemption>()},
    {.key = "no_prefix_cache", .value_name = "", .help = "keep no prefix cache", .verbs = kSimulation,
     .takes = Takes::on, .own = not_in<&Query::policies, &ServingPolicies::prefix_cache>()},
    {.key = "kv_tiers", .value_name = "LIST", .help = "memories for the KV cache below the device's, nearest first: host:512GB:50GB/s,ssd:4TB:12GB/s:100us,store:inf:10GB/s:1ms:shared",
     .verbs = kSimulation, .takes = Takes::parsed, .check = can_read<read_tiers>, .own = text_by<Query, read_tiers, write_tiers>()},
    {.key = "size_tiers", .value_name = "", .help = "show what the first tier is worth: halve and double its capacity", .verbs = kSimulation, .takes = Takes::on},
    {.key = "block_size", .value_name = "TOKENS", .help = "tokens per block of the KV cache (default: 16)", .verbs = kSimulation,
     .takes = Takes::whole, .low = 1, .high = 4096, .own = policy<&ServingPolicies::block_tokens>()},
    {.key = "poll_steps", .value_name = "N", .help = "decode steps between two looks for new requests (default: 1; SGLang: --scheduler-recv-interval)", .verbs = kSimulation,
     .takes = Takes::whole, .low = 1, .high = kMostSteps, .own = policy<&ServingPolicies::poll_steps>()},
    {.key = "gather", .value_name = "SHARE:STEPS", .help = "delay prefill until queued prompts fill SHARE of a step, at most STEPS steps: 0.9:20 (TensorRT-LLM: batch_wait)",
     .verbs = kSimulation, .takes = Takes::parsed, .check = can_read<read_gathering>, .own = text_by<Query, read_gathering, write_gathering>()},
    {.key = "gather_ranks", .value_name = "STEPS", .help = "delay prefill until every data-parallel rank has a prompt, at most STEPS steps", .verbs = kSimulation,
     .takes = Takes::whole, .low = 1, .high = kMostSteps, .own = number_by<Query, ranks_wait, let_ranks_wait>()},
    {.key = "disaggregate", .value_name = "xPyD", .help = "disaggregated: x prefill engines and y decode engines: 2P1D", .verbs = kSimulation,
     .takes = Takes::parsed, .check = can_read_pools},
    {.key = "prefill_gpus", .value_name = "N", .help = "devices of one prefill engine", .verbs = kSimulation, .takes = Takes::whole, .low = 1, .high = kMostEngines},
    {.key = "autoscale", .value_name = "MIN:MAX", .help = "fewest and most engines, which come and go with the load; 0:8 scales to zero", .verbs = kSimulation,
     .takes = Takes::parsed, .check = can_read<read_autoscale>, .own = text_by<Query, read_autoscale, write_autoscale>()},
    {.key = "scale_target", .value_name = "N", .help = "requests per engine that autoscaling aims at (default: 64)", .verbs = kSimulation,
     .takes = Takes::count, .low = 1, .high = 1e6, .own = of_autoscaling<&Autoscaling::target>()},
    {.key = "cold_start", .value_name = "T", .help = "time until a new engine serves (default: 60s)", .verbs = kSimulation,
     .takes = Takes::seconds, .example = "500ms", .most = kSimulatedTime, .own = of_autoscaling<&Autoscaling::cold_start>()},
    {.key = "scale_idle", .value_name = "T", .help = "time without work before an engine is stopped (default: 60s)", .verbs = kSimulation,
     .takes = Takes::seconds, .example = "500ms", .most = kSimulatedTime, .own = of_autoscaling<&Autoscaling::idle>()},
    {.key = "mtbf", .value_name = "T", .help = "mean time between failures of one engine: 30days (default: none fails)", .verbs = kSimulation,
     .takes = Takes::seconds, .example = "500ms", .most = kSimulatedTime, .own = policy<&ServingPolicies::failures, &Failures::mean_time_between>()},
    {.key = "kill", .value_name = "N@T", .help = "engine N fails at time T, for --repair: 2@30s", .verbs = kSimulation,
     .takes = Takes::parsed, .check = can_read<read_kill>, .own = text_by<Query, read_kill, write_kill>()},
    {.key = "repair", .value_name = "T", .help = "time until a failed engine serves again (default: 5min)", .verbs = kSimulation,
     .takes = Takes::seconds, .example = "500ms", .most = kSimulatedTime, .own = policy<&ServingPolicies::failures, &Failures::repair>()},
    {.key = "rpm", .value_name = "N", .help = "API limit: requests per minute", .verbs = kSimulation,
     .takes = Takes::count, .low = 1, .high = 1e12, .own = api<&ApiLimits::requests_per_minute>()},
    {.key = "tpm", .value_name = "N", .help = "API limit: tokens per minute", .verbs = kSimulation,
     .takes = Takes::count, .low = 1, .high = 1e15, .own = api<&ApiLimits::tokens_per_minute>()},
    {.key = "max_in_system", .value_name = "N", .help = "API limit: requests in the system at once", .verbs = kSimulation,
     .takes = Takes::count, .low = 1, .high = 1e9, .own = api<&ApiLimits::concurrency>()},
    {.key = "batch_window", .value_name = "T", .help = "time for which requests are collected and let through together", .verbs = kSimulation,
     .takes = Takes::seconds, .example = "500ms", .most = kSimulatedTime, .own = api<&ApiLimits::batch_window>()},
    {.key = "ttft_timeout", .value_name = "T", .help = "clients leave after this time without a token", .verbs = kSimulation,
     .takes = Takes::seconds, .example = "500ms", .most = kSimulatedTime, .own = api<&ApiLimits::ttft_timeout>()},
    {.key = "idle_timeout", .value_name = "T", .help = "connections are cut after this time between tokens", .verbs = kSimulation,
     .takes = Takes::seconds, .example = "500ms", .most = kSimulatedTime, .own = api<&ApiLimits::idle_timeout>()},
    {.key = "requests_csv", .value_name = "FILE", .help = "write every request with its times", .verbs = kSimulation, .takes = Takes::file},
    {.key = "timeline_csv", .value_name = "FILE", .help = "write queue, batch, KV cache and output over time", .verbs = kSimulation, .takes = Takes::file},
    {.key = "perfetto", .value_name = "FILE", .help = "write steps and requests for a trace viewer", .verbs = kSimulation, .takes = Takes::file},
    {.key = "html", .value_name = "FILE", .help = "write a page with latency curves and timelines", .verbs = kSimulation, .takes = Takes::file},
};
// clang-format on

}  // namespace

std::span<const Field> simulation_fields() {
  return kSimulationFields;
}

Status read_arrivals(std::string_view text, ArrivalProcess& into) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string_view kind = text.substr(0, colon);
  const std::vector<std::string> parts =
      colon < text.size() ? split(text.substr(colon + 1), ',') : std::vector<std::string>{};
  const auto time = [](const std::string& part) { return parse_quantity<Seconds>(part); };
  constexpr double kShortest = 1e-3;  // draws of shorter ones would be most of the work
  const auto good = [](const Result<Seconds>& t) {
    return t && t->value() >= kShortest && t->value() <= serve::kMostSeconds;
  };
  if (kind == "poisson" && parts.empty()) {
    into.kind = ArrivalKind::poisson;
  } else if (kind == "constant" && parts.empty()) {
    into.kind = ArrivalKind::constant;
  } else if (kind == "gamma" && parts.size() == 1) {
    const Result<double> cv = parse_count(parts[0]);
    if (!cv || *cv < 0.01 || *cv > 100) return no_such("write gamma:CV with 0.01 to 100");
    into.kind = ArrivalKind::gamma;
    into.cv = *cv;
  } else if (kind == "on-off" && parts.size() == 2) {
    const Result<Seconds> on = time(parts[0]);
    const Result<Seconds> off = time(parts[1]);
    if (!good(on) || !good(off)) return no_such("write on-off:10s,30s, both from 1ms");
    into.kind = ArrivalKind::on_off;
    into.on_seconds = on->value();
    into.off_seconds = off->value();
  } else if (kind == "diurnal" && parts.size() == 2) {
    const Result<Seconds> period = time(parts[0]);
    const Result<double> swing = parse_share(parts[1]);
    if (!good(period) || !swing) return no_such("write diurnal:1day,0.5");
    into.kind = ArrivalKind::diurnal;
    into.period = period->value();
    into.swing = *swing;
  } else {
    return no_such("write poisson, constant, gamma:CV, on-off:ON,OFF or diurnal:PERIOD,SWING");
  }
  return {};
}

Status read_pools(std::string_view text, int& prefill, int& decode) {
  int used = 0;
  const std::string all(text);
  if (std::sscanf(all.c_str(), "%6dP%6dD%n", &prefill, &decode, &used) == 2 && used == static_cast<int>(all.size()) &&
      prefill >= 1 && decode >= 1) {
    return {};
  }
  return no_such("write xPyD, for example 2P1D: two engines for prompts, one for decoding");
}

Status can_read_pools(std::string_view text) {
  int prefill = 0;
  int decode = 0;
  return read_pools(text, prefill, decode);
}

}  // namespace ridge::ask
