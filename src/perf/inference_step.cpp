// One step of one replica: the sum of its operators, term by term.
#include <algorithm>
#include <cmath>

#include "perf/inference_model.hpp"

namespace ridge::perf {
namespace {

constexpr std::size_t index(Term term) { return static_cast<std::size_t>(term); }

class Accumulator {
 public:
  explicit Accumulator(StepTime& out) : out_(out) {}

  void add(Term term, const OpTime& op, double times) {
    out_.terms[index(term)] += op.seconds * times;
    out_.compute += op.compute * times;
    out_.memory += op.memory * times;
    out_.fixed += op.fixed * times;
  }
  void network(Term term, double seconds, double times) {
    out_.terms[index(term)] += seconds * times;
    out_.network += seconds * times;
  }
  void work(double flops, double bytes, double times) {
    out_.flops += flops * times;
    out_.bytes += bytes * times;
  }

 private:
  StepTime& out_;
};

// Softmax attention of one layer: the decoding sequences and the prompts that ride along.
void add_attention(const ResolvedInference& r, const LayerKind& kind, const Step& step, Accumulator& sum) {
  if (step.decode > 0) {
    AttentionShape s = kind.attention;
    s.batch = step.decode;
    s.q_len = step.tokens_each;
    s.kv_len = s.window > 0 ? std::min(step.context, s.window) : step.context;
    sum.add(Term::attention, attention_decode_time(r.attention, s), kind.count);
    const double pairs = s.batch * s.q_len * s.kv_len;
    sum.work(4 * pairs * s.q_heads * s.head_dim, step.decode * s.kv_len * kind.kv_bytes_per_token, kind.count);
  }
  if (step.prefill > 0) {
    AttentionShape s = kind.attention;
    s.batch = step.prompts;
    s.q_len = step.prefill_length;
    s.kv_len = step.prefill_context;
    sum.add(Term::attention, attention_prefill_time(r.attention, s), kind.count);
    double seen = s.kv_len - 0.5 * s.q_len;
    if (s.window > 0) seen = std::min(seen, s.window);
    sum.work(4 * step.prefill * seen * s.q_heads * s.head_dim, step.prompts * s.kv_len * kind.kv_bytes_per_token, kind.count);
  }
}

void add_mla(const ResolvedInference& r, const LayerKind& kind, const Step& step, Accumulator& sum) {
  if (step.decode > 0) {
    MlaShape s = kind.mla;
    s.batch = step.decode;
    s.q_len = step.tokens_each;
    s.kv_len = kind.index_topk > 0 ? std::min(step.context, kind.index_topk) : step.context;
    sum.add(Term::attention, mla_decode_time(r.attention, s), kind.count);
    sum.work(2 * s.batch * s.q_len * s.kv_len * s.heads * (2 * s.rank + s.rope),
             s.batch * s.kv_len * kind.kv_bytes_per_token, kind.count);
  }
  if (step.prefill > 0) {
    MlaShape s = kind.mla;
    s.batch = step.prompts;
    s.q_len = step.prefill_length;
    s.kv_len = step.prefill_context;
    if (kind.index_topk > 0) {
      s.kv_len = std::min(s.kv_len, kind.index_topk + 0.5 * s.q_len);
      s.q_len = std::min(s.q_len, s.kv_len);
      s.batch = step.prefill / s.q_len;
    }
    sum.add(Term::attention, mla_prefill_time(r.attention, s), kind.count);
    const double seen = s.kv_len - 0.5 * s.q_len;
    sum.work(2 * step.prefill * seen * s.heads * (s.nope + s.rope + s.v), step.prefill * kind.kv_bytes_per_token, kind.count);
  }
  if (kind.index_topk > 0) {  // the indexer scores every past token for every query, in the narrow format
    const double pairs = step.decode * step.tokens_each * step.context +
                         step.prefill * std::max(0.0, step.prefill_context - 0.5 * step.prefill_length);
    const double flops = kind.index_flops_per_pair * pairs;
    const double seconds = flops / r.attention.prefill_flops;
    sum.add(Term::attention, {seconds, seconds, 0, 0}, kind.count);
    sum.work(flops, 0, kind.count);
  }
}

void add_state(const ResolvedInference& r, const LayerKind& kind, const Step& step, double tokens, Accumulator& sum) {
  const double sequences = step.decode + step.prompts;
  const double bytes = 2 * sequences * kind.state_bytes;
  const double flops = tokens * kind.state_flops_per_token;
  OpTime op = elementwise_time(r.device, bytes, 2);
  const double compute = flops / r.attention.prefill_flops;
  op.compute = compute;
  op.seconds = std::max(op.seconds, compute) + 0.25 * std::min(op.seconds, compute);
  sum.add(Term::state, op, kind.count);
  sum.work(flops, bytes, kind.count);
}

void add_experts(const ResolvedInference& r, const LayerKind& kind, double tokens, double correlation, Accumulator& sum) {
  MoeShape shape = kind.moe;
  shape.tokens = tokens * (r.attention_dp ? r.dp : 1);
  shape.correlation = correlation;
  const OpTime op = moe_time(r.moe, shape);
  sum.add(Term::experts, op, kind.count * r.costs.imbalance);
  const double share = shape.local_experts / shape.experts;
  const double matrices = shape.gated ? 3 : 2;
  const double weights = experts_touched(shape.experts, shape.top_k, shape.tokens, correlation) * share * matrices *
                         shape.hidden * shape.width * r.moe.gemm.bytes_weight;
  sum.work(2 * shape.tokens * shape.top_k * share * matrices * shape.hidden * shape.width, weights, kind.count);
  if (r.expert_ranks > 1 && r.attention_dp) {  // tokens go out to every rank and come back reduced
    const double bytes = shape.tokens * r.hidden * r.bytes_activation;
    const double out = collective_time(r.expert_link, Collective::all_gather, r.expert_ranks, bytes);
    const double back = collective_time(r.expert_link, Collective::reduce_scatter, r.expert_ranks,
                                        shape.tokens * r.hidden * 2);
    sum.network(Term::scale_up, out + back, kind.count);
  }
}

}  // namespace

double kv_bytes(const ResolvedInference& r, double tokens) noexcept {
  double sum = 0;
  for (int i = 0; i < r.kind_count; ++i) {
    const LayerKind& kind = r.kinds[static_cast<std::size_t>(i)];
    const double held = kind.kv_window > 0 ? std::min(tokens, kind.kv_window) : tokens;
    sum += kind.count * (held * kind.kv_bytes_per_token + kind.state_bytes);
  }
  return sum / r.pp;
}

StepTime step_time(const ResolvedInference& r, const Step& step) noexcept {
  StepTime out;
  Accumulator sum(out);
  const double tokens = step.decode * step.tokens_each + step.prefill;
  for (int i = 0; i < r.kind_count; ++i) {
    const LayerKind& kind = r.kinds[static_cast<std::size_t>(i)];
    for (int j = 0; j < kind.product_count; ++j) {
      const Product& p = kind.products[static_cast<std::size_t>(j)];
      const GemmRates& g = r.gemm[p.rates];
      sum.add(p.term, gemm_time(g, tokens, p.n, p.k), kind.count * p.times);
      sum.work(2 * tokens * p.n * p.k, p.n * p.k * g.bytes_weight, kind.count * p.times);
    }
    switch (kind.mixer) {
      case MixerKind::attention: add_attention(r, kind, step, sum); break;
      case MixerKind::mla: add_mla(r, kind, step, sum); break;
      case MixerKind::linear_attention:
      case MixerKind::mamba2: add_state(r, kind, step, tokens, sum); break;
      case MixerKind::none: break;
    }
    if (kind.ffn == FfnKind::moe) add_experts(r, kind, tokens, kind.moe.correlation, sum);
    sum.add(Term::elementwise, elementwise_time(r.device, tokens * kind.elementwise_bytes, kind.kernels), kind.count);
    sum.work(0, tokens * kind.elementwise_bytes, kind.count);
    if (r.tp > 1 && kind.reductions > 0) {
      const double t = collective_time(r.tp_link, Collective::all_reduce, r.tp, tokens * r.hidden * 2);
      sum.network(Term::scale_up, t, kind.count * kind.reductions);
    }
  }
  const double rows = step.decode * step.tokens_each + step.prompts;
  const GemmRates& head = r.gemm[ResolvedInference::kHead];
  sum.add(Term::head, gemm_time(head, rows, r.head_rows, r.hidden), 1);
  sum.work(2 * rows * r.head_rows * r.hidden, r.head_rows * r.hidden * head.bytes_weight, 1);
  if (r.pp > 1) {
    const double t = collective_time(r.stage_link, Collective::send, 2, tokens * r.hidden * 2);
    sum.network(Term::pipeline, t, r.pp - 1);
  }

  const double mixed = step.prefill > 0 ? step.prefill / tokens : 0;
  const double factor = 1 + mixed * (r.costs.prefill - 1) + (1 - mixed) * (r.costs.decode - 1);
  double device = 0;
  for (double& t : out.terms) {
    t *= factor;
    device += t;
  }
  const double small = r.layers * r.costs.layer_small;
  out.terms[index(Term::elementwise)] += small;
  out.fixed += small;
  device += small;

  // A step that does not replay a graph cannot run faster than the host launches its layers: a soft maximum.
  double host = r.costs.step + r.costs.sequence * step.decode;
  if (step.prefill > 0 || !r.graphs) {
    const double floor = r.layers * r.costs.layer_eager;
    const double slow = std::sqrt(device * device + floor * floor);
    host += slow - device;
  }
  out.terms[index(Term::host)] += host;
  out.fixed += host;
  out.seconds = device + host;
  return out;
}

}  // namespace ridge::perf
