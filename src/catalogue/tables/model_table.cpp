// [[model]]: parts named once (attention, window, ffn, moe, ...) and a pattern that says which layer has which.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "catalogue/tables/layers.hpp"
#include "catalogue/tables/tables.hpp"
#include "ridge/base/text.hpp"

namespace ridge {

namespace {

enum class AttentionKind : std::uint8_t { mha, gqa, mqa, mla, shared, linear };

/// What the letters of a pattern stand for.
struct Parts {
  Mixer attention;
  std::optional<Mixer> window;
  std::optional<Mixer> linear;
  std::optional<Mixer> mamba;
  std::optional<Ffn> dense;
  std::optional<Ffn> experts;
  int first_dense = 0;     ///< layers before the first with experts
  int every = 1;           ///< of the layers after them, each so many has experts
  int indexers_first = 0;  ///< layers at the start with an indexer of their own
  int indexers_every = 1;  ///< of the layers after them, each so many has one; the others use the last choice
};

void read_biases(TableReader& t, Mixer& mixer) {
  mixer.qkv_bias = t.flag("qkv_bias", mixer.qkv_bias);
  mixer.output_bias = t.flag("output_bias", mixer.output_bias);
  mixer.qk_norm = t.optional_choice<QkNorm>(
      "qk_norm", mixer.qk_norm, {{"none", QkNorm::none}, {"per-head", QkNorm::per_head}, {"full", QkNorm::full}});
}

void check_heads(TableReader& t, const Mixer& mixer) {
  if (mixer.kv_heads > 0 && mixer.heads % mixer.kv_heads != 0) {
    t.refuse("kv_heads", fmt::format("{} key-value heads do not divide {} heads", mixer.kv_heads, mixer.heads));
  }
}

int read_head_dim(TableReader& t, int heads, int hidden) {
  const int head_dim = t.optional_integer("head_dim", 0, 1, kHeadLimit);
  if (head_dim > 0) return head_dim;
  if (heads <= 0) return 0;
  if (hidden % heads != 0) {
    t.refuse("heads", fmt::format("{} heads do not divide hidden = {}: say head_dim as well", heads, hidden));
  }
  return hidden / heads;
}

void read_mla(TableReader& t, Mixer& mixer) {
  mixer.kind = MixerKind::mla;
  mixer.q_lora_rank = t.optional_integer("q_lora_rank", 0, 1, kHeadLimit);
  mixer.kv_lora_rank = t.integer("kv_lora_rank", 1, kHeadLimit);
  mixer.qk_nope_dim = t.integer("qk_nope_dim", 1, kHeadLimit);
  mixer.qk_rope_dim = t.integer("qk_rope_dim", 0, kHeadLimit);
  mixer.v_head_dim = t.integer("v_head_dim", 1, kHeadLimit);
}

/// DeepSeek-V4: one entry is key and value of all heads.
void read_shared(TableReader& t, Mixer& mixer) {
  mixer.kind = MixerKind::mla;
  mixer.shared_kv = true;
  const int entry = t.integer("head_dim", 2, kHeadLimit);
  mixer.qk_rope_dim = t.integer("rope_dim", 1, entry - 1);
  mixer.kv_lora_rank = mixer.qk_nope_dim = entry - mixer.qk_rope_dim;
  mixer.v_head_dim = entry;
  mixer.q_lora_rank = t.integer("q_lora_rank", 1, kHeadLimit);
  mixer.output_groups = t.integer("output_groups", 1, mixer.heads);
  mixer.output_rank = t.integer("output_rank", 1, kHeadLimit);
  mixer.window = t.integer("window", 1, kContextLimit);
}

void read_indexer(TableReader& model, Mixer& mixer, Parts& parts) {
  if (!model.has("indexer")) return;
  TableReader t = model.table("indexer");
  mixer.index_heads = t.integer("heads", 1, kHeadLimit);
  mixer.index_dim = t.integer("dim", 1, kHeadLimit);
  mixer.index_topk = t.integer("top_k", 1, kContextLimit);
  parts.indexers_first = t.optional_integer("own_first", 0, 1, kLayerLimit);
  parts.indexers_every = t.optional_integer("own_every", 1, 1, kLayerLimit);
}

Mixer read_attention(TableReader& model, int hidden, Parts& parts) {
  Mixer mixer;
  TableReader t = model.table("attention");
  const auto kind = t.choice<AttentionKind>("kind", {{"mha", AttentionKind::mha},
                                                     {"gqa", AttentionKind::gqa},
                                                     {"mqa", AttentionKind::mqa},
                                                     {"mla", AttentionKind::mla},
                                                     {"shared", AttentionKind::shared},
                                                     {"linear", AttentionKind::linear}});
  mixer.heads = t.integer("heads", 1, kHeadLimit);
  if (kind == AttentionKind::shared) {
    read_shared(t, mixer);
    read_indexer(model, mixer, parts);
    return mixer;
  }
  if (kind == AttentionKind::mla) {
    read_mla(t, mixer);
    read_indexer(model, mixer, parts);
    return mixer;
  }
  mixer.head_dim = read_head_dim(t, mixer.heads, hidden);
  read_biases(t, mixer);
  if (kind == AttentionKind::linear) {
    mixer.kind = MixerKind::linear_attention;
    mixer.state_k_heads = mixer.state_v_heads = mixer.heads;
    mixer.state_k_dim = mixer.state_v_dim = mixer.head_dim;
    mixer.heads = mixer.head_dim = 0;
    return mixer;
  }
  mixer.kv_heads = kind == AttentionKind::gqa   ? t.integer("kv_heads", 1, kHeadLimit)
                   : kind == AttentionKind::mqa ? 1
                                                : mixer.heads;
  mixer.v_head_dim = t.optional_integer("v_head_dim", 0, 1, kHeadLimit);
  mixer.output_gate = t.flag("output_gate");
  mixer.value_is_key = t.flag("value_is_key");
  mixer.sinks = t.flag("sinks");
  mixer.both_ways = t.flag("both_ways");
  if (t.flag("cross")) mixer.cross_tokens = 1;  // as many as the encoder has, which is read last
  check_heads(t, mixer);
  read_indexer(model, mixer, parts);
  return mixer;
}

/// The attention of windowed layers: as the other, but for the window and what it says itself.
std::optional<Mixer> read_window(TableReader& model, const Mixer& attention) {
  if (!model.has("window")) return std::nullopt;
  TableReader t = model.table("window");
  Mixer mixer = attention;
  mixer.window = t.integer("tokens", 1, kContextLimit);
  mixer.heads = t.optional_integer("heads", mixer.heads, 1, kHeadLimit);
  mixer.kv_heads = t.optional_integer("kv_heads", mixer.kv_heads, 1, kHeadLimit);
  mixer.head_dim = t.optional_integer("head_dim", mixer.head_dim, 1, kHeadLimit);
  mixer.value_is_key = t.flag("value_is_key", mixer.value_is_key);
  mixer.sinks = t.flag("sinks", mixer.sinks);
  check_heads(t, mixer);
  return mixer;
}

std::optional<Mixer> read_linear_attention(TableReader& model) {
  if (!model.has("linear_attention")) return std::nullopt;
  TableReader t = model.table("linear_attention");
  Mixer mixer;
  mixer.kind = MixerKind::linear_attention;
  mixer.state_k_heads = t.integer("k_heads", 1, kHeadLimit);
  mixer.state_k_dim = t.integer("k_dim", 1, kHeadLimit);
  mixer.state_v_heads = t.integer("v_heads", 1, kHeadLimit);
  mixer.state_v_dim = t.integer("v_dim", 1, kHeadLimit);
  mixer.conv = t.optional_integer("conv", 0, 1, 64);
  mixer.output_gate = t.flag("output_gate");
  mixer.state_gates = t.flag("state_gates");
  return mixer;
}

std::optional<Mixer> read_mamba2(TableReader& model) {
  if (!model.has("mamba2")) return std::nullopt;
  TableReader t = model.table("mamba2");
  Mixer mixer;
  mixer.kind = MixerKind::mamba2;
  mixer.state_v_heads = t.integer("heads", 1, kHeadLimit);
  mixer.state_v_dim = t.integer("head_dim", 1, kHeadLimit);
  mixer.state_k_dim = t.integer("state", 1, kHeadLimit);
  mixer.state_k_heads = t.integer("groups", 1, kHeadLimit);
  mixer.conv = t.integer("conv", 1, 64);
  return mixer;
}

std::optional<Ffn> read_ffn(TableReader& model) {
  if (!model.has("ffn")) return std::nullopt;
  TableReader t = model.table("ffn");
  Ffn ffn;
  ffn.width = t.integer("width", 1, kWidthLimit);
  ffn.gated = t.flag("gated", true);
  ffn.bias = t.flag("bias");
  ffn.depthwise = t.optional_integer("depthwise", 0, 1, 64);
  return ffn;
}

void read_experts(TableReader& model, int layers, Parts& parts) {
  if (!model.has("moe")) return;
  TableReader t = model.table("moe");
  Ffn ffn;
  ffn.kind = FfnKind::moe;
  ffn.experts = t.integer("experts", 1, kHeadLimit);
  ffn.top_k = t.integer("top_k", 1, kHeadLimit);
  if (ffn.top_k > ffn.experts) t.refuse("top_k", fmt::format("{} of {} experts", ffn.top_k, ffn.experts));
  ffn.groups = t.optional_integer("groups", 0, 1, ffn.experts);
  if (ffn.groups > 0) {
    ffn.groups_chosen = t.integer("groups_chosen", 1, ffn.groups);
    if (ffn.experts % ffn.groups != 0) {
      t.refuse("groups", fmt::format("{} groups do not divide {} experts", ffn.groups, ffn.experts));
    }
  }
  ffn.width = t.integer("width", 1, kWidthLimit);
  ffn.gated = t.flag("gated", !parts.dense || parts.dense->gated);
  ffn.bias = t.flag("bias");
  ffn.shared_experts = t.optional_integer("shared_experts", 0, 0, kHeadLimit);
  if (ffn.shared_experts > 0) ffn.shared_width = t.optional_integer("shared_width", ffn.width, 1, kWidthLimit);
  ffn.shared_gate = t.flag("shared_gate");
  ffn.router_bias = t.flag("router_bias");
  ffn.latent = t.optional_integer("latent", 0, 1, kWidthLimit);
  parts.first_dense = t.optional_integer("first_dense_layers", 0, 0, layers);
  parts.every = t.optional_integer("every", 1, 1, kLayerLimit);
  parts.experts = ffn;
}

/// The feed-forward part of layer `i` behind a mixer.
std::optional<Ffn> ffn_of_layer(const Parts& parts, int i) {
  const bool sparse = parts.experts && i >= parts.first_dense && (i + 1) % parts.every == 0;
  return sparse ? parts.experts : parts.dense;
}

/// One layer by its letter; empty, with a reason, if a part it needs is not described.
std::optional<LayerGroup> layer_of_letter(const Parts& parts, char letter, int i, std::string& why) {
  LayerGroup layer;
  layer.mixer.kind = MixerKind::none;
  layer.ffn.kind = FfnKind::none;
  std::optional<Mixer> mixer = Mixer{.kind = MixerKind::none};
  switch (letter) {
    case 'A':
    case 'a':
      mixer = parts.attention;
      break;
    case 'W':
    case 'w':
      mixer = parts.window;
      why = "'W' needs [model.window]";
      break;
    case 'L':
    case 'l':
      mixer = parts.linear;
      why = "'L' needs [model.linear_attention]";
      break;
    case 'M':
    case 'm':
      mixer = parts.mamba;
      why = "'M' needs [model.mamba2]";
      break;
    case 'f':
    case 'e':
      break;
    default:
      why = fmt::format("'{}' is none of A, W, L, M (mixer and feed-forward), a, w, l, m (mixer alone), f, e", letter);
      return std::nullopt;
  }
  if (!mixer) return std::nullopt;
  layer.mixer = *mixer;
  const bool has_ffn = (letter >= 'A' && letter <= 'Z') || letter == 'f' || letter == 'e';
  if (!has_ffn) return layer;
  const std::optional<Ffn> ffn = letter == 'f' ? parts.dense : letter == 'e' ? parts.experts : ffn_of_layer(parts, i);
  why = letter == 'e' ? "'e' needs [model.moe]" : fmt::format("layer {} needs [model.ffn]", i + 1);
  if (!ffn) return std::nullopt;
  layer.ffn = *ffn;
  return layer;
}

void read_layers(TableReader& t, Model& model) {
  const int layers = t.integer("layers", 1, kLayerLimit);
  Parts parts;
  parts.attention = read_attention(t, model.hidden, parts);
  parts.window = read_window(t, parts.attention);
  parts.linear = read_linear_attention(t);
  parts.mamba = read_mamba2(t);
  parts.dense = read_ffn(t);
  read_experts(t, layers, parts);
  std::string pattern = t.optional_text("pattern");
  if (pattern.empty()) pattern = "A";
  const auto describes = [&](char upper, char lower) {
    return pattern.find(upper) != std::string::npos || pattern.find(lower) != std::string::npos;
  };
  if (parts.window && !describes('W', 'w'))
    t.refuse("window", "no layer has the window: write for example pattern = \"W\"");
  if (parts.linear && !describes('L', 'l')) t.refuse("linear_attention", "no layer has it: say where in `pattern`");
  if (parts.mamba && !describes('M', 'm')) t.refuse("mamba2", "no layer has it: say where in `pattern`");
  if (t.failed()) return;
  if (pattern.size() > static_cast<std::size_t>(layers)) {
    return t.refuse("pattern", fmt::format("{} letters for {} layers", pattern.size(), layers));
  }
  const std::vector<int> ratios = t.integers("compress", 0, kContextLimit);
  if (parts.attention.shared_kv ? ratios.size() != static_cast<std::size_t>(layers) : !ratios.empty()) {
    return t.refuse("compress",
                    fmt::format("{} ratios for {} layers: shared attention has one for each, others have none",
                                ratios.size(), layers));
  }
  const std::vector<int> widths = t.integers("ffn_widths", 1, kWidthLimit);
  if (!widths.empty() && widths.size() != static_cast<std::size_t>(layers)) {
    return t.refuse("ffn_widths", fmt::format("{} widths for {} layers", widths.size(), layers));
  }
  for (int i = 0; i < layers; ++i) {
    std::string why;
    auto layer = layer_of_letter(parts, pattern[static_cast<std::size_t>(i) % pattern.size()], i, why);
    if (!layer) return t.refuse("pattern", why);
    // Models cut down by search have a width of their own in each layer (Nemotron NAS).
    if (!widths.empty() && layer->ffn.kind == FfnKind::dense) layer->ffn.width = widths[static_cast<std::size_t>(i)];
    if (!ratios.empty()) layer->mixer = compressed(layer->mixer, ratios[static_cast<std::size_t>(i)]);
    const int after = i - parts.indexers_first;
    if (after >= 0 && (after + 1) % parts.indexers_every != 0) layer->mixer.index_heads = layer->mixer.index_dim = 0;
    append_layer(model, *layer);
  }
}

DitBlock read_block(TableReader& t, int hidden) {
  DitBlock block;
  block.streams = t.optional_integer("streams", 1, 1, 2);
  block.text_stream_ends = t.flag("text_stream_ends");
  block.parallel = t.flag("parallel");
  block.joint = t.flag("joint");
  block.modulation = t.optional_integer("modulation", 0, 0, 64);
  if (block.streams == 2) block.text_modulation = t.optional_integer("text_modulation", 0, 1, 64);
  block.table = t.optional_integer("table", 0, 0, 64);
  if (t.flag("cross_attention")) block.cross_attention = t.optional_integer("text_width", hidden, 1, kWidthLimit);
  block.second_attention = t.flag("second_attention");
  block.skip = t.flag("skip");
  return block;
}

void read_diffusion(TableReader& model_table, Model& model) {
  TableReader t = model_table.table("diffusion");
  Diffusion& diffusion = model.diffusion;
  diffusion.patch = t.integer("patch", 1, 64);
  diffusion.latent_channels = t.integer("latent_channels", 1, 1024);
  diffusion.vae_down = t.integer("vae_down", 1, 256);
  diffusion.text_tokens = t.optional_integer("text_tokens", 0, 1, kContextLimit);
  diffusion.passes_per_step = t.integer("passes_per_step", 1, 8);
  diffusion.steps = t.optional_integer("steps", 0, 1, 10000);
  diffusion.text_parameters = t.optional_count("text_encoders", 1e6, 1e13).value_or(0);
  diffusion.frames = t.optional_integer("frames", 1, 1, 1'000'000);
  diffusion.frames_per_s = t.optional_integer("frames_per_s", 0, 1, 1000);
  diffusion.vae_time = t.optional_integer("vae_time", 1, 1, 64);
  diffusion.patch_time = t.optional_integer("patch_time", 1, 1, 64);
  diffusion.denoisers = t.optional_integer("denoisers", 1, 1, 8);
  const auto work = [&](const char* key, double& into) {
    if (const auto flops = t.figure<Flops>(key, Flops(1e3), Flops(1e17))) into = flops->value.value();
  };
  work("flops_per_evaluation", diffusion.flops_per_evaluation);
  work("attention_per_evaluation", diffusion.attention_per_evaluation);
  work("vae_flops_per_pixel", diffusion.vae_flops_per_pixel);
  if (const auto bytes = t.figure<Bytes>("traffic_per_evaluation", Bytes(1e6), Bytes(1e15))) {
    diffusion.traffic_per_evaluation = bytes->value.value();
  }
  if (diffusion.attention_per_evaluation > diffusion.flops_per_evaluation) {
    t.refuse("attention_per_evaluation", "is a part of flops_per_evaluation and cannot be more");
  }
  if (model.type != ModelType::diffusion_dit) return;
  LayerGroup layer;
  Parts ignored;
  layer.mixer = read_attention(model_table, model.hidden, ignored);
  if (const auto ffn = read_ffn(model_table)) layer.ffn = *ffn;
  model_table.require("ffn");
  for (TableReader& block : t.tables("block")) {
    layer.dit = read_block(block, model.hidden);
    const int count = block.integer("count", 1, kLayerLimit);
    for (int i = 0; i < count; ++i) append_layer(model, layer);
    if (!diffusion.block.empty()) diffusion.block += ',';
    diffusion.block += fmt::format("{}:{}", block.text("name"), count);
  }
  t.require("block");
}

/// [model.vision] or [model.audio]: what stands in front of the layers.
void read_encoder(TableReader& model_table, Model& model) {
  const auto shape = [&](TableReader& t, Encoder::Kind kind) {
    Encoder& e = model.encoder;
    e.kind = kind;
    e.layers = t.integer("layers", 1, kLayerLimit);
    e.hidden = t.integer("hidden", 1, kWidthLimit);
    e.heads = t.integer("heads", 1, kWidthLimit);
    e.width = t.integer("ffn_width", 1, kWidthLimit);
    e.gated = t.flag("gated");
    e.parameters = t.optional_count("parameters", 1e6, 1e13).value_or(0);
    if (e.hidden % std::max(e.heads, 1) != 0) t.refuse("heads", "do not divide hidden");
  };
  if (TableReader t = model_table.table("vision"); model_table.has("vision")) {
    shape(t, Encoder::Kind::vision);
    Encoder& e = model.encoder;
    e.patch = t.integer("patch", 1, 256);
    e.merge = t.optional_integer("merge", 1, 1, 64);
    e.window = t.optional_integer("window", 0, 1, 4096);
    e.full_layers = t.optional_integer("full_layers", 0, 1, e.layers);
    e.tile = t.optional_integer("tile", 0, 16, 65536);
    e.most_tiles = t.optional_integer("most_tiles", 0, 1, 1024);
    e.most_tokens = t.optional_integer("most_tokens", 0, 1, kContextLimit);
    if (e.tile > 0 && e.tile % e.patch != 0) t.refuse("tile", "is no whole number of patches");
  }
  if (TableReader t = model_table.table("audio"); model_table.has("audio")) {
    if (model.encoder.kind != Encoder::Kind::none) t.refuse("layers", "stands beside [model.vision]: one of the two");
    shape(t, Encoder::Kind::audio);
    Encoder& e = model.encoder;
    e.frames_per_s = t.integer("frames_per_s", 1, 10000);
    e.clip_s = t.integer("clip_s", 1, 3600);
    e.audio_merge = t.optional_integer("merge", 1, 1, 64);
  }
}

/// Layers that read an encoder read all positions of a clip.
void join_encoder(TableReader& t, Model& model) {
  const Encoder& e = model.encoder;
  const bool crosses = model.cross_tokens() > 0;
  if (crosses && e.kind != Encoder::Kind::audio) return t.refuse("attention", "cross = true needs [model.audio]");
  if (model.reads_both_ways() && !model.embeds) {
    return t.refuse("attention", "both_ways = true needs embeds = true: such a model writes no answer");
  }
  for (LayerGroup& group : model.groups) {
    if (group.mixer.cross_tokens > 0) group.mixer.cross_tokens = static_cast<int>(e.clip_s * e.frames_per_s);
  }
}

/// "8.03B" is 8.03e9, give or take half of 0.01e9.
std::optional<double> read_published(TableReader& t, std::string_view key, double& rounding) {
  const std::string text = t.optional_text(key);
  if (text.empty()) return std::nullopt;
  const Result<double> count = parse_count(text);
  if (!count || *count < 1e3 || *count > 1e15) {
    t.refuse(key, "expected a number of parameters such as \"8.03B\"");
    return std::nullopt;
  }
  const std::size_t suffix = text.find_first_not_of("0123456789.");
  const std::string_view digits = std::string_view(text).substr(0, suffix);
  const Result<double> unit = parse_count("1" + (suffix == std::string::npos ? "" : text.substr(suffix)));
  rounding = 0.5 * (unit ? *unit : 1);
  if (const std::size_t point = digits.find('.'); point != std::string_view::npos) {
    for (std::size_t i = point + 1; i < digits.size(); ++i) rounding /= 10;
  }
  return *count;
}

}  // namespace

Model read_model(TableReader t) {
  Model model;
  model.id = t.id();
  model.name = t.text("name");
  model.notes = t.optional_text("notes");
  model.source = t.source().index;
  model.file = t.place().file;
  model.line = t.place().line;
  model.type = t.optional_choice<ModelType>("type", ModelType::language,
                                            {{"language", ModelType::language},
                                             {"diffusion-dit", ModelType::diffusion_dit},
                                             {"diffusion-unet", ModelType::diffusion_unet}});
  model.quantization = t.optional_text("quantization");
  model.other_parameters = t.optional_count("other_parameters", 0, 1e15).value_or(0);

  TableReader published = t.table("published");
  model.published.total = read_published(published, "total", model.published.total_rounding);
  model.published.active = read_published(published, "active", model.published.active_rounding);
  model.count_exception = published.optional_text("exception");

  if (model.type == ModelType::diffusion_unet) {
    t.require("other_parameters");
    read_diffusion(t, model);
    return model;
  }
  model.hidden = t.integer("hidden", 1, kWidthLimit);
  if (model.type == ModelType::diffusion_dit) {
    model.norms_per_layer = t.optional_integer("norms_per_layer", 0, 0, 16);
    model.norm_bias = t.flag("norm_bias");
    read_diffusion(t, model);
    return model;
  }
  model.vocab = t.integer("vocab", 1, kWidthLimit);
  t.require("tied_embeddings");
  model.tied_embeddings = t.flag("tied_embeddings");
  model.context = t.optional_integer("context", 0, 1, kContextLimit);
  model.embeds = t.flag("embeds");
  model.mtp_layers = t.optional_integer("mtp_layers", 0, 1, kLayerLimit);
  model.norms_per_layer = t.optional_integer("norms_per_layer", 2, 0, 16);
  model.norm_bias = t.flag("norm_bias");
  model.learned_positions = t.optional_integer("learned_positions", 0, 1, kWidthLimit);
  read_layers(t, model);
  read_encoder(t, model);
  join_encoder(t, model);
  return model;
}

}  // namespace ridge
