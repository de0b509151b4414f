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
  return on ? "true" : "false";
}

int whole(double value) {
  return static_cast<int>(std::lround(value));
}

/// Whoever trains with ZeRO or FSDP, not with Megatron.
bool shards(const RlAnswer& a) {
  return a.training.engine == "fsdp" || a.training.engine == "deepspeed";
}

double memory_share(const RlQuery& q) {
  constexpr double kUsualShare = 0.85;
  return q.generation.memory_utilization > 0 ? q.generation.memory_utilization : kUsualShare;
}

bool drawn_apart(const RlAnswer& a) {
  return a.query.placement != RlPlacement::colocated;
}

/// What trainers keep of a pass, said in Megatron's words.
const char* recompute_word(const RlAnswer& a) {
  return a.recompute == Recompute::full ? "full" : a.recompute == Recompute::selective ? "selective" : nullptr;
}

/// The plan draws more answers than it trains on, and leaves out those that are all alike.
bool filters(const RlQuery& q) {
  return q.oversample > 1;
}

bool trains_narrow(const RlQuery& q) {
  return q.training.precision && bytes_per_element(*q.training.precision) < 2;
}

/// What no framework but verl can be told, or none at all.
Status check_words(const RlAnswer& a, RlFramework framework) {
  const RlQuery& q = a.query;
  const std::string_view who = framework == RlFramework::verl      ? "verl"
                               : framework == RlFramework::nemo_rl ? "NeMo-RL"
                                                                   : "OpenRLHF";
  const bool verl = framework == RlFramework::verl;
  const std::string& engine = a.generation.engine;
  const bool other = engine == "sglang" || engine == "trtllm";
  if (engine != "vllm" && !(verl && other)) {
    return rl_cannot(
        fmt::format("{} does not draw with {}: say ⟦gen_engine=vllm⟧{}", who, engine, other ? ", or ⟦for=verl⟧" : ""));
  }
  if (trains_narrow(q) && !(framework == RlFramework::nemo_rl && !shards(a))) {
    return rl_cannot(fmt::format("{} trains in 16 bits{}: leave out ⟦precision⟧, or ⟦for=nemo-rl⟧", who,
                                 framework == RlFramework::nemo_rl ? " without Megatron" : ""));
  }
  if (verl && filters(q)) {
    return rl_cannot("verl's main trainer draws what it trains on: leave out ⟦oversample⟧, or ⟦for=nemo-rl⟧");
  }
  if (verl) return {};
  if (!q.old_log_probs) {
    return rl_cannot(
        fmt::format("{} computes the log-probabilities again: leave out ⟦engine_log_probs⟧, or ⟦for=verl⟧", who));
  }
  if (framework == RlFramework::openrlhf) {
    if (q.generation.max_sequences > 0) {
      return rl_cannot("OpenRLHF cannot bound what an engine runs at once: leave out ⟦max_num_seqs⟧, or ⟦for=verl⟧");
    }
    return {};
  }
  if (q.epochs > 1) return rl_cannot("NeMo-RL trains once on a batch: leave out ⟦epochs⟧, or ⟦for=verl⟧");
  if (!q.reward_model.empty()) {
    return rl_cannot("NeMo-RL's configuration of mathematics judges by rules: leave out ⟦reward_model⟧, or ⟦for=verl⟧");
  }
  return {};
}

