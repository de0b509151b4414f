// The commands of a plan, to be wrapped into a script, a Slurm job or a Kubernetes job. Internal to src/facility.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "facility/launch/words.hpp"
#include "ridge/facility/launch.hpp"

namespace ridge::launch {

[[nodiscard]] inline int per_replica(const LaunchPlan& p) {
  return p.tp * p.pp * p.dp;
}
/// One server over several nodes.
[[nodiscard]] inline bool spans_nodes(const LaunchPlan& p) {
  return !trains(p.runner) && per_replica(p) > p.gpus_per_node;
}
[[nodiscard]] inline Error cannot(std::string message) {
  return {ErrorCode::refused, "", std::move(message)};
}

/// How one server, or the ranks of one node, are started.
struct Process {
  Command command;
  std::string before = {};  ///< shell lines that have to run first
  /// Of a file that `before` writes: what the release has to know.
  std::vector<std::pair<std::string, std::string>> keys = {};
  /// Variables of one server, as shell text that may count by $replica.
  std::vector<std::pair<std::string, std::string>> variables = {};
  std::string beside = {};  ///< what the endpoint list says after the address, as shell text
};
/// Each engine in a file of its own. `port` is shell text: "\"$PORT\"".
Result<Process> vllm_server(const LaunchPlan& plan, std::string_view port);
Result<Process> sglang_server(const LaunchPlan& plan, std::string_view port);
Result<Process> trtllm_server(const LaunchPlan& plan, std::string_view port);
Result<Process> llamacpp_server(const LaunchPlan& plan, std::string_view port);
Result<Process> megatron_job(const LaunchPlan& plan);
Result<Process> bridge_job(const LaunchPlan& plan);
Result<Process> primus_job(const LaunchPlan& plan);
Result<Process> torchtitan_job(const LaunchPlan& plan);
Result<Process> deepspeed_job(const LaunchPlan& plan);
Result<Process> maxtext_job(const LaunchPlan& plan);
/// How the engine of the plan is started, whichever it is. The one place that knows all of them.
Result<Process> process_of(const LaunchPlan& plan, std::string_view port);

/// Megatron's own argument of a key of Primus, which has them with underlines.
[[nodiscard]] std::string megatron_flag(std::string_view key);
/// Megatron and what stands on its arguments.
[[nodiscard]] inline bool speaks_megatron(LaunchTarget runner) {
  return runner == LaunchTarget::megatron || runner == LaunchTarget::primus;
}
/// Engines that keep their own list of models.
[[nodiscard]] inline bool names_models(LaunchTarget runner) {
  return runner == LaunchTarget::torchrun || runner == LaunchTarget::bridge || runner == LaunchTarget::maxtext;
}
/// torchrun with nodes, ranks and rendezvous.
[[nodiscard]] Command torchrun(const LaunchPlan& plan);

/// Numbers of the plan that the engine has a flag for, where they are not as usual.
void number_flags_of(Command& command, const LaunchPlan& plan);

/// What the engine listens on, if nobody says otherwise.
[[nodiscard]] int port_of(const LaunchPlan& plan);

/// "# ridge: engine=vllm-0.27.1 device=h200-sxm gpus_per_node=8 ..." and a line end.
[[nodiscard]] std::string ridge_line(const LaunchPlan& plan);
/// Comments for people: a licence to accept, weights to be made first. `indent` starts every line.
[[nodiscard]] std::string remarks(const LaunchPlan& plan);

/// Where the command runs: the script itself, a task of Slurm, a pod.
enum class Place : std::uint8_t { script, slurm, pod };

/// Variables (NODES, REPLICAS, ...), environment and the command itself, as shell text. `indent` starts every line.
Result<std::string> payload(const LaunchPlan& plan, const LaunchOptions& options, Place place, std::string_view indent);

/// One sentence for people: "serve llama3.3-70b on 8 x h200-sxm: TP 2, 4 replicas".
[[nodiscard]] std::string summary(const LaunchPlan& plan);

/// nginx in front of the servers of an endpoint list.
[[nodiscard]] LaunchFile router_script(const LaunchPlan& plan);

Result<std::vector<LaunchFile>> slurm_files(const LaunchPlan& plan, const LaunchOptions& options);
Result<std::vector<LaunchFile>> kubernetes_files(const LaunchPlan& plan, const LaunchOptions& options);
/// Parts of the latter.
Result<std::string> kubernetes_serving(const LaunchPlan& plan, const LaunchOptions& options);
Result<std::string> kubernetes_pool_router(const LaunchPools& pools, const LaunchOptions& options);
Result<std::string> kubernetes_training(const LaunchPlan& plan, const LaunchOptions& options);

/// The graph of NVIDIA Dynamo: a frontend and workers, all of them or those of two pools.
Result<std::vector<LaunchFile>> dynamo_files(const LaunchPlan& plan, const LaunchOptions& options);
Result<std::vector<LaunchFile>> dynamo_files(const LaunchPools& pools, const LaunchOptions& options);

/// What Prometheus alerts about: the limits of the plan, as its engine counts them. Empty where it counts nothing.
[[nodiscard]] std::string alert_rules(const LaunchPlan& plan, const LaunchOptions& options);
/// KEDA's ScaledObject, by the requests that the plan has in a replica at once.
[[nodiscard]] std::string autoscaling(const LaunchPlan& plan, const LaunchOptions& options);

/// A name as Kubernetes and Slurm take it: lower case letters, digits and '-', at most 50.
[[nodiscard]] std::string job_name(const LaunchPlan& plan);

}  // namespace ridge::launch
