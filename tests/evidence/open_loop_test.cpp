// Runs of requests that come by themselves: predicted by playing them, since a formula without ramp and end says
// little.
#include <gtest/gtest.h>

#include <cmath>

#include "evidence/predict/predict.hpp"
#include "ridge/serve/played_load.hpp"
#include "support/knowledge.hpp"

namespace ridge::evidence {
namespace {

/// TTFT in milliseconds and output per second of a run on one H100.
struct Run {
  double ttft = 0;
  double output = 0;
};

Run run(double rate, double requests, double answer = 100) {
  InferenceQuery q;
  q.model = "llama3.1-8b";
  q.device = "h100-sxm";
  q.gpus = q.tp = 1;
  q.load = {.mode = LoadMode::open_loop, .isl = 2000, .osl = answer, .rate = rate, .requests = requests};
  Case c;
  c.kind = CaseKind::inference;
  c.mode = "open-loop";
  c.input = q;
  c.targets = {{Metric::ttft_ms, 1}, {Metric::output_tok_s, 1}};
  const auto p = predict(c, testing_support::knowledge(), Basis::calibrated);
  EXPECT_TRUE(p[0].refusal.empty()) << p[0].refusal;
  return {p[0].value.mid, p[1].value.mid};
}

TEST(OpenLoopRuns, RequestsThatComeTogetherWaitForEachOthersPrompts) {
  const double alone = run(0.1, 20).ttft;
  const double all_at_once = run(1e4, 32).ttft;
  // In the mean half of the 32 prompts are worked on before one's own.
  EXPECT_GT(all_at_once, 5 * alone);
  EXPECT_LT(all_at_once, 32 * alone);
}

TEST(OpenLoopRuns, AShortRunAboveCapacityQueuesForItsOwnLengthOnly) {
  EXPECT_LT(run(100, 100).ttft, 0.5 * run(100, 800).ttft);
}

TEST(OpenLoopRuns, TheEndOfARunBelongsToIt) {
  const double asked = 4 * 1000.0;  // tokens a second
  EXPECT_LT(run(4, 20, 1000).output, 0.7 * asked);
  EXPECT_NEAR(run(4, 2000, 1000).output, asked, 0.05 * asked);
}

/// A list of 200 prompts at so many requests a second, new to the server or not.
InferenceQuery list_of(double rate, bool seen) {
  InferenceQuery q;
  q.model = "llama3.1-8b";
  q.device = "h100-sxm";
  q.gpus = q.tp = 1;
  q.load = {.mode = LoadMode::open_loop, .isl = 2000, .osl = 100, .rate = rate, .requests = 200};
  if (seen) {
    q.load.distinct = 200;
    q.load.prefix_hit = 0.97;
  }
  return q;
}

std::vector<Prediction> listed(double rate, bool seen) {
  Case c;
  c.kind = CaseKind::inference;
  c.mode = "open-loop";
  c.input = list_of(rate, seen);
  c.targets = {{Metric::ttft_ms, 1}, {Metric::output_tok_s, 1}};
  return predict(c, testing_support::knowledge(), Basis::calibrated);
}

TEST(OpenLoopRuns, AListThatTheServerHasSeenIsFoundInItsCache) {
  EXPECT_LT(listed(8, true)[0].value.mid, 0.5 * listed(8, false)[0].value.mid);
}

// Between the two times that the list is sent the engine rests: its mean watts would be those of rest.
TEST(OpenLoopRuns, OfAListSentTwiceNoPowerIsSaid) {
  const auto watts = [](bool seen) {
    const InferenceQuery q = list_of(8, seen);
    const auto played = play(played_load(q), q.load, testing_support::knowledge());
    return played ? played->power_w : -1.0;
  };
  EXPECT_EQ(watts(true), 0);
  EXPECT_GT(watts(false), 100);
}

// An engine a little slower than predicted lets a queue grow near saturation, and nothing much far from it.
TEST(OpenLoopRuns, IntervalsOfQueuesAreAsWideAsTheEngineIsUnsure) {
  const auto width = [](const Interval& i) { return std::log(i.high / i.low); };
  const auto idle = listed(1, false);
  const auto near = listed(14, false);
  EXPECT_GT(near[0].response.slower, 2 * idle[0].response.slower);
  EXPECT_GT(width(near[0].value), 1.5 * width(idle[0].value));
  EXPECT_LT(idle[1].response.slower, 0.2) << "what comes out is what came in";
  EXPECT_GT(listed(100, false)[1].response.slower, 0.8) << "what comes out is what the engine can do";
}

}  // namespace
}  // namespace ridge::evidence
