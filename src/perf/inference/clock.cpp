// What a power cap leaves of the speed of a deployment.
#include <algorithm>
#include <limits>

#include "perf/inference/resolved.hpp"

namespace ridge::perf {

namespace {

void slow_products(GemmRates& g, double clock, double memory) noexcept {
  g.flops *= clock;
  g.step /= clock;
  g.bandwidth *= memory;
}

void slow_attention(AttentionRates& a, double clock, double memory) noexcept {
  for (double* rate : {&a.prefill_flops, &a.index_flops, &a.exponentials, &a.decode_flops, &a.mla_prefill_flops,
                       &a.mla_decode_flops}) {
    *rate *= clock;
  }
  for (double* seconds :
       {&a.step, &a.per_head, &a.lone_sequence, &a.scalar_single, &a.scalar_by_head, &a.scalar_wide, &a.mla_scalar}) {
    *seconds /= clock;
  }
  for (double* rate : {&a.token_bandwidth, &a.decode_bandwidth, &a.mla_decode_bandwidth}) *rate *= memory;
}

void set_clock(ResolvedInference& r, double clock) noexcept {
  const double memory = memory_left(r.device, clock);
  for (GemmRates& g : r.gemm) slow_products(g, clock, memory);
  slow_products(r.moe.gemm, clock, memory);
  r.moe.tile_step /= clock;
  slow_attention(r.attention, clock, memory);
  r.device.memory_share *= memory;
  r.device.clock = clock;
}

/// What is lost is not known well: wider, but never faster than without the cap, and never above the cap.
void widen(ResolvedInference& r, std::size_t mode, double kept, double most_power) noexcept {
  const double lost = std::clamp(1 - kept, 0.0, 0.99);
  const double slower = 1 - kUnsureOfCap * lost;
  const double faster = std::min(1 + kUnsureOfCap * lost, 1 / kept);
  for (std::size_t i = 0; i < kMetrics; ++i) {
    Spread& s = r.spread[mode][i];
    const auto metric = static_cast<Metric>(i);
    if (metric == Metric::power) {
      s.high = std::min(s.high, std::max(1.0, most_power));
    } else if (metric == Metric::output_tok_s) {
      s = {s.low * slower, s.high * faster};
    } else {
      s = {s.low / faster, s.high / slower};
    }
  }
}

}  // namespace

ResolvedInference within_cap(const ResolvedInference& deployment, const InferenceLoad& load) noexcept {
  ResolvedInference full = deployment;
  full.device.power_cap = 0;
  if (deployment.device.power_cap <= 0) return full;
  const double cap = deployment.device.power_cap;
  const InferenceOutcome uncapped = evaluate(full, load);
  const double watts = uncapped.estimate.power_w.mid / deployment.gpus;
  if (uncapped.reason != Reason::none || watts <= cap) return full;
  // The board's own limit holds the mean down already: what the activity alone would draw is scaled to that.
  ResolvedInference open = full;
  open.power.cap = std::numeric_limits<double>::infinity();
  const double asked = evaluate(open, load).estimate.power_w.mid / deployment.gpus;
  const double idle = full.power.idle * full.device.tdp;
  full.device.overdrawn = std::max(1.0, (asked - idle) / std::max(watts - idle, 1e-9));
  const auto at = [&](double clock) {
    ResolvedInference slower = full;
    set_clock(slower, clock);
    return slower;
  };
  const double clock =
      clock_within(cap, [&](double c) { return evaluate(at(c), load).estimate.power_w.mid / deployment.gpus; });
  ResolvedInference capped = at(clock);
  const InferenceEstimate e = evaluate(capped, load).estimate;
  const double before = uncapped.estimate.output_tokens_per_s.mid;
  const double kept = before > 0 ? e.output_tokens_per_s.mid / before
                                 : uncapped.estimate.prefill_s.mid / std::max(e.prefill_s.mid, 1e-12);
  widen(capped, static_cast<std::size_t>(load.mode), kept, cap * deployment.gpus / std::max(e.power_w.mid, 1e-9));
  return capped;
}

}  // namespace ridge::perf
