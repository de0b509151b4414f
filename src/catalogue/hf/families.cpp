// The families of decoders, one line each: what transformers' configuration class of that model_type assumes and what
// its layers contain beyond the names in the file.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "catalogue/hf/decoder.hpp"
#include "catalogue/hf/special.hpp"
#include "catalogue/tables/layers.hpp"

namespace ridge {

namespace {

/// The first Qwen counts gate and up projection in one width.
void adjust_qwen(JsonReader& /*config*/, Decoder& decoder) {
  decoder.dense.width /= 2;
}

void adjust_qwen2_moe(JsonReader& /*config*/, Decoder& decoder) {
  decoder.sparse.shared_gate = decoder.sparse.shared_experts > 0;
}

void adjust_qwen3_next(JsonReader& config, Decoder& decoder) {
  adjust_qwen2_moe(config, decoder);
  decoder.full.output_gate = config.flag({"attn_output_gate"}, true);
}

void adjust_use_qk_norm(JsonReader& config, Decoder& decoder) {
  if (decoder.full.kind != MixerKind::attention) return;
  const QkNorm norm = config.flag({"use_qk_norm"}, false) ? QkNorm::per_head : QkNorm::none;
  decoder.full.qk_norm = norm;
  decoder.sliding.qk_norm = norm;
}

/// GLM-5.2 computes the sparse choice in some layers only; the others use the last one computed.
void adjust_shared_indexers(JsonReader& config, Decoder& decoder) {
  const std::vector<std::string> types = config.texts("indexer_types", kLayerLimit);
  if (types.empty()) return;
  if (types.size() != decoder.types.size()) {
    config.refuse("indexer_types", fmt::format("{} types for {} layers", types.size(), decoder.types.size()));
    return;
  }
  decoder.sliding = decoder.full;  // stands for the layers without an indexer of their own
  decoder.sliding.index_heads = 0;
  decoder.sliding.index_dim = 0;
  for (std::size_t i = 0; i < types.size(); ++i) {
    decoder.types[i] = types[i] == "shared" ? LayerType::sliding : LayerType::full;
  }
}

void adjust_cohere(JsonReader& config, Decoder& decoder) {
  if (config.flag({"use_qk_norm"}, false)) decoder.full.qk_norm = decoder.sliding.qk_norm = QkNorm::full;
}

void adjust_gpt_oss(JsonReader& /*config*/, Decoder& decoder) {
  decoder.full.sinks = decoder.sliding.sinks = true;
  decoder.sparse.bias = true;
  decoder.sparse.router_bias = true;
}

void adjust_llama4(JsonReader& config, Decoder& decoder) {
  decoder.sparse.shared_experts = 1;
  decoder.sparse.shared_width = decoder.sparse.width;
  const std::vector<int> moe_layers = config.integers("moe_layers", 0, decoder.layers - 1, kLayerLimit);
  if (moe_layers.empty()) return;
  std::fill(decoder.moe.begin(), decoder.moe.end(), false);
  for (const int layer : moe_layers) decoder.moe[static_cast<std::size_t>(layer)] = true;
}

void adjust_gemma4(JsonReader& config, Decoder& decoder) {
  if (config.optional_integer({"hidden_size_per_layer_input"}, 0, 0, kWidthLimit) > 0) {
    config.refuse("hidden_size_per_layer_input", "embeddings per layer are not supported");
  }
  if (config.optional_integer({"num_kv_shared_layers"}, 0, 0, kLayerLimit) > 0) {
    config.refuse("num_kv_shared_layers", "layers that share keys and values are not supported");
  }
  const int global_heads = config.optional_integer({"num_global_key_value_heads"}, 0, 1, kHeadLimit);
  decoder.full.head_dim = config.optional_integer({"global_head_dim"}, decoder.full.head_dim, 1, kHeadLimit);
  decoder.full.value_is_key = config.flag({"attention_k_eq_v"}, false);
  if (global_heads > 0 && decoder.full.value_is_key) decoder.full.kv_heads = global_heads;
  if (decoder.sparse.kind == FfnKind::moe) {
    decoder.sparse.shared_experts = 1;  // the dense part beside the experts
    decoder.sparse.shared_width = config.integer({"intermediate_size"}, 1, kWidthLimit);
    decoder.model.norms_per_layer = 8;  // four around the dense part, three around the experts, the router's scale
  }
}

/// Heads and values of windowed layers where they differ (Inkling, MiMo-V2).
void read_windowed_heads(JsonReader& config, Mixer& sliding) {
  sliding.heads = config.optional_integer({"swa_num_attention_heads"}, sliding.heads, 1, kHeadLimit);
  sliding.kv_heads = config.optional_integer({"swa_num_key_value_heads"}, sliding.kv_heads, 1, kHeadLimit);
  sliding.head_dim = config.optional_integer({"swa_head_dim"}, sliding.head_dim, 1, kHeadLimit);
}

void adjust_inkling(JsonReader& config, Decoder& decoder) {
  read_windowed_heads(config, decoder.sliding);
}

void adjust_mimo_v2(JsonReader& config, Decoder& decoder) {
  decoder.full.v_head_dim = config.optional_integer({"v_head_dim"}, 0, 1, kHeadLimit);
  Mixer& sliding = decoder.sliding;
  read_windowed_heads(config, sliding);
  sliding.v_head_dim = config.optional_integer({"swa_v_head_dim"}, decoder.full.v_head_dim, 1, kHeadLimit);
  sliding.window = config.integer({"sliding_window", "sliding_window_size"}, 1, kContextLimit);
  sliding.sinks = config.flag({"add_swa_attention_sink_bias"}, false);
  decoder.full.sinks = config.flag({"add_full_attention_sink_bias"}, false);
  const std::vector<int> pattern = config.integers("hybrid_layer_pattern", 0, 1, kLayerLimit);
  if (pattern.empty()) return;
  if (pattern.size() != decoder.types.size()) {
    config.refuse("hybrid_layer_pattern", fmt::format("{} flags for {} layers", pattern.size(), decoder.types.size()));
    return;
  }
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    decoder.types[i] = pattern[i] == 1 ? LayerType::sliding : LayerType::full;
  }
}

void adjust_minimax_m2(JsonReader& config, Decoder& decoder) {
  if (!config.flag({"use_qk_norm"}, true)) decoder.full.qk_norm = QkNorm::none;
  decoder.sparse.router_bias = config.flag({"use_routing_bias"}, true);
}

/// Sparse attention over blocks that an indexer picks, in the layers flagged so.
void adjust_minimax_m3(JsonReader& config, Decoder& decoder) {
  decoder.sparse.router_bias = config.flag({"use_routing_bias"}, true);
  JsonReader sparse = config.object("sparse_attention_config");
  const std::vector<int> flags = sparse.integers("sparse_attention_freq", 0, 1, kLayerLimit);
  if (flags.empty() || !sparse.flag({"use_sparse_attention"}, true)) return;
  if (flags.size() != decoder.types.size()) {
    sparse.refuse("sparse_attention_freq", fmt::format("{} flags for {} layers", flags.size(), decoder.types.size()));
    return;
  }
  decoder.sliding = decoder.full;  // stands for the sparse layers
  decoder.sliding.index_heads = sparse.integer({"sparse_num_index_heads"}, 1, kHeadLimit);
  decoder.sliding.index_dim = sparse.integer({"sparse_index_dim"}, 1, kHeadLimit);
  decoder.sliding.index_topk =
      sparse.integer({"sparse_topk_blocks"}, 1, kHeadLimit) * sparse.integer({"sparse_block_size"}, 1, 1 << 14);
  for (std::size_t i = 0; i < flags.size(); ++i) {
    if (flags[i] == 1) decoder.types[i] = LayerType::sliding;
  }
}

/// Lightning attention in all but every eighth layer (MiniMax-Text-01, M1).
void adjust_minimax_text(JsonReader& config, Decoder& decoder) {
  Mixer& linear = decoder.linear;
  linear = Mixer{};
  linear.kind = MixerKind::linear_attention;
  linear.state_k_heads = linear.state_v_heads = decoder.full.heads;
  linear.state_k_dim = linear.state_v_dim = decoder.full.head_dim;
  linear.output_gate = true;
  const std::vector<int> types = config.integers("attn_type_list", 0, 1, kLayerLimit);
  if (types.empty()) return;
  if (types.size() != decoder.types.size()) {
    config.refuse("attn_type_list", fmt::format("{} types for {} layers", types.size(), decoder.types.size()));
    return;
  }
  for (std::size_t i = 0; i < types.size(); ++i) {
    decoder.types[i] = types[i] == 1 ? LayerType::full : LayerType::linear;
  }
}

/// Kimi Delta Attention in all layers but those listed, which have latent attention; both are counted from 1.
void adjust_kimi_linear(JsonReader& config, Decoder& decoder) {
  JsonReader kda = config.object("linear_attn_config");
  Mixer& linear = decoder.linear;
  linear = Mixer{};
  linear.kind = MixerKind::linear_attention;
  linear.state_k_heads = linear.state_v_heads = kda.integer({"num_heads"}, 1, kHeadLimit);
  linear.state_k_dim = linear.state_v_dim = kda.integer({"head_dim"}, 1, kHeadLimit);
  linear.conv = kda.optional_integer({"short_conv_kernel_size"}, 4, 1, 64);
  linear.output_gate = true;
  linear.state_gates = true;
  std::fill(decoder.types.begin(), decoder.types.end(), LayerType::full);
  for (const int layer : kda.integers("kda_layers", 1, decoder.layers, kLayerLimit)) {
    decoder.types[static_cast<std::size_t>(layer - 1)] = LayerType::linear;
  }
}

/// One shared entry for keys and values of all heads, compressed by layer; hyper-connections keep several streams.
void adjust_deepseek_v4(JsonReader& config, Decoder& decoder) {
  Mixer shared;
  shared.kind = MixerKind::mla;
  shared.shared_kv = true;
  shared.heads = config.integer({"num_attention_heads", "n_heads"}, 1, kHeadLimit);
  const int entry = config.integer({"head_dim"}, 2, kHeadLimit);
  shared.qk_rope_dim = config.integer({"qk_rope_head_dim", "rope_head_dim"}, 1, entry - 1);
  shared.kv_lora_rank = shared.qk_nope_dim = entry - shared.qk_rope_dim;
  shared.v_head_dim = entry;
  shared.q_lora_rank = config.integer({"q_lora_rank"}, 1, kHeadLimit);
  shared.output_groups = config.integer({"o_groups"}, 1, shared.heads);
  shared.output_rank = config.integer({"o_lora_rank"}, 1, kHeadLimit);
  shared.window = config.integer({"sliding_window", "window_size"}, 1, kContextLimit);
  shared.index_heads = config.integer({"index_n_heads"}, 1, kHeadLimit);
  shared.index_dim = config.integer({"index_head_dim"}, 1, kHeadLimit);
  shared.index_topk = config.integer({"index_topk"}, 1, kContextLimit);
  const std::vector<int> ratios = config.integers("compress_ratios", 0, kContextLimit, kLayerLimit);
  const auto layers = static_cast<std::size_t>(decoder.layers);
  if (ratios.size() < layers || ratios.size() > layers + static_cast<std::size_t>(decoder.model.mtp_layers)) {
    config.refuse("compress_ratios", fmt::format("{} ratios for {} layers", ratios.size(), layers));
    return;
  }
  int fine = 0;
  int coarse = 0;
  for (std::size_t i = 0; i < layers; ++i) {
    if (ratios[i] == 0) continue;
    const bool chosen = compressed(shared, ratios[i]).index_heads > 0;
    int& known = chosen ? fine : coarse;
    if (known != 0 && known != ratios[i]) {
      config.refuse("compress_ratios",
                    fmt::format("{} and {}: one fine and one coarse ratio are supported", known, ratios[i]));
      return;
    }
    known = ratios[i];
    decoder.types[i] = chosen ? LayerType::full : LayerType::sliding;
  }
  for (std::size_t i = 0; i < layers; ++i) {
    if (ratios[i] == 0) decoder.types[i] = LayerType::linear;  // the window alone
  }
  decoder.full = compressed(shared, fine);
  decoder.sliding = compressed(shared, coarse);
  decoder.linear = compressed(shared, 0);
  const double streams = config.optional_integer({"hc_mult"}, 0, 0, 64);
  decoder.model.other_parameters +=
      decoder.layers * 2 * streams * decoder.model.hidden * (streams * streams + 2 * streams);
}

void adjust_ernie_moe(JsonReader& config, Decoder& decoder) {
  if (decoder.sparse.kind != FfnKind::moe) return;
  const int first = config.optional_integer({"moe_layer_start_index"}, 1, 0, decoder.layers);
  for (int i = 0; i < first; ++i) decoder.moe[static_cast<std::size_t>(i)] = false;
  if (first > 0) decoder.dense.width = config.integer({"intermediate_size"}, 1, kWidthLimit);
}

void adjust_gpt2(JsonReader& config, Decoder& decoder) {
  decoder.model.learned_positions = decoder.model.context;
  if (config.flag({"multi_query"}, false)) decoder.full.kv_heads = 1;
}

void adjust_opt(JsonReader& config, Decoder& decoder) {
  const int embedding = config.optional_integer({"word_embed_proj_dim"}, decoder.model.hidden, 1, kWidthLimit);
  if (embedding != decoder.model.hidden) {
    config.refuse("word_embed_proj_dim", "embeddings narrower than the layers are not supported");
  }
  decoder.model.learned_positions = decoder.model.context + 2;  // two rows are padding
}

void adjust_head_bias(JsonReader& config, Decoder& decoder) {
  if (config.flag({"lm_head_bias"}, true)) decoder.model.other_parameters += decoder.model.vocab;
}

void adjust_phimoe(JsonReader& config, Decoder& decoder) {
  if (config.flag({"lm_head_bias"}, false)) decoder.model.other_parameters += decoder.model.vocab;
}

void adjust_bloom(JsonReader& /*config*/, Decoder& decoder) {
  decoder.model.other_parameters += 2.0 * decoder.model.hidden;  // norm of the embeddings
}

void adjust_gpt_neo(JsonReader& config, Decoder& decoder) {
  decoder.model.learned_positions = decoder.model.context;
  decoder.full.output_bias = true;
  decoder.sliding = decoder.full;
  decoder.sliding.window = config.optional_integer({"window_size"}, 256, 1, kContextLimit);
  for (std::size_t i = 1; i < decoder.types.size(); i += 2) decoder.types[i] = LayerType::sliding;
}

void adjust_stablelm(JsonReader& config, Decoder& decoder) {
  if (config.flag({"use_parallel_residual"}, false)) decoder.model.norms_per_layer = 1;
  if (config.flag({"qk_layernorm"}, false)) decoder.full.qk_norm = QkNorm::full;
}

void adjust_seed_oss(JsonReader& config, Decoder& decoder) {
  decoder.full.output_bias = config.flag({"attention_out_bias"}, false);
}

/// The common dense part beside the experts.
void adjust_granite_hybrid(JsonReader& config, Decoder& decoder) {
  if (decoder.sparse.kind == FfnKind::moe) return;
  decoder.dense.width = config.integer({"shared_intermediate_size", "intermediate_size"}, 1, kWidthLimit);
}

using B = BiasRule;
using W = WindowRule;
constexpr QkNorm kPerHead = QkNorm::per_head;
constexpr QkNorm kFull = QkNorm::full;

// clang-format off
const std::array kFamilies = std::to_array<Family>({
    {.type = "apertus", .gated = false, .qk_norm = kPerHead},
    {.type = "arcee", .gated = false},
    {.type = "baichuan", .bias = B::none},
    {.type = "bailing_moe", .bias = B::qkv_by_flag, .adjust = adjust_use_qk_norm},
    {.type = "bailing_moe_v2", .bias = B::qkv_by_flag, .qk_norm = kPerHead, .router_bias = true},
    {.type = "bert", .tied = true, .bias = B::all, .gated = false, .ffn_bias = true, .norm_bias = true,
     .read = read_text_encoder},
    {.type = "bloom", .tied = true, .bias = B::all, .gated = false, .ffn_bias = true, .ffn_is_four_hidden = true,
     .norm_bias = true, .adjust = adjust_bloom},
    {.type = "chatglm", .bias = B::qkv_by_flag, .bias_default = true, .read = read_chatglm},
    {.type = "cohere", .tied = true, .norms = 1, .adjust = adjust_cohere},
    {.type = "cohere2", .tied = true, .norms = 1, .windows = W::repeat, .window_period = 4},
    {.type = "dbrx", .read = read_dbrx},
    {.type = "deepseek", .bias = B::none},
    {.type = "deepseek_v2"},
    {.type = "deepseek_v3", .router_bias = true},
    {.type = "deepseek_v32", .router_bias = true},
    {.type = "deepseek_v4", .router_bias = true, .adjust = adjust_deepseek_v4},
    {.type = "dots1", .qk_norm = kPerHead, .router_bias = true},
    {.type = "ernie4_5", .tied = true},
    {.type = "ernie4_5_moe", .tied = true, .router_bias = true, .adjust = adjust_ernie_moe},
    {.type = "exaone", .bias = B::none},
    {.type = "exaone4", .bias = B::none, .qk_norm = kPerHead, .windows = W::repeat, .window_period = 4},
    {.type = "falcon", .tied = true, .gated = false, .norm_bias = true, .read = read_falcon},
    {.type = "gemma", .tied = true, .head_dim = 256},
    {.type = "gemma2", .tied = true, .norms = 4, .head_dim = 256, .windows = W::repeat, .window_period = 2,
     .window_default = 4096},
    {.type = "gemma3_text", .tied = true, .norms = 4, .qk_norm = kPerHead, .head_dim = 256, .windows = W::repeat,
     .window_period = 6, .window_default = 4096, .heads = 8, .kv_heads = 4, .vocab = 262208},
    {.type = "gemma4_text", .tied = true, .norms = 4, .qk_norm = kPerHead, .head_dim = 256, .windows = W::repeat,
     .window_period = 6, .adjust = adjust_gemma4},
    {.type = "glm", .bias = B::qkv_by_flag, .bias_default = true},
    {.type = "glm4", .bias = B::qkv_by_flag, .norms = 4},
    {.type = "glm4_moe", .bias = B::qkv_by_flag, .router_bias = true, .adjust = adjust_use_qk_norm},
    {.type = "glm4_moe_lite", .router_bias = true},
    {.type = "glm_moe_dsa", .router_bias = true, .adjust = adjust_shared_indexers},
    {.type = "gpt2", .tied = true, .bias = B::all, .gated = false, .ffn_bias = true, .ffn_is_four_hidden = true,
     .norm_bias = true, .adjust = adjust_gpt2},
    {.type = "gpt_bigcode", .tied = true, .bias = B::all, .gated = false, .ffn_bias = true,
     .ffn_is_four_hidden = true, .norm_bias = true, .adjust = adjust_gpt2},
    {.type = "gpt_neo", .tied = true, .bias = B::none, .gated = false, .ffn_bias = true, .ffn_is_four_hidden = true,
     .norm_bias = true, .adjust = adjust_gpt_neo},
    {.type = "gpt_neox", .bias_default = true, .gated = false, .ffn_bias = true, .norm_bias = true},
    {.type = "gpt_oss", .bias_default = true, .head_dim = 64, .windows = W::repeat, .window_period = 2,
     .window_default = 128, .adjust = adjust_gpt_oss},
    {.type = "gptj", .bias = B::none, .gated = false, .ffn_bias = true, .ffn_is_four_hidden = true, .norms = 1,
     .norm_bias = true, .adjust = adjust_head_bias},
    {.type = "granite"},
    {.type = "granitemoe"},
    {.type = "granitemoehybrid", .adjust = adjust_granite_hybrid},
    {.type = "granitemoeshared"},
    {.type = "grok-1", .tied = true, .bias = B::none, .norms = 4},
    {.type = "helium"},
    {.type = "hunyuan_v1_dense", .qk_norm = kPerHead},
    {.type = "hunyuan_v1_moe", .qk_norm = kPerHead},
    {.type = "inkling_text", .qk_norm = kPerHead, .windows = W::repeat, .window_period = 6, .router_bias = true,
     .adjust = adjust_inkling},
    {.type = "internlm2"},
    {.type = "internlm3", .bias = B::qkv_by_flag},
    {.type = "kimi_k2", .router_bias = true},
    {.type = "kimi_linear", .head_dim = 128, .router_bias = true, .adjust = adjust_kimi_linear},
    {.type = "llama"},
    {.type = "llama4_text", .windows = W::repeat, .window_period = 4, .window_default = 8192, .adjust = adjust_llama4},
    {.type = "mamba2", .read = read_mamba2_model},
    {.type = "mimo", .bias = B::qkv},
    {.type = "mimo_v2_flash", .bias = B::qkv_by_flag, .router_bias = true, .adjust = adjust_mimo_v2},
    {.type = "minicpm", .tied = true},
    {.type = "minimax", .bias = B::none, .adjust = adjust_minimax_text},
    {.type = "minimax_m2", .bias = B::none, .qk_norm = kFull, .adjust = adjust_minimax_m2},
    {.type = "minimax_m3", .bias = B::none, .qk_norm = kPerHead, .adjust = adjust_minimax_m3},
    {.type = "ministral3"},
    {.type = "mistral", .windows = W::all_layers, .window_default = 4096},
    {.type = "mistral4", .router_bias = false},
    {.type = "mixtral", .bias = B::none, .windows = W::all_layers},
    {.type = "modernbert", .tied = true, .read = read_text_encoder},
    {.type = "mpt", .tied = true, .read = read_mpt},
    {.type = "nemotron", .gated = false, .norm_bias = true},
    {.type = "nemotron-nas", .read = read_nemotron_nas},
    {.type = "nemotron_h", .gated = false, .norms = 1, .read = read_nemotron_h},
    {.type = "new", .tied = true, .bias = B::all, .norm_bias = true, .read = read_text_encoder},
    {.type = "nomic_bert", .tied = true, .bias = B::none, .norm_bias = true, .read = read_text_encoder},
    {.type = "olmo", .norms = 0},
    {.type = "olmo2", .qk_norm = kFull},
    {.type = "olmo3", .qk_norm = kFull, .windows = W::repeat, .window_period = 4, .window_default = 4096},
    {.type = "olmoe", .qk_norm = kFull},
    {.type = "opt", .tied = true, .bias_default = true, .gated = false, .ffn_bias = true, .norm_bias = true,
     .adjust = adjust_opt},
    {.type = "persimmon", .bias = B::all, .gated = false, .ffn_bias = true, .norm_bias = true},
    {.type = "phi", .bias = B::all, .gated = false, .ffn_bias = true, .ffn_is_four_hidden = true, .norms = 1,
     .norm_bias = true, .adjust = adjust_head_bias},
    {.type = "phi3", .bias = B::none, .windows = W::all_layers},
    {.type = "phimoe", .norm_bias = true, .windows = W::all_layers, .adjust = adjust_phimoe},
    {.type = "qwen", .bias = B::qkv, .adjust = adjust_qwen},
    {.type = "qwen2", .bias = B::qkv, .windows = W::above},
    {.type = "qwen2_moe", .bias = B::qkv, .windows = W::above, .adjust = adjust_qwen2_moe},
    {.type = "qwen3", .qk_norm = kPerHead, .head_dim = 128, .windows = W::above},
    {.type = "qwen3_5_moe_text", .qk_norm = kPerHead, .head_dim = 256, .adjust = adjust_qwen3_next},
    {.type = "qwen3_5_text", .qk_norm = kPerHead, .head_dim = 256, .adjust = adjust_qwen3_next},
    {.type = "qwen3_moe", .qk_norm = kPerHead, .head_dim = 128, .windows = W::above},
    {.type = "qwen3_next", .qk_norm = kPerHead, .head_dim = 256, .adjust = adjust_qwen3_next},
    {.type = "roberta", .tied = true, .bias = B::all, .gated = false, .ffn_bias = true, .norm_bias = true,
     .read = read_text_encoder},
    {.type = "seed_oss", .bias = B::qkv_by_flag, .bias_default = true, .adjust = adjust_seed_oss},
    {.type = "smollm3", .tied = true},
    {.type = "solar_open", .bias = B::qkv_by_flag, .router_bias = true},
    {.type = "stablelm", .bias = B::qkv_by_flag, .norm_bias = true, .adjust = adjust_stablelm},
    {.type = "starcoder2", .tied = true, .bias_default = true, .gated = false, .ffn_bias = true, .norm_bias = true,
     .windows = W::all_layers},
    {.type = "step3p7", .qk_norm = kPerHead, .router_bias = true},
    {.type = "whisper", .tied = true, .read = read_whisper},
});

/// Other names under which files name the same layers.
constexpr std::array kAliases = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"RefinedWeb", "falcon"},          {"RefinedWebModel", "falcon"},     {"Yi", "llama"},
    {"aquila", "llama"},               {"camembert", "roberta"},          {"mpnet", "roberta"},
    {"xlm-roberta", "roberta"},        {"code_llama", "llama"},           {"gemma3", "gemma3_text"},
    {"gemma4", "gemma4_text"},         {"glm4v_moe_text", "glm4_moe"},    {"glm4v_text", "glm4"},
    {"gpt-neox", "gpt_neox"},          {"inkling", "inkling_text"},        {"inkling_mm_model", "inkling_text"}, {"internlm", "llama"},             {"kimi_k25", "kimi_k2"},
    {"llama4", "llama4_text"},         {"minimax_m1", "minimax"},         {"minimax_m3_vl", "minimax_m3"},     {"minimax_m3_vl_text", "minimax_m3"}, {"minimax_text_01", "minimax"},
    {"ministral", "ministral3"},       {"qwen2_5_vl", "qwen2"},           {"qwen2_5_vl_text", "qwen2"},
    {"qwen2_vl", "qwen2"},             {"qwen2_vl_text", "qwen2"},        {"qwen3_5", "qwen3_5_text"},
    {"qwen3_5_moe", "qwen3_5_moe_text"}, {"qwen3_omni_moe_text", "qwen3_moe"}, {"qwen3_vl_moe_text", "qwen3_moe"},
    {"qwen3_vl_text", "qwen3"},
});
// clang-format on

