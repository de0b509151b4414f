// From answers to launch plans, and what differs between two of them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "ridge/launch.hpp"
#include "ridge/text.hpp"

namespace ridge {

namespace {

constexpr std::array<std::string_view, kLaunchTargets> kTargetNames = {"vllm",     "trtllm", "sglang", "megatron",
                                                                       "torchrun", "slurm",  "k8s"};

Error cannot(std::string message) {
  return {ErrorCode::refused, "", std::move(message)};
}

/// Names the runner of a model's own repository would take where the catalogue has no path: the id itself.
std::string checkpoint_of(const std::string& model) {
  return model;
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

Result<ModelShape> shape_of(const Model& m, int sequence) {
  ModelShape s;
  s.layers = m.layers();
  s.hidden = m.hidden;
  s.vocab = m.vocab;
  s.tied = m.tied_embeddings;
  s.context = std::max(m.context, sequence);
  const Mixer* mixer = nullptr;
  for (const LayerGroup& g : m.groups) {
    if (g.mixer.kind != MixerKind::attention && g.mixer.kind != MixerKind::mla) {
      return cannot(fmt::format("{} has layers that are not attention: Megatron's GPT arguments cannot say it", m.id));
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
  if (text == "tensorrt-llm") return LaunchTarget::trtllm;
  if (text == "torchtitan" || text == "pytorch") return LaunchTarget::torchrun;
  const std::string near = nearest(text, kTargetNames.data(), kTargetNames.size());
  return Error{ErrorCode::bad_input, "",
               fmt::format("nothing is emitted for {}; {}", quoted(text),
                           near.empty() ? "there are vllm, trtllm, sglang, megatron, torchrun, slurm and k8s"
                                        : "did you mean " + near + "?")};
}

bool trains(LaunchTarget runner) {
  return runner == LaunchTarget::megatron || runner == LaunchTarget::torchrun;
}

bool is_runner(LaunchTarget target) {
  return target != LaunchTarget::slurm && target != LaunchTarget::k8s;
}

Result<LaunchPlan> launch_plan(const InferenceAnswer& a, const Knowledge& knowledge, LaunchTarget runner) {
  if (a.refusal) return Error{ErrorCode::infeasible, "", "the plan cannot run: " + a.refusal->why};
  const DeploymentFacts& f = a.facts;
  LaunchPlan p;
  p.runner = runner;
  p.model = a.query.model;
  p.checkpoint = checkpoint_of(a.query.model);
  p.device = f.device;
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
  p.max_sequences = static_cast<int>(a.query.max_sequences);
  p.max_batched_tokens = static_cast<int>(a.query.max_batched_tokens);
  p.memory_utilization = a.query.memory_utilization;
  p.max_length = static_cast<int>(std::ceil(a.query.load.isl + a.query.load.osl));
  if (p.nodes() > 1) p.network = network_of(knowledge, a.query.system, f.device);
  return p;
}

Result<LaunchPlan> launch_plan(const TrainingAnswer& a, const Knowledge& knowledge, LaunchTarget runner) {
  if (a.refusal) return Error{ErrorCode::infeasible, "", "the plan cannot run: " + a.refusal->why};
  const TrainingPlan& t = a.query.plan;
  const TrainingEstimate& e = a.outcome.estimate;
  LaunchPlan p;
  p.runner = runner;
  p.model = a.query.model;
  p.checkpoint = checkpoint_of(a.query.model);
  p.device = a.facts.device;
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
  p.precision = a.facts.precision;
  p.sharding = e.sharding;
  p.recompute = e.recompute;
  if (p.sharding == Sharding::hsdp)
    p.shard_group = t.shard_group > 0 ? t.shard_group : std::max(1, p.gpus_per_node / p.tp);
  if (p.sharding == Sharding::hsdp && p.shard_group >= p.dp) p.sharding = Sharding::zero3;  // one group is all of them
  if (p.sharding == Sharding::hsdp && p.shard_group == 1) p.sharding = Sharding::none;
  if (p.sharding != Sharding::hsdp) p.shard_group = 0;
  if (runner == LaunchTarget::megatron) {
    const auto model = knowledge.catalogue.find_model(a.query.model);
    if (!model) return model.error();
    const Result<ModelShape> shape = shape_of(*model, t.sequence);
    if (!shape) return shape.error();
    p.shape = *shape;
  }
  if (runner == LaunchTarget::torchrun) {
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
  text("checkpoint", a.checkpoint, b.checkpoint);
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
                                                               {"shard group", &LaunchPlan::shard_group}};
  for (const auto& [what, field] : numbers) number(what, a.*field, b.*field);
  text("weights", name(a.weights), name(b.weights));
  text("KV cache", name(a.kv), name(b.kv));
  text("precision", name(a.precision), name(b.precision));
  text("sharding", name(a.sharding), name(b.sharding));
  text("recompute", name(a.recompute), name(b.recompute));
  if (a.memory_utilization != b.memory_utilization) {
    text("memory utilization", fmt::format("{}", a.memory_utilization), fmt::format("{}", b.memory_utilization));
  }
  if (!(a.shape == b.shape)) out.emplace_back("the layers of the model differ");
  return out;
}

}  // namespace ridge
