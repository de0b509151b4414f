// The resolved deployment: what evaluate() works on. Flat numbers in base units, filled once by resolve().
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "perf/operators/expert_exchange.hpp"
#include "perf/operators/kernels.hpp"
#include "perf/operators/power.hpp"
#include "ridge/perf/inference.hpp"

namespace ridge {

namespace perf {

/// One matrix product that every token of a layer goes through, per device.
struct Product {
  double n = 0;
  double k = 0;
  double times = 1;        ///< how many equal ones a layer has
  std::uint8_t rates = 0;  ///< which of ResolvedInference::gemm
  Term term = Term::linear;
  const char* what = "";  ///< name for explanations; a literal
};

/// Layers that are alike, as one device sees them.
struct LayerKind {
  double count = 0;  ///< in the whole model
  MixerKind mixer = MixerKind::none;
  FfnKind ffn = FfnKind::none;
  std::array<Product, 24> products{};  ///< the most, with adapters: 21
  int product_count = 0;
  AttentionShape attention;  ///< heads of this device; lengths are filled per step
  MlaShape mla;
  double index_flops_per_pair = 0;  ///< sparse attention: work of the indexer per query and past token
  double index_topk = 0;
  double index_fixed = 0;  ///< launches of the indexer and the choice of tokens
  double state_bytes = 0;  ///< recurrent state of one sequence, read and written each step
  double state_flops_per_token = 0;
  MoeShape moe;                   ///< its experts are slots: copies count
  double reachable_domains = 0;   ///< that a token may go to; 0 = all
  double elementwise_bytes = 0;   ///< per token
  double small_kernels = 1;       ///< of a layer, relative to one of a plain dense model
  double reductions = 0;          ///< all-reduces over the tensor-parallel group per layer
  double kv_bytes_per_token = 0;  ///< of this device
  double kv_window = 0;           ///< tokens after which the cache stops growing; 0 = never
  bool both_ways = false;         ///< tokens see those after them
  double cross_tokens = 0;        ///< of an encoder that a second attention reads
  double cross_bytes = 0;         ///< their keys and values, kept for each sequence
  double cross_weights = 0;       ///< elements of what projects them, on this device
  double kv_compress = 0;  ///< tokens that one more entry stands for, beside those of the window; 0 = no such entries

  /// Entries of the cache after so many tokens.
  [[nodiscard]] double entries(double tokens) const noexcept {
    const double recent = kv_window > 0 ? std::min(tokens, kv_window) : tokens;
    return kv_compress > 0 ? recent + tokens / kv_compress : recent;
  }
  /// Entries that one query attends to.
  [[nodiscard]] double attended(double tokens) const noexcept {
    if (kv_window == 0) return index_topk > 0 ? std::min(tokens, index_topk) : tokens;
    const double far = kv_compress > 0 ? tokens / kv_compress : 0;
    return std::min(tokens, kv_window) + (index_topk > 0 ? std::min(far, index_topk) : far);
  }
};

/// What the serving software adds; from calibration, by engine era.
struct EngineCosts {
  double step = 0;               ///< host time of one step
  double sequence = 0;           ///< host time per running sequence and step
  double layer_eager = 0;        ///< host time per layer of a step that does not replay a graph
  double layer_small = 0;        ///< device time of the small kernels of a plain layer
  double collective = 0;         ///< what a collective waits in a step beside its own latency
  double prefill = 1;            ///< factor on the device time of prefill
  double prefill_attention = 1;  ///< the same of its attention, which experts do not slow down
  double decode = 1;             ///< factor on the device time of decode
  double server = 0;             ///< from the client to the scheduler and back
  double server_token = 0;       ///< beside it, a token of the prompt
  double fill = 0.6;             ///< share of the output that a running sequence holds on average when blocks grow
};

enum class Metric : std::uint8_t { output_tok_s, ttft, tpot, prefill, power, joules };
inline constexpr std::size_t kMetrics = 6;

/// Multipliers of the 80 % interval.
struct Spread {
  double low = 0.7;
  double high = 1.4;
};

}  // namespace perf

struct ResolvedInference {
  static constexpr int kMaxKinds = 8;

  Reason reason = Reason::none;  ///< a plan that cannot run whatever the load
  double short_by = 0;

  double gpus = 1, tp = 1, pp = 1, ep = 1, dp = 1;
  bool attention_dp = false;  ///< data-parallel attention around shared experts: the ranks step together
  bool ranks_prefill_together = false;
  bool ranks_pad_prefill = false;
  double rank_spread = 0;       ///< sqrt(2 ln ep)
  double expert_ranks = 1;      ///< ranks that share the experts of a layer
  double ranks_inside = 1;      ///< of them, in one scale-up domain
  double redundant = 0;         ///< copies of experts in each layer, beside the experts
  bool rebalanced = false;      ///< experts are placed by their load
  bool fuses_shared = false;    ///< experts that every token passes are one more choice of the routed product
  double expert_imbalance = 1;  ///< busiest expert-parallel rank against the mean, from what texts prefer
  ExpertExchange exchange = ExpertExchange::gather;
  perf::ExchangeRates exchange_rates;
  double bytes_out = 2;       ///< of one element on the way to an expert, with its share of a scale
  bool two_batches = false;   ///< halves of a batch hide each other's exchange where that is faster
  double exchange_cores = 0;  ///< share of the cores that throughput kernels hold meanwhile

