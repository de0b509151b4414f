// What users write in tables of their own, read with Reading::forgiving.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "evidence/calibration/overlay.hpp"
#include "evidence/cases/case_files.hpp"
#include "evidence/validate/validation.hpp"
#include "support/bundle.hpp"

namespace ridge::evidence {
namespace {

std::vector<Case> read(const std::string& csv) {
  auto cases = read_cases(csv, "mine.csv", {}, Reading::forgiving);
  EXPECT_TRUE(cases.ok()) << (cases.ok() ? "" : cases.error().text());
  return cases.ok() ? *cases : std::vector<Case>();
}

const InferenceQuery& query(const Case& c) {
  EXPECT_EQ(c.refusal, "");
  return std::get<InferenceQuery>(c.input);
}

constexpr const char* kHeader = "id,model,device,gpus,mode,isl,osl,concurrency,weight_precision,output_tok_s,tpot_ms\n";

TEST(ForgivingCases, WordsMayBeInAnyCase) {
  const auto cases = read(std::string(kHeader) +
                          "a,m,d,1,Closed_Loop,10,20,4,FP8,900,\n"
                          "b,m,d,1,closed_loop,10,20,4,AWQ,900,\n"
                          "c,m,d,1,OFFLINE,10,20,4,fp8_e4m3,900,\n"
                          "d,m,d,1,offline,10,20,4,float16,900,\n"
                          "e,m,d,1,offline,10,20,4,auto,900,\n"
                          "f,m,d,1,offline,10,20,4,Q7_0,900,\n");
  ASSERT_EQ(cases.size(), 6u);
  EXPECT_EQ(cases[0].mode, "closed-loop") << "one category, however it is written";
  EXPECT_EQ(query(cases[0]).weights, Format::fp8);
  EXPECT_EQ(query(cases[1]).weights, Format::int4);
  EXPECT_EQ(query(cases[2]).load.mode, LoadMode::offline);
  EXPECT_EQ(query(cases[2]).weights, Format::fp8);
  EXPECT_EQ(query(cases[3]).weights, Format::fp16);
  EXPECT_FALSE(query(cases[4]).weights.has_value());
  EXPECT_NE(cases[5].refusal.find("'Q7_0' is no number format"), std::string::npos) << cases[5].refusal;
}

TEST(ForgivingCases, AModeThatIsLeftOutIsToldByTheLoad) {
  const auto cases = read(
      "model,device,isl,osl,concurrency,batch,tpot_ms\n"
      "m,d,10,20,8,,5\nm,d,10,20,,8,5\nm,d,10,20,,,5\n");
  ASSERT_EQ(cases.size(), 3u);
  EXPECT_EQ(cases[0].mode, "closed-loop");
  EXPECT_EQ(cases[1].mode, "fixed-batch");
  EXPECT_EQ(cases[2].mode, "offline");
  for (const Case& c : cases) EXPECT_EQ(c.refusal, "");
}

TEST(ForgivingCases, TheClientsOfAFixedBatchAreTheBatch) {
  const auto cases = read(std::string(kHeader) + "a,m,d,1,fixed-batch,10,20,16,,900,\n");
  ASSERT_EQ(cases.size(), 1u);
  EXPECT_DOUBLE_EQ(query(cases[0]).load.batch, 16);
}

TEST(ForgivingCases, HeadersAndSeparatorsOfSpreadsheets) {
  const auto cases = read("ID; Model;DEVICE;Mode;isl;osl;Concurrency;Output tok s\nx;m;d;offline;10;20;;12,5\n");
  ASSERT_EQ(cases.size(), 1u);
  EXPECT_EQ(cases[0].id, "x");
  EXPECT_EQ(cases[0].refusal, "");
  EXPECT_DOUBLE_EQ(cases[0].targets.at(0).measured, 12.5);
  EXPECT_EQ(read("model\tdevice\tmode\tisl\tosl\ttpot_ms\nm\td\toffline\t1\t2\t3\n").size(), 1u);
}

TEST(ForgivingCases, OneBadRowIsRefusedAndTheOthersRun) {
  const auto cases = read(std::string(kHeader) +
                          "\n"
                          "short,m,d,1,offline\n"
                          "long,m,d,1,offline,10,20,4,fp8,900,11,more\n"
                          "good,m,d,1,offline,10,20,4,fp8,900,11\n"
                          ",,,,,,,,,,\n"
                          "spare,m,d,1,offline,10,20,4,fp8,900,11,,\n"
                          "\n  \n");
  ASSERT_EQ(cases.size(), 4u);
  EXPECT_EQ(cases[0].refusal, "mine.csv:3:1: this row has 5 cells, the header has 11");
  ASSERT_EQ(cases[0].targets.size(), 1u) << "one line says that it is refused";
  EXPECT_TRUE(std::isnan(cases[0].targets[0].measured));
  EXPECT_EQ(cases[1].refusal.substr(0, 32), "mine.csv:4:1: this row has 12 ce") << cases[1].refusal;
  EXPECT_EQ(cases[1].targets.size(), 2u);
  EXPECT_EQ(cases[2].refusal, "");
  EXPECT_EQ(cases[2].line, 5u) << "empty lines are counted";
  EXPECT_EQ(cases[3].refusal, "") << "empty cells beyond the header are what spreadsheets leave";
}

TEST(ForgivingCases, AQuoteThatIsNeverClosedCostsOneRow) {
  const auto cases = read(std::string(kHeader) +
                          "a,\"m,d,1,offline,10,20,4,fp8,900,11\n"
                          "b,m,d,1,offline,10,20,4,fp8,900,11\n");
  ASSERT_EQ(cases.size(), 2u);
  EXPECT_EQ(cases[1].refusal, "");
}

TEST(ForgivingCases, FiguresAsPeopleWriteThem) {
  const auto cases = read(std::string(kHeader) +
                          "a,m,d,1,offline,\"1,000\",20,4,fp8,\"2,500\", 11 \n"
                          "b,m,d,1,offline,10,20,4,fp8,n/a,-\n"
                          "c,m,d,1,offline,10,20,4,fp8,NaN,NA\n"
                          "d,m,d,1,offline,10,20,4,fp8,fast,11\n"
                          "e,m,d,1,offline,10,20,4,fp8,\"2,50\",11\n");
  ASSERT_EQ(cases.size(), 5u);
  EXPECT_DOUBLE_EQ(query(cases[0]).load.isl, 1000);
  EXPECT_DOUBLE_EQ(cases[0].targets.at(0).measured, 2500);
  EXPECT_DOUBLE_EQ(cases[0].targets.at(1).measured, 11);
  EXPECT_TRUE(cases[1].targets.empty());
  EXPECT_TRUE(cases[2].targets.empty());
  EXPECT_EQ(cases[3].refusal, "");
  EXPECT_EQ(cases[3].targets.at(0).refusal, "mine.csv:5:29: output_tok_s: 'fast' is not a positive number");
  EXPECT_EQ(cases[3].targets.at(1).refusal, "");
  EXPECT_DOUBLE_EQ(cases[3].targets.at(1).measured, 11);
  EXPECT_NE(cases[4].targets.at(0).refusal, "") << "two digits are no thousands";
}

TEST(ForgivingCases, BundledTablesAreReadStrictly) {
  EXPECT_FALSE(read_cases(std::string(kHeader) + "short,m,d\n", "mine.csv", {}).ok());
  EXPECT_FALSE(read_cases("Model,device,gpus,mode\nm,d,1,offline\n", "mine.csv", {}).ok());
}

// With 8 sequences of 4,096 tokens on 8 devices, every device does 4,096 tokens a step.
TEST(ForgivingCases, TokensPerSecondOfADeviceAreAFigureOfTheirOwn) {
  const std::string table =
      "id,model,device,gpus,seq_len,global_batch,task,sharding,step_time_s,tokens_per_sec_per_gpu\n"
      "both,Llama-3.1-8B,H100,8,4096,8,finetune,FSDP,1,4096\n"
      "rate,Llama-3.1-8B,H100,8,4096,8,finetune,FSDP,,4096\n";
  const auto cases = read(table);
  ASSERT_EQ(cases.size(), 2u);
  EXPECT_EQ(std::get<TrainingQuery>(cases[0].input).task, TrainingTask::sft);
  EXPECT_EQ(std::get<TrainingQuery>(cases[0].input).plan.sharding, Sharding::zero3);
  const auto rows = validate(cases, testing_support::knowledge(), {.threads = 1, .roofline = false});
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(name(rows[1].metric), "tokens_per_sec_per_gpu");
  EXPECT_NEAR(rows[1].predicted.mid * rows[0].predicted.mid, 4096, 1e-6);
  EXPECT_NEAR(rows[1].predicted.low * rows[0].predicted.high, 4096, 1e-6);
  EXPECT_DOUBLE_EQ(rows[2].predicted.mid, rows[1].predicted.mid);
  const auto strict = read_cases(table, "mine.csv", {});
  ASSERT_TRUE(strict.ok());
  EXPECT_EQ((*strict)[0].targets.size(), 1u) << "bundled tables repeat the step time in it";
}

// A step a third longer, or as many tokens fewer: what is learnt from it is the same, and both together count once.
TEST(ForgivingCases, TokensPerSecondOfADeviceTeachWhatTheStepTimeDoes) {
  const std::string header =
      "id,model,device,gpus,seq_len,global_batch,task,sharding,step_time_s,tokens_per_sec_per_gpu\n";
  const std::string run = "x,Llama-3.1-8B,H100,8,4096,8,finetune,FSDP,";
  const auto first = validate(read(header + run + "1,\n"), testing_support::knowledge(), {.threads = 1});
  ASSERT_EQ(first.size(), 1u);
  const double step = first[0].predicted.mid * 4 / 3;
  const auto learnt = [&](bool time, bool rate) {
    const auto text = [](bool said, double value) { return said ? std::to_string(value) : std::string(); };
    const auto mine = read(header + run + text(time, step) + "," + text(rate, 4096 / step) + "\n");
    const Knowledge known = testing_support::knowledge();
    const OverlayFit fit = fit_overlay(known.calibration, mine, known.catalogue, known.engines);
    EXPECT_GT(fit.before.predicted, 0);
    std::vector<double> slower;
    for (const OwnRun& r : fit.calibration.own_runs().runs()) slower.push_back(r.slower);
    return slower;
  };
  const std::vector<double> by_time = learnt(true, false);
  ASSERT_EQ(by_time.size(), 1u);
  EXPECT_NEAR(by_time[0], std::log(4.0 / 3), 1e-3);
  EXPECT_NEAR(learnt(false, true).at(0), by_time[0], 1e-5);
  EXPECT_NEAR(learnt(true, true).at(0), by_time[0], 1e-5);
}

TEST(ForgivingCases, ALayoutThatNobodyWroteDownIsChosenIfThePlainOneCannotRun) {
  const std::string header = "id,model,device,gpus,tp,dp,seq_len,global_batch,step_time_s\n";
  const auto cases = read(header + "open,llama3.1-70b,h100-sxm,64,,8,4096,512,30\n");
  const auto rows = validate(cases, testing_support::knowledge(), {.threads = 1, .roofline = false});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].refusal, "");
  EXPECT_GT(rows[0].predicted.mid, 0);
}

