// Commands of the runners.
#include "facility/launch_write.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "facility/launch_flags.hpp"
#include "facility/launch_words.hpp"
#include "ridge/text.hpp"

namespace ridge::launch {

namespace {

Error cannot(std::string message) {
  return {ErrorCode::refused, "", std::move(message)};
}

int per_replica(const LaunchPlan& p) {
  return p.tp * p.pp * p.dp;
}

Status check_layout(const LaunchPlan& p) {
  const int nodes = p.nodes();
  const bool packed = !trains(p.runner) && p.gpus_per_node % per_replica(p) == 0;  // the last node may have room left
  if (p.gpus > p.gpus_per_node && p.gpus % p.gpus_per_node != 0 && !packed) {
    return cannot(fmt::format("{} devices do not fill nodes of {}", p.gpus, p.gpus_per_node));
  }
  if (trains(p.runner)) {
    if (p.tp * p.pp * p.cp * p.dp != p.gpus) {
      return cannot(fmt::format("tp × pp × cp × dp is {}, not {} devices", p.tp * p.pp * p.cp * p.dp, p.gpus));
    }
    return {};
  }
  if (p.replicas * per_replica(p) != p.gpus) {
    return cannot(fmt::format("{} replicas of {} devices are not {}", p.replicas, per_replica(p), p.gpus));
  }
  if (nodes > 1 && per_replica(p) <= p.gpus_per_node && p.replicas % nodes != 0 && !packed) {
    return cannot(fmt::format("{} replicas do not spread evenly over {} nodes", p.replicas, nodes));
  }
  if (per_replica(p) > p.gpus_per_node && p.replicas > 1) {
    return cannot(
        fmt::format("a replica takes {} devices, more than a node has: emit one replica at a time", per_replica(p)));
  }
  return {};
}

void numbers(Command& c, const LaunchPlan& p) {
  for (const NumberFlag& f : number_flags(p.runner)) {
    if (p.*f.field != f.usual) c.flag(f.flag, p.*f.field);
  }
}

Status formats(Command& c, const LaunchPlan& p) {
  const FormatFlag* weights = find_format(weight_flags(p.runner), p.weights);
  if (weights == nullptr && p.runner != LaunchTarget::trtllm) {
    return cannot(fmt::format("{} has no flag for weights in {}", name(p.runner), name(p.weights)));
  }
  if (weights != nullptr && !weights->flag.empty()) c.flag(weights->flag, weights->value);
  const FormatFlag* kv = find_format(kv_flags(p.runner), p.kv);
  if (kv == nullptr)
    return cannot(fmt::format("{} keeps no KV cache in {}: take fp8 or 16 bits", name(p.runner), name(p.kv)));
  if (!kv->flag.empty() && p.runner != LaunchTarget::trtllm) c.flag(kv->flag, kv->value);
  if (p.memory_utilization > 0) c.flag(memory_flag(p.runner), fmt::format("{}", p.memory_utilization));
  return {};
}

Result<Command> vllm(const LaunchPlan& p, bool many) {
  Command c(fmt::format("{}vllm serve {}", many ? "CUDA_VISIBLE_DEVICES=\"$devices\" " : "", shell_word(p.checkpoint)));
  c.flag("--served-model-name", p.model);
  c.raw(many ? "--port $((8000 + replica))" : "--port 8000");
  numbers(c, p);
  if (p.ep > 1) {
    if (p.ep != p.tp * p.dp) {
      return cannot(fmt::format("vLLM spreads experts over all tp × dp = {} ranks, not over {}: say --ep {} or 1",
                                p.tp * p.dp, p.ep, p.tp * p.dp));
    }
    c.flag("--enable-expert-parallel");
  }
  if (per_replica(p) > p.gpus_per_node) c.flag("--distributed-executor-backend", "ray");
  if (const Status s = formats(c, p); !s) return s.error();
  return c;
}

Result<Command> sglang(const LaunchPlan& p, bool many) {
  Command c(fmt::format("{}python3 -m sglang.launch_server", many ? "CUDA_VISIBLE_DEVICES=\"$devices\" " : ""));
  c.flag("--model-path", p.checkpoint).flag("--served-model-name", p.model);
  c.raw(many ? "--port $((30000 + replica))" : "--port 30000");
  // Data-parallel attention divides the tensor-parallel ranks: tp-size counts both.
  c.flag("--tp-size", p.tp * p.dp);
  numbers(c, p);
  if (p.dp > 1) c.flag("--enable-dp-attention");
  if (per_replica(p) > p.gpus_per_node) {
    c.raw("--nnodes \"$NODES\"").raw("--node-rank \"$NODE_RANK\"").raw("--dist-init-addr \"$MASTER_ADDR:20000\"");
  }
  if (const Status s = formats(c, p); !s) return s.error();
  return c;
}

Result<Command> trtllm(const LaunchPlan& p, bool many) {
  if (p.dp > 1 && p.tp > 1) {
    return cannot("TensorRT-LLM runs attention either tensor- or data-parallel, not both: say --tp 1 or --dp 1");
  }
  Command c(fmt::format("{}{}trtllm-serve serve {}", many ? "CUDA_VISIBLE_DEVICES=\"$devices\" " : "",
                        per_replica(p) > p.gpus_per_node ? "trtllm-llmapi-launch " : "", shell_word(p.checkpoint)));
  c.raw(many ? "--port $((8000 + replica))" : "--port 8000");
  c.flag("--tp_size", p.tp * p.dp);
  numbers(c, p);
  if (const Status s = formats(c, p); !s) return s.error();
  if (p.kv != Format::bf16 || p.dp > 1) c.raw("--extra_llm_api_options \"$OPTIONS\"");
  return c;
}

/// The options file of TensorRT-LLM, written by the script.
std::string trtllm_options(const LaunchPlan& p, std::string_view indent) {
  if (p.runner != LaunchTarget::trtllm || (p.kv == Format::bf16 && p.dp == 1)) return {};
  std::string out = fmt::format("{0}OPTIONS=$(mktemp)\n{0}{{\n", indent);
  if (p.dp > 1) out += fmt::format("{}  echo enable_attention_dp: true\n", indent);
  if (const FormatFlag* kv = find_format(kv_flags(p.runner), p.kv); kv != nullptr && !kv->flag.empty()) {
    out += fmt::format("{0}  echo kv_cache_config:\n{0}  echo '  ' {1} {2}\n", indent, kv->flag, kv->value);
  }
  return out + fmt::format("{}}} > \"$OPTIONS\"\n", indent);
}

Command torchrun(const LaunchPlan& p) {
  Command c("torchrun");
  c.raw("--nnodes \"$NODES\"").flag("--nproc-per-node", std::min(p.gpus, p.gpus_per_node));
  if (p.nodes() > 1) {
    c.raw("--node-rank \"$NODE_RANK\"").flag("--rdzv-backend", "c10d").raw("--rdzv-endpoint \"$MASTER_ADDR:29500\"");
  }
  return c;
}

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
    return cannot(fmt::format("{} layers do not divide into {} stages of {} chunks: take another --pp or --vp 1",
                              layers, p.pp, p.vp));
  }
  c.flag("--decoder-last-pipeline-num-layers", last);
  return {};
}

