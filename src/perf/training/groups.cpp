#include "perf/training/groups.hpp"

#include <algorithm>

namespace ridge {
namespace {

// Chunk of the chunked scans (Mamba-2: 256; gated delta rule kernels: 64).
constexpr double kMambaChunk = 256;
constexpr double kDeltaChunk = 64;
constexpr double kBytes = 2;  // of one activation

void add(TrainingGroup& group, double n, double k, Cut cut, bool wide = false) {
  if (n <= 0 || k <= 0 || group.product_count == static_cast<int>(kProducts)) return;
  group.products[static_cast<std::size_t>(group.product_count++)] = {n, k, cut, wide};
  if (wide) return;
  // A narrow recipe casts the input of the forward product and the gradient of its output.
  (cut == Cut::rows ? group.cast_inner : group.cast_whole) += k;
  (cut == Cut::columns ? group.cast_inner : group.cast_whole) += n;
}

void add_attention(TrainingGroup& group, const Mixer& mixer, double hidden) {
  group.heads = mixer.heads;
  group.kv_heads = mixer.kv_heads;
  group.key_dim = mixer.head_dim;
  group.value_dim = mixer.v_head_dim > 0 ? mixer.v_head_dim : mixer.head_dim;
  group.window = mixer.window;
  group.both_ways = mixer.both_ways;
  const double query = group.heads * group.key_dim;
  const double key = group.kv_heads * group.key_dim;
  const double value = group.kv_heads * group.value_dim;
  const double output = group.heads * group.value_dim;
  add(group, query * (mixer.output_gate ? 2 : 1) + key + (mixer.value_is_key ? 0 : value), hidden, Cut::columns);
  add(group, hidden, output, Cut::rows);
  const double rotated = 2 * kBytes * (query + key);
  group.inner_forward += rotated;
  group.inner_backward += rotated;
  group.kept_inner += kBytes * (query + key + value + output);
}

void add_mla(TrainingGroup& group, const Mixer& mixer, double hidden) {
  group.heads = mixer.heads;
  group.kv_heads = mixer.heads;
  group.key_dim = mixer.qk_nope_dim + mixer.qk_rope_dim;
  group.value_dim = mixer.v_head_dim;
  // Of compressed entries that are not chosen from, 32 beside a window of 128 at 4K tokens, none is counted.
  group.window = mixer.window + mixer.index_topk;
  const double query = group.heads * group.key_dim;
  const double value = group.heads * group.value_dim;
  const double rank = mixer.kv_lora_rank;
  if (mixer.q_lora_rank > 0) {
    add(group, mixer.q_lora_rank, hidden, Cut::whole);
    add(group, query, mixer.q_lora_rank, Cut::columns);
  } else {
    add(group, query, hidden, Cut::columns);
  }
  add(group, rank + mixer.qk_rope_dim, hidden, Cut::whole);
  if (mixer.shared_kv) {
    const double grouped = static_cast<double>(mixer.output_groups) * mixer.output_rank;
    add(group, grouped, value / mixer.output_groups, Cut::columns);
    add(group, hidden, grouped, Cut::rows);
    if (mixer.compress > 0) {
      add(group, 2 * (rank + mixer.qk_rope_dim) * (mixer.index_heads > 0 ? 2 : 1), hidden, Cut::whole);
    }
  } else {
    add(group, group.heads * mixer.qk_nope_dim + value, rank, Cut::columns);
    add(group, hidden, value, Cut::rows);
  }
  // Rotary parts are split off, turned and joined again: query and key pass through memory twice.
  group.inner_forward += 4 * kBytes * 2 * query;
  group.inner_backward += 4 * kBytes * 2 * query;
  group.hidden_forward += 4 * kBytes * (mixer.q_lora_rank + rank);
  group.hidden_backward += 6 * kBytes * (mixer.q_lora_rank + rank);
  group.kept_hidden += 2 * kBytes * (mixer.q_lora_rank + rank);
  group.kept_inner += kBytes * (2 * query + 2 * value);
}

// State-space duality in chunks (Mamba-2, section 6): scores within a chunk, and a state passed between chunks.
void add_mamba2(TrainingGroup& group, const Mixer& mixer, double hidden) {
  const double heads = mixer.state_v_heads;
  const double inner = heads * mixer.state_v_dim;
  const double groups = static_cast<double>(mixer.state_k_heads) * mixer.state_k_dim;
  add(group, 2 * inner + 2 * groups + heads, hidden, Cut::columns);
  add(group, hidden, inner, Cut::rows);
  group.state_flops = 2 * (kMambaChunk * (groups + inner) / 2 + 2 * inner * mixer.state_k_dim);
  group.state_bytes = kBytes * 10 * (inner + 2 * groups);
  group.kept_inner += kBytes * (4 * inner + 2 * groups);
}

void add_linear_attention(TrainingGroup& group, const Mixer& mixer, double hidden) {
  const double keys = static_cast<double>(mixer.state_k_heads) * mixer.state_k_dim;
  const double values = static_cast<double>(mixer.state_v_heads) * mixer.state_v_dim;
  add(group, 2 * keys + values * (mixer.output_gate ? 2 : 1) + (mixer.state_gates ? 2.0 * mixer.state_v_heads : 0),
      hidden, Cut::columns);
  add(group, hidden, values, Cut::rows);
  // The delta rule reads, corrects and writes the state: three products with it, and two within the chunk.
  group.state_flops = 2 * (3 * values * mixer.state_k_dim + kDeltaChunk * (keys + values));
  group.state_bytes = kBytes * 10 * (2 * keys + 2 * values);
  group.kept_inner += kBytes * (2 * keys + 4 * values);
}

void add_ffn(TrainingGroup& group, double width, double channels, bool gated) {
  if (width <= 0) return;
  const double branches = gated ? 2 : 1;
  add(group, branches * width, channels, Cut::columns);
  add(group, channels, width, Cut::rows);
  group.inner_forward += kBytes * (branches + 1) * width;
  group.inner_backward += kBytes * (2 * branches + 1) * width;
  group.kept_inner += kBytes * (branches + 1) * width;
  group.light_inner += kBytes * width;
  group.narrow_inner += width;
}

}  // namespace

double mean_reach(double sequence, double window) noexcept {
  if (window <= 0 || window >= sequence) return (sequence + 1) / 2;
  return window - window * (window - 1) / (2 * sequence);
}

TrainingGroup training_group(const Model& model, const LayerGroup& layer, AttentionKernel attention, bool eager) {
  const double hidden = model.hidden;
  TrainingGroup group;
  group.count = layer.count;
  group.mixer = layer.mixer.kind;
  switch (layer.mixer.kind) {
    case MixerKind::none:
      break;
    case MixerKind::attention:
      add_attention(group, layer.mixer, hidden);
      break;
    case MixerKind::mla:
      add_mla(group, layer.mixer, hidden);
      break;
    case MixerKind::linear_attention:
      add_linear_attention(group, layer.mixer, hidden);
      break;
    case MixerKind::mamba2:
      add_mamba2(group, layer.mixer, hidden);
      break;
  }
  if (attention == AttentionKernel::unfused) group.window = 0;  // the square is computed whole and masked

  const Ffn& ffn = layer.ffn;
  if (ffn.kind == FfnKind::dense) add_ffn(group, ffn.width, hidden, ffn.gated);
  if (ffn.kind == FfnKind::moe) {
    group.moe = true;
    group.experts = ffn.experts;
    group.top_k = ffn.top_k;
    group.routing_groups = ffn.groups;
    group.groups_chosen = ffn.groups_chosen;
    group.expert_in = ffn.latent > 0 ? ffn.latent : hidden;
    group.expert_width = ffn.width;
    group.expert_matrices = ffn.gated ? 3 : 2;
    add(group, ffn.experts, hidden, Cut::whole, true);  // routers choose in 16 bits or more
    add_ffn(group, static_cast<double>(ffn.shared_experts) * ffn.shared_width, hidden, ffn.gated);
    if (ffn.latent > 0) {
      add(group, ffn.latent, hidden, Cut::whole);
      add(group, hidden, ffn.latent, Cut::whole);
    }
    // Gate weights are applied to the inner activation, so that the output of an expert need not be kept.
    group.kept_expert = kBytes * (group.expert_in + group.expert_matrices * ffn.width);
    group.narrow_expert = group.expert_in + ffn.width;
    group.expert_parameters = group.experts * group.expert_matrices * group.expert_in * ffn.width;
  }
  if (eager) {
    // The gate's activation and its product with the other branch are kept both; so are queries and keys before and
    // after they are turned.
    const double turned = (group.heads + group.kv_heads) * group.key_dim;
    group.kept_inner += kBytes * group.narrow_inner + kBytes * turned;
    // Norms of queries and keys keep their input widened to 32 bits, and their output.
    if (layer.mixer.qk_norm != QkNorm::none) group.kept_inner += 3 * kBytes * turned;
  }
  group.shared_parameters = layer_parameters(model, layer) - group.expert_parameters;

  // Each part of a layer normalises its input (read, write) and adds its output to the residual (two reads, a write);
  // backward, the norm reads input and gradient and writes one, and gradients of the two branches add up.
  const double parts = (layer.mixer.kind != MixerKind::none ? 1 : 0) + (ffn.kind != FfnKind::none ? 1 : 0);
  const double norms = parts * std::max(1.0, model.norms_per_layer / 2.0);
  group.hidden_forward += kBytes * hidden * (2 * norms + 3 * parts);
  group.hidden_backward += kBytes * hidden * (3 * norms + 3 * parts);
  group.kept_hidden += kBytes * hidden * (norms + parts);
  if (eager) group.kept_hidden += 2 * kBytes * hidden * parts;  // what goes into each part and what comes out of it
  group.light_hidden += kBytes * hidden * norms;
  group.narrow_hidden += hidden * norms;
  return group;
}

}  // namespace ridge
