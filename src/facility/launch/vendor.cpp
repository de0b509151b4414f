#include "facility/launch/vendor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ridge::launch {

namespace {

constexpr Vendor kVendors[] = {
    {"NVIDIA", "nvidia.com/gpu", "CUDA_VISIBLE_DEVICES", "/dev/nvidia0", "nvidia.com/gpu.product", "NCCL"},
    {"AMD", "amd.com/gpu", "HIP_VISIBLE_DEVICES", "/dev/dri/renderD128", "amd.com/gpu.product-name", "NCCL"},
    {"Intel", "habana.ai/gaudi", "HABANA_VISIBLE_DEVICES", "/dev/accel/accel0", "", ""},
    {"Google", "google.com/tpu", "TPU_VISIBLE_CHIPS", "/dev/vfio/0", "", ""},
    {"AWS", "aws.amazon.com/neuron", "NEURON_RT_VISIBLE_CORES", "/dev/neuron0", "", ""},
    {"Huawei", "huawei.com/Ascend910", "ASCEND_RT_VISIBLE_DEVICES", "/dev/davinci0", "", ""},
    {"Apple", "", "", "", "", ""},
};

struct Pair {
  std::string_view vendor;
  LaunchTarget runner;
};
// NVIDIA runs all of them. vLLM elsewhere: built in (ROCm), or by the plugins vllm-gaudi, tpu-inference, vllm-neuron
// and vllm-ascend; SGLang: ROCm and Ascend; Megatron and torchtitan: ROCm; Primus is ROCm's own; DeepSpeed: ROCm and
// Gaudi; MaxText: TPU, CUDA and ROCm.
constexpr Pair kPairs[] = {
    {"AMD", LaunchTarget::vllm},        {"AMD", LaunchTarget::sglang},     {"AMD", LaunchTarget::llamacpp},
    {"AMD", LaunchTarget::megatron},    {"AMD", LaunchTarget::torchrun},   {"Intel", LaunchTarget::vllm},
    {"Google", LaunchTarget::vllm},     {"AWS", LaunchTarget::vllm},       {"Huawei", LaunchTarget::vllm},
    {"Huawei", LaunchTarget::sglang},   {"Apple", LaunchTarget::llamacpp}, {"AMD", LaunchTarget::primus},
    {"AMD", LaunchTarget::deepspeed},   {"AMD", LaunchTarget::maxtext},    {"Google", LaunchTarget::maxtext},
    {"Intel", LaunchTarget::deepspeed},
};

bool exists(LaunchTarget runner, std::string_view vendor) {
  if (vendor == "NVIDIA") return runner != LaunchTarget::primus;
  return std::any_of(std::begin(kPairs), std::end(kPairs),
                     [&](const Pair& p) { return p.vendor == vendor && p.runner == runner; });
}

}  // namespace

const Vendor& vendor_named(std::string_view name) {
  for (const Vendor& v : kVendors) {
    if (v.name == name) return v;
  }
  return kVendors[0];
}

Status runs_on(LaunchTarget runner, std::string_view vendor, std::string_view architecture, std::string_view device) {
  const auto refuse = [&](std::string why) { return Error{ErrorCode::refused, "⟦for⟧", std::move(why)}; };
  if (exists(runner, vendor)) {
    const bool old = architecture == "volta" || architecture == "turing";
    if (old && (runner == LaunchTarget::trtllm || (runner == LaunchTarget::sglang && architecture == "volta"))) {
      return refuse(
          fmt::format("{} has no kernels for {} ({}): emit for vllm or llamacpp", name(runner), device, architecture));
    }
    return {};
  }
  std::string others;
  for (const Pair& p : kPairs) {
    if (p.vendor == vendor && trains(p.runner) == trains(runner)) {
      others += (others.empty() ? "" : ", ") + std::string(name(p.runner));
    }
  }
  if (!others.empty()) {
    return refuse(fmt::format("{} does not run on {} of {}: emit for {}", name(runner), device, vendor, others));
  }
  if (vendor == "NVIDIA") {
    return refuse(fmt::format("{} does not run on {} of {}: emit for megatron", name(runner), device, vendor));
  }
  if (trains(runner) && vendor == "AWS") {
    return refuse(
        fmt::format("{} does not run on {} of {}; its training goes by NeuronX Distributed, which is not emitted",
                    name(runner), device, vendor));
  }
  return refuse(
      fmt::format("no engine that is emitted {} on {} of {}", trains(runner) ? "trains" : "serves", device, vendor));
}

