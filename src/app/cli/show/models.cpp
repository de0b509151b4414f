#include "app/cli/show/fields.hpp"
#include "report/page/page.hpp"
#include "ridge/base/text.hpp"

namespace ridge::cli {

namespace {

using M = const Model&;
using C = const SheetContext&;

constexpr double kBf16Bytes = 2;
constexpr double kFp8Bytes = 1;
constexpr double kFourBits = 0.5;

std::string_view word(ModelType type) {
  constexpr std::string_view kWords[] = {"language", "diffusion_dit", "diffusion_unet"};
  return kWords[static_cast<std::size_t>(type)];
}

std::string_view word(MixerKind kind) {
  constexpr std::string_view kWords[] = {"none", "attention", "mla", "linear_attention", "mamba2"};
  return kWords[static_cast<std::size_t>(kind)];
}

std::string_view word(FfnKind kind) {
  constexpr std::string_view kWords[] = {"none", "dense", "moe"};
  return kWords[static_cast<std::size_t>(kind)];
}

Cell count_cell(double count) {
  return count > 0 ? Cell(count).shown_as(format_count(count)) : Cell();
}

Cell published_cell(const std::optional<double>& count) {
  return count ? count_cell(*count) : Cell();
}

Value published(const Model& model, const std::optional<double>& count) {
  Value value{published_cell(count), {}};
  if (count) value.source = SourceId{model.source};
  return value;
}

Value weights(const Model& model, double bytes_per_parameter) {
  const double total = count_parameters(model).total;
  return {total > 0 ? Cell(Bytes(total * bytes_per_parameter)) : Cell(), {}};
}

/// What one more token adds to a cache in bf16, once it is longer than every window but the full layers still grow.
Value kv_per_token(const Model& model, int context) {
  if (model.type != ModelType::language) return {};
  return {Cell(kv_bytes_per_token(model, kBf16Bytes, context)), {}};
}

Value kv_full_context(const Model& model) {
  if (model.type != ModelType::language || model.context == 0) return {};
  return {Cell(kv_bytes_per_sequence(model, kBf16Bytes, model.context)), {}};
}

const FieldReader<Model> kModelFields[] = {
    {text_field("id", "id", "", kListed), [](M m, C) { return known(m.id); }},
    {text_field("name", "name"), [](M m, C) { return known(m.name); }},
    {text_field("type", "type", "Shape"), [](M m, C) { return known(word(m.type)); }},
    {text_field("moe", "MoE", "Shape", kListed),
     [](M m, C) {
       return Value{Cell(m.is_moe()), {}};
     }},
    {number_field("layers", "", "layers", "layers", "Shape", kListed), [](M m, C) { return stated(m, m.layers()); }},
    {number_field("hidden", "", "hidden", "hidden size", "Shape", kListed), [](M m, C) { return stated(m, m.hidden); }},
    {quiet_field("vocab", "", "vocab", "vocabulary", "Shape"), [](M m, C) { return stated(m, m.vocab); }},
    {text_field("tied_embeddings", "tied embeddings", "Shape"),
     [](M m, C) {
       return m.vocab == 0 ? Value{} : Value{Cell(m.tied_embeddings), {}};
     }},
    {quiet_field("context", "tokens", "context", "longest context", "Shape", kListed),
     [](M m, C) { return stated(m, m.context); }},
    {quiet_field("mtp_layers", "", "MTP", "MTP layers, not counted", "Shape"),
     [](M m, C) { return stated(m, m.mtp_layers); }},
    {text_field("quantization", "checkpoint in", "Shape"), [](M m, C) { return known(m.quantization); }},
    {quiet_field("parameters", "", "parameters", "total, computed", "Parameters", kListed),
     [](M m, C) {
       return Value{count_cell(count_parameters(m).total), {}};
     }},
    {quiet_field("active_parameters", "", "active", "active per token, computed", "Parameters", kListed),
     [](M m, C) {
       return Value{count_cell(count_parameters(m).active), {}};
     }},
    {number_field("published_parameters", "", "published", "total, published", "Parameters"),
     [](M m, C) { return published(m, m.published.total); }},
    {quiet_field("published_active_parameters", "", "published active", "active per token, published", "Parameters"),
     [](M m, C) { return published(m, m.published.active); }},
    {text_field("count_exception", "why they differ", "Parameters"), [](M m, C) { return known(m.count_exception); }},
    {quiet_field("weights.bf16", "bytes", "bf16 weights", "bf16", "Weights", kListed),
     [](M m, C) { return weights(m, kBf16Bytes); }},
    {quiet_field("weights.fp8", "bytes", "fp8 weights", "fp8, without scales", "Weights"),
     [](M m, C) { return weights(m, kFp8Bytes); }},
    {quiet_field("weights.fp4", "bytes", "4-bit weights", "4 bits, without scales", "Weights"),
     [](M m, C) { return weights(m, kFourBits); }},
    {quiet_field("kv", "bytes_per_token", "KV/token", "of one more token", "KV cache in bf16", kListed),
     [](M m, C) { return kv_per_token(m, 0); }},
    {quiet_field("kv_at_context", "bytes_per_token", "KV/token, long", "of one more token at the longest context",
                 "KV cache in bf16"),
     [](M m, C) { return m.context == 0 ? Value{} : kv_per_token(m, m.context); }},
    {quiet_field("kv_sequence_at_context", "bytes", "KV/sequence", "of one sequence at the longest context",
                 "KV cache in bf16"),
     [](M m, C) { return kv_full_context(m); }},
    {text_field("notes", "notes"), [](M m, C) { return known(m.notes); }},
};

std::string times(int a, int b) {
  return std::to_string(a) + " x " + std::to_string(b);
}

/// "64 heads x 128, 8 KV heads, window 4,096".
std::string mixer_text(const Mixer& mixer) {
  const auto windowed = [&](std::string text) {
    return mixer.window > 0 ? text + ", window " + format_number(mixer.window) : text;
  };
  switch (mixer.kind) {
    case MixerKind::none:
      return "none";
    case MixerKind::attention: {
      const std::string kind = mixer.kv_heads == mixer.heads ? "MHA " : mixer.kv_heads == 1 ? "MQA " : "GQA ";
      std::string text =
          kind + times(mixer.heads, mixer.head_dim) + ", " + std::to_string(mixer.kv_heads) + " KV heads";
      if (mixer.both_ways) text += ", both ways";
      if (mixer.cross_tokens > 0)
        text += ", and over " + format_number(mixer.cross_tokens, 7) + " positions of the encoder";
      return windowed(text);
    }
    case MixerKind::mla: {
      std::string text = "MLA " + std::to_string(mixer.heads) + " heads, KV rank " +
                         std::to_string(mixer.kv_lora_rank) + " + " + std::to_string(mixer.qk_rope_dim);
      if (mixer.index_topk > 0) text += ", sparse top " + format_number(mixer.index_topk);
      return windowed(text);
    }
    case MixerKind::linear_attention:
      return "linear attention, state " + times(mixer.state_v_heads, mixer.state_k_dim) + " x " +
             std::to_string(mixer.state_v_dim);
    case MixerKind::mamba2:
      return "Mamba-2, state " + times(mixer.state_v_heads, mixer.state_v_dim) + " x " +
             std::to_string(mixer.state_k_dim);
  }
  return {};
}

/// "128 experts of 768, 8 active".
std::string ffn_text(const Ffn& ffn) {
  switch (ffn.kind) {
    case FfnKind::none:
      return "none";
    case FfnKind::dense:
      return (ffn.gated ? "gated " : "plain ") + format_number(ffn.width);
    case FfnKind::moe: {
      std::string text = std::to_string(ffn.experts) + " experts of " + format_number(ffn.width) + ", " +
                         std::to_string(ffn.top_k) + " active";
      if (ffn.shared_experts > 0) {
        text += ", " + std::to_string(ffn.shared_experts) + " shared of " + format_number(ffn.shared_width);
      }
      return text;
    }
  }
  return {};
}

Table groups_table(const Model& model) {
  Table table;
  table.title = "Layer groups";
  table.columns = {{.key = "layers", .heading = "layers", .kind = ColumnKind::number},
                   {.key = "mixer", .heading = "mixer", .overflow = Overflow::wrap},
                   {.key = "ffn", .heading = "feed-forward", .overflow = Overflow::wrap},
                   {.key = "parameters", .heading = "parameters each", .kind = ColumnKind::number}};
  for (const LayerGroup& group : model.groups) {
    table.rows.push_back({Cell(group.count), Cell(mixer_text(group.mixer)), Cell(ffn_text(group.ffn)),
                          count_cell(layer_parameters(model, group))});
  }
  return table;
}

Table diffusion_table(const Diffusion& diffusion) {
  Table table = report::two_columns("Diffusion", Overflow::wrap);
  table.rows = {{Cell("patch"), Cell(diffusion.patch)},
                {Cell("latent channels"), Cell(diffusion.latent_channels)},
                {Cell("VAE scales down by"), Cell(diffusion.vae_down)},
                {Cell("text tokens"), Cell(diffusion.text_tokens)},
                {Cell("passes a step"), Cell(diffusion.passes_per_step)}};
  if (diffusion.text_parameters > 0) {
    table.rows.push_back({Cell("text encoders"), count_cell(diffusion.text_parameters)});
  }
  if (diffusion.frames > 1) {
    table.rows.push_back({Cell("frames of a clip"), Cell(diffusion.frames)});
    table.rows.push_back({Cell("frames in a latent frame"), Cell(diffusion.vae_time)});
  }
  if (diffusion.denoisers > 1) table.rows.push_back({Cell("networks that take turns"), Cell(diffusion.denoisers)});
  if (!diffusion.block.empty()) table.rows.push_back({Cell("blocks"), Cell(diffusion.block)});
  if (diffusion.flops_per_evaluation > 0) {
    table.rows.push_back({Cell("work of one pass, 1024 x 1024"), Cell(Flops(diffusion.flops_per_evaluation))});
  }
  return table;
}

Table parts_table(const Model& model) {
  const Parameters p = count_parameters(model);
  Table table;
  table.title = "Where the parameters are";
  table.headings = false;
  table.columns = {{.key = "part", .heading = "part"},
                   {.key = "parameters", .heading = "parameters", .kind = ColumnKind::number},
                   {.key = "share", .heading = "share", .kind = ColumnKind::number}};
  const auto add = [&](std::string_view part, double count) {
    if (count <= 0) return;
    const double share = count / p.total;
    table.rows.push_back({Cell(part), count_cell(count), Cell(share).shown_as(format_number(share * 100) + " %")});
  };
  add("input embedding", p.embedding);
  add("output head", p.head);
  add("token mixers", p.attention);
  add("dense feed-forward", p.dense_ffn);
  add("routed experts", p.routed_experts);
  add("shared experts", p.shared_experts);
  add("modulation", p.modulation);
  add("norms, routers and the rest", p.norms);
  return table;
}

/// Only what the kind of part uses: zeros and false are left out.
class Compact {
 public:
  Compact& set(std::string_view key, int value) {
    if (value != 0) object_.set(key, value);
    return *this;
  }
  Compact& set(std::string_view key, bool value) {
    if (value) object_.set(key, value);
    return *this;
  }
  Compact& set(std::string_view key, std::string_view value) {
    object_.set(key, value);
    return *this;
  }
  [[nodiscard]] Json take() { return std::move(object_); }

