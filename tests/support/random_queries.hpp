// Questions as people could ask them, at random, and whether two are the same in all that can be said.
#pragma once

#include <cmath>
#include <initializer_list>
#include <tuple>

#include "ask/field.hpp"
#include "ridge/base/random.hpp"

namespace ridge::testing_support {

inline bool coin(Random& r) {
  return r.below(2) == 0;
}
template <class T>
T one_of(Random& r, std::initializer_list<T> all) {
  return all.begin()[r.below(all.size())];
}
inline double to_places(Random& r, double most, int places) {
  const double scale = std::pow(10.0, places);
  return std::floor(r.uniform() * most * scale) / scale;
}
inline Format any_format(Random& r) {
  return static_cast<Format>(r.below(kFormats));
}

inline InferenceQuery random_inference(Random& r) {
  InferenceQuery q;
  q.model = one_of<const char*>(r, {"llama3.1-8b", "dense:layers=2,hidden=64", "a/config.json"});
  if (coin(r)) q.device = one_of<const char*>(r, {"h100-sxm", "h100-sxm/mig-3g.40gb"});
  if (coin(r) || q.device.empty()) q.system = "dgx-h100";
  q.engine = one_of<const char*>(r, {"vllm", "trtllm", "ideal"});
  if (coin(r)) q.engine_version = "0.12";
  if (coin(r)) q.gpus = 1 + static_cast<int>(r.below(4096));
  if (coin(r)) q.tp = 1 << r.below(4);
  if (coin(r)) q.pp = 1 + static_cast<int>(r.below(16));
  if (coin(r)) q.ep = 1 + static_cast<int>(r.below(64));
  if (coin(r)) q.dp = 1 + static_cast<int>(r.below(64));
  if (coin(r)) q.weights = any_format(r);
  if (coin(r)) q.activations = any_format(r);
  if (coin(r)) q.activations = q.weights;
  if (coin(r)) q.kv = one_of(r, {Format::bf16, Format::fp8, Format::int8});
  if (coin(r)) q.max_batched_tokens = 1.0 + static_cast<double>(r.below(100000));
  if (coin(r)) q.max_sequences = 1.0 + static_cast<double>(r.below(4096));
  if (coin(r)) q.memory_utilization = 0.01 + 0.98 * r.uniform();
  if (coin(r)) q.power_cap = 100 + to_places(r, 900, 3);
  if (coin(r)) q.cpu_offload = (1.0 + to_places(r, 64, 2)) * 1024 * 1024 * 1024;
  if (coin(r)) q.lora_rank = 1.0 + static_cast<double>(r.below(4096));
  InferenceLoad& l = q.load;
  l.mode = one_of(r, {LoadMode::fixed_batch, LoadMode::closed_loop, LoadMode::offline, LoadMode::prefill});
  l.isl = static_cast<double>(r.below(100000));
  l.osl = l.mode == LoadMode::prefill ? 1 : 1.0 + static_cast<double>(r.below(10000));
  if (l.mode == LoadMode::fixed_batch || l.mode == LoadMode::prefill) l.batch = 1.0 + static_cast<double>(r.below(512));
  if (l.mode == LoadMode::closed_loop) l.concurrency = 1.0 + static_cast<double>(r.below(4096));
  if (coin(r)) l.prefix_hit = 0.99 * r.uniform();
  if (coin(r)) {
    l.draft_tokens = 1.0 + static_cast<double>(r.below(8));
    l.acceptance = r.uniform();
  }
  return q;
}

inline TrainingQuery random_training(Random& r) {
  TrainingQuery q;
  q.model = "llama3.1-70b";
  if (coin(r)) q.device = "h100-sxm";
  if (coin(r) || q.device.empty()) q.system = "dgx-h100";
  q.engine = one_of<const char*>(r, {"megatron", "fsdp", "ideal"});
  if (coin(r)) q.engine_version = "1.2";
  q.task = one_of(r, {TrainingTask::pretrain, TrainingTask::sft, TrainingTask::lora});
  if (q.task == TrainingTask::lora) q.lora_rank = 1 + static_cast<int>(r.below(4096));
  if (coin(r)) q.precision = any_format(r);
  if (q.precision == Format::fp8) q.block_scales = coin(r);
  q.mtp = coin(r);
  if (coin(r)) q.wide_layers = static_cast<int>(r.below(20));
  if (coin(r)) q.power_cap = 100 + to_places(r, 900, 3);
  TrainingCluster& c = q.cluster;
  if (coin(r)) c.oversubscription = 1 + 10 * r.uniform();
  if (coin(r)) c.pod = 1 + static_cast<int>(r.below(4096));
  c.reduction = static_cast<SwitchReduction>(r.below(4));
  c.order = static_cast<RankOrder>(r.below(2));
  if (coin(r)) {
    c.data_rate = 1e6 * (1 + static_cast<double>(r.below(10000)));
    if (coin(r)) c.data_bytes = 1 + 8 * r.uniform();
  }
  TrainingPlan& p = q.plan;
  p.gpus = 1 + static_cast<int>(r.below(65536));
  p.tp = 1 << r.below(4);
  p.pp = 1 + static_cast<int>(r.below(16));
  p.cp = 1 << r.below(3);
  p.ep = 1 << r.below(6);
  if (coin(r)) p.etp = 1 << r.below(3);
  if (coin(r)) p.dp = 1 + static_cast<int>(r.below(64));
  p.schedule = static_cast<Schedule>(r.below(4));
  if (coin(r) || p.schedule == Schedule::interleaved) p.vp = 2 + static_cast<int>(r.below(4));
  p.sequence = 1 + static_cast<int>(r.below(1 << 20));
  p.global_batch = 1 + static_cast<int>(r.below(1 << 14));
  p.micro_batch = 1 + static_cast<int>(r.below(16));
  p.sharding = static_cast<Sharding>(r.below(6));
  if (p.sharding == Sharding::hsdp && coin(r)) p.shard_group = 1 + static_cast<int>(r.below(64));
  p.recompute = static_cast<Recompute>(r.below(4));
  if (p.recompute == Recompute::full && coin(r)) p.recompute_layers = 1 + static_cast<int>(r.below(100));
  p.context = static_cast<ContextParallel>(r.below(3));
  if (coin(r)) p.imbalance = 1 + static_cast<float>(r.uniform());
  if (coin(r)) p.capacity = 1 + static_cast<float>(r.uniform());
  if (coin(r)) p.offload = static_cast<float>(r.uniform());
  p.offload_optimizer = coin(r);
  p.offload_weights = coin(r);
  p.optimizer = static_cast<Optimizer>(r.below(4));
  if (q.task != TrainingTask::pretrain && coin(r)) {
    q.examples = {1.0 + static_cast<double>(r.below(4096)), to_places(r, 10, 3), coin(r)};
  }
  return q;
}

/// In every member that a person can set; written out here, so that a field missing from the table is noticed.
inline bool same(const InferenceQuery& a, const InferenceQuery& b) {
  const auto all = [](const InferenceQuery& q) {
    return std::tie(q.model, q.device, q.system, q.engine, q.engine_version, q.date, q.gpus, q.tp, q.pp, q.ep, q.dp,
                    q.weights, q.activations, q.kv, q.max_batched_tokens, q.max_sequences, q.memory_utilization,
                    q.power_cap, q.cpu_offload, q.lora_rank, q.draft_model_share, q.load.mode, q.load.isl, q.load.osl,
                    q.load.batch, q.load.concurrency, q.load.prefix_hit, q.load.distinct, q.load.draft_tokens,
                    q.load.acceptance);
  };
  return all(a) == all(b);
}

inline bool same(const TrainingQuery& a, const TrainingQuery& b) {
  const auto all = [](const TrainingQuery& q) {
    const TrainingPlan& p = q.plan;
    const TrainingCluster& c = q.cluster;
    return std::tie(q.model, q.device, q.system, q.engine, q.engine_version, q.date, q.task, q.precision, q.power_cap,
                    q.lora_rank, q.mtp, q.block_scales, q.wide_layers, c.oversubscription, c.pod, c.reduction, c.order,
                    c.data_rate, c.data_bytes, p.gpus, p.tp, p.pp, p.vp, p.cp, p.ep, p.etp, p.dp, p.sequence,
                    p.global_batch, p.micro_batch, p.sharding, p.shard_group, p.recompute, p.recompute_layers,
                    p.schedule, p.context, p.imbalance, p.capacity, p.offload, p.offload_optimizer, p.offload_weights,
                    p.optimizer, q.examples.mean, q.examples.cv, q.examples.packing);
  };
  return all(a) == all(b);
}

}  // namespace ridge::testing_support