  std::array<perf::LayerKind, kMaxKinds> kinds{};
  int kind_count = 0;
  double layers = 0;
  double small_layers = 0;     ///< layers by the small kernels they have, of a plain dense model
  double launched_layers = 0;  ///< layers by the host time they take: a recurrent one has more kernels
  double hidden = 0;
  double head_rows = 0;        ///< vocabulary per device
  double encoder_seconds = 0;  ///< of an encoder-decoder: the encoder, for each prompt
  double encoder_host = 0;     ///< seconds to launch it, for all prompts of a step
  double encoder_flops = 0;
  double encoder_weights = 0;  ///< bytes
  double sample_seconds = 0;   ///< to choose one token out of the whole vocabulary

  enum : std::uint8_t { kNarrow, kWide, kHead, kGemmRates };
  std::array<perf::GemmRates, kGemmRates> gemm{};
  perf::MoeRates moe;
  perf::AttentionRates attention;
  perf::DeviceRates device;
  perf::LinkRates tp_link, expert_link, stage_link;
  Term tp_term = Term::scale_up;      ///< what the collectives of tensor parallelism count as
  Term expert_term = Term::scale_up;  ///< and those around experts
  double bytes_gathered = 2;          ///< of one element of a token, where all ranks gather all tokens
  double widening = 0;                ///< power.widening where weights are made 16 bits wide, else 0
  double fastest_peak = 1;            ///< FLOP/s of the narrowest format in use
  double narrow_peak = 1;             ///< datasheet FLOP/s in the format of the activations

  Batching batching = Batching::mixed;
  Admission admission = Admission::as_needed;
  bool graphs = true;
  double graph_tokens = 0;       ///< steps with prompts and up to so many tokens replay graphs too
  bool overlapped_host = false;  ///< work per sequence hides behind the device
  bool static_shapes = false;    ///< the cache is read as far as it may grow
  bool pads_heads = false;       ///< heads are filled up to a multiple of the ranks
  bool ideal = false;
  double max_tokens = 8192;
  double max_sequences = 256;
  bool sequences_said = false;  ///< by the question: more clients wait
  double poll_steps = 1;
  perf::EngineCosts costs;
  perf::PowerCoefficients power;
  double draft_share = 0;  ///< cost of one draft pass, of a decode step

  double weight_bytes = 0;  ///< per device, without what waits in host memory
  double offload_s = 0;     ///< of a step: weights that cross from host memory, which no engine hides behind its work
  double buffer_bytes = 0;  ///< graphs, communication buffers
  double activation_bytes = 0;
  double reserve_bytes = 0;  ///< left to others: (1 - utilisation) x memory
  double kv_pool_bytes = 0;  ///< what is left for the cache, per device

  // [mode][metric]
  std::array<std::array<perf::Spread, perf::kMetrics>, kLoadModes> spread{};
};

namespace perf {

/// resolve() for a variant of a plan whose words and intervals nobody reads: mid values only, and no assumptions.
/// Refuses what resolve() refuses.
Result<std::unique_ptr<ResolvedInference>> resolve_numbers(const InferenceQuery& query, const Knowledge& knowledge);

/// explain() of a plan that is resolved and evaluated already, and feasible.
[[nodiscard]] InferenceExplanation explain_resolved(const InferenceQuery& query, const Knowledge& knowledge,
                                                    const ResolvedInference& resolved, const InferenceOutcome& outcome);

/// One step of one replica: `decode` sequences advance by `tokens_each` tokens with `context` tokens behind them, and
/// `prefill` tokens of `prompts` prompts ride along, each attending to `prefill_context` tokens on average at its end.
struct Step {
  double decode = 0;
  double tokens_each = 1;
  double context = 0;
  double prefill = 0;
  double prompts = 0;
  double prefill_length = 0;   ///< tokens of one prompt in this step
  double prefill_context = 0;  ///< tokens of one prompt at the end of this step (KV length)
  double expert_tokens = 0;    ///< tokens of all ranks that share the experts; 0 = as many as this rank's on each
};

struct StepTime {
  double seconds = 0;
  std::array<double, kTerms> terms{};
  double flops = 0;    ///< per device
  double filler = 0;   ///< FLOPs on rows that only fill up tiles, and what widening of weights takes in such FLOPs
  double bytes = 0;    ///< per device
  double compute = 0;  ///< seconds the arithmetic alone would take
  double memory = 0;
  double least = 0;  ///< seconds that the datasheet and the links allow the operators, one after the other
  double network = 0;
  double exchange = 0;  ///< of that, tokens to experts and back
  double fixed = 0;     ///< launches, host
  double routing = 0;   ///< of that, small kernels around experts: the device works

  /// FLOPs by the power they take: zeros take less.
  [[nodiscard]] double powered_flops() const noexcept { return flops + kFillerWork * filler; }
  /// Seconds without work on this device.
  [[nodiscard]] double waiting() const noexcept { return network + fixed - routing; }
};

/// The deployment at the clock that its power cap leaves to the load, with intervals that know how little is known of
/// that: evaluate() of it asks for no cap any more. The same deployment where the load draws less than the cap.
[[nodiscard]] ResolvedInference within_cap(const ResolvedInference& deployment, const InferenceLoad& load) noexcept;

[[nodiscard]] StepTime step_time(const ResolvedInference& r, const Step& step) noexcept;

/// A step of decoding alone in which a draft proposed step.tokens_each - 1 tokens per sequence, with the time of the
/// draft.
[[nodiscard]] StepTime drafted_step_time(const ResolvedInference& r, const Step& step) noexcept;

/// Cache of one sequence of `tokens` tokens on one device.
[[nodiscard]] double kv_bytes(const ResolvedInference& r, double tokens) noexcept;

}  // namespace perf
}  // namespace ridge
