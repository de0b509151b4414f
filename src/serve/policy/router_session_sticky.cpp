// All turns of a conversation to the same engine; requests that are no conversation by their number.
#include "serve/policy/router.hpp"

namespace ridge::serve {

namespace {

std::uint64_t weight(std::uint64_t session, std::uint64_t engine) {
  std::uint64_t x = session * 0x9e3779b97f4a7c15ULL ^ (engine + 1) * 0xd6e8feb86659fd93ULL;
  x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93ULL;
  return x ^ (x >> 32);
}

class SessionSticky final : public Router {
 public:
  /// The engine with the greatest weight (rendezvous hashing): few sessions move when engines come and go.
  [[nodiscard]] Engine& choose(const Request& r, std::span<const Chunk>, std::span<Engine* const> engines) override {
    const std::uint64_t session = r.session == kNoSlot ? r.id + (1ULL << 40) : r.session;
    Engine* best = engines.front();
    for (Engine* e : engines) {
      if (weight(session, e->index()) > weight(session, best->index())) best = e;
    }
    return *best;
  }
};

}  // namespace

std::unique_ptr<Router> session_sticky_router() {
  return std::make_unique<SessionSticky>();
}

}  // namespace ridge::serve
