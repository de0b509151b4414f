// A training job as flat numbers: what resolve() makes and evaluate() reads. Internal to src/perf.
//
//   ResolvedTraining job = ...;                    // by resolve()
//   job.groups[0].products[0];                     // the QKV product of the first kind of layer, unsharded
//   job.coefficients.wide;                         // rates of 16-bit products as training reaches them
//
// Everything is per layer, per token or per parameter, for the whole model; evaluate() divides by the plan's degrees.
#pragma once

#include <array>
#include <string>

#include "perf/operators/kernels.hpp"
#include "ridge/perf/training.hpp"

namespace ridge {

/// Nobody published a step in fp32 or in whole numbers to learn from, and none of the terms is made for them.
[[nodiscard]] constexpr bool trains_in(Format format) {
  return format != Format::fp32 && format != Format::int8 && format != Format::int4;
}

/// How a matrix product is cut by tensor parallelism.
enum class Cut : std::uint8_t {
  columns,  ///< outputs are split: input gathered, no reduction
  rows,     ///< inputs are split: output reduced
  whole,    ///< every rank does all of it
};

struct Product {
  double n = 0;  ///< outputs
  double k = 0;  ///< inputs
  Cut cut = Cut::columns;
  bool wide = false;  ///< in 16 bits whatever the recipe
};

inline constexpr long kMostBatch = 1L << 30;  ///< sequences a step: what no product of devices and micro-batch exceeds
inline constexpr std::size_t kProducts = 8;
inline constexpr std::size_t kGroups = 12;

/// `count` equal layers.
struct TrainingGroup {
  double count = 0;
  MixerKind mixer = MixerKind::none;
  bool moe = false;
  bool both_ways = false;  ///< tokens attend to those after them too
  int product_count = 0;
  std::array<Product, kProducts> products{};  ///< of mixer, dense FFN and shared experts

  // scores and values
  double heads = 0, kv_heads = 0, key_dim = 0, value_dim = 0, window = 0;
  // recurrent mixers: elements of the state of one head set, FLOPs and bytes per token
  double state_flops = 0, state_bytes = 0;
  // experts
  double experts = 0, top_k = 0, routing_groups = 0, groups_chosen = 0, expert_in = 0, expert_width = 0,
         expert_matrices = 0;

