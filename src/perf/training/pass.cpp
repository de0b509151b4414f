#include "perf/training/pass.hpp"

#include <algorithm>
#include <cmath>

#include "perf/training/groups.hpp"

namespace ridge {
namespace {

constexpr double kActivationBytes = 2;  // of one activation
constexpr double kTileRows = 64;        // half a tile: what padding adds to the rows of an expert
// Of the 16-bit peak that chunked scans reach: as fast as FlashAttention-2 at 2,048 tokens with a quarter of its FLOPs
// (Mamba-2, arXiv 2405.21060, figure 10).
constexpr double kStateShare = 0.12;
constexpr double kBackwardFlops = 2.5;  // of flash attention: scores once more, and four products for the forward two

double gemm(const perf::GemmRates& rates, double m, double n, double k) noexcept {
  return perf::gemm_time(rates, m, n, k).seconds;
}

/// A weight gradient adds up in memory: the sum is read and written in its own width.
double weight_gradient(const perf::GemmRates& rates, double n, double k, double tokens, double sum_bytes) noexcept {
  const perf::OpTime t = perf::gemm_time(rates, k, n, tokens);
  return t.fixed + perf::smooth_max(t.compute, t.memory + (2 * sum_bytes - kActivationBytes) * n * k / rates.bandwidth);
}

class LayerWork {
 public:
  LayerWork(const ResolvedTraining& job, const TrainingPlan& plan, const Degrees& degrees) noexcept
      : job_(job), c_(job.coefficients), plan_(plan), d_(degrees) {
    for (int i = 0; i < job.group_count; ++i) add(job.groups[static_cast<std::size_t>(i)]);
    if (plan.schedule == Schedule::dual_pipe) {
      // DualPipe runs the exchange of one direction beside the work of the other: only the longer of the two counts.
      for (Pass* pass : {&forward_, &backward_}) {
        const double exchange = pass->expert_up + pass->expert_out;
        if (exchange <= 0) continue;
        const double left = perf::smooth_max(pass->compute(), exchange) - pass->compute();
        pass->expert_up *= left / exchange;
        pass->expert_out *= left / exchange;
      }
    }
  }

  [[nodiscard]] Passes passes() const noexcept { return {forward_, backward_}; }

 private:
  void add(const TrainingGroup& g) noexcept {
    const double drift = job_.moe ? c_.compute_drift * c_.moe_drift : c_.compute_drift;
    const bool trains = job_.task != TrainingTask::lora;
    double reductions = 0;
    double f = 0;
    double b = 0;
    double weight = 0;
    for (int i = 0; i < g.product_count; ++i) {
      const Product& p = g.products[static_cast<std::size_t>(i)];
      const double n = p.cut == Cut::columns ? p.n / d_.tp : p.n;
      const double k = p.cut == Cut::rows ? p.k / d_.tp : p.k;
      const double tokens = p.cut == Cut::whole ? d_.tokens / d_.sequence_shard : d_.tokens;
      if (p.cut == Cut::rows) reductions += 1;
      const auto at = [&](const perf::GemmRates& rates, double share) {
        f += share * gemm(rates, tokens, n, k);
        b += share * gemm(rates, tokens, k, n);
        if (trains) weight += share * weight_gradient(rates, n, k, tokens, job_.traits.gradient_bytes);
      };
      const double wide = p.wide ? 1 : job_.wide_share;
      if (wide < 1) at(c_.narrow, 1 - wide);
      if (wide > 0) at(c_.wide, wide);
      // QLoRA: four bits are widened for every product, and for its gradient, unless products read them as they are.
      if (!trains && job_.weight_bytes < 1 && job_.weight_bytes < bytes_per_element(job_.precision)) {
        const double unpack = n * k * c_.unpack_bytes / c_.bandwidth;
        f += unpack;
        b += unpack;
      }
    }
    forward_.linear += g.count * f * drift;
    backward_.linear += g.count * (b + weight) * drift;
    backward_.weight += g.count * weight * drift;
    if (g.heads > 0) add_scores(g, drift);
    if (g.state_flops > 0) {
      const double t = d_.tokens / d_.tp *
                       std::max(g.state_flops / (kStateShare * job_.peak_wide), g.state_bytes / c_.bandwidth) * drift;
      forward_.state += g.count * t;
      backward_.state += g.count * 2 * t;
    }
    if (g.moe) add_experts(g, trains);

    const double adapters = trains ? 0 : c_.adapters;
    const double once = c_.elementwise * drift * (1 + adapters) / c_.bandwidth * d_.tokens * g.count;
    const double cast = (1 - job_.wide_share) * c_.cast_bytes * drift / c_.bandwidth * d_.tokens * g.count *
                        (g.cast_whole / d_.sequence_shard + g.cast_inner / d_.tp) / 2;
    forward_.elementwise += once * (g.hidden_forward / d_.sequence_shard + g.inner_forward / d_.tp) + cast;
    backward_.elementwise += once * (g.hidden_backward / d_.sequence_shard + g.inner_backward / d_.tp) + cast;

    if (d_.tp > 1 && reductions > 0) {
      // An all-reduce moves its buffer twice; with sequence parallelism it is a reduce-scatter and an all-gather, and
      // backward gathers the kept inputs once more (Korthikanti et al., section 4.2.2).
      const Tier t = tier(job_, tensor_group(job_, d_));
      const double bytes = kActivationBytes * d_.tokens * job_.hidden;
      const bool halves = job_.traits.sequence_parallel;
      const double once_more = halves ? 0.5 : 0;
      const double one = bytes * (halves ? 2 * t.seconds_per_byte : t.all_reduce) + 2 * t.latency;
      forward_.tensor += g.count * reductions * one * c_.tensor_exposed;
      backward_.tensor += g.count * reductions * one * (1 + once_more) * c_.tensor_exposed;
    }
    if (d_.cp > 1 && g.heads > 0) add_context(g);
  }

