#include "perf/inference/layers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>

namespace ridge::perf {
namespace {

constexpr double kWideBytes = 2;

// Small kernels of a layer, beside its products and its attention.
constexpr double kPlainLayer = 5;      // norm, rotary, cache write; norm, activation
constexpr double kAttentionSmall = 3;  // norm, rotary, cache write
constexpr double kLatentSmall = 6;     // and norms of both latents, one concatenation
constexpr double kStateSmall = 4;      // norm, convolution, gates, norm with gate
constexpr double kFfnSmall = 2;        // norm, activation
constexpr double kQkNormSmall = 2;     // one kernel for queries, one for keys
constexpr double kCrossSmall = 2;      // norm, and the residual behind

/// MXFP4 checkpoints of models with experts quantise those alone.
bool experts_alone(Format weights, const Model& model) {
  return weights == Format::mxfp4 && model.is_moe();
}

class LayerBuilder {
 public:
  LayerBuilder(ResolvedInference& r, const Model& model, const LayerFormats& formats, LayerKind& kind)
      : r_(r), model_(model), formats_(formats), kind_(kind) {}

  void build(const LayerGroup& group) {
    kind_.count = group.count;
    kind_.mixer = group.mixer.kind;
    kind_.ffn = group.ffn.kind;
    switch (group.mixer.kind) {
      case MixerKind::attention:
        attention(group.mixer);
        break;
      case MixerKind::mla:
        mla(group.mixer);
        break;
      case MixerKind::linear_attention:
      case MixerKind::mamba2:
        state(group.mixer);
        break;
      case MixerKind::none:
        break;
    }
    if (group.mixer.kind != MixerKind::none) {
      kind_.reductions += 1;
      kind_.elementwise_bytes += 4 * r_.hidden * kWideBytes;  // norm with residual: two read, two written
    }
    if (group.ffn.kind == FfnKind::dense) dense(group.ffn);
    if (group.ffn.kind == FfnKind::moe) moe(group.ffn);
    if (group.ffn.kind != FfnKind::none) kind_.elementwise_bytes += 4 * r_.hidden * kWideBytes;
    kind_.small_kernels = small_kernels(group) / kPlainLayer;
  }

 private:
  /// A model whose layers all have the same window is served with full attention; windows are used where they alternate
  /// with global layers.
  [[nodiscard]] int window_of(const Mixer& m) const {
    const bool mixed = std::any_of(model_.groups.begin(), model_.groups.end(), [](const LayerGroup& g) {
      return g.mixer.kind == MixerKind::attention && g.mixer.window == 0;
    });
    return mixed ? m.window : 0;
  }

  /// NVFP4 checkpoints leave latent attention and states in 16 bits.
  [[nodiscard]] bool mixer_stays_wide(MixerKind mixer) const {
    return experts_alone(formats_.weights, model_) ||
           (formats_.weights == Format::nvfp4 && mixer != MixerKind::attention);
  }

  [[nodiscard]] double small_kernels(const LayerGroup& group) const {
    const bool mixer = group.mixer.kind != MixerKind::none;
    const bool ffn = group.ffn.kind != FfnKind::none;
    double kernels = ffn ? kFfnSmall : 0;
    if (group.mixer.kind == MixerKind::attention) kernels += kAttentionSmall;
    if (group.mixer.kind == MixerKind::mla) kernels += kLatentSmall;
    if (group.mixer.kind == MixerKind::linear_attention || group.mixer.kind == MixerKind::mamba2)
      kernels += kStateSmall;
    if (mixer && group.mixer.qk_norm != QkNorm::none) kernels += kQkNormSmall;
    if (group.mixer.cross_tokens > 0) return kernels + kCrossSmall;
    if (mixer && ffn) kernels += model_.norms_per_layer - 2;  // of the outputs too, or one for both parts
    return std::max(1.0, kernels);
  }

