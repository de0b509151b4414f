#include <gtest/gtest.h>

#include "report/simulate/report.hpp"

namespace ridge::report {
namespace {

SimulationAnswer answered() {
  SimulationAnswer a;
  a.query.deployment.model = "llama3.1-8b";
  a.query.workload.name = "chat";
  a.query.load = {.kind = OfferedKind::rate, .rate = 5};
  a.result.facts.device = "h100-sxm";
  a.result.facts.engine = "vllm";
  for (int i = 1; i <= 100; ++i) {
    a.result.ttft.add(i * static_cast<std::int64_t>(kTicksPerSecond / 1000));
    a.result.e2e.add(i * static_cast<std::int64_t>(kTicksPerSecond / 10));
  }
  a.result.timeline = {{.start = 0, .running = 3}, {.start = 300, .running = 4}, {.start = 600, .running = 2}};
  a.result.timeline_step = 300;
  return a;
}

bool holds(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(SimulationTitle, NamesTheDevicesOfBothPools) {
  SimulationAnswer a = answered();
  a.result.engines = 3;
  a.result.gpus = 5;
  a.result.prefill_engines = 2;
  a.result.prefill_facts.device = "l40s";
  a.result.prefill_facts.gpus = a.result.prefill_facts.tp = 2;
  EXPECT_TRUE(holds(simulation_title(a), "on 4 × l40s, TP 2, 2 replicas for prompts and 1 × h100-sxm for decoding"))
      << simulation_title(a);
}

TEST(SimulationTitle, EnginesThatComeAndGoAreAtMostSoMany) {
  SimulationAnswer a = answered();
  a.result.engines = 4;
  a.result.gpus = 4;
  EXPECT_TRUE(holds(simulation_title(a), "on 4 × h100-sxm, 4 replicas"));
  a.query.policies.autoscaling = Autoscaling{};
  EXPECT_TRUE(holds(simulation_title(a), "on up to 4 × h100-sxm, 4 replicas"));
}

TEST(SimulationPage, SaysInWordsWhatLimitsTheRate) {
  SimulationAnswer a = answered();
  a.search = RateSearch{.rate = 5, .at_rate = {}, .refused_rate = 5.1, .simulations = 3, .limited_by = "ttft"};
  EXPECT_TRUE(holds(to_markdown(simulation_page(a)), "at 5.10 the time to first token is too long"));
  a.search->limited_by = "overload";
  EXPECT_TRUE(holds(to_markdown(simulation_page(a)), "at 5.10 more come than can be served"));
}

TEST(SimulationPage, ALimitThatNoRateHoldsIsNamedWithWhatItTakes) {
  SimulationAnswer a = answered();
  a.result.finished = 100;
  a.query.limits = {.ttft = 0.001, .share = 0.95};  // first tokens come after 1 to 100 ms: 95 ms for 95 %
  a.search = RateSearch{.rate = 0, .at_rate = {}, .refused_rate = 0.1, .simulations = 3, .limited_by = "ttft"};
  const std::string page = to_markdown(simulation_page(a));
  EXPECT_TRUE(holds(page, "misses that of the time to first token already, 95")) << page;
  EXPECT_TRUE(holds(page, "where 1.00 ms is asked")) << page;
  EXPECT_TRUE(holds(page, "--ttft 95")) << page;
}

TEST(SimulationPage, PowerThatIsNotPublishedIsNotZero) {
  SimulationAnswer a = answered();
  a.result.finished = a.result.output_tokens = 100;
  EXPECT_TRUE(holds(to_markdown(simulation_page(a)), "not published"));
  EXPECT_TRUE(holds(simulation_json(a).text(), R"("mean_power_w": null)"));
  a.result.energy_j = a.result.mean_power_w = 500;
  EXPECT_FALSE(holds(to_markdown(simulation_page(a)), "not published"));
  EXPECT_TRUE(holds(simulation_json(a).text(), R"("mean_power_w": 500)"));
}

TEST(SimulationHtml, AxesHaveUnitsThatFitTheNumbers) {
  SimulationAnswer a = answered();
  a.query.limits.ttft = 0.05;
  const std::string page = simulation_html(a, {});
  EXPECT_TRUE(holds(page, ">ms</text>")) << "first tokens within 100 ms";
  EXPECT_TRUE(holds(page, ">s</text>")) << "requests within 10 s";
  EXPECT_TRUE(holds(page, "min since the start")) << "fifteen minutes";
  EXPECT_TRUE(holds(page, "% of requests within"));
  EXPECT_TRUE(holds(page, "limit 50.0 ms"));
  EXPECT_FALSE(holds(page, "nan"));
}

TEST(ViewerTrace, NamesItsTracksOnceAndCountsUnitsApart) {
  ViewerTrace trace;
  for (int i = 0; i < 2; ++i) trace.add(StepRecord{.engine = 1, .start = 0, .end = 64000, .decoding = 7});
  const std::string json = trace.finish();
  const std::string name = "\"name\": \"engine 1\"";
  EXPECT_TRUE(holds(json, name));
  EXPECT_EQ(json.find(name), json.rfind(name)) << "once";
  EXPECT_TRUE(holds(json, "\"KV cache, % in use\""));
  EXPECT_TRUE(holds(json, "\"decoding\": 7, \"waiting\": 0"));
}

}  // namespace
}  // namespace ridge::report