Result<Command> megatron(const LaunchPlan& p) {
  Command c = torchrun(p);
  c.raw("pretrain_gpt.py").flag("--use-mcore-models");
  numbers(c, p);
  if (p.tp > 1) c.flag("--sequence-parallel");
  const ModelShape& s = p.shape;
  for (const ShapeFlag& f : shape_flags()) {
    if (s.*f.field != f.usual) c.flag(f.flag, s.*f.field);
  }
  if (s.kv_heads != 0) c.flag("--group-query-attention");
  if (s.kv_lora > 0) c.flag("--multi-latent-attention");
  if (s.gated) c.flag("--swiglu");
  if (!s.tied) c.flag("--untie-embeddings-and-output-weights");
  c.flag("--disable-bias-linear").flag("--normalization", "RMSNorm").flag("--position-embedding-type", "rope");
  if (s.experts > 0) {
    c.flag("--moe-grouped-gemm").flag("--moe-token-dispatcher-type", "alltoall");
    if (s.dense_layers > 0)
      c.flag("--moe-layer-freq", fmt::format("([0]*{}+[1]*{})", s.dense_layers, s.layers - s.dense_layers));
  }
  if (const Status uneven = stages(c, p); !uneven) return uneven.error();
  const FormatFlag* precision = find_format(weight_flags(p.runner), p.precision);
  if (precision == nullptr) return cannot(fmt::format("Megatron does not train in {}", name(p.precision)));
  if (p.precision != Format::bf16 && p.precision != Format::fp16) c.flag("--bf16");
  if (p.precision == Format::mxfp8) c.flag("--fp8-format", "hybrid");
  precision->value.empty() ? c.flag(precision->flag) : c.flag(precision->flag, precision->value);
  switch (p.sharding) {
    case Sharding::none:
    case Sharding::unknown:
      break;
    case Sharding::zero1:
      c.flag("--use-distributed-optimizer").flag("--overlap-grad-reduce").flag("--overlap-param-gather");
      break;
    case Sharding::zero2:
    case Sharding::zero3:
    case Sharding::hsdp:
      c.flag("--use-megatron-fsdp")
          .flag("--data-parallel-sharding-strategy",
                p.sharding == Sharding::zero2 ? "optim_grads" : "optim_grads_params");
      if (p.sharding == Sharding::hsdp) {
        if (p.shard_group < 1 || p.dp % p.shard_group != 0)
          return cannot(fmt::format("shard groups of {} do not divide {} data-parallel ranks", p.shard_group, p.dp));
        c.flag("--num-distributed-optimizer-instances", p.dp / p.shard_group);
      }
      break;
  }
  if (p.recompute == Recompute::selective) c.flag("--recompute-activations");
  if (p.recompute == Recompute::full)
    c.flag("--recompute-granularity", "full").flag("--recompute-method", "uniform").flag("--recompute-num-layers", 1);
  c.flag("--tokenizer-type", "HuggingFaceTokenizer").flag("--tokenizer-model", p.checkpoint);
  c.raw("--data-path \"$DATA_PATH\"").raw("--save \"$CHECKPOINTS\"").raw("--load \"$CHECKPOINTS\"").raw("\"$@\"");
  return c;
}

