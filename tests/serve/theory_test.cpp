// Queues with a known answer: what the simulator becomes when the batch is one.
#include "support.hpp"

namespace ridge {
namespace {

using namespace testing_support;

/// One place and a microsecond per token: a request of n tokens is served in n microseconds.
ToySystem single_server(LengthKind kind, double load, double requests) {
  ToySystem s;
  s.shape.max_sequences = 1;
  s.query.workload = fixed_workload(1, 1000);
  s.query.workload.classes[0].output.kind = kind;
  s.query.load.rate = load / 1000e-6;
  s.query.requests = requests;
  return s;
}

// Pollaczek and Khinchine: the mean wait is rate x E[S^2] / (2 (1 - load)); E[S^2] = 2 E[S]^2 for exponential times.
TEST(SingleServer, ExponentialServiceWaitsAsMM1) {
  const SimulationResult r = single_server(LengthKind::exponential, 0.5, 2'000'000).run();
  const double service = 1000e-6;
  EXPECT_NEAR(r.wait.mean() / (0.5 * service / (1 - 0.5)), 1, 0.01);
  EXPECT_FALSE(r.overloaded);
  EXPECT_NEAR(r.busy_share, 0, 1e-12);  // the toy does no work that takes power
}

// E[S^2] = E[S]^2: half of that.
TEST(SingleServer, FixedServiceWaitsAsMD1) {
  const SimulationResult r = single_server(LengthKind::fixed, 0.7, 1'500'000).run();
  EXPECT_NEAR(r.wait.mean() / (0.7 * 1000e-6 / (2 * (1 - 0.7))), 1, 0.01);
}

// L = rate x W, for those that wait, those in service, and all. Exact over a run that starts and ends empty.
TEST(LittlesLaw, HoldsForTheQueueTheBatchAndTheSystem) {
  ToySystem s = single_server(LengthKind::exponential, 0.8, 50'000);
  s.shape.max_sequences = 8;
  s.query.load.rate *= 6;
  const SimulationResult r = s.run();
  const double rate = static_cast<double>(r.finished) / r.makespan;
  EXPECT_NEAR(r.mean_queue / (rate * r.wait.mean()), 1, 1e-9);
  EXPECT_NEAR(r.mean_in_system / (rate * r.e2e.mean()), 1, 1e-9);
  EXPECT_NEAR((r.mean_running * r.mean_engines) / (rate * (r.e2e.mean() - r.wait.mean())), 1, 1e-9);
}

TEST(Overload, IsSaidAndOnlyThen) {
  EXPECT_FALSE(single_server(LengthKind::exponential, 0.9, 50'000).run().overloaded);
  const SimulationResult r = single_server(LengthKind::exponential, 1.2, 50'000).run();
  EXPECT_TRUE(r.overloaded);
  // 1,200 requests per second come and 1,000 leave.
  EXPECT_NEAR(r.growth_per_s, 200, 20);
}

TEST(Conservation, TokensAndRequestsAreNeitherLostNorMade) {
  ToySystem s = single_server(LengthKind::lognormal, 0.9, 20'000);
  s.shape.max_sequences = 16;
  s.shape.blocks = 600;
  s.query.workload.classes[0].input = {.kind = LengthKind::lognormal, .mean = 500, .cv = 1, .high = 4000};
  s.query.workload.classes[0].output.high = 4000;
  s.query.load.rate *= 8;
  Recorder recorder;
  const SimulationResult r = s.run(&recorder);
  EXPECT_EQ(r.arrived, 20'000U);
  EXPECT_EQ(r.finished + r.too_long, r.arrived);
  std::uint64_t input = 0;
  std::uint64_t output = 0;
  for (const RequestRecord& one : recorder.requests) {
    input += one.input;
    output += one.output;
    ASSERT_LE(one.arrival, one.scheduled);
    ASSERT_LT(one.scheduled, one.first_token);
    ASSERT_LE(one.first_token, one.last_token);
  }
  EXPECT_EQ(input, r.input_tokens);
  EXPECT_EQ(output, r.output_tokens);
  // Every token but the first of a request comes after a gap.
  EXPECT_EQ(r.itl.count(), r.output_tokens - r.finished);
  EXPECT_GT(r.preemptions, 0U);
}

}  // namespace
}  // namespace ridge