TEST(ForgivingCases, ServersWithoutALayoutGetOneThatHoldsTheModel) {
  const auto cases = read(
      "model,device,gpus,tp,pp,mode,isl,osl,output_tok_s\n"
      "llama3.1-70b,h100-sxm,,,,offline,100,200,900\n"      // more than one device is needed
      "llama3.1-405b,h100-sxm,16,8,,offline,100,200,900\n"  // no replica of 8 holds 810 GB, two stages do
      "llama3.1-405b,h100-sxm,16,8,2,offline,100,200,900\n"
      "llama3.1-8b,h100-sxm,16,,,offline,100,200,900\n"  // two replicas, no 16 ranks across the network
      "llama3.1-8b,h100-sxm,16,8,1,offline,100,200,900\n");
  const auto rows = validate(cases, testing_support::knowledge(), {.threads = 1, .roofline = false});
  ASSERT_EQ(rows.size(), 5u);
  for (const ResultRow& row : rows) EXPECT_EQ(row.refusal, "") << row.case_index;
  EXPECT_DOUBLE_EQ(rows[1].predicted.mid, rows[2].predicted.mid);
  EXPECT_DOUBLE_EQ(rows[3].predicted.mid, rows[4].predicted.mid);
}

TEST(ForgivingCases, NamesOfPeopleArePredictedAsTheirIds) {
  const auto cases = read(std::string(kHeader) +
                          "a,meta-llama/Llama-3.1-8B-Instruct-FP8,NVIDIA H100 80GB HBM3,1,offline,100,200,,,900,\n"
                          "b,llama3.1-8b,h100-sxm,1,offline,100,200,,fp8,900,\n");
  const auto rows = validate(cases, testing_support::knowledge(), {.threads = 1, .roofline = false});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].refusal, "");
  EXPECT_DOUBLE_EQ(rows[0].predicted.mid, rows[1].predicted.mid) << "and the ending tells the format";
}

TEST(ForgivingCases, PrefillAloneDecodesNothing) {
  const auto cases = read(
      "model,device,gpus,mode,isl,osl,batch,output_tok_s,ttft_ms\n"
      "llama3.1-8b,h100-sxm,1,prefill,1000,200,4,900,100\n");
  const auto rows = validate(cases, testing_support::knowledge(), {.threads = 1, .roofline = false});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_NE(rows[0].refusal.find("nothing is decoded"), std::string::npos) << rows[0].refusal;
  EXPECT_EQ(rows[1].refusal, "");
}

TEST(ForgivingCases, OperatorsMayBeInAnyCase) {
  const auto cases =
      read("device,op,dtype,m,n,k,group,bytes,seconds\nd,GEMM,BF16,8,8,8,,,1\nd,All_Reduce,,,,,8,1024,1\n");
  ASSERT_EQ(cases.size(), 2u);
  EXPECT_EQ(cases[0].refusal, "");
  EXPECT_EQ(std::get<KernelCase>(cases[1].input).op, KernelOp::allreduce);
}

}  // namespace
}  // namespace ridge::evidence
