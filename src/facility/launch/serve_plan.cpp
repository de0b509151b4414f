// From answers about serving to launch plans.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "facility/launch/exchange.hpp"
#include "facility/launch/plan.hpp"
#include "facility/launch/vendor.hpp"
#include "facility/launch/write.hpp"
#include "ridge/catalogue/names.hpp"

namespace ridge {

namespace launch {

namespace {

const Device* device_of(const Knowledge& k, const std::string& id) {
  return k.catalogue.device(id.substr(0, id.find('/')));
}

}  // namespace

/// Refuses devices the runner has no software for, and says whose they are.
Status take_vendor(LaunchPlan& p, const Knowledge& k, const LaunchStock& stock) {
  p.hardware = vendor_named(stock.vendors, "");
  const Device* device = device_of(k, p.device);
  if (device == nullptr) return {};
  p.vendor = device->vendor;
  p.hardware = vendor_named(stock.vendors, p.vendor);
  return runs_on(p.runner, stock.vendors, device->vendor, device->architecture, device->id);
}

/// A name with an owner, as repositories have: no path, no shape written out.
bool is_repository(std::string_view text) {
  return std::count(text.begin(), text.end(), '/') == 1 && text.find(':') == std::string_view::npos &&
         !text.starts_with('/') && !text.starts_with('.') && !text.ends_with(".json");
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

}  // namespace launch

namespace {

using launch::cannot;

std::string folder_of(const LaunchPlan& p, std::string_view id) {
  return fmt::format("{}-{}{}", id, name(p.weights), p.runner == LaunchTarget::llamacpp ? ".gguf" : "");
}

/// What the engine loads: what was given, else the catalogue's repository in that format, else one to be made first.
Status take_checkpoint(LaunchPlan& p, const std::string& given, const std::string& asked, const Model& model,
                       const LaunchStock& stock) {
  const bool wide = p.weights == Format::bf16 || p.weights == Format::fp16 || p.weights == Format::fp32;
  const bool narrows = p.weights == Format::fp8 && (p.runner == LaunchTarget::vllm || p.runner == LaunchTarget::sglang);
  const std::string name_given = !given.empty() ? given : launch::is_repository(asked) ? asked : std::string();
  if (!name_given.empty()) {
    p.checkpoint = name_given;
    const Checkpoint* known = stock.checkpoints.repository(name_given);
    p.gated = known != nullptr && known->gated;
    // A 16-bit repository under a plan in fp8: the engine narrows it while it loads.
    const Format stored = known != nullptr ? known->format : Format::bf16;
    const bool tells = known != nullptr || (launch::is_repository(name_given) && format_in_name(name_given).empty());
    if (tells && stored == Format::bf16 && !wide && p.runner != LaunchTarget::llamacpp && given.empty()) {
      if (!narrows) {
        const Checkpoint* other = stock.checkpoints.find(model.id, p.weights, p.vendor);
        return cannot(fmt::format("{} is stored in 16 bits, the plan is for {}: say ⟦model={}⟧", name_given,
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
    return Error{ErrorCode::refused, "⟦checkpoint⟧",
                 fmt::format("no repository of {} is known: say by ⟦checkpoint⟧ what the engine loads", asked)};
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

/// How the plan's experts are dealt out and reached, as far as the engine can be told.
void take_experts(LaunchPlan& p, const DeploymentFacts& f, const Model& model) {
  if (p.ep < 2) return;
  p.exchange = f.exchange;
  p.redundant_experts = f.redundant_experts;
  // vLLM and TensorRT-LLM have copies only of experts that they place by their load.
  p.rebalanced = f.rebalanced || (f.redundant_experts > 0 && p.runner != LaunchTarget::sglang);
  p.two_batches = f.two_batches && launch::overlaps_batches(p);
  if (p.runner != LaunchTarget::trtllm || !p.rebalanced) return;
  for (const LayerGroup& g : model.groups) p.experts = std::max(p.experts, g.ffn.experts);
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

}  // namespace

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
  if (const Status s = launch::take_vendor(p, knowledge, stock); !s) return s.error();
  p.gpus = f.gpus;
  p.gpus_per_node = launch::node_size(knowledge, a.query.system, f.device);
  p.tp = f.tp;
  p.pp = f.pp;
  p.dp = f.dp;
  p.ep = f.ep;
  p.replicas = std::max(1, f.gpus / std::max(1, f.tp * f.pp * f.dp));
  take_experts(p, f, *model);
  p.weights = f.weights;
  p.activations = f.activations;
  p.system = a.query.system;
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
  p.embeds = model->embeds;
  if (p.embeds && p.runner != LaunchTarget::vllm && p.runner != LaunchTarget::sglang) {
    return cannot("models that embed are emitted for vllm and sglang");
  }
  const bool encodes = model->reads_both_ways() || model->cross_tokens() > 0;
  if (model->cross_tokens() > 0 && p.runner != LaunchTarget::vllm) {
    return cannot("models of speech are emitted for vllm");
  }
  if (encodes && model->context > 0) p.max_length = model->context;  // no cache to save on, or hardly any
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
  p.mode = load.mode;
  p.prefix_hit = load.prefix_hit;
  p.acceptance = load.draft_tokens > 0 ? load.acceptance : 0;
  p.isl = static_cast<int>(std::lround(load.isl));
  p.osl = static_cast<int>(std::lround(load.osl));
  p.concurrency = static_cast<int>(std::lround(load.mode == LoadMode::fixed_batch ? load.batch : load.concurrency));
  p.lora_rank = static_cast<int>(a.query.lora_rank);
  p.draft_tokens = static_cast<int>(load.draft_tokens);
  if (p.draft_tokens > 0) {
    p.draft = wish.draft;
    if (p.draft.empty() && model->mtp_layers > 0) p.draft = "mtp";
    if (p.draft.empty()) {
      return Error{ErrorCode::refused, "⟦draft_model⟧",
                   fmt::format("{} has no layers of its own that draft: say which model does", p.model)};
    }
  }
  if (a.query.cpu_offload > 0) {
    return cannot("a plan that keeps weights in host memory is not emitted: say ⟦cpu_offload_gb=0⟧ and more devices");
  }
  if (p.nodes() > 1) p.network = launch::network_of(knowledge, a.query.system, f.device);
  if (const Status s = take_checkpoint(p, wish.checkpoint, a.query.model, *model, stock); !s) return s.error();
  return p;
}

}  // namespace ridge
