// torchtitan's trainer.
#include <fmt/format.h>

#include "facility/launch/flags.hpp"
#include "facility/launch/write.hpp"

namespace ridge::launch {

Result<Process> torchtitan_job(const LaunchPlan& p) {
  if (p.vp > 1) return cannot("torchtitan takes its stages from the schedule: emit with ⟦vp=1⟧");
  if (p.flavor.empty()) {
    return cannot(fmt::format(
        "torchtitan has no {}; it has Llama 3 and 4, DeepSeek-V3, Qwen3 and gpt-oss: emit for megatron", p.model));
  }
  const std::size_t slash = p.flavor.find('/');
  Command c = torchrun(p);
  c.raw("-m torchtitan.train").engine();
  c.flag("--model.name", p.flavor.substr(0, slash)).flag("--model.flavor", p.flavor.substr(slash + 1));
  c.shell("--model.hf_assets_path", "\"$ASSETS\"");
  number_flags_of(c, p);
  int shard = 1;
  switch (p.sharding) {
    case Sharding::none:
    case Sharding::unknown:
      break;
    case Sharding::zero3:
      shard = p.dp;
      break;
    case Sharding::hsdp:
      shard = p.shard_group;
      if (shard < 1 || p.dp % shard != 0)
        return cannot(fmt::format("shard groups of {} do not divide {} data-parallel ranks", shard, p.dp));
      break;
    case Sharding::zero1:
    case Sharding::zero2:
      return cannot(fmt::format("torchtitan shards everything or nothing, not {}: say ⟦sharding=zero3⟧, hsdp or none",
                                name(p.sharding)));
  }
  c.flag("--parallelism.data_parallel_shard_degree", shard);
  c.flag("--parallelism.data_parallel_replicate_degree", p.dp / shard);
  if (p.pp > 1) {
    if (p.global_batch % p.dp != 0) return cannot("the global batch is no multiple of the data-parallel ranks");
    c.flag("--training.local_batch_size", p.global_batch / p.dp);
    c.flag("--parallelism.pipeline_parallel_microbatch_size", p.micro_batch);
    c.flag("--parallelism.pipeline_parallel_schedule", "1F1B");
  } else {
    c.flag("--training.local_batch_size", p.micro_batch);
  }
  const FormatFlag* precision = find_format(weight_flags(p.runner), p.precision);
  if (precision == nullptr)
    return cannot(fmt::format("torchtitan does not train in {}: say bf16, fp8 or mxfp8", name(p.precision)));
  if (!precision->flag.empty()) c.flag(precision->flag, precision->value);
  c.flag("--activation_checkpoint.mode", name(p.recompute));
  c.flag("--compile.enable").flag("--checkpoint.enable").shell("--checkpoint.folder", "\"$CHECKPOINTS\"");
  c.raw("\"$@\"");
  return Process{.command = std::move(c),
                 .before =
                     ": \"${ASSETS:?set ASSETS to the folder of the tokenizer}\"\n"
                     ": \"${CHECKPOINTS:?set CHECKPOINTS to a shared folder}\"\n"};
}

}  // namespace ridge::launch
