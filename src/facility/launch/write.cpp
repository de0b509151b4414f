// Commands wrapped into scripts: replicas, ports, endpoint lists, what happens when a server ends.
#include "facility/launch/write.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "facility/launch/exchange.hpp"
#include "facility/launch/flags.hpp"
#include "facility/launch/vendor.hpp"
#include "ridge/base/text.hpp"

namespace ridge::launch {

namespace {

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
  if (per_replica(p) > p.gpus_per_node && per_replica(p) % p.gpus_per_node != 0) {
    return cannot(fmt::format("a replica of {} devices does not fill nodes of {}", per_replica(p), p.gpus_per_node));
  }
  return {};
}

/// Flags, keys and values that this release does not take.
Status check_flags(const Process& process, const EngineRelease* release) {
  if (release == nullptr) return {};
  const auto judge = [&](const std::string& flag, const std::optional<std::string>& value) -> Status {
    if (std::string wrong = release->problem(flag, value); !wrong.empty()) {
      return cannot(fmt::format("{}: emit for another release by ⟦engine_version⟧", wrong));
    }
    return {};
  };
  for (const Command::Part& part : process.command.own()) {
    if (part.flag.empty()) continue;
    if (Status s = judge(part.flag, part.value); !s) return s;
  }
  for (const auto& [key, value] : process.keys) {
    if (Status s = judge(key, value); !s) return s;
  }
  return {};
}

std::string indented(std::string_view text, std::string_view indent) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (end > 0) out += std::string(indent) + std::string(text.substr(0, end));
    out += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::string environment(const LaunchPlan& p) {
  std::string out;
  const auto set = [&](std::string_view variable, std::string_view value) {
    out += fmt::format("export {}={}\n", variable, value);
  };
  const bool fsdp = p.sharding == Sharding::zero2 || p.sharding == Sharding::zero3 || p.sharding == Sharding::hsdp;
  // Megatron refuses to start without it where ranks exchange activations, and with it where weights are sharded.
  if (speaks_megatron(p.runner) && (p.tp > 1 || p.cp > 1) && !fsdp) set("CUDA_DEVICE_MAX_CONNECTIONS", "1");
  if (speaks_megatron(p.runner) && fsdp) set("CUDA_DEVICE_MAX_CONNECTIONS", "8");
  if (p.nodes() < 2 || !p.hardware.nccl) return out;
  set("NCCL_DEBUG", "${NCCL_DEBUG:-WARN}");
  if (p.network == "infiniband") set("NCCL_IB_HCA", "${NCCL_IB_HCA:-mlx5}");
  if (p.network == "ethernet") {
    set("NCCL_IB_GID_INDEX", "${NCCL_IB_GID_INDEX:-3}");
    set("NCCL_IB_TC", "${NCCL_IB_TC:-106}");
  }
  return out;
}

/// How many servers a node starts, and whether the last one starts fewer.
struct Spread {
  int here = 1;
  bool uneven = false;
};
Spread spread_of(const LaunchPlan& p, Place place) {
  if (place == Place::pod || spans_nodes(p)) return {};
  const int nodes = p.nodes();
  const bool uneven = p.replicas % nodes != 0;
  return {uneven ? p.gpus_per_node / per_replica(p) : p.replicas / nodes, uneven};
}

/// Servers side by side: the first that ends takes the others with it, and the script fails.
std::string many_servers(const LaunchPlan& p, const Process& one, const Spread& spread, int first_device) {
  std::string out = fmt::format("REPLICAS={}\nGPUS_PER_REPLICA={}\n", spread.here, per_replica(p));
  if (spread.uneven) {  // the last node has fewer
    out += fmt::format("ALL_REPLICAS={}\nLEFT=$((ALL_REPLICAS - NODE_RANK * REPLICAS))\n", p.replicas);
  }
  out +=
      "servers=()\n"
      "trap 'kill \"${servers[@]}\" 2> /dev/null || true; wait' EXIT\n"
      "trap 'exit 143' TERM\n"
      "trap 'exit 130' INT\n"
      ": > \"$ENDPOINTS\"\n";
  const std::string_view from = first_device > 0 ? "FIRST_DEVICE + " : "";
  out += fmt::format(
      "for ((replica = 0; replica < REPLICAS{}; replica++)); do\n"
      "  first=$(({}replica * GPUS_PER_REPLICA))\n"
      "  devices=$(seq -s, \"$first\" $((first + GPUS_PER_REPLICA - 1)))\n",
      spread.uneven ? " && replica < LEFT" : "", from);
  Command command = one.command;
  const std::string line = command.raw("&").text("  ");
  std::string variables;
  for (const auto& [variable, value] : one.variables) variables += fmt::format("{}={} ", variable, value);
  out += fmt::format("  {}=\"$devices\" {}{}", p.hardware.visible, variables, line.substr(2));
  return out + "  servers+=(\"$!\")\n" +
         fmt::format("  echo \"http://$(hostname):$((PORT + replica)){}\" >> \"$ENDPOINTS\"\n", one.beside) +
         "done\n"
         "code=0\n"
         "wait -n \"${servers[@]}\" || code=$?\n"
         "echo \"a server ended with code $code: all are stopped\" >&2\n"
         "exit \"$((code > 0 ? code : 1))\"\n";
}

Result<std::string> serving(const LaunchPlan& p, const LaunchOptions& options, Place place) {
  if (p.hardware.alone && p.gpus > 1)
    return cannot(fmt::format("processes do not share out {}'s devices: emit with ⟦gpus=1⟧", p.vendor));
  const Spread spread = spread_of(p, place);
  const bool many = spread.here > 1 || spread.uneven;
  const Result<Process> one = process_of(p, many || options.first_device > 0 ? "\"$((PORT + replica))\"" : "\"$PORT\"");
  if (!one) return one.error();
  if (const Status s = check_flags(*one, options.release); !s) return s.error();
  // Scripts of two pools may share a node.
  const int beside = place == Place::pod ? 0 : p.role == PoolRole::prefill ? 100 : p.role == PoolRole::decode ? 200 : 0;
  std::string out = fmt::format("HOST=${{HOST:-0.0.0.0}}\nPORT=${{PORT:-{}}}\n", port_of(p) + beside);
  if (place != Place::pod) {
    const std::string_view list = p.role == PoolRole::both ? "endpoints" : name(p.role);
    out += fmt::format("ENDPOINTS=${{ENDPOINTS:-{}{}.txt}}\n", list, p.nodes() > 1 ? "-$NODE_RANK" : "");
  }
  if (!p.base.empty()) {
    out += fmt::format("[[ -e {0} ]] || {{ echo {0} is missing: see above how it is made >&2; exit 2; }}\n",
                       shell_word(p.checkpoint));
  }
  out += one->before;
  // Where its container keeps it.
  if (place == Place::pod && p.runner == LaunchTarget::llamacpp) out += "export PATH=$PATH:/app\n";
  if (many || options.first_device > 0) {
    if (options.first_device > 0) out += fmt::format("FIRST_DEVICE=${{FIRST_DEVICE:-{}}}\n", options.first_device);
    return out + many_servers(p, *one, spread, options.first_device);
  }
  if (!one->variables.empty()) {
    out += "replica=0\n";
    for (const auto& [variable, value] : one->variables) out += fmt::format("{0}={1}\nexport {0}\n", variable, value);
  }
  // Servers of several nodes are one: the first node's address is theirs.
  if (place != Place::pod) {
    const std::string write = fmt::format("echo \"http://$(hostname):$PORT{}\" > \"$ENDPOINTS\"", one->beside);
    out += spans_nodes(p) ? "if ((NODE_RANK == 0)); then " + write + "; fi\n" : write + "\n";
  }
  return out + "exec " + one->command.text("");
}

Result<std::string> training(const LaunchPlan& p, const LaunchOptions& options) {
  const Result<Process> job = process_of(p, "");
  if (!job) return job.error();
  if (const Status s = check_flags(*job, options.release); !s) return s.error();
  return job->before + job->command.text("");
}

}  // namespace

