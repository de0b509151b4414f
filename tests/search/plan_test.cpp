// What a buyer may rely on.
#include "ridge/search/plan.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

#include "economics/cost_case.hpp"
#include "economics/economics_data.hpp"
#include "ridge/serve/simulation.hpp"
#include "search/buyer/buyer.hpp"
#include "world.hpp"

namespace ridge {
namespace {

using testing_support::bundle;
using testing_support::chat_goal;
using testing_support::economics;
using testing_support::knowledge;
using testing_support::priced;
using testing_support::random_serving_goal;
using testing_support::random_training_goal;

/// What the servers around its devices draw, as `ridge cost` counts it.
double hosts_of(const ServingPlan& plan) {
  return plan.gpus *
         host_watts(bundle().catalogue, economics(), *bundle().catalogue.find_device(plan.query.device), "");
}

ServingGoal chat() {
  ServingGoal goal = chat_goal({"h100-sxm", "mi300x", "l40s"});
  goal.ttft_s = 1;
  return goal;
}

TEST(Plan, ABudgetOrAPowerLimitIsNeverExceeded) {
  Random draws(21);
  int plans = 0;
  for (int i = 0; i < 12; ++i) {
    ServingGoal goal = random_serving_goal(draws);
    goal.request_rate = std::max(1.0, goal.request_rate);
    goal.objective = Objective::cost;
    goal.buyer.budget_usd = 5e4 * static_cast<double>(1 + draws.below(40));
    goal.buyer.power_w = 3e3 * static_cast<double>(1 + draws.below(40));
    const ServingVerdict verdict = priced(goal);
    for (const ServingPlan& plan : verdict.plans) {
      ASSERT_TRUE(plan.usd_per_hour);
      EXPECT_LE(*plan.usd_per_hour * 8760, goal.buyer.budget_usd * (1 + 1e-9));
      EXPECT_LE(plan.watts.mid + hosts_of(plan), goal.buyer.power_w * (1 + 1e-9));
      ++plans;
    }
    EXPECT_TRUE(!verdict.plans.empty() || !verdict.losers.empty());
  }
  EXPECT_GT(plans, 0);
  for (int i = 0; i < 12; ++i) {
    TrainingGoal goal = random_training_goal(draws);
    goal.tokens = 1e11;
    goal.buyer.budget_usd = 1e4 * static_cast<double>(1 + draws.below(100));
    const TrainingVerdict verdict = priced(goal);
    for (const TrainingPick& pick : verdict.plans) {
      ASSERT_TRUE(pick.usd);
      EXPECT_LE(pick.usd->mid, goal.buyer.budget_usd * (1 + 1e-9));
      ++plans;
    }
  }
}

// What is called the nearest feasible goal is feasible.
TEST(Plan, TheNearestGoalCanBeMet) {
  ServingGoal goal = chat();
  goal.tpot_s = 0.0005;
  goal.load = 1;
  goal.confidence = 0.5;
  const ServingVerdict refused = priced(goal);
  ASSERT_TRUE(refused.plans.empty());
  EXPECT_NE(refused.fails_first.find("TPOT"), std::string::npos) << refused.fails_first;
  ASSERT_FALSE(refused.nearest.empty());
  goal.tpot_s = refused.nearest.front().tpot_s.mid * 1.005;
  goal.ttft_s = std::max(goal.ttft_s, refused.nearest.front().ttft_s.mid * 1.005);
  const auto quest = prepare(goal, knowledge());
  ASSERT_TRUE(quest);
  EXPECT_FALSE(judge(*quest, search::search(*quest->problem, {}).findings, knowledge(), 0).plans.empty());
}

TEST(Plan, FinalistsAreSimulatedAndHoldTheLimitsAtTheNinetyFifthPercentile) {
  const ServingVerdict verdict = priced(chat());
  ASSERT_FALSE(verdict.plans.empty());
  for (const ServingPlan& plan : verdict.plans) {
    ASSERT_TRUE(plan.ttft_p95_s && plan.tpot_p95_s);
    EXPECT_LE(*plan.ttft_p95_s, 1.0);
    EXPECT_LE(*plan.tpot_p95_s, 0.04 * 1.001);
    EXPECT_EQ(plan.gpus, plan.replicas * plan.query.gpus);
  }
}

// Smaller probabilities never take more devices, and what is sized for one reaches it.
TEST(Plan, IsSizedForTheProbabilityAskedFor) {
  std::vector<int> gpus;
  for (const double confidence : {0.5, 0.8, 0.9}) {
    ServingGoal goal = chat();
    goal.buyer.devices = {"h100-sxm"};
    goal.request_rate = 400;
    goal.ttft_s = 4;
    goal.confidence = confidence;
    const ServingVerdict verdict = priced(goal);
    ASSERT_EQ(verdict.plans.size(), 1U) << confidence;
    const ServingPlan& plan = verdict.plans.front();
    ASSERT_TRUE(plan.sure.holds && plan.sure.holds_rate && plan.sure.holds_ttft);
    EXPECT_GE(*plan.sure.holds, confidence - 0.004);
    EXPECT_LE(*plan.sure.holds, std::min(*plan.sure.holds_rate, *plan.sure.holds_ttft) + 1e-9);
    gpus.push_back(plan.gpus);
    ASSERT_FALSE(plan.sure.ladder.empty());
    for (std::size_t i = 1; i < plan.sure.ladder.size(); ++i) {
      EXPECT_GE(plan.sure.ladder[i].gpus, plan.sure.ladder[i - 1].gpus);
    }
    ASSERT_TRUE(plan.sure.gpus_if_measured);
    EXPECT_LE(*plan.sure.gpus_if_measured, plan.gpus);
  }
  EXPECT_LE(gpus[0], gpus[1]);
  EXPECT_LE(gpus[1], gpus[2]);
  EXPECT_LT(gpus[0], gpus[2]);
}

// A service whose steps take s times as long is the predicted one at s times the rate, seen s times as slowly.
TEST(Plan, HoldsWhereStepsAreAsSlowAsTheProbabilityAllows) {
  ServingGoal goal = chat();
  goal.buyer.devices = {"h100-sxm"};
  goal.confidence = 0.9;
  const ServingVerdict verdict = priced(goal);
  ASSERT_FALSE(verdict.plans.empty());
  const ServingPlan& plan = verdict.plans.front();
  SimulationQuery q;
  q.deployment = plan.query;
  q.workload = fixed_workload(goal.isl, goal.osl);
  q.replicas = plan.replicas;
  const double slow = plan.sure.step.factor(*plan.sure.holds_rate);
  ASSERT_GT(slow, 1.1);
  q.load = {.kind = OfferedKind::rate, .rate = goal.request_rate * slow * (1 - 1e-9)};
  q.requests = plan.simulated_requests;
  q.limits = {.ttft = 0, .tpot = goal.tpot_s / slow * (1 + 1e-6), .e2e = 0, .share = 0.95};
  const auto slower = simulate(q, knowledge());
  ASSERT_TRUE(slower);
  EXPECT_FALSE(slower->overloaded);
  EXPECT_EQ(broken_limit(*slower, q.limits), "");
}

// A replica of many ranks has hundreds of requests at once: a simulation that ends before they are there finds it idle.
TEST(Plan, ReplicasAreFullBeforeTheyAreBelieved) {
  for (const int ep : {8, 16, 32}) {
    ServingGoal goal;
    goal.model = "deepseek-r1";
    goal.buyer.devices = {"gb200-nvl72"};
    goal.request_rate = 200;
    goal.isl = 2000;
    goal.osl = 1000;
    goal.ttft_s = 3;
    goal.tpot_s = 0.03;
    goal.ep = ep;
    const ServingVerdict verdict = priced(goal);
    ASSERT_FALSE(verdict.plans.empty());
    const ServingPlan& plan = verdict.plans.front();
    EXPECT_EQ(plan.query.ep, ep);
    EXPECT_LT(plan.load(), 0.85) << "with 80 % there is room for steps that take longer";
  }
}

/// What `times` as many requests see where steps take `slow` times as long, in units of what is predicted.
SimulationResult played(const ServingGoal& goal, const ServingPlan& plan, double times, double slow) {
  SimulationQuery q;
  q.deployment = plan.query;
  q.workload = fixed_workload(goal.isl, goal.osl);
  q.replicas = plan.replicas;
  q.load = {.kind = OfferedKind::rate, .rate = goal.request_rate * slow};
  q.requests = times * plan.simulated_requests;
  q.limits = {.ttft = goal.ttft_s / slow, .tpot = goal.tpot_s / slow, .e2e = 0, .share = 0.95};
  auto result = simulate(q, knowledge());
  EXPECT_TRUE(result);
  return result ? *std::move(result) : SimulationResult{};
}

// What holds in the requests that are simulated holds in ten times as many, as slow as the plan says it may be; and
// what is shown is what `ridge simulate` sees of a saved plan.
TEST(Plan, HoldsHoweverLongItIsSimulated) {
  for (const auto& [ep, rate, tpot] :
       {std::tuple{32, 200.0, 0.03}, {32, 60.0, 0.02}, {16, 100.0, 0.03}, {8, 40.0, 0.03}}) {
    SCOPED_TRACE(testing::Message() << "EP " << ep << " at " << rate << " a second");
    ServingGoal goal;
    goal.model = "deepseek-r1";
    goal.buyer.devices = {"gb200-nvl72"};
    goal.request_rate = rate;
    goal.isl = 2000;
    goal.osl = 1000;
    goal.ttft_s = 3;
    goal.tpot_s = tpot;
    goal.ep = ep;
    const ServingVerdict verdict = priced(goal);
    ASSERT_FALSE(verdict.plans.empty());
    const ServingPlan& plan = verdict.plans.front();
    ASSERT_LE(plan.replicas, 12) << "take a lower rate: more are simulated by the dozen";
    const SimulationResult shown = played(goal, plan, 1, 1);
    EXPECT_EQ(shown.ttft.p95(), *plan.ttft_p95_s);
    EXPECT_EQ(shown.tpot.p95(), *plan.tpot_p95_s);
    constexpr double kChance = 1.03;  // arrivals of a longer run are others
    const double slow = plan.sure.step.factor(*plan.sure.holds_rate);
    ASSERT_GT(slow, 1.1);
    for (const double speed : {1.0, slow}) {
      const SimulationResult longer = played(goal, plan, 10, speed);
      EXPECT_FALSE(longer.overloaded) << speed;
      EXPECT_LE(longer.tpot.p95() * speed, goal.tpot_s * kChance) << speed;
    }
  }
}

TEST(Plan, TheLoadAskedForBinds) {
  ServingGoal goal = chat();
  const ServingVerdict free = priced(goal);
  goal.load = goal.load_at_most = 0.4;
  const ServingVerdict bound = priced(goal);
  ASSERT_FALSE(free.plans.empty());
  ASSERT_FALSE(bound.plans.empty());
  bool more = false;
  for (const ServingPlan& plan : bound.plans) {
    EXPECT_LE(plan.load(), 0.4 + 1e-9);
    for (const ServingPlan& other : free.plans) {
      if (other.query.device != plan.query.device) continue;
      EXPECT_GE(plan.gpus, other.gpus) << plan.query.device;
      more = more || plan.gpus > other.gpus;
    }
  }
  EXPECT_TRUE(more);
}

// Ranks around shared experts step together: by the mean, 24 of them are the cheapest way to serve DeepSeek-R1 in
// SGLang, and prompts that come at random hold all of them up. What means promise and simulation refuses does not lose
// the device: layouts with fewer ranks, or none, are its next.
TEST(Plan, ADeviceIsNotLostWithItsWidestLayout) {
  ServingGoal goal;
  goal.model = "deepseek-r1";
  goal.engine = "sglang";
  goal.buyer.devices = {"gb200-nvl72"};
  goal.request_rate = 200;
  goal.isl = goal.osl = 1000;
  goal.tpot_s = 0.03;
  const auto quest = prepare(goal, knowledge());
  ASSERT_TRUE(quest) << quest.error().text();
  const Findings findings = search::search(*quest->problem, {}).findings;
  const search::ServingPoint widest = quest->problem->point(0, findings.groups[0].best.front().index);
  EXPECT_GT(widest.query->dp, 4);
  const ServingVerdict verdict = judge(*quest, findings, knowledge(), 1);
  ASSERT_EQ(verdict.plans.size(), 1U) << verdict.fails_first;
  EXPECT_LE(verdict.plans[0].query.dp, 4);
  EXPECT_GT(verdict.plans[0].simulated_requests, 0);
  EXPECT_LE(verdict.plans[0].tpot_p95_s, goal.tpot_s);
  for (const Loser& loser : verdict.losers) EXPECT_NE(loser.device, "gb200-nvl72") << "it has not lost: " << loser.why;
}

TEST(Plan, EveryRowSaysHowLikelyItIsTheBest) {
  const ServingVerdict verdict = priced(chat());
  double all = 0;
  for (const ServingPlan& plan : verdict.plans) all += plan.sure.best;
  EXPECT_NEAR(all, 1, 1e-9);
  EXPECT_GE(verdict.regret, 0);
}

TEST(Plan, ARunIsDoneByItsDeadlineWithTheProbabilityAskedFor) {
  TrainingGoal goal;
  goal.model = "llama3.1-8b";
  goal.tokens = 1e12;
  goal.days = 20;
  goal.buyer.devices = {"h100-sxm", "mi300x"};
  for (const double confidence : {0.5, 0.9}) {
    goal.confidence = confidence;
    const TrainingVerdict verdict = priced(goal);
    ASSERT_FALSE(verdict.plans.empty());
    for (const TrainingPick& pick : verdict.plans) {
      ASSERT_TRUE(pick.holds_days && pick.days_sure);
      EXPECT_GE(*pick.holds_days, confidence - 1e-9);
      EXPECT_LE(*pick.days_sure, goal.days * (1 + 1e-9));
      EXPECT_GE(*pick.days_sure, pick.days->mid * (1 - 1e-9));
    }
  }
}

TEST(Plan, HalfTheLoadNeverNeedsMoreDevices) {
  ServingGoal goal = chat();
  goal.objective = Objective::gpus;
  const ServingVerdict all = priced(goal);
  goal.request_rate /= 2;
  const ServingVerdict half = priced(goal);
  ASSERT_FALSE(all.plans.empty());
  ASSERT_FALSE(half.plans.empty());
  EXPECT_LE(half.plans.front().gpus, all.plans.front().gpus);
}

TEST(Plan, MoreDevicesThanAnyoneHasAreRefusedWithTheirNumber) {
  ServingGoal goal = chat();
  goal.request_rate = 1e10;
  const ServingVerdict verdict = priced(goal);
  EXPECT_TRUE(verdict.plans.empty());
  ASSERT_EQ(verdict.losers.size(), 3U);
  for (const Loser& loser : verdict.losers) {
    EXPECT_EQ(loser.limit, "devices") << loser.why;
    EXPECT_GT(loser.by, 10);
  }
  for (const ServingPlan& plan : verdict.nearest) {
    EXPECT_GT(plan.gpus, 10'000'000);
    EXPECT_GT(plan.replicas, 0);
  }
  ASSERT_FALSE(verdict.nearest_goal.empty());
  EXPECT_EQ(verdict.nearest_goal.back().field, "request_rate");
}

TEST(Plan, UnpublishedPowerNeitherWinsNorPassesALimit) {
  ASSERT_FALSE(bundle().catalogue.device("tpu-v6e")->tdp);
  ServingGoal goal = chat();
  goal.buyer.devices = {"h100-sxm", "tpu-v6e"};
  const auto left_out = [&] {
    const ServingVerdict verdict = priced(goal);
    return std::any_of(verdict.losers.begin(), verdict.losers.end(), [](const Loser& loser) {
      return loser.device == "tpu-v6e" && loser.why == "its power is not published" && !loser.searched;
    });
  };
  EXPECT_FALSE(left_out());
  goal.objective = Objective::energy;
  EXPECT_TRUE(left_out());
  goal.objective = Objective::cost;
  goal.buyer.power_w = 1e6;
  EXPECT_TRUE(left_out());
}

TEST(Plan, NoPlanOfTheFrontIsFasterAtThePriceOfTheBest) {
  for (const char* device : {"gaudi3-oam", "tpu-v6e", "l40s", "h100-sxm"}) {
    ServingGoal goal;
    goal.model = "llama3.3-70b";
    goal.request_rate = 5;
    goal.ttft_s = 2;
    goal.tpot_s = 0.1;
    goal.buyer.devices = {device};
    const auto quest = prepare(goal, knowledge(), &economics());
    ASSERT_TRUE(quest);
    const ServingVerdict verdict = judge(*quest, search::search(*quest->problem, {}).findings, knowledge(), 0);
    ASSERT_FALSE(verdict.plans.empty()) << device;
    const ServingPlan& best = verdict.plans.front();
    for (const ServingPlan& other : verdict.front) {
      if (other.usd_per_hour != best.usd_per_hour) continue;
      EXPECT_LE(best.e2e_s.mid, other.e2e_s.mid) << device;
    }
  }
}

TEST(Plan, AFleetCostsNothingMore) {
  ServingGoal goal = chat();
  goal.buyer.fleet = {{"l40s", 1000}};
  const ServingVerdict verdict = priced(goal);
  ASSERT_FALSE(verdict.plans.empty());
  EXPECT_EQ(verdict.plans.front().query.device, "l40s");
  EXPECT_EQ(verdict.plans.front().usd_per_hour, 0.0);
  // Nothing is cheaper than nothing: no saving, and no pool that is dearer by a share of zero.
  EXPECT_FALSE(verdict.change);
  EXPECT_TRUE(verdict.alternatives.empty());
}

// Simulated requests may need a replica more or fewer than the mean: what is paid follows.
TEST(Plan, WhatAFleetLacksIsPaidFor) {
  ServingGoal goal = chat();
  goal.model = "llama3.3-70b";
  goal.buyer.devices = {"h200-sxm"};
  const ServingVerdict all = priced(goal);
  ASSERT_FALSE(all.plans.empty());
  const ServingPlan& bought = all.plans.front();
  for (int owned = bought.gpus - 4; owned <= bought.gpus + 4; ++owned) {
    goal.buyer.fleet = {{"h200-sxm", owned}};
    const ServingVerdict verdict = priced(goal);
    ASSERT_FALSE(verdict.plans.empty());
    const ServingPlan& plan = verdict.plans.front();
    EXPECT_NEAR(*plan.usd_per_hour, std::max(0, plan.gpus - owned) * *bought.usd_per_gpu_hour, 1e-9) << owned;
  }
}

TEST(Plan, AFleetThatNobodySellsNeedsNoPrice) {
  ServingGoal goal = chat();
  goal.request_rate = 1;
  const Buyer nobody;
  for (const Device& device : bundle().catalogue.devices()) {
    if (device.status == Sale::announced || price_of(bundle().catalogue, device.id, nobody, &economics())) continue;
    goal.buyer.devices = {device.id};
    const auto quest = prepare(goal, knowledge(), &economics());
    if (!quest) continue;
    const Findings found = search::search(*quest->problem, {}).findings;
    if (found.groups.front().best.empty() || found.groups.front().best.front().violation > 0) continue;
    EXPECT_TRUE(judge(*quest, found, knowledge(), 0).plans.empty()) << device.id << " has no price";
    goal.buyer.fleet = {{device.id, 1000}};
    const ServingVerdict verdict = priced(goal);
    goal.buyer.fleet.clear();
    if (verdict.plans.empty()) continue;  // not with the confidence that is usual
    EXPECT_EQ(verdict.plans.front().usd_per_hour, 0.0);
    return;
  }
  FAIL() << "every device has a price: nothing was tested";
}

// A plan that is refused for the power of its hosts says so.
TEST(Plan, PowerIsCountedWithHosts) {
  ServingGoal goal = chat();
  goal.buyer.devices = {"h100-sxm"};
  const ServingVerdict free = priced(goal);
  ASSERT_FALSE(free.plans.empty());
  goal.buyer.power_w = free.plans.front().watts.mid * 1.02;  // of the devices alone
  goal.load = 1;
  const ServingVerdict refused = priced(goal);
  for (const ServingPlan& plan : refused.plans) {
    EXPECT_LE(plan.watts.mid + hosts_of(plan), goal.buyer.power_w);
  }
  goal.buyer.power_w = 1500;
  goal.load = 0.8;
  const ServingVerdict tight = priced(goal);
  ASSERT_TRUE(tight.plans.empty());
  EXPECT_NE(tight.fails_first.find("with its hosts"), std::string::npos) << tight.fails_first;
}

TEST(Plan, NoReplicaIsGivenMoreThanItCanDo) {
  Random draws(4);
  for (int i = 0; i < 8; ++i) {
    ServingGoal goal = random_serving_goal(draws);
    goal.buyer.power_w = goal.buyer.budget_usd = 0;
    for (const ServingPlan& plan : priced(goal).plans) {
      EXPECT_LE(plan.load(), 1 + 1e-9);
      EXPECT_GT(plan.load(), 0);
    }
  }
}

TEST(Plan, DevicesMayGoUnderEverydayNames) {
  ServingGoal goal = chat();
  goal.buyer.devices = {"L40S", "NVIDIA H100 80GB HBM3"};
  goal.buyer.fleet = {{"NVIDIA L40S", 1000}};
  const ServingVerdict verdict = priced(goal);
  ASSERT_FALSE(verdict.plans.empty());
  EXPECT_EQ(verdict.plans.front().query.device, "l40s");
  EXPECT_EQ(verdict.plans.front().usd_per_hour, 0.0);
  goal.buyer.fleet = {{"no-such-card", 8}};
  EXPECT_FALSE(prepare(goal, knowledge()).ok());
}

TEST(Plan, OneVendorAloneIsRefusedWhereItMayNotHaveAll) {
  ServingGoal goal = chat();
  goal.buyer.vendor_share = 0.6;
  const ServingVerdict both = priced(goal);
  ASSERT_FALSE(both.plans.empty());
  ASSERT_FALSE(both.alternatives.empty());
  EXPECT_NE(both.alternatives.front().text.find("mi300x"), std::string::npos);
  goal.buyer.devices = {"h100-sxm", "l40s"};
  const ServingVerdict one = priced(goal);
  EXPECT_TRUE(one.plans.empty());
  EXPECT_NE(one.fails_first.find("vendor-share"), std::string::npos);
}

// Two replicas more of seventeen raised the probability by less than what the looks resolve: the limit was said to be
// out of reach at 78 %, where three more hold it with 80 %.
TEST(Plan, ALimitIsOutOfReachOnlyWhereManyMoreReplicasDoNotHelp) {
  ServingGoal goal = chat_goal({"mi300x"});
  goal.model = "llama3.3-70b";
  goal.request_rate = 50;
  goal.ttft_s = 1;
  for (const double confidence : {0.7, 0.75, 0.8, 0.82}) {
    goal.confidence = confidence;
    const ServingVerdict verdict = priced(goal);
    EXPECT_FALSE(verdict.plans.empty()) << confidence << ": " << verdict.fails_first;
  }
}

TEST(Plan, FailuresMakeARunLonger) {
  TrainingGoal goal;
  goal.model = "llama3.1-70b";
  goal.tokens = 1e12;
  goal.gpus = {4096};
  goal.buyer.devices = {"h100-sxm"};
  const TrainingVerdict counted = priced(goal);
  goal.goodput = 1;
  const TrainingVerdict ideal = priced(goal);
  ASSERT_FALSE(counted.plans.empty());
  ASSERT_FALSE(ideal.plans.empty());
  EXPECT_LT(counted.plans.front().goodput, 1);
  EXPECT_GT(counted.plans.front().days->mid, ideal.plans.front().days->mid);
  EXPECT_FALSE(counted.plans.front().confirmed.empty());
}

TEST(Buyer, LimitsLeaveDevicesOutForTheReasonGiven) {
  const auto why = [&](const char* device, const Buyer& buyer) {
    const auto loser = search::refused(*bundle().catalogue.device(device), buyer, knowledge());
    return loser ? loser->limit : "";
  };
  Buyer buyer;
  EXPECT_EQ(why("h100-sxm", buyer), "");
  EXPECT_EQ(why("rubin-vr200", buyer), "delivery");
  buyer.rack_w = 8e3;
  EXPECT_EQ(why("h100-sxm", buyer), "rack");
  buyer = {};
  buyer.air_cooled = true;
  EXPECT_EQ(why("gb200-nvl72", buyer), "cooling");
  buyer = {};
  buyer.avoid_vendors = {"nvidia"};
  EXPECT_EQ(why("h100-sxm", buyer), "vendor");
  EXPECT_EQ(why("mi300x", buyer), "");
  buyer = {};
  buyer.destination = "China";
  buyer.export_licence = true;
  buyer.licence_free = {"Huawei"};
  EXPECT_EQ(why("h100-sxm", buyer), "export");
  EXPECT_EQ(why("h20-96", buyer), "");
  EXPECT_EQ(why("l40", buyer), "");  // whose density nobody knows
  buyer.dies = {{"AD102", 608}, {"AD104", 294.5}, {"GA102", 628}};
  EXPECT_EQ(why("l40", buyer), "export");  // 2,896 and 4.8 per mm2: 3A090.b
  EXPECT_EQ(why("l4", buyer), "export");   // 1,936 and 6.6 per mm2: 3A090.a
  EXPECT_EQ(why("l20", buyer), "");        // 1,912 and 3.1 per mm2: made to lie below
  EXPECT_EQ(why("rtx4090d", buyer), "");   // 4,704 and 7.7, but no card for data centres
  EXPECT_EQ(why("ascend-910b", buyer), "");
  buyer.devices = {"h20-96", "l20"};
  const auto left = search::candidates(buyer, Objective::cost, knowledge());
  ASSERT_TRUE(left);
  EXPECT_EQ(left->devices.size(), 2U);
  EXPECT_EQ(left->by_letter, std::vector<std::string>{"h20-96"});
  buyer.devices = {};
  EXPECT_EQ(why("ascend-910b", buyer), "");
  EXPECT_EQ(why("inferentia2", buyer), "");
  buyer.elsewhere = {"AWS"};
  EXPECT_EQ(why("inferentia2", buyer), "place");
  buyer = {};
  buyer.power_w = 1e6;
  EXPECT_EQ(why("h100-sxm", buyer), "");
  EXPECT_EQ(why("tpu-v6e", buyer), "figures");
}

// 2 x MacTOPS x bits = dense TOPS x bits: 148 TFLOP/s in 16 bits and 296 in 8 are both 2,368 on an H20.
TEST(Buyer, ProcessingPerformanceIsOperationsTimesBits) {
  EXPECT_NEAR(search::total_processing_performance(*bundle().catalogue.device("h20-96")), 2368, 10);
  EXPECT_NEAR(search::total_processing_performance(*bundle().catalogue.device("h100-sxm")), 15824, 160);
}

TEST(Prices, OwningAndRentingArePricedFromTheirOwnLists) {
  Buyer buyer;
  const auto rent = price_of(bundle().catalogue, "h100-sxm", buyer, &economics());
  ASSERT_TRUE(rent);
  EXPECT_GT(rent->quotes, 3);
  EXPECT_LE(rent->low, rent->mid);
  EXPECT_LE(rent->mid, rent->high);
  buyer.purchase = Purchase::spot;
  const auto spot = price_of(bundle().catalogue, "h100-sxm", buyer, &economics());
  ASSERT_TRUE(spot);
  EXPECT_LT(spot->mid, rent->mid);
  buyer.purchase = Purchase::own;
  const auto own = price_of(bundle().catalogue, "h100-sxm", buyer, &economics());
  ASSERT_TRUE(own);
  EXPECT_GT(own->mid, 0.5);
  EXPECT_LT(own->mid, rent->mid);
  EXPECT_FALSE(price_of(bundle().catalogue, "h100-sxm", buyer, nullptr));
}

}  // namespace
}  // namespace ridge
