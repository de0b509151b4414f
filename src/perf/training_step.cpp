// evaluate(): one training step, term by term. Per micro-batch and stage first, then the pipeline, then what happens once
// per step. Everything here is arithmetic on flat numbers; no allocation, no exception.
#include <algorithm>
#include <cmath>

#include "perf/training_groups.hpp"
#include "perf/training_model.hpp"

namespace ridge {
namespace {

constexpr double kBytes = 2;           // of one activation
constexpr double kTileRows = 64;       // half a tile: what padding adds to the rows of an expert
constexpr double kStateShare = 0.3;    // of the 16-bit peak that chunked scans reach (Mamba-2, table 10)
constexpr double kBackwardFlops = 2.5; // of flash attention: scores once more, and four products for the forward two
constexpr double kIdlePower = 0.35;    // of the board's limit while nothing computes, and what arithmetic adds
constexpr double kBusyPower = 0.6;

/// Seconds of one pass of the mean of all layers times their number, on one device, for one micro-batch.
struct Pass {
  double linear = 0, attention = 0, state = 0, experts = 0, elementwise = 0;
  double tensor = 0;                     ///< exposed collectives of TP
  double context = 0;                    ///< of CP
  double expert_up = 0, expert_out = 0;  ///< of EP, by the tier that limits

  [[nodiscard]] double compute() const { return linear + attention + state + experts + elementwise; }
  [[nodiscard]] double exposed() const { return tensor + context + expert_up + expert_out; }
  [[nodiscard]] double total() const { return compute() + exposed(); }
};

struct Tier {
  double seconds_per_byte = 0;  ///< of a ring over the group, per byte of the whole buffer
  double latency = 0;
  bool crosses = false;         ///< leaves the scale-up domain
};

/// A group of `ranks` devices, `stride` apart in rank order. Inside a domain a ring runs at the scale-up rate; across
/// domains each member brings its own network port to the ring, and the slower of the two tiers limits.
Tier tier(const ResolvedTraining& job, double ranks, double stride) noexcept {
  const TrainingCoefficients& c = job.coefficients;
  if (ranks <= 1) return {};
  const double inside = std::clamp(std::floor(job.domain / stride), 1.0, ranks);
  const double moved = (ranks - 1) / ranks;
  Tier t;
  if (inside >= ranks) {
    t.seconds_per_byte = moved / c.scale_up;
    t.latency = c.scale_up_latency;
    return t;
  }
  t.crosses = true;
  t.seconds_per_byte = moved * std::max(1 / c.scale_out / inside, inside > 1 ? 1 / c.scale_up : 0.0);
  t.latency = c.scale_out_latency;
  return t;
}

double gemm(const perf::GemmRates& rates, double m, double n, double k) noexcept {
  return perf::gemm_time(rates, m, n, k).seconds;
}

/// A weight gradient adds up in memory: the sum is read and written in its own width.
double weight_gradient(const perf::GemmRates& rates, double n, double k, double tokens, double sum_bytes) noexcept {
  const perf::OpTime t = perf::gemm_time(rates, k, n, tokens);
  return t.fixed + perf::smooth_max(t.compute, t.memory + (2 * sum_bytes - kBytes) * n * k / rates.bandwidth);
}

class Step {
 public:
  Step(const ResolvedTraining& job, const TrainingPlan& plan, const Degrees& degrees) noexcept
      : job_(job), c_(job.coefficients), plan_(plan), d_(degrees) {
    for (int i = 0; i < job.group_count; ++i) add(job.groups[static_cast<std::size_t>(i)]);
    if (plan.schedule == Schedule::dual_pipe) {
      // DualPipe runs the exchange of one direction beside the work of the other: only the longer of the two counts.
      for (Pass* pass : {&forward, &backward}) {
        const double exchange = pass->expert_up + pass->expert_out;
        if (exchange <= 0) continue;
        const double left = perf::smooth_max(pass->compute(), exchange) - pass->compute();
        pass->expert_up *= left / exchange;
        pass->expert_out *= left / exchange;
      }
    }
  }

  Pass forward, backward;