  // bytes per token through memory besides the products
  double hidden_forward = 0, hidden_backward = 0;  ///< sharded by sequence parallelism
  double inner_forward = 0, inner_backward = 0;    ///< sharded by TP
  double cast_whole = 0, cast_inner = 0;           ///< elements per token a narrow recipe casts, unsharded and by TP
  // bytes per token that stay until the backward pass
  double kept_hidden = 0, kept_inner = 0;                         ///< sharded by sequence parallelism; by TP
  double kept_expert = 0;                                         ///< per routed copy of a token
  double light_hidden = 0, light_inner = 0;                       ///< of these, what selective recompute frees
  double narrow_hidden = 0, narrow_inner = 0, narrow_expert = 0;  ///< elements kept only as input of a product
  // parameters of one layer
  double shared_parameters = 0;  ///< sharded by TP
  double expert_parameters = 0;  ///< sharded by EP and expert-TP
};

/// What calibration says for this device, engine, format and date.
struct TrainingCoefficients {
  perf::GemmRates narrow;        ///< products the recipe runs in the narrow format
  perf::GemmRates wide;          ///< 16 bits
  double experts = 1;            ///< time of grouped products over plain ones
  double attention_forward = 1;  ///< FLOP/s, long sequences, head of 128
  double attention_backward = 1;
  double attention_ramp = 0;                  ///< tokens
  double array_side = 1;                      ///< of systolic arrays, which heads fill in multiples of it
  double narrow_head = 0;                     ///< exponent of 128 / head_dim in the time of attention
  double scores_passes = 0;                   ///< over the square of scores, unfused attention, forward
  double bandwidth = 1;                       ///< bytes/s that elementwise kernels reach
  double elementwise = 1;                     ///< traffic over the counted one
  double cast_bytes = 0;                      ///< per cast element
  double loss_bytes = 0;                      ///< per logit, forward and backward
  double optimizer_traffic = 0;               ///< bytes per parameter of one update
  double launch = 0;                          ///< seconds of one small kernel on the device
  double scale_up = 1, scale_up_latency = 0;  ///< bytes/s per device of collectives beside a step
  double scale_out = 1, scale_out_latency = 0;
  double dispatch = 1;        ///< bytes/s per device of expert exchange over the network
  double tensor_exposed = 1;  ///< share of TP collectives that is not hidden
  double context_exposed = 1;
  double expert_exposed = 1;
  double data_exposed = 1;     ///< share of gradient traffic that is never hidden
  double send_exposed = 1;     ///< share of stage-to-stage transfers
  double shard_exposed = 0;    ///< share of ZeRO-3 gathers that is never hidden
  double permute_passes = 0;   ///< over the routed tokens, forward
  double host_layer = 0;       ///< seconds of host work per layer and pass
  double host_moe = 0;         ///< more of it in a layer with experts
  double host_expert = 0;      ///< and per expert this device holds
  double host_step = 0;        ///< seconds per step that nothing hides
  double compute_drift = 1;    ///< time of kernels over that of the reference date
  double moe_drift = 1;        ///< the same, experts and their routing
  double selective_share = 0;  ///< of a layer's forward pass that selective recompute repeats
  double adapters = 0;         ///< LoRA: more elementwise traffic, share of the layer's
  double unpack_bytes = 0;     ///< moved per frozen weight of four bits, each time it is widened for a product
  double usable = 1;           ///< share of device memory a job can fill
  double own_stack = 1;        ///< time on the user's own stack over what is predicted
  double low = 1, high = 1;    ///< interval
};

struct ResolvedTraining {
  // model
  int group_count = 0;
  std::array<TrainingGroup, kGroups> groups{};
  double layers = 0, hidden = 0, vocab = 0;
  bool tied = false, moe = false;
  double experts_all = 0;
  double expert_fineness = 0;  ///< 1 for narrow experts, towards 0 for wide ones; 0 if there are none
  double parameters = 0, active_parameters = 0;
  double attention_flops_per_position = 0;  ///< of one token per position it can see, all full layers, fwd + bwd
  double fixed_flops_per_token = 0;         ///< recurrent mixers
  struct Window {
    double flops_per_position = 0, reach = 0;
  };
  int window_count = 0;
  std::array<Window, kGroups> windows{};  ///< layers that see only so many positions
  double embedding_parameters = 0, head_parameters = 0;
  double lora_parameters = 0;  ///< trainable, all layers
  int mtp_layers = 0;
  double mtp_parameters = 0;  ///< of one such layer

  // device
  double peak = 0, peak_wide = 0;  ///< FLOP/s dense, of the products' format and of 16 bits
  double memory_capacity = 0, memory_bandwidth = 0;
  double tdp = 0;
  double host_link = 0;  ///< bytes/s one direction
  int node_size = 1, domain = 1;
  bool format_supported = true;

  // software
  TrainingTraits traits;
  TrainingTask task = TrainingTask::pretrain;
  Format precision = Format::bf16;
  double weight_bytes = 2;
  double wide_share = 0;  ///< of the layers, those whose products stay in 16 bits
  bool block_scales = false;

  // calibration and what it was asked for
  TrainingCoefficients coefficients;
  perf::DeviceRates rates;        ///< its `architecture` points to `architecture` below
  std::string architecture;       ///< the one calibration knows
  std::string own_architecture;   ///< the device's
  std::string architecture_step;  ///< what the device's own adds to it: "ultra" of "blackwell-ultra"
  std::string engine, family, era, device, vendor;
  bool ideal = false;                ///< the engine is the datasheet alone
  bool named_engine = true;          ///< false: nobody knows an engine of that name
  double up_peak = 0, out_peak = 0;  ///< bytes/s one direction per device, datasheet