Result<std::vector<RlFile>> verl_files(const RlAnswer& a, const std::string& checkpoint, int per_node) {
  const RlQuery& q = a.query;
  if (q.critic_gpus > 0) return rl_cannot("verl puts the critic on the trainers' devices: leave out ⟦critic_gpus⟧");
  const TrainingPlan& p = q.training.plan;
  const bool megatron = !shards(a);
  if (!megatron && (p.tp > 1 || p.pp > 1 || p.ep > 1)) {
    return rl_cannot(
        fmt::format("verl's FSDP has no TP {}, PP {}, EP {}: say ⟦tp=1⟧ ⟦pp=1⟧ ⟦ep=1⟧, or "
                    "⟦engine=megatron⟧",
                    p.tp, p.pp, p.ep));
  }
  const bool flows = q.placement == RlPlacement::asynchronous;
  const std::string part = flows ? "fully_async" : "one_step_off";
  ShellCommand c(!drawn_apart(a) ? std::string("python3 -m verl.trainer.main_ppo")
                                 : fmt::format("python3 -m verl.experimental.{}_policy.{}", part,
                                               flows ? "fully_async_main" : "main_ppo"));
  if (megatron) {
    c.add("--config-name={}ppo_megatron_trainer", drawn_apart(a) ? part + "_" : std::string());
  }
  c.add("algorithm.adv_estimator={}", q.algorithm == RlAlgorithm::ppo ? "gae" : "grpo");
  c.add("algorithm.use_kl_in_reward=false");
  c.add("data.train_files=\"$TRAIN_FILES\" data.val_files=\"$VAL_FILES\"");
  c.add("data.train_batch_size={}", flows ? 0 : whole(q.prompts));
  if (flows) c.add("data.gen_batch_size=1");
  c.add("data.max_prompt_length={} data.max_response_length={}", whole(q.prompt_tokens * 2), whole(q.answers.most));
  c.add("actor_rollout_ref.model.path={}", checkpoint);
  if (q.lora_rank > 0) c.add("actor_rollout_ref.model.{}={}", megatron ? "lora.rank" : "lora_rank", q.lora_rank);
  const std::string actor = "actor_rollout_ref.actor";
  // Its workers are chosen by the strategy of the critic too, also where there is none.
  c.add("{}.strategy={} critic.strategy={}", actor, megatron ? "megatron" : "fsdp2", megatron ? "megatron" : "fsdp2");
  if (!megatron && p.cp > 1) c.add("{}.ulysses_sequence_parallel_size={}", actor, p.cp);
  c.add("{}.ppo_mini_batch_size={} {}.ppo_epochs={}", actor, whole(q.mini_batch), actor, q.epochs);
  c.add("{}.use_kl_loss={}", actor, on_off(q.reference.value_or(true)));
  if (q.algorithm == RlAlgorithm::dapo) c.add("{}.clip_ratio_low=0.2 {}.clip_ratio_high=0.28", actor, actor);
  c.add("{}.use_dynamic_bsz={}", actor, on_off(q.packing));
  // A row of packed tokens has to hold the longest sequence, which ranks around it share; verl ends the run otherwise.
  const int longest = whole(q.prompt_tokens * 2) + whole(q.answers.most);
  const int row = std::max(p.sequence * p.micro_batch, (longest + p.cp - 1) / p.cp);
  if (q.packing) {
    c.add("{}.ppo_max_token_len_per_gpu={}", actor, row);
    c.add("actor_rollout_ref.rollout.log_prob_use_dynamic_bsz=true {}={}",
          "actor_rollout_ref.rollout.log_prob_max_token_len_per_gpu", row);
  } else {
    c.add("{}.ppo_micro_batch_size_per_gpu={}", actor, std::max(1, p.micro_batch));
    for (const char* part_of : {"rollout", "ref"}) {
      c.add("actor_rollout_ref.{}.log_prob_micro_batch_size_per_gpu={}", part_of, std::max(1, p.micro_batch));
    }
  }
  if (q.algorithm == RlAlgorithm::ppo) {
    c.add("critic.model.path={}", q.critic.empty() || q.critic == q.model ? checkpoint : "\"$CRITIC_MODEL\"");
    if (!q.packing) c.add("critic.ppo_micro_batch_size_per_gpu={}", std::max(1, p.micro_batch));
  }
  if (!q.reward_model.empty()) {
    c.add("reward_model.enable=true reward_model.model.path=\"$REWARD_MODEL\"");
    c.add("reward_model.rollout.name=vllm");
  }
  const std::string states = actor + (megatron ? ".megatron" : ".fsdp_config");
  if (!drawn_apart(a)) {  // what the step counts as swaps
    c.add("{}.param_offload=true {}.optimizer_offload=true", states, states);
  } else if (p.offload_optimizer) {
    c.add("{}.optimizer_offload=true", states);
  }
  if (const char* recompute = recompute_word(a); megatron && recompute != nullptr) {
    const std::string layers = actor + ".megatron.override_transformer_config.";
    c.add("{}recompute_granularity={}", layers, recompute);
    if (a.recompute == Recompute::full) {
      c.add("{}recompute_method=uniform {}recompute_num_layers=1", layers, layers);
    }
  } else if (!megatron) {
    c.add("actor_rollout_ref.model.enable_gradient_checkpointing={}", on_off(recompute != nullptr));
  }
  std::vector<std::string> cut = {actor, "actor_rollout_ref.ref"};
  if (q.algorithm == RlAlgorithm::ppo) cut.emplace_back("critic");
  for (const std::string& of : cut) {
    if (!megatron) break;
    c.add("{}.megatron.tensor_model_parallel_size={} {}.megatron.pipeline_model_parallel_size={}", of, p.tp, of, p.pp);
    c.add("{}.megatron.context_parallel_size={} {}.megatron.expert_model_parallel_size={}", of, p.cp, of, p.ep);
    // Where nothing is said experts are cut as wide as the layers, and ranks do not suffice for both.
    if (p.ep > 1 || p.etp > 1) c.add("{}.megatron.expert_tensor_parallel_size={}", of, std::max(1, p.etp));
  }
  const std::string rollout = "actor_rollout_ref.rollout";
  c.add("{}.name={} {}.n={}", rollout, a.generation.engine, rollout, whole(q.samples));
  c.add("{}.tensor_model_parallel_size={}", rollout, a.generation.tp);
  if (a.generation.pp > 1) c.add("{}.pipeline_model_parallel_size={}", rollout, a.generation.pp);
  if (a.generation.dp > 1) c.add("{}.data_parallel_size={}", rollout, a.generation.dp);
  if (a.generation.ep > 1) c.add("{}.expert_parallel_size={}", rollout, a.generation.ep);
  if (a.generation.weights == Format::fp8) c.add("{}.quantization=fp8", rollout);
  c.add("{}.gpu_memory_utilization={:.2f}", rollout, memory_share(q));
  if (q.generation.max_sequences > 0) c.add("{}.max_num_seqs={}", rollout, whole(q.generation.max_sequences));
  const Result<PoolNodes> trainers = pool_nodes(a.trainers, per_node, "train");
  if (!trainers) return trainers.error();
  c.add("trainer.nnodes={} trainer.n_gpus_per_node={}", trainers->nodes, trainers->per_node);
  if (drawn_apart(a)) {
    const Result<PoolNodes> drawing = pool_nodes(a.generators, per_node, "draw");
    if (!drawing) return drawing.error();
    c.add("rollout.nnodes={} rollout.n_gpus_per_node={}", drawing->nodes, drawing->per_node);
    c.add("actor_rollout_ref.hybrid_engine=false");
  }
  if (flows) {
    const int updates = std::max(1, whole(q.prompts / q.mini_batch));
    c.add("async_training.staleness_threshold={} async_training.partial_rollout={}", q.staleness, on_off(q.partial));
    c.add("async_training.require_batches=1 async_training.trigger_parameter_sync_step={}", updates);
    c.add("async_training.use_rollout_log_probs={} {}.calculate_log_probs=true", on_off(!q.old_log_probs), rollout);
    // It would end after 100 prompts; null is all of the data.
    c.add("rollout.total_rollout_steps={}", q.steps > 0 ? fmt::format("{:.0f}", q.steps * q.prompts) : "null");
  } else {
    if (!q.old_log_probs) {
      c.add("algorithm.rollout_correction.bypass_mode=true {}.calculate_log_probs=true", rollout);
    }
    if (q.steps > 0) c.add("trainer.total_training_steps={}", whole(q.steps));
  }
  std::string needs =
      ": \"${TRAIN_FILES:?parquet files to train on}\" \"${VAL_FILES:?parquet files to validate with}\"";
  if (q.algorithm == RlAlgorithm::ppo && !q.critic.empty() && q.critic != q.model) {
    needs += " \"${CRITIC_MODEL:?repository or path of the critic}\"";
  }
  if (!q.reward_model.empty()) needs += " \"${REWARD_MODEL:?repository or path of what judges answers}\"";
  return std::vector<RlFile>{{"verl.sh", rl_script(needs + "\n", c)}};
}