  void product(const char* what, double n, double k, Term term, bool wide) {
    if (n <= 0 || k <= 0) return;
    add({n, k, 1, wide ? ResolvedInference::kWide : ResolvedInference::kNarrow, term, what});
    if (formats_.lora_rank > 0 && term == Term::linear) {  // two thin products beside each adapted one
      add({formats_.lora_rank, k, 1, ResolvedInference::kWide, term, "adapter down"});
      add({n, formats_.lora_rank, 1, ResolvedInference::kWide, term, "adapter up"});
    }
  }
  void add(const Product& p) {
    assert(kind_.product_count < static_cast<int>(kind_.products.size()));
    kind_.products[static_cast<std::size_t>(kind_.product_count++)] = p;
  }
  [[nodiscard]] double split(double parts) const { return r_.pads_heads ? std::ceil(parts / r_.tp) : parts / r_.tp; }

  void attention(const Mixer& m) {
    const double heads = split(m.heads);
    const double kv = std::max(1.0, split(m.kv_heads));  // fewer KV heads than devices: replicated
    const double dim = m.head_dim;
    const double v_dim = m.v_head_dim > 0 ? m.v_head_dim : dim;
    const bool wide = mixer_stays_wide(m.kind);
    product("QKV projection", (heads * (m.output_gate ? 2 : 1) + kv) * dim + kv * v_dim, r_.hidden, Term::linear, wide);
    product("output projection", r_.hidden, heads * v_dim, Term::linear, wide);
    kind_.attention.q_heads = heads;
    kind_.attention.kv_heads = kv;
    kind_.attention.head_dim = dim;
    kind_.attention.v_head_dim = m.v_head_dim;
    kind_.attention.window = window_of(m);
    kind_.kv_bytes_per_token = kv * (dim + v_dim) * bytes_per_element(formats_.kv);
    kind_.kv_window = window_of(m);
    kind_.elementwise_bytes += 2 * (heads + kv) * dim * kWideBytes;  // rotary in place
    kind_.both_ways = m.both_ways;
    if (m.cross_tokens > 0) {
      product("cross-attention, query", heads * dim, r_.hidden, Term::linear, wide);
      product("cross-attention, output", r_.hidden, heads * v_dim, Term::linear, wide);
      kind_.cross_tokens = m.cross_tokens;
      kind_.cross_bytes = m.cross_tokens * kind_.kv_bytes_per_token;
      kind_.cross_weights = kv * (dim + v_dim) * r_.hidden;
      kind_.reductions += 1;
      kind_.elementwise_bytes += 4 * r_.hidden * kWideBytes;
    }
    if (m.both_ways) kind_.kv_bytes_per_token = 0;
  }

  void mla(const Mixer& m) {
    const double heads = split(m.heads);
    const double qk = m.qk_nope_dim + m.qk_rope_dim;
    const bool wide = mixer_stays_wide(m.kind);
    const double latent = m.kv_lora_rank + m.qk_rope_dim;
    product("latent down projections", m.q_lora_rank + latent, r_.hidden, Term::linear,
            wide);  // both down projections, on every device
    product("query projection", heads * qk, m.q_lora_rank > 0 ? m.q_lora_rank : r_.hidden, Term::linear, wide);
    if (m.shared_kv) {
      const double groups = split(m.output_groups);
      product("output down projection", groups * m.output_rank, heads * m.v_head_dim / groups, Term::linear, wide);
      product("output projection", r_.hidden, groups * m.output_rank, Term::linear, wide);
      if (m.compress > 0)
        product("compression", 2 * latent * (m.index_heads > 0 ? 2 : 1), r_.hidden, Term::linear, true);
      kind_.kv_window = m.window;
      kind_.kv_compress = m.compress;
    } else {
      product("latent up projections", heads * (m.qk_nope_dim + m.v_head_dim), m.kv_lora_rank, Term::linear,
              true);  // absorbed: per head, 16 bits
      product("output projection", r_.hidden, heads * m.v_head_dim, Term::linear, wide);
    }
    if (m.index_heads > 0) {
      const double from = m.q_lora_rank > 0 ? m.q_lora_rank : r_.hidden;
      product("indexer projection", m.index_heads * m.index_dim, from, Term::linear, true);
      kind_.index_flops_per_pair = 2.0 * m.index_heads * m.index_dim;
    }
    kind_.index_topk = m.index_topk;
    kind_.mla.heads = heads;
    kind_.mla.rank = m.kv_lora_rank;
    kind_.mla.rope = m.qk_rope_dim;
    kind_.mla.nope = m.qk_nope_dim;
    kind_.mla.v = m.v_head_dim;
    // The latent is the same for all heads, so every device of a tensor-parallel group keeps all of it.
    kind_.kv_bytes_per_token = latent * bytes_per_element(formats_.kv) + (m.index_heads > 0 ? m.index_dim : 0);
    kind_.elementwise_bytes += 4 * (heads * qk + latent) * kWideBytes;
  }

