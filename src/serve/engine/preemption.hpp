// What becomes of a request that has to give up its blocks: one interface, one small file per policy.
//
//   Ticks stall = policy.take_away(request, tokens, shape);    // how long the engine stands still for it
//   Ticks back = policy.bring_back(request, shape);            // the same when it is admitted again
//
// A policy keeps no state of its own.
#pragma once

#include "serve/engine/request_pool.hpp"
#include "serve/engine/step_model.hpp"

namespace ridge::serve {

class Preemption {
 public:
  virtual ~Preemption() = default;
  /// The request has `tokens` in the cache and loses them.
  [[nodiscard]] virtual Ticks take_away(Request& request, std::uint32_t tokens, const EngineShape& shape) const = 0;
  [[nodiscard]] virtual Ticks bring_back(Request& request, const EngineShape& shape) const = 0;
};

[[nodiscard]] const Preemption& recompute_preemption();
[[nodiscard]] const Preemption& swap_preemption();
[[nodiscard]] inline const Preemption& preemption_of(PreemptionPolicy policy) {
  return policy == PreemptionPolicy::swap ? swap_preemption() : recompute_preemption();
}

}  // namespace ridge::serve
