// Launch files of a plan, and the plan of a launch file.
//
//   Result<LaunchPlan> plan = launch_plan(inference_answer, knowledge, LaunchTarget::vllm);
//   Result<std::vector<LaunchFile>> files = emit(*plan, LaunchTarget::slurm);      // job.sbatch, slurm.conf, gres.conf
//   Result<LaunchCheck> back = read_launch(files->front().text, files->front().name);
//   back->plan == *plan;                                                            // holds for every target
//
// What an engine has a flag for is read from that flag; what none has one for (the kind of device, devices per node)
// stands in one comment line that starts with "# ridge:". A plan that a target cannot express is refused with the
// nearest it can. Pure; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ridge/answer.hpp"
#include "ridge/engine.hpp"
#include "ridge/model.hpp"
#include "ridge/perf.hpp"
#include "ridge/result.hpp"
#include "ridge/training.hpp"
#include "ridge/training_answer.hpp"

namespace ridge {

enum class LaunchTarget : std::uint8_t { vllm, trtllm, sglang, megatron, torchrun, slurm, k8s };
inline constexpr std::size_t kLaunchTargets = 7;
[[nodiscard]] std::string_view name(LaunchTarget target);
/// Refuses others, naming the nearest.
Result<LaunchTarget> parse_launch_target(std::string_view text);
/// Megatron and torchrun train, vLLM, TensorRT-LLM and SGLang serve; Slurm and Kubernetes run either.
[[nodiscard]] bool trains(LaunchTarget runner);
[[nodiscard]] bool is_runner(LaunchTarget target);

/// Layers and widths, as training software wants them on the command line.
struct ModelShape {
  int layers = 0, hidden = 0, heads = 0, kv_heads = 0, head_dim = 0, ffn = 0, vocab = 0, context = 0;
  bool gated = true, tied = false;
  int experts = 0, top_k = 0, expert_ffn = 0, shared_ffn = 0, dense_layers = 0;
  int q_lora = 0, kv_lora = 0, qk_nope = 0, qk_rope = 0, v_dim = 0;  ///< latent attention, 0 = none
  friend bool operator==(const ModelShape&, const ModelShape&) = default;
};

/// What is launched. Zeros and 1 are defaults that need no flag.
struct LaunchPlan {
  LaunchTarget runner = LaunchTarget::vllm;
  std::string model;       ///< the name it goes by
  std::string checkpoint;  ///< what the engine loads: a repository or a path
  std::string device;      ///< id
  std::string network;     ///< "infiniband", "ethernet", or empty within one node
  int gpus = 1, gpus_per_node = 8;
  int tp = 1, pp = 1, dp = 1, ep = 1;
  // serving
  int replicas = 1;  ///< copies of the engine; gpus = replicas x tp x pp x dp
  Format weights = Format::bf16, kv = Format::bf16;
  int max_sequences = 0, max_batched_tokens = 0, max_length = 0;
  double memory_utilization = 0;
  // training
  int cp = 1, etp = 1, vp = 1;
  int sequence = 0, global_batch = 0, micro_batch = 0;
  int shard_group = 0;  ///< hsdp
  Format precision = Format::bf16;
  Sharding sharding = Sharding::none;
  Recompute recompute = Recompute::none;
  ModelShape shape;  ///< only of Megatron
  friend bool operator==(const LaunchPlan&, const LaunchPlan&) = default;

  [[nodiscard]] int nodes() const { return (gpus + gpus_per_node - 1) / gpus_per_node; }
};

/// From answers of the engines, with every choice made. Refuses a plan that cannot run, and a model whose layers the
/// runner's command line cannot say (Megatron: other than attention with or without experts).
Result<LaunchPlan> launch_plan(const InferenceAnswer& answer, const Knowledge& knowledge, LaunchTarget runner);
Result<LaunchPlan> launch_plan(const TrainingAnswer& answer, const Knowledge& knowledge, LaunchTarget runner);

struct LaunchFile {
  std::string name;  ///< "job.sbatch"
  std::string text;
};

struct LaunchOptions {
  std::string image = "ridgeline/engine:latest";  ///< container of Kubernetes jobs
  std::string partition = "gpu";
  int cpus_per_node = 96;
  double host_memory = 0;  ///< bytes of a node, 0 = unknown
  bool amd = false;        ///< device files and resource names of AMD
};

/// The file to start first, then those that go with it. Refuses (refused) what the target or the runner cannot express.
Result<std::vector<LaunchFile>> emit(const LaunchPlan& plan, LaunchTarget target, const LaunchOptions& options = {});

/// A launch file read back.
struct LaunchCheck {
  LaunchPlan plan;
  LaunchTarget target = LaunchTarget::vllm;
  std::vector<std::string> other;     ///< flags that say nothing about the plan
  std::vector<std::string> problems;  ///< where the file contradicts itself
};

/// Refuses (bad_input, at file:line): a file that starts none of the runners, a flag without its value, a value that is
/// no number.
Result<LaunchCheck> read_launch(std::string_view text, std::string_view file);

/// "tp: 2 in the file, 4 in the plan", one for each difference; empty if they are the same.
[[nodiscard]] std::vector<std::string> differences(const LaunchPlan& file, const LaunchPlan& plan);

}  // namespace ridge
