#include "catalogue/hf/special.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "catalogue/tables/layers.hpp"

namespace ridge {

namespace {

Model repeat(Model model, int layers, const LayerGroup& layer) {
  for (int i = 0; i < layers; ++i) append_layer(model, layer);
  return model;
}

}  // namespace

Model read_falcon(JsonReader& config, const Family& family) {
  Decoder decoder = read_dimensions(config, family);
  Model& model = decoder.model;
  LayerGroup layer;
  layer.mixer = read_attention(config, family, model.hidden);
  const bool grouped = config.flag({"new_decoder_architecture"}, false);
  if (!grouped) layer.mixer.kv_heads = config.flag({"multi_query"}, true) ? 1 : layer.mixer.heads;
  layer.ffn.gated = false;
  layer.ffn.width = config.optional_integer({"ffn_hidden_size"}, 4 * model.hidden, 1, 4 * kWidthLimit);
  layer.ffn.bias = layer.mixer.qkv_bias;
  const bool parallel = grouped || config.flag({"parallel_attn"}, true);
  const int norms = grouped ? config.optional_integer({"num_ln_in_parallel_attn"}, 2, 1, 2) : 1;
  model.norms_per_layer = parallel ? norms : 2;
  return repeat(std::move(model), decoder.layers, layer);
}

Model read_mpt(JsonReader& config, const Family& family) {
  Decoder decoder = read_dimensions(config, family);
  Model& model = decoder.model;
  JsonReader attention = config.object("attn_config");
  const bool bias = !config.flag({"no_bias"}, true);
  LayerGroup layer;
  Mixer& mixer = layer.mixer;
  mixer.heads = config.integer({"n_heads"}, 1, kHeadLimit);
  mixer.kv_heads = attention.optional_integer({"kv_n_heads"}, mixer.heads, 1, mixer.heads);
  if (attention.optional_text("attn_type") == "multiquery_attention") mixer.kv_heads = 1;
  mixer.head_dim = std::max(1, model.hidden / mixer.heads);
  if (model.hidden % mixer.heads != 0 || mixer.heads % mixer.kv_heads != 0) {
    config.refuse("n_heads", fmt::format("{} heads with {} key-value heads do not divide d_model {}", mixer.heads,
                                         mixer.kv_heads, model.hidden));
  }
  mixer.qkv_bias = mixer.output_bias = layer.ffn.bias = model.norm_bias = bias;
  if (attention.flag({"qk_ln"}, false)) mixer.qk_norm = QkNorm::full;
  layer.ffn.gated = false;
  const double ratio = config.has("expansion_ratio") ? config.number({"expansion_ratio"}, 0.01, 64) : 4;
  layer.ffn.width = std::max(1, static_cast<int>(ratio * model.hidden));
  const bool relative = attention.flag({"alibi"}, false) || attention.flag({"rope"}, false);
  if (!relative && config.flag({"learned_pos_emb"}, true)) model.learned_positions = model.context;
  return repeat(std::move(model), decoder.layers, layer);
}

Model read_dbrx(JsonReader& config, const Family& family) {
  Decoder decoder = read_dimensions(config, family);
  Model& model = decoder.model;
  JsonReader attention = config.object("attn_config");
  JsonReader experts = config.object("ffn_config");
  LayerGroup layer;
  layer.mixer.heads = config.integer({"n_heads"}, 1, kHeadLimit);
  layer.mixer.kv_heads = attention.integer({"kv_n_heads"}, 1, kHeadLimit);
  layer.mixer.head_dim = std::max(1, model.hidden / layer.mixer.heads);
  layer.ffn.kind = FfnKind::moe;
  layer.ffn.width = experts.integer({"ffn_hidden_size"}, 1, kWidthLimit);
  layer.ffn.experts = experts.integer({"moe_num_experts"}, 1, kHeadLimit);
  layer.ffn.top_k = experts.integer({"moe_top_k"}, 1, layer.ffn.experts);
  if (model.hidden % layer.mixer.heads != 0 || layer.mixer.heads % layer.mixer.kv_heads != 0) {
    config.refuse("n_heads", fmt::format("{} heads with {} key-value heads do not divide d_model {}", layer.mixer.heads,
                                         layer.mixer.kv_heads, model.hidden));
  }
  return repeat(std::move(model), decoder.layers, layer);
}

Model read_chatglm(JsonReader& config, const Family& family) {
  Decoder decoder = read_dimensions(config, family);
  Model& model = decoder.model;
  if (config.has("padded_vocab_size")) model.vocab = config.integer({"padded_vocab_size"}, 1, kWidthLimit);
  LayerGroup layer;
  layer.mixer = read_attention(config, family, model.hidden);
  if (!config.flag({"multi_query_attention"}, false)) layer.mixer.kv_heads = layer.mixer.heads;
  layer.ffn.width = config.integer({"ffn_hidden_size"}, 1, kWidthLimit);
  return repeat(std::move(model), decoder.layers, layer);
}

Model read_nemotron_h(JsonReader& config, const Family& family) {
  std::string pattern = config.optional_text("hybrid_override_pattern");
  for (const std::string& type : config.texts("layers_block_type", kLayerLimit)) {
    pattern += type == "mamba" ? 'M' : type == "attention" ? '*' : type == "mlp" ? '-' : type == "moe" ? 'E' : '?';
  }
  if (pattern.size() > static_cast<std::size_t>(kLayerLimit)) {
    config.refuse("hybrid_override_pattern", fmt::format("{} layers are more than {}", pattern.size(), kLayerLimit));
    return {};
  }
  Decoder decoder = read_dimensions(config, family, static_cast<int>(pattern.size()));
  Model& model = decoder.model;
  if (pattern.size() != static_cast<std::size_t>(decoder.layers)) {
    config.refuse("hybrid_override_pattern",
                  fmt::format("{} characters for {} layers", pattern.size(), decoder.layers));
    return model;
  }
  const auto occurs = [&](char c) { return pattern.find(c) != std::string::npos; };
  LayerGroup mamba;
  LayerGroup attention;
  LayerGroup dense;
  LayerGroup sparse;
  mamba.ffn.kind = attention.ffn.kind = FfnKind::none;
  dense.mixer.kind = sparse.mixer.kind = MixerKind::none;
  if (occurs('M')) mamba.mixer = read_mamba2(config, model.hidden);
  if (occurs('*')) attention.mixer = read_attention(config, family, model.hidden);
  dense.ffn.gated = false;
  dense.ffn.bias = config.flag({"mlp_bias"}, false);
  if (occurs('-')) dense.ffn.width = config.integer({"intermediate_size"}, 1, kWidthLimit);
  if (occurs('E')) {
    read_experts(config, family, decoder);
    sparse.ffn = decoder.sparse;
    sparse.ffn.router_bias = true;
    if (sparse.ffn.kind != FfnKind::moe) config.refuse("n_routed_experts", "'n_routed_experts' is missing");
  }
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    switch (pattern[i]) {
      case 'M':
        append_layer(model, mamba);
        break;
      case '*':
        append_layer(model, attention);
        break;
      case '-':
        append_layer(model, dense);
        break;
      case 'E':
        append_layer(model, sparse);
        break;
      default:
        config.refuse("hybrid_override_pattern",
                      fmt::format("character {} is none of M (Mamba-2), * (attention), - (dense), E (experts)", i + 1));
    }
  }
  return model;
}

