// When each stage of a pipeline works on which micro-batch.
//
//   PipelineShape p{.stages = 4, .micro_batches = 8, .forward = 1.0, .backward = 2.0};
//   std::vector<TimelineEvent> events = pipeline_timeline(p);     // in the order of their start
//   pipeline_span(events);                                        // 33: 8 x 3 and a bubble of 3 x 3
//
// 1F1B; interleaved where chunks > 1 and the micro-batches are a multiple of the stages (Narayanan et al. 2021); with
// zero_bubble the weight gradients wait for gaps (ZB-H1, Qi et al. 2023); DualPipe where stages and micro-batches are
// even and there are at least twice as many micro-batches as stages (DeepSeek-V3). Transfers are not drawn. Pure; any
// thread.
#pragma once

#include <cstdint>
#include <vector>

#include "ridge/perf/training.hpp"

namespace ridge {

enum class PipelineWork : std::uint8_t { forward, backward, weight_gradient };

struct PipelineShape {
  int stages = 1;
  int chunks = 1;  ///< of one stage
  int micro_batches = 1;
  double forward = 0;          ///< seconds of one micro-batch on one stage, all chunks together
  double backward = 0;         ///< the same, weight gradients included
  double weight_gradient = 0;  ///< of the backward time, what may be done later
  Schedule schedule = Schedule::one_f_one_b;
};

struct TimelineEvent {
  int stage = 0;
  int chunk = 0;
  int micro_batch = 0;
  PipelineWork work = PipelineWork::forward;
  double start = 0;
  double seconds = 0;
};

/// Empty if a figure is not positive, or DualPipe cannot be laid out. An event's `chunk` is a direction under DualPipe.
[[nodiscard]] std::vector<TimelineEvent> pipeline_timeline(const PipelineShape& shape);
/// From the first start to the last end.
[[nodiscard]] double pipeline_span(const std::vector<TimelineEvent>& events);

}  // namespace ridge
