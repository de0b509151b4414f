#include "perf/inference/experts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "perf/operators/kernels.hpp"

namespace ridge::perf {
namespace {

constexpr double kMostCopies = 1;  ///< of an expert beside itself, on average

/// The layer with most experts.
const Ffn& experts_of(const Model& model) {
  return std::max_element(model.groups.begin(), model.groups.end(),
                          [](const LayerGroup& a, const LayerGroup& b) { return a.ffn.experts < b.ffn.experts; })
      ->ffn;
}

/// Of one element on the way out: narrow ones travel with their scales.
double bytes_on_the_way(Format format) {
  switch (format) {
    case Format::fp8:
    case Format::int8:
      return 1 + 4.0 / 128;  // one 32-bit scale per block (DeepEP)
    case Format::mxfp8:
      return 1 + 1.0 / 32;
    case Format::nvfp4:
      return 0.5 + 1.0 / 16;
    case Format::mxfp4:
      return 0.5 + 1.0 / 32;
    default:
      return 2;
  }
}

/// The busiest rank against the mean. Texts prefer some experts; the more of a token's choices fall on one rank, the
/// more that evens out, and the largest of `ep` ranks lies sqrt(2 ln ep) standard deviations above the mean.
double busiest_rank(double ep, double top_k, double of_eight) {
  constexpr double kRanks = 8;
  constexpr double kChosen = 8;
  return 1 + (of_eight - 1) * std::sqrt(std::log(ep) / std::log(kRanks) * (ep / kRanks) * (kChosen / top_k));
}

/// The datasheet alone: no latency, and no messages that pass through other devices.
ExchangeRates full_links(const Device& device, double nic) {
  ExchangeRates r;
  r.scale_up = device.scale_up_per_direction ? device.scale_up_per_direction->value.value() : pcie_bandwidth(device);
  r.scale_out = nic;
  return r;
}

}  // namespace

std::vector<std::string> place_experts(ResolvedInference& r, const Model& model, const ExpertSetting& s,
                                       const Calibration& calibration) {
  std::vector<std::string> said;
  if (!model.is_moe()) return said;
  const Ffn& layer = experts_of(model);
  const double experts = layer.experts;
  const double asked = std::max(s.plan.redundant, 0);
  const double local = std::ceil((experts + asked) / r.ep);
  r.redundant = local * r.ep - experts;
  // Ranks that do not share a layer's experts out evenly, or hold more copies than experts.
  if (std::fmod(r.expert_ranks, r.ep) != 0 || r.redundant > asked + kMostCopies * experts) {
    if (r.reason == Reason::none) {
      r.reason = Reason::experts_not_divisible;
      r.short_by = r.ep;
    }
    return said;
  }
  if (r.redundant > 0) {
    said.push_back(fmt::format("{:.0f} experts and {:.0f} copies of them in each layer, {:.0f} on each of {:.0f} ranks",
                               experts, r.redundant, local, r.ep));
    if (s.plan.redundant > 0 && r.redundant != asked)
      said.back() += fmt::format(" ({:.0f} copies do not deal them out evenly)", asked);
  }
  // Where one more choice is written down beside several: DeepSeek-V3 and its like, not Llama 4 (one choice) or ERNIE
  // (two shared experts).
  const auto& fused_on = s.traits.fuses_shared_on;
  r.fuses_shared = r.ep <= 1 && !r.ideal && s.weights != Format::mxfp4 && layer.shared_experts == 1 &&
                   layer.top_k > 1 && layer.shared_width == layer.width &&
                   std::find(fused_on.begin(), fused_on.end(), r.device.architecture) != fused_on.end();
  if (r.fuses_shared) said.emplace_back("the shared expert is computed with the routed ones");
  r.ranks_inside = std::clamp(s.domain, 1.0, r.expert_ranks);
  r.bytes_out = bytes_on_the_way(s.sent);
  r.exchange_cores = calibration.value("exchange.cores");
  if (r.ep > 1) r.expert_imbalance = busiest_rank(r.ep, layer.top_k, calibration.value("experts.imbalance"));
  if (!r.attention_dp || r.expert_ranks <= 1) return said;
  if (r.ideal) {  // whatever moves least, on full links, hidden behind the work
    r.exchange = s.plan.exchange.value_or(ExpertExchange::dispatch);
    r.exchange_rates = full_links(s.device, s.nic);
    return said;
  }

  const bool wide = s.device.design.expert_dispatch && s.traits.dispatch_ranks > 0 &&
                    r.expert_ranks >= s.traits.dispatch_ranks && s.domain > 1 && r.ep > 1;
  r.exchange = s.plan.exchange.value_or(wide ? ExpertExchange::dispatch : ExpertExchange::gather);
  if (!s.plan.exchange) {
    said.push_back(r.exchange == ExpertExchange::gather
                       ? "ranks gather all tokens for their experts, as this engine does by default"
                       : "tokens go to their experts by dispatch kernels: low-latency ones in decode steps, throughput "
                         "ones with prompts");
  }
  r.exchange_rates = exchange_rates(s.device, s.nic, r.expert_ranks, calibration);
  const bool kernels = r.exchange != ExpertExchange::gather;
  const bool crosses = r.expert_ranks > r.ranks_inside;
  r.two_batches = s.plan.two_batches.value_or(kernels && crosses && s.traits.two_batches);
  if (r.two_batches && !s.plan.two_batches) {
    said.emplace_back("two halves of a batch hide each other's exchange of tokens where that is faster");
  }
  r.rebalanced = s.plan.rebalanced.value_or(kernels && s.traits.rebalances_experts);
  if (r.rebalanced) {
    r.expert_imbalance = 1 + (r.expert_imbalance - 1) * calibration.value("experts.rebalanced");
    if (!s.plan.rebalanced) said.emplace_back("experts are placed by their load");
  }
  return said;
}

}  // namespace ridge::perf
