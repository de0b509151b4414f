// Launch files back to plans: scripts, jobs of Slurm, manifests of Kubernetes.
#include <fmt/format.h>

#include <algorithm>

#include "facility/launch/back/reader.hpp"
#include "facility/launch/write.hpp"
#include "ridge/base/letters.hpp"
#include "ridge/base/text.hpp"
#include "ridge/facility/launch.hpp"

namespace ridge {

namespace {

using launch::CommandReader;
using launch::kMostDevices;
using launch::leading_number;
using launch::Script;

/// "gpu:h100-sxm:8" → 8.
int last_number(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  return leading_number(std::string_view(text).substr(colon == std::string::npos ? 0 : colon + 1));
}

/// What stands at keys of the YAML we write, and the first block of shell in it.
struct Manifest {
  std::string script;
  std::uint32_t line = 1;
  int pods = 0;      ///< of a job: parallelism
  int replicas = 0;  ///< of the first object that has them
  int size = 0;      ///< pods of a group
  int devices = 0;
};

bool is_device(std::string_view key) {
  constexpr std::string_view kDevices[] = {"nvidia.com/gpu:", "amd.com/gpu:",           "habana.ai/gaudi:",
                                           "google.com/tpu:", "aws.amazon.com/neuron:", "huawei.com/Ascend910:"};
  return std::any_of(std::begin(kDevices), std::end(kDevices), [&](std::string_view d) { return key.starts_with(d); });
}

Manifest read_manifest(std::string_view text) {
  Manifest m;
  std::uint32_t line = 0;
  std::size_t block = 0;  // indentation of the block of shell, 0 outside
  bool opened = false, keep = false;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view raw = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++line;
    const std::string_view content = trimmed(raw);
    const std::size_t indent = raw.find_first_not_of(' ');
    if (opened) {
      if (block == 0 && !content.empty()) block = indent;
      if (content.empty() || indent >= block) {
        if (keep) m.script += std::string(raw.substr(std::min(block, raw.size()))) + "\n";
        continue;
      }
      opened = false;
    }
    if (content == "- |") {
      opened = true;
      keep = m.script.empty();
      block = 0;
      if (keep) m.line = line + 1;
      continue;
    }
    const auto value = [&](std::string_view key) {
      return content.starts_with(key) ? leading_number(content.substr(key.size())) : 0;
    };
    if (m.replicas == 0) m.replicas = value("replicas:");
    if (m.size == 0) m.size = value("size:");
    m.pods = std::max(m.pods, value("parallelism:"));
    if (is_device(content)) m.devices = std::max(m.devices, leading_number(content.substr(content.find(':') + 1)));
  }
  return m;
}

Result<LaunchCheck> read_kubernetes(std::string_view text, std::string_view file, const EngineRelease* release) {
  const Manifest m = read_manifest(text);
  if (m.script.empty()) {
    return Error{ErrorCode::bad_input, std::string(file) + ":1", "no container of this manifest starts a script"};
  }
  Result<LaunchCheck> check = CommandReader(launch::read_script(m.script, m.line), file, release).run();
  if (!check) return check;
  check->target = LaunchTarget::k8s;
  LaunchPlan& p = check->plan;
  const int each = p.tp * p.pp * p.dp;
  int devices = std::min(p.gpus, p.gpus_per_node);
  if (trains(p.runner)) {
    if (m.pods != p.nodes()) {
      check->problems.push_back(fmt::format("{} pods, but the command is for {} nodes", m.pods, p.nodes()));
    }
  } else {
    // Every pod is a replica, or every group of them.
    devices = std::min(each, p.gpus_per_node);
    p.replicas = std::max(1, m.replicas);
    if (1.0 * p.replicas * each > kMostDevices) {
      return Error{ErrorCode::bad_input, std::string(file) + ":1", "starts more devices than there are"};
    }
    p.gpus = p.replicas * each;
    const int group = (each + p.gpus_per_node - 1) / p.gpus_per_node;
    if (std::max(1, m.size) != group) {
      check->problems.push_back(
          fmt::format("groups of {} pods, but a replica takes {} nodes", std::max(1, m.size), group));
    }
  }
  if (m.devices != devices) {
    check->problems.push_back(fmt::format("a pod asks for {} devices, but the command uses {}", m.devices, devices));
  }
  return check;
}

}  // namespace

Result<LaunchCheck> read_launch(std::string_view text, std::string_view file, const EngineRelease* release) {
  if (text.find("apiVersion:") != std::string_view::npos) return read_kubernetes(text, file, release);
  Script script = launch::read_script(text);
  const bool batch = !script.directives.empty();
  const std::string nodes = script.directive("nodes");
  const std::string gres = script.directive("gres");
  const std::string array = script.directive("array");
  Result<LaunchCheck> check = CommandReader(std::move(script), file, release).run();
  if (!check || !batch) return check;
  check->target = LaunchTarget::slurm;
  LaunchPlan& p = check->plan;
  const int wanted = p.nodes();
  if (leading_number(nodes) != wanted) {
    check->problems.push_back(fmt::format("--nodes={}, but the command is for {}", nodes, wanted));
  }
  if (!gres.empty() && last_number(gres) != std::min(p.gpus, p.gpus_per_node)) {
    check->problems.push_back(
        fmt::format("--gres={}, but the command uses {} devices of a node", gres, std::min(p.gpus, p.gpus_per_node)));
  }
  // An array is a job for each replica that spans nodes.
  if (array.starts_with("0-") && launch::spans_nodes(p)) {
    p.replicas = 1 + leading_number(std::string_view(array).substr(2));
    if (1.0 * p.replicas * p.gpus > kMostDevices) {
      return Error{ErrorCode::bad_input, std::string(file) + ":1", "starts more devices than there are"};
    }
    p.gpus *= p.replicas;
  }
  return check;
}

Result<LaunchEngine> launch_engine(std::string_view text, std::string_view file) {
  if (text.find("apiVersion:") != std::string_view::npos) {
    const Manifest m = read_manifest(text);
    return CommandReader(launch::read_script(m.script, m.line), file, nullptr).engine();
  }
  return CommandReader(launch::read_script(text), file, nullptr).engine();
}

}  // namespace ridge
