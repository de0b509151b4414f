// A serving system simulated request by request: the step times of the inference engine become service times.
//
//   SimulationQuery q;
//   q.deployment.model = "llama3.1-70b"; q.deployment.device = "h100-sxm"; q.deployment.gpus = q.deployment.tp = 8;
//   q.workload = *find_workload("data/workloads", "chat");
//   q.load = {.kind = OfferedKind::rate, .rate = 4};
//   q.requests = 10'000;
//   Result<SimulationResult> r = simulate(q, knowledge);
//   r->ttft.p95();  r->overloaded;  r->output_tokens_per_s;
//
// Time is counted in whole ticks of 1/64 ns. Runs of decode steps in which nothing can happen are skipped in closed
// form; what each request sees is equal to the tick to stepping one by one (SimulationQuery::step_by_step). Memory
// grows with the requests that are in the system, not with those that have left it. Same query, same result, bit for
// bit. Any number of threads may simulate at once. Refuses (bad_input, not_found, refused, infeasible) what resolve()
// does, a deployment that cannot run, and loads that make no sense.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ridge/perf/inference.hpp"
#include "ridge/serve/kv_tiers.hpp"
#include "ridge/serve/workload.hpp"

namespace ridge {

// --- policies -------------------------------------------------------------------------------------------------------

enum class BatchingPolicy : std::uint8_t {
  chunked,        ///< decodes first, chunks of prompts fill the step (vLLM)
  in_flight,      ///< whole prompts ride along with decodes (TensorRT-LLM)
  prefill_first,  ///< a step of prompts stops decoding (SGLang)
  fixed,          ///< a batch is prefilled together and runs to its end (plain PyTorch)
};
enum class PreemptionPolicy : std::uint8_t {
  recompute,  ///< the youngest request gives up its blocks and starts over, its own output in the prompt
  swap,       ///< its blocks wait in host memory
};
enum class RouterPolicy : std::uint8_t { round_robin, least_outstanding, prefix_aware, session_sticky };

[[nodiscard]] std::string_view name(BatchingPolicy policy);
[[nodiscard]] std::string_view name(PreemptionPolicy policy);
[[nodiscard]] std::string_view name(RouterPolicy policy);

/// What an API in front of the engines lets through; 0 = no limit.
struct ApiLimits {
  double requests_per_minute = 0;
  double tokens_per_minute = 0;  ///< input and asked-for output
  double concurrency = 0;        ///< requests in the system
  double batch_window = 0;       ///< seconds: requests are collected and let through together
  double ttft_timeout = 0;       ///< seconds without a first token after which the client leaves
  double idle_timeout = 0;       ///< seconds between tokens after which the connection is cut
};

/// Engines that come and go with the load.
struct Autoscaling {
  int least = 1;           ///< 0: scales to zero
  int most = 1;            ///< engines
  double target = 64;      ///< outstanding requests per engine that are aimed at
  double interval = 10;    ///< seconds between decisions
  double cold_start = 60;  ///< seconds until a new engine serves
  double idle = 60;        ///< seconds an engine must be too many before it is stopped
};

/// Engines that break: at exponential times, or one of them when asked.
struct Failures {
  double mean_time_between = 0;  ///< seconds of one engine, 0 = never
  double repair = 300;           ///< seconds until it serves again
  int killed = 0;                ///< this engine, counted from 1, breaks at `killed_at` seconds; 0 = none
  double killed_at = 0;
};

/// Prompts are worked on by one pool of engines, decoding is done by another.
struct Disaggregation {
  InferenceQuery prefill = {};  ///< deployment of one prefill engine; empty model: like the decode engines
  int prefill_engines = 1;      ///< x of xPyD; the decode engines are the query's
  double link_bytes_per_s = 0;  ///< out of one prefill engine; 0 = the scale-out link of its devices
  double link_latency = 20e-6;  ///< seconds
};

/// Prompts that wait for others while sequences decode, so that fewer steps are lengthened by them (TensorRT-LLM:
/// batch_wait_max_tokens_ratio and batch_wait_timeout_iters; attention_dp_config).
struct PromptGathering {
  double token_share = 0;   ///< of the step's tokens that have to come together, those that decode included; 0 = none
  bool every_rank = false;  ///< data-parallel ranks wait until there is a prompt for each of them
  int steps = 0;            ///< after so many they wait no longer; 0 = they never wait
};

struct ServingPolicies {
  std::optional<BatchingPolicy> batching;  ///< empty = the engine's own
  PreemptionPolicy preemption = PreemptionPolicy::recompute;
  RouterPolicy router = RouterPolicy::least_outstanding;
  bool prefix_cache = true;
  std::vector<KvTier> tiers;  ///< below the device's memory, nearest first
  int block_tokens = 16;      ///< tokens in one block of the KV cache
  int poll_steps = 1;         ///< decode steps between two looks for new requests (SGLang: --scheduler-recv-interval)
  PromptGathering gathering;
  ApiLimits limits;
  std::optional<Autoscaling> autoscaling;
  Failures failures;
  std::optional<Disaggregation> disaggregation;
};

// --- the question ---------------------------------------------------------------------------------------------------

enum class OfferedKind : std::uint8_t {
  rate,         ///< open loop: requests per second whatever happens
  concurrency,  ///< closed loop: so many clients, each sends the next request when one ends
  offline,      ///< all requests are there at once
  trace,        ///< as recorded
};

struct OfferedLoad {
  OfferedKind kind = OfferedKind::rate;
  double rate = 1;         ///< requests per second
  double concurrency = 1;  ///< clients
  double speed = 1;        ///< trace: recorded gaps are divided by this
};

struct LatencyLimits {
  double ttft = 0;      ///< seconds, 0 = none
  double tpot = 0;      ///< seconds per token, 0 = none
  double e2e = 0;       ///< seconds, 0 = none
  double share = 0.95;  ///< of the requests that have to hold each limit, for find_rate()
};

struct SimulationQuery {
  InferenceQuery deployment;  ///< of `load` only natural_text, draft_tokens and acceptance are read
  int replicas = 1;           ///< copies of the deployment behind one router
  Workload workload;
  OfferedLoad load;
  double requests = 1000;  ///< ends when so many have arrived and left; 0 = by duration, or the whole trace
  double duration = 0;     ///< seconds during which requests arrive; 0 = by their number
  std::uint64_t seed = 1;
  LatencyLimits limits;
  ServingPolicies policies;
  bool step_by_step = false;    ///< no run of steps is skipped: slow, for tests
  bool server_overhead = true;  ///< requests take the engine's time from the client to the scheduler and back
};

// --- the answer -----------------------------------------------------------------------------------------------------

/// Counts of times in bins of 0.2 %: quantiles are right to 0.1 %, sums and extremes exactly.
class LatencyDistribution {
 public:
  void add(std::int64_t ticks, std::uint64_t times = 1) noexcept;
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] double mean() const;  ///< seconds; 0 if empty, like all of these
  [[nodiscard]] double least() const;
  [[nodiscard]] double greatest() const;
  /// The value that a share `q` of the times stays within, 0 < q <= 1.
  [[nodiscard]] double quantile(double q) const;
  [[nodiscard]] double p50() const { return quantile(0.50); }
  [[nodiscard]] double p90() const { return quantile(0.90); }
  [[nodiscard]] double p95() const { return quantile(0.95); }
  [[nodiscard]] double p99() const { return quantile(0.99); }
  /// Share of the times that are at most `seconds`.
  [[nodiscard]] double share_within(double seconds) const;

