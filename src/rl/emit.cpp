// Configurations of verl, NeMo-RL and OpenRLHF from an answer.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ridge/rl/rl.hpp"

namespace ridge {

namespace {

Error rl_cannot(std::string message) {
  return {ErrorCode::refused, "⟦for⟧", std::move(message)};
}

/// Whole nodes, or one node of fewer devices.
struct PoolNodes {
  int nodes = 1, per_node = 1;
};
Result<PoolNodes> pool_nodes(int gpus, int per_node, const char* what) {
  if (gpus <= per_node) return PoolNodes{1, gpus};
  if (gpus % per_node != 0) {
    return rl_cannot(fmt::format("{} devices that {} are no whole nodes of {}: take {} or {}", gpus, what, per_node,
                                 gpus / per_node * per_node, (gpus / per_node + 1) * per_node));
  }
  return PoolNodes{gpus / per_node, per_node};
}

/// A shell command, one argument a line.
class ShellCommand {
 public:
  explicit ShellCommand(std::string head) : text_(std::move(head)) {}
  template <class... Args>
  void add(fmt::format_string<Args...> text, Args&&... args) {
    text_ += " \\\n    " + fmt::format(text, std::forward<Args>(args)...);
  }
  [[nodiscard]] std::string text() const { return text_ + " \\\n    \"$@\"\n"; }

