// What a plan means: degrees, stages, chunks, why it may be impossible, and what examples make of its rows.
#include <algorithm>
#include <cmath>

#include "base/cut_lognormal.hpp"
#include "perf/training/resolved.hpp"

namespace ridge {

Reason plan_degrees(const ResolvedTraining& job, const TrainingPlan& plan, Degrees& d, double& short_by) noexcept {
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
  if (batch > kMostBatch) return Reason::bad_value;
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
  const long micro_batches = plan.global_batch / batch;
  d.micro_batches = static_cast<double>(micro_batches);
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

namespace {

/// The matrix of the head over those of one layer.
double head_in_parameters(const ResolvedTraining& job) noexcept {
  double all = 0;
  for (int i = 0; i < job.group_count; ++i) {
    const TrainingGroup& g = job.groups[static_cast<std::size_t>(i)];
    all += g.count * (g.shared_parameters + g.expert_parameters);
  }
  return job.vocab * job.hidden * job.layers / all;
}

}  // namespace

Stages cut_stages(const ResolvedTraining& job, int pp, int vp, double head) noexcept {
  const double layers = job.layers;
  Stages s;
  const double stages = pp;
  const double chunks = stages * std::max(1, vp);
  s.mean_layers = layers / stages;
  if (pp > 1 && job.traits.fills_stages) {
    const double share = (layers + head_in_parameters(job)) / stages;
    const auto through = [&](double stage) { return std::min(layers, std::floor(stage * share) + 1); };
    s.first_layers = s.most_layers = through(1);
    s.last_layers = layers - through(stages - 1);
  } else if (pp <= 1 || std::fmod(layers, chunks) == 0) {
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

namespace {

CutLognormal lengths_of(const ExampleLengths& examples, const TrainingPlan& plan) noexcept {
  return cut_lognormal(examples.mean, examples.cv, plan.sequence);
}

void scale_interval(Interval& i, double by) noexcept {
  i = {i.low * by, i.mid * by, i.high * by};
}

}  // namespace

ExampleUse example_use(const ExampleLengths& examples, const TrainingPlan& plan, Sharding sharding) noexcept {
  if (examples.packing) return {1.0 * plan.sequence, 0, plan.sequence / examples.mean};
  const bool together = sharding == Sharding::zero3 || sharding == Sharding::hsdp;
  const int replicas = plan.dp > 0 ? plan.dp : std::max(1, plan.gpus / std::max(1, plan.tp * plan.pp * plan.cp));
  const CutLognormal lengths = lengths_of(examples, plan);
  const double longest = lengths.longest_of(1.0 * plan.micro_batch * (together ? replicas : 1));
  const double ranks = std::max(1, plan.cp);  // which share a row evenly
  const double row = std::min(1.0 * plan.sequence, std::ceil(longest / ranks - 1e-6) * ranks);
  return {row, 1 - examples.mean / row, 1};
}

TrainingOutcome evaluate(const ResolvedTraining& job, const TrainingPlan& plan,
                         const ExampleLengths& examples) noexcept {
  if (examples.mean <= 0) return evaluate(job, plan);
  if (examples.packing) {
    const CutLognormal lengths = lengths_of(examples, plan);
    TrainingPlan packed = plan;
    packed.attended = static_cast<int>(std::ceil(lengths.moment(2) / lengths.moment(1) - 1e-6));
    return evaluate(job, packed);
  }
  const TrainingOutcome whole = evaluate(job, plan);
  if (whole.reason != Reason::none) return whole;
  const ExampleUse use = example_use(examples, plan, whole.estimate.sharding);
  TrainingPlan padded = plan;
  padded.sequence = static_cast<int>(use.row);
  padded.recompute = whole.estimate.recompute;  // chosen for the longest there may be
  if (padded.recompute == Recompute::full && plan.recompute_layers == 0) {
    const double layers = job.layers / std::max(1, plan.pp * std::max(1, whole.estimate.vp));
    padded.recompute_layers = std::max(1, static_cast<int>(std::lround(whole.estimate.recompute_share * layers)));
  }
  TrainingOutcome o = evaluate(job, padded);
  o.estimate.memory_bytes = whole.estimate.memory_bytes;
  scale_interval(o.estimate.tokens_per_s, 1 - use.padding);
  scale_interval(o.estimate.mfu, 1 - use.padding);
  return o;
}

}  // namespace ridge