  static constexpr int kBits = 9;
  /// The bin of a time and its lower edge, in ticks.
  [[nodiscard]] static std::size_t bin(std::int64_t ticks) noexcept;
  [[nodiscard]] static std::int64_t edge(std::size_t bin) noexcept;

 private:
  std::vector<std::uint64_t> counts_;
  std::uint64_t count_ = 0;
  double sum_ = 0;
  std::int64_t least_ = 0;
  std::int64_t greatest_ = 0;
};

inline constexpr double kTicksPerSecond = 64e9;

/// One request as it was served; times in ticks since the start of the simulation.
struct RequestRecord {
  enum class End : std::uint8_t { finished, too_long, rejected, timed_out };
  std::uint64_t id = 0;
  std::uint32_t input = 0;
  std::uint32_t output = 0;
  std::uint32_t cached = 0;  ///< input tokens found in the prefix cache
  std::uint32_t preemptions = 0;
  std::uint32_t engine = 0;
  std::uint32_t request_class = 0;
  End end = End::finished;
  std::int64_t arrival = 0;
  std::int64_t scheduled = 0;
  std::int64_t first_token = 0;
  std::int64_t last_token = 0;
};
[[nodiscard]] std::string_view name(RequestRecord::End end);

/// Some steps of one engine.
struct StepRecord {
  std::uint32_t engine = 0;
  std::int64_t start = 0;
  std::int64_t end = 0;
  std::uint64_t steps = 1;
  std::uint32_t decoding = 0;
  std::uint32_t prefill_tokens = 0;
  std::uint32_t queue = 0;
  double kv_share = 0;  ///< of the cache in use at the end
};

/// Told what happens; all functions may stay empty. Called from the simulating thread.
class SimulationObserver {
 public:
  virtual ~SimulationObserver() = default;
  virtual void request(const RequestRecord&) {}
  virtual void steps(const StepRecord&) {}
  /// Now and then: the share that is done. False ends the simulation with what is known so far.
  virtual bool go_on(double) { return true; }
};

