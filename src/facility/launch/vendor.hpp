// What differs between vendors of devices, as a plan has it. Internal to src/facility.
#pragma once

#include <string>
#include <string_view>

#include "ridge/facility/launch.hpp"

namespace ridge::launch {

/// Refuses (refused) engines that do not run on the vendor's devices, naming those that do.
Status runs_on(LaunchTarget runner, std::span<const LaunchVendor> vendors, std::string_view vendor,
               std::string_view architecture, std::string_view device);

[[nodiscard]] bool runs(const LaunchVendor& vendor, LaunchTarget target);

/// The engine's published image of that release for that vendor; empty if there is none we know of.
[[nodiscard]] std::string image_of(const LaunchPlan& plan);

/// "/dev/nvidia[0-7]".
[[nodiscard]] std::string device_files(const LaunchVendor& vendor, int count);

/// What the feature discovery of the vendor calls the product, as far as it is known: "NVIDIA-H100-80GB-HBM3".
[[nodiscard]] std::string_view product_label(const LaunchPlan& plan);

}  // namespace ridge::launch
