// One after the other, whatever they have to do.
#include "serve/policy/router.hpp"

namespace ridge::serve {

namespace {

class RoundRobin final : public Router {
 public:
  [[nodiscard]] Engine& choose(const Request&, std::span<const Chunk>, std::span<Engine* const> engines) override {
    return *engines[next_++ % engines.size()];
  }

 private:
  std::size_t next_ = 0;
};

}  // namespace

std::unique_ptr<Router> round_robin_router() {
  return std::make_unique<RoundRobin>();
}

}  // namespace ridge::serve