Result<Command> torchtitan(const LaunchPlan& p) {
  if (p.vp > 1) return cannot("torchtitan takes its stages from the schedule: emit with --vp 1");
  Command c = torchrun(p);
  c.raw("-m torchtitan.train").flag("--model.name", p.model).flag("--model.hf_assets_path", p.checkpoint);
  numbers(c, p);
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
      return cannot(fmt::format("torchtitan shards everything or nothing, not {}: say --sharding zero3, hsdp or none",
                                name(p.sharding)));
  }
  c.flag("--parallelism.data_parallel_shard_degree", shard);
  c.flag("--parallelism.data_parallel_replicate_degree", p.dp / shard);
  if (p.pp > 1) {
    if (p.global_batch % p.dp != 0) return cannot("the global batch is no multiple of the data-parallel ranks");
    c.flag("--training.local_batch_size", p.global_batch / p.dp);
    c.flag("--parallelism.pipeline_parallel_microbatch_size", p.micro_batch);
  } else {
    c.flag("--training.local_batch_size", p.micro_batch);
  }
  const FormatFlag* precision = find_format(weight_flags(p.runner), p.precision);
  if (precision == nullptr)
    return cannot(fmt::format("torchtitan does not train in {}: say bf16 or fp8", name(p.precision)));
  if (!precision->flag.empty()) c.flag(precision->flag, precision->value);
  c.flag("--activation_checkpoint.mode", name(p.recompute));
  return c.raw("\"$@\"");
}

std::string environment(const LaunchPlan& p, std::string_view indent) {
  std::string out;
  const auto set = [&](std::string_view variable, std::string_view value) {
    out += fmt::format("{}export {}={}\n", indent, variable, value);
  };
  if (p.runner == LaunchTarget::megatron && p.tp > 1) set("CUDA_DEVICE_MAX_CONNECTIONS", "1");
  if (p.nodes() < 2) return out;
  set("NCCL_DEBUG", "${NCCL_DEBUG:-WARN}");
  if (p.network == "infiniband") set("NCCL_IB_HCA", "${NCCL_IB_HCA:-mlx5}");
  if (p.network == "ethernet") {
    set("NCCL_IB_GID_INDEX", "${NCCL_IB_GID_INDEX:-3}");
    set("NCCL_IB_TC", "${NCCL_IB_TC:-106}");
  }
  return out;
}

}  // namespace

std::string job_name(const LaunchPlan& plan) {
  std::string out = trains(plan.runner) ? "train-" : "serve-";
  for (const char c : plan.model) {
    const auto u = static_cast<unsigned char>(c);
    out += std::isalnum(u) != 0 ? static_cast<char>(std::tolower(u)) : '-';
  }
  if (out.size() > 50) out.resize(50);
  while (out.ends_with('-')) out.pop_back();
  return out;
}

std::string summary(const LaunchPlan& p) {
  std::string out = fmt::format("{} {} on {} x {}:", trains(p.runner) ? "train" : "serve", p.model, p.gpus, p.device);
  const auto add = [&](const char* what, int degree) {
    if (degree > 1) out += fmt::format(" {} {}", what, degree);
  };
  add("TP", p.tp);
  add("PP", p.pp);
  add("CP", p.cp);
  add("EP", p.ep);
  add("DP", p.dp);
  if (!trains(p.runner)) add("replicas", p.replicas);
  if (out.ends_with(':')) out += " one device";
  return out;
}

std::string ridge_line(const LaunchPlan& p) {
  std::string out = fmt::format("# ridge: device={} gpus_per_node={}", p.device, p.gpus_per_node);
  if (!p.network.empty()) out += " network=" + p.network;
  // What these runners have no flag for.
  if (p.runner == LaunchTarget::trtllm) out += fmt::format(" model={} weights={}", p.model, name(p.weights));
  if (p.runner == LaunchTarget::megatron) out += fmt::format(" model={}", p.model);
  return out + "\n";
}

