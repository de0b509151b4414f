// A plan as a graph of NVIDIA Dynamo: one frontend, workers of its engine's runtime, all of them or two pools.
#include <fmt/format.h>

#include "facility/launch/cluster/yaml.hpp"
#include "facility/launch/vendor.hpp"
#include "facility/launch/write.hpp"

namespace ridge::launch {

namespace {

constexpr std::string_view kDynamo = "1.4.1";  // whose graphs were read: nvidia.com/v1alpha1, deploy/

struct Runtime {
  LaunchTarget runner;
  std::string_view module, image, model;  ///< of Python; of its container; the flag that names what is loaded
};
constexpr Runtime kRuntimes[] = {
    {LaunchTarget::vllm, "dynamo.vllm", "vllm-runtime", "--model"},
    {LaunchTarget::sglang, "dynamo.sglang", "sglang-runtime", "--model-path"},
};

/// The engine's own flags, less those that the runtime sets itself.
Result<std::vector<std::string>> worker_arguments(const LaunchPlan& p, const Runtime& runtime,
                                                  const EngineRelease* release) {
  LaunchPlan alone = p;
  alone.role = PoolRole::both;  // the runtime has its own words for pools
  const Result<Process> process = process_of(alone, "");
  if (!process) return process.error();
  if (!process->before.empty()) {
    return cannot("what the engine is told by files or variables is not said in a graph: emit for k8s");
  }
  std::vector<std::string> out = {std::string(runtime.model), p.checkpoint};
  for (const Command::Part& part : process->command.own()) {
    if (part.flag.empty() || part.flag == "--host" || part.flag == "--port" || part.flag == runtime.model) continue;
    if (release != nullptr) {
      if (std::string wrong = release->problem(part.flag, part.value); !wrong.empty()) return cannot(std::move(wrong));
    }
    out.push_back(part.flag);
    if (part.value) out.push_back(*part.value);
  }
  if (p.role != PoolRole::both) {
    out.insert(out.end(), {"--disaggregation-mode", std::string(name(p.role))});
    if (p.runner == LaunchTarget::vllm) {
      out.insert(out.end(),
                 {"--kv-transfer-config", "{\"kv_connector\": \"NixlConnector\", \"kv_role\": \"kv_both\"}"});
    } else {
      out.insert(out.end(), {"--disaggregation-transfer-backend", "nixl", "--disaggregation-bootstrap-port", "8998"});
    }
  }
  return out;
}

Status worker(Yaml& y, const LaunchPlan& p, const LaunchOptions& o, const Runtime& runtime, const std::string& image) {
  const Result<std::vector<std::string>> arguments = worker_arguments(p, runtime, o.release);
  if (!arguments) return arguments.error();
  y.line(2, "{}:", p.role == PoolRole::both ? "worker" : name(p.role)).line(3, "componentType: worker");
  if (p.role != PoolRole::both) y.line(3, "subComponentType: {}", name(p.role));
  y.line(3, "envFromSecret: hf-token").line(3, "replicas: {}", p.replicas);
  if (spans_nodes(p)) y.line(3, "multinode:").line(4, "nodeCount: {}", per_replica(p) / p.gpus_per_node);
  y.line(3, "resources:").line(4, "limits:").line(5, "gpu: \"{}\"", std::min(per_replica(p), p.gpus_per_node));
  y.line(3, "extraPodSpec:").line(4, "mainContainer:").line(5, "image: {}", quoted_yaml(image));
  y.line(5, "command: [\"python3\", \"-m\", \"{}\"]", runtime.module).line(5, "args:");
  for (const std::string& word : *arguments) y.line(6, "- {}", quoted_yaml(word));
  return {};
}

Result<std::vector<LaunchFile>> graph(std::span<const LaunchPlan* const> workers, const LaunchOptions& o) {
  const LaunchPlan& p = *workers.front();
  const Runtime* runtime = nullptr;
  for (const Runtime& r : kRuntimes) {
    if (r.runner == p.runner) runtime = &r;
  }
  if (runtime == nullptr) {
    return cannot(
        fmt::format("graphs of Dynamo are written for vllm and sglang, not for {}: say ⟦engine⟧", name(p.runner)));
  }
  if (!launch::runs(p.hardware, LaunchTarget::dynamo))
    return cannot(fmt::format("Dynamo has no runtime for devices of {}: emit for k8s", p.vendor));
  if (!p.base.empty()) return cannot(fmt::format("{} has to be made first: emit for {}", p.checkpoint, name(p.runner)));
  const std::string image =
      !o.image.empty() ? o.image : fmt::format("nvcr.io/nvidia/ai-dynamo/{}:{}", runtime->image, kDynamo);
  LaunchPlan both = p;
  both.role = PoolRole::both;
  Yaml y;
  for (const LaunchPlan* one : workers) y.line(0, "# {}", summary(*one)).block(0, ridge_line(*one));
  y.line(0, "# Written for Dynamo {}; its runtime brings its own release of the engine.", kDynamo);
  y.line(0, "apiVersion: nvidia.com/v1alpha1").line(0, "kind: DynamoGraphDeployment").line(0, "metadata:");
  y.line(1, "name: {}", job_name(both)).line(0, "spec:").line(1, "services:").line(2, "Frontend:");
  y.line(3, "componentType: frontend").line(3, "replicas: 1").line(3, "extraPodSpec:").line(4, "mainContainer:");
  y.line(5, "image: {}", quoted_yaml(image));
  for (const LaunchPlan* one : workers) {
    if (const Status s = worker(y, *one, o, *runtime, image); !s) return s.error();
  }
  return std::vector<LaunchFile>{{"graph.yaml", y.text()}};
}

}  // namespace

Result<std::vector<LaunchFile>> dynamo_files(const LaunchPlan& plan, const LaunchOptions& options) {
  if (trains(plan.runner)) return cannot("Dynamo serves: emit a training plan for slurm or k8s");
  const LaunchPlan* const one[] = {&plan};
  return graph(one, options);
}

Result<std::vector<LaunchFile>> dynamo_files(const LaunchPools& pools, const LaunchOptions& options) {
  const LaunchPlan* const both[] = {&pools.prefill, &pools.decode};
  return graph(both, options);
}

}  // namespace ridge::launch
