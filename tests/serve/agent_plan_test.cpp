// Plans for sessions: they hold though steps are slower than predicted, and memory that gains nothing is not offered.
#include "ridge/serve/agent_plan.hpp"

#include <gtest/gtest.h>

#include "ridge/serve/kv_tiers.hpp"
#include "ridge/serve/workload.hpp"
#include "support/knowledge.hpp"

namespace ridge {
namespace {

using testing_support::knowledge;

AgentGoal agents() {
  AgentGoal goal;
  SimulationQuery& q = goal.base;
  q.workload = *find_workload(std::string(RIDGE_DATA_DIR) + "/workloads", "agent");
  q.load = {.kind = OfferedKind::rate, .rate = 20};
  q.limits.ttft = 2;
  q.policies.router = RouterPolicy::session_sticky;
  q.deployment.model = "llama3.1-8b";
  q.deployment.device = "h100-sxm";
  q.deployment.tp = q.deployment.gpus = 1;
  return goal;
}

TEST(AgentPlan, HoldsThoughStepsAreSlower) {
  AgentGoal goal = agents();
  const auto likely = plan_agents(goal, knowledge());
  goal.slowness = 1.5;
  goal.ttft_slowness = 2;
  const auto sure = plan_agents(goal, knowledge());
  ASSERT_TRUE(likely && sure && likely->size() == 1 && sure->size() == 1);
  EXPECT_GT(sure->front().replicas, likely->front().replicas);
  // What is reported is predicted: more replicas answer sooner.
  EXPECT_LT(sure->front().later_turn_ttft_p95, likely->front().later_turn_ttft_p95);
  EXPECT_GE(likely->front().within, goal.within);
  // One request in a thousand is chance: which of them meet on a replica.
  EXPECT_GE(sure->front().within, likely->front().within - 1e-3);
}

TEST(AgentPlan, MemoryThatGainsNothingIsNotOffered) {
  AgentGoal goal = agents();
  goal.base.policies.tiers = *parse_tiers("host:400GB:50GB/s,ssd:4TB:6GB/s:100us");
  const auto plans = plan_agents(goal, knowledge());
  ASSERT_TRUE(plans && plans->size() > 1);
  for (std::size_t i = 1; i < plans->size(); ++i) {
    const AgentPlan& less = (*plans)[i - 1];
    const AgentPlan& more = (*plans)[i];
    if (less.replicas != more.replicas) continue;
    EXPECT_LT(more.later_turn_ttft_p95, 0.95 * less.later_turn_ttft_p95);
  }
}

}  // namespace
}  // namespace ridge