void number_flags_of(Command& c, const LaunchPlan& p) {
  for (const NumberFlag& f : number_flags(p.runner)) {
    if (p.*f.field != f.usual) c.flag(f.flag, p.*f.field);
  }
}

Command torchrun(const LaunchPlan& p) {
  Command c("torchrun");
  c.shell("--nnodes", "\"$NODES\"").flag("--nproc-per-node", std::min(p.gpus, p.gpus_per_node));
  if (p.nodes() > 1) {
    c.shell("--node-rank", "\"$NODE_RANK\"")
        .flag("--rdzv-backend", "c10d")
        .shell("--rdzv-endpoint", "\"$MASTER_ADDR:29500\"");
  }
  return c;
}

std::string job_name(const LaunchPlan& plan) {
  std::string out = trains(plan.runner)              ? "train-"
                    : plan.role == PoolRole::prefill ? "prefill-"
                    : plan.role == PoolRole::decode  ? "decode-"
                                                     : "serve-";
  for (const char c : plan.model) {
    const auto u = static_cast<unsigned char>(c);
    out += std::isalnum(u) != 0 ? static_cast<char>(std::tolower(u)) : '-';
  }
  if (out.size() > 50) out.resize(50);
  while (out.ends_with('-')) out.pop_back();
  return out;
}

