#include "evidence/validate/gate.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "ridge/catalogue/calibration.hpp"
#include "support/bundle.hpp"

namespace ridge::evidence {
namespace {

using testing_support::bundle;
using testing_support::knowledge;

const char* kHeader =
    "id,engine,model,device,gpus,tp,weight_precision,mode,isl,osl,batch,output_tok_s,ttft_ms,tpot_ms,power_w,refusal\n";
const char* kPlan = "a,vllm,llama3.1-8b,h100-sxm,1,1,bf16,fixed-batch,100,100,4";
const char* kTooLarge = "b,vllm,llama3.1-405b,h100-sxm,1,1,bf16,fixed-batch,100,100,4";

GateTable table(const std::string& rows) {
  auto read = read_gate(kHeader + rows, "gate.csv", {});
  EXPECT_TRUE(read.ok()) << (read.ok() ? "" : read.error().text());
  return std::move(*read);
}

std::string committed() {
  const GateTable t = table(std::string(kPlan) + ",,,,,\n" + kTooLarge + ",,,,,\n");
  return updated_gate(t, run_gate(t, knowledge()));
}

GateTable reread(const std::string& csv) {
  return *read_gate(csv, "gate.csv", {});
}

TEST(Gate, WhatWasCommittedIsClean) {
  const GateReport report = run_gate(reread(committed()), knowledge());
  EXPECT_TRUE(report.clean());
  EXPECT_EQ(report.compared, 4);  // four figures of the plan that runs; the other is refused as before
}

TEST(Gate, AFileThatIsUpToDateIsNotChangedByAnUpdate) {
  const std::string csv = committed();
  const GateTable t = reread(csv);
  EXPECT_EQ(updated_gate(t, run_gate(t, knowledge())), csv);
}

// Two percent more host time: more than the half percent that passes, and the report says where.
TEST(Gate, AMovedPredictionIsFoundAndNamed) {
  const GateTable t = reread(committed());
  std::vector<double> values;
  for (const Parameter& p : bundle().calibration.parameters())
    values.push_back(p.name == "user.time@vllm-dense" ? 1.02 : p.value);
  const Calibration slower = bundle().calibration.with_values(values);
  const GateReport report = run_gate(t, {bundle().catalogue, bundle().engines, slower});
  EXPECT_FALSE(report.clean());
  ASSERT_FALSE(report.moved.empty());
  EXPECT_LT(report.moved[0].now, report.moved[0].before);  // throughput falls
  const auto lines = gate_lines(t, report);
  ASSERT_FALSE(lines.empty());
  EXPECT_NE(lines[0].find("1 of 1 moved"), std::string::npos) << lines[0];
  EXPECT_NE(lines[0].find("(a)"), std::string::npos) << lines[0];
}

TEST(Gate, WhatWasPredictedMayNotBeRefused) {
  const GateTable t = table(std::string(kTooLarge) + ",1000,1,1,500,\n");
  const GateReport report = run_gate(t, knowledge());
  EXPECT_EQ(report.refused_now.size(), 4u);
  EXPECT_FALSE(report.clean());
  EXPECT_NE(gate_lines(t, report)[0].find("is refused now: out of memory"), std::string::npos)
      << gate_lines(t, report)[0];
}

TEST(Gate, WhatWasRefusedAndIsPredictedHasMovedToo) {
  const GateTable t = table(std::string(kPlan) + ",,,,,out of memory: by far\n");
  EXPECT_EQ(run_gate(t, knowledge()).predicted_now.size(), 4u);
}

TEST(Gate, ATableWithoutTheFiguresItWatchesIsRefused) {
  const auto read = read_gate(
      "id,engine,model,device,gpus,mode,isl,osl,batch,refusal\na,vllm,m,d,1,fixed-batch,1,1,1,\n", "gate.csv", {});
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.error().text().find("output_tok_s"), std::string::npos) << read.error().text();
}

TEST(Gate, DoesNotDependOnTheNumberOfThreads) {
  const GateTable t = reread(committed());
  EXPECT_EQ(updated_gate(t, run_gate(t, knowledge(), 1)), updated_gate(t, run_gate(t, knowledge(), 7)));
}

}  // namespace
}  // namespace ridge::evidence
