// Devices and memories for sessions: how many replicas of a deployment hold a rate within limits, with which tiers of
// the KV cache below the device's, and how much of each is worth having.
//
//   AgentGoal goal;
//   goal.base.workload = *find_workload(directory, "agent");
//   goal.base.load = {.kind = OfferedKind::rate, .rate = 40};
//   goal.base.limits.ttft = 2;
//   goal.base.policies.tiers = *parse_tiers("host:1TB:50GB/s,ssd:8TB:12GB/s:100us");
//   Result<std::vector<AgentPlan>> plans = plan_agents(goal, knowledge);   // fewest devices first
//
// Each set of tiers - none, a part of the first, the first, the first two and so on - is simulated with more and fewer
// replicas until the fewest are found that serve 95 in 100 requests (`within`) within every limit and do not fall
// behind, though steps take `slowness` times as long as predicted. What a plan reports is as predicted. Of plans with
// equally many the one with the least memory comes first. Pure; any thread. Refuses what simulate() refuses; a set that
// no number up to `most_replicas` holds is left out.
#pragma once

#include <string>
#include <vector>

#include "ridge/perf/inference.hpp"
#include "ridge/serve/simulation.hpp"

namespace ridge {

struct AgentGoal {
  SimulationQuery base;  ///< replicas are chosen; the rate is that of all
  double within = 0.95;  ///< of the requests that keep every limit
  /// Steps, and first tokens, may take so many times as long as predicted: a service that is s times as slow is the
  /// predicted one at s times the rate, seen s times as slowly. Memories below the device's and people stay as fast.
  double slowness = 1, ttft_slowness = 1;
  int most_replicas = 256;
};

struct AgentPlan {
  InferenceQuery deployment;  ///< layout filled in
  int replicas = 0;
  int gpus = 0;
  std::vector<KvTier> tiers;      ///< as they were offered to the plan
  std::vector<double> held;       ///< bytes that each held at most: of an engine, or of all where shared
  std::vector<std::string> slow;  ///< tiers that are slower than computing anew: recomputing was chosen
  double within = 0;              ///< share of the requests
  double cached_share = 0;        ///< of the input
  double first_turn_ttft_p95 = 0, later_turn_ttft_p95 = 0, tpot_p95 = 0;
  double task_p50 = 0;  ///< seconds, tools and people included; 0 without sessions
  /// Bytes of all tiers that were used, all engines together.
  [[nodiscard]] double bytes() const;
};

Result<std::vector<AgentPlan>> plan_agents(const AgentGoal& goal, const Knowledge& knowledge);

}  // namespace ridge