  void add_scores(const TrainingGroup& g, double drift) noexcept {
    const double heads = g.heads / d_.tp;
    const double width = perf::filled(g.key_dim, c_.array_side) + perf::filled(g.value_dim, c_.array_side);
    if (job_.traits.attention == AttentionKernel::unfused) {
      // Two batched products per head over the whole square, and softmax, mask and dropout through memory.
      const double pairs = d_.tokens * plan_.sequence * heads;
      const double flops = 2 * pairs * (width + 2 * c_.wide.short_k);
      const double traffic = c_.scores_passes * kActivationBytes * pairs / c_.bandwidth;
      forward_.attention += g.count * (flops / c_.wide.flops + 0.4 * traffic) * drift;
      backward_.attention += g.count * (2 * flops / c_.wide.flops + 0.6 * traffic) * drift;
      return;
    }
    const bool all = g.both_ways && (g.window <= 0 || g.window >= attended(plan_));
    const double reach = all ? attended(plan_) : mean_reach(attended(plan_), g.window);
    // A ring attends in as many calls as it has ranks, each over its share of the keys.
    const double calls = plan_.context == ContextParallel::ring ? d_.cp : 1;
    const double ramp = 1 + c_.attention_ramp * calls / (2 * reach);
    const double narrow = g.key_dim < 128 ? std::pow(128 / g.key_dim, c_.narrow_head) : 1;
    const double flops = 2 * d_.tokens * reach * heads * width * ramp * narrow * drift;
    forward_.attention += g.count * flops / c_.attention_forward;
    backward_.attention += g.count * kBackwardFlops * flops / c_.attention_backward;
  }

  void add_context(const TrainingGroup& g) noexcept {
    const Tier t = tier(job_, context_group(job_, d_));
    double bytes =
        kActivationBytes * d_.tokens * d_.cp * g.kv_heads * (g.key_dim + g.value_dim) / std::min(d_.tp, g.kv_heads);
    double exposed = c_.context_exposed;
    if (plan_.context == ContextParallel::ulysses) {
      // Queries, keys, values and outputs change owners: each rank sends what it has once.
      bytes = kActivationBytes * d_.tokens * (g.heads + g.kv_heads) * (g.key_dim + g.value_dim) / d_.tp;
      exposed = 1;
    } else if (plan_.context == ContextParallel::all_gather) {
      exposed = 1;
    }
    const double one = bytes * t.seconds_per_byte + t.hop * (d_.cp - 1);
    forward_.context += g.count * one * exposed;
    backward_.context += g.count * 2 * one * exposed;
  }

