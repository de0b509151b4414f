// From flags to a simulation.
#include <fmt/format.h>

#include "app/cli/estimate/pools.hpp"
#include "app/cli/session/wrong.hpp"
#include "app/cli/simulate/flags.hpp"
#include "ask/simulation.hpp"
#include "ridge/base/limits.hpp"
#include "ridge/base/text.hpp"
#include "ridge/perf/usual.hpp"

namespace ridge::cli {

namespace {

constexpr double kUsualRequests = 1000;
/// Of each trial of a search: a run that is over before the batch has filled holds rates that no longer one does.
constexpr double kSearchRequests = 20'000;

class SimulationQuestioner {
 public:
  SimulationQuestioner(const SimulateFlags& flags, const std::string& workloads, const std::string& as_of,
                       const FileAccess& files)
      : flags_(flags), workloads_(workloads), as_of_(as_of), files_(files) {}

  Result<SimulationQuestion> run() {
    for (const auto step :
         {&SimulationQuestioner::workload, &SimulationQuestioner::load, &SimulationQuestioner::latency,
          &SimulationQuestioner::deployment, &SimulationQuestioner::policies, &SimulationQuestioner::pools}) {
      if (const Status s = (this->*step)(); !s) return s.error();
    }
    return std::move(q_);
  }

  Result<SimulationQuestion> run_load() {
    for (const auto step :
         {&SimulationQuestioner::workload, &SimulationQuestioner::load, &SimulationQuestioner::latency}) {
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
    if (const Status s = flags_.read_into(q); !s) return s;
    if (rate + clients + offline > 1) {
      return wrong(clients ? "--concurrency" : "--offline", "say one load: --request-rate, --concurrency or --offline");
    }
    if (q_.find_rate && (rate || clients || offline)) {
      return wrong("--find-rate", "looks for the rate itself: leave out --request-rate, --concurrency and --offline");
    }
    if (clients) {
      q.load.kind = OfferedKind::concurrency;
      if (const Status s = take(d.count("--concurrency", 1, 1, 1e6), q.load.concurrency); !s) return s;
    } else if (offline) {
      q.load.kind = OfferedKind::offline;
    } else if (q.workload.trace && !q_.find_rate && !rate) {
      q.load.kind = OfferedKind::trace;
    } else if (!q_.find_rate && !rate) {
      assume("one request per second");
    }
    if (flags_.given("--speed") && q.load.kind != OfferedKind::trace) {
      return wrong("--speed", "is for a trace that is played as recorded");
    }
    const bool bounded = flags_.given("--requests") || flags_.given("--duration");
    if (!flags_.given("--requests")) {
      q.requests = bounded || q.load.kind == OfferedKind::trace ? 0 : q_.find_rate ? kSearchRequests : kUsualRequests;
    }
    if (!bounded && q.requests > 0) assume("{:.0f} requests", q.requests);
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

  Status latency() {
    const LatencyLimits& l = q_.query.limits;
    if (flags_.given("--limit-share") && (l.share <= 0 || l.share >= 1)) {
      return wrong("--limit-share", "write a share below 1: 99%");
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
    if (flags_.given("--kv-tiers") && flags_.is_on("--no-prefix-cache")) {
      return wrong("--no-prefix-cache", "tiers hold beginnings of prompts: leave out one of the two");
    }
    if (flags_.is_on("--size-tiers") && !flags_.given("--kv-tiers")) {
      return wrong("--size-tiers", "say what the tiers are: --kv-tiers host:512GB:50GB/s");
    }
    if (flags_.given("--gather-ranks") && flags_.given("--gather")) {
      return wrong("--gather-ranks", "leave out --gather: prompts wait for one thing");
    }
    return {};
  }

  Status pools() {
    ServingPolicies& p = q_.query.policies;
    if (const std::string& text = flags_.value("--disaggregate"); !text.empty()) {
      int prefill = 0;
      int decode = 0;
      if (const Status s = ask::read_pools(text, prefill, decode); !s)
        return wrong("--disaggregate", s.error().message);
      if (flags_.given("--replicas")) return wrong("--replicas", "--disaggregate says how many engines there are");
      Disaggregation d;
      d.prefill_engines = prefill;
      Result<InferenceQuery> first = prefill_query(flags_.deployment, q_.query.deployment);
      if (!first) return first.error();
      d.prefill = *std::move(first);
      q_.query.replicas = decode;
      int number = 0;
      if (const Status s = take(flags_.whole("--prefill-gpus", 0, 1, 100'000), number); !s) return s;
      if (number > 0) {
        const EstimateFlags& said = flags_.deployment;
        if (!said.given("--prefill-tp") && !said.given("--prefill-dp") && !said.given("--prefill-ep")) {
          d.prefill.tp = number;
          d.prefill.dp = d.prefill.ep = d.prefill.pp = 1;
        }
        d.prefill.gpus = number;
      }
      if (const Status s = take(flags_.deployment.number("--kv-link", 0), d.link_bytes_per_s); !s) return s;
      p.disaggregation = std::move(d);
    } else {
      const EstimateFlags& said = flags_.deployment;
      for (const char* of_pools :
           {"--prefill-device", "--prefill-tp", "--prefill-dp", "--prefill-ep", "--prefill-redundant-experts",
            "--prefill-precision", "--prefill-power-cap", "--kv-link"}) {
        if (said.given(of_pools)) return wrong("--disaggregate", "say how many engines do what: --disaggregate 2P1D");
      }
      if (flags_.given("--prefill-gpus"))
        return wrong("--disaggregate", "say how many engines do what: --disaggregate 2P1D");
    }
    for (const char* alone : {"--autoscale", "--kill"}) {
      if (p.disaggregation && flags_.given(alone)) return wrong(alone, "does not go with --disaggregate");
    }
    return {};
  }

  const SimulateFlags& flags_;
  const std::string& workloads_;
  const std::string& as_of_;
  const FileAccess& files_;
  SimulationQuestion q_;
};

}  // namespace

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