 private:
  void add(const TrainingGroup& g) noexcept {
    const double drift = job_.moe ? c_.compute_drift * c_.moe_drift : c_.compute_drift;
    const bool trains = job_.task != TrainingTask::lora;
    double reductions = 0;
    double f = 0;
    double b = 0;
    for (int i = 0; i < g.product_count; ++i) {
      const Product& p = g.products[static_cast<std::size_t>(i)];
      const double n = p.cut == Cut::columns ? p.n / d_.tp : p.n;
      const double k = p.cut == Cut::rows ? p.k / d_.tp : p.k;
      const double tokens = p.cut == Cut::whole ? d_.tokens / d_.sequence_shard : d_.tokens;
      if (p.cut == Cut::rows) reductions += 1;
      f += gemm(c_.narrow, tokens, n, k);
      b += gemm(c_.narrow, tokens, k, n);
      if (trains) b += weight_gradient(c_.narrow, n, k, tokens, job_.traits.gradient_bytes);
    }
    forward.linear += g.count * f * drift;
    backward.linear += g.count * b * drift;
    if (g.heads > 0) add_scores(g, drift);
    if (g.state_flops > 0) {
      const double t = d_.tokens / d_.tp *
                       std::max(g.state_flops / (kStateShare * job_.peak_wide), g.state_bytes / c_.bandwidth) * drift;
      forward.state += g.count * t;
      backward.state += g.count * 2 * t;
    }
    if (g.moe) add_experts(g, trains);

    const double adapters = trains ? 0 : c_.adapters;
    const double once = c_.elementwise * drift * (1 + adapters) / c_.bandwidth * d_.tokens * g.count;
    const double cast = c_.cast_bytes * drift / c_.bandwidth * d_.tokens * g.count *
                        (g.cast_whole / d_.sequence_shard + g.cast_inner / d_.tp) / 2;
    forward.elementwise += once * (g.hidden_forward / d_.sequence_shard + g.inner_forward / d_.tp) + cast;
    backward.elementwise += once * (g.hidden_backward / d_.sequence_shard + g.inner_backward / d_.tp) + cast;

    if (d_.tp > 1 && reductions > 0) {
      // An all-reduce moves its buffer twice; with sequence parallelism it is a reduce-scatter and an all-gather, and
      // backward gathers the kept inputs once more (Korthikanti et al., section 4.2.2).
      const Tier t = tier(job_, d_.tp, 1);
      const double bytes = kBytes * d_.tokens * job_.hidden;
      const double once_more = job_.traits.sequence_parallel ? 0.5 : 0;
      const double one = 2 * bytes * t.seconds_per_byte + 2 * t.latency;
      forward.tensor += g.count * reductions * one * c_.tensor_exposed;
      backward.tensor += g.count * reductions * one * (1 + once_more) * c_.tensor_exposed;
    }
    if (d_.cp > 1 && g.heads > 0) add_context(g);
  }

  void add_scores(const TrainingGroup& g, double drift) noexcept {
    const double heads = g.heads / d_.tp;
    const double width = g.key_dim + g.value_dim;
    if (job_.traits.attention == AttentionKernel::unfused) {
      // Two batched products per head over the whole square, and softmax, mask and dropout through memory.
      const double pairs = d_.tokens * plan_.sequence * heads;
      const double flops = 2 * pairs * (width + 2 * c_.wide.short_k);
      const double traffic = c_.scores_passes * kBytes * pairs / c_.bandwidth;
      forward.attention += g.count * (flops / c_.wide.flops + 0.4 * traffic) * drift;
      backward.attention += g.count * (2 * flops / c_.wide.flops + 0.6 * traffic) * drift;
      return;
    }
    const double reach = mean_reach(plan_.sequence, g.window);
    const double ramp = 1 + c_.attention_ramp / (2 * reach);
    const double narrow = g.key_dim < 128 ? std::pow(128 / g.key_dim, c_.narrow_head) : 1;
    const double flops = 2 * d_.tokens * reach * heads * width * ramp * narrow * drift;
    forward.attention += g.count * flops / c_.attention_forward;
    backward.attention += g.count * kBackwardFlops * flops / c_.attention_backward;
  }

