#include "ridge/perf/traffic.hpp"

#include <algorithm>
#include <cmath>

#include "perf/training/pass.hpp"

namespace ridge {

namespace {

constexpr double kTrafficBytes = 2;  // of one activation, weight or gather on the wire

class Counter {
 public:
  Counter(const ResolvedTraining& job, const TrainingPlan& plan, const Degrees& degrees) noexcept
      : job_(job), plan_(plan), d_(degrees) {}

  TrainingTraffic run() noexcept {
    t_.port = job_.out_peak;
    for (int i = 0; i < job_.group_count; ++i) {
      const TrainingGroup& g = job_.groups[static_cast<std::size_t>(i)];
      const double layers = g.count / d_.pp;
      tensor(g, layers);
      context(g, layers);
      experts(g, layers);
    }
    data_parallel();
    pipeline();
    return t_;
  }

 private:
  void add(TrafficKind kind, const Group& g, double buffer) noexcept {
    if (g.ranks <= 1 || buffer <= 0) return;
    const double sent = buffer * (g.ranks - 1) / g.ranks;
    const auto k = static_cast<std::size_t>(kind);
    place(kind, g);
    if (g.inside > 1) t_.up[k] += sent;
    if (g.crosses()) t_.out[k] += sent / g.inside;
  }
  void place(TrafficKind kind, const Group& g) noexcept {
    const auto k = static_cast<std::size_t>(kind);
    if (g.ranks <= t_.ranks[k]) return;  // of several groups of a kind, the largest
    t_.ranks[k] = g.ranks;
    t_.inside[k] = g.inside;
  }

  void tensor(const TrainingGroup& g, double layers) noexcept {
    double reductions = 0;
    for (int i = 0; i < g.product_count; ++i) {
      if (g.products[static_cast<std::size_t>(i)].cut == Cut::rows) reductions += 1;
    }
    const double buffer = kTrafficBytes * d_.tokens * job_.hidden;
    // Forward and backward an all-reduce each (two passes over the buffer), and with sequence parallelism half of one
    // more backward; see LayerWork::add.
    const double passes = 2 * (2 + (job_.traits.sequence_parallel ? 0.5 : 0));
    add(TrafficKind::tensor_parallel, tensor_group(job_, d_), layers * reductions * passes * buffer * d_.micro_batches);
  }

  void context(const TrainingGroup& g, double layers) noexcept {
    if (g.heads <= 0) return;
    double buffer =
        kTrafficBytes * d_.tokens * d_.cp * g.kv_heads * (g.key_dim + g.value_dim) / std::min(d_.tp, g.kv_heads);
    if (plan_.context == ContextParallel::ulysses) {
      buffer = kTrafficBytes * d_.tokens * (g.heads + g.kv_heads) * (g.key_dim + g.value_dim) / d_.tp;
    }
    add(TrafficKind::context_parallel, context_group(job_, d_), 3 * layers * buffer * d_.micro_batches);
  }

  void experts(const TrainingGroup& g, double layers) noexcept {
    if (!g.moe || d_.ep * d_.etp <= 1) return;
    const double rows = d_.tokens / d_.sequence_shard * g.top_k * std::max(1.0, static_cast<double>(plan_.imbalance));
    const double bytes = kTrafficBytes * rows * g.expert_in;
    const Group group = expert_group(job_, d_);
    place(TrafficKind::expert_parallel, group);
    const double times = 4 * layers * d_.micro_batches;  // dispatch and combine, forward and backward
    const auto k = static_cast<std::size_t>(TrafficKind::expert_parallel);
    t_.up[k] += times * bytes * (group.inside - 1) / group.ranks;
    t_.out[k] += times * bytes * leaving_copies(job_, group, g);
  }

  void data_parallel() noexcept {
    double shared = 0;
    double routed = 0;
    for (int i = 0; i < job_.group_count; ++i) {
      const TrainingGroup& g = job_.groups[static_cast<std::size_t>(i)];
      shared += g.count * g.shared_parameters;
      routed += g.count * g.expert_parameters;
    }
    const double ends = job_.embedding_parameters + (job_.tied ? 0 : job_.head_parameters);
    shared = (shared + ends) / d_.pp / d_.tp;
    routed /= d_.pp * d_.ep * d_.etp;
    const bool sharded = d_.sharding == Sharding::zero3 || d_.sharding == Sharding::hsdp;
    const bool frozen = job_.task == TrainingTask::lora;
    if (frozen && !sharded) {
      shared = job_.lora_parameters / d_.pp / d_.tp;
      routed = 0;
    }
    const double replicas = d_.dp * d_.cp;
    const double expert_replicas = d_.tp * d_.cp * d_.dp / (d_.ep * d_.etp);
    const double gradient = job_.traits.gradient_bytes;
    const auto both = [&](double ranks, double expert_ranks, double bytes) {
      add(TrafficKind::data_parallel, replica_group(job_, d_, ranks), shared * bytes);
      add(TrafficKind::data_parallel, expert_replica_group(job_, d_, expert_ranks), routed * bytes);
    };
    if (sharded) {
      // Gathered before each pass of each micro-batch, reduced after the backward one; frozen ones have no gradient.
      both(d_.weight_shards, d_.expert_weight_shards,
           (2 * job_.weight_bytes + (frozen ? 0 : kTrafficBytes)) * d_.micro_batches);
      if (frozen) return;
      if (d_.sharding == Sharding::hsdp) {  // and once a step the copies of each shard are reduced
        add(TrafficKind::data_parallel, replica_group(job_, d_, replicas / d_.weight_shards, d_.weight_shards),
            shared / d_.weight_shards * 2 * kTrafficBytes);
        add(TrafficKind::data_parallel,
            expert_replica_group(job_, d_, expert_replicas / d_.expert_weight_shards, d_.expert_weight_shards),
            routed / d_.expert_weight_shards * 2 * kTrafficBytes);
      }
      return;
    }
    both(replicas, expert_replicas, d_.sharding == Sharding::none ? 2 * gradient : gradient + kTrafficBytes);
  }

  void pipeline() noexcept {
    if (d_.pp <= 1) return;
    const double bytes = 2 * d_.vp * kTrafficBytes * d_.tokens * job_.hidden / d_.tp * d_.micro_batches;
    const Group stages = pipeline_group(job_, d_);
    place(TrafficKind::pipeline, stages);
    (stages.crosses() ? t_.out : t_.up)[static_cast<std::size_t>(TrafficKind::pipeline)] += bytes;
  }

  const ResolvedTraining& job_;
  const TrainingPlan& plan_;
  const Degrees& d_;
  TrainingTraffic t_;
};

double sum(const std::array<double, kTrafficKinds>& all) noexcept {
  double total = 0;
  for (const double bytes : all) total += bytes;
  return total;
}

}  // namespace

std::string_view name(TrafficKind kind) {
  constexpr std::string_view kNames[] = {"data parallel", "tensor parallel", "context parallel", "expert parallel",
                                         "pipeline"};
  return kNames[static_cast<std::size_t>(kind)];
}

double TrainingTraffic::up_bytes() const {
  return sum(up);
}
double TrainingTraffic::out_bytes() const {
  return sum(out);
}

TrainingTraffic training_traffic(const ResolvedTraining& job, const TrainingPlan& plan) noexcept {
  Degrees d;
  double short_by = 0;
  if (plan_degrees(job, plan, d, short_by) != Reason::none) return {};
  return Counter(job, plan, d).run();
}

}  // namespace ridge
