// From answers to launch plans, and what differs between two of them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "facility/launch_vendor.hpp"
#include "facility/launch_write.hpp"
#include "ridge/launch.hpp"
#include "ridge/names.hpp"
#include "ridge/text.hpp"

namespace ridge {

namespace {

constexpr std::array<std::string_view, kLaunchTargets> kTargetNames = {"vllm",     "trtllm",   "sglang", "llamacpp",
                                                                       "megatron", "torchrun", "slurm",  "k8s"};

using launch::cannot;

const Device* device_of(const Knowledge& k, const std::string& id) {
  return k.catalogue.device(id.substr(0, id.find('/')));
}

/// Refuses devices the runner has no software for, and says whose they are.
Status take_vendor(LaunchPlan& p, const Knowledge& k) {
  const Device* device = device_of(k, p.device);
  if (device == nullptr) return {};
  p.vendor = device->vendor;
  return launch::runs_on(p.runner, device->vendor, device->architecture, device->id);
}

/// A name with an owner, as repositories have: no path, no shape written out.
bool is_repository(std::string_view text) {
  return std::count(text.begin(), text.end(), '/') == 1 && text.find(':') == std::string_view::npos &&
         !text.starts_with('/') && !text.starts_with('.') && !text.ends_with(".json");
}

std::string folder_of(const LaunchPlan& p, std::string_view id) {
  return fmt::format("{}-{}{}", id, name(p.weights), p.runner == LaunchTarget::llamacpp ? ".gguf" : "");
}

/// What the engine loads: what was given, else the catalogue's repository in that format, else one to be made first.
Status take_checkpoint(LaunchPlan& p, const std::string& given, const std::string& asked, const Model& model,
                       const LaunchStock& stock) {
  const bool wide = p.weights == Format::bf16 || p.weights == Format::fp16 || p.weights == Format::fp32;
  const bool narrows = p.weights == Format::fp8 && (p.runner == LaunchTarget::vllm || p.runner == LaunchTarget::sglang);
  const std::string name_given = !given.empty() ? given : is_repository(asked) ? asked : std::string();
  if (!name_given.empty()) {
    p.checkpoint = name_given;
    const Checkpoint* known = stock.checkpoints.repository(name_given);
    p.gated = known != nullptr && known->gated;
    // A 16-bit repository under a plan in fp8: the engine narrows it while it loads.
    const Format stored = known != nullptr ? known->format : Format::bf16;
    const bool tells = known != nullptr || (is_repository(name_given) && format_in_name(name_given).empty());
    if (tells && stored == Format::bf16 && !wide && p.runner != LaunchTarget::llamacpp && given.empty()) {
      if (!narrows) {
        const Checkpoint* other = stock.checkpoints.find(model.id, p.weights, p.vendor);
        return cannot(fmt::format("{} is stored in 16 bits, the plan is for {}: say --model {}", name_given,
                                  name(p.weights), other != nullptr ? other->repository : "REPOSITORY in that format"));
      }
      p.online = true;
    }
    return {};
  }
  const Format looked_for = p.weights == Format::fp16 ? Format::bf16 : p.weights;
  const Checkpoint* found =
      p.runner == LaunchTarget::llamacpp ? nullptr : stock.checkpoints.find(model.id, looked_for, p.vendor);
  if (found != nullptr) {
    p.checkpoint = found->repository;
    p.gated = found->gated;
    return {};
  }
  const Checkpoint* base = stock.checkpoints.find(model.id, Format::bf16, p.vendor);
  if (base == nullptr) {
    return Error{ErrorCode::refused, "--checkpoint",
                 fmt::format("no repository of {} is known: say by --checkpoint what the engine loads", asked)};
  }
  p.gated = base->gated;
  if (narrows) {
    p.checkpoint = base->repository;
    p.online = true;
    return {};
  }
  p.base = base->repository;
  p.checkpoint = folder_of(p, model.id);
  return {};
}

/// The longest sequence the server takes: twice what the plan's requests have, as far as model and memory go.
int longest(const InferenceAnswer& a, int context) {
  const double usual = a.query.load.isl + a.query.load.osl;
  double most = std::ceil(2 * usual / 256) * 256;
  if (context > 0) most = std::min(most, 1.0 * context);
  const double room = a.outcome.estimate.kv_capacity_tokens;
  if (room > 0) most = std::min(most, room);
  return static_cast<int>(std::ceil(std::max(usual, most)));
}

std::string network_of(const Knowledge& k, const std::string& system_id, const std::string& device) {
  const System* system = k.catalogue.system(system_id);
  if (system == nullptr) {
    for (const System& s : k.catalogue.systems()) {
      if (s.device == device && !s.scale_out.empty()) {
        system = &s;
        break;
      }
    }
  }
  const Fabric* fabric = system == nullptr ? nullptr : k.catalogue.fabric(system->scale_out);
  if (fabric == nullptr) return "";
  return fabric->kind == FabricKind::infiniband ? "infiniband" : "ethernet";
}

int node_size(const Knowledge& k, const std::string& system_id, const std::string& device_id) {
  if (const System* system = k.catalogue.system(system_id)) return system->devices_per_node;
  const auto device = k.catalogue.find_device(device_id);
  return device && device->node_size ? device->node_size->value : 8;
}

/// What of a layer Megatron's GPT arguments cannot say; empty if they can.
std::string_view unspeakable(const Mixer& m) {
  if (m.kind != MixerKind::attention && m.kind != MixerKind::mla) return "layers that are not attention";
  if (m.window > 0) return "layers that see a window only";
  if (m.sinks) return "attention sinks";
  if (m.index_topk > 0) return "attention to chosen tokens";
  if (m.output_gate) return "gated attention";
  if (m.value_is_key) return "keys that are values";
  return {};
}

Result<ModelShape> shape_of(const Model& m, int sequence, const LaunchStock& stock) {
  ModelShape s;
  if (m.norms_per_layer > 2)
    return cannot(fmt::format("{} normalises outputs too: Megatron's GPT arguments cannot say it", m.id));
  s.layers = m.layers();
  s.hidden = m.hidden;
  s.vocab = m.vocab;
  s.tied = m.tied_embeddings;
  s.context = std::max(m.context, sequence);
  const Mixer* mixer = nullptr;
  for (const LayerGroup& g : m.groups) {
    if (const std::string_view what = unspeakable(g.mixer); !what.empty()) {
      return cannot(fmt::format("{} has {}: Megatron's GPT arguments cannot say it", m.id, what));
    }
    if (mixer != nullptr &&
        (mixer->heads != g.mixer.heads || mixer->kv_heads != g.mixer.kv_heads || mixer->head_dim != g.mixer.head_dim)) {
      return cannot(fmt::format("{} has layers of different attention: Megatron's GPT arguments cannot say it", m.id));
    }
    mixer = &g.mixer;
    s.gated = g.ffn.gated;
    if (g.ffn.kind == FfnKind::dense) s.ffn = g.ffn.width;
    if (g.ffn.kind == FfnKind::moe) {
      s.experts = g.ffn.experts;
      s.top_k = g.ffn.top_k;
      s.expert_ffn = g.ffn.width;
      s.shared_ffn = g.ffn.shared_experts * g.ffn.shared_width;
      s.shared_gate = g.ffn.shared_gate;
      s.groups = g.ffn.groups > 1 ? g.ffn.groups : 0;
      s.groups_chosen = s.groups > 0 ? g.ffn.groups_chosen : 0;
    }
  }
  if (mixer == nullptr) return cannot(fmt::format("{} has no layers", m.id));
  s.heads = mixer->heads;
  if (mixer->kind == MixerKind::mla) {
    s.q_lora = mixer->q_lora_rank;
    s.kv_lora = mixer->kv_lora_rank;
    s.qk_nope = mixer->qk_nope_dim;
    s.qk_rope = mixer->qk_rope_dim;
    s.v_dim = mixer->v_head_dim;
  } else {
    s.kv_heads = mixer->kv_heads == mixer->heads ? 0 : mixer->kv_heads;
    s.head_dim = mixer->head_dim;
  }
  if (s.experts > 0) {
    bool routed = false;
    for (const std::uint16_t g : m.order) {
      const bool moe = m.groups[g].ffn.kind == FfnKind::moe;
      if (!moe && routed)
        return cannot(fmt::format("{} mixes dense and routed layers: Megatron needs its own pattern", m.id));
      if (!moe) ++s.dense_layers;
      routed = routed || moe;
    }
    if (s.ffn == 0) s.ffn = s.expert_ffn;
  }
  s.qk_norm = mixer->qk_norm != QkNorm::none || mixer->kind == MixerKind::mla;  // latent attention has them built in
  s.qkv_bias = mixer->qkv_bias;
  s.norm_bias = m.norm_bias;
  s.learned_positions = m.learned_positions > 0;
  if (s.learned_positions) s.context = std::max(m.learned_positions, sequence);
  const auto known = std::find_if(stock.settings.begin(), stock.settings.end(),
                                  [&](const ModelSettings& one) { return one.model == m.id; });
  if (known != stock.settings.end()) {
    s.rotary_base = known->rotary_base;
    s.norm_epsilon = known->norm_epsilon;
    s.rope_scaling = known->rope_scaling;
    s.yarn = s.kv_lora > 0 ? known->yarn : 0;
    if (known->yarn > 0 && s.kv_lora == 0)
      return cannot(fmt::format("{} stretches positions by YaRN: Megatron's GPT arguments cannot say it", m.id));
    s.sigmoid_router = s.experts > 0 && known->sigmoid_router;
    s.router_scaling = s.experts > 0 && known->router_scaling != 1 ? known->router_scaling : 0;
  } else {
    // A model of the catalogue has one that nobody told us; one that was written out has whichever its owner likes.
    s.rotary_open = !s.learned_positions && m.source != 0;
  }
  return s;
}

}  // namespace

std::string_view name(LaunchTarget target) {
  return kTargetNames[static_cast<std::size_t>(target)];
}

Result<LaunchTarget> parse_launch_target(std::string_view text) {
  for (std::size_t i = 0; i < kTargetNames.size(); ++i) {
    if (kTargetNames[i] == text) return static_cast<LaunchTarget>(i);
  }
  if (text == "kubernetes") return LaunchTarget::k8s;
  if (text == "llama.cpp" || text == "llama-cpp" || text == "llama-server") return LaunchTarget::llamacpp;
  if (text == "megatron-lm") return LaunchTarget::megatron;
  if (text == "tensorrt-llm") return LaunchTarget::trtllm;
  if (text == "torchtitan" || text == "pytorch") return LaunchTarget::torchrun;
  const std::string near = nearest(text, kTargetNames.data(), kTargetNames.size());
  return Error{ErrorCode::bad_input, "",
               fmt::format("nothing is emitted for {}; {}", quoted(text),
                           near.empty() ? "there are vllm, trtllm, sglang, llamacpp, megatron, torchrun, slurm and k8s"
                                        : "did you mean " + near + "?")};
}

bool trains(LaunchTarget runner) {
  return runner == LaunchTarget::megatron || runner == LaunchTarget::torchrun;
}

std::string_view engine_of(LaunchTarget runner) {
  return runner == LaunchTarget::torchrun ? "torchtitan" : name(runner);
}

bool is_runner(LaunchTarget target) {
  return target != LaunchTarget::slurm && target != LaunchTarget::k8s;
}

Result<LaunchPlan> launch_plan(const InferenceAnswer& a, const Knowledge& knowledge, const LaunchStock& stock,
                               const LaunchWish& wish) {
  if (a.refusal) return Error{ErrorCode::infeasible, "", "the plan cannot run: " + a.refusal->why};
  const DeploymentFacts& f = a.facts;
  const auto model = knowledge.catalogue.find_model(a.query.model);
  if (!model) return model.error();
  LaunchPlan p;
  p.runner = wish.runner;
  p.model = model->id.empty() ? a.query.model : model->id;
  p.device = f.device;
  if (const Status s = take_vendor(p, knowledge); !s) return s.error();
  p.gpus = f.gpus;
  p.gpus_per_node = node_size(knowledge, a.query.system, f.device);
  p.tp = f.tp;
  p.pp = f.pp;
  p.dp = f.dp;
  p.ep = f.ep;
  p.replicas = std::max(1, f.gpus / std::max(1, f.tp * f.pp * f.dp));
  p.weights = f.weights;
  // 16 bits, as the model's own.
  p.kv = f.kv == Format::fp16 ? Format::bf16 : f.kv;
  // What the plan assumes is said, whatever the release would do by itself.
  const Engine* engine = knowledge.engines.find(f.engine, EngineWork::inference).engine;
  const InferenceLoad& load = a.query.load;
  const auto said = [](double value, double usual) { return value > 0 ? value : usual; };
  double sequences = said(a.query.max_sequences, engine != nullptr ? engine->max_sequences : 0);
  if (p.runner == LaunchTarget::llamacpp && a.query.max_sequences == 0) {
    // Slots have their memory from the start: no more of them than the load and the cache have use for.
    const double clients = load.mode == LoadMode::fixed_batch ? load.batch : load.concurrency;
    const double each = std::ceil(clients / p.replicas);
    if (each > 0) sequences = std::min(sequences, each);
  }
  p.max_sequences = static_cast<int>(sequences);
  p.max_batched_tokens =
      static_cast<int>(said(a.query.max_batched_tokens, engine != nullptr ? engine->max_batched_tokens : 0));
  p.memory_utilization = said(a.query.memory_utilization, engine != nullptr ? engine->memory_utilization : 0);
  p.max_length = longest(a, model->context);
  if (p.runner == LaunchTarget::llamacpp && a.outcome.estimate.kv_capacity_tokens > 0) {
    const double room = std::floor(a.outcome.estimate.kv_capacity_tokens / std::max(1, p.max_sequences));
    p.max_length = static_cast<int>(std::max(load.isl + load.osl, std::min(1.0 * p.max_length, room)));
  }
  if (p.runner == LaunchTarget::trtllm && p.memory_utilization > 0) {
    const auto part = [&](MemoryPart which) {
      return a.outcome.estimate.memory_bytes[static_cast<std::size_t>(which)];
    };
    const double taken =
        part(MemoryPart::weights) + part(MemoryPart::activations) + part(MemoryPart::graphs_and_buffers);
    const double share = (p.memory_utilization * f.memory_bytes - taken) / (f.memory_bytes - taken);
    if (share > 0 && share < 1) p.kv_fraction = std::floor(share * 1000) / 1000;
  }
  p.isl = static_cast<int>(std::lround(load.isl));
  p.osl = static_cast<int>(std::lround(load.osl));
  p.concurrency = static_cast<int>(std::lround(load.mode == LoadMode::fixed_batch ? load.batch : load.concurrency));
  p.lora_rank = static_cast<int>(a.query.lora_rank);
  p.draft_tokens = static_cast<int>(load.draft_tokens);
  if (p.draft_tokens > 0) {
    p.draft = wish.draft;
    if (p.draft.empty() && model->mtp_layers > 0) p.draft = "mtp";
    if (p.draft.empty()) {
      return Error{ErrorCode::refused, "--draft-model",
                   fmt::format("{} has no layers of its own that draft: say which model does", p.model)};
    }
  }
  if (a.query.cpu_offload > 0) {
    return cannot("a plan that keeps weights in host memory is not emitted: say --cpu-offload-gb 0 and more devices");
  }
  if (p.nodes() > 1) p.network = network_of(knowledge, a.query.system, f.device);
  if (const Status s = take_checkpoint(p, wish.checkpoint, a.query.model, *model, stock); !s) return s.error();
  return p;
}

namespace {

/// What of a training plan the runner has no flag for.
Status speakable(const TrainingAnswer& a, LaunchTarget runner) {
  const TrainingQuery& q = a.query;
  const TrainingPlan& t = q.plan;
  const std::string_view who = runner == LaunchTarget::megatron ? "pretrain_gpt.py of Megatron" : "torchtitan";
  const auto refuse = [&](std::string_view what, std::string_view instead) {
    return cannot(fmt::format("{} has no flag for {}: say {}", who, what, instead));
  };
  if (q.task == TrainingTask::lora)
    return refuse("adapters", "--task pretrain, or train them by Megatron-Bridge or PEFT");
  if (q.task == TrainingTask::sft) {
    return refuse("fine-tuning alone", "--task pretrain, and give the script your tokenizer's flags");
  }
  if (t.schedule == Schedule::zero_bubble || t.schedule == Schedule::dual_pipe) {
    return refuse(fmt::format("the schedule {}", name(t.schedule)), "--schedule 1f1b or interleaved");
  }
  if (t.offload > 0) return refuse("a share of activations on the host", "--offload 0 and --recompute full");
  if (t.offload_optimizer) return refuse("an optimizer on the host as the plan has it", "no --offload-optimizer");
  if (t.capacity > 0) return refuse("experts that drop tokens as the plan has it", "no --capacity");
  if (q.wide_layers > 0 && runner == LaunchTarget::torchrun) return refuse("layers in 16 bits", "no --wide-layers");
  if (q.mtp && runner == LaunchTarget::torchrun) return refuse("multi-token prediction", "no --mtp");
  if (runner == LaunchTarget::torchrun && t.cp > 1 && t.context == ContextParallel::ulysses) {
    return refuse("ulysses", "--cp-kind ring");
  }
  if (q.cluster.order == RankOrder::pipeline_before_data) {
    return refuse("another order of ranks", "--rank-order tp-cp-ep-dp-pp");
  }
  return {};
}

/// torchtitan's name and size of a model: "llama3/8B".
std::string_view flavor_of(std::string_view model) {
  constexpr std::pair<std::string_view, std::string_view> kFlavors[] = {
      {"llama3-8b", "llama3/8B"},
      {"llama3-70b", "llama3/70B"},
      {"llama3.1-8b", "llama3/8B"},
      {"llama3.1-70b", "llama3/70B"},
      {"llama3.1-405b", "llama3/405B"},
      {"llama3.3-70b", "llama3/70B"},
      {"llama4-scout", "llama4/17bx16e"},
      {"llama4-maverick", "llama4/17bx128e"},
      {"deepseek-v2-lite", "deepseek_v3/16B"},
      {"deepseek-v2", "deepseek_v3/236B"},
      {"deepseek-v3", "deepseek_v3/671B"},
      {"deepseek-r1", "deepseek_v3/671B"},
      {"qwen3-0.6b", "qwen3/0.6B"},
      {"qwen3-1.7b", "qwen3/1.7B"},
      {"qwen3-4b", "qwen3/4B"},
      {"qwen3-8b", "qwen3/8B"},
      {"qwen3-14b", "qwen3/14B"},
      {"qwen3-32b", "qwen3/32B"},
      {"qwen3-30b-a3b", "qwen3/30B-A3B"},
      {"qwen3-235b-a22b", "qwen3/235B-A22B"},
      {"gpt-oss-20b", "gpt_oss/20b"},
      {"gpt-oss-120b", "gpt_oss/120b"},
  };
  for (const auto& [id, flavor] : kFlavors) {
    if (id == model) return flavor;
  }
  return {};
}

}  // namespace

Result<LaunchPlan> launch_plan(const TrainingAnswer& a, const Knowledge& knowledge, const LaunchStock& stock,
                               const LaunchWish& wish) {
  if (a.refusal) return Error{ErrorCode::infeasible, "", "the plan cannot run: " + a.refusal->why};
  if (const Status s = speakable(a, wish.runner); !s) return s.error();
  const auto model = knowledge.catalogue.find_model(a.query.model);
  if (!model) return model.error();
  const TrainingPlan& t = a.query.plan;
  const TrainingEstimate& e = a.outcome.estimate;
  LaunchPlan p;
  p.runner = wish.runner;
  p.model = model->id.empty() ? a.query.model : model->id;
  p.device = a.facts.device;
  if (const Status s = take_vendor(p, knowledge); !s) return s.error();
  p.gpus = t.gpus;
  p.gpus_per_node =
      a.query.gpus_per_node > 0 ? a.query.gpus_per_node : node_size(knowledge, a.query.system, a.facts.device);
  p.tp = t.tp;
  p.pp = t.pp;
  p.cp = t.cp;
  p.ep = t.ep;
  p.etp = std::max(1, t.etp);
  p.dp = a.facts.dp;
  p.vp = e.vp;
  p.sequence = t.sequence;
  p.global_batch = t.global_batch;
  p.micro_batch = t.micro_batch;
  if (p.cp > 1) p.context = t.context;
  p.precision = a.facts.precision;
  p.block_scales = p.precision == Format::fp8 && a.query.block_scales;
  p.sharding = e.sharding;
  p.recompute = e.recompute;
  if (p.sharding == Sharding::hsdp)
    p.shard_group = t.shard_group > 0 ? t.shard_group : std::max(1, p.gpus_per_node / p.tp);
  if (p.sharding == Sharding::hsdp && p.shard_group >= p.dp) p.sharding = Sharding::zero3;  // one group is all of them
  if (p.sharding == Sharding::hsdp && p.shard_group == 1) p.sharding = Sharding::none;
  if (p.sharding != Sharding::hsdp) p.shard_group = 0;
  // Weights start at random: only the tokenizer comes from a repository.
  const Result<Format> own = parse_format(model->quantization);
  const Checkpoint* base = own ? stock.checkpoints.find(model->id, *own, p.vendor) : nullptr;
  if (base == nullptr) base = stock.checkpoints.find(model->id, Format::bf16, p.vendor);
  if (base == nullptr && !model->id.empty()) {
    const auto any = std::find_if(stock.checkpoints.all().begin(), stock.checkpoints.all().end(),
                                  [&](const Checkpoint& c) { return c.model == model->id; });
    if (any != stock.checkpoints.all().end()) base = &*any;
  }
  p.checkpoint = !wish.checkpoint.empty()       ? wish.checkpoint
                 : is_repository(a.query.model) ? a.query.model
                 : base != nullptr              ? base->repository
                                                : std::string();
  p.gated = base != nullptr && base->gated && p.checkpoint == base->repository;
  if (wish.runner == LaunchTarget::megatron) {
    const Result<ModelShape> shape = shape_of(*model, t.sequence, stock);
    if (!shape) return shape.error();
    p.shape = *shape;
    if (a.query.mtp) p.shape.mtp_layers = model->mtp_layers;
    if (p.shape.experts == 0) p.etp = 1;
    if (a.query.wide_layers > 0)
      return cannot("--wide-layers are not emitted for Megatron: give the script --first-last-layers-bf16");
  }
  if (wish.runner == LaunchTarget::torchrun) {
    p.flavor = flavor_of(model->id);
    p.vp = 1;
    // Sharding over one rank, and the engine's own zero1, are nothing that torchtitan knows: all or nothing.
    if (p.dp == 1) p.sharding = Sharding::none;
  }
  if (p.nodes() > 1) p.network = network_of(knowledge, a.query.system, a.facts.device);
  return p;
}

std::vector<std::string> differences(const LaunchPlan& a, const LaunchPlan& b) {
  std::vector<std::string> out;
  const auto text = [&](const char* what, std::string_view x, std::string_view y) {
    if (x != y)
      out.push_back(fmt::format("{}: {} in the file, {} in the plan", what, x.empty() ? "nothing" : x,
                                y.empty() ? "nothing" : y));
  };
  const auto number = [&](const char* what, int x, int y) { text(what, std::to_string(x), std::to_string(y)); };
  text("runner", name(a.runner), name(b.runner));
  text("model", a.model, b.model);
  text("release", a.release, b.release);
  text("checkpoint", a.checkpoint, b.checkpoint);
  text("made from", a.base, b.base);
  text("draft model", a.draft, b.draft);
  text("flavor", a.flavor, b.flavor);
  text("device", a.device, b.device);
  text("network", a.network, b.network);
  const std::pair<const char*, int LaunchPlan::*> numbers[] = {{"gpus", &LaunchPlan::gpus},
                                                               {"gpus per node", &LaunchPlan::gpus_per_node},
                                                               {"tp", &LaunchPlan::tp},
                                                               {"pp", &LaunchPlan::pp},
                                                               {"dp", &LaunchPlan::dp},
                                                               {"ep", &LaunchPlan::ep},
                                                               {"replicas", &LaunchPlan::replicas},
                                                               {"max sequences", &LaunchPlan::max_sequences},
                                                               {"max batched tokens", &LaunchPlan::max_batched_tokens},
                                                               {"longest sequence", &LaunchPlan::max_length},
                                                               {"cp", &LaunchPlan::cp},
                                                               {"etp", &LaunchPlan::etp},
                                                               {"vp", &LaunchPlan::vp},
                                                               {"sequence", &LaunchPlan::sequence},
                                                               {"global batch", &LaunchPlan::global_batch},
                                                               {"micro-batch", &LaunchPlan::micro_batch},
                                                               {"shard group", &LaunchPlan::shard_group},
                                                               {"isl", &LaunchPlan::isl},
                                                               {"osl", &LaunchPlan::osl},
                                                               {"concurrency", &LaunchPlan::concurrency},
                                                               {"LoRA rank", &LaunchPlan::lora_rank},
                                                               {"draft tokens", &LaunchPlan::draft_tokens}};
  for (const auto& [what, field] : numbers) number(what, a.*field, b.*field);
  text("weights", name(a.weights), name(b.weights));
  text("KV cache", name(a.kv), name(b.kv));
  text("precision", name(a.precision), name(b.precision));
  text("sharding", name(a.sharding), name(b.sharding));
  text("recompute", name(a.recompute), name(b.recompute));
  if (a.memory_utilization != b.memory_utilization) {
    text("memory utilization", fmt::format("{}", a.memory_utilization), fmt::format("{}", b.memory_utilization));
  }
  if (a.kv_fraction != b.kv_fraction) {
    text("KV share of free memory", fmt::format("{}", a.kv_fraction), fmt::format("{}", b.kv_fraction));
  }
  text("context parallelism", name(a.context), name(b.context));
  text("weights narrowed on loading", a.online ? "yes" : "no", b.online ? "yes" : "no");
  if (!(a.shape == b.shape)) out.emplace_back("the layers of the model differ");
  return out;
}

}  // namespace ridge
