// Runs of requests that come by themselves: predicted by playing them, since a formula without ramp and end says
// little.
#include <gtest/gtest.h>

#include "evidence/predict/predict.hpp"
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

}  // namespace
}  // namespace ridge::evidence
