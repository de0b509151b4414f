// The commands of a plan, to be wrapped into a script, a Slurm job or a Kubernetes job. Internal to src/facility.
#pragma once

#include <string>

#include "facility/launch_words.hpp"
#include "ridge/launch.hpp"

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

/// How one server is started.
struct Server {
  Command command;
  std::string before;  ///< shell lines that have to run first, without indentation
};
/// Each engine in a file of its own. `port` is shell text: "\"$PORT\"".
Result<Server> vllm_server(const LaunchPlan& plan, std::string_view port);
Result<Server> sglang_server(const LaunchPlan& plan, std::string_view port);
Result<Server> trtllm_server(const LaunchPlan& plan, std::string_view port);
Result<Server> llamacpp_server(const LaunchPlan& plan, std::string_view port);
Result<Command> megatron_command(const LaunchPlan& plan);
Result<Command> torchtitan_command(const LaunchPlan& plan);
/// torchrun with nodes, ranks and rendezvous.
[[nodiscard]] Command torchrun(const LaunchPlan& plan);

/// Numbers of the plan that the engine has a flag for, where they are not as usual.
void number_flags_of(Command& command, const LaunchPlan& plan);

/// What the engine listens on, if nobody says otherwise.
[[nodiscard]] int usual_port(LaunchTarget runner);

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
Result<std::string> kubernetes_training(const LaunchPlan& plan, const LaunchOptions& options);

/// A name as Kubernetes and Slurm take it: lower case letters, digits and '-', at most 50.
[[nodiscard]] std::string job_name(const LaunchPlan& plan);

}  // namespace ridge::launch
