// What every reader of model architectures shares: limits of sane shapes, and how layers become groups.
//
//   for (int i = 0; i < layers; ++i) append_layer(model, layer_at(i));   // fills Model::groups and Model::order
//
// Pure; any thread may call.
#pragma once

#include "ridge/catalogue/model.hpp"

namespace ridge {

// Far above anything published, far below what would overflow a count or exhaust memory.
inline constexpr int kLayerLimit = 4096;
inline constexpr int kWidthLimit = 1 << 24;    ///< hidden, feed-forward and vocabulary
inline constexpr int kHeadLimit = 1 << 16;     ///< heads, head sizes, ranks, experts
inline constexpr int kContextLimit = 1 << 30;  ///< tokens

/// Adds one layer at the end: to the group that is equal to it, or as a new group. `layer.count` is ignored.
void append_layer(Model& model, const LayerGroup& layer);

/// Shared latent attention (Mixer::shared_kv) of a layer with one entry for `ratio` tokens. Entries are chosen by the
/// indexer where they are fine (4 tokens); coarse ones are all attended to.
[[nodiscard]] Mixer compressed(Mixer shared, int ratio);

}  // namespace ridge
