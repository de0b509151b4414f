// A batch is taken from the queue when the last one has ended, prefilled together and decoded to its end (plain
// PyTorch).
#include "serve/engine/batching.hpp"
#include "serve/engine/engine.hpp"

namespace ridge::serve {

namespace {

class Fixed final : public Batching {
 public:
  void plan(Engine& engine, StepPlan& plan) const override {
    if (engine.running() == 0) {
      while (engine.admit(false) != kNoSlot) {
      }
    }
    std::int64_t budget = engine.token_budget();
    for (const Slot slot : engine.prefilling()) {
      if (budget <= 0) break;
      budget -= engine.add_part(plan, slot, budget);
    }
    plan.decode = plan.parts.empty();
    if (plan.decode) engine.make_room_for_decode();
  }
  [[nodiscard]] bool joins_running_batch() const override { return false; }
};

}  // namespace

const Batching& fixed_batching() {
  static const Fixed policy;
  return policy;
}

const Batching& batching_of(BatchingPolicy policy) {
  switch (policy) {
    case BatchingPolicy::chunked:
      return chunked_batching();
    case BatchingPolicy::in_flight:
      return in_flight_batching();
    case BatchingPolicy::prefill_first:
      return prefill_first_batching();
    case BatchingPolicy::fixed:
      return fixed_batching();
  }
  return chunked_batching();
}

}  // namespace ridge::serve
