// The operators of one step, in order: visited by step_time() to add them up and by explain() to list them.
//
//   struct Sink {
//     void operation(std::string_view what, Term term, const OpTime& op, double flops, double bytes, double times,
//                    bool narrow = false);
//     void filler(double flops, double times);  // on empty rows that fill up tiles, or worth of widening: takes power
//     void network(std::string_view what, Term term, double seconds, double bytes, double times);
//     void exchange(...);  // the same for tokens on their way to experts and back, which a second batch may hide
//   };
//   visit_step(resolved, step, sink);
//
// flops, bytes: of one device and one layer; times: how many such layers; narrow: computed in the format of the
// activations instead of 16 bits. Pure apart from the sink; any thread.
#pragma once

#include <algorithm>
#include <cmath>
#include <string_view>

#include "perf/inference/resolved.hpp"

namespace ridge::perf {

/// FLOPs of one pair of query and key: the product with the key and that with the value.
[[nodiscard]] inline double pair_flops(const AttentionShape& s) noexcept {
  return 2 * s.q_heads * (s.head_dim + (s.v_head_dim > 0 ? s.v_head_dim : s.head_dim));
}

/// Softmax attention of one layer: the decoding sequences and the prompts that ride along.
template <class Sink>
inline void visit_attention(const ResolvedInference& r, const LayerKind& kind, const Step& step, Sink& sink) {
  if (step.decode > 0) {
    AttentionShape s = kind.attention;
    s.batch = step.decode;
    s.q_len = step.tokens_each;
    s.kv_len = s.window > 0 ? std::min(step.context, s.window) : step.context;
    sink.operation("attention, decode", Term::attention, attention_decode_time(r.attention, s),
                   s.batch * s.q_len * s.kv_len * pair_flops(s), step.decode * s.kv_len * kind.kv_bytes_per_token,
                   kind.count);
    const double group = s.q_heads / s.kv_heads * s.q_len;
    const double empty = std::max(0.0, r.attention.decode_rows / group - 1);
    sink.filler(empty * s.batch * s.q_len * s.kv_len * pair_flops(s), kind.count);
    if (kind.cross_tokens > 0) {
      s.kv_len = kind.cross_tokens;
      s.window = 0;
      sink.operation("cross-attention, decode", Term::attention, attention_decode_time(r.attention, s),
                     s.batch * s.q_len * s.kv_len * pair_flops(s), step.decode * kind.cross_bytes, kind.count);
    }
  }
  if (step.prefill > 0) {
    AttentionShape s = kind.attention;
    s.batch = step.prompts;
    s.q_len = step.prefill_length;
    s.kv_len = step.prefill_context;
    const double unseen = 0.5 * (s.q_len - 1);  // a causal one of that many more keys has as many pairs
    if (kind.both_ways && s.window == 0) s.kv_len += unseen;
    const double pairs = s.batch * attended_pairs(s.q_len, s.kv_len, s.window);
    sink.operation("attention, prefill", Term::attention, attention_prefill_time(r.attention, s), pairs * pair_flops(s),
                   s.batch * s.kv_len * kind.kv_bytes_per_token, kind.count);
    if (kind.cross_tokens > 0) {
      s.window = 0;
      s.kv_len = kind.cross_tokens + unseen;
      sink.operation("cross-attention, prefill", Term::attention, attention_prefill_time(r.attention, s),
                     s.batch * s.q_len * kind.cross_tokens * pair_flops(s), s.batch * kind.cross_bytes, kind.count);
    }
  }
}

/// Latent attention. With a sparse indexer a query attends to index_topk tokens at most, after the indexer has scored
/// them all.
template <class Sink>
inline void visit_mla(const ResolvedInference& r, const LayerKind& kind, const Step& step, Sink& sink) {
  const bool sparse = kind.index_topk > 0;
  if (step.decode > 0) {
    MlaShape s = kind.mla;
    s.batch = step.decode;
    s.q_len = step.tokens_each;
    s.kv_len = kind.attended(step.context);
    sink.operation("latent attention, decode", Term::attention, mla_decode_time(r.attention, s),
                   2 * s.batch * s.q_len * s.kv_len * s.heads * (2 * s.rank + s.rope),
                   s.batch * s.kv_len * kind.kv_bytes_per_token, kind.count);
  }
  if (step.prefill > 0) {
    MlaShape s = kind.mla;
    s.batch = step.prompts;
    s.q_len = step.prefill_length;
    s.kv_len = step.prefill_context;
    if (s.kv_len > kind.attended(s.kv_len)) {  // as many queries, each over the entries that were chosen for it
      const double each = kind.kv_window > 0 ? kind.attended(s.kv_len - 0.5 * s.q_len)
                                             : attended_pairs(s.q_len, s.kv_len, kind.index_topk) / s.q_len;
      s.q_len = std::min(s.q_len, each);
      s.kv_len = each + 0.5 * (s.q_len - 1);  // all pairs, where causal ones are half
      s.batch = step.prefill / s.q_len;
      // What is chosen token by token is read as it is stored, the latent that all heads share, as decoding does.
      if (kind.kv_window == 0) s.nope = s.v = s.rank;
    }
    sink.operation("latent attention, prefill", Term::attention, mla_prefill_time(r.attention, s),
                   2 * s.batch * attended_pairs(s.q_len, s.kv_len, 0) * s.heads * (s.nope + s.rope + s.v),
                   step.prefill * kind.kv_bytes_per_token, kind.count);
  }
  if (sparse) {
    const double all = step.decode * step.tokens_each * step.context +
                       step.prompts * attended_pairs(step.prefill_length, step.prefill_context, 0);
    const double pairs = kind.kv_compress > 0 ? all / kind.kv_compress : all;
    const double flops = kind.index_flops_per_pair * pairs;
    const double seconds = flops / r.attention.index_flops;
    sink.operation("indexer", Term::attention, OpTime{seconds + kind.index_fixed, seconds, 0, kind.index_fixed}, flops,
                   0, kind.count);
  }
}

template <class Sink>
inline void visit_state(const ResolvedInference& r, const LayerKind& kind, const Step& step, double tokens,
                        Sink& sink) {
  const double bytes = 2 * (step.decode + step.prompts) * kind.state_bytes;
  const double flops = tokens * kind.state_flops_per_token;
  OpTime op = elementwise_time(r.device, bytes, 2);
  op.compute = flops / r.attention.prefill_flops;
  op.seconds = op.fixed + smooth_max(op.memory, op.compute);
  sink.operation("recurrent state", Term::state, op, flops, bytes, kind.count);
}

/// Tokens go to the ranks of their experts, and results come back: `all` tokens of all ranks, `own` of this one.
template <class Sink>
inline void visit_exchange(const ResolvedInference& r, const LayerKind& kind, const Step& step, double all, double own,
                           Sink& sink) {
  const double out = r.hidden * r.bytes_out;
  const double back = r.hidden * 2;
  if (r.exchange == ExpertExchange::gather) {  // out to every rank, and back reduced
    const double gathered = all * r.hidden * r.bytes_gathered;
    sink.exchange("gather tokens", r.expert_term,
                  collective_time(r.expert_link, Collective::all_gather, r.expert_ranks, gathered), gathered,
                  kind.count);
    sink.exchange("scatter expert outputs", r.expert_term,
                  collective_time(r.expert_link, Collective::reduce_scatter, r.expert_ranks, all * back), all * back,
                  kind.count);
    return;
  }
  const bool straight =
      r.exchange == ExpertExchange::low_latency || (r.exchange == ExpertExchange::dispatch && step.prefill <= 0);
  // The rank with most tokens of its own sends longest; ranks of a tensor-parallel group share theirs.
  ExchangeShape shape{.tokens = std::max(own, all / r.dp) / r.tp,
                      .bytes = out,
                      .top_k = kind.moe.top_k,
                      .ranks = r.expert_ranks,
                      .inside = r.ranks_inside,
                      .reachable = kind.reachable_domains,
                      .imbalance = r.ideal ? 1 : r.expert_imbalance};
  const auto time = [&] {
    if (r.ideal) return std::min(low_latency_time(r.exchange_rates, shape), throughput_time(r.exchange_rates, shape));
    return straight ? low_latency_time(r.exchange_rates, shape) : throughput_time(r.exchange_rates, shape);
  };
  const double copies = shape.tokens * shape.top_k;
  sink.exchange("dispatch to experts", r.expert_term, time(), copies * out, kind.count);
  shape.bytes = back;
  sink.exchange("combine from experts", r.expert_term, time(), copies * back, kind.count);
}

template <class Sink>
inline void visit_experts(const ResolvedInference& r, const LayerKind& kind, const Step& step, double tokens,
                          Sink& sink) {
  MoeShape shape = kind.moe;
  const bool all_alike = step.expert_tokens <= 0 || (r.ranks_pad_prefill && step.prefill > 0);
  shape.tokens = all_alike ? tokens * (r.attention_dp ? r.dp : 1) : step.expert_tokens;
  const double share = shape.local_experts / shape.experts;
  const double weights = (shape.gated ? 3 : 2) * shape.hidden * shape.width;
  const double touched = share * experts_touched(shape.experts, shape.top_k, shape.tokens, shape.correlation);
  // The step waits for the busiest rank of an expert-parallel group. Of `ep` ranks that wake up `touched` of their
  // experts on average, the largest has about touched + sqrt(2 ln ep x variance); the variance falls to nothing when
  // all are awake.
  MoeShape busiest = shape;
  const double spread =
      r.rank_spread * std::sqrt(std::max(0.0, 1 - touched / shape.local_experts) / std::max(touched, 0.1));
  busiest.imbalance *= r.expert_imbalance * (1 + spread);
  sink.operation("routed experts", Term::experts, moe_time(r.moe, busiest),
                 2 * shape.tokens * shape.top_k * share * weights, touched * weights * r.moe.gemm.bytes_weight,
                 kind.count, true);
  const double rows = shape.tokens * shape.top_k * share;
  sink.filler((2 * (expert_tiles(r.moe, shape, rows, touched).rows - rows) + r.widening * touched) * weights,
              kind.count);
  if (r.expert_ranks > 1 && r.attention_dp) visit_exchange(r, kind, step, shape.tokens, tokens, sink);
}

template <class Sink>
inline void visit_step(const ResolvedInference& r, const Step& step, Sink& sink) {
  const double tokens = step.decode * step.tokens_each + step.prefill;
  for (int i = 0; i < r.kind_count; ++i) {
    const LayerKind& kind = r.kinds[static_cast<std::size_t>(i)];
    for (int j = 0; j < kind.product_count; ++j) {
      const Product& p = kind.products[static_cast<std::size_t>(j)];
      const GemmRates& g = r.gemm[p.rates];
      OpTime op = gemm_time(g, tokens, p.n, p.k);
      if (r.fuses_shared && p.term == Term::experts && p.rates == ResolvedInference::kNarrow) {
        op.seconds -= op.fixed;  // rows of the routed product, which starts once
        op.fixed = 0;
      }
      sink.operation(p.what, p.term, op, 2 * tokens * p.n * p.k, p.n * p.k * g.bytes_weight, kind.count * p.times,
                     p.rates == ResolvedInference::kNarrow);
      if (p.rates == ResolvedInference::kNarrow) sink.filler(r.widening * p.n * p.k, kind.count * p.times);
    }
    switch (kind.mixer) {
      case MixerKind::attention:
        visit_attention(r, kind, step, sink);
        break;
      case MixerKind::mla:
        visit_mla(r, kind, step, sink);
        break;
      case MixerKind::linear_attention:
      case MixerKind::mamba2:
        visit_state(r, kind, step, tokens, sink);
        break;
      case MixerKind::none:
        break;
    }
    if (kind.ffn == FfnKind::moe) visit_experts(r, kind, step, tokens, sink);
    sink.operation("norms and activations", Term::elementwise,
                   elementwise_time(r.device, tokens * kind.elementwise_bytes, 0), 0, tokens * kind.elementwise_bytes,
                   kind.count);
    if (r.tp > 1 && kind.reductions > 0) {
      const double bytes = tokens * r.hidden * 2;
      sink.network("all-reduce", r.tp_term, collective_time(r.tp_link, Collective::all_reduce, r.tp, bytes), bytes,
                   kind.count * kind.reductions);
    }
  }
  if (r.encoder_seconds > 0 && step.prompts > 0) {
    const double work = step.prompts * r.encoder_seconds;
    const double seconds = smooth_max(work, r.encoder_host);
    sink.operation("encoder", Term::linear, OpTime{seconds, work, 0, seconds - work}, step.prompts * r.encoder_flops,
                   r.encoder_weights, 1);
  }
  const double rows = step.decode * step.tokens_each + step.prompts;
  const GemmRates& head = r.gemm[ResolvedInference::kHead];
  if (r.head_rows > 0) {
    sink.operation("LM head", Term::head, gemm_time(head, rows, r.head_rows, r.hidden),
                   2 * rows * r.head_rows * r.hidden, r.head_rows * r.hidden * head.bytes_weight, 1);
  }
  const double choosing = rows * r.sample_seconds;  // passes over the logits
  sink.operation("sampling", Term::head, OpTime{choosing, 0, choosing, 0}, 0,
                 choosing * r.device.memory_bandwidth * r.device.memory_share, 1);
  if (r.pp > 1) {
    const double bytes = tokens * r.hidden * 2;
    sink.network("to the next stage", Term::pipeline, collective_time(r.stage_link, Collective::send, 2, bytes), bytes,
                 r.pp - 1);
  }
}

}  // namespace ridge::perf
