// From a resolved deployment to the shape of its engines.
//
//   EnginePool pool = engine_pool(*deployment.resolved, query);
//
// Pure; any thread.
#pragma once

#include "serve/cluster.hpp"

namespace ridge::serve {

/// `mean_tokens` is the length at which the KV cache of models with windows is made linear. The model of the pool is
/// left to the caller.
[[nodiscard]] EnginePool engine_pool(const ResolvedInference& resolved, const SimulationQuery& query,
                                     double mean_tokens);

}  // namespace ridge::serve
