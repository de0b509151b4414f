// What launch files are written for: one row for each.
#include <fmt/format.h>

#include <array>

#include "facility/launch/write.hpp"
#include "ridge/base/text.hpp"
#include "ridge/facility/launch.hpp"

namespace ridge {

namespace {

struct TargetRow {
  LaunchTarget target;
  std::string_view name;
  TargetKind kind;
  std::string_view engine;   ///< of its releases in data/engines/flags
  std::string_view profile;  ///< what it behaves like, in data/engines
  int port;                  ///< a server listens on, if nobody says otherwise
  std::array<std::string_view, 3> also;
};

constexpr TargetKind kServing = TargetKind::serves, kTraining = TargetKind::trains, kCluster = TargetKind::schedules;

constexpr std::array<TargetRow, kLaunchTargets> kTargets = {{
    {LaunchTarget::vllm, "vllm", kServing, "vllm", "vllm", 8000, {}},
    {LaunchTarget::trtllm, "trtllm", kServing, "trtllm", "trtllm", 8000, {"tensorrt-llm"}},
    {LaunchTarget::sglang, "sglang", kServing, "sglang", "sglang", 30000, {}},
    {LaunchTarget::llamacpp,
     "llamacpp",
     kServing,
     "llamacpp",
     "llamacpp",
     8080,
     {"llama.cpp", "llama-cpp", "llama-server"}},
    {LaunchTarget::megatron, "megatron", kTraining, "megatron", "megatron", 0, {"megatron-lm"}},
    {LaunchTarget::bridge, "bridge", kTraining, "bridge", "megatron-bridge", 0, {"megatron-bridge", "nemo"}},
    {LaunchTarget::primus, "primus", kTraining, "primus", "megatron", 0, {}},
    {LaunchTarget::torchrun, "torchrun", kTraining, "torchtitan", "torchtitan", 0, {"torchtitan", "pytorch"}},
    {LaunchTarget::deepspeed, "deepspeed", kTraining, "deepspeed", "deepspeed", 0, {}},
    {LaunchTarget::maxtext, "maxtext", kTraining, "maxtext", "maxtext", 0, {}},
    {LaunchTarget::slurm, "slurm", kCluster, "", "", 0, {}},
    {LaunchTarget::k8s, "k8s", kCluster, "", "", 0, {"kubernetes"}},
    {LaunchTarget::dynamo, "dynamo", kCluster, "", "", 0, {}},
}};

constexpr bool in_order() {
  for (std::size_t i = 0; i < kTargets.size(); ++i) {
    if (static_cast<std::size_t>(kTargets[i].target) != i) return false;
  }
  return true;
}
static_assert(in_order(), "rows stand in the order of LaunchTarget");

const TargetRow& target_row(LaunchTarget target) {
  return kTargets[static_cast<std::size_t>(target)];
}

}  // namespace

std::string_view name(LaunchTarget target) {
  return target_row(target).name;
}

TargetKind kind(LaunchTarget target) {
  return target_row(target).kind;
}

std::string_view engine_of(LaunchTarget runner) {
  return target_row(runner).engine;
}

std::string_view profile_of(LaunchTarget runner) {
  return target_row(runner).profile;
}

std::string_view name(PoolRole role) {
  return role == PoolRole::prefill ? "prefill" : role == PoolRole::decode ? "decode" : "both";
}

std::string launch_target_list() {
  std::string out;
  for (std::size_t i = 0; i < kTargets.size(); ++i) {
    out += (i == 0 ? "" : i + 1 == kTargets.size() ? " or " : ", ") + std::string(kTargets[i].name);
  }
  return out;
}

Result<LaunchTarget> parse_launch_target(std::string_view text) {
  std::array<std::string_view, kLaunchTargets> names;
  for (std::size_t i = 0; i < kTargets.size(); ++i) {
    names[i] = kTargets[i].name;
    if (names[i] == text) return kTargets[i].target;
    for (const std::string_view other : kTargets[i].also) {
      if (!other.empty() && other == text) return kTargets[i].target;
    }
  }
  const std::string near = nearest(text, names.data(), names.size());
  return Error{ErrorCode::bad_input, "",
               fmt::format("nothing is emitted for {}; {}", quoted(text),
                           near.empty() ? "there are " + launch_target_list() : "did you mean " + near + "?")};
}

namespace launch {

int port_of(const LaunchPlan& plan) {
  return target_row(plan.runner).port;
}

Result<Process> process_of(const LaunchPlan& p, std::string_view port) {
  switch (p.runner) {
    case LaunchTarget::vllm:
      return vllm_server(p, port);
    case LaunchTarget::sglang:
      return sglang_server(p, port);
    case LaunchTarget::trtllm:
      return trtllm_server(p, port);
    case LaunchTarget::llamacpp:
      return llamacpp_server(p, port);
    case LaunchTarget::megatron:
      return megatron_job(p);
    case LaunchTarget::bridge:
      return bridge_job(p);
    case LaunchTarget::primus:
      return primus_job(p);
    case LaunchTarget::torchrun:
      return torchtitan_job(p);
    case LaunchTarget::deepspeed:
      return deepspeed_job(p);
    case LaunchTarget::maxtext:
      return maxtext_job(p);
    case LaunchTarget::slurm:
    case LaunchTarget::k8s:
    case LaunchTarget::dynamo:
      break;
  }
  return cannot(fmt::format("{} starts no engine by itself", name(p.runner)));
}

}  // namespace launch

}  // namespace ridge
