// What plans to serve and plans to train are made with. Internal to src/facility.
#pragma once

#include <string>
#include <string_view>

#include "ridge/facility/launch.hpp"

namespace ridge::launch {

/// Refuses devices the runner has no software for, and says whose they are.
Status take_vendor(LaunchPlan& plan, const Knowledge& knowledge, const LaunchStock& stock);
/// A name with an owner, as repositories have: no path, no shape written out.
[[nodiscard]] bool is_repository(std::string_view text);
/// "infiniband", "ethernet", or empty where nothing is known.
[[nodiscard]] std::string network_of(const Knowledge& knowledge, const std::string& system, const std::string& device);
[[nodiscard]] int node_size(const Knowledge& knowledge, const std::string& system, const std::string& device);
/// Refuses layers that Megatron's GPT arguments cannot say.
Result<ModelShape> shape_of(const Model& model, int sequence, const LaunchStock& stock);

}  // namespace ridge::launch
