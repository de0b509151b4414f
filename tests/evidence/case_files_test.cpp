#include "evidence/cases/case_files.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "ridge/base/file.hpp"

namespace ridge::evidence {
namespace {

constexpr const char* kHeader =
    "id,source,date,engine,engine_version,model,device,gpus,tp,pp,ep,dp,weight_precision,activation_precision,"
    "kv_precision,mode,isl,osl,length_range,batch,concurrency,output_tok_s,tpot_ms\n";

const AssumedWorkloads kWorkloads = {{"lm-arena-chat", 200, 0, 0, 1, false, true, true, 0, {}}};

std::vector<Case> read(const std::string& rows) {
  auto cases = read_cases(kHeader + rows, "mine.csv", kWorkloads);
  EXPECT_TRUE(cases.ok()) << (cases.ok() ? "" : cases.error().text());
  return cases.ok() ? *cases : std::vector<Case>();
}

TEST(CaseFiles, InferenceRowBecomesAQuestion) {
  const auto cases = read(
      "a,trtllm-x,2024 "
      "(workshop),vllm,0.11,llama3.1-8b,h100-sxm,2,2,1,1,1,fp8,fp8,,closed-loop,1000,200,0.8,,64,900,12\n");
  ASSERT_EQ(cases.size(), 1u);
  const Case& c = cases[0];
  EXPECT_EQ(c.refusal, "");
  ASSERT_EQ(c.targets.size(), 2u);
  EXPECT_EQ(c.targets[0].metric, Metric::output_tok_s);
  EXPECT_DOUBLE_EQ(c.targets[1].measured, 12);
  const auto& q = std::get<InferenceQuery>(c.input);
  EXPECT_EQ(q.date, "2024");
  EXPECT_EQ(q.tp, 2);
  EXPECT_EQ(q.weights, Format::fp8);
  EXPECT_FALSE(q.kv.has_value());  // empty: the engine's default
  EXPECT_EQ(q.load.mode, LoadMode::closed_loop);
  EXPECT_DOUBLE_EQ(q.load.concurrency, 64);
  EXPECT_DOUBLE_EQ(q.load.length_low, 0.8);
  EXPECT_DOUBLE_EQ(q.load.natural_text, 0);
}

// In a closed loop the running batch is measured: two rows that differ in nothing else ask the same question.
TEST(CaseFiles, ClosedLoopBatchIsNeverRead) {
  const auto cases = read(
      "a,s,2026,vllm,,m,d,1,1,1,1,1,bf16,bf16,,closed-loop,1000,200,,17.5,64,900,\n"
      "b,s,2026,vllm,,m,d,1,1,1,1,1,bf16,bf16,,closed-loop,1000,200,,nonsense,64,900,\n");
  ASSERT_EQ(cases.size(), 2u);
  EXPECT_EQ(cases[1].refusal, "");
  EXPECT_EQ(std::get<InferenceQuery>(cases[0].input).load.batch, std::get<InferenceQuery>(cases[1].input).load.batch);
}

constexpr const char* kWorkloadHeader = "id_contains,isl,natural_text,queued,median_gap,prompts,repeats,source\n";

// 768 clients send a list of 1,024 prompts twice. Between the first token of the 768th request and the end of the list
// 2,048 - 768 requests begin, of which 1,024 - 768 are seen for the first time: 80 % come from the cache.
TEST(AssumedWorkloads, RepeatedPromptsComeFromTheCache) {
  const auto workloads = read_assumed_workloads(
      std::string(kWorkloadHeader) + "chat-large,,,,,,512:1 1024:2,s\nchat,200,1,1,1,1024,,s\n", "loads.csv");
  ASSERT_TRUE(workloads.ok()) << workloads.error().text();
  ASSERT_EQ(workloads->size(), 2u);
  EXPECT_DOUBLE_EQ((*workloads)[0].isl, 200) << "an entry without a length is as the next that fits";
  const auto hit = [&](const std::string& id, const std::string& clients) {
    const auto cases =
        read_cases(kHeader + id + ",s,2026,vllm,,m,d,1,1,1,1,1,bf16,bf16,,closed-loop,,200,,," + clients + ",900,\n",
                   "mine.csv", *workloads);
    EXPECT_TRUE(cases.ok());
    return std::get<InferenceQuery>(cases->at(0).input).load.prefix_hit;
  };
  EXPECT_DOUBLE_EQ(hit("chat-large", "768"), 0.8);
  EXPECT_DOUBLE_EQ(hit("chat-large", "512"), 0) << "sent once";
  EXPECT_DOUBLE_EQ(hit("chat-small", "768"), 0) << "nothing says that it is sent again";
}

TEST(AssumedWorkloads, WhatCannotBeReadIsRefused) {
  for (const char* row : {"a,,,,,,,s\n", "a,200,1,1,1,1024,512,s\n", "a,200,1,1,1,1024,512:1 256:2,s\n",
                          "a,200,1,1,1,1024,512:x,s\n", "a,200,1,1,1,-3,,s\n", "a,200,1,1,,,,s\n"}) {
    EXPECT_FALSE(read_assumed_workloads(std::string(kWorkloadHeader) + row, "loads.csv").ok()) << row;
  }
}

TEST(CaseFiles, UnpublishedInputLengthIsAssumedByDataSet) {
  const auto cases = read(
      "inf-lm-arena-chat-7,s,2026,vllm,,m,d,1,1,1,1,1,bf16,bf16,,closed-loop,,200,,,64,900,\n"
      "inf-other-7,s,2026,vllm,,m,d,1,1,1,1,1,bf16,bf16,,closed-loop,,200,,,64,900,\n");
  ASSERT_EQ(cases.size(), 2u);
  const auto& q = std::get<InferenceQuery>(cases[0].input);
  EXPECT_DOUBLE_EQ(q.load.isl, 200);
  EXPECT_DOUBLE_EQ(q.load.natural_text, 1);
  EXPECT_TRUE(q.load.queued);
  EXPECT_TRUE(cases[0].median_gap);
  EXPECT_FALSE(cases[1].median_gap);
  EXPECT_EQ(cases[1].refusal.substr(0, 19), "mine.csv:3:63: isl:") << cases[1].refusal;
}

TEST(CaseFiles, BadCellRefusesItsRowWithLineAndColumn) {
  const auto cases = read(
      "a,s,2026,vllm,,m,d,1,1,1,1,1,bf16,bf16,,offline,1000,200,,,,900,\n"
      "b,s,2026,vllm,,m,d,one,1,1,1,1,bf16,bf16,,offline,1000,200,,,,900,11\n");
  ASSERT_EQ(cases.size(), 2u);
  EXPECT_EQ(cases[0].refusal, "");
  EXPECT_EQ(cases[1].refusal, "mine.csv:3:20: gpus: 'one' is not a number");
  EXPECT_TRUE(std::holds_alternative<std::monostate>(cases[1].input));
  EXPECT_EQ(cases[1].targets.size(), 2u);  // still asked for, so that coverage counts it
}

TEST(CaseFiles, NoRowIsPredictedFromWhatItLacks) {
  const auto cases = read(
      "a,s,2026,vllm,,m,d,1,1,1,1,1,,,,fixed-batch,10,20,,,,900,\n"
      "b,s,2026,vllm,,m,d,1,1,1,1,1,,,,closed-loop,10,20,,4,,900,\n"
      "c,s,2026,vllm,,m,d,1,1,1,1,1,,,,sometimes,10,20,,4,,900,\n"
      "d,s,2026,vllm,,m,d,1,1,1,1,1,,,,offline,10,20,,,,-3,\n");
  ASSERT_EQ(cases.size(), 4u);
  EXPECT_NE(cases[0].refusal.find("batch: this cell is empty"), std::string::npos) << cases[0].refusal;
  EXPECT_NE(cases[1].refusal.find("concurrency: this cell is empty"), std::string::npos) << cases[1].refusal;
  EXPECT_NE(cases[2].refusal.find("'sometimes' is no mode"), std::string::npos) << cases[2].refusal;
  EXPECT_EQ(cases[3].refusal, "") << "only that figure is";
  EXPECT_NE(cases[3].targets[0].refusal.find("'-3' is not a positive number"), std::string::npos);
  EXPECT_TRUE(std::isnan(cases[3].targets[0].measured));
}

TEST(CaseFiles, ColumnsMayStandInAnyOrderWithOthersBetween) {
  const auto cases = read_cases(
      "colour,mode,tpot_ms,concurrency,osl,isl,gpus,device,model,id\nred,closed-loop,9,8,100,200,1,h100-sxm,llama3.1-"
      "8b,x\n",
      "mine.csv", kWorkloads);
  ASSERT_TRUE(cases.ok()) << cases.error().text();
  ASSERT_EQ(cases->size(), 1u);
  EXPECT_EQ((*cases)[0].refusal, "");
  EXPECT_EQ((*cases)[0].targets[0].metric, Metric::tpot_ms);
}

TEST(CaseFiles, ARowWithoutAnIdIsCalledAfterItsLine) {
  const auto cases =
      read_cases("model,device,gpus,mode,isl,osl,output_tok_s\nm,d,1,offline,10,10,5\n", "mine.csv", kWorkloads);
  ASSERT_TRUE(cases) << cases.error().text();
  EXPECT_EQ(cases->front().id, "line 2");
  EXPECT_EQ(cases->front().refusal, "");
}

TEST(CaseFiles, MissingColumnIsRefusedByName) {
  const auto cases = read_cases("id,mode,model,device\na,offline,m,d\n", "mine.csv", kWorkloads);
  ASSERT_FALSE(cases.ok());
  EXPECT_NE(cases.error().text().find("gpus"), std::string::npos) << cases.error().text();
}

TEST(CaseFiles, HeaderOfNoKindIsRefused) {
  const auto cases = read_cases("a,b\n1,2\n", "mine.csv", kWorkloads);
  ASSERT_FALSE(cases.ok());
  EXPECT_EQ(cases.error().where, "mine.csv:1:1");
}

TEST(CaseFiles, LeadingDateOfWhatPeopleWrite) {
  EXPECT_EQ(leading_date("2024 (SC24 workshop)"), "2024");
  EXPECT_EQ(leading_date("2024-2025"), "2024");
  EXPECT_EQ(leading_date("2024-12 (v0.16 guide)"), "2024-12");
  EXPECT_EQ(leading_date("2025-07-10"), "2025-07-10");
  EXPECT_EQ(leading_date(""), "");
  EXPECT_EQ(leading_date("summer"), "");
}

TEST(CaseFiles, BundledTablesReadWithoutRefusals) {
  const std::string folder = std::string(RIDGE_DATA_DIR) + "/evidence/";
  auto text = read_file(folder + "assumed_workloads.csv", 1 << 20);
  ASSERT_TRUE(text.ok());
  const auto workloads = read_assumed_workloads(*text, "assumed_workloads.csv");
  ASSERT_TRUE(workloads.ok()) << workloads.error().text();
  const std::pair<const char*, std::size_t> tables[] = {{"inference.csv", 1021}, {"consumer.csv", 55},
                                                        {"power.csv", 56},       {"diffusion.csv", 185},
                                                        {"training.csv", 520},   {"kernels.csv", 4062}};
  for (const auto& [name, rows] : tables) {
    auto table_text = read_file(folder + name, 64 << 20);
    ASSERT_TRUE(table_text.ok()) << name;
    const auto cases = read_cases(*table_text, name, *workloads);
    ASSERT_TRUE(cases.ok()) << cases.error().text();
    EXPECT_EQ(cases->size(), rows) << name;
    for (const Case& c : *cases) EXPECT_EQ(c.refusal, "");
  }
}

}  // namespace
}  // namespace ridge::evidence
