// Launch files of a plan, and the plan of a launch file.
//
//   LaunchStock stock{checkpoints, settings, names, vendors};                  // data/: what to load, what engines
//   call it Result<LaunchPlan> plan = launch_plan(inference_answer, knowledge, stock, {.runner = LaunchTarget::vllm});
//   Result<std::vector<LaunchFile>> files = emit(*plan, LaunchTarget::slurm, options);   // job.sbatch, slurm.conf, ...
//   Result<LaunchCheck> back = read_launch(files->front().text, files->front().name);
//   back->plan == *plan;                                                            // holds for every target
//
// What an engine has a flag for is read from that flag; what none has one for (the kind of device, devices per node,
// the load the plan was made for) stands in one comment line that starts with "# ridge:". A plan that a target cannot
// express, and a device that an engine does not run on, are refused with the nearest that works. Pure; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ridge/base/result.hpp"
#include "ridge/catalogue/engine.hpp"
#include "ridge/catalogue/model.hpp"
#include "ridge/facility/checkpoints.hpp"
#include "ridge/facility/doctor.hpp"
#include "ridge/facility/engine_flags.hpp"
#include "ridge/perf/answer.hpp"
#include "ridge/perf/perf.hpp"
#include "ridge/perf/training.hpp"
#include "ridge/perf/training_answer.hpp"

