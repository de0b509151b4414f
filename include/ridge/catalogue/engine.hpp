// Engines: the software that runs a model, and what it does differently. Data in data/engines/.
//
//   Engines engines = *load_engines("data/engines");
//   EngineMatch m = engines.find("text-generation-inference", EngineWork::inference);
//   m.engine->id;      // "tgi": its own habits (batching, memory, ...)
//   m.engine->family;  // "vllm": whose calibration it shares
//   m.exact;           // false: an assumption to be shown, and a wider interval
//
// An unknown engine is never refused: it falls back to the engine its name starts with, or to the median engine of that
// work. Immutable; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ridge/base/result.hpp"

namespace ridge {

enum class EngineWork : std::uint8_t { inference, training };

/// How prefill and decode share steps.
enum class Batching : std::uint8_t {
  mixed,     ///< chunks of prefill ride along with decode (vLLM, TensorRT-LLM)
  separate,  ///< a prefill step stops decoding (SGLang)
  fixed,     ///< the batch runs to its end (plain PyTorch)
};

/// How the KV cache is given out.
enum class Admission : std::uint8_t {
  reserve_all,  ///< isl + osl blocks are reserved before a request starts (TensorRT-LLM)
  as_needed,    ///< blocks as the sequence grows, preemption when full (vLLM, SGLang)
};

/// How the optimizer's state, the gradients and the weights are spread over data-parallel ranks.
enum class Sharding : std::uint8_t { none, zero1, zero2, zero3, hsdp, unknown };

/// How scores and values are computed in training.
enum class AttentionKernel : std::uint8_t {
  unfused,   ///< the full square of scores goes through memory
  portable,  ///< tiles stay on chip, the masked half is skipped; one kernel for all chips (FlashAttention-2)
  native,    ///< the same, written for the chip at hand (cuDNN, FlashAttention-3, Splash)
};

/// How tokens reach their experts.
enum class ExpertDispatch : std::uint8_t {
  all_to_all,    ///< one copy of the token per chosen expert
  deduplicated,  ///< one copy per node that holds a chosen expert (DeepEP, HybridEP)
};

/// What training software does, as facts; how well it does it is calibration.
struct TrainingTraits {
  AttentionKernel attention = AttentionKernel::native;
  std::vector<std::string> portable_attention_on;  ///< architectures for which it has no newer kernel than the portable
  ExpertDispatch dispatch = ExpertDispatch::all_to_all;
  Sharding sharding = Sharding::zero1;  ///< its usual choice
  bool sequence_parallel = true;        ///< activations between tensor-parallel regions are sharded
  bool overlap_tensor_parallel = true;  ///< collectives of TP run beside the products
  bool overlap_data_parallel = true;    ///< gradients are reduced, and parameters gathered, beside the passes
  bool fills_stages = false;            ///< a stage takes layers until the sum of parameters passes its share
  bool interleave = true;               ///< cuts stages into chunks where the layers allow it
  bool compiled = false;                ///< a whole step is one program: no host time per layer
  bool blocking = false;                ///< launches wait for the kernel before: host time adds to device time
  bool dual_pipe = false;               ///< pipelines run both ways at once where stages and batches allow it
  bool leading = false;                 ///< other stacks took its kernels over a year later
  bool offload = false;                 ///< moves kept activations to host memory where device memory is short
  bool eager_modules = false;        ///< every elementwise operation keeps its own input, the loss takes logits whole
  bool transient_gradients = false;  ///< gradients of one micro-batch exist from its pass backward to the update only
  double logit_bytes = 6;            ///< kept of one logit: 16-bit value and a 32-bit copy or gradient
  double gradient_bytes = 4;         ///< per parameter, of the buffer gradients add up in
  double optimizer_bytes = 12;       ///< per parameter: master weight and two moments
  double network = 0;                ///< bytes/s per device and direction of the cluster it was made for; 0 = any
};

/// What a serving engine does by itself; an era may do it differently.
struct ServingTraits {
  bool quantised_kv_by_default = false;  ///< FP8/FP4 checkpoints keep KV in fp8
  bool chooses_kv = false;               ///< so whatever the checkpoint; others follow scales that it notes
  /// Architectures on which sparse attention keeps its cache in fp8, and in 16 bits elsewhere, whatever the weights;
  /// empty: as other attention.
  std::vector<std::string> narrow_sparse_kv_on;
  bool overlapped_host = false;     ///< prepares the next step while the device works on this one
  double graph_tokens = 0;          ///< steps with prompts and up to so many tokens replay graphs too
  bool portable_kernels = false;    ///< its own products for every chip, instead of the vendor's library
  bool untuned_experts = false;     ///< 16-bit experts run with tiles that were not tuned for their shape
  bool grouped_decode = true;       ///< one read of a key serves all query heads of its group
  bool ranks_pad_prefill = false;   ///< ranks around shared experts all fill up to the one with the longest prompt
  double dispatch_ranks = 0;        ///< groups of so many ranks and more reach experts by dispatch kernels; 0 = none
  bool two_batches = false;         ///< can hide the exchange of one half of a batch behind the other half
  bool rebalances_experts = false;  ///< can place and copy experts by their load (EPLB)
  /// Architectures on which experts that every token passes are one more choice of the routed product, where each
  /// device has a part of every expert.
  std::vector<std::string> fuses_shared_on;
  bool pads_heads = false;     ///< heads that do not divide by the ranks are filled up with zeros
  bool static_shapes = false;  ///< compiled for one batch and length: the cache is read as far as it may grow
  double decode_block = 1;     ///< sequences whose queries are one block, all of it passing over the cache of each
  double product_rows = 64;    ///< rows that its products compute at least: those of the narrowest tile
};

/// A span of releases that behave alike: the scope of calibration parameters such as `host.step@vllm-2024`.
struct EngineEra {
  std::string id;       ///< "vllm-0.11"
  std::string scope;    ///< of its calibration parameters: its own id, or that of the era whose parameters it shares
  std::string since;    ///< first date, ISO; empty = from the beginning
  std::string version;  ///< first version, empty = by date only
  std::string notes;
  std::vector<std::string> eager_on;             ///< vendors on whose devices this era does not replay graphs
  std::vector<std::string> heads_read_alone_on;  ///< and where each query head of a group reads the keys for itself
  ServingTraits serving;                         ///< the engine's, with what this era does differently
  TrainingTraits training;                       ///< the same for training
};

struct Engine {
  std::string id;
  std::string name;
  std::string family;  ///< id of the engine whose calibration it shares, or its own id
  std::string
      runtime;  ///< how it runs a step: "captured" graphs, "eager" launches, "compiled" programs of static shape
  EngineWork work = EngineWork::inference;
  std::vector<std::string> aliases;
  Batching batching = Batching::mixed;
  Admission admission = Admission::as_needed;
  double max_batched_tokens = 8192;     ///< per step, default
  double max_sequences = 256;           ///< default cap on running sequences
  double memory_utilization = 0.9;      ///< share of the device the engine uses
  bool graphs = true;                   ///< decode steps replay CUDA graphs
  bool ranks_prefill_together = false;  ///< data-parallel ranks around shared experts take prompts in the same steps
  bool fused_quantisation = false;      ///< activations are narrowed by the norm before, never by a kernel of its own
  bool ideal = false;                   ///< the datasheet alone: no overhead, full rates
  bool own_attention = false;           ///< the plain attention kernels of ridge-measure
  ServingTraits serving;
  TrainingTraits training;
  bool median = false;          ///< stands in for engines nobody knows, one per work
  std::vector<EngineEra> eras;  ///< oldest first
  std::string source;           ///< where its habits were read, with the date
  std::string notes;
};

struct EngineMatch {
  const Engine* engine = nullptr;
  const EngineEra* era = nullptr;  ///< of the engine or, if it has none, of its family; nullptr if neither has any
  [[nodiscard]] const ServingTraits& serving() const { return era != nullptr ? era->serving : engine->serving; }
  bool exact = true;  ///< false: shares the calibration of a family, or stands in for an unknown engine
  bool named = true;  ///< false: no engine has this name, a median one stands in
};

class Engines {
 public:
  explicit Engines(std::vector<Engine> engines = {}) : engines_(std::move(engines)) {}
  [[nodiscard]] const std::vector<Engine>& all() const { return engines_; }
  /// By id or alias (case and '_' do not matter), else by the longest id the name starts with ("vllm-rocm"), else the
  /// median engine of that work; the era by version if it can be compared, else by date, else the newest. Never returns
  /// a null engine if any is loaded for that work.
  [[nodiscard]] EngineMatch find(std::string_view name, EngineWork work, std::string_view version = {},
                                 std::string_view date = {}) const;

 private:
  std::vector<Engine> engines_;
};

/// Reads every *.toml of the directory, each with [[engine]] tables; refuses what is malformed, with the place.
Result<Engines> load_engines(const std::string& directory);

/// A date as a fractional year: "2024-09" is the middle of that month, "2023-2024" the middle of the span; 0 if the
/// text is no date.
[[nodiscard]] double year_of(std::string_view date);

}  // namespace ridge
