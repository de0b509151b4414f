// How much of its capacity a simulated deployment used.
//
//   auto r = simulate(query, knowledge);
//   load_share(query, *r, knowledge);   // 0.06: 6 % of what full batches of such requests would give
//
// Output tokens per second, of what all engines give offline (every batch full) with the mean lengths and cache hits of
// the requests that were finished. A server with one request at a time is never idle (SimulationResult::busy_share) and
// hardly loaded. 0 where it is not known: nothing finished, or prefill has engines of its own. Any thread may call it.
#pragma once

#include "ridge/serve/simulation.hpp"

namespace ridge {

[[nodiscard]] double load_share(const SimulationQuery& query, const SimulationResult& result,
                                const Knowledge& knowledge);

}  // namespace ridge
