// Decodes first; what is left of the step's tokens goes to prompts, cut where it ends (vLLM).
#include "serve/engine/batching.hpp"
#include "serve/engine/engine.hpp"

namespace ridge::serve {

namespace {

class Chunked final : public Batching {
 public:
  void plan(Engine& engine, StepPlan& plan) const override {
    const bool preempted = engine.make_room_for_decode();
    std::int64_t budget = engine.token_budget() - engine.decode_tokens();
    for (const Slot slot : engine.prefilling()) {
      if (budget <= 0) return;
      budget -= engine.add_part(plan, slot, budget);
    }
    // Who has just lost its blocks must not be overtaken.
    if (preempted || engine.gathers()) return;
    while (budget > 0) {
      const Slot slot = engine.admit(true);
      if (slot == kNoSlot) return;
      if (engine.needs_prefill(slot)) {
        budget -= engine.add_part(plan, slot, budget);
      } else {
        budget -= engine.tokens_per_decode();
      }
    }
  }
};

}  // namespace

const Batching& chunked_batching() {
  static const Chunked policy;
  return policy;
}

}  // namespace ridge::serve
