// What policies are for: each does to a system what it is chosen to do.
#include "support.hpp"

namespace ridge {
namespace {

using namespace testing_support;

SimulationQuery base(double rate, double requests = 400) {
  SimulationQuery q;
  q.deployment.model = "llama3.1-8b";
  q.deployment.device = "h100-sxm";
  q.workload = *find_workload(std::string(RIDGE_DATA_DIR) + "/workloads", "chat");
  q.load.rate = rate;
  q.requests = requests;
  return q;
}

SimulationResult run(const SimulationQuery& q, SimulationObserver* observer = nullptr) {
  auto r = simulate(q, knowledge(), observer);
  EXPECT_TRUE(r) << r.error().text();
  return r ? *std::move(r) : SimulationResult{};
}

TEST(Simulation, SameSeedSameRequestsAnotherSeedOthers) {
  SimulationQuery q = base(10);
  Recorder a;
  Recorder b;
  Recorder c;
  run(q, &a);
  run(q, &b);
  q.seed = 2;
  run(q, &c);
  bool differ = false;
  for (std::size_t i = 0; i < a.requests.size(); ++i) {
    ASSERT_EQ(a.requests[i].last_token, b.requests[i].last_token);
    differ |= a.requests[i].last_token != c.requests[i].last_token;
  }
  EXPECT_TRUE(differ);
}

TEST(Batching, PrefillFirstTradesTokensForTheFirst) {
  SimulationQuery q = base(16, 1500);
  q.policies.batching = BatchingPolicy::prefill_first;
  const SimulationResult first = run(q);
  q.policies.batching = BatchingPolicy::fixed;
  const SimulationResult fixed = run(q);
  EXPECT_LT(10 * first.ttft.p50(), fixed.ttft.p50()) << "a batch that has to end is waited for";
  EXPECT_LT(fixed.itl.p99(), first.itl.p99()) << "and is not interrupted";
}

// Steps of one microsecond; a first request decodes all the while. One that comes at 100.5 us is prefilled in the step
// after the next look.
std::int64_t first_token_after(std::uint64_t poll_steps, std::uint64_t gather_steps, int others) {
  ToySystem toy;
  toy.shape.poll_steps = poll_steps;
  toy.shape.gather_steps = gather_steps;
  toy.shape.gather_prompts = 3;
  std::vector<Trace::Request> requests{{.arrival = 0, .input = 10, .output = 1000}};
  for (int i = 0; i <= others; ++i) requests.push_back({.arrival = (100.5 + 10 * i) * 1e-6, .input = 10, .output = 5});
  toy.query.workload = trace_of(requests);
  toy.query.load.kind = OfferedKind::trace;
  toy.query.requests = 0;
  Recorder recorder;
  toy.run(&recorder);
  return recorder.requests[1].first_token / serve::to_ticks(1e-6);
}

TEST(TimeOuts, NobodyWhoStayedSawItsFirstTokenAfterThem) {
  SimulationQuery q = base(60, 1000);
  q.policies.limits.ttft_timeout = 1;
  const SimulationResult r = run(q);
  EXPECT_GT(r.timed_out, 100U);
  EXPECT_GT(r.finished, 100U);
  EXPECT_LE(r.ttft.greatest(), 1) << "a client also leaves while its prompt is worked on";
}

TEST(Polling, ARequestIsSeenAtTheNextLook) {
  // The prompt of the first takes a step; looks follow after every 30th step from there: at 31, 61, 91, 121 us.
  EXPECT_EQ(first_token_after(1, 0, 0), 102);
  EXPECT_EQ(first_token_after(30, 0, 0), 122);
}

TEST(Gathering, PromptsWaitForOthersOrSoManySteps) {
  EXPECT_EQ(first_token_after(1, 40, 0), 101 + 40 + 1) << "nobody else comes";
  EXPECT_EQ(first_token_after(1, 40, 2), 121 + 1) << "the third comes at 120.5 us";
  EXPECT_EQ(first_token_after(1, 5, 2), 101 + 5 + 1) << "too late";
}

TEST(Batching, SmallChunksKeepTheGapsShort) {
  SimulationQuery q = base(12, 1000);
  q.workload = *find_workload(std::string(RIDGE_DATA_DIR) + "/workloads", "rag");
  q.load.rate = 2;
  const SimulationResult large = run(q);
  q.deployment.max_batched_tokens = 512;
  const SimulationResult small = run(q);
  EXPECT_LT(2 * small.itl.p99(), large.itl.p99());
}

TEST(Preemption, HappensWhereBlocksRunOutAndNowhereElse) {
  SimulationQuery q = base(1);
  q.load.kind = OfferedKind::offline;
  EXPECT_EQ(run(q).preemptions, 0U);
  q.deployment.device = "rtx4090";
  q.requests = 200;
  const SimulationResult full = run(q);
  EXPECT_GT(full.preemptions, 0U);
  EXPECT_GT(full.peak_kv_share, 0.99);
  q.deployment.engine = "trtllm";  // takes all blocks of a request at its start
  EXPECT_EQ(run(q).preemptions, 0U);
}

TEST(PrefixCache, SavesPrefillInConversations) {
  SimulationQuery q = base(3, 600);
  q.workload = *find_workload(std::string(RIDGE_DATA_DIR) + "/workloads", "agent");
  const SimulationResult with = run(q);
  q.policies.prefix_cache = false;
  const SimulationResult without = run(q);
  EXPECT_GT(with.cached_tokens, with.input_tokens / 2);
  EXPECT_EQ(without.cached_tokens, 0U);
  EXPECT_LT(2 * with.ttft.mean(), without.ttft.mean());
}

TEST(Router, SticksToTheEngineThatHasThePrefix) {
  SimulationQuery q = base(12, 1500);
  q.workload = *find_workload(std::string(RIDGE_DATA_DIR) + "/workloads", "agent");
  q.replicas = 4;
  const auto hits = [&](RouterPolicy router) {
    q.policies.router = router;
    const SimulationResult r = run(q);
    return static_cast<double>(r.cached_tokens) / static_cast<double>(r.input_tokens);
  };
  const double spread = hits(RouterPolicy::round_robin);
  EXPECT_GT(hits(RouterPolicy::prefix_aware), spread + 0.1);
  EXPECT_GT(hits(RouterPolicy::session_sticky), spread + 0.1);
}

TEST(MooncakeTraces, BlocksThatAreEqualAreFoundAgain) {
  std::string text;
  for (int i = 0; i < 20; ++i) {
    text += "{\"timestamp\": " + std::to_string(2000 * i) +
            ", \"input_length\": 2048, \"output_length\": 10, \"hash_ids\": [1, 2, 3, " + std::to_string(100 + i) +
            "]}\n";
  }
  SimulationQuery q = base(1);
  q.workload = *parse_trace(text, "moon.jsonl");
  q.load.kind = OfferedKind::trace;
  q.requests = 0;
  const SimulationResult r = run(q);
  EXPECT_EQ(r.cached_tokens, 19U * 3 * 512);
}

// Rows of one session are turns: each finds what was said before it, and comes at its time or when the answer it waits
// for is out. A history that was cut is computed anew, and what follows it is found again.
TEST(Traces, TurnsOfASessionFollowEachOther) {
  SimulationQuery q = base(1);
  q.workload = *parse_trace(
      "arrival_s,isl,osl,session\n0,1600,160,a\n0.001,800,80,\n0.002,2000,160,a\n100,320,32,b\n200,1000,100,a\n"
      "300,1500,10,a\n",
      "agents.csv");
  q.load.kind = OfferedKind::trace;
  q.requests = 0;
  Recorder recorder;
  const SimulationResult r = run(q, &recorder);
  ASSERT_EQ(r.finished, 6U);
  EXPECT_EQ(r.first_turn_ttft.count(), 2U);
  EXPECT_EQ(r.later_turn_ttft.count(), 3U);
  EXPECT_EQ(r.task.count(), 2U);
  std::vector<RequestRecord> turns;
  for (const RequestRecord& one : recorder.requests) {
    if (one.input >= 1000) turns.push_back(one);
  }
  ASSERT_EQ(turns.size(), 4U);
  EXPECT_GE(turns[1].arrival, turns[0].last_token) << "recorded at 2 ms, before the first answer was out";
  EXPECT_NEAR(turns[1].cached, 1760, 16);
  EXPECT_NEAR(serve::to_seconds(turns[2].arrival), 200, 1e-6);
  EXPECT_EQ(turns[2].cached, 0U) << "1,000 tokens where 2,160 were said";
  EXPECT_NEAR(turns[3].cached, 1100, 16);
  // Without the column the same rows know nothing of each other.
  q.workload = *parse_trace("arrival_s,isl,osl\n0,1600,160\n0.002,2000,160\n", "agents.csv");
  EXPECT_EQ(run(q).cached_tokens, 0U);
}

TEST(Priorities, TheUrgentDoNotWaitForTheOthers) {
  SimulationQuery q = base(30, 3000);
  RequestClass urgent = q.workload.classes[0];
  urgent.name = "urgent";
  urgent.share = 0.1;
  q.workload.classes[0].priority = 2;
  q.workload.classes.push_back(urgent);
  const SimulationResult r = run(q);
  ASSERT_EQ(r.classes.size(), 2U);
  EXPECT_LT(5 * r.classes[1].ttft.p95(), r.classes[0].ttft.p95());
}

TEST(Disaggregation, KeepsPromptsOutOfTheGaps) {
  SimulationQuery q = base(16, 1000);
  q.replicas = 2;
  const SimulationResult together = run(q);
  q.replicas = 1;
  q.policies.disaggregation = Disaggregation{.prefill_engines = 1};
  const SimulationResult apart = run(q);
  EXPECT_EQ(apart.engines, 2);
  EXPECT_EQ(apart.finished, 1000U);
  EXPECT_LT(3 * apart.itl.p99(), together.itl.p99());
  EXPECT_GT(apart.transfer_seconds, 0);
  q.policies.disaggregation->link_bytes_per_s = 2e8;  // 1,000 tokens of 131 kB take two thirds of a second
  const SimulationResult slow = run(q);
  EXPECT_GT(slow.transfer_seconds, 0.5);
}

TEST(SpeculativeDecoding, BringsSeveralTokensPerStep) {
  SimulationQuery q = base(2);
  const SimulationResult plain = run(q);
  q.deployment.load.draft_tokens = 3;
  q.deployment.load.acceptance = 0.8;  // 1 + 0.8 + 0.64 + 0.512 = 2.95 tokens
  const SimulationResult drafted = run(q);
  EXPECT_LT(drafted.tpot.p50(), 0.5 * plain.tpot.p50());
  EXPECT_GT(drafted.tpot.p50(), plain.tpot.p50() / 2.96);
  EXPECT_EQ(drafted.output_tokens, plain.output_tokens);
}

TEST(ApiLimits, LetThroughWhatTheySay) {
  SimulationQuery q = base(20, 2000);
  q.policies.limits.requests_per_minute = 300;
  const SimulationResult r = run(q);
  // A minute's worth at once, and five per second over the hundred that 2,000 arrivals take.
  EXPECT_NEAR(static_cast<double>(r.finished), 300 + 5 * r.arrival_span, 2);
  EXPECT_EQ(r.finished + r.rejected, r.arrived);
  q.policies.limits = {.concurrency = 10};
  EXPECT_LE(run(q).mean_in_system, 11.5);  // ten, and who is on the way to a refusal
  q.policies.limits = {.ttft_timeout = 1};
  q.load.rate = 60;
  const SimulationResult impatient = run(q);
  EXPECT_GT(impatient.timed_out, 0U);
  EXPECT_EQ(impatient.finished + impatient.timed_out, impatient.arrived);
  q.policies.limits = {.batch_window = 10};
  q.load.rate = 1;
  q.requests = 200;
  EXPECT_NEAR(run(q).ttft.mean(), 5, 1) << "half a window";
}

TEST(Autoscaling, ScalesToZeroAndPaysTheColdStart) {
  SimulationQuery q = base(0.002, 20);
  q.workload.arrivals.kind = ArrivalKind::constant;
  q.policies.autoscaling =
      Autoscaling{.least = 0, .most = 4, .target = 8, .interval = 10, .cold_start = 45, .idle = 60};
  const SimulationResult r = run(q);
  EXPECT_EQ(r.cold_starts, 20U);
  EXPECT_NEAR(r.ttft.p50(), 45, 0.5);
  EXPECT_LT(r.mean_engines, 0.35);
  q = base(60, 6000);
  q.policies.autoscaling =
      Autoscaling{.least = 1, .most = 8, .target = 32, .interval = 5, .cold_start = 10, .idle = 30};
  const SimulationResult busy = run(q);
  EXPECT_GT(busy.cold_starts, 2U);
  EXPECT_FALSE(busy.overloaded);
  EXPECT_EQ(busy.finished, 6000U);
}

TEST(Failures, RestartWhatTheyHit) {
  SimulationQuery q = base(10, 2000);
  q.replicas = 3;
  q.policies.failures = {.mean_time_between = 60, .repair = 10};
  const SimulationResult r = run(q);
  EXPECT_GT(r.failures, 0U);
  EXPECT_GT(r.restarted, 0U);
  EXPECT_EQ(r.finished, 2000U);
  EXPECT_LT(r.mean_engines, 3);
}

TEST(TooLong, IsReportedAndNotWaitedFor) {
  SimulationQuery q = base(1, 10);
  q.workload = fixed_workload(2'000'000, 10);
  const SimulationResult r = run(q);
  EXPECT_EQ(r.too_long, 10U);
  EXPECT_EQ(r.longest_too_long, 2'000'010U);
  EXPECT_EQ(r.finished, 0U);
}

TEST(FindRate, HoldsTheLimitAndOnePercentMoreDoesNot) {
  SimulationQuery q = base(1, 3000);
  q.limits = {.ttft = 0.5, .tpot = 0.03, .share = 0.95};
  const auto s = find_rate(q, knowledge());
  ASSERT_TRUE(s) << s.error().text();
  EXPECT_EQ(broken_limit(s->at_rate, q.limits), "");
  EXPECT_GT(s->refused_rate, s->rate);
  EXPECT_LT(s->refused_rate, 1.011 * s->rate);
  q.limits.tpot = 1e-4;
  const auto never = find_rate(q, knowledge());
  ASSERT_TRUE(never);
  EXPECT_EQ(never->rate, 0);
  EXPECT_EQ(never->limited_by, "tpot");
  // What a client alone sees tells what the limit has to be.
  EXPECT_EQ(broken_limit(never->at_rate, q.limits), "tpot");
  q.limits.tpot = 1.005 * never->at_rate.tpot.quantile(0.95);
  EXPECT_EQ(broken_limit(never->at_rate, q.limits), "");
}

TEST(FindRate, RefusesRunsThatAreOverBeforeAnyRateCouldBeTooHigh) {
  SimulationQuery q = base(1, 20);
  q.limits.e2e = 1000;
  const auto s = find_rate(q, knowledge());
  ASSERT_FALSE(s);
  EXPECT_EQ(s.error().where, "requests");
  EXPECT_NE(s.error().message.find("20 requests are over before"), std::string::npos) << s.error().text();
}

TEST(Arrivals, ThatTakeForEverToDrawAreRefused) {
  SimulationQuery q = base(1, 10);
  ArrivalProcess& a = q.workload.arrivals;
  const auto refused = [&](const ArrivalProcess& process) {
    a = process;
    const auto r = simulate(q, knowledge());
    return !r && r.error().code == ErrorCode::bad_input && r.error().where == "arrivals";
  };
  EXPECT_TRUE(refused({.kind = ArrivalKind::on_off, .on_seconds = 1e-9, .off_seconds = 1e-9}));
  EXPECT_TRUE(refused({.kind = ArrivalKind::on_off, .on_seconds = 1, .off_seconds = 2e7}));
  EXPECT_TRUE(refused({.kind = ArrivalKind::diurnal, .period = 0.5}));
  EXPECT_TRUE(refused({.kind = ArrivalKind::diurnal, .swing = 1.5}));
  EXPECT_TRUE(refused({.kind = ArrivalKind::gamma, .cv = 1000}));
  EXPECT_FALSE(refused({.kind = ArrivalKind::on_off, .on_seconds = 1e-3, .off_seconds = 0}));
  q.load.rate = 1e-5;  // ten requests in twelve days, a thousand million bursts
  EXPECT_TRUE(refused({.kind = ArrivalKind::on_off, .on_seconds = 1e-3, .off_seconds = 0}));
}

TEST(Times, ThatTheClockCannotHoldAreRefused) {
  const auto refused = [](const auto& change) {
    SimulationQuery q = base(10, 10);
    change(q);
    const auto r = simulate(q, knowledge());
    return !r && r.error().code == ErrorCode::bad_input;
  };
  constexpr double kFar = 5e8;  // seconds: 63 bits of ticks end at 1.44e8
  EXPECT_FALSE(refused([](SimulationQuery&) {}));
  EXPECT_TRUE(refused([](SimulationQuery& q) { q.duration = kFar; }));
  EXPECT_TRUE(refused([](SimulationQuery& q) { q.policies.limits.batch_window = kFar; }));
  EXPECT_TRUE(refused([](SimulationQuery& q) { q.policies.limits.ttft_timeout = kFar; }));
  EXPECT_TRUE(refused([](SimulationQuery& q) { q.policies.limits.idle_timeout = -1; }));
  EXPECT_TRUE(refused([](SimulationQuery& q) { q.policies.failures.repair = kFar; }));
  EXPECT_TRUE(refused([](SimulationQuery& q) { q.policies.autoscaling = Autoscaling{.cold_start = kFar}; }));
  EXPECT_TRUE(refused([](SimulationQuery& q) { q.policies.autoscaling = Autoscaling{.interval = 1e-12}; }));
  EXPECT_TRUE(refused([](SimulationQuery& q) { q.workload.classes[0].think_time = kFar; }));
}

TEST(Times, ThatAddUpBeyondTheClockEndTheSimulationEarly) {
  // Two hundred turns, months of thinking after each: decades, which the clock of four and a half years cannot hold.
  SimulationQuery q = base(1, 200);
  q.load = {.kind = OfferedKind::concurrency, .concurrency = 1};
  q.workload = fixed_workload(10, 10);
  q.workload.classes[0].turns = fixed_workload(200, 1).classes[0].input;
  q.workload.classes[0].think_time = 5e6;
  const SimulationResult r = run(q);
  EXPECT_TRUE(r.stopped_early);
  EXPECT_GT(r.makespan, 1e8);
  EXPECT_LT(r.makespan, 1.44e8);
}

TEST(Memory, DoesNotGrowWithFinishedRequests) {
  SimulationQuery q = base(10, 100'000);
  class Highest final : public SimulationObserver {
   public:
    bool go_on(double share) override {
      calls += share >= 0 && share <= 1 ? 1 : 0;
      return true;
    }
    int calls = 0;
  } watcher;
  const SimulationResult r = run(q, &watcher);
  EXPECT_GT(watcher.calls, 5);
  EXPECT_EQ(r.finished, 100'000U);
  EXPECT_LE(r.timeline.size(), 256U);
}

TEST(GoOn, EndsEarlyWithWhatIsKnown) {
  SimulationQuery q = base(10, 1'000'000);
  class Impatient final : public SimulationObserver {
   public:
    bool go_on(double) override { return ++calls < 3; }
    int calls = 0;
  } watcher;
  const SimulationResult r = run(q, &watcher);
  EXPECT_TRUE(r.stopped_early);
  EXPECT_GT(r.finished, 1000U);
  EXPECT_LT(r.finished, 1'000'000U);
}

TEST(FindRate, AShortTrialHoldsRatesThatALongOneDoesNot) {
  // A thousand requests are over before the batch has filled; what twenty thousand hold, eighty thousand nearly do.
  SimulationQuery q;
  q.deployment.model = "llama2-70b";
  q.deployment.device = "h200-sxm";
  q.deployment.engine = "ideal";
  q.deployment.gpus = q.deployment.tp = 8;
  q.deployment.weights = Format::fp8;
  q.workload = *find_workload(std::string(RIDGE_DATA_DIR) + "/workloads", "mlperf-llama2-70b");
  q.limits = {.ttft = 0.45, .tpot = 0.04, .share = 0.99};
  const auto rate = [&](double requests) {
    q.requests = requests;
    const auto found = find_rate(q, knowledge());
    EXPECT_TRUE(found);
    return found ? found->rate : 0;
  };
  const double usual = rate(20'000);
  EXPECT_GT(rate(1000), 1.1 * usual);
  EXPECT_NEAR(rate(80'000) / usual, 1, 0.03);
}

}  // namespace
}  // namespace ridge
