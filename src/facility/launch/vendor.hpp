// What differs between vendors of devices: which engines run there, and how hosts, Slurm and Kubernetes name devices.
// Internal to src/facility.
#pragma once

#include <string>
#include <string_view>

#include "ridge/facility/launch.hpp"

namespace ridge::launch {

struct Vendor {
  std::string_view name;
  std::string_view resource;       ///< of Kubernetes: "nvidia.com/gpu"
  std::string_view visible;        ///< variable that says which devices a process uses
  std::string_view files;          ///< of device 0: "/dev/nvidia0"; the number at the end counts up
  std::string_view product_label;  ///< node label that names the product, empty = none is usual
  std::string_view collectives;    ///< "NCCL" where its variables are understood, else empty
};

/// NVIDIA's for one nobody knows.
[[nodiscard]] const Vendor& vendor_named(std::string_view name);

/// Refuses (refused) engines that do not run on the vendor's devices, naming those that do.
Status runs_on(LaunchTarget runner, std::string_view vendor, std::string_view architecture, std::string_view device);

/// The engine's published image of that release for that vendor; empty if there is none we know of.
[[nodiscard]] std::string image_of(const LaunchPlan& plan);

/// "/dev/nvidia[0-7]".
[[nodiscard]] std::string device_files(const Vendor& vendor, int count);

/// What the feature discovery of the vendor calls the product, as far as it is known: "NVIDIA-H100-80GB-HBM3".
[[nodiscard]] std::string_view product_label(std::string_view device);

}  // namespace ridge::launch