namespace ridge {

/// What files are written for. Their table is in src/facility/launch/targets.cpp; CONTRIBUTING.md says how one is
/// added.
enum class LaunchTarget : std::uint8_t {
  vllm,
  trtllm,
  sglang,
  llamacpp,
  megatron,
  bridge,
  primus,
  torchrun,
  deepspeed,
  maxtext,
  slurm,
  k8s,
  dynamo,
};
inline constexpr std::size_t kLaunchTargets = 13;
/// Engines serve or train, a cluster runs either of them.
enum class TargetKind : std::uint8_t { serves, trains, schedules };

[[nodiscard]] std::string_view name(LaunchTarget target);
[[nodiscard]] TargetKind kind(LaunchTarget target);
/// Refuses others, naming the nearest.
Result<LaunchTarget> parse_launch_target(std::string_view text);
/// "vllm, trtllm, ... or dynamo".
[[nodiscard]] std::string launch_target_list();
[[nodiscard]] inline bool trains(LaunchTarget runner) {
  return kind(runner) == TargetKind::trains;
}
[[nodiscard]] inline bool is_runner(LaunchTarget target) {
  return kind(target) != TargetKind::schedules;
}
/// The name its releases go by in data/engines/flags: torchtitan for torchrun.
[[nodiscard]] std::string_view engine_of(LaunchTarget runner);
/// The engine of data/engines that it is estimated as: Primus runs Megatron.
[[nodiscard]] std::string_view profile_of(LaunchTarget runner);

/// What the servers of a plan do: everything, or one of two pools that hand caches over.
enum class PoolRole : std::uint8_t { both, prefill, decode };
[[nodiscard]] std::string_view name(PoolRole role);

/// Layers and widths, as training software wants them on the command line.
struct ModelShape {
  int layers = 0, hidden = 0, heads = 0, kv_heads = 0, head_dim = 0, ffn = 0, vocab = 0, context = 0;
  bool gated = true, tied = false;
  int experts = 0, top_k = 0, expert_ffn = 0, shared_ffn = 0, dense_layers = 0;
  int q_lora = 0, kv_lora = 0, qk_nope = 0, qk_rope = 0, v_dim = 0;  ///< latent attention, 0 = none
  int groups = 0, groups_chosen = 0;                                 ///< of experts a token may go to
  int mtp_layers = 0;                                                ///< trained beside the model; 0 = none
  bool qk_norm = false, qkv_bias = false, norm_bias = false, learned_positions = false, shared_gate = false;
  double rotary_base = 0;    ///< 0 = not said
  bool rotary_open = false;  ///< nobody knows it: the script asks for ROTARY_BASE
  double norm_epsilon = 0;   ///< 0 = not said
  double rope_scaling = 0;   ///< Llama 3.1's; 0 = none
  double yarn = 0;           ///< factor of YaRN; 0 = none
  bool sigmoid_router = false;
  double router_scaling = 0;  ///< of the chosen experts' weights; 0 = none
  friend bool operator==(const ModelShape&, const ModelShape&) = default;
};

/// What differs between makers of devices: how hosts, Slurm and Kubernetes name devices, and which engines run there. A
/// row of data/launch/vendors.toml, which says what each member means; empty: it has none.
struct LaunchVendor {
  std::string name;  ///< "NVIDIA"
  std::string resource, visible, files, product_label, count, container;
  std::string plugin, transfer, sglang_device, error_metric, elsewhere;
  std::string maxtext_hardware, maxtext_fp8, maxtext_int8;
  bool nccl = false;    ///< its variables are understood
  bool pools = false;   ///< vLLM hands caches over there
  bool op = false;      ///< Kubernetes has an operator of the vendor
  bool slices = false;  ///< hosts of a slice know each other
  bool alone = false;   ///< processes do not share out its devices
  int least_driver = 0;
  std::vector<LaunchTarget> runs;
  std::vector<std::pair<LaunchTarget, std::string>> images;   ///< "{}" is the release
  std::vector<std::pair<LaunchTarget, std::string>> without;  ///< engines, and designs they have no kernels for
  std::vector<std::pair<std::string, std::string>> products;  ///< device, label
  /// It follows from the name, by which plans are told apart.
  friend bool operator==(const LaunchVendor&, const LaunchVendor&) { return true; }
};
/// All of a folder (data/launch). Refuses a malformed file with the place, and one without a vendor.
Result<std::vector<LaunchVendor>> load_launch_vendors(const std::string& directory);
/// The first of the list for a name that nobody knows; `vendors` is not empty.
[[nodiscard]] const LaunchVendor& vendor_named(std::span<const LaunchVendor> vendors, std::string_view name);

/// What is launched. Zeros and 1 are defaults that need no flag.
struct LaunchPlan {
  LaunchTarget runner = LaunchTarget::vllm;
  std::string release;     ///< of the runner, "0.27.1"; empty = whichever is installed
  std::string model;       ///< the name it goes by
  std::string checkpoint;  ///< what the engine loads: a repository or a path
  std::string base;        ///< 16-bit repository that `checkpoint` has to be made from first; empty = it exists
  bool gated = false;      ///< the repository asks to accept a licence
  bool online = false;     ///< the engine narrows 16-bit weights while it loads them
  std::string device;      ///< id
  std::string vendor;      ///< "NVIDIA"
  LaunchVendor hardware;   ///< what is known of it; empty in a plan that was read back
  std::string system;      ///< id, where the plan names one
  std::string network;     ///< "infiniband", "ethernet", or empty within one node
  int gpus = 1, gpus_per_node = 8;
  int tp = 1, pp = 1, dp = 1, ep = 1;
  // serving
  int replicas = 1;  ///< copies of the engine; gpus = replicas x tp x pp x dp
  Format weights = Format::bf16, kv = Format::bf16;
  bool embeds = false;  ///< the model gives vectors or scores
  int max_sequences = 0, max_batched_tokens = 0, max_length = 0;
  double memory_utilization = 0;
  double kv_fraction = 0;  ///< of the memory that is free once the weights are loaded; what TensorRT-LLM asks for
  Format activations = Format::bf16;
  LoadMode mode = LoadMode::closed_loop;
  int isl = 0, osl = 0, concurrency = 0;  ///< the load it was made for
  double prefix_hit = 0, acceptance = 0;
  int lora_rank = 0;     ///< adapters beside the weights, 0 = none
  int draft_tokens = 0;  ///< proposed per step by the model's own MTP layers or by `draft`
  std::string draft;     ///< a repository, or "mtp"
  PoolRole role = PoolRole::both;
  // experts on other ranks: how tokens reach them, how they are dealt out
  std::optional<ExpertExchange> exchange;  ///< nothing: whatever the engine does by itself
  int experts = 0;                         ///< of a layer, where the engine counts copies among them (TensorRT-LLM)
  int redundant_experts = 0;               ///< copies of experts in each layer
  bool rebalanced = false;                 ///< experts are placed by their load (EPLB)
  bool two_batches = false;                ///< two halves of a batch hide each other's exchange
  // training
  int cp = 1, etp = 1, vp = 1;
  int sequence = 0, global_batch = 0, micro_batch = 0;
  ContextParallel context = ContextParallel::ring;
  int shard_group = 0;  ///< hsdp
  Format precision = Format::bf16;
  bool block_scales = false;  ///< fp8 with a scale per block
  Sharding sharding = Sharding::none;
  Recompute recompute = Recompute::none;
  int recompute_layers = 0;  ///< full: so many layers of a stage's chunk run forward twice; 0 = all
  bool offload_optimizer = false;
  std::string flavor;  ///< what torchtitan, MaxText and Megatron-Bridge call the model
  ModelShape shape;    ///< only of Megatron and Primus
  friend bool operator==(const LaunchPlan&, const LaunchPlan&) = default;

