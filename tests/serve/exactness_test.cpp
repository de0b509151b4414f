// Runs of steps that are skipped give what stepping gives, to the tick.
#include "plain_loop.hpp"
#include "serve/deployment_shape.hpp"

namespace ridge {
namespace {

using namespace testing_support;

struct Case {
  const char* what;
  double gap;
  std::uint32_t input, output;
  std::int64_t blocks;
  std::int64_t sequences;
  std::int64_t tokens;
  bool chunked;
  std::uint64_t poll_steps = 1;
};

void compare(const Case& c, const serve::StepModel& model) {
  serve::EngineShape shape = toy_shape();
  shape.blocks = c.blocks;
  shape.max_sequences = c.sequences;
  shape.max_tokens = c.tokens;
  shape.poll_steps = c.poll_steps;
  const auto requests = random_requests(400, c.gap, c.input, c.output, 7);
  const auto expected = plain_loop(requests, model, shape, c.chunked);

  SimulationQuery q;
  q.workload = trace_of(requests);
  q.load.kind = OfferedKind::trace;
  q.requests = 0;
  q.policies.prefix_cache = false;  // the oracle has none
  serve::ClusterSetup setup;
  const auto batching = c.chunked ? BatchingPolicy::chunked : BatchingPolicy::prefill_first;
  setup.pools.push_back({shape, &model, batching, serve::Engine::Role::whole, 1});
  SimulationResult result;
  Recorder recorder;
  serve::Cluster(q, setup, result, &recorder).run();
  ASSERT_EQ(recorder.requests.size(), requests.size()) << c.what;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    ASSERT_EQ(recorder.requests[i].first_token, expected[i].first) << c.what << ", request " << i;
    ASSERT_EQ(recorder.requests[i].last_token, expected[i].last) << c.what << ", request " << i;
  }
  EXPECT_EQ(result.preemptions > 0, c.blocks < 1000) << c.what;
}

const Case kCases[] = {
    {"light", 2e-3, 300, 100, 1 << 20, 64, 2048, true},
    {"heavy", 1e-4, 300, 100, 1 << 20, 64, 512, true},
    {"few places", 2e-4, 300, 100, 1 << 20, 4, 2048, true},
    {"scarce blocks", 1e-4, 300, 400, 300, 64, 512, true},
    {"light, prompts first", 2e-3, 300, 100, 1 << 20, 64, 2048, false},
    {"heavy, prompts first", 1e-4, 300, 100, 1 << 20, 64, 512, false},
    {"scarce blocks, prompts first", 1e-4, 300, 400, 300, 64, 512, false},
    {"rare looks", 2e-3, 300, 100, 1 << 20, 64, 2048, true, 30},
    {"rare looks, prompts first", 1e-4, 300, 100, 1 << 20, 64, 512, false, 7},
    {"rare looks, scarce blocks", 1e-4, 300, 400, 300, 64, 512, true, 10},
};

TEST(SkippedSteps, AreExactOnAToySystem) {
  // Times that grow with the batch and the context, so that no two steps are equal.
  const ToyModel model(1.3e-7, 3.7e-11, 2.1e-8);
  for (const Case& c : kCases) compare(c, model);
}

TEST(SkippedSteps, AreExactOnARealDeployment) {
  InferenceQuery q;
  q.model = "llama3.1-8b";
  q.device = "h100-sxm";
  const auto d = resolve(q, knowledge());
  ASSERT_TRUE(d);
  const serve::ResolvedModel model(*d->resolved);
  for (Case c : kCases) {
    c.gap *= 1000;  // steps take milliseconds here
    compare(c, model);
  }
}

/// Every feature on its own against the same code stepping one by one.
void compare_with_steps(SimulationQuery q, const char* what) {
  Recorder fast;
  Recorder slow;
  const auto a = simulate(q, knowledge(), &fast);
  q.step_by_step = true;
  const auto b = simulate(q, knowledge(), &slow);
  ASSERT_TRUE(a && b) << what << (a ? "" : a.error().text());
  ASSERT_GT(a->finished, 0U) << what;
  ASSERT_EQ(fast.requests.size(), slow.requests.size()) << what;
  for (std::size_t i = 0; i < fast.requests.size(); ++i) {
    ASSERT_EQ(fast.requests[i].first_token, slow.requests[i].first_token) << what << ", request " << i;
    ASSERT_EQ(fast.requests[i].last_token, slow.requests[i].last_token) << what << ", request " << i;
    ASSERT_EQ(fast.requests[i].cached, slow.requests[i].cached) << what << ", request " << i;
    ASSERT_EQ(fast.requests[i].end, slow.requests[i].end) << what << ", request " << i;
  }
  EXPECT_EQ(a->itl.count(), b->itl.count()) << what;
  EXPECT_NEAR(a->itl.p95() / b->itl.p95(), 1, 0.002) << what;
}

SimulationQuery small() {
  SimulationQuery q;
  q.deployment.model = "llama3.1-8b";
  q.deployment.device = "l40s";
  q.workload = *find_workload(std::string(RIDGE_DATA_DIR) + "/workloads", "chat");
  q.load.rate = 4;
  q.requests = 300;
  return q;
}

TEST(SkippedSteps, AreExactWithEveryPolicy) {
  SimulationQuery q = small();
  for (const auto batching :
       {BatchingPolicy::chunked, BatchingPolicy::in_flight, BatchingPolicy::prefill_first, BatchingPolicy::fixed}) {
    q.policies.batching = batching;
    compare_with_steps(q, name(batching).data());
  }
  q = small();
  for (const auto batching : {BatchingPolicy::chunked, BatchingPolicy::in_flight, BatchingPolicy::prefill_first}) {
    q.policies.batching = batching;
    q.policies.poll_steps = 30;
    compare_with_steps(q, "rare looks");
    q.deployment.engine = "trtllm";  // which schedules ahead
    compare_with_steps(q, "rare looks, scheduled ahead");
    q.policies.poll_steps = 1;
    q.policies.gathering = {.token_share = 0.3, .every_rank = false, .steps = 40};
    compare_with_steps(q, "prompts that wait for others");
    q.deployment.max_sequences = 6;
    compare_with_steps(q, "prompts that wait for others and for a place");
    q = small();
  }
  q.load = {.kind = OfferedKind::concurrency, .concurrency = 24};
  compare_with_steps(q, "closed loop");
  q.load.kind = OfferedKind::offline;
  q.deployment.memory_utilization = 0.43;  // hardly more than the weights: the cache is full all the time
  q.deployment.max_sequences = 1000;
  compare_with_steps(q, "offline, recompute");
  q.policies.preemption = PreemptionPolicy::swap;
  compare_with_steps(q, "offline, swap");
  q = small();
  q.replicas = 3;
  q.load.rate = 12;
  for (const auto router : {RouterPolicy::round_robin, RouterPolicy::least_outstanding, RouterPolicy::prefix_aware,
                            RouterPolicy::session_sticky}) {
    q.policies.router = router;
    compare_with_steps(q, name(router).data());
  }
  q = small();
  q.deployment.load.draft_tokens = 3;
  q.deployment.load.acceptance = 0.6;
  compare_with_steps(q, "drafts");
  q.load = {.kind = OfferedKind::concurrency, .concurrency = 24};
  compare_with_steps(q, "drafts, closed loop");
  q.policies.poll_steps = 7;
  compare_with_steps(q, "drafts, rare looks");
  q.deployment.engine = "trtllm";
  compare_with_steps(q, "drafts, rare looks, scheduled ahead");
  q.policies.poll_steps = 1;
  q.policies.gathering = {.token_share = 0.3, .every_rank = false, .steps = 40};
  compare_with_steps(q, "drafts, prompts that wait for others");
  q = small();
  q.deployment.load.draft_tokens = 1;
  q.deployment.load.acceptance = 0.8;
  q.replicas = 2;
  q.policies.failures = {.mean_time_between = 40, .repair = 5};
  compare_with_steps(q, "drafts, failures");
  q.policies.failures = {};
  q.policies.disaggregation = Disaggregation{.prefill = {}, .prefill_engines = 1};
  compare_with_steps(q, "drafts, disaggregated");
  q = small();
  q.policies.disaggregation = Disaggregation{.prefill = {}, .prefill_engines = 1};
  compare_with_steps(q, "disaggregated");
  q = small();
  q.policies.limits.ttft_timeout = 1;
  q.load.rate = 20;
  compare_with_steps(q, "time-outs");
  q = small();
  q.replicas = 2;
  q.policies.failures = {.mean_time_between = 40, .repair = 5};
  compare_with_steps(q, "failures");
  q = small();
  q.policies.autoscaling = Autoscaling{.least = 0, .most = 3, .target = 8, .interval = 5, .cold_start = 7, .idle = 10};
  compare_with_steps(q, "autoscaling");
  q = small();
  q.workload.classes[0].turns = {.kind = LengthKind::uniform, .low = 2, .high = 6};
  q.workload.classes[0].think_time = 3;
  q.workload.classes[0].shared_prefix = 200;
  q.workload.classes[0].prefix_groups = 3;
  compare_with_steps(q, "conversations");
  q.deployment.memory_utilization = 0.43;
  compare_with_steps(q, "conversations with a full cache");
  q = small();
  RequestClass urgent = q.workload.classes[0];
  q.workload.classes[0].priority = 2;
  urgent.share = 0.3;
  q.workload.classes.push_back(urgent);
  q.deployment.max_sequences = 8;
  compare_with_steps(q, "priorities");
}

}  // namespace
}  // namespace ridge
