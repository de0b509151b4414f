// Checkpoints, rates and which storage serves them.
#include "ridge/facility/storage.hpp"

#include <gtest/gtest.h>

#include "bundled.hpp"
#include "ridge/perf/traffic.hpp"

namespace ridge {
namespace {

using testing_support::bundle;
using testing_support::facility_data;
using testing_support::knowledge;

double parameters(const char* model) {
  return count_parameters(*bundle().catalogue.model(model)).total;
}

// 2 + 4 + 8 bytes per parameter: 0.11, 0.99 and 5.7 TB, and 1.1, 9.9 and 57 s at 100 GB/s.
TEST(Storage, CheckpointsHaveTheAuditedSizes) {
  const auto terabytes = [](const char* model) { return checkpoint_size(parameters(model)).value() / 1e12; };
  EXPECT_NEAR(terabytes("llama3.1-8b"), 0.112, 0.001);
  EXPECT_NEAR(terabytes("llama3.1-70b"), 0.988, 0.002);
  EXPECT_NEAR(terabytes("llama3.1-405b"), 5.68, 0.01);
  const auto at_100 = [](const char* model) {
    return (checkpoint_size(parameters(model)) / BytesPerSecond(100e9)).value();
  };
  EXPECT_NEAR(at_100("llama3.1-8b"), 1.1, 0.05);
  EXPECT_NEAR(at_100("llama3.1-70b"), 9.9, 0.05);
  EXPECT_NEAR(at_100("llama3.1-405b"), 57, 0.5);
  EXPECT_DOUBLE_EQ(checkpoint_size(8e9, 12).value(), 96e9);  // without the 16-bit copy
}

StorageRequest training_405b() {
  StorageRequest r;
  r.parameters = parameters("llama3.1-405b");
  r.nodes = 128;
  r.dataset = Bytes(60e12);
  r.tokens_per_s = 1e6;
  r.write = BytesPerSecond(100e9);
  r.host_memory = Bytes(2e12);
  return r;
}

const StrategyCost& cost(const StorageNeed& need, CheckpointStrategy strategy) {
  return need.strategies[static_cast<std::size_t>(strategy)];
}

TEST(Storage, AFullCheckpointStallsLongestAndAsyncLeast) {
  const StorageNeed need = storage_need(training_405b());
  ASSERT_EQ(need.strategies.size(), kCheckpointStrategies);
  const double full = cost(need, CheckpointStrategy::full).stall.value();
  const double sharded = cost(need, CheckpointStrategy::sharded).stall.value();
  const double async = cost(need, CheckpointStrategy::async).stall.value();
  EXPECT_NEAR(full, 5.68e12 / 5e9, 10);      // one process, as `ridge goodput` has it
  EXPECT_NEAR(sharded, 5.68e12 / 100e9, 1);  // what storage takes
  EXPECT_NEAR(async, 5.68e12 / 128 / 400e9, 0.01);
  EXPECT_LT(async, sharded);
  EXPECT_LT(sharded, full);
  EXPECT_EQ(need.best, CheckpointStrategy::async);
}

TEST(Storage, InMemoryLosesAMinuteWhereStorageLosesHalfAnHour) {
  const StorageNeed need = storage_need(training_405b());
  EXPECT_LT(cost(need, CheckpointStrategy::in_memory).loss_most.value(), 61);
  EXPECT_GT(cost(need, CheckpointStrategy::async).loss_most.value(), 1800);
  // Two copies of a 1/128 share.
  EXPECT_NEAR(cost(need, CheckpointStrategy::in_memory).host_memory.value(), 2 * 5.68e12 / 128, 1e9);
}

TEST(Storage, ADeltaOfDenseTrainingIsAsLargeAsTheWhole) {
  StorageRequest r = training_405b();
  const StorageNeed dense = storage_need(r);
  EXPECT_NEAR(cost(dense, CheckpointStrategy::delta).needed.value(), 5.68e12 / 300, 1e8);
  r.changed_share = 0.01;
  const StorageNeed adapters = storage_need(r);
  EXPECT_NEAR(cost(adapters, CheckpointStrategy::delta).needed.value(), 5.68e10 / 300, 1e6);
}

TEST(Storage, WhatCannotBeWrittenInTimeOrHeldInMemoryIsSaid) {
  StorageRequest r = training_405b();
  r.write = BytesPerSecond(1e9);
  const StorageNeed slow = storage_need(r);
  EXPECT_FALSE(cost(slow, CheckpointStrategy::async).feasible);
  EXPECT_NE(cost(slow, CheckpointStrategy::async).why.find("longer than"), std::string::npos);
  r = training_405b();
  r.host_memory = Bytes(64e9);
  EXPECT_FALSE(cost(storage_need(r), CheckpointStrategy::in_memory).feasible);
}

TEST(Storage, DatasetSizeSuggestsATier) {
  EXPECT_TRUE(dataset_tier(Bytes(5e12)).per_node);
  EXPECT_DOUBLE_EQ(dataset_tier(Bytes(5e12)).rate.value(), 10e9);
  EXPECT_DOUBLE_EQ(dataset_tier(Bytes(50e12)).rate.value(), 100e9);
  EXPECT_DOUBLE_EQ(dataset_tier(Bytes(1e15)).rate.value(), 500e9);
  EXPECT_DOUBLE_EQ(dataset_tier(Bytes(20e15)).rate.value(), 1e12);
}

TEST(Storage, TextFeedsTrainingWithAFewMegabytesASecond) {
  // A million tokens a second at four bytes each: the data set is not what needs bandwidth, checkpoints are.
  const StorageNeed need = storage_need(training_405b());
  EXPECT_DOUBLE_EQ(need.read_data.value(), 4e6);
  EXPECT_GT(need.read_restart.value(), 1e10);
}

TEST(Storage, ClassesAreJudgedWithAReason) {
  const StorageRequest r = training_405b();
  const StorageNeed need = storage_need(r);
  for (const StorageVerdict& v : judge_storage(need, r, facility_data(), Bytes(30e12))) {
    EXPECT_FALSE(v.why.empty()) << v.storage->id;
    if (v.storage->id == "local-nvme") {
      EXPECT_FALSE(v.serves);
    }  // not shared
    if (v.storage->id == "lustre") {
      EXPECT_TRUE(v.serves);
    }
    if (v.storage->id == "object") {
      EXPECT_FALSE(v.serves);
    }
    if (v.storage->id == "weka") {
      EXPECT_GE(v.units * 8e9, need.read().value());
    }
  }
  StorageRequest huge = r;
  huge.dataset = Bytes(100e15);
  const StorageNeed large = storage_need(huge);
  for (const StorageVerdict& v : judge_storage(large, huge, facility_data(), Bytes(30e12))) {
    if (v.storage->id == "vast") {
      EXPECT_FALSE(v.serves);
    }  // 50 PB
  }
}

// The guide's rule asks for half of the HBM bandwidth: 1,675 GB/s per H100, 33.5 NDR ports. DGX H100 has one: 1.49 %.
TEST(Traffic, HalfOfHbmBandwidthIsNotANetworkRule) {
  const Device* h100 = bundle().catalogue.device("h100-sxm");
  const double hbm = h100->memory_bandwidth->value.value();
  EXPECT_NEAR(0.5 * hbm / 50e9, 33.5, 0.1);
  const System* dgx = bundle().catalogue.system("dgx-h100");
  const double per_gpu = scale_out_per_node(bundle().catalogue, *dgx)->value() / dgx->devices_per_node;
  EXPECT_DOUBLE_EQ(per_gpu, 50e9);
  EXPECT_NEAR(100 * per_gpu / hbm, 1.49, 0.005);
}

TrainingTraffic traffic_of(const TrainingQuery& q) {
  const auto job = resolve(q, knowledge());
  EXPECT_TRUE(job) << job.error().text();
  return job ? training_traffic(*job->resolved, job->plan) : TrainingTraffic{};
}

TrainingQuery llama_70b() {
  TrainingQuery q;
  q.model = "llama3.1-70b";
  q.system = "dgx-h100";
  q.plan.gpus = 512;
  q.plan.tp = 8;
  q.plan.sequence = 8192;
  q.plan.global_batch = 512;
  q.plan.sharding = Sharding::none;
  return q;
}

// Data parallel over 64 groups of eight GPUs that each hold an eighth: an all-reduce sends 2 (n-1)/n of the gradients,
// 4 bytes each, over one port per GPU.
TEST(Traffic, DataParallelSendsTwiceTheGradients) {
  const TrainingTraffic t = traffic_of(llama_70b());
  const double gradients = parameters("llama3.1-70b") / 8 * 4;
  const auto dp = static_cast<std::size_t>(TrafficKind::data_parallel);
  EXPECT_NEAR(t.out[dp] / (2 * 63.0 / 64 * gradients), 1, 0.01);
  EXPECT_EQ(t.out[static_cast<std::size_t>(TrafficKind::tensor_parallel)], 0);  // stays on NVLink
  EXPECT_GT(t.up[static_cast<std::size_t>(TrafficKind::tensor_parallel)], 0);
  EXPECT_DOUBLE_EQ(t.port, 50e9);
}

TEST(Traffic, FullShardingGathersTwiceAndReducesOncePerMicroBatch) {
  TrainingQuery q = llama_70b();
  q.plan.tp = 1;
  q.plan.sharding = Sharding::zero3;
  const TrainingTraffic t = traffic_of(q);
  // 3 passes over 2-byte parameters, 511/512 of them sent, shared by the 8 ports of a node.
  const double expected = 3 * 2 * parameters("llama3.1-70b") * 511 / 512 / 8;
  EXPECT_NEAR(t.out[static_cast<std::size_t>(TrafficKind::data_parallel)] / expected, 1, 0.01);
}

TEST(Traffic, TensorParallelAcrossNodesLoadsTheNetwork) {
  TrainingQuery q = llama_70b();
  q.plan.tp = 16;
  const TrainingTraffic t = traffic_of(q);
  EXPECT_GT(t.out[static_cast<std::size_t>(TrafficKind::tensor_parallel)], 0);
}

}  // namespace
}  // namespace ridge