  [[nodiscard]] int nodes() const { return (gpus + gpus_per_node - 1) / gpus_per_node; }
};

/// What models were trained with and config.json says, where the catalogue has no use for it otherwise.
struct ModelSettings {
  std::string model;
  double rotary_base = 0, norm_epsilon = 0, rope_scaling = 0, yarn = 0;
  bool sigmoid_router = false;
  double router_scaling = 0;
  std::string source;
};
/// data/model_settings.csv. Refuses a malformed file, with the place.
Result<std::vector<ModelSettings>> load_model_settings(const std::string& file);

/// What an engine that has its own list of models calls one: torchtitan, llama3.1-8b, "llama3/8B".
struct EngineModel {
  std::string engine, model, name, source;
};
/// data/engines/models.csv. Refuses a malformed file, with the place.
Result<std::vector<EngineModel>> load_engine_models(const std::string& file);

/// What launch files need to know besides the engines' answers. Outlives the call only.
struct LaunchStock {
  const Checkpoints& checkpoints;
  std::span<const ModelSettings> settings;
  std::span<const EngineModel> names;
  std::span<const LaunchVendor> vendors;
};

/// What the user says about the launch.
struct LaunchWish {
  LaunchTarget runner = LaunchTarget::vllm;
  std::string checkpoint;  ///< instead of the catalogue's
  std::string draft;       ///< draft model of speculative decoding
};

/// From answers of the engines, with every choice made. Refuses a plan that cannot run, a device the runner does not
/// run on, a technique it has no flag for, a model without a known checkpoint, and one whose layers the runner's
/// command line cannot say (Megatron: other than attention with or without experts).
Result<LaunchPlan> launch_plan(const InferenceAnswer& answer, const Knowledge& knowledge, const LaunchStock& stock,
                               const LaunchWish& wish);
Result<LaunchPlan> launch_plan(const TrainingAnswer& answer, const Knowledge& knowledge, const LaunchStock& stock,
                               const LaunchWish& wish);

struct LaunchFile {
  std::string name;  ///< "job.sbatch"
  std::string text;
};

struct LaunchOptions {
  std::string image;  ///< container; empty = the engine's own of that release
  std::string partition = "gpu";
  std::string time = "7-00:00:00";  ///< Slurm: the longest a job may run
  int cpus_per_node = 96;
  double host_memory = 0;                  ///< bytes of a node, 0 = unknown
  const EngineRelease* release = nullptr;  ///< to check flags against; nullptr = not checked
  int first_device = 0;                    ///< of a script, where another one has those before
  int max_replicas = 0;                    ///< Kubernetes scales out to so many; 0 = not at all
  double ttft_limit_s = 0;                 ///< that are alerted about; 0 = no alert
  double tpot_limit_s = 0;
};

/// The file to start first, then those that go with it. Refuses (refused) what the target or the runner cannot express,
/// and a flag that the release does not have.
Result<std::vector<LaunchFile>> emit(const LaunchPlan& plan, LaunchTarget target, const LaunchOptions& options = {});

/// Prompts on one pool of servers, tokens on another, and one address for both.
struct LaunchPools {
  LaunchPlan prefill, decode;
};
/// Both plans say the same engine, release and model. The files of prefill, of decode, and the router between them.
/// Refuses engines that hand no caches over, and what either pool is refused for.
Result<std::vector<LaunchFile>> emit(const LaunchPools& pools, LaunchTarget target, const LaunchOptions& options = {});

/// A launch file read back.
struct LaunchCheck {
  LaunchPlan plan;
  LaunchTarget target = LaunchTarget::vllm;
  std::vector<std::string> other;                      ///< flags that say nothing about the plan
  std::vector<std::string> problems;                   ///< where the file contradicts itself, or what would not start
  std::vector<std::pair<std::string, double>> speeds;  ///< of its plan, estimated again; the rate stands first
  std::pair<double, double>
      slow;  ///< serving: the slow end of what is predicted for the first token and for the next, s
};

/// Refuses (bad_input, at file:line): a file that starts none of the runners, a flag without its value, a value that is
/// no number. With a release, flags it does not have and values it does not take are problems.
Result<LaunchCheck> read_launch(std::string_view text, std::string_view file, const EngineRelease* release = nullptr);

/// Which runner a file starts and, where it says so, of which release: "vllm", "0.27.1".
struct LaunchEngine {
  LaunchTarget runner = LaunchTarget::vllm;
  std::string release;
};
Result<LaunchEngine> launch_engine(std::string_view text, std::string_view file);

/// "tp: 2 in the file, 4 in the plan", one for each difference; empty if they are the same.
[[nodiscard]] std::vector<std::string> differences(const LaunchPlan& file, const LaunchPlan& plan);

/// The question that the plan answers: estimated again, it gives the plan's numbers. What a file of other people does
/// not say (the device, the load) stays open.
[[nodiscard]] InferenceQuery inference_query(const LaunchPlan& plan);
[[nodiscard]] TrainingQuery training_query(const LaunchPlan& plan);

/// Estimates the plan of a file that says its device and load: fills `speeds`, and adds to `problems` why it cannot
/// run.
void estimate_again(LaunchCheck& check, const Knowledge& knowledge);

/// What a host lacks for the plan: devices, driver, fabric manager, IMEX, network, room on disk for the weights
/// (0 bytes: not asked). What was not seen is no problem.
[[nodiscard]] std::vector<std::string> host_problems(const LaunchPlan& plan, const HostFacts& facts,
                                                     double weight_bytes = 0);

/// What Megatron's own checks of its arguments would abort with, restated; empty if it starts.
[[nodiscard]] std::vector<std::string> megatron_problems(const LaunchPlan& plan);

}  // namespace ridge