Result<std::string> payload(const LaunchPlan& p, const LaunchOptions& options, std::string_view indent) {
  if (const Status s = check_layout(p); !s) return s.error();
  const int nodes = p.nodes();
  const bool spread = !trains(p.runner) && per_replica(p) > p.gpus_per_node;
  const bool uneven = !trains(p.runner) && !spread && p.replicas % nodes != 0;
  const int here = uneven ? p.gpus_per_node / per_replica(p) : p.replicas / nodes;
  const bool many = !trains(p.runner) && !spread && here > 1;
  std::string out = fmt::format("{}NODES={}\n", indent, nodes);
  if (nodes > 1) {
    out += fmt::format(
        "{0}NODE_RANK=${{NODE_RANK:-${{SLURM_NODEID:-${{JOB_COMPLETION_INDEX:-0}}}}}}\n{0}echo \"node $NODE_RANK of "
        "$NODES\"\n",
        indent);
  } else {
    out += fmt::format("{}echo \"$NODES node\"\n", indent);
  }
  if (p.runner == LaunchTarget::megatron) {
    out += fmt::format(
        "{0}: \"${{DATA_PATH:?set DATA_PATH to the tokenised data set}}\"\n{0}: \"${{CHECKPOINTS:?set CHECKPOINTS to a "
        "shared folder}}\"\n",
        indent);
  }
  if (nodes > 1 && (trains(p.runner) || (spread && p.runner == LaunchTarget::sglang))) {
    out += fmt::format("{}: \"${{MASTER_ADDR:?set MASTER_ADDR to the first node}}\"\n", indent);
  }
  out += environment(p, indent);
  out += trtllm_options(p, indent);
  Result<Command> command = p.runner == LaunchTarget::vllm       ? vllm(p, many)
                            : p.runner == LaunchTarget::sglang   ? sglang(p, many)
                            : p.runner == LaunchTarget::trtllm   ? trtllm(p, many)
                            : p.runner == LaunchTarget::megatron ? megatron(p)
                                                                 : torchtitan(p);
  if (!command) return command.error();
  if (!many) return out + command->text(indent);
  out += fmt::format("{0}REPLICAS={1}\n{0}GPUS_PER_REPLICA={2}\n", indent, here, per_replica(p));
  if (uneven) {  // the last node has fewer
    out += fmt::format("{0}ALL_REPLICAS={1}\n{0}LEFT=$((ALL_REPLICAS - NODE_RANK * REPLICAS))\n", indent, p.replicas);
  }
  out += fmt::format(
      "{0}for ((replica = 0; replica < REPLICAS{1}; replica++)); do\n"
      "{0}  first=$((replica * GPUS_PER_REPLICA))\n"
      "{0}  devices=$(seq -s, \"$first\" $((first + GPUS_PER_REPLICA - 1)))\n",
      indent, uneven ? " && replica < LEFT" : "");
  std::string line = command->raw("&").text(std::string(indent) + "  ");
  if (options.amd) {
    const std::string_view cuda = "CUDA_VISIBLE_DEVICES";
    line.replace(line.find(cuda), cuda.size(), "HIP_VISIBLE_DEVICES");
  }
  return out + line + fmt::format("{0}done\n{0}wait\n", indent);
}

}  // namespace ridge::launch

namespace ridge {

Result<std::vector<LaunchFile>> emit(const LaunchPlan& plan, LaunchTarget target, const LaunchOptions& options) {
  if (!is_runner(plan.runner)) return Error{ErrorCode::bad_input, "", "a plan is run by an engine"};
  if (target == LaunchTarget::slurm) return launch::slurm_files(plan, options);
  if (target == LaunchTarget::k8s) return launch::kubernetes_files(plan, options);
  if (target != plan.runner) {
    return Error{ErrorCode::refused, "",
                 fmt::format("the plan is for {}, not for {}", name(plan.runner), name(target))};
  }
  const Result<std::string> body = launch::payload(plan, options, "");
  if (!body) return body.error();
  std::string text = "#!/usr/bin/env bash\n# " + launch::summary(plan) + "\n";
  if (plan.nodes() > 1)
    text += fmt::format("# Run it on each of the {} nodes, with NODE_RANK 0 to {}.\n", plan.nodes(), plan.nodes() - 1);
  if (plan.runner == LaunchTarget::vllm && plan.tp * plan.pp * plan.dp > plan.gpus_per_node) {
    text += "# The nodes have to be joined by Ray first; then it is run on the first of them only.\n";
  }
  text += launch::ridge_line(plan) + "set -euo pipefail\n\n" + *body;
  return std::vector<LaunchFile>{{std::string(name(target)) + ".sh", std::move(text)}};
}

}  // namespace ridge
