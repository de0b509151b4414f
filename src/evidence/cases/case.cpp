#include "evidence/cases/case.hpp"

#include <array>

namespace ridge::evidence {
namespace {

constexpr std::array<std::string_view, kMetrics> kMetricNames = {"step_time_s",
                                                                 "output_tok_s",
                                                                 "total_tok_s",
                                                                 "ttft_ms",
                                                                 "tpot_ms",
                                                                 "e2e_ms",
                                                                 "power_w",
                                                                 "joules_per_output_token",
                                                                 "batch_latency_s",
                                                                 "images_per_s",
                                                                 "energy_per_image_j",
                                                                 "seconds",
                                                                 "watts",
                                                                 "joules_per_token",
                                                                 "tokens_per_sec_per_gpu"};
constexpr std::array<std::string_view, kCaseKinds> kKindNames = {"training", "inference", "kernel", "power",
                                                                 "diffusion"};

}  // namespace

std::string_view name(CaseKind kind) {
  return kKindNames[static_cast<std::size_t>(kind)];
}

std::string_view name(Metric metric) {
  return kMetricNames[static_cast<std::size_t>(metric)];
}

std::optional<Metric> parse_metric(std::string_view text) {
  for (std::size_t i = 0; i < kMetrics; ++i) {
    if (kMetricNames[i] == text) return static_cast<Metric>(i);
  }
  return std::nullopt;
}

}  // namespace ridge::evidence
