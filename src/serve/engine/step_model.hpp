// How long a step of one engine takes and what the engine holds: the seam between the simulator and the physics.
//
//   ResolvedModel model(*deployment.resolved, mean_context);
//   perf::StepTime t = model.step(step);
//
// An engine is what steps together: a replica, or all data-parallel ranks around shared experts. Pure; any thread.
#pragma once

#include "perf/inference/resolved.hpp"

namespace ridge::serve {

class StepModel {
 public:
  virtual ~StepModel() = default;
  /// A step of one lane. Drafts included where tokens_each > 1 and nothing is prefilled.
  [[nodiscard]] virtual perf::StepTime step(const perf::Step& step) const noexcept = 0;
};

class ResolvedModel final : public StepModel {
 public:
  explicit ResolvedModel(const ResolvedInference& resolved) : resolved_(&resolved) {}
  [[nodiscard]] perf::StepTime step(const perf::Step& step) const noexcept override {
    return step.prefill > 0 ? perf::step_time(*resolved_, step) : perf::drafted_step_time(*resolved_, step);
  }

 private:
  const ResolvedInference* resolved_;
};

/// What one engine can hold and does, apart from its step times.
struct EngineShape {
  double lanes = 1;         ///< pipeline stages and data-parallel ranks that sequences are spread over
  double expert_lanes = 1;  ///< of them, ranks that share the experts of a layer
  double gpus = 1;
  std::int64_t blocks = 0;               ///< of the KV cache
  std::int64_t blocks_per_sequence = 0;  ///< held whatever the length (recurrent state)
  int block_tokens = 16;
  double bytes_per_token = 0;  ///< of the KV cache, all devices of the engine together
  std::int64_t max_tokens = 8192;
  std::int64_t max_sequences = 256;
  bool reserve_all = false;         ///< blocks of the whole output are taken at the start
  bool overlapped_host = false;     ///< the next step is put together when the one before it starts
  std::uint64_t poll_steps = 1;     ///< decode steps from one look for new requests to the next
  std::uint64_t gather_steps = 0;   ///< that prompts wait for others at most, while sequences decode
  std::int64_t gather_prompts = 0;  ///< that make them wait no longer,
  std::int64_t gather_tokens = 0;   ///< and tokens, with those of the sequences that decode
  int draft_tokens = 0;
  double acceptance = 0;
  double swap_bytes_per_s = 0;  ///< to host memory, all devices of the engine together
};

}  // namespace ridge::serve
