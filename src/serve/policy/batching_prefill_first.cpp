// While prompts wait and fit, steps work on prompts alone and decoding stands still (SGLang).
#include "serve/engine/batching.hpp"
#include "serve/engine/engine.hpp"

namespace ridge::serve {

namespace {

class PrefillFirst final : public Batching {
 public:
  void plan(Engine& engine, StepPlan& plan) const override {
    plan.decode = false;
    std::int64_t budget = engine.token_budget();
    for (const Slot slot : engine.prefilling()) {
      if (budget <= 0) return;
      budget -= engine.add_part(plan, slot, budget);
    }
    const bool waits = engine.gathers();
    while (budget > 0 && !waits) {
      const Slot slot = engine.admit(true);
      if (slot == kNoSlot) break;
      if (engine.needs_prefill(slot)) budget -= engine.add_part(plan, slot, budget);
    }
    if (!plan.parts.empty()) return;
    plan.decode = true;
    engine.make_room_for_decode();
  }
};

}  // namespace

const Batching& prefill_first_batching() {
  static const PrefillFirst policy;
  return policy;
}

}  // namespace ridge::serve
