// What a plan stands beyond its mean: spares, peaks, days.
#include "ridge/search/headroom.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <sstream>

#include "economics/economics_data.hpp"
#include "ridge/base/text.hpp"
#include "ridge/search/plan.hpp"
#include "ridge/serve/simulation.hpp"
#include "world.hpp"

namespace ridge {
namespace {

using testing_support::bundle;
using testing_support::chat_goal;
using testing_support::economics;
using testing_support::knowledge;
using testing_support::priced;

ServingGoal busy_chat() {
  return chat_goal({"h100-sxm"});
}

// A server of eight takes four replicas of two along, and the only one of sixteen.
TEST(Spares, TakeAlongWhatStandsInThem) {
  EXPECT_EQ(parse_spares("N+1")->replicas(2, 8, 32), 1);
  EXPECT_EQ(parse_spares("n+2")->replicas(2, 8, 32), 2);
  EXPECT_EQ(parse_spares("node")->replicas(2, 8, 32), 4);
  EXPECT_EQ(parse_spares("node")->replicas(16, 8, 32), 1);
  EXPECT_EQ(parse_spares("rack")->replicas(8, 8, 72), 9);
  EXPECT_EQ(parse_spares("none")->replicas(8, 8, 72), 0);
  for (const char* word : {"N+", "-1", "1.5", "row", ""}) EXPECT_FALSE(parse_spares(word)) << word;
}

TEST(Peak, IsAtLeastTheMean) {
  EXPECT_EQ(*parse_peak("3x"), 3);
  EXPECT_EQ(*parse_peak("250%"), 2.5);
  EXPECT_EQ(*parse_peak("1"), 1);
  for (const char* word : {"0.5x", "x", "-2", "1e9x"}) EXPECT_FALSE(parse_peak(word)) << word;
}

TEST(Traffic, IsReadAsSharesOfItsMean) {
  const auto day = parse_traffic("hour,requests_per_s\n0,10\n1,20\n2,60\n3,30\n", "day.csv");
  ASSERT_TRUE(day) << day.error().text();
  EXPECT_EQ(day->mean_rate, 30);
  EXPECT_EQ(day->peak(), 2);
  EXPECT_EQ(day->hours(), 4);
  EXPECT_EQ(std::accumulate(day->parts.begin(), day->parts.end(), 0.0), 4);
  const auto shares = parse_traffic("hour,share\n0,1\n0.5,3\n", "half.csv");
  ASSERT_TRUE(shares);
  EXPECT_EQ(shares->mean_rate, 0);
  EXPECT_EQ(shares->part_hours, 0.5);
  for (const char* wrong : {"hour,share\n0,1\n", "hour,share\n0,1\n1,-1\n", "hour,share\n0,0\n1,0\n",
                            "hour,share\n0,1\n1,1\n3,1\n", "hour,share\n1,1\n0,1\n", "hour,x\n0,1\n1,2\n"}) {
    EXPECT_FALSE(parse_traffic(wrong, "wrong.csv")) << wrong;
  }
}

// Four parts of a quarter of the month: 2, 3, 5 and 3 replicas of two devices, one of them spare.
TEST(Month, CostsTheReplicasThatTrafficTakes) {
  TrafficShape day{"day", {0.25, 0.75, 2.0, 1.0}, 6, 0};
  const MonthlyBill bill = month_of({5, 1, 2}, day, {3.0, 2.0, {}}, 0);
  EXPECT_EQ(bill.replicas, (std::vector<int>{2, 3, 5, 3}));
  EXPECT_NEAR(bill.gpu_hours, 2 * kHoursAMonth * (2 + 3 + 5 + 3) / 4, 1e-6);
  ASSERT_FALSE(bill.ways.empty());
  for (std::size_t i = 1; i < bill.ways.size(); ++i) EXPECT_GE(bill.ways[i].usd, bill.ways[i - 1].usd);
  // Replica 3 runs three quarters of the month: 0.75 x 3 > 2, reserved; the others half of it at most.
  EXPECT_NEAR(bill.ways.front().usd, 2 * kHoursAMonth * (3 * 2.0 + 0.25 * 2 * 3.0), 1e-6) << bill.ways.front().text;
  // Each replica that is to come is there ten minutes before, once a day for the climb from 2 to 3 and 3 to 5.
  const MonthlyBill early = month_of({5, 1, 2}, day, {3.0, 2.0, {}}, 600);
  EXPECT_NEAR(early.gpu_hours - bill.gpu_hours, 2 * kHoursAMonth / 24 * 3 / 6, 1e-6);
}

TEST(Headroom, SparesComeOnTopOfWhatThePeakTakes) {
  const ServingGoal plain = busy_chat();
  ServingGoal peak = plain;
  peak.peak = 3;
  ServingGoal thrice = plain;
  thrice.request_rate *= 3;
  const ServingVerdict at_peak = priced(peak);
  const ServingVerdict at_thrice = priced(thrice);
  ASSERT_FALSE(at_peak.plans.empty() || at_thrice.plans.empty());
  EXPECT_EQ(at_peak.plans.front().gpus, at_thrice.plans.front().gpus);
  // Tokens are those of the mean: a third of them pay for the same devices.
  EXPECT_NEAR(at_peak.plans.front().usd_per_million->mid, 3 * at_thrice.plans.front().usd_per_million->mid, 1e-9);
  ServingGoal spare = peak;
  spare.spares = *parse_spares("N+1");
  const ServingVerdict with_spare = priced(spare);
  ASSERT_FALSE(with_spare.plans.empty());
  const ServingPlan& plan = with_spare.plans.front();
  EXPECT_EQ(plan.spares, 1);
  EXPECT_GT(plan.gpus, at_peak.plans.front().gpus);
  EXPECT_LE(plan.load(), 1.0 / 3);
}

TEST(Headroom, ALoadAtMostIsThatOfThePeak) {
  ServingGoal goal = busy_chat();
  goal.peak = 2;
  goal.load_at_most = 0.5;
  const ServingVerdict verdict = priced(goal);
  ASSERT_FALSE(verdict.plans.empty());
  EXPECT_LE(2 * verdict.plans.front().load(), 0.5 * 1.02);
}

// Whichever replica breaks at the busiest time, and does not come back: its requests start over on the others.
TEST(Headroom, AnyReplicaMayBreakAtThePeak) {
  ServingGoal goal = busy_chat();
  goal.peak = 2;
  goal.spares = *parse_spares("N+1");
  const ServingVerdict verdict = priced(goal);
  ASSERT_FALSE(verdict.plans.empty());
  const ServingPlan& plan = verdict.plans.front();
  ASSERT_GE(plan.replicas, 2);
  SimulationQuery q;
  q.deployment = plan.query;
  q.workload = fixed_workload(goal.isl, goal.osl);
  q.replicas = plan.replicas;
  q.load.kind = OfferedKind::rate;
  q.load.rate = goal.peak_rate();
  q.requests = 4000;
  q.limits = {goal.ttft_s, goal.tpot_s, goal.e2e_s, 0.95};
  q.policies.failures.repair = 1e6;
  for (int killed = 1; killed <= plan.replicas; ++killed) {
    q.policies.failures.killed = killed;
    q.policies.failures.killed_at = 0.4 * q.requests / q.load.rate;
    const auto result = simulate(q, knowledge());
    ASSERT_TRUE(result) << result.error().text();
    EXPECT_EQ(result->failures, 1u);
    EXPECT_FALSE(result->overloaded) << killed;
    EXPECT_EQ(broken_limit(*result, q.limits), "") << killed;
    EXPECT_GE(static_cast<double>(result->good), 0.95 * static_cast<double>(result->arrived)) << killed;
  }
}

// A day of parts brings as many requests as its mean rate, when they are due.
TEST(Headroom, AFleetForThePeakHoldsTheWholeDay) {
  ServingGoal goal = busy_chat();
  goal.request_rate = 10;
  goal.traffic = TrafficShape{"day", {0.2, 0.4, 1.4, 2.0}, 6, 10};
  goal.peak = goal.traffic->peak();
  const ServingVerdict verdict = priced(goal);
  ASSERT_FALSE(verdict.plans.empty());
  ASSERT_TRUE(verdict.month);
  EXPECT_FALSE(verdict.month->ways.empty());
  SimulationQuery q;
  q.deployment = verdict.plans.front().query;
  q.workload = fixed_workload(goal.isl, goal.osl);
  q.workload.arrivals.kind = ArrivalKind::diurnal;
  q.workload.arrivals.period = 2000;
  q.workload.arrivals.parts = goal.traffic->parts;
  q.replicas = verdict.plans.front().replicas;
  q.load.kind = OfferedKind::rate;
  q.load.rate = goal.request_rate;
  q.requests = 0;
  q.duration = 2000;
  q.limits = {goal.ttft_s, goal.tpot_s, goal.e2e_s, 0.95};
  const auto result = simulate(q, knowledge());
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_NEAR(static_cast<double>(result->arrived), 20000, 5 * std::sqrt(20000.0));
  EXPECT_EQ(broken_limit(*result, q.limits), "");
}

// Requests as they are published: chats and completions of code (Azure's traces), long chats with files (Mooncake's),
// their lengths and bursts too. A fleet planned for the busiest hour of an office day holds the day.
TEST(Headroom, AFleetForThePeakHoldsADayOfPublishedTraffic) {
  struct Service {
    const char* name;
    double ttft_s, tpot_s;
    bool as_it_varies;  ///< planned with the workload, or with its means
  };
  for (const Service& service :
       {Service{"chat", 2, 0.04, false}, Service{"code", 2, 0.04, false}, Service{"chat", 2, 0.04, true},
        Service{"code", 2, 0.04, true}, Service{"mooncake", 8, 0.1, true}}) {
    const auto workload = find_workload(std::string(RIDGE_DATA_DIR) + "/workloads", service.name);
    ASSERT_TRUE(workload) << workload.error().text();
    ServingGoal goal = busy_chat();
    goal.isl = workload->mean_input();
    goal.osl = workload->mean_output();
    if (service.as_it_varies) goal.workload = *workload;
    goal.ttft_s = service.ttft_s;
    goal.tpot_s = service.tpot_s;
    goal.request_rate = 10;
    goal.traffic = TrafficShape{"day", {0.3, 0.2, 0.4, 1.5, 2.0, 1.8, 1.2, 0.6}, 3, 10};
    goal.peak = goal.traffic->peak();
    const ServingVerdict verdict = priced(goal);
    ASSERT_FALSE(verdict.plans.empty()) << service.name << verdict.fails_first;
    SimulationQuery q;
    q.deployment = verdict.plans.front().query;
    q.workload = *workload;
    q.workload.arrivals.kind = ArrivalKind::diurnal;
    q.workload.arrivals.period = 2400;
    q.workload.arrivals.parts = goal.traffic->parts;
    q.replicas = verdict.plans.front().replicas;
    q.load.kind = OfferedKind::rate;
    q.load.rate = goal.request_rate;
    q.requests = 0;
    q.duration = 2400;
    q.limits = {goal.ttft_s, goal.tpot_s, goal.e2e_s, 0.95};
    const auto result = simulate(q, knowledge());
    ASSERT_TRUE(result) << result.error().text();
    EXPECT_EQ(broken_limit(*result, q.limits), "") << service.name << ", " << q.replicas << " replicas";
    EXPECT_GE(static_cast<double>(result->good), 0.95 * static_cast<double>(result->arrived)) << service.name;
  }
}

// An update restarts one replica after the other while another is broken: both are down at the busiest time.
TEST(Headroom, AnUpdateRollsBesideAFailure) {
  ServingGoal goal = busy_chat();
  goal.peak = 2;
  goal.spares = *parse_spares("N+1");
  const ServingVerdict without = priced(goal);
  goal.spares.rolling = 1;
  const ServingVerdict verdict = priced(goal);
  ASSERT_FALSE(verdict.plans.empty() || without.plans.empty());
  const ServingPlan& plan = verdict.plans.front();
  EXPECT_EQ(plan.spares, 2);
  EXPECT_EQ(plan.gpus, without.plans.front().gpus + plan.query.gpus);
  SimulationQuery q;
  q.deployment = plan.query;
  q.workload = fixed_workload(goal.isl, goal.osl);
  q.replicas = plan.replicas - 1;  // one is being updated
  q.load.kind = OfferedKind::rate;
  q.load.rate = goal.peak_rate();
  q.requests = 4000;
  q.limits = {goal.ttft_s, goal.tpot_s, goal.e2e_s, 0.95};
  q.policies.failures.repair = 1e6;
  q.policies.failures.killed = 1;
  q.policies.failures.killed_at = 0.4 * q.requests / q.load.rate;
  const auto result = simulate(q, knowledge());
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(broken_limit(*result, q.limits), "");
}

TEST(Unpriced, WouldWinBelowWhatTheBestCosts) {
  ServingGoal goal = busy_chat();
  goal.buyer.devices = {"h100-sxm", "h800-sxm", "gh200-144"};
  const ServingVerdict verdict = priced(goal);
  ASSERT_FALSE(verdict.plans.empty());
  ASSERT_FALSE(verdict.unpriced.empty()) << "take other devices: these have a price by now";
  for (const UnpricedPlan& one : verdict.unpriced) {
    ASSERT_TRUE(one.wins_below);
    EXPECT_NEAR(*one.wins_below * one.plan.gpus, *verdict.plans.front().usd_per_hour, 1e-9);
    EXPECT_FALSE(one.plan.usd_per_hour);
  }
  for (std::size_t i = 1; i < verdict.unpriced.size(); ++i) {
    EXPECT_LE(*verdict.unpriced[i].wins_below, *verdict.unpriced[i - 1].wins_below);
  }
}

ServingGoal with_changes(ServingGoal goal, const Changes& changes) {
  for (const auto& [field, value] : changes) {
    if (field == "ttft") goal.ttft_s = parse_quantity<Seconds>(value)->value();
    if (field == "tpot") goal.tpot_s = parse_quantity<Seconds>(value)->value();
    if (field == "e2e") goal.e2e_s = parse_quantity<Seconds>(value)->value();
    if (field == "budget") goal.buyer.budget_usd = parse_quantity<Dollars>(value.substr(0, value.find('/')))->value();
    if (field == "power") goal.buyer.power_w = parse_quantity<Watts>(value)->value();
    if (field == "gpus") goal.buyer.gpus = std::stoi(value);
    if (field == "confidence") goal.confidence = std::stod(value) / 100;
  }
  return goal;
}

// What is called the nearest goal is met, with the probability asked for and all other limits as they were.
TEST(NearestGoal, IsMet) {
  std::vector<ServingGoal> impossible(6, busy_chat());
  impossible[0].tpot_s = 0.002;
  impossible[1].ttft_s = 0.02;
  impossible[2].buyer.budget_usd = 2e4;
  impossible[3].tpot_s = 0.003;
  impossible[3].buyer.gpus = 2;
  // Devices whose price nobody knows come no nearer to a budget.
  impossible[4].ttft_s = 0.02;
  impossible[4].buyer.budget_usd = 1e5;
  impossible[4].buyer.devices = {"h100-sxm", "h800-sxm", "gh200-144"};
  impossible[5].tpot_s = 0.003;
  impossible[5].buyer.power_w = 3e3;
  impossible[5].confidence = 0.95;
  for (const ServingGoal& goal : impossible) {
    const ServingVerdict refused = priced(goal);
    ASSERT_TRUE(refused.plans.empty());
    ASSERT_FALSE(refused.fails_first.empty());
    ASSERT_FALSE(refused.nearest_goal.empty()) << refused.fails_first;
    SCOPED_TRACE(refused.fails_first + " → " + as_flags(refused.nearest_goal));
    EXPECT_FALSE(priced(with_changes(goal, refused.nearest_goal)).plans.empty());
    // What is held of the goal as it is: with that probability, and not with that asked for.
    ASSERT_TRUE(refused.holds_with);
    EXPECT_LT(refused.holds_with->confidence, goal.confidence);
    if (refused.holds_with->confidence <= 0) continue;
    ServingGoal less = goal;
    less.confidence = refused.holds_with->confidence;
    less.buyer.devices = {refused.holds_with->device};
    EXPECT_FALSE(priced(less).plans.empty());
  }
}

}  // namespace
}  // namespace ridge
