#include "serve/deployment_shape.hpp"

#include <algorithm>
#include <cmath>

namespace ridge::serve {

namespace {

constexpr double kHostLink = 25e9;  ///< bytes/s between one device and host memory: PCIe 4.0 x16 as copies see it

BatchingPolicy usual_batching(const ResolvedInference& r) {
  switch (r.batching) {
    case ridge::Batching::separate:
      return BatchingPolicy::prefill_first;
    case ridge::Batching::fixed:
      return BatchingPolicy::fixed;
    case ridge::Batching::mixed:
      break;
  }
  return r.admission == Admission::reserve_all ? BatchingPolicy::in_flight : BatchingPolicy::chunked;
}

}  // namespace

EnginePool engine_pool(const ResolvedInference& r, const SimulationQuery& query, double mean_tokens) {
  EnginePool pool;
  EngineShape& s = pool.shape;
  const double ranks = r.attention_dp ? r.dp : 1;
  s.lanes = r.pp * ranks;
  s.expert_lanes = ranks;
  s.gpus = r.tp * r.pp * ranks;
  const double engines = std::max(1.0, std::floor(r.gpus / s.gpus));
  pool.batching = query.policies.batching.value_or(usual_batching(r));
  s.block_tokens = query.policies.block_tokens;
  const double state = perf::kv_bytes(r, 0);
  const double per_token = std::max(1e-3, (perf::kv_bytes(r, mean_tokens) - state) / mean_tokens);
  const double block = per_token * s.block_tokens;
  s.blocks =
      static_cast<std::int64_t>(std::floor(std::max(0.0, r.kv_pool_bytes) / block)) * static_cast<std::int64_t>(ranks);
  if (r.kv_pool_bytes <= 0 && perf::kv_bytes(r, 1) <= 0) {  // encoders cache nothing: room for all that may run
    constexpr double kLongestText = 8192;
    const double each = std::ceil(std::max(kLongestText, 4 * mean_tokens) / s.block_tokens);
    s.blocks = static_cast<std::int64_t>(std::max(1.0, r.max_sequences * ranks) * each);
  }
  s.blocks_per_sequence = static_cast<std::int64_t>(std::ceil(state / block));
  s.bytes_per_token = per_token * r.tp * r.pp;
  s.max_tokens = static_cast<std::int64_t>(std::max(1.0, r.max_tokens * s.lanes));
  s.max_sequences = static_cast<std::int64_t>(std::max(1.0, r.max_sequences * ranks));
  if (query.load.kind == OfferedKind::concurrency && query.deployment.max_sequences <= 0) {
    // Who sends more requests at once than the engine runs by default is taken to have raised its limit.
    const double each = std::ceil(query.load.concurrency / (engines * std::max(1, query.replicas)));
    s.max_sequences = std::max(s.max_sequences, static_cast<std::int64_t>(each));
  }
  s.overlapped_host = r.overlapped_host;
  s.poll_steps = static_cast<std::uint64_t>(std::max(1, query.policies.poll_steps));
  const PromptGathering& gathering = query.policies.gathering;
  s.gather_steps = static_cast<std::uint64_t>(std::max(0, gathering.steps));
  s.gather_prompts = gathering.every_rank ? static_cast<std::int64_t>(ranks) : 0;
  s.gather_tokens = static_cast<std::int64_t>(gathering.token_share * static_cast<double>(s.max_tokens));
  s.draft_tokens = static_cast<int>(query.deployment.load.draft_tokens);
  s.acceptance = query.deployment.load.acceptance;
  s.reserve_all = r.admission == Admission::reserve_all || s.draft_tokens > 0;
  s.swap_bytes_per_s = kHostLink * s.gpus;
  pool.engines = static_cast<int>(std::min(engines * std::max(1, query.replicas), 1e9));  // more are refused
  return pool;
}

}  // namespace ridge::serve
