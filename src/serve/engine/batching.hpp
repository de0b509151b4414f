// How an engine puts its next step together: one interface, one small file per policy.
//
//   std::unique_ptr<Batching> policy = make_batching(BatchingPolicy::chunked);
//   policy->plan(engine, plan);          // takes what fits from the queue and says what the step works on
//
// A policy keeps no state of its own.
#pragma once

#include <memory>
#include <vector>

#include "serve/engine/request_pool.hpp"

namespace ridge::serve {

class Engine;

/// What the next step works on.
struct StepPlan {
  struct Part {
    Slot slot = kNoSlot;
    std::uint32_t tokens = 0;  ///< of its prompt, in this step
    bool last = false;         ///< which completes it
  };
  std::vector<Part> parts;
  bool decode = true;  ///< the sequences that decode take part
};

class Batching {
 public:
  virtual ~Batching() = default;
  virtual void plan(Engine& engine, StepPlan& plan) const = 0;
  /// Whether a request that arrives may join at the end of the step in progress.
  [[nodiscard]] virtual bool joins_running_batch() const { return true; }
};

[[nodiscard]] const Batching& chunked_batching();
[[nodiscard]] const Batching& in_flight_batching();
[[nodiscard]] const Batching& prefill_first_batching();
[[nodiscard]] const Batching& fixed_batching();
[[nodiscard]] const Batching& batching_of(BatchingPolicy policy);

}  // namespace ridge::serve
