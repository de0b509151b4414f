// Pods that run a plan: image, script, devices, probes, volumes. Internal to src/facility.
#pragma once

#include "facility/launch/cluster/yaml.hpp"
#include "facility/launch/write.hpp"

namespace ridge::launch {

enum class PodRole : std::uint8_t {
  server,  ///< answers requests
  worker,  ///< of a server over several nodes, or of a training job
};

/// Devices of one pod.
[[nodiscard]] int pod_devices(const LaunchPlan& plan);
/// Resources that a pod asks for, with the quantity: what a queue has to cover.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> pod_resources(const LaunchPlan& plan,
                                                                             const LaunchOptions& options);
/// Refuses a plan for which no image is known.
Status need_image(const LaunchPlan& plan, const LaunchOptions& options);
/// What stands under "spec:" of a pod, at that depth. `master` is how pods find the first of them.
Result<std::string> pod_spec(const LaunchPlan& plan, const LaunchOptions& options, PodRole role,
                             const std::string& master, int depth);
/// A claim for files that pods share.
void claim(Yaml& yaml, std::string_view name, std::string_view size);

}  // namespace ridge::launch
