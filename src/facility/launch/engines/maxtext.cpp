// MaxText: one process for each host, its mesh given axis by axis.
#include <fmt/format.h>

#include <algorithm>

#include "facility/launch/write.hpp"

namespace ridge::launch {

namespace {

/// How many ranks of an axis lie within the fast domain, and how many domains it spans.
struct Axis {
  std::string_view name;
  int inside = 1, across = 1;
};

/// Axes fill the fast domain in this order: what talks most comes first. Refuses one that would lie across its edge.
Result<std::vector<Axis>> mesh_of(const LaunchPlan& p, int domain) {
  const bool whole = p.sharding == Sharding::zero3;
  const int shard = (whole ? p.dp : p.sharding == Sharding::hsdp ? p.shard_group : 1);
  if (shard < 1 || p.dp % shard != 0) {
    return cannot(fmt::format("shard groups of {} do not divide {} data-parallel ranks", p.shard_group, p.dp));
  }
  // Experts have an axis of their own, taken out of those that shard or copy the rest.
  const int of_shards = std::min(p.ep, shard), of_copies = p.ep / std::max(1, of_shards);
  if (p.ep > 1 && (shard % of_shards != 0 || (p.dp / shard) % of_copies != 0 || of_shards * of_copies != p.ep)) {
    return cannot(
        fmt::format("experts over {} ranks do not go into {} data-parallel ones: take a divisor", p.ep, p.dp));
  }
  const std::pair<std::string_view, int> axes[] = {{"tensor_parallelism", p.tp},
                                                   {"context_parallelism", p.cp},
                                                   {"expert_parallelism", p.ep},
                                                   {"fsdp_parallelism", shard / of_shards},
                                                   {"data_parallelism", p.dp / shard / of_copies}};
  std::vector<Axis> out;
  int room = domain;
  for (const auto& [axis, degree] : axes) {
    Axis one{axis, std::min(degree, room), 1};
    if (degree % one.inside != 0 || room % one.inside != 0) {
      return cannot(fmt::format("{} {} does not lie evenly on nodes of {}: take a power of two", axis, degree, domain));
    }
    one.across = degree / one.inside;
    room /= one.inside;
    out.push_back(one);
  }
  return out;
}

Result<std::string> quantization_of(const LaunchPlan& p) {
  if (p.precision == Format::bf16) return std::string();
  if (p.precision == Format::int8 && !p.hardware.maxtext_int8.empty()) return p.hardware.maxtext_int8;
  if (p.precision == Format::fp8) return p.hardware.maxtext_fp8.empty() ? std::string("fp8") : p.hardware.maxtext_fp8;
  return cannot(fmt::format("MaxText does not train in {}: say bf16 or fp8", name(p.precision)));
}

Status maxtext_speaks(const LaunchPlan& p) {
  if (p.flavor.empty()) {
    return cannot(fmt::format("MaxText has no {}; it has Llama, Qwen, Gemma, Mixtral, DeepSeek and gpt-oss", p.model));
  }
  if (p.pp > 1) return cannot("MaxText's stages run another schedule than the plan's: say ⟦pp=1⟧ and ⟦sharding=zero3⟧");
  if (p.etp > 1 && p.etp != p.tp) return cannot("MaxText splits experts as it splits the rest: say ⟦etp=1⟧");
  if (p.sharding == Sharding::zero2)
    return cannot("MaxText shards everything, the optimizer alone or nothing: say ⟦sharding=zero3⟧, zero1 or none");
  const int micro = p.micro_batch * p.dp;
  if (micro < 1 || p.global_batch % micro != 0)
    return cannot(fmt::format("a global batch of {} is no multiple of micro-batch × dp = {}", p.global_batch, micro));
  return {};
}

}  // namespace

Result<Process> maxtext_job(const LaunchPlan& p) {
  if (const Status s = maxtext_speaks(p); !s) return s.error();
  // A slice of TPUs is one domain however many hosts it has; of GPUs it is the node.
  const Result<std::vector<Axis>> mesh = mesh_of(p, p.hardware.slices ? p.gpus : std::min(p.gpus, p.gpus_per_node));
  if (!mesh) return mesh.error();
  const Result<std::string> quantization = quantization_of(p);
  if (!quantization) return quantization.error();
  Command c("python3 -m maxtext.trainers.pre_train.train");
  c.engine();
  c.key("run_name", job_name(p)).shell_key("base_output_directory", "\"$CHECKPOINTS\"").key("model_name", p.flavor);
  c.key("hardware", p.hardware.maxtext_hardware.empty() ? "gpu" : p.hardware.maxtext_hardware);
  c.key("per_device_batch_size", fmt::format("{}", 1.0 * p.micro_batch * p.dp / p.gpus));
  c.key("gradient_accumulation_steps", p.global_batch / (p.micro_batch * p.dp));
  c.key("max_target_length", p.sequence);
  for (const Axis& axis : *mesh) {
    c.key(fmt::format("ici_{}", axis.name), axis.inside).key(fmt::format("dcn_{}", axis.name), axis.across);
  }
  if (p.sharding == Sharding::zero1) c.key("shard_optimizer_over_data", "true");
  if (p.cp > 1) {
    c.key("context_parallel_strategy", p.context == ContextParallel::ulysses      ? "ulysses"
                                       : p.context == ContextParallel::all_gather ? "all_gather"
                                                                                  : "ring");
  }
  if (!quantization->empty()) c.key("quantization", *quantization);
  // "minimal" keeps the products and makes attention again, with context it keeps that too.
  c.key("remat_policy", p.recompute == Recompute::full        ? "full"
                        : p.recompute == Recompute::selective ? "minimal"
                                                              : "minimal_with_context");
  if (!p.checkpoint.empty()) c.key("tokenizer_type", "huggingface").key("tokenizer_path", p.checkpoint);
  c.key("dataset_type", "grain").shell_key("grain_train_files", "\"$DATA_PATH\"");
  c.key("steps", 100000).key("checkpoint_period", 500).raw("\"$@\"");
  std::string before =
      ": \"${DATA_PATH:?set DATA_PATH to the files of the data set, as Grain takes them}\"\n"
      ": \"${CHECKPOINTS:?set CHECKPOINTS to a shared folder}\"\n";
  if (!p.hardware.slices && p.nodes() > 1) {
    before += "export JAX_COORDINATOR_IP=$MASTER_ADDR JAX_COORDINATOR_PORT=29500 NNODES=$NODES NODE_RANK\n";
  }
  return Process{.command = std::move(c), .before = std::move(before)};
}

}  // namespace ridge::launch
