// Engines that fail faster than they answer: the simulation ends and says so.
#include <gtest/gtest.h>

#include "ridge/serve/simulation.hpp"
#include "support/bundle.hpp"

namespace ridge {
namespace {

SimulationQuery failing(double mean_time_between) {
  SimulationQuery q;
  q.deployment.model = "llama3.1-8b";
  q.deployment.device = "h100-sxm";
  q.workload = fixed_workload(1000, 250);
  q.load.kind = OfferedKind::rate;
  q.load.rate = 5;
  q.requests = 50;
  q.policies.failures.mean_time_between = mean_time_between;
  q.policies.failures.repair = 1;
  return q;
}

TEST(Failures, EnginesThatFailFasterThanTheyAnswerAreRefused) {
  const auto result = simulate(failing(0.04), testing_support::knowledge());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::refused);
  EXPECT_NE(result.error().message.find("no request was finished"), std::string::npos);
}

TEST(Failures, EnginesThatFailNowAndThenAreNot) {
  const auto result = simulate(failing(20), testing_support::knowledge());
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->finished, 50u);
}

}  // namespace
}  // namespace ridge
