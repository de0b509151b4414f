#include "app/cli/simulate_flags.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <charconv>

#include "app/cli/offers.hpp"
#include "app/cli/session.hpp"
#include "app/cli/value.hpp"
#include "app/cli/wrong.hpp"
#include "ridge/limits.hpp"
#include "ridge/text.hpp"
#include "serve/ticks.hpp"

namespace ridge::cli {

namespace {

std::vector<std::string> workload_names(Session& session, const std::vector<std::string>&) {
  const Result<std::string> data = session.data_directory();
  return data ? workload_ids(*data + "/workloads") : std::vector<std::string>{};
}

constexpr limits::Limit kSimulatedTime{"seconds of any time in a simulation", serve::kMostSeconds, "s",
                                       "its clock ends there"};

/// A name of the data, or a file where files may be named.
Takes workload() {
  Takes named = value::one_of(workload_names, "workload");
  Takes filed = value::file();
  return Takes(
      [named = named.check, filed = filed.check](Session& session, const std::string& text) {
        const bool is_path = text.find('/') != std::string::npos || text.ends_with(".toml") || text.ends_with(".csv") ||
                             text.ends_with(".jsonl");
        return is_path ? filed(session, text) : named(session, text);
      },
      workload_names);
}

}  // namespace

SimulateFlags::SimulateFlags() {
  const auto time = [] { return value::quantity<Seconds>("500ms", kSimulatedTime); };
  const auto add = [&](const char* flag, const char* value, const char* help, Takes takes = {}) {
    flags_.push_back({flag, value, help, std::move(takes)});
  };
  add("--workload", "W",
      "a name (chat, code, rag, reasoning, agent, mlperf-...), a workload.toml, or a trace: .csv, .jsonl", workload());
  add("--scenario", "S", "of an MLPerf workload: offline, server or interactive, with its limits",
      value::one_of({"offline", "server", "interactive"}));
  add("--request-rate", "Q", "open loop: requests per second, whatever happens", value::number(1e-6, 1e8));
  add("--arrivals", "K", "of the open loop: poisson, constant, gamma:CV, on-off:ON,OFF or diurnal:PERIOD,SWING",
      value::parsed(
          [](std::string_view text) {
            ArrivalProcess unused;
            return read_arrivals(text, unused);
          },
          offer({"poisson", "constant", "gamma:2", "on-off:10s,30s", "diurnal:1day,0.5"})));
  add("--speed", "X", "play a trace X times as fast as recorded", value::number(1e-6, 1e6));
  add("--requests", "N", "requests in all (default: 1000; 20000 with --find-rate)",
      value::number(1, limits::kRequests.most));
  add("--duration", "T", "requests arrive for so long: 10min", time());
  add("--seed", "S", "of all random draws; the same seed gives the same answer",
      value::parsed([](std::string_view text) {
        std::uint64_t unused = 0;
        return read_seed(text, unused);
      }));
  add("--ttft", "T", "limit of the time to first token: 500ms", time());
  add("--tpot", "T", "limit of the time per output token: 40ms", time());
  add("--e2e", "T", "limit of the whole request: 20s", time());
  add("--limit-share", "SHARE", "of the requests that have to hold each limit, for --find-rate; 95%", value::share());
  add("--find-rate", "", "bisect the highest request rate that holds the limits");
  add("--replicas", "R", "copies of the deployment behind one router", value::whole(1, 100'000));
  add("--router", "R", "round-robin, least-outstanding, prefix-aware or session-sticky",
      value::one_of({"round-robin", "least-outstanding", "prefix-aware", "session-sticky"}));
  add("--batching", "B", "chunked, in-flight, prefill-first or static, instead of the engine's own",
      value::one_of({"chunked", "in-flight", "prefill-first", "static"}));
  add("--preemption", "P", "recompute or swap, when the KV cache is full", value::one_of({"recompute", "swap"}));
  add("--no-prefix-cache", "", "beginnings of prompts are never kept");
  add("--kv-tiers", "LIST",
      "memories below the device's, nearest first: host:512GB:50GB/s,ssd:4TB:12GB/s:100us,store:inf:10GB/s:1ms:shared",
      value::parsed([](std::string_view text) -> Status {
        const auto tiers = parse_tiers(std::string(text));
        return tiers ? Status() : Status(tiers.error());
      }));
  add("--size-tiers", "", "how much of the first tier is worth having: halves and doubles its capacity");
  add("--block-size", "TOKENS", "of one block of the KV cache; 16", value::whole(1, 4096));
  add("--poll-steps", "N", "decode steps between two looks for new requests; 1 (SGLang: --scheduler-recv-interval)",
      value::whole(1, kMostSteps));
  add("--gather", "SHARE:STEPS",
      "delay prefill until prompts fill SHARE of a step, at most STEPS steps: 0.9:20 (TensorRT-LLM: batch_wait)",
      value::parsed([](std::string_view text) {
        PromptGathering unused;
        return read_gathering(text, unused);
      }));
  add("--gather-ranks", "STEPS", "data-parallel ranks wait until each has a prompt, at most STEPS steps",
      value::whole(1, kMostSteps));
  add("--disaggregate", "xPyD", "x engines for prompts, y for decoding: 2P1D", value::parsed([](std::string_view text) {
        int x = 0;
        int y = 0;
        return read_pools(text, x, y);
      }));
  add("--prefill-device", "D", "of the engines for prompts, with --prefill-gpus and --prefill-tp", value::device());
  add("--prefill-gpus", "N", "of one engine for prompts", value::whole(1, 100'000));
  add("--prefill-tp", "N", "of one engine for prompts", value::whole(1, 100'000));
  add("--prefill-dp", "N", "of one engine for prompts: attention ranks around shared experts",
      value::whole(1, 100'000));
  add("--prefill-ep", "N", "of one engine for prompts: ranks that share the experts", value::whole(1, 100'000));
  add("--kv-link", "RATE", "out of one engine for prompts: 50GB/s; else its network cards",
      value::quantity<BytesPerSecond>("50GB/s"));
  add("--autoscale", "MIN:MAX", "engines that come and go with the load; 0:8 scales to zero",
      value::parsed([](std::string_view text) {
        Autoscaling unused;
        return read_autoscale(text, unused);
      }));
  add("--scale-target", "N", "requests per engine that autoscaling aims at; 64", value::number(1, 1e6));
  add("--cold-start", "T", "until a new engine serves; 60s", time());
  add("--scale-idle", "T", "without work before an engine is stopped; 60s", time());
  add("--mtbf", "T", "mean time between failures of one engine: 30days", time());
  add("--kill", "N@T", "engine N breaks at that time and is repaired after --repair: 2@30s",
      value::parsed([](std::string_view text) {
        int engine = 0;
        double when = 0;
        return read_kill(text, engine, when);
      }));
  add("--repair", "T", "until a failed engine serves again; 5min", time());
  add("--rpm", "N", "API limit: requests per minute", value::number(1, 1e12));
  add("--tpm", "N", "API limit: tokens per minute", value::number(1, 1e15));
  add("--max-in-system", "N", "API limit: requests at once", value::number(1, 1e9));
  add("--batch-window", "T", "requests are collected and let through together", time());
  add("--ttft-timeout", "T", "clients leave if no token comes for so long", time());
  add("--idle-timeout", "T", "connections are cut if no token follows for so long", time());
  add("--requests-csv", "FILE", "write every request with its times", value::written());
  add("--timeline-csv", "FILE", "write queue, batch, KV cache and output over time", value::written());
  add("--perfetto", "FILE", "write steps and requests for a trace viewer", value::written());
  add("--html", "FILE", "write a page with latency curves and timelines", value::written());
}

void SimulateFlags::declare_without(Options& options, std::initializer_list<std::string_view> names) {
  deployment.declare(options, kSimulate);
  for (Flag& flag : flags_) {
    if (std::find(names.begin(), names.end(), flag.name) != names.end()) continue;
    if (flag.value_name.empty()) {
      options.flag(flag.name, flag.on, flag.help);
    } else {
      options.text(flag.name, flag.value_name, flag.value, flag.help, flag.takes);
    }
  }
}

const SimulateFlags::Flag& SimulateFlags::find(std::string_view flag) const {
  const auto at = std::find_if(flags_.begin(), flags_.end(), [&](const Flag& f) { return f.name == flag; });
  assert(at != flags_.end());
  return *at;
}

const std::string& SimulateFlags::value(std::string_view flag) const {
  return find(flag).value;
}

bool SimulateFlags::is_on(std::string_view flag) const {
  return find(flag).on;
}

Result<double> SimulateFlags::number(std::string_view flag, double otherwise, double low, double high) const {
  return read_count(flag, value(flag), otherwise, low, high);
}

Result<int> SimulateFlags::whole(std::string_view flag, int otherwise, int low, int high) const {
  return read_whole(flag, value(flag), otherwise, low, high);
}

Result<double> SimulateFlags::time(std::string_view flag, double otherwise) const {
  const std::string& text = value(flag);
  if (text.empty()) return otherwise;
  const Result<Seconds> seconds = parse_quantity<Seconds>(text);
  if (!seconds) return wrong(flag, seconds.error().message);
  if (!(seconds->value() > 0 && seconds->value() <= serve::kMostSeconds)) {
    return wrong(flag, "write a time above 0 and of at most four years, for example 500ms");
  }
  return seconds->value();
}

}  // namespace ridge::cli