std::string summary(const LaunchPlan& p) {
  const std::string_view verb = trains(p.runner)              ? "train"
                                : p.role == PoolRole::prefill ? "prompts of"
                                : p.role == PoolRole::decode  ? "tokens of"
                                                              : "serve";
  std::string out = fmt::format("{} {} on {} x {}:", verb, p.model, p.gpus, p.device);
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
  std::string out = "# ridge:";
  const auto text = [&](std::string_view key, std::string_view value) {
    if (!value.empty()) out += fmt::format(" {}={}", key, value);
  };
  const auto number = [&](std::string_view key, int value) {
    if (value > 0) out += fmt::format(" {}={}", key, value);
  };
  if (!p.release.empty()) text("engine", fmt::format("{}-{}", engine_of(p.runner), p.release));
  text("device", p.device);
  text("vendor", p.vendor);
  text("system", p.system);
  number("gpus_per_node", p.gpus_per_node);
  text("network", p.network);
  text("model", p.model);
  if (trains(p.runner)) {
    if (p.checkpoint.find(' ') == std::string::npos && !speaks_megatron(p.runner)) text("tokenizer", p.checkpoint);
    if (p.runner == LaunchTarget::deepspeed) {  // what the program itself is told
      number("sequence", p.sequence);
      text("recompute", name(p.recompute));
    }
    if (p.runner == LaunchTarget::maxtext) {  // its mesh does not tell ranks that share experts from the others
      text("sharding", name(p.sharding));
      number("shard_group", p.shard_group);
    }
  } else {
    if (p.role != PoolRole::both) text("role", name(p.role));
    text("weights", name(p.weights));
    text("activations", name(p.activations));
    if (p.mode != LoadMode::closed_loop) text("mode", p.mode == LoadMode::fixed_batch ? "batch" : "offline");
    if (p.prefix_hit > 0) text("prefix", fmt::format("{}", p.prefix_hit));
    if (p.acceptance > 0) text("acceptance", fmt::format("{}", p.acceptance));
    number("isl", p.isl);
    number("osl", p.osl);
    number("concurrency", p.concurrency);
    if (p.exchange && (p.runner == LaunchTarget::trtllm || exchange_of(p.runner, exchange_flags(p)) != p.exchange)) {
      text("dispatch", name(*p.exchange));
    }
    number("experts", p.experts);
    text("base", p.base);
    number("lora", p.lora_rank);
    if (p.draft_tokens > 0) text("draft", fmt::format("{}:{}", p.draft_tokens, p.draft));
    // Neither has a flag for the share of the device itself.
    const bool told = p.runner == LaunchTarget::vllm || p.runner == LaunchTarget::sglang;
    if (!told && p.memory_utilization > 0) text("memory", fmt::format("{}", p.memory_utilization));
    if (p.runner == LaunchTarget::llamacpp) number("length", p.max_length);
  }
  if (p.gated) text("gated", "yes");
  return out + "\n";
}

