// A load of `ridge simulate` sent to a server, and what came back.
//
//   BenchSetup setup{.query = question, .client = {.root = "http://127.0.0.1:8000"}, .model = "llama3.1-8b"};
//   Result<BenchResult> r = run_bench(setup);
//   r->ttft.p99(); r->errors["HTTP 429"]; r->own_delay.p99();
//
// Same workloads, arrivals, traces, conversations and seeds as simulate(). Requests before the first counted one
// (warm-up) are measured apart. Refuses (refused) a server that does not answer, names no model, or answers none of
// the first requests. One thread; several runs may go on at once.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "app/bench/http_client.hpp"
#include "ridge/serve/simulation.hpp"

namespace ridge::bench {

/// How it goes, for whoever watches.
struct BenchView {
  double share = 0;
  double seconds = 0;
  std::uint64_t finished = 0, failed = 0, in_flight = 0;
  double ttft_p50 = 0, ttft_p99 = 0, tpot_p50 = 0, tpot_p99 = 0;
  double output_tokens_per_s = 0;
};

struct BenchSetup {
  SimulationQuery query;  ///< workload, load, requests, duration, seed, limits
  HttpClient::Options client;
  std::string model;  ///< as the server calls it; empty = the first it names
  bool chat = false;
  bool words = false;
  bool plain = false;
  int warmup = 4;
  std::uint64_t salt = 0;
  bool read_metrics = true;
  std::function<bool(const BenchView&)> go_on;     ///< false ends with what is known; may be empty
  std::function<void(const RequestRecord&)> hear;  ///< each request, times in ticks since the start; may be empty
};

/// What the server's /metrics said, once a second.
struct ServerMetrics {
  std::string kind;  ///< "vLLM", "SGLang", "llama.cpp", or empty
  int samples = 0;
  double mean_running = 0, most_running = 0, mean_waiting = 0, most_waiting = 0, mean_kv = 0, most_kv = 0;
};

struct BenchResult {
  std::string url, model;
  std::uint64_t sent = 0, finished = 0, failed = 0, good = 0, unfinished = 0, warmups = 0;
  std::map<std::string, std::uint64_t> errors;    ///< by kind
  std::map<std::string, std::string> error_text;  ///< the first of each kind
  std::uint64_t input_tokens = 0, asked_input = 0, output_tokens = 0, asked_output = 0, cached_tokens = 0;
  std::uint64_t counted_by_server = 0, counted_by_chunk = 0;  ///< requests
  std::uint64_t short_answers = 0;                            ///< that ended before the length asked for
  double makespan = 0, requests_per_s = 0, output_tokens_per_s = 0, total_tokens_per_s = 0, goodput = 0;
  double mean_in_flight = 0;
  LatencyDistribution ttft, tpot, itl, e2e;
  double itl_per_token_share = 1;  ///< chunks over tokens: below 1 gaps are between chunks of several tokens
  /// From when a request was due to when it left: in a closed loop, from the last byte of the answer before it, as the
  /// kernel stamped it. Those that were due at the very start are apart.
  LatencyDistribution send_delay;
  std::uint64_t begun_with = 0;       ///< requests that were due at the very start
  double begun_in = 0;                ///< seconds until they had left
  LatencyDistribution receive_delay;  ///< between bytes being there and being read, at most
  std::uint64_t unstamped = 0;        ///< reads that the kernel gave no time for, and so are as late as they were read
  ServerMetrics server;
  bool stopped_early = false;
};

Result<BenchResult> run_bench(const BenchSetup& setup);

}  // namespace ridge::bench
