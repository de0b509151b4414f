// Training: step time, memory, MFU and scaling for one plan.
//
//   TrainingQuery q;
//   q.model = "llama3.1-405b"; q.device = "h100-sxm"; q.engine = "megatron";
//   q.plan = {.gpus = 1024, .tp = 8, .pp = 16, .dp = 8, .sequence = 8192, .global_batch = 512, .micro_batch = 1};
//   auto job = resolve(q, knowledge);                              // allocates; refuses unknown names
//   TrainingOutcome o = evaluate(*job->resolved, job->plan);       // pure, noexcept, no allocation, any thread
//   if (o.reason == Reason::none) use(o.estimate.step_time_s.mid, o.estimate.mfu.mid);
//
// A resolved job depends on model, device, system, engine and precision only, so that a search evaluates millions of
// plans against one of them. Infeasible is an answer (reason, short_by, stage), never a crash, never a zero.
//
// Ranks are laid out in the usual order, fastest first: TP, CP, EP (inside CP and DP), DP, PP. Which tier a collective
// crosses follows from that order, the devices per node and the scale-up domain.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ridge/catalogue/engine.hpp"
#include "ridge/perf/inference.hpp"
#include "ridge/perf/perf.hpp"

namespace ridge {

enum class Recompute : std::uint8_t {
  none,
  selective,  ///< what is cheap to make again and large to keep: scores, norms, activation functions
  full,       ///< every layer runs forward twice
  unknown,    ///< the least that fits, layer by layer
};
enum class TrainingTask : std::uint8_t { pretrain, sft, lora };
enum class Schedule : std::uint8_t { one_f_one_b, interleaved, zero_bubble, dual_pipe };
enum class ContextParallel : std::uint8_t { ring, all_gather, ulysses };
/// What keeps the moments, and in how many bits; paged ones go to the host where device memory is short.
enum class Optimizer : std::uint8_t { adamw, adamw_8bit, paged_adamw, paged_adamw_8bit };
[[nodiscard]] std::string_view name(Sharding sharding);
[[nodiscard]] std::string_view name(Recompute recompute);
[[nodiscard]] std::string_view name(TrainingTask task);
[[nodiscard]] std::string_view name(Schedule schedule);
[[nodiscard]] std::string_view name(ContextParallel kind);
/// "none", "zero1", "zero-1", "fsdp" (zero3), "hsdp", ...; refuses others, naming the nearest.
Result<Sharding> parse_sharding(std::string_view text);
Result<Recompute> parse_recompute(std::string_view text);
Result<TrainingTask> parse_training_task(std::string_view text);

/// Small integers and enums: what a search varies. Zero = the engine's usual choice.
struct TrainingPlan {
  int gpus = 1;
  int tp = 1, pp = 1, vp = 0, cp = 1, ep = 1;
  int etp = 0;  ///< tensor-parallel degree inside an expert, 0 = 1
  int dp = 0;   ///< 0 = what is left of `gpus`
  int sequence = 4096;
  int global_batch = 1, micro_batch = 1;  ///< sequences; a micro-batch is of one model replica
  Sharding sharding = Sharding::unknown;
  int shard_group = 0;  ///< hsdp: ranks that share one copy, 0 = a scale-up domain
  Recompute recompute = Recompute::unknown;
  Schedule schedule = Schedule::one_f_one_b;  ///< interleaved where vp > 1
  ContextParallel context = ContextParallel::ring;
  float imbalance = 1;             ///< tokens of the busiest expert rank over the mean
  float capacity = 0;              ///< experts drop what exceeds this multiple of their mean load; 0 = dropless
  int recompute_layers = 0;        ///< full: so many layers of a stage's chunk run forward twice; 0 = all
  float offload = 0;               ///< share of the kept activations that wait in host memory
  bool offload_optimizer = false;  ///< state and update of the optimizer are on the host
  bool offload_weights = false;    ///< weights wait on the host and cross to the device, layer by layer, in each pass
  Optimizer optimizer = Optimizer::adamw;
  int attended = 0;  ///< tokens of a row that attend to each other, where it holds several texts; 0 = `sequence`
};

/// Texts of fine-tuning, which do not fill a row of `TrainingPlan::sequence` tokens by themselves. Log-normal, cut at a
/// row; `mean` is that after the cut.
struct ExampleLengths {
  double mean = 0;      ///< tokens; 0 = rows are full
  double cv = 0.8;      ///< standard deviation over mean, before the cut
  bool packing = true;  ///< several share a row, each attends to itself; false: padded to the longest beside it
};

/// Fastest first: what stands inside a scale-up domain and what crosses the network.
enum class RankOrder : std::uint8_t {
  data_before_pipeline,  ///< tp-cp-ep-dp-pp: stages far apart, replicas near each other
  pipeline_before_data,  ///< tp-cp-ep-pp-dp: a replica stays together
};
/// Where switches add up: an all-reduce then sends its buffer once instead of twice around a ring. A reduce-scatter or
/// an all-gather alone gains nothing, since one side of it is the whole buffer either way.
enum class SwitchReduction : std::uint8_t { none, scale_up, scale_out, both };

/// The cluster around the devices. Zero = the system's figure, or what is usual.
struct TrainingCluster {
  double oversubscription = 0;  ///< ports of a pod over its links to other pods; usual: 1
  int pod = 0;                  ///< devices joined without it; usual: what one level of switches joins
  SwitchReduction reduction = SwitchReduction::none;
  RankOrder order = RankOrder::data_before_pipeline;
  double data_rate = 0;   ///< bytes/s at which one node reads the data set; 0 = never the limit
  double data_bytes = 4;  ///< per token as it lies in the data set: a 32-bit index
};

struct TrainingQuery {
  std::string model;
  std::string device;
  std::string system;
  std::string engine = "megatron";
  std::string engine_version;
  std::string date;  ///< of the software; empty = newest
  TrainingTask task = TrainingTask::pretrain;
  std::optional<Format> precision;  ///< of the matrix products; empty = bf16
  int gpus_per_node = 0;            ///< 0 = the device's or system's
  int scale_up_domain = 0;
  double network_per_gpu = 0;  ///< bytes/s one direction; 0 = the device's or system's
  TrainingCluster cluster;
  double power_cap = 0;  ///< watts per device, 0 = none
  int lora_rank = 16;
  std::optional<Format> frozen;  ///< lora: format of the frozen weights (QLoRA: int4); empty = that of the products
  bool mtp = false;              ///< train the multi-token-prediction layers
  bool block_scales = false;     ///< fp8 with a scale per block instead of one per tensor
  int wide_layers = 0;           ///< layers whose products stay in 16 bits under a narrow recipe
  TrainingPlan plan;
  ExampleLengths examples;
};

enum class TrainingMemory : std::uint8_t { weights, gradients, optimizer, activations, buffers };
inline constexpr std::size_t kTrainingMemory = 5;
[[nodiscard]] std::string_view name(TrainingMemory part);

/// What a step is spent on, the other way to cut its time: passes, collectives that nothing hides, the rest.
enum class TrainingPhase : std::uint8_t {
  forward,
  backward,
  recompute,
  head,              ///< LM head and loss, both passes
  tensor_parallel,   ///< exposed collectives of TP and sequence parallelism
  context_parallel,  ///< of CP
  expert_parallel,   ///< of EP
  data_parallel,     ///< gradients and gathers of DP, ZeRO and FSDP
  pipeline,          ///< bubble and transfers between stages
  optimizer,
  host,
  data,  ///< reading the data set, as far as it takes longer than the step it runs beside
};
inline constexpr std::size_t kTrainingPhases = 12;
[[nodiscard]] std::string_view name(TrainingPhase phase);

struct TrainingEstimate {
  Interval step_time_s;
  Interval tokens_per_s;
  Interval mfu;                      ///< against dense peak of the products' format; FLOPs as `model_flops_per_token`
  double model_flops_per_token = 0;  ///< forward and backward, attention counted in full: 6 P + 12 L h s
  double six_p_flops_per_token = 0;  ///< of products with weights alone; 4 P where weights are frozen
  std::array<double, kTerms> terms_s{};                ///< add up to step_time_s.mid
  std::array<double, kTrainingPhases> phases_s{};      ///< add up to the same
  double weight_gradient_s = 0;                        ///< of that, gradients of weights: what may be done later
  std::array<double, kTrainingMemory> memory_bytes{};  ///< of the fullest stage, per device
  Recompute recompute = Recompute::none;               ///< as evaluated
  double recompute_share = 0;                          ///< of the forward pass that runs twice
  int vp = 1;                                          ///< as evaluated
  int micro_batches = 1;                               ///< per step and replica
  Sharding sharding = Sharding::none;                  ///< as evaluated
  Interval power_w;                                    ///< all devices
  Bound bound = Bound::compute;
};

struct TrainingOutcome {
  Reason reason = Reason::none;
  double short_by = 0;  ///< bytes per device, or what the reason counts
  int stage = 0;        ///< that is out of memory
  TrainingEstimate estimate;
};

/// Flat numbers, no pointers into the catalogue. Opaque outside src/perf.
struct ResolvedTraining;

struct TrainingJob {
  TrainingJob();
  TrainingJob(TrainingJob&&) noexcept;
  TrainingJob& operator=(TrainingJob&&) noexcept;
  ~TrainingJob();
  std::unique_ptr<ResolvedTraining> resolved;
  TrainingPlan plan;
  std::vector<std::string> assumptions;
  Sureness sure;  ///< what the evidence knows of this device and this software
};

/// Refuses (bad_input, not_found): unknown names, devices without the figures needed. A plan that cannot run resolves;
/// evaluate() says why it cannot.
Result<TrainingJob> resolve(const TrainingQuery& query, const Knowledge& knowledge);

/// Pure; allocates nothing; any thread.
[[nodiscard]] TrainingOutcome evaluate(const ResolvedTraining& job, const TrainingPlan& plan) noexcept;

/// What examples make of a plan. Packed ones fill its rows. Padded ones are a row each: memory holds the longest there
/// may be, time is that of the longest in a micro-batch (under ZeRO-3 of all replicas, which wait for each other);
/// tokens/s and MFU count the tokens of examples alone.
struct ExampleUse {
  double row = 0;      ///< tokens that a row is computed with, on average
  double padding = 0;  ///< share of them that belongs to no example
  double in_row = 1;   ///< examples
};
[[nodiscard]] ExampleUse example_use(const ExampleLengths& examples, const TrainingPlan& plan,
                                     Sharding sharding) noexcept;
[[nodiscard]] TrainingOutcome evaluate(const ResolvedTraining& job, const TrainingPlan& plan,
                                       const ExampleLengths& examples) noexcept;

/// Memory of one device of pipeline stage `stage` (0 = the one with the embedding), by component; zeros if the plan
/// cannot run for another reason than memory.
[[nodiscard]] std::array<double, kTrainingMemory> stage_memory(const ResolvedTraining& job, const TrainingPlan& plan,
                                                               int stage) noexcept;

/// FLOPs per token of one training step, forward and backward: 6 x active parameters + 12 x layers x heads x head_dim x
/// sequence (scores and values counted in full, as Megatron's and PaLM's MFU do; windows and recurrent mixers as they
/// are).
[[nodiscard]] double training_flops_per_token(const Model& model, int sequence);

/// What `tokens` tokens take.
struct TrainingRun {
  double days = 0;
  double gpu_hours = 0;
};
[[nodiscard]] TrainingRun training_run(double tokens, double tokens_per_s, int gpus);
/// Tokens per second of `gpus` devices of `peak` FLOP/s each at that MFU.
[[nodiscard]] double tokens_per_s_at(double mfu, double peak, int gpus, double flops_per_token);

}  // namespace ridge
