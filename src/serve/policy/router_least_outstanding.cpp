// To the engine with the fewest requests waiting and running.
#include "serve/policy/router.hpp"

namespace ridge::serve {

Engine& least_outstanding(std::span<Engine* const> engines) {
  Engine* best = engines.front();
  for (Engine* e : engines) {
    if (best->outstanding() == 0) break;  // nobody has less
    if (e->outstanding() < best->outstanding()) best = e;
  }
  return *best;
}

namespace {

class LeastOutstanding final : public Router {
 public:
  [[nodiscard]] Engine& choose(const Request&, std::span<const Chunk>, std::span<Engine* const> engines) override {
    return least_outstanding(engines);
  }
};

}  // namespace

std::unique_ptr<Router> least_outstanding_router() {
  return std::make_unique<LeastOutstanding>();
}

std::unique_ptr<Router> make_router(RouterPolicy policy) {
  switch (policy) {
    case RouterPolicy::round_robin:
      return round_robin_router();
    case RouterPolicy::least_outstanding:
      return least_outstanding_router();
    case RouterPolicy::prefix_aware:
      return prefix_aware_router();
    case RouterPolicy::session_sticky:
      return session_sticky_router();
  }
  return least_outstanding_router();
}

}  // namespace ridge::serve