/// Means over one span of time.
struct TimelinePoint {
  double start = 0;  ///< seconds
  double queue = 0;
  double running = 0;
  double kv_share = 0;
  double engines = 0;
  double arrivals_per_s = 0;
  double output_tokens_per_s = 0;
};

struct ClassResult {
  std::string name;
  std::uint64_t finished = 0;
  std::uint64_t good = 0;
  LatencyDistribution ttft, tpot, e2e;
};

/// 80 % intervals as factors, from the calibration.
struct PredictionSpread {
  double ttft_low = 1, ttft_high = 1;
  double tpot_low = 1, tpot_high = 1;
  double throughput_low = 1, throughput_high = 1;
};

struct SimulationResult {
  DeploymentFacts facts;
  DeploymentFacts prefill_facts;  ///< of one engine for prompts, where there are such
  int prefill_engines = 0;
  std::vector<std::string> assumptions;
  BatchingPolicy batching = BatchingPolicy::chunked;
  int engines = 1;
  double gpus = 1;  ///< all of them
  PredictionSpread spread;

  std::uint64_t arrived = 0;
  std::uint64_t finished = 0;
  std::uint64_t too_long = 0;  ///< could never fit the KV cache
  std::uint64_t rejected = 0;  ///< by the limits of the API
  std::uint64_t timed_out = 0;
  std::uint64_t good = 0;              ///< finished within every limit
  std::uint64_t restarted = 0;         ///< by failures
  std::uint32_t longest_too_long = 0;  ///< tokens
  double kv_capacity_tokens = 0;       ///< of one engine

  double makespan = 0;             ///< seconds from the first arrival to the last token
  double arrival_span = 0;         ///< seconds from the first to the last arrival
  std::uint64_t input_tokens = 0;  ///< of finished requests
  std::uint64_t output_tokens = 0;
  std::uint64_t cached_tokens = 0;
  std::uint64_t preemptions = 0;
  std::uint64_t steps = 0;
  double requests_per_s = 0;  ///< finished, over the makespan
  double output_tokens_per_s = 0;
  double total_tokens_per_s = 0;
  double goodput = 0;  ///< good requests per second

  LatencyDistribution ttft, tpot, itl, e2e, wait;
  LatencyDistribution first_turn_ttft, later_turn_ttft;  ///< of conversations, whose later turns may be found again
  LatencyDistribution task;       ///< whole conversations: from the first turn sent to the last token of the last
  LatencyDistribution task_busy;  ///< the same without the time between turns (tools, people)
  std::vector<TierResult> tiers;
  std::vector<ClassResult> classes;  ///< if there are several
  std::vector<TimelinePoint> timeline;
  double timeline_step = 0;

  double mean_queue = 0;
  double mean_running = 0;  ///< per engine, while it is up
  double mean_in_system = 0;
  double mean_kv_share = 0;
  double peak_kv_share = 0;
  double busy_share = 0;  ///< of the engines' time
  double energy_j = 0;    ///< of all devices while their engine is up
  double mean_power_w = 0;
  double mean_engines = 0;
  std::uint64_t cold_starts = 0;
  std::uint64_t failures = 0;
  double transfer_seconds = 0;  ///< mean time from prefill to the decode engine

  bool overloaded = false;  ///< open loop: requests came faster than they left, means say nothing
  double growth_per_s = 0;  ///< of the requests in the system while overloaded
  bool stopped_early = false;
};

Result<SimulationResult> simulate(const SimulationQuery& query, const Knowledge& knowledge,
                                  SimulationObserver* observer = nullptr);

/// The same with a deployment that is resolved already: for searches. `deployment` holds one copy.
Result<SimulationResult> simulate(const SimulationQuery& query, const InferenceDeployment& deployment,
                                  const InferenceDeployment* prefill = nullptr, SimulationObserver* observer = nullptr);

struct RateSearch {
  double rate = 0;           ///< requests per second that hold every limit; 0 = none does
  SimulationResult at_rate;  ///< at the rate; if there is none, of one client that sends a request after the other
  double refused_rate = 0;   ///< the lowest rate that did not
  int simulations = 0;
  std::string limited_by;  ///< "ttft", "tpot", "e2e" or "overload"
};

/// Whether the result holds the query's limits at their share; what breaks first otherwise.
[[nodiscard]] std::string broken_limit(const SimulationResult& result, const LatencyLimits& limits);

/// Bisects the highest open-loop rate that holds the limits, to 1 %. Refuses (refused) a run of so few requests that it
/// holds any rate.
Result<RateSearch> find_rate(const SimulationQuery& query, const Knowledge& knowledge,
                             SimulationObserver* observer = nullptr);

}  // namespace ridge
