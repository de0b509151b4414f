// pretrain_gpt.py of Megatron-LM, and what it checks before it starts.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "facility/launch/flags.hpp"
#include "facility/launch/write.hpp"

namespace ridge::launch {

namespace {

/// Layers that the pipeline does not divide: embedding and loss count as a layer each, or the last stage has fewer.
Status stages(Command& c, const LaunchPlan& p) {
  const int layers = p.shape.layers;
  if (p.pp == 1 || layers % (p.pp * p.vp) == 0) return {};
  if ((layers + 2) % (p.pp * p.vp) == 0) {
    c.flag("--account-for-embedding-in-pipeline-split").flag("--account-for-loss-in-pipeline-split");
    return {};
  }
  const int most = (layers + p.pp - 1) / p.pp;
  const int last = layers - (p.pp - 1) * most;
  if (p.vp > 1 || last < 1) {
    return cannot(fmt::format("{} layers do not divide into {} stages of {} chunks: take another ⟦pp⟧ or ⟦vp=1⟧",
                              layers, p.pp, p.vp));
  }
  c.flag("--decoder-last-pipeline-num-layers", last);
  return {};
}

void attention(Command& c, const ModelShape& s) {
  if (s.kv_heads != 0) c.flag("--group-query-attention");
  if (s.kv_lora > 0) c.flag("--multi-latent-attention");
  if (s.qk_norm) c.flag("--qk-layernorm");
  if (s.qkv_bias) c.flag("--add-qkv-bias");
  // Megatron's own defaults are those of GPT-2: dropout 0.1, layer norm, learned positions.
  c.flag("--attention-dropout", "0.0").flag("--hidden-dropout", "0.0");
  c.flag("--normalization", s.norm_bias ? "LayerNorm" : "RMSNorm");
  if (s.learned_positions) {
    c.flag("--position-embedding-type", "learned_absolute");
    return;
  }
  // Latent attention scales its rotation itself (--rope-type); the embedding stays plain rope.
  c.flag("--position-embedding-type", "rope");
  if (s.kv_lora > 0) c.flag("--rope-type", s.yarn > 0 ? "yarn" : "rope");
  if (s.rope_scaling > 0) c.flag("--use-rope-scaling");
}

void experts(Command& c, const LaunchPlan& p) {
  const ModelShape& s = p.shape;
  if (s.experts == 0) return;
  // Its default is the tensor parallelism of the attention.
  c.flag("--expert-tensor-parallel-size", p.etp);
  c.flag("--moe-grouped-gemm").flag("--moe-permute-fusion").flag("--moe-token-dispatcher-type", "alltoall");
  if (s.sigmoid_router) {
    c.flag("--moe-router-score-function", "sigmoid")
        .flag("--moe-router-enable-expert-bias")
        .flag("--moe-router-bias-update-rate", "1e-3")
        .flag("--moe-router-load-balancing-type", "seq_aux_loss")
        .flag("--moe-aux-loss-coeff", "1e-4")
        .flag("--moe-router-dtype", "fp32");
  } else {
    c.flag("--moe-router-load-balancing-type", "aux_loss").flag("--moe-aux-loss-coeff", "1e-2");
  }
  if (s.shared_gate) c.flag("--moe-shared-expert-gate");
  if (s.dense_layers > 0) {
    c.flag("--moe-layer-freq", fmt::format("([0]*{}+[1]*{})", s.dense_layers, s.layers - s.dense_layers));
  }
}

Status precision(Command& c, const LaunchPlan& p) {
  switch (p.precision) {
    case Format::bf16:
      c.flag("--bf16");
      return {};
    case Format::fp16:
      c.flag("--fp16");
      return {};
    case Format::fp8:
      c.flag("--bf16").flag("--fp8-format", p.block_scales ? "e4m3" : "hybrid");
      c.flag("--fp8-recipe", p.block_scales ? "blockwise" : "tensorwise");
      return {};
    case Format::mxfp8:
      c.flag("--bf16").flag("--fp8-format", "e4m3").flag("--fp8-recipe", "mxfp8");
      return {};
    case Format::nvfp4:
      c.flag("--bf16").flag("--fp4-format", "e2m1").flag("--fp4-recipe", "nvfp4");
      return {};
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
  return cannot(fmt::format("Megatron does not train in {}: say bf16, fp8, mxfp8 or nvfp4", name(p.precision)));
}

Status sharding(Command& c, const LaunchPlan& p) {
  switch (p.sharding) {
    case Sharding::none:
    case Sharding::unknown:
      c.flag("--ckpt-format", "torch_dist");
      return {};
    case Sharding::zero1:
      c.flag("--use-distributed-optimizer").flag("--overlap-grad-reduce").flag("--overlap-param-gather");
      c.flag("--ckpt-format", "torch_dist");
      return {};
    case Sharding::zero2:
    case Sharding::zero3:
    case Sharding::hsdp:
      c.flag("--use-megatron-fsdp")
          .flag("--use-distributed-optimizer")
          .flag("--data-parallel-sharding-strategy",
                p.sharding == Sharding::zero2 ? "optim_grads" : "optim_grads_params")
          .flag("--no-gradient-accumulation-fusion")
          .flag("--init-model-with-meta-device")
          .flag("--ckpt-format", "fsdp_dtensor");
      break;
  }
  if (p.sharding == Sharding::hsdp) {
    if (p.shard_group < 1 || p.dp % p.shard_group != 0) {
      return cannot(fmt::format("shard groups of {} do not divide {} data-parallel ranks", p.shard_group, p.dp));
    }
    c.flag("--num-distributed-optimizer-instances", p.dp / p.shard_group);
  }
  return {};
}

/// Usual peak rates by size: those that the Llama 3 report gives for 8, 70 and 405 billion parameters.
std::string_view usual_rate(const ModelShape& s) {
  const double per_layer = 1.0 * s.hidden * s.hidden * 2 +
                           3.0 * s.hidden * (s.experts > 0 ? 1.0 * s.expert_ffn * s.top_k + s.shared_ffn : s.ffn);
  const double active = per_layer * s.layers;
  return active < 30e9 ? "3e-4" : active < 200e9 ? "1.5e-4" : "8e-5";
}

}  // namespace

Result<Process> megatron_job(const LaunchPlan& p) {
  if (const std::vector<std::string> wrong = megatron_problems(p); !wrong.empty()) {
    return cannot("Megatron would not start: " + wrong.front());
  }
  Command c = torchrun(p);
  c.raw("pretrain_gpt.py").engine();
  c.flag("--use-mcore-models").flag("--transformer-impl", "transformer_engine");
  number_flags_of(c, p);
  if (p.tp > 1) c.flag("--sequence-parallel");
  if (p.cp > 1) {
    c.flag("--cp-comm-type", p.context == ContextParallel::ulysses      ? "a2a"
                             : p.context == ContextParallel::all_gather ? "all_gather"
                                                                        : "p2p");
  }
  const ModelShape& s = p.shape;
  for (const ShapeFlag& f : shape_flags()) {
    if (s.*f.field != f.usual) c.flag(f.flag, s.*f.field);
  }
  for (const NumberOfShape& f : shape_numbers()) {
    if (s.*f.field == 0) continue;
    // A whole base is taken as a whole number only.
    const double value = s.*f.field;
    value == std::floor(value) && value >= 1000 ? c.flag(f.flag, fmt::format("{:.0f}", value)) : c.flag(f.flag, value);
  }
  if (s.rotary_open) c.shell("--rotary-base", "\"$ROTARY_BASE\"");
  attention(c, s);
  if (s.gated) c.flag("--swiglu");
  if (!s.tied) c.flag("--untie-embeddings-and-output-weights");
  if (!s.norm_bias) c.flag("--disable-bias-linear");
  experts(c, p);
  if (const Status uneven = stages(c, p); !uneven) return uneven.error();
  if (const Status bad = precision(c, p); !bad) return bad.error();
  if (const Status bad = sharding(c, p); !bad) return bad.error();
  if (p.recompute == Recompute::selective) c.flag("--recompute-activations");
  if (p.recompute == Recompute::full) {
    c.flag("--recompute-granularity", "full");
    // "block" counts layers of one stage or chunk, "uniform" takes all in groups.
    c.flag("--recompute-method", p.recompute_layers > 0 ? "block" : "uniform");
    c.flag("--recompute-num-layers", std::max(1, p.recompute_layers));
  }
  // Ours only so that it starts; what the script is given overrides them.
  const std::string_view rate = usual_rate(s);
  c.flag("--train-iters", 100000).flag("--lr", rate).flag("--min-lr", "1e-6").flag("--lr-decay-style", "cosine");
  c.flag("--lr-warmup-iters", 2000)
      .flag("--weight-decay", "0.1")
      .flag("--adam-beta2", "0.95")
      .flag("--clip-grad", "1.0");
  c.flag("--eval-iters", 0).flag("--log-interval", 10).flag("--log-throughput");
  if (p.checkpoint.empty()) {
    c.flag("--tokenizer-type", "NullTokenizer");
  } else {
    c.flag("--tokenizer-type", "HuggingFaceTokenizer").flag("--tokenizer-model", p.checkpoint);
  }
  c.shell("--data-path", "\"$DATA_PATH\"").flag("--split", "100,0,0");
  c.shell("--save", "\"$CHECKPOINTS\"").flag("--save-interval", 500).shell("--load", "\"$CHECKPOINTS\"");
  c.raw("\"$@\"");
  std::string before = ": \"${DATA_PATH:?set DATA_PATH to the tokenised data set, without .bin}\"\n";
  if (s.rotary_open) before += ": \"${ROTARY_BASE:?set ROTARY_BASE to rope_theta of the model}\"\n";
  before += ": \"${CHECKPOINTS:?set CHECKPOINTS to a shared folder}\"\n";
  return Process{.command = std::move(c), .before = std::move(before)};
}

}  // namespace ridge::launch

namespace ridge {

std::vector<std::string> megatron_problems(const LaunchPlan& p) {
  std::vector<std::string> out;
  const auto must = [&](bool holds, std::string otherwise) {
    if (!holds) out.push_back(std::move(otherwise));
  };
  const ModelShape& s = p.shape;
  const int model = p.tp * p.pp * p.cp;
  must(p.gpus % model == 0, fmt::format("tp × pp × cp = {} does not divide {} devices", model, p.gpus));
  must(p.micro_batch > 0 && p.global_batch > 0, "micro-batch and global batch are above 0");
  if (p.micro_batch > 0 && p.dp > 0) {
    must(p.global_batch % (p.micro_batch * p.dp) == 0,
         fmt::format("a global batch of {} is no multiple of micro-batch × dp = {}", p.global_batch,
                     p.micro_batch * p.dp));
  }
  if (p.cp > 1) {
    must(p.sequence % (2 * p.cp) == 0,
         fmt::format("a sequence of {} does not divide by 2 × cp = {}", p.sequence, 2 * p.cp));
  }
  if (p.tp > 1) {
    must(p.sequence % (p.tp * p.cp) == 0,
         fmt::format("a sequence of {} does not divide by tp × cp = {}", p.sequence, p.tp * p.cp));
    must(s.heads % p.tp == 0, fmt::format("{} heads do not divide by tp {}", s.heads, p.tp));
    if (s.kv_heads > 0) {
      must(s.kv_heads % p.tp == 0 || p.tp % s.kv_heads == 0,
           fmt::format("{} KV heads and tp {} do not divide one another", s.kv_heads, p.tp));
    }
  }
  must(s.context == 0 || s.context >= p.sequence,
       fmt::format("{} positions are fewer than the sequence of {}", s.context, p.sequence));
  must(p.vp == 1 || p.pp > 1, fmt::format("{} chunks a stage need more than one stage", p.vp));
  must(p.vp == 1 || (p.global_batch / std::max(1, p.micro_batch * p.dp)) % p.pp == 0,
       fmt::format("interleaved stages need micro-batches in multiples of pp {}", p.pp));
  if (p.ep > 1) {
    must(s.experts > 0, "expert parallelism needs experts");
    must(s.experts == 0 || s.experts % p.ep == 0, fmt::format("{} experts do not divide by ep {}", s.experts, p.ep));
  }
  if (s.experts > 0) {
    const int expert = p.etp * p.ep * p.pp;
    must(expert > 0 && p.gpus % expert == 0,
         fmt::format("etp × ep × pp = {} does not divide {} devices", expert, p.gpus));
  }
  if (p.cp > 1 && p.context == ContextParallel::ulysses) {
    const int groups = s.kv_heads > 0 ? s.kv_heads : s.heads;
    must(groups % std::max(1, p.tp * p.cp) == 0,
         fmt::format("ulysses shares {} KV heads out to tp × cp = {} ranks", groups, p.tp * p.cp));
  }
  must(s.kv_lora == 0 || s.kv_heads == 0, "latent attention has no query groups");
  if (p.sharding == Sharding::zero2 || p.sharding == Sharding::zero3 || p.sharding == Sharding::hsdp) {
    must(p.precision != Format::fp16, "sharded weights do not train in fp16");
  }
  if (p.sharding == Sharding::hsdp) {
    must(p.shard_group > 0 && p.dp % std::max(1, p.shard_group) == 0,
         fmt::format("shard groups of {} do not divide {} data-parallel ranks", p.shard_group, p.dp));
  }
  if (s.groups > 0) {
    must(s.experts % s.groups == 0, fmt::format("{} experts do not divide into {} groups", s.experts, s.groups));
  }
  return out;
}

}  // namespace ridge
