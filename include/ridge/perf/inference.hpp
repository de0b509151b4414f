// Inference: one pure function from a resolved deployment and a load to time, throughput, memory and energy.
//
//   InferenceQuery q;
//   q.model = "llama3.3-70b"; q.device = "h200-sxm"; q.engine = "vllm"; q.tp = 2; q.gpus = 2;
//   q.load = {.mode = LoadMode::closed_loop, .isl = 1000, .osl = 250, .concurrency = 64};
//   auto deployment = resolve(q, knowledge);                  // allocates, reads the catalogue; refuses with a reason
//   InferenceOutcome o = evaluate(*deployment->resolved, q.load);  // pure, noexcept, allocates nothing, any thread
//   if (o.reason == Reason::none) use(o.estimate.output_tokens_per_s.mid);
//
// What is infeasible is an answer (Outcome::reason, short_by), not an error. Times in seconds, rates per second, of the
// whole deployment unless the name says otherwise.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ridge/base/change.hpp"
#include "ridge/catalogue/calibration.hpp"
#include "ridge/catalogue/catalogue.hpp"
#include "ridge/catalogue/engine.hpp"
#include "ridge/perf/experts.hpp"
#include "ridge/perf/perf.hpp"

namespace ridge {

/// What resolve() reads. All of it outlives the call only.
struct Knowledge {
  const Catalogue& catalogue;
  const Engines& engines;
  const Calibration& calibration;
};

enum class LoadMode : std::uint8_t {
  fixed_batch,  ///< `batch` sequences start together and run to the end
  closed_loop,  ///< `concurrency` clients, each sends the next request when one ends
  offline,      ///< all requests queued at once; the engine chooses the batch
  prefill,      ///< one prefill pass of `batch` sequences, no decoding
  decode,       ///< `batch` sequences that have `isl` tokens behind them decode, nothing else (a decode pool)
  open_loop,    ///< requests arrive by themselves, `rate` a second, without end
};
inline constexpr std::size_t kLoadModes = 6;

struct InferenceLoad {
  LoadMode mode = LoadMode::fixed_batch;
  double isl = 1024;        ///< input tokens per request
  double osl = 128;         ///< output tokens per request
  double length_low = 1;    ///< lengths drawn uniformly in [length_low, 1] x nominal
  bool exact = false;       ///< every length is nominal to the token: clients keep in step, and their prompts queue
  double batch = 1;         ///< fixed_batch, prefill and decode
  double concurrency = 0;   ///< closed_loop; offline: the cap on running sequences, 0 = the engine's
  double prefix_hit = 0;    ///< share of input tokens found in the prefix cache
  double distinct = 0;      ///< so many different prompts in all, each cached once; 0 = every prompt is another
  double draft_tokens = 0;  ///< speculative decoding or MTP: tokens proposed per step
  double acceptance = 0;    ///< probability that one proposed token is accepted
  double natural_text = 0;  ///< 1: real prompts (experts correlate), 0: random tokens
  bool greedy = false;      ///< of natural text: the likeliest token is taken, so that logits are not sorted
  bool prefilled = false;   ///< caches of prompts come from elsewhere: nothing is prefilled here
  bool queued = false;      ///< closed_loop: more requests wait than run, so that every slot is always taken
  double rate = 0;          ///< open_loop: requests per second
  double requests = 0;      ///< closed_loop, offline: so many in all, ramp and drain included; 0 = without end
};

/// Factors on the datasheet of the device, for what-if questions and elasticities.
struct ResourceScale {
  double compute = 1;  ///< peak rates
  double memory_bandwidth = 1;
  double memory_capacity = 1;
  double scale_up = 1;
  double scale_out = 1;
  double clock = 1;  ///< peak rates and everything else that runs at the core clock
};

/// The question as users put it. Empty or zero = the engine's usual choice, listed in `assumptions`.
struct InferenceQuery {
  std::string model;
  std::string device;
  std::string system;
  std::string engine = "vllm";
  std::string engine_version;
  std::string date;  ///< as of when; empty = newest
  int gpus = 0;
  int tp = 0, pp = 1, ep = 1, dp = 1;
  std::optional<Format> weights, activations, kv;
  double max_batched_tokens = 0;
  double max_sequences = 0;
  double poll_steps = 1;  ///< steps between two looks for new requests (SGLang: --scheduler-recv-interval)
  double memory_utilization = 0;
  double power_cap = 0;          ///< watts per device, 0 = none
  double cpu_offload = 0;        ///< bytes of weights per device that wait in host memory
  double lora_rank = 0;          ///< adapters applied unmerged, 0 = none
  double draft_model_share = 0;  ///< cost of one draft pass relative to the model, for speculative decoding
  bool as_tuned = false;         ///< answers for a vendor's record (MLPerf), not for what people run
  ExpertPlan experts;
  ResourceScale scale;
  InferenceLoad load;
};

enum class MemoryPart : std::uint8_t { weights, kv_cache, activations, graphs_and_buffers, reserve };
inline constexpr std::size_t kMemoryParts = 5;
[[nodiscard]] std::string_view name(MemoryPart part);

struct InferenceEstimate {
  Interval prefill_s;      ///< one prompt alone (fixed_batch: the whole batch), no queueing
  Interval ttft_s;         ///< with the steady-state wait of the load
  Interval decode_step_s;  ///< one decode step at the running batch, no prefill in it
  Interval tpot_s;         ///< per output token after the first, as a client sees it
  Interval itl_s;          ///< median gap between two tokens: a step without prefill where most steps carry none
  Interval e2e_s;          ///< request latency
  Interval output_tokens_per_s;
  Interval total_tokens_per_s;
  Interval power_w;  ///< all devices
  Interval joules_per_output_token;
  double running_batch = 0;       ///< mean sequences decoding together, per replica
  double max_batch = 0;           ///< sequences of isl + osl that the KV cache holds, whole deployment
  double kv_capacity_tokens = 0;  ///< per replica
  std::array<double, kMemoryParts> memory_bytes{};  ///< per device
  std::array<double, kTerms> prefill_terms_s{};
  std::array<double, kTerms> decode_terms_s{};  ///< of one decode step
  Bound bound = Bound::memory_bandwidth;        ///< of the phase that takes most of the time
  double prefill_share = 0;                     ///< of the time: prefill, and steps that carry it
};

struct InferenceOutcome {
  Reason reason = Reason::none;
  double short_by = 0;  ///< bytes per device, or what the reason counts
  InferenceEstimate estimate;
};

/// A deployment ready to be evaluated: flat numbers, no pointers into the catalogue. Opaque outside src/perf.
struct ResolvedInference;

/// The deployment as resolved: what was asked for, completed by defaults.
struct DeploymentFacts {
  int gpus = 1, tp = 1, pp = 1, ep = 1, dp = 1;
  Format weights = Format::bf16, activations = Format::bf16, kv = Format::bf16;
  std::string device;                      ///< id
  std::string engine;                      ///< id
  std::string era;                         ///< of its releases, or empty
  double memory_bytes = 0;                 ///< that one device reports to programs
  double memory_bandwidth = 0;             ///< datasheet, bytes/s
  double peak = 0;                         ///< datasheet, FLOP/s in the format of the activations
  double peak_wide = 0;                    ///< the same in 16 bits
  int redundant_experts = 0;               ///< copies of experts in each layer, beside the experts themselves
  std::optional<ExpertExchange> exchange;  ///< how tokens reach experts on other ranks; nothing: they do not
  bool rebalanced = false;                 ///< experts are placed by their load
  bool two_batches = false;                ///< halves of a batch hide each other's exchange where that is faster
  IntervalClass resembles;  ///< the cases that the throughput's (prefill: the time's) interval comes from
  Sureness sure;            ///< what the evidence knows of this device and this software
};

struct InferenceDeployment {
  InferenceDeployment();
  InferenceDeployment(InferenceDeployment&&) noexcept;
  InferenceDeployment& operator=(InferenceDeployment&&) noexcept;
  ~InferenceDeployment();
  std::unique_ptr<ResolvedInference> resolved;
  DeploymentFacts facts;
  std::vector<std::string> assumptions;
};

/// Refuses (bad_input, not_found): unknown names, contradictions, devices without the figures needed. A plan that
/// cannot run (heads, formats, memory) resolves; evaluate() says why it cannot.
Result<InferenceDeployment> resolve(const InferenceQuery& query, const Knowledge& knowledge);

[[nodiscard]] InferenceOutcome evaluate(const ResolvedInference& deployment, const InferenceLoad& load) noexcept;

/// One operator of a step, all layers of its kind together, on one device.
struct OperatorLine {
  std::string what;
  Term term = Term::linear;
  double layers = 0;
  double seconds = 0;
  double flops = 0;
  double bytes = 0;
  Bound bound = Bound::memory_bandwidth;
  double roofline_share = 0;  ///< the time the datasheet alone would give, over `seconds`; 0 for collectives
};

/// A change and what it does to the output rate per device (to the prefill rate where nothing is decoded).
struct Suggestion {
  std::string change;    ///< in words, or its fields in marks (ridge/base/change.hpp)
  double gain = 0;       ///< 0.25 = a quarter more
  Changes changes = {};  ///< the same as fields, where it is a change of some
};

struct InferenceExplanation {
  std::vector<OperatorLine> decode;     ///< of one step without prefill
  std::vector<OperatorLine> prefill;    ///< of one prompt alone
  ResourceScale elasticity;             ///< percent more throughput per percent more of the resource
  std::vector<Suggestion> suggestions;  ///< best first, at most three
};

/// Why the answer is what it is. Evaluates some dozens of variants of the query; not for inner loops. Refuses what
/// resolve() refuses, and a plan that is infeasible.
Result<InferenceExplanation> explain(const InferenceQuery& query, const Knowledge& knowledge);

}  // namespace ridge