  OwnPoint asked;  ///< for runs of the user's own

  // the cluster, see TrainingCluster
  double pod = 0, oversubscription = 1;
  bool reduces_up = false, reduces_out = false;
  RankOrder order = RankOrder::data_before_pipeline;
  double data_seconds = 0;  ///< that one node takes to read a token, 0 = nothing
  double year = 0;
  bool exact_engine = true;
};

/// Fills job.coefficients.
void calibrate(ResolvedTraining& job, const Calibration& calibration);
/// What the evidence knows of the job's device and software.
[[nodiscard]] Sureness training_sureness(const ResolvedTraining& job, const Calibration& calibration);

/// Layers, chunks and head of the pipeline's stages.
struct Stages {
  double mean_layers = 0;  ///< of one stage
  double most_layers = 0;  ///< of the fullest stage that has no head
  double last_layers = 0;  ///< of the stage with the head
  double first_layers = 0;
};
/// `head` is the time of embedding, head and loss over that of one layer: layouts made by hand leave room for it.
[[nodiscard]] Stages cut_stages(const ResolvedTraining& job, int pp, int vp, double head) noexcept;
/// The engine's usual number of chunks per stage.
[[nodiscard]] int usual_chunks(const ResolvedTraining& job, const TrainingPlan& plan) noexcept;

/// Bytes of a device that no framework counts as its own: the context of the driver, communicators.
inline constexpr double kOutsideAllocator = 1.3e9;

/// What a plan means for memory, and how much has to be computed again so that it fits.
struct MemoryPlan {
  Recompute recompute = Recompute::none;
  double full_share = 0;   ///< of the layers run forward again entirely
  bool selective = false;  ///< and the light parts of the others
  bool squeezed = false;   ///< sliced logits, and activations in host memory where the software can
  double short_by = 0;     ///< bytes missing in the fullest stage
  int stage = 0;
  std::array<double, kTrainingMemory> bytes{};
};
struct Degrees {
  double tp = 1, pp = 1, vp = 1, cp = 1, ep = 1, etp = 1, dp = 1;
  double micro_batches = 1;
  double tokens = 0;          ///< of one micro-batch on one device (sequence / cp x micro-batch)
  double sequence_shard = 1;  ///< tp if activations between regions are sharded
  double shards = 1;          ///< ranks that share optimizer state
  double expert_shards = 1;
  double weight_shards = 1, gradient_shards = 1;
  double expert_weight_shards = 1, expert_gradient_shards = 1;
  Sharding sharding = Sharding::none;
};
/// Fills `d`, or says why the plan cannot run (`short_by` as the reason counts).
[[nodiscard]] Reason plan_degrees(const ResolvedTraining& job, const TrainingPlan& plan, Degrees& d,
                                  double& short_by) noexcept;
/// Bytes of the optimizer's state per parameter; whether it goes to the host where device memory is short.
[[nodiscard]] double state_bytes(const ResolvedTraining& job, const TrainingPlan& plan) noexcept;
[[nodiscard]] bool pages(Optimizer optimizer) noexcept;
/// Bytes that a mean layer keeps of one micro-batch until its backward pass, on the device or on the host.
[[nodiscard]] double kept_bytes(const ResolvedTraining& job, const TrainingPlan& plan, const Degrees& d,
                                const MemoryPlan& memory) noexcept;
[[nodiscard]] MemoryPlan plan_memory(const ResolvedTraining& job, const TrainingPlan& plan, const Degrees& d,
                                     const Stages& stages) noexcept;
[[nodiscard]] std::array<double, kTrainingMemory> memory_of_stage(const ResolvedTraining& job, const TrainingPlan& plan,
                                                                  const Degrees& d, const Stages& stages, int stage,
                                                                  double full_share, bool selective,
                                                                  bool squeezed) noexcept;

/// Tokens of a row that attend to each other.
[[nodiscard]] inline double attended(const TrainingPlan& plan) noexcept {
  return plan.attended > 0 ? plan.attended : plan.sequence;
}

}  // namespace ridge
