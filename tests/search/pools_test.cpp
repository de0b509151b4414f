// Pools for prompts and tokens: none is shown that cannot run, and each can be counted from its words.
#include "ridge/perf/pools.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "perf/operators/kernels.hpp"
#include "ridge/serve/simulation.hpp"
#include "search/serving/filling.hpp"
#include "world.hpp"

namespace ridge {
namespace {

using testing_support::knowledge;

ServingVerdict answer(const ServingGoal& goal) {
  const auto quest = prepare(goal, knowledge());
  EXPECT_TRUE(quest) << quest.error().text();
  if (!quest) return {};
  return judge(*quest, search::search(*quest->problem, {}).findings, knowledge(), 1);
}

void expect_fits(const InferenceQuery& query, LoadMode mode) {
  InferenceQuery q = query;
  q.load.mode = mode;
  q.load.prefilled = mode == LoadMode::closed_loop;
  const auto d = resolve(q, knowledge());
  ASSERT_TRUE(d) << d.error().text();
  const InferenceOutcome o = evaluate(*d->resolved, q.load);
  EXPECT_EQ(o.reason, Reason::none);
  double bytes = 0;
  for (const double part : o.estimate.memory_bytes) bytes += part;
  EXPECT_LE(bytes, d->facts.memory_bytes * (1 + 1e-9));
  EXPECT_EQ(q.gpus, q.tp * q.pp * q.dp);
}

TEST(Pools, NoneIsOfferedThatDoesNotFitOrCannotBeCounted) {
  static constexpr const char* kModels[] = {"qwen3-30b-a3b", "gpt-oss-120b", "deepseek-v3", "mixtral-8x7b"};
  static constexpr const char* kDevices[] = {"h100-sxm", "h200-sxm", "b200-sxm-180", "gb200-nvl72"};
  Random draws(11);
  int offered = 0;
  for (int i = 0; i < 6; ++i) {
    ServingGoal goal;
    goal.model = kModels[draws.below(std::size(kModels))];
    goal.buyer.devices = {kDevices[draws.below(std::size(kDevices))]};
    goal.request_rate = 20.0 * static_cast<double>(1 + draws.below(20));
    goal.isl = 256.0 * static_cast<double>(1 + draws.below(16));
    goal.osl = 64.0 * static_cast<double>(1 + draws.below(16));
    goal.ttft_s = 2;
    goal.tpot_s = 0.01 * static_cast<double>(2 + draws.below(6));
    goal.kv = {Format::fp8};
    const ServingVerdict verdict = answer(goal);
    for (const ServingPlan& plan : verdict.plans) expect_fits(plan.query, LoadMode::closed_loop);
    for (const Alternative& other : verdict.alternatives) {
      if (!other.pools) continue;
      ++offered;
      for (const ServingPool* pool : {&other.pools->prefill, &other.pools->decode}) {
        InferenceQuery q = pool->query;
        q.load.isl = goal.isl;
        q.load.osl = goal.osl;
        q.load.concurrency = q.load.batch = pool->concurrency;
        expect_fits(q, pool == &other.pools->prefill ? LoadMode::prefill : LoadMode::closed_loop);
        EXPECT_GE(pool->engines, 1);
        if (q.dp > 1) {
          EXPECT_NE(other.text.find("DP" + std::to_string(q.dp)), std::string::npos) << other.text;
        }
        if (q.ep > 1) {
          EXPECT_NE(other.text.find("EP" + std::to_string(q.ep)), std::string::npos) << other.text;
        }
      }
    }
  }
  EXPECT_GT(offered, 0);
}

// DeepSeek's 256 experts over ranks that they do not divide by: copies make up for it, and take memory.
TEST(Pools, OfMoreRanksThanExpertsDivideByHoldTheirCopies) {
  for (const int ep : {24, 48, 72, 96, 144}) {
    ServingGoal goal;
    goal.model = "deepseek-r1";
    goal.buyer.devices = {"gb200-nvl72", "h200-sxm"};
    goal.request_rate = 300;
    goal.isl = 2000;
    goal.osl = 1000;
    goal.ttft_s = 4;
    goal.tpot_s = 0.06;
    goal.disaggregate = true;
    goal.ep = ep;
    const ServingVerdict verdict = answer(goal);
    EXPECT_FALSE(verdict.alternatives.empty()) << ep;
    for (const Alternative& other : verdict.alternatives) {
      SCOPED_TRACE(other.text);
      ASSERT_TRUE(other.pools);
      EXPECT_EQ(other.pools->prefill.facts.kv, other.pools->decode.facts.kv);
      for (const ServingPool* pool : {&other.pools->prefill, &other.pools->decode}) {
        EXPECT_EQ(pool->query.ep, ep);
        EXPECT_EQ((256 + pool->facts.redundant_experts) % ep, 0);
        EXPECT_EQ(pool->facts.redundant_experts, (256 + ep - 1) / ep * ep - 256);
        InferenceQuery q = pool->query;
        q.load.isl = goal.isl;
        q.load.osl = goal.osl;
        q.load.concurrency = q.load.batch = pool->concurrency;
        const bool prompts = pool == &other.pools->prefill;
        expect_fits(q, prompts ? LoadMode::prefill : LoadMode::closed_loop);
        const auto weights = [&](int copies) {
          InferenceQuery with = q;
          with.load.mode = prompts ? LoadMode::prefill : LoadMode::closed_loop;
          with.experts.redundant = copies;
          const auto d = resolve(with, knowledge());
          EXPECT_TRUE(d);
          const InferenceOutcome o = evaluate(*d->resolved, with.load);
          return o.estimate.memory_bytes[static_cast<std::size_t>(MemoryPart::weights)];
        };
        const int copies = pool->facts.redundant_experts;
        EXPECT_GT(weights(copies + ep), weights(copies)) << "one expert more on each rank";
      }
    }
  }
}

// Asked for pools, every device has its pair, and none is dearer than the one that is offered beside plans.
TEST(Pools, AreListedByDeviceWhereTheyAreAskedFor) {
  ServingGoal goal;
  goal.model = "deepseek-r1";
  goal.buyer.devices = {"h200-sxm", "gb200-nvl72"};
  goal.request_rate = 100;
  goal.isl = 2000;
  goal.osl = 500;
  goal.ttft_s = 3;
  goal.tpot_s = 0.05;
  goal.kv = {Format::fp8};
  const ServingVerdict beside = answer(goal);
  goal.disaggregate = true;
  const ServingVerdict asked = answer(goal);
  std::set<std::string> devices;
  double dearest = 0;
  for (const Alternative& a : asked.alternatives) {
    ASSERT_TRUE(a.pools);
    devices.insert(a.pools->prefill.query.device);
    EXPECT_GE(*a.usd_per_hour, dearest) << "cheapest first";
    dearest = *a.usd_per_hour;
  }
  EXPECT_EQ(devices.size(), 2);
  ASSERT_FALSE(beside.alternatives.empty());
  EXPECT_NEAR(*asked.alternatives.front().usd_per_hour, *beside.alternatives.front().usd_per_hour, 1e-9);
  goal.ep = 64;
  for (const Alternative& a : answer(goal).alternatives) {
    EXPECT_EQ(a.pools->prefill.query.ep, 64);
    EXPECT_EQ(a.pools->decode.query.ep, 64);
  }
  goal.ep = 0;
  goal.buyer.gpus = 8;
  for (const Alternative& a : answer(goal).alternatives) {
    const auto of = [](const ServingPool& p) { return p.engines * p.query.gpus; };
    EXPECT_LE(of(a.pools->prefill) + of(a.pools->decode), 8) << "no more devices than there are";
  }
  goal.request_rate = 0;
  goal.buyer.gpus = 72;
  EXPECT_FALSE(prepare(goal, knowledge())) << "pools are sized for a rate";
}

// Many engines are simulated as a few in the same proportion, for as long as it takes to fill them: ten times the
// requests take about ten times the devices, and tokens come as slowly.
TEST(Pools, OfManyEnginesAreThoseOfFewTimesTheRate) {
  ServingGoal goal;
  goal.model = "deepseek-r1";
  goal.buyer.devices = {"h200-sxm"};
  goal.isl = 2000;
  goal.osl = 500;
  goal.ttft_s = 3;
  goal.tpot_s = 0.05;
  goal.kv = {Format::fp8};
  goal.engine = "sglang";
  goal.disaggregate = true;
  const auto devices = [&](double rate) {
    goal.request_rate = rate;
    const ServingVerdict verdict = answer(goal);
    EXPECT_FALSE(verdict.alternatives.empty()) << rate;
    if (verdict.alternatives.empty()) return std::pair{0.0, 0.0};
    const PoolPair& pair = *verdict.alternatives.front().pools;
    const auto of = [](const ServingPool& p) { return 1.0 * p.engines * p.query.gpus; };
    return std::pair{of(pair.prefill) + of(pair.decode), pair.tpot_p95_s};
  };
  const auto few = devices(100);
  const auto many = devices(2000);
  EXPECT_LT(many.first, 20 * few.first * 1.1);
  EXPECT_GT(many.second, few.second * 0.6);
}

// Pools that are said to hold do so in ten times the requests, and what is shown of up to a dozen is what
// `ridge simulate` sees.
TEST(Pools, HoldHoweverLongTheyAreSimulated) {
  ServingGoal goal;
  goal.model = "deepseek-r1";
  goal.buyer.devices = {"gb200-nvl72", "h200-sxm", "mi355x"};
  goal.request_rate = 150;
  goal.isl = 2000;
  goal.osl = 1000;
  goal.ttft_s = 3;
  goal.tpot_s = 0.03;
  goal.disaggregate = true;
  int looked = 0;
  for (const Alternative& a : answer(goal).alternatives) {
    const PoolPair& pair = *a.pools;
    if (pair.decode.engines > 12) continue;
    SCOPED_TRACE(a.text);
    ++looked;
    EXPECT_EQ(pair.prefill.facts.kv, pair.decode.facts.kv) << "one reads what the other writes";
    SimulationQuery q;
    q.deployment = pair.decode.query;
    q.deployment.max_sequences = std::ceil(pair.decode.concurrency / std::max(1, pair.decode.query.dp));
    q.workload = fixed_workload(goal.isl, goal.osl);
    q.replicas = pair.decode.engines;
    q.load = {.kind = OfferedKind::rate, .rate = goal.request_rate};
    q.requests = pair.simulated_requests;
    q.limits = {.ttft = goal.ttft_s, .tpot = goal.tpot_s, .e2e = 0, .share = 0.95};
    q.policies.disaggregation = Disaggregation{};
    q.policies.disaggregation->prefill = pair.prefill.query;
    q.policies.disaggregation->prefill_engines = pair.prefill.engines;
    q.policies.disaggregation->link_bytes_per_s = pair.link_bytes_per_s;
    const auto shown = simulate(q, knowledge());
    ASSERT_TRUE(shown) << shown.error().text();
    EXPECT_EQ(shown->ttft.p95(), pair.ttft_p95_s);
    EXPECT_EQ(shown->tpot.p95(), pair.tpot_p95_s);
    q.requests *= 10;
    const auto longer = simulate(q, knowledge());
    ASSERT_TRUE(longer) << longer.error().text();
    EXPECT_FALSE(longer->overloaded);
    EXPECT_EQ(broken_limit(*longer, q.limits), "");
  }
  EXPECT_GE(looked, 2);
}

// With one engine less of either kind a pair does not hold: an even chance asks for no slower steps than predicted.
TEST(Pools, HaveNoEngineThatIsNotNeeded) {
  ServingGoal goal;
  goal.model = "deepseek-r1";
  goal.engine = "sglang";
  goal.buyer.devices = {"gb200-nvl72", "h200-sxm"};
  goal.request_rate = 70;
  goal.isl = 1000;
  goal.osl = 1000;
  goal.ttft_s = 1;
  goal.tpot_s = 0.03;
  goal.confidence = 0.5;
  goal.disaggregate = true;
  int looked = 0;
  for (const Alternative& a : answer(goal).alternatives) {
    const PoolPair& pair = *a.pools;
    if (pair.decode.engines > 4) continue;  // played as a few of them
    SCOPED_TRACE(a.text);
    const auto holds = [&](int prompts, int tokens) {
      SimulationQuery q;
      q.deployment = pair.decode.query;
      q.deployment.max_sequences = std::ceil(pair.decode.concurrency / std::max(1, pair.decode.query.dp));
      q.workload = fixed_workload(goal.isl, goal.osl);
      q.replicas = tokens;
      q.load = {.kind = OfferedKind::rate, .rate = goal.request_rate};
      q.requests = search::requests_to_fill(tokens * pair.decode.concurrency, 2000);
      q.limits = {.ttft = goal.ttft_s, .tpot = goal.tpot_s, .e2e = 0, .share = 0.95};
      q.policies.disaggregation = Disaggregation{};
      q.policies.disaggregation->prefill = pair.prefill.query;
      q.policies.disaggregation->prefill_engines = prompts;
      q.policies.disaggregation->link_bytes_per_s = pair.link_bytes_per_s;
      const auto r = simulate(q, knowledge());
      return r && !r->overloaded && broken_limit(*r, q.limits).empty();
    };
    EXPECT_TRUE(holds(pair.prefill.engines, pair.decode.engines));
    if (pair.decode.engines > 1) {
      ++looked;
      EXPECT_FALSE(holds(pair.prefill.engines, pair.decode.engines - 1));
    }
    if (pair.prefill.engines > 1) {
      ++looked;
      EXPECT_FALSE(holds(pair.prefill.engines - 1, pair.decode.engines));
    }
  }
  EXPECT_GE(looked, 1);
}

// The ratio balances the pools: prompts arrive as fast as requests end.
TEST(Pools, ThePairServesWhatItsDecodeEngineDoes) {
  InferenceQuery q;
  q.model = "deepseek-v3";
  q.device = "h200-sxm";
  q.engine = "sglang";
  q.tp = 1;
  q.gpus = q.dp = q.ep = 16;
  const auto decode = resolve(q, knowledge());
  q.gpus = q.dp = q.ep = 8;
  const auto prefill = resolve(q, knowledge());
  ASSERT_TRUE(decode && prefill);
  const InferenceLoad load{.mode = LoadMode::closed_loop, .isl = 2000, .osl = 500, .concurrency = 512};
  const PoolsOutcome queued =
      evaluate_pools(*prefill->resolved, *decode->resolved, load, {.link_bytes_per_s = 400e9, .prefill_use = 1});
  ASSERT_EQ(queued.reason, Reason::none);
  const double prompts_per_s = queued.prefill_engines * queued.prompts_at_once / queued.prefill.prefill_s.mid;
  EXPECT_NEAR(prompts_per_s, queued.output_tokens_per_s.mid / load.osl, 1e-6 * prompts_per_s);
  EXPECT_NEAR(queued.per_device.mid * queued.gpus, queued.output_tokens_per_s.mid,
              1e-6 * queued.output_tokens_per_s.mid);
  const PoolsOutcome at_ease =
      evaluate_pools(*prefill->resolved, *decode->resolved, load, {.link_bytes_per_s = 400e9, .prefill_use = 0.5});
  EXPECT_NEAR(at_ease.prefill_engines, 2 * queued.prefill_engines, 1e-6 * queued.prefill_engines);
  EXPECT_GT(at_ease.ttft_s.mid, queued.prefill.prefill_s.mid);
}

TEST(Pools, SayWhichOfThemCannotRun) {
  InferenceQuery q;
  q.model = "deepseek-v3";
  q.device = "h200-sxm";
  q.tp = 1;
  q.gpus = q.dp = q.ep = 16;
  const auto fits = resolve(q, knowledge());
  q.gpus = q.dp = q.ep = 2;
  const auto does_not = resolve(q, knowledge());
  ASSERT_TRUE(fits && does_not);
  const InferenceLoad load{.mode = LoadMode::closed_loop, .isl = 2000, .osl = 500, .concurrency = 64};
  EXPECT_TRUE(evaluate_pools(*does_not->resolved, *fits->resolved, load, {}).prefill_fails);
  const PoolsOutcome decode = evaluate_pools(*fits->resolved, *does_not->resolved, load, {});
  EXPECT_EQ(decode.reason, Reason::out_of_memory);
  EXPECT_FALSE(decode.prefill_fails);
}

TEST(Pools, ASimulatedPoolThatCannotRunIsRefusedWithTheSmallestThatCan) {
  SimulationQuery s;
  s.deployment.model = "deepseek-v3";
  s.deployment.device = "h200-sxm";
  s.deployment.tp = s.deployment.gpus = 8;
  s.workload = fixed_workload(1000, 100);
  s.requests = 10;
  s.policies.disaggregation = Disaggregation{};
  s.policies.disaggregation->prefill = s.deployment;
  s.policies.disaggregation->prefill.tp = s.policies.disaggregation->prefill.gpus = 2;
  const auto refused = simulate(s, knowledge());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::infeasible);
  EXPECT_NE(refused.error().message.find("prefill pool"), std::string::npos) << refused.error().message;
  EXPECT_NE(refused.error().message.find("8 × h200-sxm, TP 8"), std::string::npos) << refused.error().message;
}

}  // namespace
}  // namespace ridge