Model read_nemotron_nas(JsonReader& config, const Family& family) {
  Decoder decoder = read_dimensions(config, family);
  Model& model = decoder.model;
  const int heads = config.integer({"num_attention_heads"}, 1, kHeadLimit);
  std::vector<JsonReader> blocks = config.objects("block_configs", kLayerLimit);
  if (blocks.size() != static_cast<std::size_t>(decoder.layers)) {
    config.refuse("block_configs", fmt::format("{} blocks for {} layers", blocks.size(), decoder.layers));
    return model;
  }
  for (JsonReader& block : blocks) {
    JsonReader attention = block.object("attention");
    JsonReader ffn = block.object("ffn");
    for (JsonReader* part : {&attention, &ffn}) {
      if (part->flag({"replace_with_linear"}, false)) {
        part->refuse("replace_with_linear", "parts replaced by one matrix are not supported");
      }
    }
    LayerGroup layer;
    if (attention.flag({"no_op"}, false)) {
      layer.mixer.kind = MixerKind::none;
    } else {
      const int share = attention.integer({"n_heads_in_group"}, 1, heads);
      if (heads % share != 0)
        attention.refuse("n_heads_in_group", fmt::format("{} does not divide {} heads", share, heads));
      layer.mixer.heads = heads;
      layer.mixer.kv_heads = std::max(1, heads / share);
      layer.mixer.head_dim = std::max(1, model.hidden / heads);
    }
    if (ffn.flag({"no_op"}, false)) {
      layer.ffn.kind = FfnKind::none;
    } else {
      // The width is two thirds of the multiple, as a multiple of 256 (DeciLM's configuration class).
      const double width = std::floor(2 * ffn.number({"ffn_mult"}, 0.001, 1000) * model.hidden / 3);
      layer.ffn.width = static_cast<int>(std::min(std::ceil(width / 256) * 256, 1.0 * kWidthLimit));
    }
    append_layer(model, layer);
  }
  return model;
}

