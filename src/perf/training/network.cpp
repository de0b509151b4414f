#include "perf/training/network.hpp"

#include <algorithm>
#include <cmath>

namespace ridge {
namespace {

double members_inside(const ResolvedTraining& job, double ranks, double stride) noexcept {
  return std::clamp(std::floor(job.domain / stride), 1.0, ranks);
}

/// Members `stride` apart.
Group straight(const ResolvedTraining& job, double ranks, double stride) noexcept {
  const double inside = members_inside(job, ranks, stride);
  return {ranks, inside, stride * inside, stride * ranks};
}

/// Replicas stand `base` apart in blocks of `block`, and blocks follow each other unless stages of a pipeline stand
/// between them.
Group along_replicas(const ResolvedTraining& job, const Degrees& d, double base, double block, double ranks,
                     double step) noexcept {
  if (job.order == RankOrder::data_before_pipeline || d.pp <= 1) return straight(job, ranks, base * step);
  const double near = step < block ? std::min(ranks, block / step) : 1;
  const double far = ranks / near;
  Group g = straight(job, near, base * step);
  if (far <= 1) return g;
  const double stride = base * std::max(block, step) * d.pp;
  const double far_inside = g.crosses() ? 1 : members_inside(job, far, stride);
  return {ranks, g.inside * far_inside, g.crosses() ? g.hop : stride * far_inside, stride * far};
}

}  // namespace

Group tensor_group(const ResolvedTraining& job, const Degrees& d) noexcept {
  return straight(job, d.tp, 1);
}
Group context_group(const ResolvedTraining& job, const Degrees& d) noexcept {
  return straight(job, d.cp, d.tp);
}
Group expert_tensor_group(const ResolvedTraining& job, const Degrees& d) noexcept {
  return straight(job, d.etp, 1);
}
Group expert_group(const ResolvedTraining& job, const Degrees& d) noexcept {
  return straight(job, d.ep, d.etp);
}
Group replica_group(const ResolvedTraining& job, const Degrees& d, double ranks, double step) noexcept {
  return along_replicas(job, d, d.tp, d.cp, ranks, step);
}
Group expert_replica_group(const ResolvedTraining& job, const Degrees& d, double ranks, double step) noexcept {
  const double base = d.ep * d.etp;
  return along_replicas(job, d, base, std::max(1.0, d.tp * d.cp / base), ranks, step);
}
Group pipeline_group(const ResolvedTraining& job, const Degrees& d) noexcept {
  const double together = d.tp * d.cp;
  const bool near = job.order == RankOrder::pipeline_before_data;
  return straight(job, d.pp, near ? std::max(together, d.ep * d.etp) : together * d.dp);
}

double leaving_copies(const ResolvedTraining& job, const Group& ranks, const TrainingGroup& layer) noexcept {
  const double leaves = (ranks.ranks - ranks.inside) / ranks.ranks;
  if (job.traits.dispatch != ExpertDispatch::deduplicated || leaves <= 0) return leaves;
  // Of top_k copies, those for one domain travel once. Where a token may go to some groups of experts only
  // (DeepSeek-V3, arXiv 2412.19437, section 2.1.2), fewer domains can be reached.
  const double domains = ranks.ranks / ranks.inside;
  double reachable = domains;
  if (layer.routing_groups > 0) {
    const double share = layer.groups_chosen / layer.routing_groups;
    reachable = domains >= layer.routing_groups ? domains * share
                                                : domains * (1 - std::pow(1 - share, layer.routing_groups / domains));
  }
  const double reached = reachable * (1 - std::pow(1 - 1 / std::max(1.0, reachable), layer.top_k));
  return std::min(leaves, reached * (domains - 1) / domains / layer.top_k);
}

double ring_slowdown(const ResolvedTraining& job, const Group& group) noexcept {
  if (job.oversubscription <= 1 || group.span <= job.pod) return 1;
  return std::max(1.0, job.oversubscription * std::min(1.0, group.hop / job.pod));
}

double exchange_slowdown(const ResolvedTraining& job, const Group& group) noexcept {
  if (job.oversubscription <= 1 || group.span <= job.pod) return 1;
  const double leaves = (group.span - job.pod) / (group.span - std::min(group.hop, job.pod));
  return std::max(1.0, job.oversubscription * leaves);
}

Tier tier(const ResolvedTraining& job, const Group& g) noexcept {
  const TrainingCoefficients& c = job.coefficients;
  Tier t;
  if (g.ranks <= 1) return t;
  const double moved = (g.ranks - 1) / g.ranks;
  if (!g.crosses()) {
    t.seconds_per_byte = moved / c.scale_up;
    t.all_reduce = 2 * t.seconds_per_byte;
    t.latency = t.hop = c.scale_up_latency;
    // The switch adds up what every member sends once, and each sends its share of the sum to all: one buffer and one
    // n-th of it instead of 2 (n-1)/n.
    if (job.reduces_up) t.all_reduce = std::min(t.all_reduce, (1 + 1 / g.ranks) / c.scale_up);
    return t;
  }
  t.crosses = true;
  const double port = ring_slowdown(job, g) / c.scale_out / g.inside;
  t.seconds_per_byte = moved * std::max(port, g.inside > 1 ? 1 / c.scale_up : 0.0);
  t.all_reduce = 2 * t.seconds_per_byte;
  t.hop = c.scale_up_latency + c.scale_out_latency;
  t.latency = c.scale_up_latency + c.scale_out_latency * (g.ranks / g.inside - 1);
  if (job.reduces_out) {
    // Inside the domains as before; between them every port carries its part up the tree of switches once.
    const double within = g.inside > 1 ? (job.reduces_up ? 1 + 1 / g.inside : 2 * moved) / c.scale_up : 0;
    t.all_reduce = std::min(t.all_reduce, std::max(port, within));
  }
  return t;
}

}  // namespace ridge
