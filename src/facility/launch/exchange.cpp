#include "facility/launch/exchange.hpp"

namespace ridge::launch {

namespace {

ExchangeFlags vllm_flags(const LaunchPlan& p) {
  const bool amd = p.vendor == "AMD";
  const std::string_view fast = amd ? "mori_low_latency" : "deepep_low_latency";
  const std::string_view wide = amd ? "mori_high_throughput" : "deepep_high_throughput";
  switch (*p.exchange) {
    case ExpertExchange::gather:
      break;
    case ExpertExchange::low_latency:
      return {fast, {}};
    case ExpertExchange::throughput:
      return {wide, {}};
    case ExpertExchange::dispatch:
      // A server of one pool has steps of one kind. One that has both takes DeepEP's second generation, whose buffers
      // serve either; AMD's kernels have no such one, and the overlap of two batches does not go with it.
      if (p.role == PoolRole::prefill) return {wide, {}};
      if (p.role == PoolRole::decode || amd || p.two_batches) return {fast, {}};
      return {"deepep_v2", {}};
  }
  return {};
}

ExchangeFlags sglang_flags(const LaunchPlan& p) {
  const std::string_view backend = p.vendor == "AMD" ? "mori" : "deepep";
  switch (*p.exchange) {
    case ExpertExchange::gather:
      break;
    case ExpertExchange::low_latency:
      return {backend, "low_latency"};
    case ExpertExchange::throughput:
      return {backend, "normal"};
    case ExpertExchange::dispatch:
      return {backend, "auto"};
  }
  return {};
}

}  // namespace

ExchangeFlags exchange_flags(const LaunchPlan& p) {
  const bool known = p.vendor.empty() || p.vendor == "NVIDIA" || p.vendor == "AMD";
  if (!p.exchange) return {};
  if (p.runner == LaunchTarget::vllm && known) return vllm_flags(p);
  if (p.runner == LaunchTarget::sglang && (known || p.vendor == "Huawei")) return sglang_flags(p);
  return {};
}

std::optional<ExpertExchange> exchange_of(LaunchTarget runner, const ExchangeFlags& flags) {
  const auto has = [&](std::string_view part) { return flags.backend.find(part) != std::string_view::npos; };
  if (flags.backend.empty() || flags.backend == "none" || flags.backend == "naive" || has("allgather")) {
    return ExpertExchange::gather;
  }
  if (runner == LaunchTarget::sglang) {
    if (flags.mode == "low_latency") return ExpertExchange::low_latency;
    if (flags.mode == "normal") return ExpertExchange::throughput;
    return ExpertExchange::dispatch;
  }
  if (has("low_latency") || has("pplx") || has("nixl")) return ExpertExchange::low_latency;
  if (has("high_throughput") || has("flashinfer")) return ExpertExchange::throughput;
  if (has("deepep")) return ExpertExchange::dispatch;
  return std::nullopt;
}

bool overlaps_batches(const LaunchPlan& p) {
  if (!p.exchange || *p.exchange == ExpertExchange::gather) return false;
  // vLLM's runs around DeepEP's kernels alone (vllm/config, "Microbatching").
  if (p.runner == LaunchTarget::vllm) return p.vendor.empty() || p.vendor == "NVIDIA";
  return p.runner == LaunchTarget::sglang;
}

}  // namespace ridge::launch
