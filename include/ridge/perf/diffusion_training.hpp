// Training a diffusion model: one step from its passes, exchange of gradients and optimizer to time and memory.
//
//   DiffusionTrainingQuery q;
//   q.model = "flux.1-schnell"; q.device = "b200-sxm-180"; q.gpus = 16;
//   q.global_batch = 512; q.width = q.height = 256;
//   Result<DiffusionTrainingAnswer> a = answer(q, knowledge);
//   if (a->reason == Reason::none) use(a->estimate.step_s.mid, a->estimate.images_per_s.mid);
//
// A step noises `global_batch` images at one time each and passes them through the network once, forward and backward:
// no guidance, no decoder. The forward pass is that of ridge/perf/diffusion.hpp, compiled; the backward pass takes
// twice its products and two and a half times its attention. Gradients are exchanged while it runs, over the scale-up
// domain first. Weights and gradients in 16 bits on each device, optimizer states shared out over the replicas. What
// training makes of these is two parameters of data/calibration/diffusion_training.toml.
//
// Pure; any thread. Refuses (bad_input, not_found, refused): unknown names, language models, batches that do not
// divide. A plan that does not fit is an answer with `reason`, `short_by` and the largest micro-batch that would.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ridge/perf/inference.hpp"
#include "ridge/perf/perf.hpp"

namespace ridge {

/// Empty or zero = the usual choice, listed in `assumptions`.
struct DiffusionTrainingQuery {
  std::string model;
  std::string device;
  int gpus = 8;
  int tp = 1;               ///< devices that share one image's tokens and heads
  double global_batch = 0;  ///< images or clips of one step
  double micro_batch = 0;   ///< of one replica at once
  double width = 0, height = 0;
  double frames = 0;  ///< of a clip
  std::optional<Format> precision;
  bool text_encoders = false;  ///< run in every step; otherwise the embeddings were computed before
  bool recompute = false;      ///< activations of blocks are computed again in the backward pass
  double network_per_gpu = 0;  ///< bytes/s and direction
};

/// Seconds of one step as the physics has them, before the two parameters.
struct DiffusionTrainingParts {
  double forward = 0, backward = 0;  ///< of all micro-batches
  double text = 0;
  double exchange = 0;  ///< of gradients and new weights, whole
  double optimizer = 0;
};

struct DiffusionTrainingFactors {
  double passes = 1;  ///< on forward and backward
  double around = 0;  ///< seconds of a step: data, logging, start of graphs
  double spread = 0;  ///< of the logarithm of the step time
};
[[nodiscard]] DiffusionTrainingFactors diffusion_training_factors(const Calibration& calibration);

struct DiffusionTrainingEstimate {
  Interval step_s;
  Interval images_per_s;
  double forward_s = 0, backward_s = 0, text_s = 0, exposed_s = 0, optimizer_s = 0, around_s = 0;  ///< add up to step_s
  double flops_per_step = 0;  ///< useful: three times a forward pass, all devices
  double mfu = 0;
};
/// The step from its parts.
[[nodiscard]] DiffusionTrainingEstimate compose(const DiffusionTrainingParts& parts,
                                                const DiffusionTrainingFactors& factors, double global_batch);

/// Bytes of one device.
struct DiffusionTrainingMemory {
  double weights = 0, gradients = 0, optimizer = 0, activations = 0, text_encoders = 0;
  double capacity = 0;
  [[nodiscard]] double used() const { return weights + gradients + optimizer + activations + text_encoders; }
};

struct DiffusionTrainingAnswer {
  DiffusionTrainingQuery query;  ///< choices filled in
  Reason reason = Reason::none;
  double short_by = 0;             ///< bytes of one device
  double largest_micro_batch = 0;  ///< that fits; 0 = none does
  int dp = 1;
  double accumulation = 1;  ///< micro-batches of a step
  DiffusionTrainingParts parts;
  DiffusionTrainingMemory memory;
  DiffusionTrainingEstimate estimate;
  std::vector<std::string> assumptions;
};

Result<DiffusionTrainingAnswer> answer(const DiffusionTrainingQuery& query, const Knowledge& knowledge);

}  // namespace ridge
