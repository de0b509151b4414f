// Which ranks of a plan stand inside one scale-up domain, and what a collective between them costs. Internal to
// src/perf.
//
//   Tier t = tier(job, tensor_group(job, d));                // of TP: neighbours, so usually inside the domain
//   t.seconds_per_byte; t.all_reduce; t.latency; t.crosses;
//
// A ring inside a domain runs at the scale-up rate. One that leaves it has a network port for each member inside, and
// the slower tier limits. Beyond a pod the ports of a domain share fewer links. Pure, noexcept, no allocation.
#pragma once

#include "perf/training/resolved.hpp"

namespace ridge {

/// Members of a collective, by where they stand.
struct Group {
  double ranks = 1;
  double inside = 1;  ///< members in one scale-up domain
  double hop = 1;     ///< devices between a member and its neighbour in the next domain
  double span = 1;    ///< devices from the first member to the last

  [[nodiscard]] bool crosses() const noexcept { return inside < ranks; }
};

[[nodiscard]] Group tensor_group(const ResolvedTraining& job, const Degrees& d) noexcept;
[[nodiscard]] Group context_group(const ResolvedTraining& job, const Degrees& d) noexcept;
[[nodiscard]] Group expert_tensor_group(const ResolvedTraining& job, const Degrees& d) noexcept;
[[nodiscard]] Group expert_group(const ResolvedTraining& job, const Degrees& d) noexcept;
/// `ranks` of the replicas (context and data parallel) that share the weights of layers, each `step` replicas apart.
[[nodiscard]] Group replica_group(const ResolvedTraining& job, const Degrees& d, double ranks,
                                  double step = 1) noexcept;
/// The same for the weights of experts.
[[nodiscard]] Group expert_replica_group(const ResolvedTraining& job, const Degrees& d, double ranks,
                                         double step = 1) noexcept;
/// All stages of one pipeline.
[[nodiscard]] Group pipeline_group(const ResolvedTraining& job, const Degrees& d) noexcept;

/// Of the copies of tokens that are sent to experts, the share that goes to another scale-up domain.
[[nodiscard]] double leaving_copies(const ResolvedTraining& job, const Group& ranks,
                                    const TrainingGroup& layer) noexcept;

struct Tier {
  double seconds_per_byte = 0;  ///< of one pass of a ring over the group, per byte of the whole buffer
  double all_reduce = 0;        ///< the same of a whole all-reduce
  double latency = 0;           ///< of one pass of the ring: from domain to domain, once round
  double hop = 0;               ///< of one message to a neighbour
  bool crosses = false;         ///< leaves the scale-up domain
};
[[nodiscard]] Tier tier(const ResolvedTraining& job, const Group& group) noexcept;

/// Time over the network relative to one without oversubscription, where each member sends to a neighbour `hop` devices
/// away: of a pod's ports, as many flows leave it as the hop is long.
[[nodiscard]] double ring_slowdown(const ResolvedTraining& job, const Group& group) noexcept;
/// The same where each member sends to all others.
[[nodiscard]] double exchange_slowdown(const ResolvedTraining& job, const Group& group) noexcept;

}  // namespace ridge
