// The trace of a step and the table of a scaling curve, read back as a program would.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>

#include "report/training/report.hpp"
#include "support/knowledge.hpp"

namespace ridge::report {
namespace {

using testing_support::knowledge;

TrainingAnswer answer_of(TrainingPlan plan) {
  TrainingQuery query;
  query.model = "llama3.1-70b";
  query.device = "h100-sxm";
  query.plan = plan;
  auto a = answer(query, {}, knowledge());
  EXPECT_TRUE(a);
  EXPECT_FALSE(a->refusal) << a->refusal->why;
  return std::move(*a);
}

struct Span {
  double start = 0, seconds = 0;
};
/// Events by stage, in order of their start.
std::map<int, std::vector<Span>> events_of(const std::string& trace) {
  std::map<int, std::vector<Span>> rows;
  const auto number = [&](std::size_t from, const char* key) {
    return std::strtod(trace.c_str() + trace.find(key, from) + std::string(key).size(), nullptr);
  };
  for (std::size_t at = trace.find("\"ph\": \"X\""); at != std::string::npos;
       at = trace.find("\"ph\": \"X\"", at + 1)) {
    rows[static_cast<int>(number(at, "\"tid\": "))].push_back(
        {number(at, "\"ts\": ") * 1e-6, number(at, "\"dur\": ") * 1e-6});
  }
  for (auto& [stage, spans] : rows) {
    std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) { return a.start < b.start; });
  }
  return rows;
}

TEST(TrainingTrace, LastsAsLongAsTheStepAndNeverOverlapsOnAStage) {
  for (const Schedule schedule :
       {Schedule::one_f_one_b, Schedule::interleaved, Schedule::zero_bubble, Schedule::dual_pipe}) {
    const TrainingAnswer a = answer_of({.gpus = 512,
                                        .tp = 8,
                                        .pp = 4,
                                        .vp = schedule == Schedule::interleaved ? 5 : 1,
                                        .sequence = 8192,
                                        .global_batch = 256,
                                        .schedule = schedule});
    const Result<std::string> trace = pipeline_trace(a);
    ASSERT_TRUE(trace) << name(schedule);
    const auto rows = events_of(*trace);
    ASSERT_EQ(rows.size(), 4u);
    double end = 0;
    for (const auto& [stage, spans] : rows) {
      double free = 0;
      for (const Span& s : spans) {
        EXPECT_GE(s.start, free - 2e-9) << name(schedule) << " stage " << stage;
        free = s.start + s.seconds;
      }
      end = std::max(end, free);
    }
    EXPECT_NEAR(end, a.outcome.estimate.step_time_s.mid, 1e-6 * end) << name(schedule);
  }
}

TEST(TrainingTrace, RefusesDualPipeWithTooFewMicroBatches) {
  const TrainingAnswer a = answer_of(
      {.gpus = 512, .tp = 8, .pp = 4, .vp = 1, .sequence = 8192, .global_batch = 64, .schedule = Schedule::dual_pipe});
  EXPECT_FALSE(pipeline_trace(a));
}

// A GPU-hour of $7.20 is $0.002 a second; at 1,000 tokens/s a million tokens take 1,000 s and cost $2.
TEST(TrainingScalingTable, DollarsAreRentOverTokens) {
  ScalingPoint point;
  point.plan.gpus = 64;
  point.plan.global_batch = 512;
  point.outcome.estimate.tokens_per_s = {64000, 64000, 64000};
  point.outcome.estimate.step_time_s = {1, 1, 1};
  point.efficiency = 1;
  ScalingCurve curve;
  curve.points = {point};
  // MFU, efficiency, dollars
  EXPECT_NE(to_csv(scaling_table(curve, 7.2)).find(",0,1,2,"), std::string::npos) << to_csv(scaling_table(curve, 7.2));
  EXPECT_NE(to_csv(scaling_table(curve)).find(",0,1,,"), std::string::npos) << to_csv(scaling_table(curve));
}

}  // namespace
}  // namespace ridge::report
