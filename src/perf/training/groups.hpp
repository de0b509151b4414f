// From a model's layers to products, traffic and kept activations per token. Internal to src/perf.
#pragma once

#include "perf/training/resolved.hpp"

namespace ridge {

/// One kind of layer, unsharded. Recurrent mixers are counted in their chunked form.
[[nodiscard]] TrainingGroup training_group(const Model& model, const LayerGroup& layer, AttentionKernel attention,
                                           bool eager = false);

/// Pairs of query and key per token of a causal sequence, averaged over the sequence.
[[nodiscard]] double mean_reach(double sequence, double window) noexcept;

}  // namespace ridge
