// To the engine whose cache holds most of the prompt, unless it has far more to do than the least loaded one.
#include "serve/policy/router.hpp"

namespace ridge::serve {

namespace {

constexpr std::uint64_t kTolerated = 16;  ///< requests more than the least loaded engine that a hit is worth

class PrefixAware final : public Router {
 public:
  [[nodiscard]] Engine& choose(const Request&, std::span<const Chunk> chunks,
                               std::span<Engine* const> engines) override {
    Engine* best = &least_outstanding(engines);
    const std::uint64_t most = 2 * best->outstanding() + kTolerated;
    std::size_t found = best->cache().match(chunks);
    for (Engine* e : engines) {
      if (e->outstanding() > most) continue;
      const std::size_t here = e->cache().match(chunks);
      if (here > found) {
        found = here;
        best = e;
      }
    }
    return *best;
  }
  [[nodiscard]] bool wants_chunks() const override { return true; }
};

}  // namespace

std::unique_ptr<Router> prefix_aware_router() {
  return std::make_unique<PrefixAware>();
}

}  // namespace ridge::serve
