#include "catalogue/hf/decoder.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "catalogue/tables/layers.hpp"

namespace ridge {

namespace {

/// Required, unless the family has a default.
int integer_or(JsonReader& config, JsonReader::Names names, int otherwise, int high) {
  return otherwise > 0 ? config.optional_integer(names, otherwise, 1, high) : config.integer(names, 1, high);
}

void read_mla(JsonReader& config, Mixer& mixer) {
  mixer.kind = MixerKind::mla;
  mixer.kv_heads = 0;
  mixer.head_dim = 0;
  mixer.qkv_bias = false;
  mixer.output_bias = false;
  mixer.qk_norm = QkNorm::none;
  mixer.q_lora_rank = config.optional_integer({"q_lora_rank"}, 0, 0, kHeadLimit);
  mixer.kv_lora_rank = config.integer({"kv_lora_rank"}, 1, kHeadLimit);
  mixer.qk_nope_dim = config.integer({"qk_nope_head_dim"}, 1, kHeadLimit);
  mixer.qk_rope_dim = config.integer({"qk_rope_head_dim"}, 0, kHeadLimit);
  mixer.v_head_dim = config.integer({"v_head_dim"}, 1, kHeadLimit);
  mixer.index_topk = config.optional_integer({"index_topk"}, 0, 0, kContextLimit);
  if (mixer.index_topk > 0) {
    mixer.index_heads = config.integer({"index_n_heads"}, 1, kHeadLimit);
    mixer.index_dim = config.integer({"index_head_dim"}, 1, kHeadLimit);
  }
}

Mixer read_linear_attention(JsonReader& config) {
  Mixer mixer;
  mixer.kind = MixerKind::linear_attention;
  mixer.state_k_heads = config.integer({"linear_num_key_heads"}, 1, kHeadLimit);
  mixer.state_k_dim = config.integer({"linear_key_head_dim"}, 1, kHeadLimit);
  mixer.state_v_heads = config.integer({"linear_num_value_heads"}, 1, kHeadLimit);
  mixer.state_v_dim = config.integer({"linear_value_head_dim"}, 1, kHeadLimit);
  mixer.conv = config.optional_integer({"linear_conv_kernel_dim"}, 4, 0, kHeadLimit);
  mixer.output_gate = true;
  mixer.state_gates = true;
  return mixer;
}

void read_named_layer_types(JsonReader& config, Decoder& decoder) {
  const std::vector<std::string> names = config.texts("layer_types", kLayerLimit);
  if (names.size() != decoder.types.size()) {
    config.refuse("layer_types", fmt::format("{} types for {} layers", names.size(), decoder.types.size()));
    return;
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string& name = names[i];
    if (name == "full_attention" || name == "attention" || name == "deepseek_sparse_attention" || name == "hybrid") {
      decoder.types[i] = LayerType::full;
    } else if (name == "sliding_attention" || name == "chunked_attention" || name == "hybrid_sliding") {
      decoder.types[i] = LayerType::sliding;
    } else if (name == "linear_attention") {
      decoder.types[i] = LayerType::linear;
    } else if (name == "mamba") {
      decoder.types[i] = LayerType::mamba;
    } else {
      config.refuse(fmt::format("layer_types/{}", i),
                    fmt::format("'{}' is none of full_attention, sliding_attention, chunked_attention, "
                                "linear_attention, mamba",
                                name.substr(0, 40)));
    }
  }
}

bool has_window(JsonReader& config) {
  return config.has_any({"sliding_window", "attention_chunk_size", "sliding_window_size"});
}

void read_layer_types(JsonReader& config, const Family& family, Decoder& decoder) {
  if (config.has("layer_types")) return read_named_layer_types(config, decoder);
  const auto layers = decoder.types.size();
  if (config.has("local_layer_ids")) {
    for (const int layer : config.integers("local_layer_ids", 0, decoder.layers - 1, kLayerLimit)) {
      decoder.types[static_cast<std::size_t>(layer)] = LayerType::sliding;
    }
    return;
  }
  if (config.has("full_attention_interval")) {
    const auto interval = static_cast<std::size_t>(config.integer({"full_attention_interval"}, 1, kLayerLimit));
    for (std::size_t i = 0; i < layers; ++i) {
      decoder.types[i] = (i + 1) % interval == 0 ? LayerType::full : LayerType::linear;
    }
    return;
  }
  const bool assumed = family.window_default > 0 && !config.mentions("sliding_window");
  if (!has_window(config) && !assumed) return;
  switch (family.windows) {
    case WindowRule::none:
      break;
    case WindowRule::all_layers:
      std::fill(decoder.types.begin(), decoder.types.end(), LayerType::sliding);
      break;
    case WindowRule::above: {
      if (!config.flag({"use_sliding_window"}, false)) break;
      const int first = config.optional_integer({"max_window_layers"}, 0, 0, kLayerLimit);
      for (std::size_t i = static_cast<std::size_t>(first); i < layers; ++i) decoder.types[i] = LayerType::sliding;
      break;
    }
    case WindowRule::repeat: {
      const int period =
          config.optional_integer({"sliding_window_pattern", "_sliding_window_pattern", "no_rope_layer_interval"},
                                  family.window_period, 1, kLayerLimit);
      for (std::size_t i = 0; i < layers; ++i) {
        if ((i + 1) % static_cast<std::size_t>(period) != 0) decoder.types[i] = LayerType::sliding;
      }
      break;
    }
  }
}

bool uses(const Decoder& decoder, LayerType type) {
  return std::find(decoder.types.begin(), decoder.types.end(), type) != decoder.types.end();
}

void read_mixers(JsonReader& config, const Family& family, Decoder& decoder) {
  decoder.full = read_attention(config, family, decoder.model.hidden);
  decoder.sliding = decoder.full;
  if (uses(decoder, LayerType::sliding)) {
    const bool assumed = family.window_default > 0 && !has_window(config);
    const int window =
        assumed ? family.window_default
                : config.integer({"sliding_window", "attention_chunk_size", "sliding_window_size"}, 1, kContextLimit);
    // A window no shorter than the longest sequence never closes.
    decoder.sliding.window = decoder.model.context > 0 && window >= decoder.model.context ? 0 : window;
  }
  if (uses(decoder, LayerType::linear)) decoder.linear = read_linear_attention(config);
  if (uses(decoder, LayerType::mamba)) decoder.mamba = read_mamba2(config, decoder.model.hidden);
}

void mark_dense(JsonReader& config, std::string_view key, Decoder& decoder) {
  for (const int layer : config.integers(key, 0, decoder.layers - 1, kLayerLimit)) {
    decoder.moe[static_cast<std::size_t>(layer)] = false;
  }
}

/// "moe_layer_freq": every so many layers, or a flag for each.
void read_moe_frequency(JsonReader& config, Decoder& decoder) {
  if (!config.is_list("moe_layer_freq")) {
    const auto period = static_cast<std::size_t>(config.optional_integer({"moe_layer_freq"}, 1, 1, kLayerLimit));
    for (std::size_t i = 0; i < decoder.moe.size(); ++i) decoder.moe[i] = decoder.moe[i] && i % period == 0;
    return;
  }
  const std::vector<int> flags = config.integers("moe_layer_freq", 0, 1, kLayerLimit);
  if (flags.size() != decoder.moe.size()) {
    config.refuse("moe_layer_freq", fmt::format("{} flags for {} layers", flags.size(), decoder.moe.size()));
    return;
  }
  for (std::size_t i = 0; i < flags.size(); ++i) decoder.moe[i] = flags[i] == 1;
}

void read_moe_placement(JsonReader& config, Decoder& decoder) {
  decoder.moe.assign(static_cast<std::size_t>(decoder.layers), true);
  const int first = config.optional_integer({"first_k_dense_replace", "dense_mlp_idx"}, 0, 0, decoder.layers);
  std::fill(decoder.moe.begin(), decoder.moe.begin() + first, false);
  read_moe_frequency(config, decoder);
  mark_dense(config, "mlp_only_layers", decoder);
  const auto step = static_cast<std::size_t>(
      config.optional_integer({"decoder_sparse_step", "interleave_moe_layer_step"}, 1, 1, kLayerLimit));
  for (std::size_t i = 0; i < decoder.moe.size(); ++i) {
    if ((i + 1) % step != 0) decoder.moe[i] = false;
  }
  const std::vector<std::string> types = config.texts("mlp_layer_types", kLayerLimit);
  if (!types.empty() && types.size() != decoder.moe.size()) {
    config.refuse("mlp_layer_types", fmt::format("{} types for {} layers", types.size(), decoder.moe.size()));
  }
  for (std::size_t i = 0; i < types.size() && i < decoder.moe.size(); ++i) decoder.moe[i] = types[i] == "sparse";
}

Model assemble(const Decoder& decoder) {
  Model model = decoder.model;
  for (std::size_t i = 0; i < decoder.types.size(); ++i) {
    LayerGroup layer;
    switch (decoder.types[i]) {
      case LayerType::full:
        layer.mixer = decoder.full;
        break;
      case LayerType::sliding:
        layer.mixer = decoder.sliding;
        break;
      case LayerType::linear:
        layer.mixer = decoder.linear;
        break;
      case LayerType::mamba:
        layer.mixer = decoder.mamba;
        break;
    }
    layer.ffn = decoder.moe[i] ? decoder.sparse : decoder.dense;
    append_layer(model, layer);
  }
  return model;
}

}  // namespace

Decoder read_dimensions(JsonReader& config, const Family& family, int layers) {
  Decoder decoder;
  Model& model = decoder.model;
  decoder.layers = integer_or(config, {"num_hidden_layers", "n_layer", "n_layers", "num_layers"}, layers, kLayerLimit);
  model.hidden = config.integer({"hidden_size", "n_embd", "d_model", "n_embed"}, 1, kWidthLimit);
  model.vocab = integer_or(config, {"vocab_size", "padded_vocab_size"}, family.vocab, kWidthLimit);
  model.context = config.optional_integer({"max_position_embeddings", "n_positions", "max_seq_len", "n_ctx",
                                           "seq_length", "max_sequence_length", "model_max_length"},
                                          0, 1, kContextLimit);
  model.mtp_layers = config.optional_integer({"num_nextn_predict_layers", "num_mtp_modules", "mtp_num_hidden_layers"},
                                             0, 0, kLayerLimit);
  model.norms_per_layer = family.norms;
  model.norm_bias = family.norm_bias;
  decoder.types.assign(static_cast<std::size_t>(decoder.layers), LayerType::full);
  decoder.moe.assign(static_cast<std::size_t>(decoder.layers), false);
  return decoder;
}

Mixer read_attention(JsonReader& config, const Family& family, int hidden) {
  Mixer mixer;
  mixer.heads = integer_or(config, {"num_attention_heads", "n_head", "n_heads", "num_heads"}, family.heads, kHeadLimit);
  mixer.kv_heads =
      config.optional_integer({"num_key_value_heads", "num_kv_heads", "n_head_kv", "multi_query_group_num"},
                              family.kv_heads > 0 ? family.kv_heads : mixer.heads, 1, kHeadLimit);
  mixer.head_dim =
      config.optional_integer({"head_dim", "attention_head_dim", "kv_channels"}, family.head_dim, 1, kHeadLimit);
  if (mixer.head_dim == 0) {
    mixer.head_dim = std::max(1, hidden / mixer.heads);
    if (hidden % mixer.heads != 0) {
      config.refuse(
          "num_attention_heads",
          fmt::format("{} heads do not divide hidden_size {}, and there is no head_dim", mixer.heads, hidden));
    }
  }
  if (mixer.heads % mixer.kv_heads != 0) {
    config.refuse("num_key_value_heads",
                  fmt::format("{} key-value heads do not divide {} heads", mixer.kv_heads, mixer.heads));
  }
  const bool flagged =
      config.flag({"attention_bias", "use_qkv_bias", "qkv_bias", "add_qkv_bias", "use_bias", "bias", "enable_bias"},
                  family.bias_default);
  const bool any = family.bias == BiasRule::by_flag || family.bias == BiasRule::qkv_by_flag;
  mixer.qkv_bias = family.bias == BiasRule::all || family.bias == BiasRule::qkv || (any && flagged);
  mixer.output_bias = family.bias == BiasRule::all || (family.bias == BiasRule::by_flag && flagged);
  mixer.qk_norm = family.qk_norm;
  if (config.has("kv_lora_rank")) read_mla(config, mixer);
  return mixer;
}

Mixer read_mamba2(JsonReader& config, int hidden) {
  Mixer mixer;
  mixer.kind = MixerKind::mamba2;
  mixer.state_v_heads = config.integer({"mamba_num_heads", "mamba_n_heads", "num_heads"}, 1, kHeadLimit);
  if (config.is_text("mamba_d_head")) {  // "auto"
    const int expand = config.optional_integer({"mamba_expand", "expand"}, 2, 1, 64);
    mixer.state_v_dim = std::max(1, static_cast<int>(static_cast<std::int64_t>(expand) * hidden / mixer.state_v_heads));
  } else {
    mixer.state_v_dim = config.integer({"mamba_head_dim", "mamba_d_head", "head_dim"}, 1, kHeadLimit);
  }
  mixer.state_k_dim = config.integer({"ssm_state_size", "mamba_d_state", "state_size"}, 1, kHeadLimit);
  mixer.state_k_heads = config.integer({"n_groups", "mamba_n_groups", "mamba_num_groups"}, 1, kHeadLimit);
  mixer.conv = config.optional_integer({"conv_kernel", "mamba_d_conv"}, 4, 1, kHeadLimit);
  return mixer;
}

int read_ffn_width(JsonReader& config, const Family& family, int hidden) {
  const JsonReader::Names names = {"intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size"};
  if (family.ffn_is_four_hidden) return config.optional_integer(names, 4 * hidden, 1, 4 * kWidthLimit);
  return config.integer(names, 1, kWidthLimit);
}

void read_experts(JsonReader& config, const Family& family, Decoder& decoder) {
  const int experts = config.uniform_integer(
      {"n_routed_experts", "num_local_experts", "num_experts", "moe_num_experts"}, 0, 0, kHeadLimit);
  if (experts <= 1) return;
  Ffn& ffn = decoder.sparse;
  ffn.kind = FfnKind::moe;
  ffn.gated = family.gated;
  ffn.router_bias = family.router_bias;
  ffn.experts = experts;
  ffn.top_k = config.uniform_integer(
      {"num_experts_per_tok", "experts_per_token", "num_experts_per_token", "moe_topk", "moe_k", "top_k_experts"}, 0, 1,
      experts);
  if (ffn.top_k == 0) config.refuse("num_experts_per_tok", "'num_experts_per_tok' is missing");
  const int groups = config.optional_integer({"n_group"}, 0, 0, experts);
  const int chosen = config.optional_integer({"topk_group"}, 0, 0, std::max(groups, 1));
  if (chosen > 0 && chosen < groups && experts % groups == 0) {
    ffn.groups = groups;
    ffn.groups_chosen = chosen;
  }
  ffn.width = config.uniform_integer({"moe_intermediate_size", "expert_intermediate_size", "intermediate_size"}, 0, 1,
                                     kWidthLimit);
  if (ffn.width == 0) config.refuse("moe_intermediate_size", "'moe_intermediate_size' is missing");
  ffn.latent = config.optional_integer({"moe_latent_size", "routed_expert_hidden_size"}, 0, 1, kWidthLimit);
  const int own_width =
      config.optional_integer({"shared_expert_intermediate_size", "moe_shared_expert_intermediate_size",
                               "shared_intermediate_size", "share_expert_dim"},
                              0, 0, kWidthLimit);
  ffn.shared_experts =
      config.uniform_integer({"n_shared_experts", "num_shared_experts", "num_shared_expert", "moe_num_shared_experts"},
                             own_width > 0 ? 1 : 0, 0, kHeadLimit);
  ffn.shared_width = ffn.shared_experts > 0 ? (own_width > 0 ? own_width : ffn.width) : 0;
  read_moe_placement(config, decoder);
}

Model read_decoder(JsonReader& config, const Family& family) {
  Decoder decoder = read_dimensions(config, family);
  read_layer_types(config, family, decoder);
  read_mixers(config, family, decoder);
  read_experts(config, family, decoder);
  decoder.dense.gated = family.gated;
  decoder.dense.bias = config.flag({"mlp_bias"}, family.ffn_bias);
  if (std::find(decoder.moe.begin(), decoder.moe.end(), false) != decoder.moe.end()) {
    const bool own_width =
        decoder.sparse.kind == FfnKind::moe && config.has_any({"intermediate_size_mlp", "dense_intermediate_size"});
    decoder.dense.width = own_width
                              ? config.integer({"intermediate_size_mlp", "dense_intermediate_size"}, 1, kWidthLimit)
                              : read_ffn_width(config, family, decoder.model.hidden);
  }
  if (family.adjust != nullptr) family.adjust(config, decoder);
  return assemble(decoder);
}

}  // namespace ridge
