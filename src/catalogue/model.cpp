#include "ridge/catalogue/model.hpp"

#include <algorithm>
#include <numeric>

namespace ridge {

namespace {

// Engines keep the short-convolution inputs of recurrent layers in the 16-bit type of the activations.
constexpr double kConvolutionStateBytes = 2;
// Indexer keys are kept in FP8 with one FP32 scale per 128 channels (DeepSeek-V3.2-Exp inference code).
constexpr double kIndexKeyBytes = 1;
constexpr double kIndexScaleBytes = 4;
constexpr double kIndexChannelsPerScale = 128;

/// Parameters of one layer by what uses them.
struct LayerParts {
  double attention = 0;
  double dense_ffn = 0;
  double routed = 0;
  double routed_active = 0;
  double shared = 0;
  double modulation = 0;
  double norms = 0;

  [[nodiscard]] double total() const { return attention + dense_ffn + routed + shared + modulation + norms; }
};

/// Matrix weights and the small rest (biases, scales, sinks) of one part of a layer.
struct Split {
  double weights = 0;
  double small = 0;
};

double value_dim(const Mixer& mixer) {
  return mixer.v_head_dim > 0 ? mixer.v_head_dim : mixer.head_dim;
}

Split attention_parameters(const Mixer& mixer, double hidden) {
  const double heads = mixer.heads;
  const double kv_heads = mixer.kv_heads;
  const double head_dim = mixer.head_dim;
  const double values = value_dim(mixer);
  const double query = heads * head_dim * (mixer.output_gate ? 2 : 1);
  const double key = kv_heads * head_dim;
  const double value = mixer.value_is_key ? 0 : kv_heads * values;
  Split split;
  split.weights = hidden * (query + key + value) + heads * values * hidden;
  if (mixer.qkv_bias) split.small += query + key + value;
  if (mixer.output_bias) split.small += hidden;
  if (mixer.sinks) split.small += heads;
  if (mixer.qk_norm == QkNorm::per_head) split.small += 2 * head_dim;
  if (mixer.qk_norm == QkNorm::full) split.small += (heads + kv_heads) * head_dim;
  if (mixer.cross_tokens > 0) {  // a second attention of the same shape
    split.weights *= 2;
    split.small *= 2;
  }
  if (mixer.index_heads > 0) {  // index queries and one key, both normalised (MiniMax M3)
    split.weights += hidden * (mixer.index_heads + 1.0) * mixer.index_dim;
    split.small += 2.0 * mixer.index_dim;
  }
  return split;
}

/// Queries through a latent, one key that is the value too, a grouped output, and what compresses entries: a value and
/// a weight for each token, of two overlapping spans where entries are chosen (DeepSeek-V4, section 2.3).
Split shared_kv_parameters(const Mixer& mixer, double hidden) {
  const double entry = static_cast<double>(mixer.kv_lora_rank) + mixer.qk_rope_dim;
  const double query = mixer.heads * entry;
  const double q_rank = mixer.q_lora_rank;
  const double grouped = static_cast<double>(mixer.output_groups) * mixer.output_rank;
  Split split;
  split.weights = hidden * q_rank + q_rank * query + hidden * entry + query * mixer.output_rank + grouped * hidden;
  split.small = q_rank + entry + mixer.heads;  // norms of the latents, sinks
  if (mixer.compress == 0) return split;
  const double spans = mixer.index_heads > 0 ? 2 : 1;
  split.weights += 2 * hidden * spans * entry;
  split.small += mixer.compress * spans * entry + entry;
  if (mixer.index_heads > 0) {
    const double index_dim = mixer.index_dim;
    split.weights +=
        q_rank * mixer.index_heads * index_dim + hidden * mixer.index_heads + 2 * hidden * spans * index_dim;
    split.small += mixer.compress * spans * index_dim + index_dim;
  }
  return split;
}

Split mla_parameters(const Mixer& mixer, double hidden) {
  if (mixer.shared_kv) return shared_kv_parameters(mixer, hidden);
  const double heads = mixer.heads;
  const double query = heads * (mixer.qk_nope_dim + mixer.qk_rope_dim);
  const double kv_rank = mixer.kv_lora_rank;
  const double q_rank = mixer.q_lora_rank;
  Split split;
  split.weights = q_rank > 0 ? hidden * q_rank + q_rank * query : hidden * query;
  split.weights += hidden * (kv_rank + mixer.qk_rope_dim);
  split.weights += kv_rank * heads * (mixer.qk_nope_dim + mixer.v_head_dim);
  split.weights += heads * mixer.v_head_dim * hidden;
  if (mixer.output_gate) split.weights += hidden * heads * mixer.v_head_dim;
  split.small = q_rank + kv_rank;  // norms of the two latents
  if (mixer.index_heads > 0) {
    const double index_heads = mixer.index_heads;
    const double index_dim = mixer.index_dim;
    // Index queries from the query latent, one key, and one weight per index head (DeepSeek-V3.2-Exp, section 2.1).
    split.weights +=
        (q_rank > 0 ? q_rank : hidden) * index_heads * index_dim + hidden * index_dim + hidden * index_heads;
    split.small += 2 * index_dim;  // layer norm of the key
  }
  return split;
}

Split linear_attention_parameters(const Mixer& mixer, double hidden) {
  const double keys = static_cast<double>(mixer.state_k_heads) * mixer.state_k_dim;
  const double values = static_cast<double>(mixer.state_v_heads) * mixer.state_v_dim;
  Split split;
  split.weights = hidden * (2 * keys + values) + values * hidden;
  if (mixer.output_gate) split.weights += hidden * values;
  if (mixer.state_gates) {
    split.weights += hidden * 2 * mixer.state_v_heads;
    split.small += 2.0 * mixer.state_v_heads;  // decay rate and time-step bias
    split.small += mixer.state_v_dim;          // output norm
  }
  split.small += mixer.conv * (2 * keys + values);
  if (mixer.qkv_bias) split.small += 2 * keys + values;
  if (mixer.output_bias) split.small += hidden;
  if (mixer.qk_norm != QkNorm::none) split.small += 2 * keys;
  return split;
}

Split mamba2_parameters(const Mixer& mixer, double hidden) {
  const double heads = mixer.state_v_heads;
  const double inner = heads * mixer.state_v_dim;
  const double groups = 2.0 * mixer.state_k_heads * mixer.state_k_dim;  // B and C
  Split split;
  split.weights = hidden * (2 * inner + groups + heads) + inner * hidden;
  split.small = (mixer.conv + 1) * (inner + groups);  // convolution with bias
  split.small += 3 * heads + inner;                   // decay, skip, time-step bias; gated norm
  return split;
}

Split mixer_parameters(const Mixer& mixer, double hidden) {
  switch (mixer.kind) {
    case MixerKind::none:
      return {};
    case MixerKind::attention:
      return attention_parameters(mixer, hidden);
    case MixerKind::mla:
      return mla_parameters(mixer, hidden);
    case MixerKind::linear_attention:
      return linear_attention_parameters(mixer, hidden);
    case MixerKind::mamba2:
      return mamba2_parameters(mixer, hidden);
  }
  return {};
}

/// One feed-forward block of `width` inner channels on `channels` outer ones.
Split block_parameters(const Ffn& ffn, double channels, double width) {
  Split split;
  split.weights = channels * width * (ffn.gated ? 3 : 2);
  if (ffn.bias) split.small += width * (ffn.gated ? 2 : 1) + channels;
  if (ffn.depthwise > 0) {
    const double inner = width * (ffn.gated ? 2 : 1);
    split.small += inner * (static_cast<double>(ffn.depthwise) * ffn.depthwise + 1);
  }
  return split;
}

void add_ffn(LayerParts& parts, const Ffn& ffn, double hidden) {
  if (ffn.kind == FfnKind::none) return;
  if (ffn.kind == FfnKind::dense) {
    const Split block = block_parameters(ffn, hidden, ffn.width);
    parts.dense_ffn += block.weights;
    parts.norms += block.small;
    return;
  }
  const double experts = ffn.experts;
  const double channels = ffn.latent > 0 ? ffn.latent : hidden;
  const Split routed = block_parameters(ffn, channels, ffn.width);
  parts.routed += experts * (routed.weights + routed.small);
  parts.routed_active += ffn.top_k * (routed.weights + routed.small);
  const Split shared = block_parameters(ffn, hidden, ffn.shared_width);
  parts.shared += ffn.shared_experts * (shared.weights + shared.small);
  // The latent projections serve every token, as shared experts do.
  if (ffn.latent > 0) parts.shared += 2 * hidden * ffn.latent;
  parts.norms += hidden * experts;
  if (ffn.router_bias) parts.norms += experts;
  if (ffn.shared_gate) parts.norms += hidden;
}

void add_dit(LayerParts& parts, const LayerGroup& group, double hidden) {
  const DitBlock& dit = group.dit;
  const Split mixer = mixer_parameters(group.mixer, hidden);
  if (dit.streams > 1) {
    parts.attention += mixer.weights;
    parts.norms += mixer.small;
    if (dit.text_stream_ends) {
      parts.attention -= static_cast<double>(group.mixer.heads) * value_dim(group.mixer) * hidden;
      parts.norms -= group.mixer.output_bias ? hidden : 0;
    } else {
      add_ffn(parts, group.ffn, hidden);
    }
    parts.modulation += (dit.text_modulation > 0 ? dit.text_modulation : dit.modulation) * hidden * (hidden + 1);
  }
  if (dit.second_attention) {
    parts.attention += mixer.weights;
    parts.norms += mixer.small;
  }
  if (dit.cross_attention > 0) {
    parts.attention += 2 * hidden * (hidden + dit.cross_attention);
    if (group.mixer.qkv_bias) parts.norms += 3 * hidden;
    if (group.mixer.output_bias) parts.norms += hidden;
    if (group.mixer.qk_norm == QkNorm::per_head) parts.norms += 2.0 * group.mixer.head_dim;
    if (group.mixer.qk_norm == QkNorm::full) parts.norms += 2 * hidden;
  }
  if (dit.skip) {
    parts.dense_ffn += 2 * hidden * hidden;
    parts.norms += 5 * hidden;  // bias, and a layer norm of 2 x hidden
  }
  // Parallel blocks join attention and feed-forward in one projection, which has one bias.
  if (dit.parallel && group.mixer.output_bias && group.ffn.bias) parts.norms -= hidden;
  parts.modulation += dit.modulation * hidden * (hidden + 1);
  parts.norms += dit.table * hidden;
}

double norm_parameters(const Model& model) {
  return static_cast<double>(model.hidden) * (model.norm_bias ? 2 : 1);
}

LayerParts layer_parts(const Model& model, const LayerGroup& group) {
  const double hidden = model.hidden;
  LayerParts parts;
  const Split mixer = mixer_parameters(group.mixer, hidden);
  parts.attention = mixer.weights;
  parts.norms = mixer.small + model.norms_per_layer * norm_parameters(model);
  add_ffn(parts, group.ffn, hidden);
  add_dit(parts, group, hidden);
  return parts;
}

bool keeps_kv(const Model& model) {
  return model.type == ModelType::language;
}

/// Elements that one token leaves in the KV cache of one layer.
double kv_elements(const Mixer& mixer) {
  if (mixer.both_ways) return 0;
  if (mixer.kind == MixerKind::attention) return mixer.kv_heads * (mixer.head_dim + value_dim(mixer));
  if (mixer.kind == MixerKind::mla) return static_cast<double>(mixer.kv_lora_rank) + mixer.qk_rope_dim;
  return 0;
}

double index_bytes(const Mixer& mixer) {
  if (mixer.index_heads == 0) return 0;
  const double entry = mixer.index_dim * (kIndexKeyBytes + kIndexScaleBytes / kIndexChannelsPerScale);
  return mixer.compress > 0 ? entry / mixer.compress : entry;
}

/// What a recurrent layer keeps per sequence, whatever its length.
double state_bytes(const Mixer& mixer) {
  if (mixer.kind != MixerKind::linear_attention && mixer.kind != MixerKind::mamba2) return 0;
  const double keys = static_cast<double>(mixer.state_k_heads) * mixer.state_k_dim;
  const double values = static_cast<double>(mixer.state_v_heads) * mixer.state_v_dim;
  const double convolved = (mixer.conv > 0 ? mixer.conv - 1 : 0) * (2 * keys + values);
  return values * mixer.state_k_dim * mixer.state_bytes_per_element + convolved * kConvolutionStateBytes;
}

}  // namespace

int Model::layers() const {
  return std::accumulate(groups.begin(), groups.end(), 0,
                         [](int sum, const LayerGroup& group) { return sum + group.count; });
}

bool Model::is_moe() const {
  return std::any_of(groups.begin(), groups.end(),
                     [](const LayerGroup& group) { return group.ffn.kind == FfnKind::moe; });
}

bool Model::reads_both_ways() const {
  return std::any_of(groups.begin(), groups.end(), [](const LayerGroup& group) { return group.mixer.both_ways; });
}

int Model::cross_tokens() const {
  int most = 0;
  for (const LayerGroup& group : groups) most = std::max(most, group.mixer.cross_tokens);
  return most;
}

Parameters count_parameters(const Model& model) {
  Parameters sum;
  double idle_experts = 0;
  for (const LayerGroup& group : model.groups) {
    const LayerParts parts = layer_parts(model, group);
    sum.attention += group.count * parts.attention;
    sum.dense_ffn += group.count * parts.dense_ffn;
    sum.routed_experts += group.count * parts.routed;
    sum.shared_experts += group.count * parts.shared;
    sum.modulation += group.count * parts.modulation;
    sum.norms += group.count * parts.norms;
    idle_experts += group.count * (parts.routed - parts.routed_active);
  }
  const double hidden = model.hidden;
  sum.embedding = hidden * (static_cast<double>(model.vocab) + model.learned_positions);
  sum.head = model.tied_embeddings ? 0 : hidden * model.vocab;
  if (model.type == ModelType::language && model.norms_per_layer > 0) sum.norms += norm_parameters(model);
  sum.norms += model.other_parameters;
  sum.total = sum.embedding + sum.head + sum.attention + sum.dense_ffn + sum.routed_experts + sum.shared_experts +
              sum.modulation + sum.norms;
  sum.active = sum.total - idle_experts;
  return sum;
}

double layer_parameters(const Model& model, const LayerGroup& group) {
  return layer_parts(model, group).total();
}

double mtp_layer_parameters(const Model& model) {
  if (model.order.empty()) return 0;
  const double hidden = model.hidden;
  // Hidden state and embedding are normalised, joined and projected (DeepSeek-V3, equation 21); the head is shared.
  const double join = 2 * hidden * hidden + 3 * norm_parameters(model);
  return layer_parameters(model, model.groups[model.order.back()]) + join;
}

Bytes kv_bytes_per_token(const Model& model, double bytes_per_element, int context) {
  double elements = 0;
  if (keeps_kv(model)) {
    for (const LayerGroup& group : model.groups) {
      const bool full = group.mixer.window > 0 && context >= group.mixer.window;
      if (!full) elements += group.count * kv_elements(group.mixer);
      if (group.mixer.compress > 0) elements += group.count * kv_elements(group.mixer) / group.mixer.compress;
    }
  }
  return Bytes(elements * bytes_per_element);
}

Bytes index_bytes_per_token(const Model& model) {
  double sum = 0;
  for (const LayerGroup& group : model.groups) sum += group.count * index_bytes(group.mixer);
  return Bytes(sum);
}

Bytes kv_bytes_per_sequence(const Model& model, double bytes_per_element, int tokens) {
  double sum = index_bytes_per_token(model).value() * tokens;
  if (keeps_kv(model)) {
    for (const LayerGroup& group : model.groups) {
      double kept = group.mixer.window > 0 ? std::min(tokens, group.mixer.window) : tokens;
      if (group.mixer.compress > 0) kept += static_cast<double>(tokens) / group.mixer.compress;
      kept += group.mixer.cross_tokens;
      sum += group.count * (kv_elements(group.mixer) * bytes_per_element * kept + state_bytes(group.mixer));
    }
  }
  return Bytes(sum);
}

}  // namespace ridge
