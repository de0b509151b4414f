#include "catalogue/tables/layers.hpp"

#include <algorithm>

namespace ridge {

void append_layer(Model& model, const LayerGroup& layer) {
  const auto same = [&](const LayerGroup& group) {
    return group.mixer == layer.mixer && group.ffn == layer.ffn && group.dit == layer.dit;
  };
  auto found = std::find_if(model.groups.begin(), model.groups.end(), same);
  if (found == model.groups.end()) {
    model.groups.push_back(layer);
    found = model.groups.end() - 1;
    found->count = 0;
  }
  ++found->count;
  model.order.push_back(static_cast<std::uint16_t>(found - model.groups.begin()));
}

Mixer compressed(Mixer shared, int ratio) {
  constexpr int kFinest = 8;
  shared.compress = ratio;
  if (ratio == 0 || ratio > kFinest) shared.index_heads = shared.index_dim = shared.index_topk = 0;
  return shared;
}

}  // namespace ridge
