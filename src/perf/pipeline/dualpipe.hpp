// The schedule of DualPipe as a timeline. Internal to src/perf; pipeline_timeline() calls it.
#pragma once

#include "ridge/perf/timeline.hpp"

namespace ridge {

/// `chunk` of an event is the direction from which its micro-batch came. Empty unless stages and micro-batches are even
/// and there are twice as many micro-batches as stages.
[[nodiscard]] std::vector<TimelineEvent> dualpipe_timeline(const PipelineShape& shape);

}  // namespace ridge
