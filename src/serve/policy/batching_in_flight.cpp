// Whole prompts ride along with the decodes, prompts first; only one that exceeds what a step has beside them is cut
// (TensorRT-LLM without chunked context, llama.cpp).
#include "serve/engine/batching.hpp"
#include "serve/engine/engine.hpp"

namespace ridge::serve {

namespace {

class InFlight final : public Batching {
 public:
  void plan(Engine& engine, StepPlan& plan) const override {
    const bool preempted = engine.make_room_for_decode();
    const std::int64_t beside_decodes = engine.token_budget() - engine.decode_tokens();
    std::int64_t budget = beside_decodes;
    for (const Slot slot : engine.prefilling()) {
      if (budget <= 0) return;
      budget -= engine.add_part(plan, slot, budget);
    }
    if (preempted || engine.gathers()) return;
    while (budget > 0) {
      const Slot head = engine.head();
      if (head == kNoSlot) return;
      const std::int64_t tokens = engine.prompt_tokens(head);
      // One that would fit the next step waits for it; one that fits none while others decode would wait until all have
      // ended.
      if (tokens > budget && tokens <= beside_decodes && engine.running() > 0) return;
      const Slot slot = engine.admit(true);
      if (slot == kNoSlot) return;
      budget -= engine.needs_prefill(slot) ? engine.add_part(plan, slot, budget) : engine.tokens_per_decode();
    }
  }
};

}  // namespace

const Batching& in_flight_batching() {
  static const InFlight policy;
  return policy;
}

}  // namespace ridge::serve
