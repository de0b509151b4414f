#include "evidence/cases/training_cases.hpp"

#include <gtest/gtest.h>

#include "evidence/cases/case_files.hpp"

namespace ridge::evidence {
namespace {

constexpr const char* kHeader =
    "id,model,device,gpus,seq_len,global_batch,micro_batch,tp,pp,vp,sharding,recompute,precision,date,engine,step_time_"
    "s,"
    "tokens_per_sec_per_gpu,notes\n";

Case read(const std::string& row) {
  auto cases = read_cases(kHeader + row + "\n", "mine.csv", {});
  EXPECT_TRUE(cases) << cases.error().text();
  return cases && !cases->empty() ? cases->front() : Case();
}

TEST(TrainingCases, AreReadAsPlans) {
  const Case c = read("a,llama3.1-8b,h100-sxm,16,8192,64,2,2,4,,zero1,full,fp8,2025-04,nemo,1.5,1000,text");
  ASSERT_TRUE(std::holds_alternative<TrainingQuery>(c.input)) << c.refusal;
  const TrainingQuery& q = std::get<TrainingQuery>(c.input);
  EXPECT_EQ(q.plan.tp, 2);
  EXPECT_EQ(q.plan.pp, 4);
  EXPECT_EQ(q.plan.vp, 0);  // empty: the engine's choice
  EXPECT_EQ(q.plan.sharding, Sharding::zero1);
  EXPECT_EQ(q.plan.recompute, Recompute::full);
  EXPECT_EQ(q.precision, Format::fp8);
  EXPECT_EQ(c.targets.at(0).measured, 1.5);
}

// Two rows that differ only in what was measured, or in the notes, are one question.
TEST(TrainingCases, NeverReadWhatWasMeasured) {
  const Case a = read("a,llama3.1-8b,h100-sxm,16,8192,64,2,2,4,,zero1,full,fp8,2025-04,nemo,1.5,1000,text");
  const Case b = read("a,llama3.1-8b,h100-sxm,16,8192,64,2,2,4,,zero1,full,fp8,2025-04,nemo,99,7,other");
  const auto& p = std::get<TrainingQuery>(a.input);
  const auto& q = std::get<TrainingQuery>(b.input);
  EXPECT_EQ(std::tie(p.model, p.device, p.engine, p.date, p.plan.gpus, p.plan.global_batch),
            std::tie(q.model, q.device, q.engine, q.date, q.plan.gpus, q.plan.global_batch));
}

TEST(TrainingCases, WithoutASequenceLengthOrWithAnUnknownWordAreRefused) {
  EXPECT_NE(read("a,llama3.1-8b,h100-sxm,16,,64,2,2,4,,zero1,full,fp8,,nemo,1.5,,").refusal.find("seq_len"),
            std::string::npos);
  EXPECT_NE(read("a,llama3.1-8b,h100-sxm,16,8192,64,2,2,4,,zero9,full,fp8,,nemo,1.5,,").refusal.find("zero9"),
            std::string::npos);
}

}  // namespace
}  // namespace ridge::evidence
