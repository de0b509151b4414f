// The commands of a plan, to be wrapped into a script, a Slurm job or a Kubernetes job. Internal to src/facility.
#pragma once

#include <string>

#include "ridge/launch.hpp"

namespace ridge::launch {

/// "# ridge: device=h200-sxm gpus_per_node=8 ..." and a line end.
[[nodiscard]] std::string ridge_line(const LaunchPlan& plan);

/// Variables (NODES, REPLICAS, ...), environment and the command itself, as shell text. `indent` starts every line.
Result<std::string> payload(const LaunchPlan& plan, const LaunchOptions& options, std::string_view indent);

/// One sentence for people: "serve llama3.3-70b on 8 x h200-sxm: TP 2, 4 replicas".
[[nodiscard]] std::string summary(const LaunchPlan& plan);

Result<std::vector<LaunchFile>> slurm_files(const LaunchPlan& plan, const LaunchOptions& options);
Result<std::vector<LaunchFile>> kubernetes_files(const LaunchPlan& plan, const LaunchOptions& options);

/// A name as Kubernetes and Slurm take it: lower case letters, digits and '-', at most 50.
[[nodiscard]] std::string job_name(const LaunchPlan& plan);

}  // namespace ridge::launch
