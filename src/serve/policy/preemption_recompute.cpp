// The blocks are dropped; prompt and output so far are prefilled again.
#include "serve/engine/preemption.hpp"

namespace ridge::serve {

namespace {

class Recompute final : public Preemption {
 public:
  [[nodiscard]] Ticks take_away(Request& request, std::uint32_t, const EngineShape&) const override {
    request.tokens = 0;
    request.target = request.input + request.generated;
    return 0;
  }
  [[nodiscard]] Ticks bring_back(Request&, const EngineShape&) const override { return 0; }
};

}  // namespace

const Preemption& recompute_preemption() {
  static const Recompute policy;
  return policy;
}

}  // namespace ridge::serve