std::string remarks(const LaunchPlan& p) {
  std::string out;
  const std::string& repository = p.base.empty() ? p.checkpoint : p.base;
  if (p.gated) {
    out += fmt::format("# {} is gated: accept its licence on the Hub and set HF_TOKEN.\n", repository);
  }
  if (!p.base.empty() && p.runner == LaunchTarget::llamacpp) {
    const bool wide = p.weights == Format::bf16 || p.weights == Format::fp16;
    const std::string first = wide ? p.checkpoint : "wide.gguf";
    out += fmt::format("# {} is made once from {} (after `hf download {} --local-dir hf`):\n", p.checkpoint, p.base,
                       p.base);
    out += fmt::format("#   python3 llama.cpp/convert_hf_to_gguf.py hf --outtype {} --outfile {}\n",
                       p.weights == Format::fp16 ? "f16" : "bf16", first);
    if (!wide) {
      const std::string_view type = p.weights == Format::int8 || p.weights == Format::q8_0 ? "Q8_0"
                                    : p.weights == Format::mxfp4                           ? "MXFP4_MOE"
                                    : p.weights == Format::q4_0                            ? "Q4_0"
                                    : p.weights == Format::q6_k                            ? "Q6_K"
                                                                                           : "Q4_K_M";
      out += fmt::format("#   llama-quantize {} {} {}\n", first, p.checkpoint, type);
    }
  } else if (!p.base.empty()) {
    const std::string command = conversion_command(p.weights, p.vendor, p.base, p.checkpoint);
    out += fmt::format("# No repository in {} is known; {} is made once from {}:\n#   {}\n", name(p.weights),
                       p.checkpoint, p.base, command);
  }
  if (p.online) out += fmt::format("# {} is stored in 16 bits and narrowed to fp8 while it loads.\n", p.checkpoint);
  if (p.runner == LaunchTarget::vllm && !p.hardware.plugin.empty()) {
    out += fmt::format("# vLLM runs on these devices by its plugin {}.\n", p.hardware.plugin);
  }
  if (trains(p.runner) && p.runner != LaunchTarget::primus) {
    out += "# Learning rate, steps and data are yours: what this script is given stands last and wins.\n";
  }
  return out;
}

Result<std::string> payload(const LaunchPlan& p, const LaunchOptions& options, Place place, std::string_view indent) {
  if (const Status s = check_layout(p); !s) return s.error();
  const int nodes = place == Place::pod && !trains(p.runner) && !spans_nodes(p) ? 1
                    : spans_nodes(p)                                            ? per_replica(p) / p.gpus_per_node
                                                                                : p.nodes();
  std::string out = fmt::format("NODES={}\n", nodes);
  if (nodes > 1) {
    out +=
        "NODE_RANK=${NODE_RANK:-${SLURM_NODEID:-${LWS_WORKER_INDEX:-${JOB_COMPLETION_INDEX:-0}}}}\n"
        "echo \"node $NODE_RANK of $NODES\"\n";
    const bool found = p.runner == LaunchTarget::maxtext && p.hardware.slices;  // hosts of a slice know each other
    if ((trains(p.runner) && !found) || (spans_nodes(p) && p.runner != LaunchTarget::trtllm)) {
      out += ": \"${MASTER_ADDR:?set MASTER_ADDR to the first node}\"\n";
    }
  } else {
    out += "echo \"$NODES node\"\n";
  }
  out += environment(p);
  const Result<std::string> rest = trains(p.runner) ? training(p, options) : serving(p, options, place);
  if (!rest) return rest.error();
  return indented(out + *rest, indent);
}