  void add_context(const TrainingGroup& g) noexcept {
    const Tier t = tier(job_, d_.cp, d_.tp);
    double bytes = kBytes * d_.tokens * d_.cp * g.kv_heads * (g.key_dim + g.value_dim) / std::min(d_.tp, g.kv_heads);
    double exposed = c_.context_exposed;
    if (plan_.context == ContextParallel::ulysses) {
      // Queries, keys, values and outputs change owners: each rank sends what it has once.
      bytes = kBytes * d_.tokens * (g.heads + g.kv_heads) * (g.key_dim + g.value_dim) / d_.tp;
      exposed = 1;
    } else if (plan_.context == ContextParallel::all_gather) {
      exposed = 1;
    }
    const double one = bytes * t.seconds_per_byte + t.latency * (d_.cp - 1);
    forward.context += g.count * one * exposed;
    backward.context += g.count * 2 * one * exposed;
  }

  void add_experts(const TrainingGroup& g, bool trains) noexcept {
    const double drift = c_.compute_drift * c_.moe_drift;
    double load = std::max(1.0, static_cast<double>(plan_.imbalance));
    if (plan_.capacity > 0) load = std::min(load, static_cast<double>(plan_.capacity));
    const double sent = d_.tokens / d_.sequence_shard * g.top_k;  // rows this device sends, and receives on average
    const double rows = sent * load * d_.etp;
    const double local = g.experts / d_.ep;
    const double padded = rows + kTileRows * local;
    const double branches = g.expert_matrices - 1;
    const double width = g.expert_width / d_.etp;
    // Grouped products: one product of all rows, whose weights are those of all local experts.
    const auto grouped = [&](double n, double k) {
      const perf::OpTime t = perf::gemm_time(c_.narrow, padded, n, k);
      return t.fixed + perf::smooth_max(t.compute, t.memory + (local - 1) * c_.narrow.bytes_weight * n * k /
                                                                  c_.narrow.bandwidth);
    };
    const auto gradient = [&](double n, double k) {
      const perf::OpTime t = perf::gemm_time(c_.narrow, k, n, padded / local);
      const double sum = (2 * job_.traits.gradient_bytes - kBytes) * n * k / c_.narrow.bandwidth;
      return t.fixed + local * perf::smooth_max(t.compute, t.memory + sum);
    };
    double f = grouped(branches * width, g.expert_in) + grouped(g.expert_in, width);
    double b = grouped(g.expert_in, branches * width) + grouped(width, g.expert_in);
    if (trains) b += gradient(branches * width, g.expert_in) + gradient(g.expert_in, width);
    const double activation = kBytes * rows * width / c_.bandwidth;
    const double permute = c_.permute_passes * kBytes * rows * g.expert_in / c_.bandwidth;
    const double cast = c_.cast_bytes * rows * (g.expert_in + width) / c_.bandwidth;
    f = f * c_.experts + activation * (branches + 1) + permute + cast;
    b = b * c_.experts + activation * (2 * branches + 1) + permute + cast;
    forward.experts += g.count * f * drift;
    backward.experts += g.count * b * drift;
    if (d_.ep * d_.etp > 1) add_all_to_all(g, sent * load);
  }

  void add_all_to_all(const TrainingGroup& g, double rows) noexcept {
    const double ranks = d_.ep;
    const double inside = std::clamp(std::floor(job_.domain / d_.etp), 1.0, ranks);
    const double bytes = kBytes * rows * g.expert_in;
    double leaves = (ranks - inside) / ranks;  // copies that go to another domain
    if (job_.traits.dispatch == ExpertDispatch::deduplicated && leaves > 0) {
      // Of top_k copies, those for one domain travel once: expected number of other domains over top_k.
      const double domains = ranks / inside;
      const double reached = (domains - 1) * (1 - std::pow(1 - 1 / domains, g.top_k));
      leaves = std::min(leaves, reached / g.top_k);
    }
    const double up = bytes * (inside - 1) / ranks / c_.scale_up + (inside > 1 ? c_.scale_up_latency : 0);
    const double out = leaves > 0 ? bytes * leaves / c_.scale_out + c_.scale_out_latency : 0;
    const double gather = d_.etp > 1 ? 2 * bytes * tier(job_, d_.etp, 1).seconds_per_byte : 0;
    const double time = 2 * g.count * c_.moe_drift * (std::max(up, out) + gather);  // dispatch and combine
    (out > up ? forward.expert_out : forward.expert_up) += c_.expert_exposed * time;
    (out > up ? backward.expert_out : backward.expert_up) += c_.expert_exposed * time;
  }

