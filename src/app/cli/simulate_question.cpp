// From flags to a simulation.
#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "app/cli/simulate_flags.hpp"
#include "app/cli/wrong.hpp"
#include "ridge/letters.hpp"
#include "ridge/limits.hpp"
#include "ridge/text.hpp"
#include "ridge/usual.hpp"
#include "serve/ticks.hpp"

namespace ridge::cli {

namespace {

constexpr double kUsualRequests = 1000;
/// Of each trial of a search: a run that is over before the batch has filled holds rates that no longer one does.
constexpr double kSearchRequests = 20'000;
constexpr double kMostRequests = limits::kRequests.most;

template <class E>
Status choose(const SimulateFlags& flags, std::string_view flag, std::initializer_list<E> all, E& into) {
  const std::string& text = flags.value(flag);
  if (text.empty()) return {};
  std::vector<std::string_view> names;
  for (const E one : all) {
    if (name(one) == text) {
      into = one;
      return {};
    }
    names.push_back(name(one));
  }
  std::string known;
  for (const std::string_view one : names) known += (known.empty() ? "" : ", ") + std::string(one);
  return wrong(flag, fmt::format("{} is none of {}", quoted(text), known));
}

class SimulationQuestioner {
 public:
  SimulationQuestioner(const SimulateFlags& flags, const std::string& workloads, const std::string& as_of,
                       const FileAccess& files)
      : flags_(flags), workloads_(workloads), as_of_(as_of), files_(files) {}

  Result<SimulationQuestion> run() {
    for (const auto step :
         {&SimulationQuestioner::workload, &SimulationQuestioner::load, &SimulationQuestioner::arrivals,
          &SimulationQuestioner::latency, &SimulationQuestioner::deployment, &SimulationQuestioner::policies,
          &SimulationQuestioner::pools, &SimulationQuestioner::api}) {
      if (const Status s = (this->*step)(); !s) return s.error();
    }
    return std::move(q_);
  }

  Result<SimulationQuestion> run_load() {
    for (const auto step : {&SimulationQuestioner::workload, &SimulationQuestioner::load,
                            &SimulationQuestioner::arrivals, &SimulationQuestioner::latency}) {
      if (const Status s = (this->*step)(); !s) return s.error();
    }
    return std::move(q_);
  }

 private:
  template <class... Args>
  void assume(fmt::format_string<Args...> text, Args&&... args) {
    q_.assumptions.push_back(fmt::format(text, std::forward<Args>(args)...));
  }

  Status workload() {
    const EstimateFlags& d = flags_.deployment;
    SimulationQuery& q = q_.query;
    const std::string& named = flags_.value("--workload");
    if (d.given("--isl") || d.given("--osl")) {
      if (!named.empty()) return wrong("--isl", "the workload says how long requests are: leave out one of the two");
      double isl = 0;
      double osl = 0;
      if (const Status s = take(d.count("--isl", usual::kInputTokens, 1, limits::kRequestTokens.most), isl); !s)
        return s;
      if (const Status s = take(d.count("--osl", usual::kOutputTokens, 1, limits::kRequestTokens.most), osl); !s)
        return s;
      if (!d.given("--isl")) assume("{:.0f} tokens in", isl);
      if (!d.given("--osl")) assume("{:.0f} tokens out", osl);
      q.workload = fixed_workload(isl, osl);
      double hit = 0;
      if (const Status s = take(d.share("--prefix-hit", 0), hit); !s) return s;
      q.workload.classes.front().shared_prefix = static_cast<std::uint32_t>(hit * isl);
      q.workload.name = fmt::format("{} tokens in, {} out", format_number(isl, 9), format_number(osl, 9));
      return {};
    }
    if (d.given("--prefix-hit")) {
      return wrong("--prefix-hit", "is of requests of --isl tokens: a workload has prefixes of its own");
    }
    if (named.empty()) assume("workload chat");
    const std::string wanted = named.empty() ? "chat" : named;
    const bool trace = wanted.ends_with(".csv") || wanted.ends_with(".jsonl");
    if (trace || wanted.find('/') != std::string::npos || wanted.ends_with(".toml")) {
      if (const Status s = files_.may_read(wanted); !s) return s;
    }
    Result<Workload> found = trace ? read_trace(wanted) : find_workload(workloads_, wanted);
    if (!found) {
      if (found.error().where.empty()) return Error{found.error().code, "--workload", found.error().message};
      return found.error();
    }
    q.workload = *std::move(found);
    return {};
  }