  void state(const Mixer& m) {
    const double inner = split(static_cast<double>(m.state_v_heads) * m.state_v_dim);
    const double keys = split(static_cast<double>(m.state_k_heads) * m.state_k_dim);
    const bool wide = mixer_stays_wide(m.kind);
    const bool linear = m.kind == MixerKind::linear_attention;
    product("mixer input projection", 2 * inner + 2 * keys + split(m.state_v_heads) * (linear ? 2 : 1), r_.hidden,
            Term::linear, wide);
    product("mixer output projection", r_.hidden, inner, Term::linear, wide);
    kind_.state_bytes = inner * m.state_k_dim * m.state_bytes_per_element + (inner + 2 * keys) * m.conv * kWideBytes;
    kind_.state_flops_per_token = 8 * inner * m.state_k_dim;  // decay, outer product, update, read-out
    kind_.elementwise_bytes += 4 * (2 * inner + 2 * keys) * kWideBytes;
  }

  void dense(const Ffn& f) {
    const double width = split(f.width);
    const bool wide = experts_alone(formats_.weights, model_);
    product("gate and up", (f.gated ? 2 : 1) * width, r_.hidden, Term::linear, wide);
    product("down", r_.hidden, width, Term::linear, wide);
    kind_.reductions += 1;
    kind_.elementwise_bytes += (f.gated ? 3 : 2) * width * kWideBytes;
  }

  void moe(const Ffn& f) {
    const double ways = r_.expert_ranks / r_.ep;  // tensor parallelism inside an expert
    product("router", f.experts, r_.hidden, Term::experts, true);
    if (f.shared_experts > 0) {
      const double width = split(static_cast<double>(f.shared_experts) * f.shared_width);
      const bool wide = experts_alone(formats_.weights, model_);
      product("shared expert, gate and up", (f.gated ? 2 : 1) * width, r_.hidden, Term::experts, wide);
      product("shared expert, down", r_.hidden, width, Term::experts, wide);
    }
    const double slots = std::ceil((f.experts + r_.redundant) / r_.ep) * r_.ep;
    kind_.moe = {.tokens = 0,
                 .hidden = f.latent > 0 ? static_cast<double>(f.latent) : r_.hidden,
                 .width = f.width / ways,
                 .experts = slots,
                 .local_experts = slots / r_.ep,
                 .top_k = static_cast<double>(f.top_k),
                 .correlation = 1,
                 .gated = f.gated};
    kind_.reachable_domains = reachable(f, r_.expert_ranks / r_.ranks_inside);
    if (!r_.attention_dp) kind_.reductions += 1;
    kind_.elementwise_bytes += 2 * r_.hidden * kWideBytes * (1 + f.top_k / r_.ep);  // permutation and weighted sum
  }

  /// Where a token may go to some groups of experts only (DeepSeek-V3, arXiv 2412.19437, section 2.1.2), fewer domains
  /// can be reached: each holds some whole groups, or a part of one.
  static double reachable(const Ffn& f, double domains) {
    if (f.groups <= 0) return 0;
    const double share = static_cast<double>(f.groups_chosen) / f.groups;
    if (domains >= f.groups) return domains * share;
    return domains * (1 - std::pow(1 - share, f.groups / domains));
  }

