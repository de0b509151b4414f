// The blocks go to host memory and come back over the same link; a prompt that was not complete starts over.
#include "serve/engine/preemption.hpp"

namespace ridge::serve {

namespace {

Ticks copy_time(std::uint32_t tokens, const EngineShape& shape) {
  return shape.swap_bytes_per_s > 0 ? to_ticks(tokens * shape.bytes_per_token / shape.swap_bytes_per_s) : 0;
}

class Swap final : public Preemption {
 public:
  [[nodiscard]] Ticks take_away(Request& request, std::uint32_t tokens, const EngineShape& shape) const override {
    if (tokens < request.target) return recompute_preemption().take_away(request, tokens, shape);
    request.tokens = request.target = tokens;
    request.swapped = true;
    return copy_time(tokens, shape);
  }
  [[nodiscard]] Ticks bring_back(Request& request, const EngineShape& shape) const override {
    if (!request.swapped) return 0;
    request.swapped = false;
    return copy_time(request.tokens, shape);
  }
};

}  // namespace

const Preemption& swap_preemption() {
  static const Swap policy;
  return policy;
}

}  // namespace ridge::serve