  Status load() {
    SimulationQuery& q = q_.query;
    const EstimateFlags& d = flags_.deployment;
    q_.find_rate = flags_.is_on("--find-rate");
    const bool rate = flags_.given("--request-rate");
    const bool clients = d.given("--concurrency");
    bool offline = d.is_on("--offline");
    const std::string& scenario = flags_.value("--scenario");
    if (!scenario.empty()) {
      if (const Status s = take_scenario(scenario, offline); !s) return s;
    }
    if (rate + clients + offline > 1) {
      return wrong(clients ? "--concurrency" : "--offline", "say one load: --request-rate, --concurrency or --offline");
    }
    if (q_.find_rate && (rate || clients || offline)) {
      return wrong("--find-rate", "looks for the rate itself: leave out --request-rate, --concurrency and --offline");
    }
    if (rate) {
      q.load.kind = OfferedKind::rate;
      if (const Status s = take(flags_.number("--request-rate", 1, 1e-6, 1e8), q.load.rate); !s) return s;
    } else if (clients) {
      q.load.kind = OfferedKind::concurrency;
      if (const Status s = take(d.count("--concurrency", 1, 1, 1e6), q.load.concurrency); !s) return s;
    } else if (offline) {
      q.load.kind = OfferedKind::offline;
    } else if (q.workload.trace && !q_.find_rate) {
      q.load.kind = OfferedKind::trace;
    } else if (!q_.find_rate) {
      q.load.kind = OfferedKind::rate;
      assume("one request per second");
    }
    if (const Status s = take(flags_.number("--speed", 1, 1e-6, 1e6), q.load.speed); !s) return s;
    if (flags_.given("--speed") && q.load.kind != OfferedKind::trace) {
      return wrong("--speed", "is for a trace that is played as recorded");
    }
    const bool bounded = flags_.given("--requests") || flags_.given("--duration");
    q.requests = bounded || q.load.kind == OfferedKind::trace ? 0 : q_.find_rate ? kSearchRequests : kUsualRequests;
    if (const Status s = take(flags_.number("--requests", q.requests, 1, kMostRequests), q.requests); !s) return s;
    if (const Status s = take(flags_.time("--duration", 0), q.duration); !s) return s;
    if (!bounded && q.requests > 0) assume("{:.0f} requests", q.requests);
    if (flags_.given("--seed")) {
      if (const Status s = of("--seed", read_seed(flags_.value("--seed"), q.seed)); !s) return s;
    }
    return {};
  }

  Status take_scenario(const std::string& wanted, bool& offline) {
    const std::vector<Scenario>& all = q_.query.workload.scenarios;
    std::string known;
    for (const Scenario& s : all) {
      known += (known.empty() ? "" : ", ") + s.name;
      if (s.name != wanted) continue;
      q_.query.limits.ttft = s.ttft;
      q_.query.limits.tpot = s.tpot;
      q_.query.limits.share = s.share;
      offline = offline || s.name == "offline";
      return {};
    }
    return wrong("--scenario", known.empty() ? "the workload has no scenarios: take one of MLPerf, mlperf-llama2-70b"
                                             : fmt::format("{} is none of {}", quoted(wanted), known));
  }

  Status arrivals() {
    const std::string& text = flags_.value("--arrivals");
    return text.empty() ? Status() : of("--arrivals", read_arrivals(text, q_.query.workload.arrivals));
  }

  /// The refusal, said of the flag.
  static Status of(std::string_view flag, const Status& read) {
    return read ? read : Status(wrong(flag, read.error().message));
  }

