// Which ranks stand together, and what the network between them costs.
#include <gtest/gtest.h>

#include "perf/training/network.hpp"
#include "ridge/perf/traffic.hpp"
#include "support/training_jobs.hpp"

namespace ridge {
namespace {

using testing_support::job_of;
using testing_support::kEven;
using testing_support::knowledge;

TrainingQuery question(TrainingPlan plan, const char* model = kEven, const char* engine = "megatron-lm") {
  TrainingQuery query;
  query.model = model;
  query.device = "h100-sxm";
  query.engine = engine;
  query.plan = plan;
  return query;
}

TrainingEstimate estimate(const TrainingQuery& query) {
  const TrainingJob job = job_of(query);
  const TrainingOutcome o = evaluate(*job.resolved, job.plan);
  EXPECT_EQ(o.reason, Reason::none) << name(o.reason);
  return o.estimate;
}
double phase(const TrainingEstimate& e, TrainingPhase p) {
  return e.phases_s[static_cast<std::size_t>(p)];
}
Degrees degrees(const TrainingJob& job) {
  Degrees d;
  double short_by = 0;
  EXPECT_EQ(plan_degrees(*job.resolved, job.plan, d, short_by), Reason::none);
  return d;
}

constexpr TrainingPlan kDeep = {.gpus = 64, .tp = 2, .pp = 4, .sequence = 4096, .global_batch = 64};

// 64 devices in eight nodes, experts spread within each, so that their weights are gathered across the network: 16
// sequences of 4,096 tokens a device are work enough to hide that. Layers launched one by one do hide it, a whole
// program waits: with a network of twice the rate it gains half of what was gathered, 6 bytes of each weight but the
// own eighth.
TEST(TrainingRanks, WholeProgramsWaitForExpertsOfOtherNodes) {
  const auto gained = [](const char* engine) {
    TrainingPlan plan{.gpus = 64, .ep = 8, .sequence = 4096, .global_batch = 1024, .micro_batch = 16};
    plan.sharding = Sharding::zero3;
    plan.recompute = Recompute::full;
    TrainingQuery query = question(plan, "deepseek-v3", engine);
    query.device = "mi355x";
    query.precision = Format::bf16;
    query.network_per_gpu = 50e9;
    const double slow = estimate(query).step_time_s.mid;
    query.network_per_gpu = 100e9;
    return slow - estimate(query).step_time_s.mid;
  };
  const double experts = 58 * 256 * 3 * 7168.0 * 2048 / 8;
  const double share = knowledge().calibration.value("training.scale_out", {"cdna4"});
  const double half = 0.5 * 6 * experts * 7 / 8 / (50e9 * share);
  EXPECT_GT(gained("maxtext"), 0.9 * half);
  EXPECT_LT(gained("fsdp"), 0.6 * half);
}

// 64 devices, TP 2, PP 4, DP 8, nodes of 8. Usual order: replicas 2 apart, four of them in a node; stages 16 apart. The
// other order: a replica of 2 x 4 is a node, and every replica is in a node of its own.
TEST(TrainingRanks, OrderSaysWhatStandsTogether) {
  TrainingQuery query = question(kDeep);
  const TrainingJob usual = job_of(query);
  const Degrees d = degrees(usual);
  EXPECT_EQ(replica_group(*usual.resolved, d, 8).inside, 4);
  EXPECT_EQ(pipeline_group(*usual.resolved, d).inside, 1);
  EXPECT_TRUE(pipeline_group(*usual.resolved, d).crosses());

  query.cluster.order = RankOrder::pipeline_before_data;
  const TrainingJob other = job_of(query);
  EXPECT_EQ(replica_group(*other.resolved, d, 8).inside, 1);
  EXPECT_EQ(pipeline_group(*other.resolved, d).inside, 4);
  EXPECT_FALSE(pipeline_group(*other.resolved, d).crosses());
  EXPECT_EQ(tensor_group(*other.resolved, d).inside, 2);

  const auto kind = [](TrafficKind k) { return static_cast<std::size_t>(k); };
  const TrainingTraffic near = training_traffic(*usual.resolved, usual.plan);
  const TrainingTraffic far = training_traffic(*other.resolved, other.plan);
  EXPECT_GT(near.out[kind(TrafficKind::pipeline)], 0);
  EXPECT_EQ(far.out[kind(TrafficKind::pipeline)], 0);
  EXPECT_EQ(far.up[kind(TrafficKind::pipeline)], near.out[kind(TrafficKind::pipeline)]);
  // A ring of eight replicas on two ports each, or on one.
  EXPECT_NEAR(far.out[kind(TrafficKind::data_parallel)], 4 * near.out[kind(TrafficKind::data_parallel)], 1);
}

TEST(TrainingRanks, WithoutAPipelineTheOrderDoesNotMatter) {
  TrainingQuery query = question({.gpus = 64, .tp = 2, .cp = 2, .sequence = 4096, .global_batch = 64});
  const double usual = estimate(query).step_time_s.mid;
  query.cluster.order = RankOrder::pipeline_before_data;
  EXPECT_EQ(estimate(query).step_time_s.mid, usual);
}

// A ring sends 2 (n-1)/n buffers, a switch that adds up takes one and an n-th: 1.75 against 1.125 for eight.
TEST(TrainingReduction, SwitchesSaveHalfOfAnAllReduce) {
  TrainingQuery query = question({.gpus = 8, .sequence = 4096, .global_batch = 8});
  const TrainingJob ring = job_of(query);
  query.cluster.reduction = SwitchReduction::scale_up;
  const TrainingJob reduced = job_of(query);
  const Group eight = replica_group(*ring.resolved, degrees(ring), 8);
  const Tier a = tier(*ring.resolved, eight);
  const Tier b = tier(*reduced.resolved, eight);
  EXPECT_NEAR(b.all_reduce / a.all_reduce, 1.125 / 1.75, 1e-12);
  EXPECT_EQ(b.seconds_per_byte, a.seconds_per_byte) << "a reduce-scatter alone gains nothing";
}

// Across nodes the port is what limits: once up the tree instead of 2 (n-1)/n around the ring.
TEST(TrainingReduction, TheNetworkSavesHalfAcrossNodes) {
  TrainingQuery query = question({.gpus = 64, .tp = 8, .sequence = 4096, .global_batch = 64});
  query.plan.sharding = Sharding::none;
  const TrainingJob ring = job_of(query);
  const double before = phase(estimate(query), TrainingPhase::data_parallel);
  query.cluster.reduction = SwitchReduction::scale_out;
  const TrainingJob reduced = job_of(query);
  const Group eight = replica_group(*ring.resolved, degrees(ring), 8);
  EXPECT_NEAR(tier(*reduced.resolved, eight).all_reduce / tier(*ring.resolved, eight).all_reduce, 1 / 1.75, 1e-12);
  EXPECT_LT(phase(estimate(query), TrainingPhase::data_parallel), before);
  query.plan.sharding = Sharding::zero1;
  const double scattered = estimate(query).step_time_s.mid;
  query.cluster.reduction = SwitchReduction::none;
  EXPECT_EQ(estimate(query).step_time_s.mid, scattered);
}

TEST(TrainingReduction, IsRefusedWhereSwitchesCannot) {
  TrainingQuery query = question({.gpus = 8, .global_batch = 8});
  query.device = "a100-sxm-80";
  query.cluster.reduction = SwitchReduction::scale_up;
  EXPECT_FALSE(resolve(query, knowledge()));
  query = question({.gpus = 16, .global_batch = 16});
  query.device.clear();
  query.system = "meta-roce-h100";
  query.cluster.reduction = SwitchReduction::scale_out;
  EXPECT_FALSE(resolve(query, knowledge()));
  query.system = "dgx-h100";
  EXPECT_TRUE(resolve(query, knowledge()));
}

TEST(TrainingOversubscription, SlowsOnlyWhatLeavesThePod) {
  // Stages 512 devices apart, in pods of 256: every hop leaves its pod.
  TrainingQuery query = question({.gpus = 2048, .tp = 8, .pp = 4, .sequence = 4096, .global_batch = 2048});
  query.cluster.pod = 256;
  const TrainingEstimate open = estimate(query);
  query.cluster.oversubscription = 4;
  const TrainingEstimate narrow = estimate(query);
  EXPECT_GT(phase(narrow, TrainingPhase::pipeline), phase(open, TrainingPhase::pipeline));
  EXPECT_EQ(phase(narrow, TrainingPhase::tensor_parallel), phase(open, TrainingPhase::tensor_parallel));
  query.cluster.pod = 2048;
  EXPECT_EQ(estimate(query).step_time_s.mid, open.step_time_s.mid) << "the whole job is one pod";

  // A ring of neighbours crosses a pod once, however narrow: 8 of 256 ports carry it, and 4 to 1 leaves 64.
  const TrainingJob job = job_of(query);
  ResolvedTraining pods = *job.resolved;
  pods.pod = 256;
  pods.coefficients = job.resolved->coefficients;
  EXPECT_EQ(ring_slowdown(pods, {.ranks = 64, .inside = 1, .hop = 8, .span = 512}), 1);
  EXPECT_EQ(ring_slowdown(pods, {.ranks = 8, .inside = 1, .hop = 256, .span = 2048}), 4);
  EXPECT_EQ(ring_slowdown(pods, {.ranks = 16, .inside = 1, .hop = 128, .span = 2048}), 2);
  EXPECT_EQ(exchange_slowdown(pods, {.ranks = 256, .inside = 8, .hop = 8, .span = 256}), 1);
  EXPECT_NEAR(exchange_slowdown(pods, {.ranks = 512, .inside = 8, .hop = 8, .span = 512}), 4.0 * 256 / 504, 1e-12);
}

TEST(TrainingOversubscription, IsTheSystemsUnlessAsked) {
  TrainingQuery query =
      question({.gpus = 16384, .tp = 8, .pp = 16, .sequence = 8192, .global_batch = 2048}, "llama3.1-405b");
  query.device.clear();
  query.system = "meta-roce-h100";
  const TrainingJob job = job_of(query);
  EXPECT_EQ(job.resolved->oversubscription, 7);
  EXPECT_EQ(job.resolved->pod, 3072);
  const double published = estimate(query).step_time_s.mid;
  query.cluster.oversubscription = 1;
  EXPECT_LE(estimate(query).step_time_s.mid, published);
  query.cluster.oversubscription = 0.5;
  EXPECT_FALSE(resolve(query, knowledge()));
}

// Eight nodes of eight experts' ranks each: a token for 8 experts of DeepSeek-V3 reaches 4 (1 - (3/4)^8) = 3.6 nodes,
// seven eighths of them others, since it may go to four groups only; without groups 8 (1 - (7/8)^8) x 7/8 = 4.59.
TEST(TrainingDispatch, GroupsOfExpertsLimitTheNodesATokenReaches) {
  TrainingQuery query = question({.gpus = 1024, .tp = 2, .pp = 8, .ep = 64, .sequence = 4096, .global_batch = 8192},
                                 "deepseek-v3", "megatron-bridge");
  const TrainingJob job = job_of(query);
  const Group ranks = expert_group(*job.resolved, degrees(job));
  TrainingGroup layer = job.resolved->groups[1];
  ASSERT_TRUE(layer.moe);
  EXPECT_NEAR(8 * leaving_copies(*job.resolved, ranks, layer), 4 * (1 - std::pow(0.75, 8)) * 7 / 8, 1e-9);
  layer.routing_groups = 0;
  EXPECT_NEAR(8 * leaving_copies(*job.resolved, ranks, layer), 8 * (1 - std::pow(0.875, 8)) * 7 / 8, 1e-9);
  ResolvedTraining copies = *job.resolved;
  copies.traits.dispatch = ExpertDispatch::all_to_all;
  EXPECT_NEAR(leaving_copies(copies, ranks, layer), 56.0 / 64, 1e-12) << "a copy for every expert";
}

// 64 sequences of 4,096 tokens of 4 bytes over 8 nodes: 131 kB a node; at 1 kB/s that takes longer than any step.
TEST(TrainingData, IsWaitedForOnlyIfReadingTakesLongerThanTheStep) {
  TrainingQuery query = question({.gpus = 64, .tp = 1, .sequence = 4096, .global_batch = 64});
  const TrainingEstimate free = estimate(query);
  EXPECT_EQ(phase(free, TrainingPhase::data), 0);
  query.cluster.data_rate = 1e9;
  EXPECT_EQ(estimate(query).step_time_s.mid, free.step_time_s.mid);
  query.cluster.data_rate = 1e3;
  const TrainingEstimate starved = estimate(query);
  EXPECT_NEAR(starved.step_time_s.mid, 64.0 * 4096 * 4 / 8 / 1e3, 1e-6);
  EXPECT_NEAR(phase(starved, TrainingPhase::data), starved.step_time_s.mid - free.step_time_s.mid, 1e-6);
}

}  // namespace
}  // namespace ridge
