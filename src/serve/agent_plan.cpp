#include "ridge/serve/agent_plan.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "ridge/perf/answer.hpp"

namespace ridge {

namespace {

constexpr double kRequestsOfAReplica = 400;
constexpr double kFewestRequests = 3000, kMostRequests = 20000;
constexpr double kParts[] = {0.25, 0.5};  ///< of the first tier that are tried as well

/// None, parts of the first, the first, the first two, and so on.
std::vector<std::vector<KvTier>> sets_of(const std::vector<KvTier>& tiers) {
  std::vector<std::vector<KvTier>> sets = {{}};
  if (tiers.empty()) return sets;
  for (const double part : kParts) {
    if (!std::isfinite(tiers.front().capacity)) break;
    sets.push_back({tiers.front()});
    sets.back().front().capacity *= part;
  }
  for (std::size_t i = 1; i <= tiers.size(); ++i) {
    sets.emplace_back(tiers.begin(), tiers.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return sets;
}

class AgentSearch {
 public:
  AgentSearch(const AgentGoal& goal, std::vector<KvTier> tiers, const InferenceDeployment& deployment)
      : goal_(goal), tiers_(std::move(tiers)), deployment_(deployment) {}

  /// The fewest replicas that hold, from `start` on; 0 if none do.
  Result<int> fewest(int start) {
    int high = std::max(1, start);
    int low = 0;  // does not hold
    while (true) {
      const Result<bool> holds = look(high);
      if (!holds) return holds.error();
      if (*holds) break;
      low = high;
      if (high >= goal_.most_replicas) return 0;
      high = std::min(goal_.most_replicas, 2 * high);
    }
    while (high - low > 1) {
      const int middle = low + (high - low) / 2;
      const Result<bool> holds = look(middle);
      if (!holds) return holds.error();
      (*holds ? high : low) = middle;
    }
    return high;
  }

  /// As predicted.
  Result<SimulationResult> predicted(int replicas) {
    if (goal_.slowness == 1 && goal_.ttft_slowness == 1) return std::move(looked_.at(replicas));
    return play(replicas, false);
  }
  static double within(const SimulationResult& r) {
    return r.arrived > 0 ? static_cast<double>(r.good) / static_cast<double>(r.arrived) : 0;
  }

 private:
  Result<bool> look(int replicas) {
    if (looked_.count(replicas) == 0) {
      Result<SimulationResult> r = play(replicas, true);
      if (!r) return r.error();
      looked_.emplace(replicas, *std::move(r));
    }
    const SimulationResult& r = looked_.at(replicas);
    return !r.overloaded && within(r) >= goal_.within;
  }

  Result<SimulationResult> play(int replicas, bool slow) const {
    SimulationQuery q = goal_.base;
    q.replicas = replicas;
    q.policies.tiers = tiers_;
    q.requests = std::clamp(kRequestsOfAReplica * replicas, kFewestRequests, kMostRequests);
    if (slow) {
      const double s = goal_.slowness;
      q.load.rate *= s;
      q.limits.ttft /= std::max(s, goal_.ttft_slowness);
      q.limits.tpot /= s;
      q.limits.e2e /= s;
      for (RequestClass& c : q.workload.classes) c.think_time /= s;
      for (KvTier& tier : q.policies.tiers) {
        tier.bytes_per_s *= s;
        tier.latency /= s;
      }
    }
    return simulate(q, deployment_, nullptr, nullptr);
  }

  const AgentGoal& goal_;
  std::vector<KvTier> tiers_;
  const InferenceDeployment& deployment_;
  std::map<int, SimulationResult> looked_;
};

AgentPlan plan_of(const SimulationResult& r, int replicas, const std::vector<KvTier>& tiers,
                  const InferenceQuery& deployment, int gpus_each) {
  AgentPlan p;
  p.deployment = deployment;
  p.replicas = replicas;
  p.gpus = replicas * gpus_each;
  p.tiers = tiers;
  for (const TierResult& t : r.tiers) {
    const std::size_t i = p.held.size();
    p.held.push_back(t.peak_bytes / (tiers[i].shared ? 1 : replicas));
    if (t.declined_tokens > t.fetched_tokens) p.slow.push_back(t.name);
  }
  p.within = AgentSearch::within(r);
  p.cached_share = r.input_tokens > 0 ? static_cast<double>(r.cached_tokens) / static_cast<double>(r.input_tokens) : 0;
  const bool talks = r.later_turn_ttft.count() > 0;
  p.first_turn_ttft_p95 = (talks ? r.first_turn_ttft : r.ttft).p95();
  p.later_turn_ttft_p95 = (talks ? r.later_turn_ttft : r.ttft).p95();
  p.tpot_p95 = r.tpot.p95();
  p.task_p50 = r.task.p50();
  return p;
}

}  // namespace

double AgentPlan::bytes() const {
  double sum = 0;
  for (std::size_t i = 0; i < held.size(); ++i) sum += held[i] * (tiers[i].shared ? 1 : replicas);
  return sum;
}

Result<std::vector<AgentPlan>> plan_agents(const AgentGoal& goal, const Knowledge& knowledge) {
  const Result<InferenceAnswer> layout = answer(goal.base.deployment, knowledge, {.explain = false});
  if (!layout) return layout.error();
  if (layout->refusal) return Error{ErrorCode::infeasible, goal.base.deployment.device, layout->refusal->why};
  AgentGoal filled = goal;
  filled.base.deployment = layout->query;
  const Result<InferenceDeployment> deployment = resolve(layout->query, knowledge);
  if (!deployment) return deployment.error();
  const int each = std::max(1, layout->query.gpus);
  std::vector<AgentPlan> plans;
  int start = 1;
  for (const std::vector<KvTier>& tiers : sets_of(goal.base.policies.tiers)) {
    AgentSearch search(filled, tiers, *deployment);
    const Result<int> replicas = search.fewest(start);
    if (!replicas) return replicas.error();
    if (*replicas == 0) continue;
    start = *replicas;
    const Result<SimulationResult> seen = search.predicted(*replicas);
    if (!seen) return seen.error();
    AgentPlan plan = plan_of(*seen, *replicas, tiers, layout->query, each);
    // More memory that saves no replica and hardly any time is no plan of its own.
    constexpr double kNoticed = 0.95;
    const bool idle = !plans.empty() && plans.back().replicas == plan.replicas &&
                      plan.later_turn_ttft_p95 >= kNoticed * plans.back().later_turn_ttft_p95;
    if (idle) continue;
    plans.push_back(std::move(plan));
  }
  std::stable_sort(plans.begin(), plans.end(), [](const AgentPlan& a, const AgentPlan& b) {
    return a.gpus != b.gpus ? a.gpus < b.gpus : a.bytes() < b.bytes();
  });
  return plans;
}

}  // namespace ridge
