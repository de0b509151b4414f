// Without a queue the simulator says what the estimate says.
#include "perf/inference/resolved.hpp"
#include "ridge/serve/simulation_load.hpp"
#include "support.hpp"

namespace ridge {
namespace {

using namespace testing_support;

struct Plan {
  const char* model;
  const char* device;
  const char* engine;
  int gpus;
};

constexpr Plan kPlans[] = {
    {"llama3.1-70b", "h100-sxm", "vllm", 8}, {"llama3.1-8b", "l40s", "sglang", 1},
    {"qwen3-32b", "mi300x", "vllm", 1},      {"deepseek-r1", "b200-sxm-180", "trtllm", 8},
    {"gemma3-27b", "h200-sxm", "vllm", 1},   {"gpt-oss-120b", "h100-sxm", "vllm", 2},
};

TEST(ZeroLoad, EqualsTheEstimateOfOneSequence) {
  for (const Plan& plan : kPlans) {
    SimulationQuery q;
    q.deployment.model = plan.model;
    q.deployment.device = plan.device;
    q.deployment.engine = plan.engine;
    q.deployment.gpus = q.deployment.tp = plan.gpus;
    q.workload = fixed_workload(1000, 257);
    q.workload.arrivals.kind = ArrivalKind::constant;
    q.load.rate = 0.001;
    q.requests = 3;
    const auto d = resolve(q.deployment, knowledge());
    ASSERT_TRUE(d) << plan.model;
    const InferenceLoad load{.mode = LoadMode::fixed_batch, .isl = 1000, .osl = 257, .batch = 1};
    const InferenceEstimate e = evaluate(*d->resolved, load).estimate;
    const auto r = simulate(q, *d);
    ASSERT_TRUE(r) << plan.model << ": " << r.error().text();
    const perf::EngineCosts& costs = d->resolved->costs;
    const double server = costs.server + 1000 * costs.server_token;
    // The prompt is one step of the same function: equal to the nanosecond it is rounded to.
    EXPECT_NEAR(r->ttft.mean(), e.ttft_s.mid + server, 3e-9) << plan.model;
    // The estimate takes every token at the mean context, the simulator each at its own.
    EXPECT_NEAR(r->tpot.mean() / e.tpot_s.mid, 1, 0.003) << plan.model;
    EXPECT_NEAR((r->e2e.mean() - server) / e.e2e_s.mid, 1, 0.003) << plan.model;
    EXPECT_EQ(r->wait.greatest(), 0) << plan.model;
  }
}

// One request a second keeps a server from being idle and uses little of it; clients without end use all of it.
TEST(Load, IsTheShareOfWhatFullBatchesWouldGive) {
  SimulationQuery q;
  q.deployment.model = "llama3.3-70b";
  q.deployment.device = "h100-sxm";
  q.deployment.gpus = q.deployment.tp = 8;
  q.workload = fixed_workload(1000, 250);
  q.load.rate = 1;
  q.requests = 500;
  const auto share = [&](const SimulationResult& r) { return load_share(q, r, knowledge()); };
  const auto quiet = simulate(q, knowledge());
  ASSERT_TRUE(quiet) << quiet.error().text();
  EXPECT_GT(quiet->busy_share, 0.8);
  EXPECT_LT(share(*quiet), 0.15);
  EXPECT_GT(share(*quiet), 0.01);
  const double alone = share(*quiet);
  q.replicas = 2;  // half as much on each
  const auto two = simulate(q, knowledge());
  ASSERT_TRUE(two);
  EXPECT_NEAR(share(*two) / alone, 0.5, 0.05);
  q.replicas = 1;
  q.load = {.kind = OfferedKind::offline};
  q.requests = 4000;
  const auto full = simulate(q, knowledge());
  ASSERT_TRUE(full) << full.error().text();
  EXPECT_NEAR(share(*full), 1, 0.15);
}

TEST(ClosedLoop, AgreesWithTheAnalyticAnswer) {
  for (const double clients : {4.0, 32.0, 128.0}) {
    for (const Plan& plan : {kPlans[0], kPlans[1], kPlans[4]}) {
      SimulationQuery q;
      q.deployment.model = plan.model;
      q.deployment.device = plan.device;
      q.deployment.engine = plan.engine;
      q.deployment.gpus = q.deployment.tp = plan.gpus;
      q.workload = fixed_workload(1000, 250);
      for (LengthDistribution* length : {&q.workload.classes[0].input, &q.workload.classes[0].output}) {
        length->kind = LengthKind::uniform;
        length->low = 0.8 * length->mean;
        length->high = length->mean;
      }
      q.load = {.kind = OfferedKind::concurrency, .concurrency = clients};
      q.requests = 30 * clients;
      const auto d = resolve(q.deployment, knowledge());
      ASSERT_TRUE(d);
      const InferenceLoad load{
          .mode = LoadMode::closed_loop, .isl = 1000, .osl = 250, .length_low = 0.8, .concurrency = clients};
      const InferenceEstimate e = evaluate(*d->resolved, load).estimate;
      const auto r = simulate(q, *d);
      ASSERT_TRUE(r);
      EXPECT_NEAR(r->output_tokens_per_s / e.output_tokens_per_s.mid, 1, 0.10)
          << plan.model << ", " << clients << " clients";
      EXPECT_NEAR(r->e2e.mean() / e.e2e_s.mid, 1, 0.10) << plan.model << ", " << clients << " clients";
    }
  }
}

}  // namespace
}  // namespace ridge
