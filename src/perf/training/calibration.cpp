#include <algorithm>
#include <cmath>
#include <string>

#include "perf/training/resolved.hpp"

namespace ridge {
namespace {

// Watts per 16-bit peak TFLOP/s at which training.gemm is quoted (an H100: 700 W, 989 TFLOP/s).
constexpr double kReferencePower = 0.708e-12;
// The year to which the drift of software is relative, and the span over which it is believed.
constexpr double kReferenceYear = 2025.0;
constexpr double kOldest = 2023.5;
constexpr double kNewest = 2026.7;
// Stacks for experts were measured for a shorter time, and moved faster.
constexpr double kReferenceMoe = 2026.0;
constexpr double kOldestMoe = 2025.4;

bool is_narrow(Format format) {
  return bytes_per_element(format) < 1.9;
}

/// Everything at its datasheet rate, nothing in between: the roofline that other predictions are compared with.
TrainingCoefficients ideal(const ResolvedTraining& job) {
  TrainingCoefficients c;
  const Format narrow = is_narrow(job.precision) && job.format_supported ? job.precision : Format::bf16;
  c.wide = perf::ideal_gemm_rates(job.rates, Format::bf16, Format::bf16);
  c.narrow = perf::ideal_gemm_rates(job.rates, narrow, narrow);
  c.attention_forward = c.attention_backward = job.peak_wide;
  c.bandwidth = job.memory_bandwidth;
  c.scale_up = job.up_peak;
  c.scale_out = c.dispatch = job.out_peak;
  c.tensor_exposed = c.context_exposed = c.expert_exposed = c.data_exposed = c.send_exposed = 0;
  c.optimizer_traffic = 30;
  c.scores_passes = 0;
  return c;
}

}  // namespace

Sureness training_sureness(const ResolvedTraining& job, const Calibration& calibration) {
  Sureness sure;
  if (job.ideal) return sure;
  if (!calibration.effects().empty()) {
    const std::string_view engine = job.named_engine ? std::string_view(job.engine) : std::string_view();
    const bool measured = calibration.knows_kernels_of(job.architecture);
    sure = calibration.effects().of("training", {job.device, job.own_architecture, measured}, engine);
    sure.own_rows = calibration.rows("user.time", job.family + (job.moe ? "-moe" : "-dense"));
  }
  sure.asked = job.asked;
  sure.own = calibration.own_runs().of(job.asked);
  return sure;
}

void calibrate(ResolvedTraining& job, const Calibration& calibration) {
  job.rates.architecture = job.architecture;
  if (job.ideal) {
    job.coefficients = ideal(job);
    return;
  }
  const std::string_view architecture = job.architecture;
  const bool narrow = is_narrow(job.precision) && job.format_supported;
  const Format compute = narrow ? job.precision : Format::bf16;
  const auto value = [&](std::string_view name, std::initializer_list<std::string_view> scopes = {}) {
    return calibration.value(name, scopes);
  };
  std::string_view software = job.family;
  if (job.traits.compiled) software = "compiled";
  if (job.traits.attention == AttentionKernel::unfused) software = "unfused";
  TrainingCoefficients c;
  const double watts = job.rates.tdp > 0 ? job.rates.tdp / job.peak_wide : kReferencePower;
  const double power = std::pow(watts / kReferencePower, value("training.gemm_power"));
  const std::string_view step = job.architecture_step;
  const std::string_view unit = job.rates.array_side > 1 ? "systolic" : "";
  const double wide_share = value("training.gemm", {architecture, step, unit}) * power;
  const double narrow_share =
      narrow ? value("training.gemm", {architecture, step, unit, name(job.precision)}) * power : wide_share;

  c.wide = perf::gemm_rates(job.rates, calibration, Format::bf16, Format::bf16, perf::Quantisation::fused);
  c.wide.flops = job.peak_wide * std::min(0.95, wide_share);
  c.narrow = perf::gemm_rates(job.rates, calibration, compute, compute, perf::Quantisation::fused);
  c.narrow.flops = (narrow ? job.peak : job.peak_wide) * std::min(0.95, narrow_share);

  // Software gets faster: kernels, overlap and fusion, year by year, within the span that was observed.
  // Stacks from before flash attention do not move any more, whenever they are run.
  // Stacks whose kernels others took over are as fast as the others were when they had done so.
  constexpr double kLead = 1;  // year: DeepSeek's of 2024-12 were in NVIDIA's recipes in the autumn of 2025
  const double made = job.year > 0 ? job.year + (job.traits.leading ? kLead : 0) : kNewest;
  const double year =
      job.traits.attention == AttentionKernel::unfused ? 0 : std::clamp(made, kOldest, kNewest) - kReferenceYear;
  c.compute_drift = std::exp(-value("training.drift") * year);
  const double moe_year = std::clamp(made, kOldestMoe, kNewest) - kReferenceMoe;
  // What got faster is moving tokens and starting many small kernels: the finer the experts, the more.
  c.moe_drift = std::exp(-value("training.drift_moe") * job.expert_fineness * moe_year);

  c.experts = 1 / value("training.experts");
  const double attention = job.peak_wide * value("training.attention", {architecture, step});
  // FlashAttention-2 issues the instructions of Ampere: a core twice as wide as Hopper's does no more of them.
  const bool portable = job.traits.attention == AttentionKernel::portable && architecture != "ampere";
  c.attention_forward =
      attention * (portable ? value("training.attention_portable") / std::max(1.0, job.rates.design.core_width) : 1);
  c.attention_backward = c.attention_forward * value("training.attention_backward");
  c.attention_ramp = value("training.attention_ramp");
  c.array_side = job.rates.array_side;
  c.narrow_head = value("training.attention_narrow_head");
  c.scores_passes = value("training.scores_passes");

  c.bandwidth = job.memory_bandwidth * job.rates.memory_share;
  c.elementwise = value("training.elementwise", {software});
  c.cast_bytes = narrow ? value("training.cast", {job.block_scales ? "block" : name(job.precision)}) : 0;
  c.loss_bytes = value("training.loss");
  c.optimizer_traffic = value("training.optimizer");
  c.launch = job.rates.launch;

  c.scale_up = job.up_peak * value("training.scale_up");
  c.scale_out = job.out_peak * value("training.scale_out", {architecture});
  const bool sends_once = job.traits.dispatch == ExpertDispatch::deduplicated;
  c.dispatch = sends_once ? job.out_peak * value("training.dispatch") : c.scale_out;
  c.scale_up_latency = value("training.scale_up_latency");
  c.scale_out_latency = value("training.scale_out_latency");
  c.tensor_exposed = job.traits.overlap_tensor_parallel ? value("training.tensor_exposed") : 1;
  c.context_exposed = value("training.context_exposed");
  c.expert_exposed = value("training.expert_exposed");
  c.data_exposed = job.traits.overlap_data_parallel ? value("training.data_exposed") : 1;
  c.send_exposed = value("training.send_exposed");
  c.shard_exposed = value("training.shard_exposed");
  c.permute_passes = value("training.permute");

  c.host_layer =
      job.traits.compiled ? 0 : value("training.host_layer", {software, job.traits.blocking ? "blocking" : ""});
  const std::string era_here = std::string(job.era) + "/" + std::string(architecture);  // recipes differ by chip
  const double routed = job.traits.compiled ? 0 : value("training.host_routed", {job.era, era_here});
  c.host_moe = routed * value("training.host_moe");
  c.host_expert = routed * value("training.host_expert");
  c.host_step = value("training.host_step");
  c.selective_share = value("training.selective", {software});
  c.adapters = value("training.adapters");
  c.unpack_bytes = value("training.unpack");
  c.usable = value("training.usable_memory");
  const std::string own = job.family + (job.moe ? "-moe" : "-dense");
  const Sureness sure = training_sureness(job, calibration);
  c.own_stack = value("user.time", {own}) * sure.time();

  const bool known = calibration.informed("training.gemm", architecture) &&
                     (job.own_architecture == architecture || calibration.informed("training.gemm", step));
  const std::string_view resembles = !known || !job.exact_engine ? "new-device" : job.moe ? "moe" : "dense";
  const IntervalClass* interval = calibration.interval("step_time_s", resembles);
  if (sure.rest("step_time_s") != nullptr) {
    const Spread80 spread = sure.spread("step_time_s", true);
    c.low = spread.low;
    c.high = spread.high;
  } else if (interval != nullptr) {
    c.low = interval->low;
    c.high = interval->high;
  }
  job.coefficients = c;
}

}  // namespace ridge