LaunchFile router_script(const LaunchPlan& p) {
  return {"router.sh",
          fmt::format("#!/usr/bin/env bash\n"
                      "# One address for the {} servers of the endpoint lists: nginx sends a request to the one "
                      "with the fewest open.\n"
                      "# usage: router.sh endpoints*.txt\n"
                      "set -euo pipefail\n\n"
                      "LISTEN=${{LISTEN:-8888}}\n"
                      "folder=$(mktemp -d)\n"
                      "{{\n"
                      "  echo \"daemon off; pid $folder/pid; error_log stderr;\"\n"
                      "  echo 'events {{ worker_connections 16384; }}'\n"
                      "  echo 'http {{'\n"
                      "  echo \"  access_log off; client_max_body_size 64m; client_body_temp_path $folder/body;\"\n"
                      "  echo \"  proxy_temp_path $folder/proxy; fastcgi_temp_path $folder/fastcgi;\"\n"
                      "  echo \"  uwsgi_temp_path $folder/uwsgi; scgi_temp_path $folder/scgi;\"\n"
                      "  echo '  upstream servers {{ least_conn; keepalive 256;'\n"
                      "  sed -e 's|^http://|    server |' -e 's|$| max_fails=2 fail_timeout=10s;|' \"$@\"\n"
                      "  echo '  }}'\n"
                      "  echo \"  server {{ listen $LISTEN; location / {{\"\n"
                      "  echo '    proxy_pass http://servers; proxy_http_version 1.1; proxy_set_header Connection "
                      "\"\";'\n"
                      "  echo '    proxy_buffering off; proxy_read_timeout 1h; proxy_next_upstream error timeout;'\n"
                      "  echo '  }} }}'\n"
                      "  echo '}}'\n"
                      "}} > \"$folder/nginx.conf\"\n"
                      "exec nginx -p \"$folder\" -c \"$folder/nginx.conf\"\n",
                      p.replicas)};
}

}  // namespace ridge::launch

namespace ridge {

Result<std::vector<LaunchFile>> emit(const LaunchPlan& plan, LaunchTarget target, const LaunchOptions& options) {
  if (!is_runner(plan.runner)) return Error{ErrorCode::bad_input, "", "a plan is run by an engine"};
  if (target == LaunchTarget::slurm) return launch::slurm_files(plan, options);
  if (target == LaunchTarget::k8s) return launch::kubernetes_files(plan, options);
  if (target == LaunchTarget::dynamo) return launch::dynamo_files(plan, options);
  if (target != plan.runner) {
    return Error{ErrorCode::refused, "",
                 fmt::format("the plan is for {}, not for {}", name(plan.runner), name(target))};
  }
  if (launch::spans_nodes(plan) && plan.replicas > 1) {
    return launch::cannot(
        fmt::format("{} replicas over several nodes each are no single script: emit for slurm or k8s", plan.replicas));
  }
  if (launch::spans_nodes(plan) && plan.runner == LaunchTarget::trtllm) {
    return launch::cannot("TensorRT-LLM over several nodes is started by MPI, a task for each GPU: emit for slurm");
  }
  const Result<std::string> body = launch::payload(plan, options, launch::Place::script, "");
  if (!body) return body.error();
  std::string text = "#!/usr/bin/env bash\n# " + launch::summary(plan) + "\n" + launch::remarks(plan);
  if (plan.nodes() > 1)
    text += fmt::format("# Run it on each of the {} nodes, with NODE_RANK 0 to {}.\n", plan.nodes(), plan.nodes() - 1);
  text += launch::ridge_line(plan) + "set -euo pipefail\n\n" + *body;
  const std::string_view called = plan.role == PoolRole::both ? name(target) : name(plan.role);
  std::vector<LaunchFile> files{{std::string(called) + ".sh", std::move(text)}};
  if (!trains(plan.runner) && plan.replicas > 1 && plan.role == PoolRole::both)
    files.push_back(launch::router_script(plan));
  return files;
}

}  // namespace ridge
