#include "app/cli/simulate_flags.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <charconv>

#include "app/cli/offers.hpp"
#include "app/cli/session.hpp"
#include "app/cli/wrong.hpp"
#include "ridge/text.hpp"
#include "serve/ticks.hpp"

namespace ridge::cli {

namespace {

std::vector<std::string> workload_names(Session& session, const std::vector<std::string>&) {
  const Result<std::string> data = session.data_directory();
  return data ? workload_ids(*data + "/workloads") : std::vector<std::string>{};
}

}  // namespace

SimulateFlags::SimulateFlags() {
  const auto add = [&](const char* flag, const char* value, const char* help, Completer completer = {}) {
    flags_.push_back({flag, value, help, std::move(completer)});
  };
  add("--workload", "W",
      "a name (chat, code, rag, reasoning, agent, mlperf-...), a workload.toml, or a trace: .csv, .jsonl",
      workload_names);
  add("--scenario", "S", "of an MLPerf workload: offline, server or interactive, with its limits",
      offer({"offline", "server", "interactive"}));
  add("--request-rate", "Q", "open loop: requests per second, whatever happens");
  add("--arrivals", "K", "of the open loop: poisson, constant, gamma:CV, on-off:ON,OFF or diurnal:PERIOD,SWING",
      offer({"poisson", "constant", "gamma:2", "on-off:10s,30s", "diurnal:1day,0.5"}));
  add("--speed", "X", "a trace so many times as fast as recorded");
  add("--requests", "N", "so many requests in all; 1000 if nothing is said, 20000 with --find-rate");
  add("--duration", "T", "requests arrive for so long: 10min");
  add("--seed", "S", "of all random draws; the same seed gives the same answer");
  add("--ttft", "T", "limit of the time to first token: 500ms");
  add("--tpot", "T", "limit of the time per output token: 40ms");
  add("--e2e", "T", "limit of the whole request: 20s");
  add("--limit-share", "SHARE", "of the requests that have to hold each limit, for --find-rate; 95%");
  add("--find-rate", "", "bisect the highest request rate that holds the limits");
  add("--replicas", "R", "copies of the deployment behind one router");
  add("--router", "R", "round-robin, least-outstanding, prefix-aware or session-sticky",
      offer({"round-robin", "least-outstanding", "prefix-aware", "session-sticky"}));
  add("--batching", "B", "chunked, in-flight, prefill-first or static, instead of the engine's own",
      offer({"chunked", "in-flight", "prefill-first", "static"}));
  add("--preemption", "P", "recompute or swap, when the KV cache is full", offer({"recompute", "swap"}));
  add("--no-prefix-cache", "", "beginnings of prompts are never kept");
  add("--kv-tiers", "LIST",
      "memories below the device's, nearest first: host:512GB:50GB/s,ssd:4TB:12GB/s:100us,store:inf:10GB/s:1ms:shared");
  add("--size-tiers", "", "how much of the first tier is worth having: halves and doubles its capacity");
  add("--block-size", "TOKENS", "of one block of the KV cache; 16");
  add("--poll-steps", "N", "decode steps between two looks for new requests; 1 (SGLang: --scheduler-recv-interval)");
  add("--gather", "SHARE:STEPS",
      "prompts wait until they fill that share of a step, or so many steps: 0.9:20 (TensorRT-LLM: batch_wait)");
  add("--gather-ranks", "STEPS", "data-parallel ranks wait for each to have a prompt, so many steps at most");
  add("--disaggregate", "xPyD", "x engines for prompts, y for decoding: 2P1D");
  add("--prefill-device", "D", "of the engines for prompts, with --prefill-gpus and --prefill-tp");
  add("--prefill-gpus", "N", "of one engine for prompts");
  add("--prefill-tp", "N", "of one engine for prompts");
  add("--prefill-dp", "N", "of one engine for prompts: attention ranks around shared experts");
  add("--prefill-ep", "N", "of one engine for prompts: ranks that share the experts");
  add("--kv-link", "RATE", "out of one engine for prompts: 50GB/s; else its network cards");
  add("--autoscale", "MIN:MAX", "engines that come and go with the load; 0:8 scales to zero");
  add("--scale-target", "N", "requests per engine that autoscaling aims at; 64");
  add("--cold-start", "T", "until a new engine serves; 60s");
  add("--scale-idle", "T", "without work before an engine is stopped; 60s");
  add("--mtbf", "T", "mean time between failures of one engine: 30days");
  add("--kill", "N@T", "engine N breaks at that time and is repaired after --repair: 2@30s");
  add("--repair", "T", "until a failed engine serves again; 5min");
  add("--rpm", "N", "API limit: requests per minute");
  add("--tpm", "N", "API limit: tokens per minute");
  add("--max-in-system", "N", "API limit: requests at once");
  add("--batch-window", "T", "requests are collected and let through together");
  add("--ttft-timeout", "T", "clients leave if no token comes for so long");
  add("--idle-timeout", "T", "connections are cut if no token follows for so long");
  add("--requests-csv", "FILE", "write every request with its times", complete_files);
  add("--timeline-csv", "FILE", "write queue, batch, KV cache and output over time", complete_files);
  add("--perfetto", "FILE", "write steps and requests for a trace viewer", complete_files);
  add("--html", "FILE", "write a page with latency curves and timelines", complete_files);
}

void SimulateFlags::declare_without(Options& options, std::initializer_list<std::string_view> names) {
  deployment.declare(options, kSimulate);
  for (Flag& flag : flags_) {
    if (std::find(names.begin(), names.end(), flag.name) != names.end()) continue;
    if (flag.value_name.empty()) {
      options.flag(flag.name, flag.on, flag.help);
    } else {
      options.text(flag.name, flag.value_name, flag.value, flag.help, flag.completer);
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
