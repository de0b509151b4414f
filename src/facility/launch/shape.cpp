// The layers of a model as Megatron's command line has them.
#include <fmt/format.h>

#include <algorithm>

#include "facility/launch/plan.hpp"
#include "facility/launch/write.hpp"

namespace ridge::launch {

namespace {

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

}  // namespace

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

}  // namespace ridge::launch