/// Lower case without underscores, hyphens and dots: "Qwen3_5Moe" and "qwen3_5_moe" become the same.
std::string plain(std::string_view name) {
  std::string result;
  for (const char c : name) {
    if (c != '_' && c != '-' && c != '.') {
      result.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
    }
  }
  return result;
}

}  // namespace

const Family* find_family(std::string_view model_type) {
  for (const auto& [alias, type] : kAliases) {
    if (alias == model_type) model_type = type;
  }
  const auto found =
      std::find_if(kFamilies.begin(), kFamilies.end(), [&](const Family& family) { return family.type == model_type; });
  return found == kFamilies.end() ? nullptr : &*found;
}

const Family* find_family_of_class(std::string_view architecture) {
  for (const std::string_view ending : {"ForCausalLM", "ForConditionalGeneration", "LMHeadModel", "Model"}) {
    if (architecture.size() <= ending.size() || !architecture.ends_with(ending)) continue;
    const std::string wanted = plain(architecture.substr(0, architecture.size() - ending.size()));
    for (const Family& family : kFamilies) {
      if (plain(family.type) == wanted) return &family;
    }
    for (const auto& [alias, type] : kAliases) {
      if (plain(alias) == wanted) return find_family(type);
    }
  }
  return nullptr;
}

std::vector<std::string_view> family_names() {
  std::vector<std::string_view> names;
  for (const Family& family : kFamilies) names.push_back(family.type);
  for (const auto& alias : kAliases) names.push_back(alias.first);
  return names;
}

}  // namespace ridge
