// One micro-batch through all layers, forward and backward, on one device. Internal to src/perf.
//
//   Passes p = layer_passes(job, plan, degrees);
//   p.forward.linear;       // seconds in dense products, all layers
//   p.backward.exposed();   // collectives that nothing hides
//
// Pure, noexcept, no allocation.
#pragma once

#include "perf/training/network.hpp"

namespace ridge {

/// Seconds of one pass of the mean of all layers times their number, on one device, for one micro-batch.
struct Pass {
  double linear = 0, attention = 0, state = 0, experts = 0, elementwise = 0;
  double weight = 0;                     ///< of linear and experts: gradients of weights, which can wait
  double tensor = 0;                     ///< exposed collectives of TP
  double context = 0;                    ///< of CP
  double expert_up = 0, expert_out = 0;  ///< of EP, by the tier that limits

  [[nodiscard]] double compute() const { return linear + attention + state + experts + elementwise; }
  [[nodiscard]] double exposed() const { return tensor + context + expert_up + expert_out; }
  [[nodiscard]] double total() const { return compute() + exposed(); }
};

struct Passes {
  Pass forward, backward;
};
[[nodiscard]] Passes layer_passes(const ResolvedTraining& job, const TrainingPlan& plan, const Degrees& d) noexcept;

/// evaluate() with what depends on few of the degrees already known, so that a search computes it once for many plans:
/// `d` of plan_degrees(), `passes` of layer_passes() and `head` of head_time() for the same plan.
[[nodiscard]] TrainingOutcome evaluate_passes(const ResolvedTraining& job, const TrainingPlan& plan, const Degrees& d,
                                              const Passes& passes, double head) noexcept;

/// What no plan of these degrees and this schedule goes below, whatever it recomputes, offloads or does about context
/// parallelism: for searches that leave out what cannot be best.
///
/// Of the stages' times t_i, summing to S, the longest is at least S / pp. A step takes m micro-batches through the
/// longest and one through the others, of which schedules leave the share u, so it is at least
/// (m - u) S / pp + u S = (m + (pp - 1) u) S / pp. S is at least what layers and head compute and expose.
struct StepFloor {
  double seconds = 0;
  double joules = 0;
  double bytes = 0;  ///< of the fullest stage
};
/// `exposed_least` is the least that collectives of the layers expose, forward and backward, one micro-batch.
[[nodiscard]] StepFloor step_floor(const ResolvedTraining& job, const TrainingPlan& plan, const Degrees& d,
                                   const Passes& passes, double exposed_least, double head) noexcept;

/// Head and loss of one micro-batch, forward and backward.
[[nodiscard]] double head_time(const ResolvedTraining& job, const Degrees& d) noexcept;

}  // namespace ridge