  void add_experts(const TrainingGroup& g, bool trains) noexcept {
    const double drift = c_.compute_drift * c_.moe_drift;
    double load = std::max(1.0, static_cast<double>(plan_.imbalance));
    // Compiled programs have one shape: every expert is filled up to its capacity.
    if (plan_.capacity > 0) load = job_.traits.compiled ? plan_.capacity : std::min<double>(load, plan_.capacity);
    const double sent = d_.tokens / d_.sequence_shard * g.top_k;  // rows this device sends, and receives on average
    const double rows = sent * load * d_.etp;
    const double local = g.experts / d_.ep;
    const double padded = rows + kTileRows * local;
    const double branches = g.expert_matrices - 1;
    const double width = g.expert_width / d_.etp;
    double f = 0;
    double b = 0;
    double weight = 0;
    const auto products = [&](const perf::GemmRates& rates, double share) {
      // Grouped products: one product of all rows, whose weights are those of all local experts.
      const auto grouped = [&](double n, double k) {
        const perf::OpTime t = perf::gemm_time(rates, padded, n, k);
        const double weights = (local - 1) * rates.bytes_weight * n * k / rates.bandwidth;
        return share * (t.fixed + perf::smooth_max(t.compute, t.memory + weights));
      };
      const auto gradient = [&](double n, double k) {
        const perf::OpTime t = perf::gemm_time(rates, k, n, padded / local);
        const double sum = (2 * job_.traits.gradient_bytes - kActivationBytes) * n * k / rates.bandwidth;
        return share * (t.fixed + local * perf::smooth_max(t.compute, t.memory + sum));
      };
      f += grouped(branches * width, g.expert_in) + grouped(g.expert_in, width);
      b += grouped(g.expert_in, branches * width) + grouped(width, g.expert_in);
      if (trains) weight += gradient(branches * width, g.expert_in) + gradient(g.expert_in, width);
    };
    const double wide = job_.wide_share;
    if (wide < 1) products(c_.narrow, 1 - wide);
    if (wide > 0) products(c_.wide, wide);
    const double activation = kActivationBytes * rows * width / c_.bandwidth;
    const double permute = c_.permute_passes * kActivationBytes * rows * g.expert_in / c_.bandwidth;
    const double cast = (1 - wide) * c_.cast_bytes * rows * (g.expert_in + width) / c_.bandwidth;
    f = f * c_.experts + activation * (branches + 1) + permute + cast;
    weight *= c_.experts;
    b = b * c_.experts + weight + activation * (2 * branches + 1) + permute + cast;
    forward_.experts += g.count * f * drift;
    backward_.experts += g.count * b * drift;
    backward_.weight += g.count * weight * drift;
    if (d_.ep * d_.etp > 1) add_all_to_all(g, sent * load);
  }

  void add_all_to_all(const TrainingGroup& g, double rows) noexcept {
    const Group group = expert_group(job_, d_);
    const double inside = group.inside;
    const double bytes = kActivationBytes * rows * g.expert_in;
    const double leaves = leaving_copies(job_, group, g);
    const double up = bytes * (inside - 1) / group.ranks / c_.scale_up + (inside > 1 ? c_.scale_up_latency : 0);
    const double sent = bytes * leaves * exchange_slowdown(job_, group);
    const double out = leaves > 0 ? sent / c_.dispatch + c_.scale_out_latency : 0;
    const double gather = d_.etp > 1 ? 2 * bytes * tier(job_, expert_tensor_group(job_, d_)).seconds_per_byte : 0;
    const double time = 2 * g.count * c_.moe_drift * (std::max(up, out) + gather);  // dispatch and combine
    (out > up ? forward_.expert_out : forward_.expert_up) += c_.expert_exposed * time;
    (out > up ? backward_.expert_out : backward_.expert_up) += c_.expert_exposed * time;
  }

  const ResolvedTraining& job_;
  const TrainingCoefficients& c_;
  const TrainingPlan& plan_;
  const Degrees& d_;
  Pass forward_, backward_;
};

}  // namespace

Passes layer_passes(const ResolvedTraining& job, const TrainingPlan& plan, const Degrees& d) noexcept {
  return LayerWork(job, plan, d).passes();
}

// Three products (two where the weights are frozen) in 16 bits, and passes over the logits.
double head_time(const ResolvedTraining& job, const Degrees& d) noexcept {
  const TrainingCoefficients& c = job.coefficients;
  if (job.vocab <= 0) return 0;
  const double vocab = job.vocab / d.tp;
  double products = gemm(c.wide, d.tokens, vocab, job.hidden) + gemm(c.wide, d.tokens, job.hidden, vocab);
  if (job.task != TrainingTask::lora) {
    products += weight_gradient(c.wide, vocab, job.hidden, d.tokens, job.traits.gradient_bytes);
  }
  return products * c.compute_drift + c.loss_bytes * d.tokens * vocab / c.bandwidth;
}

}  // namespace ridge