Result<std::vector<RlFile>> nemo_files(const RlAnswer& a, const std::string& checkpoint, int per_node) {
  const RlQuery& q = a.query;
  if (q.algorithm != RlAlgorithm::grpo && q.algorithm != RlAlgorithm::dapo) {
    return rl_cannot(fmt::format("NeMo-RL's run_grpo has no {}: say ⟦for=verl⟧", name(q.algorithm)));
  }
  const TrainingPlan& p = q.training.plan;
  const bool megatron = !shards(a);
  if (!megatron && (p.pp > 1 || p.ep > 1)) {
    return rl_cannot(
        fmt::format("NeMo-RL's DTensor workers have no PP {}, EP {}: say ⟦pp=1⟧ ⟦ep=1⟧, or "
                    "⟦engine=megatron⟧",
                    p.pp, p.ep));
  }
  if (a.generation.dp > 1) return rl_cannot("NeMo-RL counts engines by itself: say ⟦gen_dp=1⟧");
  const Result<PoolNodes> all = pool_nodes(q.gpus, per_node, "there are");
  if (!all) return all.error();
  const int length = whole(q.prompt_tokens * 2 + q.answers.most);
  // Names of other files are read from the folder of this one: it lies beside examples/.
  std::string y = fmt::format("defaults: examples/configs/grpo_math_1B{}.yaml\n", megatron ? "_megatron" : "");
  y += fmt::format("grpo:\n  num_prompts_per_step: {}\n  num_generations_per_prompt: {}\n", whole(q.prompts),
                   whole(q.samples));
  if (q.steps > 0) y += fmt::format("  max_num_steps: {}\n", whole(q.steps));
  if (filters(q)) {
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
  if (!megatron) {
    y += fmt::format(
        "    tensor_parallel_size: {}\n    context_parallel_size: {}\n    activation_checkpointing: {}\n    "
        "cpu_offload: {}\n",
        p.tp, p.cp, on_off(recompute_word(a) != nullptr), on_off(p.offload_optimizer));
  }
  const std::string adapters = fmt::format("enabled: {}\n      dim: {}\n", q.lora_rank > 0, q.lora_rank);
  if (!megatron && q.lora_rank > 0) y += "    lora_cfg:\n      " + adapters;
  y += fmt::format("  megatron_cfg:\n    enabled: {}\n", megatron ? "true" : "false");
  if (megatron) {
    y += fmt::format(
        "    tensor_model_parallel_size: {}\n    pipeline_model_parallel_size: {}\n    context_parallel_size: {}\n    "
        "expert_model_parallel_size: {}\n    activation_checkpointing: {}\n",
        p.tp, p.pp, p.cp, p.ep, on_off(recompute_word(a) != nullptr));
    if (p.etp > 1) y += fmt::format("    expert_tensor_parallel_size: {}\n", p.etp);
    if (p.offload_optimizer) {
      y += "    optimizer:\n      optimizer_cpu_offload: true\n      optimizer_offload_fraction: 1.0\n";
    }
    if (trains_narrow(q)) {
      y += fmt::format("    fp8_cfg:\n      enabled: true\n      fp8: e4m3\n      fp8_recipe: {}\n",
                       q.training.block_scales ? "blockwise" : "tensorwise");
    }
    if (q.lora_rank > 0) y += "    peft:\n      " + adapters;
  }
  y += fmt::format(
      "  generation:\n    backend: vllm\n    max_new_tokens: {}\n    vllm_cfg:\n      tensor_parallel_size: {}\n      "
      "pipeline_parallel_size: {}\n      expert_parallel_size: {}\n      gpu_memory_utilization: {:.2f}\n      "
      "max_model_len: {}\n      precision: {}\n",
      whole(q.answers.most), a.generation.tp, a.generation.pp, a.generation.ep, memory_share(q), length,
      a.generation.weights == Format::fp8 ? "fp8" : "bfloat16");
  std::string running;
  if (q.generation.max_sequences > 0) {
    running = fmt::format("    vllm_kwargs: {{max_num_seqs: {}}}\n", whole(q.generation.max_sequences));
  }
  if (drawn_apart(a)) {
    const Result<PoolNodes> drawing = pool_nodes(a.generators, per_node, "draw");
    if (!drawing) return drawing.error();
    if (all->nodes > 1 && drawing->per_node != all->per_node) {
      return rl_cannot(
          fmt::format("NeMo-RL draws on whole nodes where there are several, not on {} devices: say "
                      "⟦generators={}⟧",
                      a.generators, all->per_node));
    }
    y += fmt::format(
        "      async_engine: true\n{}    colocated:\n      enabled: false\n      resources:\n        gpus_per_node: "
        "{}\n"
        "        num_nodes: {}\n",
        running, drawing->per_node, all->nodes > 1 ? fmt::format("{}", drawing->nodes) : "null");
  } else {
    y += running + "    colocated:\n      enabled: true\n";
  }
  y += fmt::format("cluster:\n  gpus_per_node: {}\n  num_nodes: {}\n", all->per_node, all->nodes);
  ShellCommand c("uv run examples/run_grpo.py");
  c.add("--config nemo-rl.yaml");
  return std::vector<RlFile>{{"nemo-rl.yaml", y}, {"nemo-rl.sh", rl_script("", c)}};
}

Result<std::vector<RlFile>> openrlhf_files(const RlAnswer& a, const std::string& checkpoint, int per_node) {
  const RlQuery& q = a.query;
  const TrainingPlan& p = q.training.plan;
  if (!shards(a) || p.pp > 1 || p.ep > 1) {
    return rl_cannot(
        fmt::format("OpenRLHF trains with ZeRO, not with {}, PP {}, EP {}: say ⟦engine=deepspeed⟧ "
                    "⟦sharding=zero3⟧ ⟦tp=1⟧ ⟦pp=1⟧ ⟦ep=1⟧, or ⟦for=verl⟧",
                    a.training.engine, p.pp, p.ep));
  }
  if (a.generation.pp > 1 || a.generation.dp > 1) {
    return rl_cannot(
        fmt::format("OpenRLHF's engines are tensor parallel alone, not PP {}, DP {}: say ⟦gen_pp=1⟧ with a "
                    "wider ⟦gen_tp⟧, or ⟦for=verl⟧",
                    a.generation.pp, a.generation.dp));
  }
  if (a.generation.weights == Format::fp8) {
    return rl_cannot("OpenRLHF's engines draw in the format that is trained: leave out ⟦gen_precision⟧, or ⟦for=verl⟧");
  }
  const bool apart = drawn_apart(a);
  if (q.critic_gpus > 0 && !apart) {
    return rl_cannot(
        "OpenRLHF puts all models on the same devices, or the critic apart and engines on devices of "
        "their own: leave out ⟦critic_gpus⟧, or ⟦placement=async⟧");
  }
  const Result<PoolNodes> trainers = pool_nodes(a.trainers, per_node, "train");
  if (!trainers) return trainers.error();
  const auto place = [](std::string_view who, const PoolNodes& on) {
    return fmt::format("--{}.num_nodes {} --{}.num_gpus_per_node {}", who, on.nodes, who, on.per_node);
  };
  ShellCommand c("python3 -m openrlhf.cli.train_ppo_ray");
  c.add("--actor.model_name_or_path {}", checkpoint);
  c.add("{}", place("actor", *trainers));
  if (q.reference.value_or(true)) {
    c.add("{}", place("ref", *trainers));
    c.add("--algo.kl.init_coef 0.001 --algo.kl.use_loss --algo.kl.estimator k3");
  } else {
    c.add("--algo.kl.init_coef 0");
  }
  PoolNodes judging = *trainers;
  if (q.critic_gpus > 0) {
    const Result<PoolNodes> critic = pool_nodes(q.critic_gpus, per_node, "judge");
    if (!critic) return critic.error();
    judging = *critic;
  }
  c.add("--algo.advantage.estimator {}", q.algorithm == RlAlgorithm::ppo ? "gae" : "group_norm");
  if (q.algorithm == RlAlgorithm::ppo) c.add("{}", place("critic", judging));
  if (q.algorithm == RlAlgorithm::dapo) {
    c.add("--actor.eps_clip_low_high 0.2 0.28");
  }
  if (filters(q)) c.add("--algo.dynamic_filtering_enable");
  if (!q.reward_model.empty()) {
    c.add("--reward.model_name_or_path \"$REWARD_MODEL\" {}", place("reward", judging));
  } else {
    c.add("--reward.remote_url \"$REWARD_URL\"");
    if (q.critic_gpus > 0) c.add("{}", place("reward", judging));  // it wants to know beside which critic
  }
  c.add("--vllm.num_engines {} --vllm.tensor_parallel_size {}", a.engines, a.generation.tp);
  c.add("--vllm.gpu_memory_utilization {:.2f}", memory_share(q));
  c.add("--vllm.enable_prefix_caching --vllm.sync_backend nccl");
  // In a flow, "all" are the models that train; engines have devices of their own.
  c.add("{}", q.critic_gpus > 0 ? "--train.colocate_actor_ref --train.colocate_critic_reward" : "--train.colocate_all");
  if (apart) {
    const double ahead = q.placement == RlPlacement::one_step_off ? 1 : std::max(1.0, std::ceil(q.staleness));
    c.add("--train.async_enable --train.async_queue_size {}{}", whole(ahead),
          q.partial ? " --train.partial_rollout_enable" : "");
  } else {
    c.add("--vllm.enable_sleep --ds.enable_sleep");
  }
  c.add("--rollout.batch_size {} --rollout.n_samples_per_prompt {}", whole(q.prompts), whole(q.samples));
  c.add("--train.batch_size {} --train.micro_batch_size {} --train.max_epochs {}", whole(q.mini_batch * q.samples),
        q.packing ? 1 : std::max(1, p.micro_batch), q.epochs);
  if (q.packing) {  // a row takes as many sequences as fit it, and has to hold the longest
    const int longest = whole(q.prompt_tokens * 2 + q.answers.most);
    const int row = std::max(p.sequence * p.micro_batch, longest);
    c.add("--train.dynamic_batch_enable --train.max_tokens_per_gpu {} --rollout.max_tokens_per_gpu {}", row, row);
  }
  c.add("--data.max_len {} --rollout.max_new_tokens {}", whole(q.prompt_tokens * 2 + q.answers.most),
        whole(q.answers.most));
  const int stage = p.sharding == Sharding::zero1 ? 1 : p.sharding == Sharding::zero2 ? 2 : 3;
  c.add("--ds.zero_stage {} --ds.param_dtype bf16{}{}", stage,
        recompute_word(a) == nullptr ? "" : " --actor.gradient_checkpointing_enable",
        q.packing ? " --ds.packing_samples" : "");
  if (p.tp > 1) c.add("--ds.tensor_parallel_size {}", p.tp);
  if (p.cp > 1) c.add("--ds.ring_attn_size {}", p.cp);
  if (p.offload_optimizer) c.add("--ds.adam_offload");
  if (q.lora_rank > 0) c.add("--ds.lora.rank {}", q.lora_rank);
  c.add("--data.prompt_dataset \"$PROMPT_DATA\"");
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
  if (answer.query.algorithm == RlAlgorithm::online_dpo) {
    return rl_cannot("verl, NeMo-RL and OpenRLHF have no online DPO: say ⟦algorithm=grpo⟧");
  }
  if (const Status s = check_words(answer, framework); !s) return s.error();
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