 private:
  std::string text_;
};

std::string rl_script(const std::string& needs, const ShellCommand& command) {
  return "#!/usr/bin/env bash\nset -euo pipefail\n" + needs + command.text();
}

const char* on_off(bool on) {
  return on ? "True" : "False";
}

int whole(double value) {
  return static_cast<int>(std::lround(value));
}

bool drawn_apart(const RlAnswer& a) {
  return a.query.placement != RlPlacement::colocated;
}

Result<std::vector<RlFile>> verl_files(const RlAnswer& a, const std::string& checkpoint, int per_node) {
  const RlQuery& q = a.query;
  if (q.algorithm == RlAlgorithm::online_dpo) return rl_cannot("verl's trainer has no online DPO: say ⟦for=openrlhf⟧");
  if (q.critic_gpus > 0) return rl_cannot("verl puts the critic on the trainers' devices: leave out ⟦critic_gpus⟧");
  const TrainingPlan& p = q.training.plan;
  const bool megatron = a.training.engine != "fsdp" && a.training.engine != "deepspeed";
  const bool flows = q.placement == RlPlacement::asynchronous;
  const char* module = flows            ? "verl.experimental.fully_async_policy.fully_async_main"
                       : drawn_apart(a) ? "recipe.one_step_off_policy.main_ppo"
                                        : "verl.trainer.main_ppo";
  ShellCommand c(fmt::format("python3 -m {}", module));
  if (megatron) c.add("--config-name={}", flows ? "fully_async_ppo_megatron_trainer" : "ppo_megatron_trainer");
  c.add("algorithm.adv_estimator={}", q.algorithm == RlAlgorithm::ppo ? "gae" : "grpo");
  c.add("algorithm.use_kl_in_reward=False");
  c.add("data.train_files=\"$TRAIN_FILES\" data.val_files=\"$VAL_FILES\"");
  c.add("data.train_batch_size={}", flows ? 0 : whole(q.prompts));
  if (flows) c.add("data.gen_batch_size=1");
  c.add("data.max_prompt_length={} data.max_response_length={}", whole(q.prompt_tokens * 2), whole(q.answers.most));
  c.add("actor_rollout_ref.model.path={}", checkpoint);
  if (q.lora_rank > 0) c.add("actor_rollout_ref.model.lora_rank={}", q.lora_rank);
  const std::string actor = "actor_rollout_ref.actor";
  c.add("{}.strategy={}", actor, megatron ? "megatron" : "fsdp2");
  c.add("{}.ppo_mini_batch_size={} {}.ppo_epochs={}", actor, whole(q.mini_batch), actor, q.epochs);
  c.add("{}.use_kl_loss={}", actor, on_off(q.reference.value_or(true)));
  if (q.algorithm == RlAlgorithm::dapo) c.add("{}.clip_ratio_low=0.2 {}.clip_ratio_high=0.28", actor, actor);
  c.add("{}.use_dynamic_bsz={}", actor, on_off(q.packing));
  // A row of packed tokens has to hold the longest sequence, which ranks around it share; verl ends the run otherwise.
  const int longest = whole(q.prompt_tokens * 2) + whole(q.answers.most);
  const int row = std::max(p.sequence * p.micro_batch, (longest + p.cp - 1) / p.cp);
  if (q.packing) {
    c.add("{}.ppo_max_token_len_per_gpu={}", actor, row);
    c.add("actor_rollout_ref.rollout.log_prob_use_dynamic_bsz=True {}={}",
          "actor_rollout_ref.rollout.log_prob_max_token_len_per_gpu", row);
  } else {
    c.add("{}.ppo_micro_batch_size_per_gpu={}", actor, std::max(1, p.micro_batch));
    c.add("actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu={}", std::max(1, p.micro_batch));
  }
  if (!drawn_apart(a)) {  // what the step counts as swaps
    const std::string part = actor + (megatron ? ".megatron" : ".fsdp_config");
    c.add("{}.param_offload=True {}.optimizer_offload=True", part, part);
  }
  for (const std::string& part : {actor, std::string("actor_rollout_ref.ref")}) {
    if (!megatron) break;
    c.add("{}.megatron.tensor_model_parallel_size={} {}.megatron.pipeline_model_parallel_size={}", part, p.tp, part,
          p.pp);
    c.add("{}.megatron.context_parallel_size={} {}.megatron.expert_model_parallel_size={}", part, p.cp, part, p.ep);
  }
  const std::string rollout = "actor_rollout_ref.rollout";
  c.add("{}.name={} {}.n={}", rollout, a.generation.engine == "sglang" ? "sglang" : "vllm", rollout, whole(q.samples));
  c.add("{}.tensor_model_parallel_size={}", rollout, a.generation.tp);
  if (a.generation.pp > 1) c.add("{}.pipeline_model_parallel_size={}", rollout, a.generation.pp);
  if (a.generation.dp > 1) c.add("{}.data_parallel_size={}", rollout, a.generation.dp);
  if (a.generation.ep > 1) c.add("{}.expert_parallel_size={}", rollout, a.generation.ep);
  if (a.generation.weights == Format::fp8) c.add("{}.quantization=fp8", rollout);
  c.add("{}.gpu_memory_utilization={:.2f}", rollout,
        q.generation.memory_utilization > 0 ? q.generation.memory_utilization : 0.85);
  if (q.generation.max_sequences > 0) c.add("{}.max_num_seqs={}", rollout, whole(q.generation.max_sequences));
  const Result<PoolNodes> trainers = pool_nodes(a.trainers, per_node, "train");
  if (!trainers) return trainers.error();
  c.add("trainer.nnodes={} trainer.n_gpus_per_node={}", trainers->nodes, trainers->per_node);
  if (drawn_apart(a)) {
    const Result<PoolNodes> drawing = pool_nodes(a.generators, per_node, "draw");
    if (!drawing) return drawing.error();
    c.add("rollout.nnodes={} rollout.n_gpus_per_node={}", drawing->nodes, drawing->per_node);
    c.add("actor_rollout_ref.hybrid_engine=False");
  }
  if (flows) {
    const int updates = std::max(1, whole(q.prompts / q.mini_batch));
    c.add("async_training.staleness_threshold={} async_training.partial_rollout={}", q.staleness, on_off(q.partial));
    c.add("async_training.require_batches=1 async_training.trigger_parameter_sync_step={}", updates);
    c.add("async_training.use_rollout_log_probs={}", on_off(!q.old_log_probs));
  }
  if (q.steps > 0) c.add("trainer.total_training_steps={}", whole(q.steps));
  return std::vector<RlFile>{{"verl.sh", rl_script(": \"${TRAIN_FILES:?parquet files to train on}\" "
                                                   "\"${VAL_FILES:?parquet files to validate with}\"\n",
                                                   c)}};
}

Result<std::vector<RlFile>> nemo_files(const RlAnswer& a, const std::string& checkpoint, int per_node) {
  const RlQuery& q = a.query;
  if (q.algorithm != RlAlgorithm::grpo && q.algorithm != RlAlgorithm::dapo) {
    return rl_cannot(fmt::format("NeMo-RL's run_grpo has no {}: say ⟦for={}⟧", name(q.algorithm),
                                 q.algorithm == RlAlgorithm::ppo ? "verl" : "openrlhf"));
  }
  const TrainingPlan& p = q.training.plan;
  const bool megatron = a.training.engine != "fsdp" && a.training.engine != "deepspeed";
  const Result<PoolNodes> all = pool_nodes(q.gpus, per_node, "there are");
  if (!all) return all.error();
  const int length = whole(q.prompt_tokens * 2 + q.answers.most);
  std::string y = "defaults: grpo_math_1B.yaml\n";
  y += fmt::format("grpo:\n  num_prompts_per_step: {}\n  num_generations_per_prompt: {}\n", whole(q.prompts),
                   whole(q.samples));
  if (q.steps > 0) y += fmt::format("  max_num_steps: {}\n", whole(q.steps));
  if (q.algorithm == RlAlgorithm::dapo && q.oversample > 1) {
    y += fmt::format("  use_dynamic_sampling: true\n  batch_multiplier: {}\n", q.oversample);
  }
  if (drawn_apart(a)) {
    const int age = std::max(1, whole(q.placement == RlPlacement::one_step_off ? 1 : std::ceil(q.staleness)));
    y += fmt::format(
        "  async_grpo:\n    enabled: true\n    max_trajectory_age_steps: {}\n    in_flight_weight_updates: {}\n", age,
        q.partial ? "true" : "false");
  }
  y += fmt::format("loss_fn:\n  reference_policy_kl_penalty: {}\n", q.reference.value_or(true) ? "0.01" : "0.0");
  if (drawn_apart(a)) y += "  use_importance_sampling_correction: true\n";
  y += fmt::format(
      "policy:\n  model_name: {}\n  train_global_batch_size: {}\n  train_micro_batch_size: 1\n  "
      "max_total_sequence_length: {}\n  precision: bfloat16\n",
      checkpoint, whole(q.mini_batch * q.samples), length);
  y += fmt::format("  sequence_packing:\n    enabled: {}\n", q.packing ? "true" : "false");
  y += fmt::format("  dtensor_cfg:\n    enabled: {}\n", megatron ? "false" : "true");
  if (!megatron) y += fmt::format("    tensor_parallel_size: {}\n    context_parallel_size: {}\n", p.tp, p.cp);
  y += fmt::format("  megatron_cfg:\n    enabled: {}\n", megatron ? "true" : "false");
  if (megatron) {
    y += fmt::format(
        "    tensor_model_parallel_size: {}\n    pipeline_model_parallel_size: {}\n    context_parallel_size: {}\n    "
        "expert_model_parallel_size: {}\n",
        p.tp, p.pp, p.cp, p.ep);
  }
  y += fmt::format(
      "  generation:\n    backend: vllm\n    max_new_tokens: {}\n    vllm_cfg:\n      tensor_parallel_size: {}\n      "
      "pipeline_parallel_size: {}\n      gpu_memory_utilization: {:.2f}\n      max_model_len: {}\n      precision: "
      "{}\n",
      whole(q.answers.most), a.generation.tp, a.generation.pp,
      q.generation.memory_utilization > 0 ? q.generation.memory_utilization : 0.85, length,
      a.generation.weights == Format::fp8 ? "fp8" : "bfloat16");
  if (drawn_apart(a)) {
    const Result<PoolNodes> drawing = pool_nodes(a.generators, per_node, "draw");
    if (!drawing) return drawing.error();
    y += fmt::format(
        "      async_engine: true\n    colocated:\n      enabled: false\n      resources:\n        gpus_per_node: {}\n "
        "  "
        "     num_nodes: {}\n",
        drawing->per_node, all->nodes > 1 ? fmt::format("{}", drawing->nodes) : "null");
  } else {
    y += "    colocated:\n      enabled: true\n";
  }
  y += fmt::format("cluster:\n  gpus_per_node: {}\n  num_nodes: {}\n", all->per_node, all->nodes);
  ShellCommand c("uv run examples/run_grpo.py");
  c.add("--config nemo-rl.yaml");
  return std::vector<RlFile>{{"nemo-rl.yaml", y}, {"nemo-rl.sh", rl_script("", c)}};
}

Result<std::vector<RlFile>> openrlhf_files(const RlAnswer& a, const std::string& checkpoint, int per_node) {
  const RlQuery& q = a.query;
  const TrainingPlan& p = q.training.plan;
  if (p.pp > 1 || p.ep > 1 || p.cp > 1) {
    return rl_cannot(
        fmt::format("OpenRLHF trains with ZeRO, not with PP {}, CP {}, EP {}: say ⟦engine=deepspeed⟧ "
                    "⟦sharding=zero3⟧ ⟦tp=1⟧ ⟦pp=1⟧ ⟦ep=1⟧, or ⟦for=verl⟧",
                    p.pp, p.cp, p.ep));
  }
  if (a.generation.pp > 1 || a.generation.dp > 1) {
    return rl_cannot(
        fmt::format("OpenRLHF's engines are tensor parallel alone, not PP {}, DP {}: say ⟦gen_pp=1⟧ with a "
                    "wider ⟦gen_tp⟧, or ⟦for=verl⟧",
                    a.generation.pp, a.generation.dp));
  }
  const Result<PoolNodes> trainers = pool_nodes(a.trainers, per_node, "train");
  if (!trainers) return trainers.error();
  ShellCommand c("python3 -m openrlhf.cli.train_ppo_ray");
  c.add("--pretrain {}", checkpoint);
  c.add("--actor_num_nodes {} --actor_num_gpus_per_node {}", trainers->nodes, trainers->per_node);
  if (q.reference.value_or(true)) {
    c.add("--ref_num_nodes {} --ref_num_gpus_per_node {}", trainers->nodes, trainers->per_node);
    c.add("--init_kl_coef 0.001 --use_kl_loss --kl_estimator k3");
  } else {
    c.add("--init_kl_coef 0");
  }
  if (q.algorithm == RlAlgorithm::ppo) {
    const Result<PoolNodes> critic = pool_nodes(q.critic_gpus > 0 ? q.critic_gpus : a.trainers, per_node, "judge");
    if (!critic) return critic.error();
    c.add("--advantage_estimator gae --critic_num_nodes {} --critic_num_gpus_per_node {}", critic->nodes,
          critic->per_node);
  } else {
    c.add("--advantage_estimator group_norm");
  }
  if (!q.reward_model.empty()) {
    c.add("--reward_pretrain \"$REWARD_MODEL\"");
  } else {
    c.add("--remote_rm_url \"$REWARD_URL\"");
  }
  c.add("--vllm_num_engines {} --vllm_tensor_parallel_size {}", a.engines, a.generation.tp);
  c.add("--vllm_gpu_memory_utilization {:.2f}",
        q.generation.memory_utilization > 0 ? q.generation.memory_utilization : 0.85);
  c.add("--enable_prefix_caching --vllm_sync_backend nccl");
  if (drawn_apart(a)) {
    c.add("--async_train{}", q.partial ? " --partial_rollout" : "");
  } else {
    c.add("--colocate_all_models --vllm_enable_sleep --deepspeed_enable_sleep");
  }
  c.add("--rollout_batch_size {} --n_samples_per_prompt {}", whole(q.prompts), whole(q.samples));
  c.add("--train_batch_size {} --micro_train_batch_size 1 --max_epochs {}", whole(q.mini_batch * q.samples), q.epochs);
  c.add("--prompt_max_len {} --generate_max_len {}", whole(q.prompt_tokens * 2), whole(q.answers.most));
  c.add("--zero_stage 3 --bf16 --gradient_checkpointing{}", q.packing ? " --packing_samples" : "");
  if (p.tp > 1) c.add("--ds_tensor_parallel_size {}", p.tp);
  if (p.offload_optimizer) c.add("--adam_offload");
  if (q.lora_rank > 0) c.add("--lora_rank {}", q.lora_rank);
  c.add("--prompt_data \"$PROMPT_DATA\"");
  const std::string judge = q.reward_model.empty() ? "\"${REWARD_URL:?where answers are judged, or a Python file}\""
                                                   : "\"${REWARD_MODEL:?repository or path}\"";
  return std::vector<RlFile>{
      {"openrlhf.sh", rl_script(": \"${PROMPT_DATA:?prompts to train on}\" " + judge + "\n", c)}};
}

}  // namespace

std::string_view name(RlFramework framework) {
  constexpr std::string_view kNames[] = {"verl", "nemo-rl", "openrlhf"};
  return kNames[static_cast<std::size_t>(framework)];
}

std::optional<RlFramework> parse_rl_framework(std::string_view text) {
  for (const RlFramework f : {RlFramework::verl, RlFramework::nemo_rl, RlFramework::openrlhf}) {
    if (name(f) == text) return f;
  }
  return std::nullopt;
}

Result<std::vector<RlFile>> emit_rl(const RlAnswer& answer, RlFramework framework, const std::string& checkpoint,
                                    int per_node) {
  if (answer.refusal) return rl_cannot("the plan cannot run: " + answer.refusal->why);
  switch (framework) {
    case RlFramework::verl:
      return verl_files(answer, checkpoint, per_node);
    case RlFramework::nemo_rl:
      return nemo_files(answer, checkpoint, per_node);
    case RlFramework::openrlhf:
      break;
  }
  return openrlhf_files(answer, checkpoint, per_node);
}

}  // namespace ridge
