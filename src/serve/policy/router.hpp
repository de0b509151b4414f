// Which engine a request goes to: one interface, one small file per policy.
//
//   std::unique_ptr<Router> router = make_router(RouterPolicy::prefix_aware);
//   Engine& e = router->choose(request, chunks, engines);      // engines that take requests, at least one
//
// One thread per object.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "serve/engine/engine.hpp"

namespace ridge::serve {

class Router {
 public:
  virtual ~Router() = default;
  [[nodiscard]] virtual Engine& choose(const Request& request, std::span<const Chunk> chunks,
                                       std::span<Engine* const> engines) = 0;
  /// Whether `chunks` are looked at.
  [[nodiscard]] virtual bool wants_chunks() const { return false; }
};

[[nodiscard]] std::unique_ptr<Router> round_robin_router();
[[nodiscard]] std::unique_ptr<Router> least_outstanding_router();
[[nodiscard]] std::unique_ptr<Router> prefix_aware_router();
[[nodiscard]] std::unique_ptr<Router> session_sticky_router();
[[nodiscard]] std::unique_ptr<Router> make_router(RouterPolicy policy);

/// The engine with the fewest requests, the first of several.
[[nodiscard]] Engine& least_outstanding(std::span<Engine* const> engines);

}  // namespace ridge::serve