  ResolvedInference& r_;
  const Model& model_;
  const LayerFormats& formats_;
  LayerKind& kind_;
};

bool divides(double parts, double whole) {
  return std::fmod(whole, parts) == 0;
}

/// Sets the reason where a mixer cannot be cut into tp parts.
void check_cut(ResolvedInference& r, const LayerGroup& group) {
  if (r.reason != Reason::none) return;
  const Mixer& m = group.mixer;
  const bool whole = m.kind == MixerKind::none || divides(r.tp, m.heads > 0 ? m.heads : m.state_v_heads);
  const bool kv = m.kind != MixerKind::attention || divides(r.tp, m.kv_heads) || divides(m.kv_heads, r.tp);
  if ((!whole || !kv) && !r.pads_heads) {
    r.reason = Reason::heads_not_divisible;
    r.short_by = r.tp;
  }
}

}  // namespace

Status fill_layers(ResolvedInference& r, const Model& model, const LayerFormats& formats) {
  if (model.groups.size() > ResolvedInference::kMaxKinds) {
    return Error{ErrorCode::refused, model.id,
                 fmt::format("has {} kinds of layers; at most {} are modelled", model.groups.size(),
                             ResolvedInference::kMaxKinds)};
  }
  r.hidden = model.hidden;
  r.layers = model.layers();
  r.head_rows = model.embeds ? 0 : model.vocab / r.tp;
  for (const LayerGroup& group : model.groups) {
    check_cut(r, group);
    LayerBuilder(r, model, formats, r.kinds[static_cast<std::size_t>(r.kind_count++)]).build(group);
  }
  return {};
}

double weight_bytes(const ResolvedInference& r, const Model& model, Format weights) {
  double layers = 0;
  for (int i = 0; i < r.kind_count; ++i) {
    const LayerKind& kind = r.kinds[static_cast<std::size_t>(i)];
    for (int j = 0; j < kind.product_count; ++j) {
      const Product& p = kind.products[static_cast<std::size_t>(j)];
      layers += kind.count * p.times * p.n * p.k * r.gemm[p.rates].bytes_weight;
    }
    layers += kind.count * kind.cross_weights * r.gemm[ResolvedInference::kNarrow].bytes_weight;
    if (kind.ffn == FfnKind::moe) {
      const MoeShape& e = kind.moe;
      layers += kind.count * e.local_experts * (e.gated ? 3 : 2) * e.hidden * e.width * bytes_per_weight(weights);
    }
  }
  // llama.cpp narrows the embedding and the head too, to six bits and a half or more; other checkpoints keep them in 16
  // bits.
  const double bytes = is_gguf(weights) ? gguf_head(weights) : kWideBytes;
  const double embedding = static_cast<double>(model.vocab) * model.hidden * bytes / r.tp;
  const double head = model.tied_embeddings ? 0 : embedding;
  // The encoder in front of a model of speech stays in 16 bits, and every device has all of it.
  const double encoder = model.cross_tokens() > 0 ? model.encoder.parameters * kWideBytes : 0;
  // An uneven pipeline: the fullest stage has the layers rounded up, and the larger of embedding and head.
  const double stage = std::ceil(r.layers / r.pp) / r.layers;
  return layers * stage + (r.pp > 1 ? std::max(embedding, head) : embedding + head) + encoder;
}

double widest_activation(const ResolvedInference& r, const Model& model) {
  double widest = 4 * r.hidden;
  for (const LayerGroup& g : model.groups) {
    const double copies = g.ffn.kind == FfnKind::moe ? g.ffn.top_k / r.ep : 1.0;
    widest = std::max(widest, 2 * r.hidden + copies * (g.ffn.gated ? 3 : 2) * g.ffn.width / r.tp);
  }
  return widest;
}

void make_ideal(ResolvedInference& r, Format weights, Format activations, Format kv) {
  const Format wide = weights == Format::fp16 ? Format::fp16 : Format::bf16;
  r.gemm[ResolvedInference::kNarrow] = ideal_gemm_rates(r.device, weights, activations);
  r.gemm[ResolvedInference::kWide] = r.gemm[ResolvedInference::kHead] = ideal_gemm_rates(r.device, wide, wide);
  r.moe = ideal_moe_rates(r.device, weights, activations);
  r.attention = ideal_attention_rates(r.device, wide, kv);
  r.device.memory_share = 1;
  r.device.launch = 0;
  r.rank_spread = 0;
  r.expert_imbalance = 1;
  r.exchange_rates.latency = r.exchange_rates.network_latency = r.exchange_rates.throughput_latency = 0;
  r.sample_seconds = 0;
  for (LinkRates* link : {&r.tp_link, &r.expert_link, &r.stage_link}) link->latency = link->latency_per_rank = 0;
  for (LayerKind& kind : r.kinds) kind.index_fixed = 0;
  r.costs = {.fill = 0.5};
}

}  // namespace ridge::perf