  const ResolvedTraining& job_;
  const TrainingCoefficients& c_;
  const TrainingPlan& plan_;
  const Degrees& d_;
};

TrainingOutcome refuse(Reason reason, double short_by, int stage = 0) noexcept {
  TrainingOutcome outcome;
  outcome.reason = reason;
  outcome.short_by = short_by;
  outcome.stage = stage;
  return outcome;
}

/// Fills `d`, or says why the plan cannot run.
Reason check(const ResolvedTraining& job, const TrainingPlan& plan, Degrees& d, double& short_by) noexcept {
  short_by = 0;
  if (plan.gpus < 1 || plan.tp < 1 || plan.pp < 1 || plan.cp < 1 || plan.ep < 1 || plan.sequence < 1 ||
      plan.micro_batch < 1 || plan.global_batch < 1 || plan.vp < 0 || plan.dp < 0 || plan.etp < 0 ||
      !(plan.offload >= 0 && plan.offload <= 1) || !(plan.imbalance >= 0) || !(plan.capacity >= 0)) {
    return Reason::bad_value;
  }
  const long model = static_cast<long>(plan.tp) * plan.pp * plan.cp;
  const long dp = plan.dp > 0 ? plan.dp : plan.gpus / model;
  if (dp < 1 || model * dp != plan.gpus) return Reason::gpus_do_not_multiply;
  if (plan.pp > job.layers) {
    short_by = plan.pp - job.layers;
    return Reason::layers_too_few;
  }
  if (plan.vp > 1 && static_cast<double>(plan.pp) * plan.vp > job.layers + 2) return Reason::layers_too_few;
  const long batch = static_cast<long>(plan.micro_batch) * dp;
  if (plan.global_batch % batch != 0) {
    short_by = static_cast<double>(batch - plan.global_batch % batch);
    return Reason::batch_not_divisible;
  }
  if (plan.sequence % plan.cp != 0) return Reason::sequence_not_divisible;
  for (int i = 0; i < job.group_count; ++i) {
    const double heads = job.groups[static_cast<std::size_t>(i)].heads;
    if (heads > 0 && std::fmod(heads, plan.tp) != 0) return Reason::heads_not_divisible;
  }
  const int etp = std::max(1, plan.etp);
  if (plan.ep > 1 || plan.etp > 1) {
    const long group = static_cast<long>(plan.ep) * etp;
    if (!job.moe || std::fmod(job.experts_all, plan.ep) != 0) return Reason::experts_not_divisible;
    if (static_cast<long>(plan.tp) * plan.cp * dp % group != 0) return Reason::experts_not_divisible;
  }
  if (!job.format_supported) return Reason::format_not_supported;

  d.tp = plan.tp;
  d.pp = plan.pp;
  d.cp = plan.cp;
  d.ep = plan.ep;
  d.etp = etp;
  d.dp = static_cast<double>(dp);
  d.micro_batches = static_cast<double>(plan.global_batch / batch);
  d.tokens = static_cast<double>(plan.sequence) / plan.cp * plan.micro_batch;
  d.sequence_shard = job.traits.sequence_parallel ? d.tp : 1;
  d.vp = usual_chunks(job, plan);

  d.sharding = plan.sharding == Sharding::unknown ? job.traits.sharding : plan.sharding;
  const double replicas = d.dp * d.cp;
  const double expert_replicas = d.tp * d.cp * d.dp / (d.ep * d.etp);
  double group = replicas;
  double expert_group = expert_replicas;
  if (d.sharding == Sharding::hsdp) {
    const double wanted = plan.shard_group > 0 ? plan.shard_group : std::max(1.0, job.domain / d.tp);
    group = std::min(replicas, wanted);
    expert_group = std::min(expert_replicas, wanted);
  }
  if (d.sharding != Sharding::none) {
    d.shards = group;
    d.expert_shards = expert_group;
  }
  if (d.sharding == Sharding::zero2 || d.sharding == Sharding::zero3 || d.sharding == Sharding::hsdp) {
    d.gradient_shards = group;
    d.expert_gradient_shards = expert_group;
  }
  if (d.sharding == Sharding::zero3 || d.sharding == Sharding::hsdp) {
    d.weight_shards = group;
    d.expert_weight_shards = expert_group;
  }
  return Reason::none;
}

struct StageParameters {
  double shared = 0;   // on one device, before data-parallel sharding
  double experts = 0;
};

StageParameters stage_parameters(const ResolvedTraining& job, const Degrees& d, double layers, bool with_ends) noexcept {
  StageParameters sum;
  for (int i = 0; i < job.group_count; ++i) {
    const TrainingGroup& g = job.groups[static_cast<std::size_t>(i)];
    sum.shared += g.count * g.shared_parameters;
    sum.experts += g.count * g.expert_parameters;
  }
  const double share = layers / job.layers;
  sum.shared *= share / d.tp;
  sum.experts *= share / (d.ep * d.etp);
  if (with_ends) sum.shared += (d.pp <= 1 && !job.tied ? 2 : 1) * job.head_parameters / d.tp;
  return sum;
}

/// Exposed seconds, by tier.
struct Exposed {
  double up = 0, out = 0;
  void add(const Tier& t, double seconds) noexcept { (t.crosses ? out : up) += seconds; }
};

/// Gradients and parameters between data-parallel ranks that are not gathered layer by layer.
void add_data_parallel(const ResolvedTraining& job, const Degrees& d, const StageParameters& p, double window,
                       Exposed& exposed) noexcept {
  const TrainingCoefficients& c = job.coefficients;
  const auto reduce = [&](double ranks, double stride, double parameters) {
    if (ranks <= 1 || parameters <= 0) return;
    const Tier t = tier(job, ranks, stride);
    // All-reduce of the gradients, or reduce-scatter of them and all-gather of 16-bit weights.
    const double bytes =
        d.sharding == Sharding::none ? 2 * job.traits.gradient_bytes : job.traits.gradient_bytes + kBytes;
    const double time = parameters * bytes * t.seconds_per_byte + 2 * t.latency;
    const double left = job.traits.overlap_data_parallel ? std::max(0.0, time - window) : time;
    exposed.add(t, std::max(left, c.data_exposed * time));
  };
  reduce(d.dp * d.cp, d.tp, p.shared);
  reduce(d.tp * d.cp * d.dp / (d.ep * d.etp), d.ep * d.etp, p.experts);
}

/// ZeRO-3: gathers before each pass, a reduce-scatter after; hidden behind the pass as far as it is longer.
struct Gathered {
  double forward = 0, backward = 0;
  bool crosses = false;
};
Gathered gather_time(const ResolvedTraining& job, const Degrees& d, const StageParameters& p) noexcept {
  Gathered g;
  const auto add = [&](double ranks, double stride, double parameters) {
    if (ranks <= 1 || parameters <= 0) return;
    const Tier t = tier(job, ranks, stride);
    g.forward += kBytes * parameters * t.seconds_per_byte + t.latency * job.layers;
    const double gradient = job.task == TrainingTask::lora ? 0 : kBytes;
    g.backward += (kBytes + gradient) * parameters * t.seconds_per_byte + 2 * t.latency * job.layers;
    g.crosses = g.crosses || t.crosses;
  };
  add(d.weight_shards, d.tp, p.shared);
  add(d.expert_weight_shards, d.ep * d.etp, p.experts);
  return g;
}

/// Head and loss: three products (two where the weights are frozen) in 16 bits, and passes over the logits.
double head_time(const ResolvedTraining& job, const Degrees& d) noexcept {
  const TrainingCoefficients& c = job.coefficients;
  const double vocab = job.vocab / d.tp;
  double products = gemm(c.wide, d.tokens, vocab, job.hidden) + gemm(c.wide, d.tokens, job.hidden, vocab);
  if (job.task != TrainingTask::lora) {
    products += weight_gradient(c.wide, vocab, job.hidden, d.tokens, job.traits.gradient_bytes);
  }
  return products * c.compute_drift + c.loss_bytes * d.tokens * vocab / c.bandwidth;
}

Bound bound_of(const TrainingEstimate& e) noexcept {
  const auto term = [&](Term t) { return e.terms_s[static_cast<std::size_t>(t)]; };
  const double compute = term(Term::attention) + term(Term::linear) + term(Term::experts) + term(Term::state) +
                         term(Term::head) + term(Term::recompute);
  const double memory = term(Term::elementwise) + term(Term::optimizer);
  Bound bound = Bound::compute;
  double most = compute;
  const auto consider = [&](double seconds, Bound b) {
    if (seconds > most) {
      most = seconds;
      bound = b;
    }
  };
  consider(memory, Bound::memory_bandwidth);
  consider(term(Term::scale_up), Bound::scale_up);
  consider(term(Term::scale_out), Bound::scale_out);
  consider(term(Term::pipeline), Bound::latency);
  consider(term(Term::host), Bound::host);
  return bound;
}

}  // namespace

Stages cut_stages(double layers, int pp, int vp, double head) noexcept {
  Stages s;
  const double stages = pp;
  const double chunks = stages * std::max(1, vp);
  s.mean_layers = layers / stages;
  if (pp <= 1 || std::fmod(layers, chunks) == 0) {
    s.most_layers = s.last_layers = s.first_layers = s.mean_layers;
  } else if (std::fmod(layers + 2, chunks) == 0 && layers + 2 > chunks) {
    // Embedding and head count as one layer each (Megatron's "account for embedding and loss in the split").
    s.most_layers = (layers + 2) / stages;
    s.first_layers = s.last_layers = s.most_layers - 1;
    if (pp == 2) s.most_layers = s.first_layers;
  } else {
    // Spread by hand: the last stage has as many layers fewer as the head is worth.
    const double even = (layers + head) / stages;
    s.last_layers = std::max(1.0, std::round(even - head));
    s.most_layers = s.first_layers = std::ceil((layers - s.last_layers) / (stages - 1));
  }
  return s;
}

int usual_chunks(const ResolvedTraining& job, const TrainingPlan& plan) noexcept {
  if (plan.vp > 0) return plan.vp;
  if (plan.pp <= 1 || !job.traits.interleave || plan.schedule == Schedule::zero_bubble ||
      plan.schedule == Schedule::dual_pipe) {
    return 1;
  }
  const int layers = static_cast<int>(job.layers);
  // Embedding and head may count as a layer each; where the layers do not divide even so, stages stay whole.
  const int counted = layers % plan.pp == 0 ? layers : layers + 2;
  if (counted % plan.pp != 0) return 1;
  const int per_stage = counted / plan.pp;
  for (int chunks = per_stage / 2; chunks > 1; --chunks) {
    if (per_stage % chunks == 0) return chunks;
  }
  return 1;
}

TrainingOutcome evaluate(const ResolvedTraining& job, const TrainingPlan& plan) noexcept {
  Degrees d;
  double short_by = 0;
  if (const Reason reason = check(job, plan, d, short_by); reason != Reason::none) return refuse(reason, short_by);
  const TrainingCoefficients& c = job.coefficients;
  const Step step(job, plan, d);
  const Pass& f = step.forward;
  const Pass& b = step.backward;
  const double head = head_time(job, d);
  const Stages stages = cut_stages(job.layers, plan.pp, static_cast<int>(d.vp), head * job.layers / (f.total() + b.total()));
  const MemoryPlan memory = plan_memory(job, plan, d, stages);
  if (memory.short_by > 0) return refuse(Reason::out_of_memory, memory.short_by, memory.stage);

  // What runs forward again before the backward pass.
  const double forward_compute = f.compute();
  const double selective = job.traits.attention == AttentionKernel::unfused ? f.attention
                                                                            : c.selective_share * forward_compute;
  const double again = memory.full_share * f.total() + (memory.selective ? (1 - memory.full_share) * selective : 0);

  const bool trains = job.task != TrainingTask::lora;
  double mtp = 0;
  if (job.mtp_layers > 0) mtp = job.mtp_layers * ((f.total() + b.total() + again) / job.layers + head);

  // One micro-batch on a stage of `layers` layers: device time, and what gathers and the host add to it.
  struct Stage {
    double device = 0, gather = 0, host = 0;
    [[nodiscard]] double total() const { return device + gather + host; }
  };
  double host_per_pass = job.layers * c.host_layer;
  for (int i = 0; i < job.group_count; ++i) {
    const TrainingGroup& g = job.groups[static_cast<std::size_t>(i)];
    if (g.moe) host_per_pass += g.count * (c.host_moe + c.host_expert * g.experts / d.ep);
  }
  const bool gathers = d.weight_shards > 1;
  bool gather_crosses = false;
  const auto stage_time = [&](double layers, bool with_head) {
    const double share = layers / job.layers;
    const double ends = with_head ? head + mtp : 0;
    Stage s;
    s.device = share * (f.total() + b.total() + again) + ends;
    if (gathers) {
      const Gathered g = gather_time(job, d, stage_parameters(job, d, layers, with_head));
      gather_crosses = g.crosses;
      const double front = share * f.total() + ends / 3;
      const double rear = share * (b.total() + again) + ends * 2 / 3;
      s.gather = perf::smooth_max(front, g.forward) + perf::smooth_max(rear, g.backward) - front - rear +
                 c.shard_exposed * (g.forward + g.backward);
    }
    const double passes = 2 + memory.full_share;
    const double host = share * passes * host_per_pass;
    const double device = s.device + s.gather;
    s.host = job.traits.blocking ? host : perf::smooth_max(device, host) - device;
    return s;
  };
  const Stage middle = stage_time(stages.most_layers, plan.pp == 1);
  const Stage last = plan.pp == 1 ? middle : stage_time(stages.last_layers, true);
  const Stage first = plan.pp == 1 ? middle : stage_time(stages.first_layers, false);
  const bool head_leads = last.total() > middle.total();
  const Stage& critical = head_leads ? last : middle;
  const double critical_layers = head_leads ? stages.last_layers : stages.most_layers;

  // Bubble: a micro-batch has to pass all the other stages once while the critical one waits, in chunks if interleaved.
  const double others = first.total() + last.total() + (d.pp - 2) * middle.total() - critical.total();
  double bubble = d.pp > 1 ? others / d.vp : 0;
  if (plan.schedule == Schedule::zero_bubble || plan.schedule == Schedule::dual_pipe) {
    // Weight gradients fill the gaps: (F + B - W) instead of F + B + W (Qi et al. 2023; DeepSeek-V3, table 2).
    const double weight = trains ? b.linear / 2 : 0;
    const double whole = f.total() + b.total() + again;
    double filled = (whole - 2 * weight) / whole;
    if (plan.schedule == Schedule::dual_pipe) filled *= std::max(0.0, d.pp / 2 - 1) / (d.pp - 1);
    bubble *= std::clamp(filled, 0.0, 1.0);
  }
  // Stage-to-stage transfers: activations forward and their gradients back, sharded where sequence parallelism allows.
  double sends = 0;
  if (d.pp > 1) {
    const bool crosses = d.tp * d.cp * d.dp * 2 > job.domain;
    const double bytes = kBytes * d.tokens * job.hidden / d.tp;
    const double one = bytes / (crosses ? c.scale_out : c.scale_up) + (crosses ? c.scale_out_latency : c.scale_up_latency);
    sends = c.send_exposed * 2 * d.vp * one * (d.micro_batches + d.pp - 1);
  }

  const double stage_share = critical_layers / job.layers;
  Exposed exposed;
  const StageParameters parameters = stage_parameters(job, d, critical_layers, true);
  const double window = (b.total() + again) * stage_share * std::min(d.pp, d.micro_batches);
  if (trains && !gathers) add_data_parallel(job, d, parameters, window, exposed);
  if (trains && d.sharding == Sharding::hsdp) {
    const double copies = d.dp * d.cp / d.weight_shards;
    const Tier t = tier(job, copies, d.tp * d.weight_shards);
    const double time = 2 * kBytes * (parameters.shared + parameters.experts) / d.weight_shards * t.seconds_per_byte;
    exposed.add(t, std::max(c.data_exposed * time, time - window));
  }
  double update = 0;
  if (trains) {
    update = c.optimizer_traffic * (parameters.shared / d.shards + parameters.experts / d.expert_shards) / c.bandwidth;
  }

  TrainingOutcome outcome;
  TrainingEstimate& e = outcome.estimate;
  const auto term = [&](Term t) -> double& { return e.terms_s[static_cast<std::size_t>(t)]; };
  const double m = d.micro_batches;
  const double each = m * stage_share;
  term(Term::linear) = each * (f.linear + b.linear);
  term(Term::attention) = each * (f.attention + b.attention);
  term(Term::state) = each * (f.state + b.state);
  term(Term::experts) = each * (f.experts + b.experts);
  term(Term::elementwise) = each * (f.elementwise + b.elementwise);
  term(Term::recompute) = each * again;
  term(Term::head) = d.pp <= 1 || head_leads ? m * (head + mtp) : 0;
  const Tier tensor = tier(job, d.tp, 1);
  const Tier context = tier(job, d.cp, d.tp);
  Exposed collectives = exposed;
  collectives.add(tensor, each * (f.tensor + b.tensor));
  collectives.add(context, each * (f.context + b.context));
  collectives.up += each * (f.expert_up + b.expert_up);
  collectives.out += each * (f.expert_out + b.expert_out);
  (gather_crosses ? collectives.out : collectives.up) += m * critical.gather;
  term(Term::scale_up) = collectives.up;
  term(Term::scale_out) = collectives.out;
  term(Term::pipeline) = bubble + sends;
  term(Term::optimizer) = update;
  term(Term::host) = m * critical.host + c.host_step;

  double total = 0;
  for (const double t : e.terms_s) total += t;
  e.backward_s = each * b.total();
  const double tokens = static_cast<double>(plan.global_batch) * plan.sequence;
  e.step_time_s = {total * c.low, total, total * c.high};
  e.tokens_per_s = {tokens / (total * c.high), tokens / total, tokens / (total * c.low)};
  e.six_p_flops_per_token = 6 * job.active_parameters;
  // Frozen weights get no gradient: a third of the products is not there.
  const double products = trains ? e.six_p_flops_per_token : e.six_p_flops_per_token * 2 / 3;
  double flops = products + job.attention_flops_per_position * plan.sequence;
  for (int i = 0; i < job.window_count; ++i) {
    const auto& w = job.windows[static_cast<std::size_t>(i)];
    flops += w.flops_per_position * std::min(w.reach, static_cast<double>(plan.sequence));
  }
  e.model_flops_per_token = flops;
  const double per_rate = flops / (job.peak * plan.gpus);
  e.mfu = {e.tokens_per_s.low * per_rate, e.tokens_per_s.mid * per_rate, e.tokens_per_s.high * per_rate};
  e.memory_bytes = memory.bytes;
  e.fullest_stage = memory.stage;
  e.recompute = memory.recompute;
  e.recompute_share = f.total() > 0 ? again / f.total() : 0;
  e.vp = static_cast<int>(d.vp);
  e.micro_batches = static_cast<int>(m);
  e.sharding = d.sharding;
  const double busy = std::min(1.0, (term(Term::linear) + term(Term::attention) + term(Term::experts) +
                                     term(Term::head) + term(Term::recompute)) / total);
  const double watts = job.tdp * plan.gpus * (kIdlePower + kBusyPower * busy);
  e.power_w = {watts * 0.85, watts, std::min(watts * 1.15, job.tdp * plan.gpus)};
  e.bound = bound_of(e);
  return outcome;
}

std::array<double, kTrainingMemory> stage_memory(const ResolvedTraining& job, const TrainingPlan& plan,
                                                 int stage) noexcept {
  Degrees d;
  double short_by = 0;
  if (check(job, plan, d, short_by) != Reason::none || stage < 0 || stage >= plan.pp) return {};
  const Step step(job, plan, d);
  const double head = head_time(job, d) * job.layers / (step.forward.total() + step.backward.total());
  const Stages stages = cut_stages(job.layers, plan.pp, static_cast<int>(d.vp), head);
  const MemoryPlan memory = plan_memory(job, plan, d, stages);
  return memory_of_stage(job, plan, d, stages, stage, memory.full_share, memory.selective, memory.squeezed);
}

}  // namespace ridge