  Status latency() {
    LatencyLimits& l = q_.query.limits;
    if (const Status s = take(flags_.time("--ttft", l.ttft), l.ttft); !s) return s;
    if (const Status s = take(flags_.time("--tpot", l.tpot), l.tpot); !s) return s;
    if (const Status s = take(flags_.time("--e2e", l.e2e), l.e2e); !s) return s;
    if (const std::string& text = flags_.value("--limit-share"); !text.empty()) {
      const Result<double> share = parse_share(text);
      if (!share || *share <= 0 || *share >= 1) return wrong("--limit-share", "write a share below 1: 99%");
      l.share = *share;
    }
    if (q_.find_rate && l.ttft <= 0 && l.tpot <= 0 && l.e2e <= 0) {
      return wrong("--find-rate", "needs a limit to hold: --ttft, --tpot or --e2e");
    }
    return {};
  }

  Status deployment() {
    EstimateFlags d = flags_.deployment;
    const Workload& w = q_.query.workload;
    d.set("--isl", fmt::format("{:.0f}", std::max(1.0, w.mean_input())));
    d.set("--osl", fmt::format("{:.0f}", std::max(1.0, w.mean_output())));
    if (!d.is_on("--offline")) d.set("--concurrency", "1");
    Result<InferenceQuestion> question = inference_question(d, as_of_);
    if (!question) return question.error();
    q_.query.deployment = std::move(question->query);
    for (std::string& text : question->assumptions) q_.assumptions.push_back(std::move(text));
    return {};
  }