 private:
  Json object_ = Json::object();
};

Json mixer_json(const Mixer& m) {
  constexpr std::string_view kNorms[] = {"none", "per_head", "full"};
  Compact json;
  json.set("kind", word(m.kind)).set("heads", m.heads).set("kv_heads", m.kv_heads).set("head_dim", m.head_dim);
  json.set("window_tokens", m.window).set("qkv_bias", m.qkv_bias).set("output_bias", m.output_bias);
  json.set("output_gate", m.output_gate).set("value_is_key", m.value_is_key).set("sinks", m.sinks);
  if (m.qk_norm != QkNorm::none) json.set("qk_norm", kNorms[static_cast<std::size_t>(m.qk_norm)]);
  json.set("q_lora_rank", m.q_lora_rank).set("kv_lora_rank", m.kv_lora_rank).set("qk_nope_dim", m.qk_nope_dim);
  json.set("qk_rope_dim", m.qk_rope_dim).set("v_head_dim", m.v_head_dim);
  json.set("index_heads", m.index_heads).set("index_dim", m.index_dim).set("index_topk", m.index_topk);
  json.set("state_k_heads", m.state_k_heads).set("state_k_dim", m.state_k_dim);
  json.set("state_v_heads", m.state_v_heads).set("state_v_dim", m.state_v_dim).set("conv", m.conv);
  json.set("state_gates", m.state_gates);
  return json.take();
}

Json ffn_json(const Ffn& f) {
  Compact json;
  json.set("kind", word(f.kind)).set("width", f.width).set("gated", f.kind != FfnKind::none && f.gated);
  json.set("bias", f.bias).set("experts", f.experts).set("top_k", f.top_k).set("shared_experts", f.shared_experts);
  json.set("shared_width", f.shared_width).set("shared_gate", f.shared_gate).set("router_bias", f.router_bias);
  json.set("latent", f.latent).set("depthwise", f.depthwise);
  return json.take();
}

Json dit_json(const DitBlock& d) {
  Compact json;
  json.set("streams", d.streams).set("text_stream_ends", d.text_stream_ends).set("parallel", d.parallel);
  json.set("joint", d.joint);
  json.set("modulation", d.modulation).set("text_modulation", d.text_modulation).set("table", d.table);
  json.set("cross_attention", d.cross_attention).set("second_attention", d.second_attention).set("skip", d.skip);
  return json.take();
}

Json diffusion_json(const Model& model) {
  if (model.type == ModelType::language) return {};
  const Diffusion& d = model.diffusion;
  return Json::object()
      .set("patch", d.patch)
      .set("latent_channels", d.latent_channels)
      .set("vae_down", d.vae_down)
      .set("text_tokens", d.text_tokens)
      .set("passes_per_step", d.passes_per_step)
      .set("text_encoder_parameters", d.text_parameters > 0 ? Json(d.text_parameters) : Json())
      .set("frames", d.frames)
      .set("vae_time", d.vae_time)
      .set("denoisers", d.denoisers)
      .set("flops_per_evaluation", d.flops_per_evaluation > 0 ? Json(d.flops_per_evaluation) : Json());
}

}  // namespace

Sheet model_sheet(std::span<const Model> models, const SheetContext& context) {
  Sheet sheet;
  sheet.plural = "models";
  sheet.singular = "model";
  fill<Model>(sheet, models, kModelFields, context);
  sheet.add_json = [models](std::size_t entry, Json& object) {
    const Model& model = models[entry];
    Json groups = Json::array();
    for (const LayerGroup& group : model.groups) {
      Json json = Json::object()
                      .set("count", group.count)
                      .set("parameters_each", layer_parameters(model, group))
                      .set("mixer", mixer_json(group.mixer))
                      .set("ffn", ffn_json(group.ffn));
      if (model.type != ModelType::language) json.set("dit", dit_json(group.dit));
      groups.push(std::move(json));
    }
    object.set("groups", std::move(groups));
    object.set("diffusion", diffusion_json(model));
  };
  sheet.add_blocks = [models](std::size_t entry, Document& page, References&) {
    if (models[entry].type != ModelType::language) page.blocks.push_back(diffusion_table(models[entry].diffusion));
    if (!models[entry].groups.empty()) page.blocks.push_back(groups_table(models[entry]));
    page.blocks.push_back(parts_table(models[entry]));
  };
  return sheet;
}

}  // namespace ridge::cli
