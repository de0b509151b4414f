// Schedules of a pipeline: nothing overlaps on a device, nobody starts before what it needs is there, and the bubble is
// what the papers say. F: forward, B: whole backward pass, W: weight gradients, p stages, m micro-batches.
#include "ridge/perf/timeline.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace ridge {
namespace {

constexpr double kForward = 1, kBackward = 2, kWeight = 1;

PipelineShape shape(Schedule schedule, int stages, int micro_batches, int chunks = 1) {
  return {.stages = stages,
          .chunks = chunks,
          .micro_batches = micro_batches,
          .forward = kForward,
          .backward = kBackward,
          .weight_gradient = kWeight,
          .schedule = schedule};
}

std::vector<PipelineShape> shapes() {
  return {
      shape(Schedule::one_f_one_b, 1, 5),    shape(Schedule::one_f_one_b, 4, 8),  shape(Schedule::one_f_one_b, 4, 2),
      shape(Schedule::interleaved, 4, 8, 3), shape(Schedule::zero_bubble, 4, 16), shape(Schedule::zero_bubble, 8, 9),
      shape(Schedule::dual_pipe, 2, 4),      shape(Schedule::dual_pipe, 8, 20),   shape(Schedule::dual_pipe, 16, 64)};
}

TEST(PipelineTimeline, NothingOverlapsOnADeviceAndAllWorkIsDone) {
  for (const PipelineShape& s : shapes()) {
    std::map<int, std::vector<TimelineEvent>> by_stage;
    for (const TimelineEvent& e : pipeline_timeline(s)) by_stage[e.stage].push_back(e);
    ASSERT_EQ(by_stage.size(), static_cast<std::size_t>(s.stages));
    for (auto& [stage, events] : by_stage) {
      double busy = 0;
      double free = 0;
      for (const TimelineEvent& e : events) {
        EXPECT_GE(e.start, free - 1e-9) << "stage " << stage;
        free = e.start + e.seconds;
        busy += e.seconds;
      }
      EXPECT_NEAR(busy, s.micro_batches * (kForward + kBackward), 1e-9) << "stage " << stage;
    }
  }
}

TEST(PipelineTimeline, ForwardGoesDownTheStagesAndBackwardUp) {
  for (const PipelineShape& s : shapes()) {
    std::map<std::tuple<int, int, int>, double> begun;  // micro-batch, chunk, stage
    std::map<std::tuple<int, int, int>, double> returned;
    for (const TimelineEvent& e : pipeline_timeline(s)) {
      const auto key = std::make_tuple(e.micro_batch, e.chunk, e.stage);
      if (e.work == PipelineWork::forward) begun[key] = e.start;
      if (e.work == PipelineWork::backward) returned[key] = e.start;
    }
    for (const auto& [key, start] : begun) {
      const auto [micro_batch, chunk, stage] = key;
      EXPECT_GT(returned.at(key), start);
      const bool upwards = s.schedule == Schedule::dual_pipe && chunk == 1;
      const auto next = std::make_tuple(micro_batch, chunk, stage + (upwards ? -1 : 1));
      if (begun.count(next) == 0) continue;
      EXPECT_GE(begun.at(next), start + kForward / s.chunks - 1e-9);
      EXPECT_LT(returned.at(next), returned.at(key));
    }
  }
}

// 1F1B: (p-1)(F+B); interleaved: that over the chunks (Narayanan et al. 2021, section 2.2).
TEST(PipelineTimeline, BubbleOfOneForwardOneBackward) {
  const double step = kForward + kBackward;
  EXPECT_NEAR(pipeline_span(pipeline_timeline(shape(Schedule::one_f_one_b, 4, 8))), (8 + 3) * step, 1e-9);
  EXPECT_NEAR(pipeline_span(pipeline_timeline(shape(Schedule::interleaved, 4, 8, 3))), (8 + 3 / 3.0) * step, 1e-9);
}

// ZB-H1: (p-1)(F+B-2W) (Qi et al. 2023, table 2).
TEST(PipelineTimeline, BubbleOfWeightGradientsPutOff) {
  for (const int stages : {2, 4, 8}) {
    const PipelineShape s = shape(Schedule::zero_bubble, stages, 4 * stages);
    const double bubble = (stages - 1) * (kForward + kBackward - 2 * kWeight);
    EXPECT_NEAR(pipeline_span(pipeline_timeline(s)), 4 * stages * (kForward + kBackward) + bubble, 1e-9) << stages;
  }
}

// DualPipe: (p/2-1)(F&B + B - 3W), here with F&B = F + B (DeepSeek-V3, table 2).
TEST(PipelineTimeline, BubbleOfBothDirections) {
  for (const int stages : {2, 4, 8, 16}) {
    const PipelineShape s = shape(Schedule::dual_pipe, stages, 4 * stages);
    const double bubble = (stages / 2 - 1) * (kForward + 2 * kBackward - 3 * kWeight);
    EXPECT_NEAR(pipeline_span(pipeline_timeline(s)), 4 * stages * (kForward + kBackward) + bubble, 1e-9) << stages;
  }
  EXPECT_TRUE(pipeline_timeline(shape(Schedule::dual_pipe, 3, 12)).empty()) << "an odd number of stages";
  EXPECT_TRUE(pipeline_timeline(shape(Schedule::dual_pipe, 8, 14)).empty()) << "too few micro-batches";
}

}  // namespace
}  // namespace ridge
