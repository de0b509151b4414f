// run_recipe.py of Megatron-Bridge: a recipe of the model, with the plan's settings over the recipe's own.
#include <fmt/format.h>

#include <algorithm>

#include "facility/launch/flags.hpp"
#include "facility/launch/write.hpp"

namespace ridge::launch {

namespace {

Result<std::string> mixed_precision(const LaunchPlan& p) {
  switch (p.precision) {
    case Format::bf16:
      return std::string("bf16_mixed");
    case Format::fp16:
      return std::string("fp16_mixed");
    case Format::fp8:
      return std::string(p.block_scales ? "bf16_with_fp8_subchannel_scaling_mixed"
                                        : "bf16_with_fp8_current_scaling_mixed");
    case Format::mxfp8:
      return std::string("bf16_with_mxfp8_mixed");
    case Format::nvfp4:
      return std::string("bf16_with_nvfp4_mixed");
    case Format::fp32:
    case Format::int8:
    case Format::int4:
    case Format::mxfp4:
    case Format::q4_k_m:
    case Format::q4_0:
    case Format::q6_k:
    case Format::q8_0:
      break;
  }
  return cannot(fmt::format("Megatron-Bridge does not train in {}: say bf16, fp8, mxfp8 or nvfp4", name(p.precision)));
}

Status shard(Command& c, const LaunchPlan& p) {
  const bool sharded = p.sharding != Sharding::none && p.sharding != Sharding::unknown;
  const std::string_view on = sharded ? "true" : "false";
  c.key("ddp.use_distributed_optimizer", on).key("optimizer.use_distributed_optimizer", on);
  if (p.sharding == Sharding::zero1 || !sharded) {
    c.key("ddp.use_megatron_fsdp", "false").key("checkpoint.ckpt_format", "torch_dist");
    return {};
  }
  if (p.sharding == Sharding::hsdp) {
    if (p.shard_group < 1 || p.dp % p.shard_group != 0) {
      return cannot(fmt::format("shard groups of {} do not divide {} data-parallel ranks", p.shard_group, p.dp));
    }
    c.key("ddp.num_distributed_optimizer_instances", p.dp / p.shard_group);
  }
  c.key("ddp.use_megatron_fsdp", "true")
      .key("dist.use_megatron_fsdp", "true")
      .key("ddp.data_parallel_sharding_strategy", p.sharding == Sharding::zero2 ? "optim_grads" : "optim_grads_params")
      .key("model.gradient_accumulation_fusion", "false")
      .key("model.init_model_with_meta_device", "true")
      .key("checkpoint.ckpt_format", "fsdp_dtensor");
  return {};
}

}  // namespace

Result<Process> bridge_job(const LaunchPlan& p) {
  if (p.flavor.empty()) {
    return cannot(fmt::format("Megatron-Bridge has no recipe that pretrains {}: emit for megatron", p.model));
  }
  if (p.vp > 1 && p.pp == 1) return cannot("chunks need more than one stage: say ⟦vp=1⟧");
  const int micro = p.micro_batch * p.dp;
  if (micro < 1 || p.global_batch % micro != 0) {
    return cannot(fmt::format("a global batch of {} is no multiple of micro-batch × dp = {}", p.global_batch, micro));
  }
  Command c = torchrun(p);
  c.raw("\"$BRIDGE/scripts/training/run_recipe.py\"").engine();
  c.flag("--recipe", p.flavor).flag("--mode", "pretrain").flag("--dataset", "megatron-indexed");
  number_flags_of(c, p);
  // The recipe has its own; what the plan does not have is switched off.
  const auto otherwise = [&](std::string_view flag, int degree) {
    if (degree == 1) c.flag(flag, 1);
  };
  otherwise("--tensor_model_parallel_size", p.tp);
  otherwise("--pipeline_model_parallel_size", p.pp);
  otherwise("--context_parallel_size", p.cp);
  otherwise("--expert_model_parallel_size", p.ep);
  if (p.vp == 1) c.key("model.virtual_pipeline_model_parallel_size", "null");
  c.key("model.sequence_parallel", p.tp > 1 ? "true" : "false");
  if (p.pp > 1) c.key("model.pipeline_model_parallel_layout", "null");
  if (p.ep > 1 || p.etp > 1) c.flag("--expert_tensor_parallel_size", p.etp);
  if (p.cp > 1) {
    c.key("model.cp_comm_type", p.context == ContextParallel::ulysses      ? "a2a"
                                : p.context == ContextParallel::all_gather ? "all_gather"
                                                                           : "p2p");
  }
  const Result<std::string> precision = mixed_precision(p);
  if (!precision) return precision.error();
  c.key("mixed_precision", *precision);
  if (const Status s = shard(c, p); !s) return s.error();
  switch (p.recompute) {
    case Recompute::full:
      c.key("model.recompute_granularity", "full")
          .key("model.recompute_method", p.recompute_layers > 0 ? "block" : "uniform");
      c.key("model.recompute_num_layers", std::max(1, p.recompute_layers));
      break;
    case Recompute::selective:
      c.key("model.recompute_granularity", "selective").key("model.recompute_modules", "[core_attn]");
      break;
    case Recompute::none:
    case Recompute::unknown:
      c.key("model.recompute_granularity", "null");
      break;
  }
  c.flag("--max_steps", 100000).flag("--save_interval", 500);
  c.shell("--save_dir", "\"$CHECKPOINTS\"").shell("--load_dir", "\"$CHECKPOINTS\"");
  if (!p.checkpoint.empty()) {
    c.key("tokenizer.tokenizer_type", "HuggingFaceTokenizer").key("tokenizer.tokenizer_model", p.checkpoint);
  }
  c.shell_key("dataset.data_path", "\"[$DATA_PATH]\"").raw("\"$@\"");
  return Process{.command = std::move(c),
                 .before =
                     "BRIDGE=${BRIDGE:-/opt/Megatron-Bridge}\n"
                     ": \"${DATA_PATH:?set DATA_PATH to the tokenised data set, without .bin}\"\n"
                     ": \"${CHECKPOINTS:?set CHECKPOINTS to a shared folder}\"\n"};
}

}  // namespace ridge::launch