Model read_mamba2_model(JsonReader& config, const Family& family) {
  Decoder decoder = read_dimensions(config, family);
  decoder.model.norms_per_layer = 1;
  LayerGroup layer;
  layer.mixer = read_mamba2(config, decoder.model.hidden);
  layer.ffn.kind = FfnKind::none;
  return repeat(std::move(decoder.model), decoder.layers, layer);
}

Model read_text_encoder(JsonReader& config, const Family& family) {
  Decoder decoder = read_dimensions(config, family);
  Model& model = decoder.model;
  model.embeds = true;
  LayerGroup layer;
  layer.mixer = read_attention(config, family, model.hidden);
  layer.mixer.both_ways = true;
  layer.ffn.gated = family.gated;
  layer.ffn.bias = family.ffn_bias;
  layer.ffn.width = read_ffn_width(config, family, model.hidden);
  model.other_parameters = static_cast<double>(config.optional_integer({"type_vocab_size"}, 0, 0, 64)) * model.hidden;
  const double h = model.hidden;
  if (family.type == "bert" || family.type == "roberta") model.other_parameters += h * h + h;  // the pooler
  const bool modern = family.type == "modernbert";
  const bool rotates =
      modern || family.type == "nomic_bert" || config.optional_text("position_embedding_type") == "rope";
  if (!rotates) {
    model.learned_positions = model.context;
    constexpr int kPadding = 2;  // RoBERTa counts positions from behind the padding
    if (family.type != "bert" && model.context > kPadding) model.context -= kPadding;
  }
  if (!modern) return repeat(std::move(model), decoder.layers, layer);
  const int every = config.optional_integer({"global_attn_every_n_layers"}, 3, 1, kLayerLimit);
  const int window = config.optional_integer({"local_attention"}, 128, 1, kContextLimit);
  for (int i = 0; i < decoder.layers; ++i) {
    layer.mixer.window = i % every == 0 ? 0 : window;
    append_layer(model, layer);
  }
  return std::move(model);
}

Model read_whisper(JsonReader& config, const Family& /*family*/) {
  constexpr int kClip = 30;  // seconds, by the front end
  Model model;
  model.hidden = config.integer({"d_model"}, 1, kWidthLimit);
  model.vocab = config.integer({"vocab_size"}, 1, kWidthLimit);
  model.context = model.learned_positions = config.integer({"max_target_positions"}, 1, kContextLimit);
  model.norms_per_layer = 3;
  model.norm_bias = true;
  Encoder& e = model.encoder;
  e.kind = Encoder::Kind::audio;
  e.layers = config.integer({"encoder_layers"}, 1, kLayerLimit);
  e.hidden = model.hidden;
  e.heads = config.integer({"encoder_attention_heads"}, 1, kHeadLimit);
  e.width = config.integer({"encoder_ffn_dim"}, 1, kWidthLimit);
  e.clip_s = kClip;
  const int positions = config.integer({"max_source_positions"}, 1, kContextLimit);
  e.frames_per_s = static_cast<double>(positions) / kClip;
  LayerGroup layer;
  Mixer& m = layer.mixer;
  m.heads = m.kv_heads = config.integer({"decoder_attention_heads"}, 1, kHeadLimit);
  for (const int heads : {m.heads, e.heads}) {
    if (model.hidden % std::max(heads, 1) != 0) {
      config.refuse("decoder_attention_heads", fmt::format("{} heads do not divide d_model {}", heads, model.hidden));
    }
  }
  m.head_dim = std::max(1, model.hidden / std::max(m.heads, 1));
  m.qkv_bias = m.output_bias = true;
  m.cross_tokens = positions;
  layer.ffn.gated = false;
  layer.ffn.bias = true;
  layer.ffn.width = config.integer({"decoder_ffn_dim"}, 1, kWidthLimit);
  // Two convolutions of three taps over the spectra, positions, layers with biases and two norms, and a last norm.
  const double h = model.hidden;
  const double f = e.width;
  const double bands = config.optional_integer({"num_mel_bins"}, 80, 1, kWidthLimit);
  const double of_layers = e.layers * (4 * h * h + 3 * h + 2 * h * f + f + h + 4 * h);
  e.parameters = 3 * bands * h + h + 3 * h * h + h + positions * h + of_layers + 2 * h;
  model.other_parameters = e.parameters;
  return repeat(std::move(model), config.integer({"decoder_layers"}, 1, kLayerLimit), layer);
}

}  // namespace ridge
