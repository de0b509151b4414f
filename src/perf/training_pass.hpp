// One micro-batch through all layers, forward and backward, on one device. Internal to src/perf.
//
//   Passes p = layer_passes(job, plan, degrees);
//   p.forward.linear;       // seconds in dense products, all layers
//   p.backward.exposed();   // collectives that nothing hides
//
// Pure, noexcept, no allocation.
#pragma once

#include "perf/training_model.hpp"

namespace ridge {

/// Seconds of one pass of the mean of all layers times their number, on one device, for one micro-batch.
struct Pass {
  double linear = 0, attention = 0, state = 0, experts = 0, elementwise = 0;
  double tensor = 0;                     ///< exposed collectives of TP
  double context = 0;                    ///< of CP
  double expert_up = 0, expert_out = 0;  ///< of EP, by the tier that limits

  [[nodiscard]] double compute() const { return linear + attention + state + experts + elementwise; }
  [[nodiscard]] double exposed() const { return tensor + context + expert_up + expert_out; }
  [[nodiscard]] double total() const { return compute() + exposed(); }
};

struct Tier {
  double seconds_per_byte = 0;  ///< of a ring over the group, per byte of the whole buffer
  double latency = 0;
  bool crosses = false;  ///< leaves the scale-up domain
};

/// A group of `ranks` devices, `stride` apart in rank order. Inside a domain a ring runs at the scale-up rate; across
/// domains each member brings its own network port to the ring, and the slower of the two tiers limits.
[[nodiscard]] Tier tier(const ResolvedTraining& job, double ranks, double stride) noexcept;

struct Passes {
  Pass forward, backward;
};
[[nodiscard]] Passes layer_passes(const ResolvedTraining& job, const TrainingPlan& plan, const Degrees& d) noexcept;

/// Head and loss of one micro-batch, forward and backward.
[[nodiscard]] double head_time(const ResolvedTraining& job, const Degrees& d) noexcept;

}  // namespace ridge