  Status policies() {
    ServingPolicies& p = q_.query.policies;
    if (const Status s = take(flags_.whole("--replicas", 1, 1, 100'000), q_.query.replicas); !s) return s;
    if (const Status s = take(flags_.whole("--block-size", 16, 1, 4096), p.block_tokens); !s) return s;
    p.prefix_cache = !flags_.is_on("--no-prefix-cache");
    if (flags_.given("--kv-tiers")) {
      Result<std::vector<KvTier>> tiers = parse_tiers(flags_.value("--kv-tiers"));
      if (!tiers) return wrong("--kv-tiers", tiers.error().message);
      if (!p.prefix_cache)
        return wrong("--no-prefix-cache", "tiers hold beginnings of prompts: leave out one of the two");
      p.tiers = *std::move(tiers);
    } else if (flags_.is_on("--size-tiers")) {
      return wrong("--size-tiers", "say what the tiers are: --kv-tiers host:512GB:50GB/s");
    }
    if (const Status s = take(flags_.whole("--poll-steps", 1, 1, kMostSteps), p.poll_steps); !s) return s;
    if (const Status s = gathering(p.gathering); !s) return s;
    if (flags_.given("--batching")) {
      BatchingPolicy batching = BatchingPolicy::chunked;
      if (const Status s = choose(flags_, "--batching",
                                  {BatchingPolicy::chunked, BatchingPolicy::in_flight, BatchingPolicy::prefill_first,
                                   BatchingPolicy::fixed},
                                  batching);
          !s) {
        return s;
      }
      p.batching = batching;
    }
    if (const Status s =
            choose(flags_, "--preemption", {PreemptionPolicy::recompute, PreemptionPolicy::swap}, p.preemption);
        !s) {
      return s;
    }
    return choose(flags_, "--router",
                  {RouterPolicy::round_robin, RouterPolicy::least_outstanding, RouterPolicy::prefix_aware,
                   RouterPolicy::session_sticky},
                  p.router);
  }

  Status gathering(PromptGathering& g) {
    if (flags_.given("--gather")) {
      if (const Status s = of("--gather", read_gathering(flags_.value("--gather"), g)); !s) return s;
    }
    if (!flags_.given("--gather-ranks")) return {};
    if (g.steps > 0) return wrong("--gather-ranks", "leave out --gather: prompts wait for one thing");
    g.every_rank = true;
    return take(flags_.whole("--gather-ranks", 0, 1, kMostSteps), g.steps);
  }

  Status pools() {
    ServingPolicies& p = q_.query.policies;
    if (const std::string& text = flags_.value("--disaggregate"); !text.empty()) {
      int prefill = 0;
      int decode = 0;
      if (const Status s = of("--disaggregate", read_pools(text, prefill, decode)); !s) return s;
      if (flags_.given("--replicas")) return wrong("--replicas", "--disaggregate says how many engines there are");
      Disaggregation d;
      d.prefill_engines = prefill;
      d.prefill = q_.query.deployment;
      q_.query.replicas = decode;
      if (flags_.given("--prefill-device")) d.prefill.device = flags_.value("--prefill-device");
      int number = 0;
      if (const Status s = take(flags_.whole("--prefill-gpus", 0, 1, 100'000), number); !s) return s;
      if (number > 0) d.prefill.gpus = d.prefill.tp = number;
      if (number > 0) d.prefill.dp = d.prefill.ep = d.prefill.pp = 1;
      const bool ranks = flags_.given("--prefill-dp");
      if (ranks) d.prefill.tp = 1;
      if (const Status s = take(flags_.whole("--prefill-tp", d.prefill.tp, 1, 100'000), d.prefill.tp); !s) return s;
      if (const Status s = take(flags_.whole("--prefill-dp", d.prefill.dp, 1, 100'000), d.prefill.dp); !s) return s;
      const int usual = ranks ? d.prefill.dp * std::max(1, d.prefill.tp) : d.prefill.ep;
      if (const Status s = take(flags_.whole("--prefill-ep", usual, 1, 100'000), d.prefill.ep); !s) return s;
      if (number == 0 && ranks) d.prefill.gpus = std::max(1, d.prefill.tp) * d.prefill.pp * d.prefill.dp;
      if (const std::string& link = flags_.value("--kv-link"); !link.empty()) {
        const Result<BytesPerSecond> rate = parse_quantity<BytesPerSecond>(link);
        if (!rate || rate->value() <= 0) return wrong("--kv-link", "write a rate, for example 50GB/s");
        d.link_bytes_per_s = rate->value();
      }
      p.disaggregation = std::move(d);
    } else if (flags_.given("--prefill-device") || flags_.given("--prefill-gpus") || flags_.given("--prefill-dp") ||
               flags_.given("--kv-link")) {
      return wrong("--disaggregate", "say how many engines do what: --disaggregate 2P1D");
    }
    if (const std::string& text = flags_.value("--autoscale"); !text.empty()) {
      Autoscaling a;
      if (const Status s = of("--autoscale", read_autoscale(text, a)); !s) return s;
      if (p.disaggregation) return wrong("--autoscale", "does not go with --disaggregate");
      if (const Status s = take(flags_.number("--scale-target", a.target, 1, 1e6), a.target); !s) return s;
      if (const Status s = take(flags_.time("--cold-start", a.cold_start), a.cold_start); !s) return s;
      if (const Status s = take(flags_.time("--scale-idle", a.idle), a.idle); !s) return s;
      p.autoscaling = a;
    }
    if (const Status s = take(flags_.time("--mtbf", 0), p.failures.mean_time_between); !s) return s;
    if (const std::string& text = flags_.value("--kill"); !text.empty()) {
      if (const Status s = of("--kill", read_kill(text, p.failures.killed, p.failures.killed_at)); !s) return s;
      if (p.disaggregation) return wrong("--kill", "does not go with --disaggregate");
    }
    return take(flags_.time("--repair", p.failures.repair), p.failures.repair);
  }

  Status api() {
    ridge::ApiLimits& l = q_.query.policies.limits;
    if (const Status s = take(flags_.number("--rpm", 0, 1, 1e12), l.requests_per_minute); !s) return s;
    if (const Status s = take(flags_.number("--tpm", 0, 1, 1e15), l.tokens_per_minute); !s) return s;
    if (const Status s = take(flags_.number("--max-in-system", 0, 1, 1e9), l.concurrency); !s) return s;
    if (const Status s = take(flags_.time("--batch-window", 0), l.batch_window); !s) return s;
    if (const Status s = take(flags_.time("--ttft-timeout", 0), l.ttft_timeout); !s) return s;
    return take(flags_.time("--idle-timeout", 0), l.idle_timeout);
  }

  const SimulateFlags& flags_;
  const std::string& workloads_;
  const std::string& as_of_;
  const FileAccess& files_;
  SimulationQuestion q_;
};

}  // namespace

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
    if (!cv || *cv < 0.01 || *cv > 100) return wrong("", "write gamma:CV with 0.01 to 100");
    into.kind = ArrivalKind::gamma;
    into.cv = *cv;
  } else if (kind == "on-off" && parts.size() == 2) {
    const Result<Seconds> on = time(parts[0]);
    const Result<Seconds> off = time(parts[1]);
    if (!good(on) || !good(off)) return wrong("", "write on-off:10s,30s, both from 1ms");
    into.kind = ArrivalKind::on_off;
    into.on_seconds = on->value();
    into.off_seconds = off->value();
  } else if (kind == "diurnal" && parts.size() == 2) {
    const Result<Seconds> period = time(parts[0]);
    const Result<double> swing = parse_share(parts[1]);
    if (!good(period) || !swing) return wrong("", "write diurnal:1day,0.5");
    into.kind = ArrivalKind::diurnal;
    into.period = period->value();
    into.swing = *swing;
  } else {
    return wrong("", "write poisson, constant, gamma:CV, on-off:ON,OFF or diurnal:PERIOD,SWING");
  }
  return {};
}

Status read_gathering(std::string_view text, PromptGathering& into) {
  const std::vector<std::string> parts = split(text, ':');
  const Result<double> share = parse_share(parts[0]);
  const Result<double> steps = parse_count(parts.back());
  if (parts.size() != 2 || !share || !steps || *share <= 0 || *share > 1 || *steps < 1 || *steps > kMostSteps) {
    return wrong("", "write SHARE:STEPS, for example 0.9:20");
  }
  into.token_share = *share;
  into.steps = static_cast<int>(*steps);
  return {};
}

Status read_pools(std::string_view text, int& prefill, int& decode) {
  int used = 0;
  const std::string all(text);
  if (std::sscanf(all.c_str(), "%6dP%6dD%n", &prefill, &decode, &used) == 2 && used == static_cast<int>(all.size()) &&
      prefill >= 1 && decode >= 1) {
    return {};
  }
  return wrong("", "write xPyD, for example 2P1D: two engines for prompts, one for decoding");
}

Status read_autoscale(std::string_view text, Autoscaling& into) {
  int used = 0;
  const std::string all(text);
  if (std::sscanf(all.c_str(), "%6d:%6d%n", &into.least, &into.most, &used) == 2 &&
      used == static_cast<int>(all.size()) && into.least >= 0 && into.most >= 1 && into.least <= into.most) {
    return {};
  }
  return wrong("", "write MIN:MAX engines, for example 0:8");
}

Status read_kill(std::string_view text, int& engine, double& when) {
  const std::size_t at = std::min(text.find('@'), text.size());
  const Result<double> number = parse_count(text.substr(0, at));
  const Result<Seconds> time = parse_quantity<Seconds>(text.substr(std::min(at + 1, text.size())));
  if (at == text.size() || !number || !time || !(*number >= 1 && *number <= 1e6) || *number != std::floor(*number) ||
      !(time->value() >= 0 && time->value() <= serve::kMostSeconds)) {
    return wrong("", "write which engine, from 1, and when: 2@30s");
  }
  engine = static_cast<int>(*number);
  when = time->value();
  return {};
}

Status read_seed(std::string_view text, std::uint64_t& into) {
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), into);
  return code == std::errc() && end == text.data() + text.size() ? Status() : wrong("", "write a whole number");
}

Result<SimulationQuestion> simulation_question(const SimulateFlags& flags, const std::string& workloads,
                                               const std::string& as_of, const FileAccess& files) {
  return SimulationQuestioner(flags, workloads, as_of, files).run();
}

Result<SimulationQuestion> load_question(const SimulateFlags& flags, const std::string& workloads,
                                         const FileAccess& files) {
  const std::string now;
  return SimulationQuestioner(flags, workloads, now, files).run_load();
}

}  // namespace ridge::cli