std::string image_of(const LaunchPlan& p) {
  const bool nvidia = p.vendor.empty() || p.vendor == "NVIDIA";
  const bool amd = p.vendor == "AMD";
  if (p.release.empty()) return {};
  switch (p.runner) {
    case LaunchTarget::vllm:
      if (nvidia) return "vllm/vllm-openai:v" + p.release;
      if (amd) return "vllm/vllm-openai-rocm:v" + p.release;
      break;
    case LaunchTarget::sglang:
      if (nvidia) return "lmsysorg/sglang:v" + p.release;
      break;
    case LaunchTarget::trtllm:
      if (nvidia) return "nvcr.io/nvidia/tensorrt-llm/release:1.3.0rc12";
      break;
    case LaunchTarget::llamacpp:
      if (nvidia) return "ghcr.io/ggml-org/llama.cpp:server-cuda-" + p.release;
      if (amd) return "ghcr.io/ggml-org/llama.cpp:server-rocm-" + p.release;
      break;
    case LaunchTarget::megatron:
    case LaunchTarget::torchrun:
    case LaunchTarget::deepspeed:
      if (nvidia) return "nvcr.io/nvidia/pytorch:26.01-py3";
      break;
    case LaunchTarget::bridge:
    case LaunchTarget::primus:
    case LaunchTarget::maxtext:
    case LaunchTarget::slurm:
    case LaunchTarget::k8s:
    case LaunchTarget::dynamo:
      break;
  }
  return {};
}

std::string device_files(const Vendor& vendor, int count) {
  if (count == 1) return std::string(vendor.files);
  std::size_t digits = vendor.files.size();
  while (digits > 0 && vendor.files[digits - 1] >= '0' && vendor.files[digits - 1] <= '9') --digits;
  const int first = std::stoi(std::string(vendor.files.substr(digits)));
  return fmt::format("{}[{}-{}]", vendor.files.substr(0, digits), first, first + count - 1);
}

std::string_view product_label(std::string_view device) {
  // As GPU feature discovery writes nvidia-smi's name of the product.
  constexpr std::pair<std::string_view, std::string_view> kProducts[] = {
      {"a100-sxm-40", "NVIDIA-A100-SXM4-40GB"},
      {"a100-sxm-80", "NVIDIA-A100-SXM4-80GB"},
      {"a100-pcie-80", "NVIDIA-A100-80GB-PCIe"},
      {"h100-sxm", "NVIDIA-H100-80GB-HBM3"},
      {"h100-pcie", "NVIDIA-H100-PCIe"},
      {"h100-nvl", "NVIDIA-H100-NVL"},
      {"h200-sxm", "NVIDIA-H200"},
      {"h200-nvl", "NVIDIA-H200-NVL"},
      {"b200-sxm-180", "NVIDIA-B200"},
      {"b200-sxm-192", "NVIDIA-B200"},
      {"b300-sxm", "NVIDIA-B300-SXM6-AC"},
      {"gb200-nvl72", "NVIDIA-GB200"},
      {"gb300-nvl72", "NVIDIA-GB300"},
      {"l40s", "NVIDIA-L40S"},
      {"l40", "NVIDIA-L40"},
      {"l4", "NVIDIA-L4"},
      {"a10", "NVIDIA-A10"},
      {"a30", "NVIDIA-A30"},
      {"a40", "NVIDIA-A40"},
      {"t4", "Tesla-T4"},
  };
  for (const auto& [id, label] : kProducts) {
    if (id == device) return label;
  }
  return {};
}

}  // namespace ridge::launch
