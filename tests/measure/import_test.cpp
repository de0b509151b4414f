#include "evidence/import/import.hpp"

#include "bundled.hpp"
#include "evidence/settings/bundle.hpp"
#include "ridge/base/csv.hpp"
#include "ridge/base/file.hpp"

namespace ridge::evidence {
namespace {

// Hand-made; the ratio of the two bandwidths is 2 (n - 1)/n = 1.5 of an all-reduce among four.
const std::string kNccl =
    "# nThread 1 nGpus 4 minBytes 1048576 maxBytes 2097152 step: 2(factor) warmup iters: 5 iters: 20\n"
    "#  Rank  0 Group  0 Pid  101 on  alpha device  0 [0000:19:00] NVIDIA H100 80GB HBM3\n"
    "#  Rank  1 Group  0 Pid  101 on  alpha device  1 [0000:3b:00] NVIDIA H100 80GB HBM3\n"
    "#  Rank  2 Group  0 Pid  101 on  alpha device  2 [0000:4c:00] NVIDIA H100 80GB HBM3\n"
    "#  Rank  3 Group  0 Pid  101 on  alpha device  3 [0000:5d:00] NVIDIA H100 80GB HBM3\n"
    "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw "
    "#wrong\n"
    "     1048576        262144     float     sum      -1    31.20   33.61   50.41      0    30.90   33.93   50.90     "
    " 0\n"
    "     2097152        524288     float     sum      -1    42.10   49.81   74.72      0    41.80   50.17   75.26     "
    " 0\n"
    "# Avg bus bandwidth    : 62.8\n";

const std::string kVllm =
    R"({"date": "20251107-093012", "backend": "vllm", "model_id": "meta-llama/Llama-3.1-8B-Instruct",
  "num_prompts": 100, "request_rate": "inf", "max_concurrency": 16, "duration": 50.0, "completed": 100,
  "total_input_tokens": 102400, "total_output_tokens": 12800, "output_throughput": 256.0,
  "total_token_throughput": 2304.0, "median_ttft_ms": 55.5, "median_tpot_ms": 7.5})";

const std::string kInferenceX = R"([{"hw": "h200", "tp": 8, "ep": 1, "dp_attention": "false", "conc": 64,
  "model": "deepseek-ai/DeepSeek-R1-0528", "framework": "sglang", "precision": "fp8", "tput_per_gpu": 900.0,
  "output_tput_per_gpu": 100.0, "median_ttft": 0.5, "median_tpot": 0.025, "isl": 8192, "osl": 1024}])";

const std::string kSmi =
    "timestamp, name, power.draw [W], clocks.current.sm [MHz], utilization.gpu [%]\n"
    "2026/11/15 07:00:00.000, NVIDIA H200, 120.00 W, 1980 MHz, 0 %\n"
    "2026/11/15 07:00:01.000, NVIDIA H200, 690.00 W, 1500 MHz, 100 %\n"
    "2026/11/15 07:00:02.000, NVIDIA H200, 694.00 W, 1480 MHz, 99 %\n";

Result<std::string> import_of(const std::string& text, const ImportOptions& options = {}) {
  const auto kind = kind_of_file(text, "in");
  if (!kind) return kind.error();
  return import_measurements(*kind, text, "in", options, bundled_catalogue());
}

std::string refusal(const std::string& text, const ImportOptions& options = {}) {
  const auto csv = import_of(text, options);
  return csv ? "accepted" : csv.error().text();
}

std::string cell(const std::string& csv, std::size_t row, std::string_view column) {
  const auto table = CsvTable::parse(csv, "out");
  EXPECT_TRUE(table) << table.error().text();
  const auto at = table->column(column);
  EXPECT_TRUE(at) << column;
  return std::string(table->cell(row, at.value_or(0)));
}

std::string changed(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

/// Every imported table is evidence that the program reads and predicts something for.
std::vector<Case> read_back(const std::string& csv) {
  const std::string path =
      testing::TempDir() + "imported_" + testing::UnitTest::GetInstance()->current_test_info()->name() + ".csv";
  EXPECT_TRUE(write_file_atomically(path, csv));
  const std::string paths[] = {path};
  auto cases = load_cases(paths, {});
  EXPECT_TRUE(cases) << cases.error().text();
  return cases ? *std::move(cases) : std::vector<Case>{};
}

TEST(ImportNccl, EverySizeIsARowOfTheCollective) {
  const auto csv = import_of(kNccl);
  ASSERT_TRUE(csv) << csv.error().text();
  EXPECT_EQ(cell(*csv, 0, "op"), "allreduce");
  EXPECT_EQ(cell(*csv, 0, "device"), "h100-sxm");
  EXPECT_EQ(cell(*csv, 0, "group"), "4");
  EXPECT_EQ(cell(*csv, 1, "bytes"), "2097152");
  EXPECT_EQ(cell(*csv, 1, "seconds"), "4.21e-05");
  for (const Case& c : read_back(*csv)) EXPECT_EQ(c.refusal, "");
}

TEST(ImportNccl, TheTestNamedInACommentWinsOverTheRatio) {
  const auto csv = import_of("# Collective test starting: reduce_scatter_perf\n" + kNccl);
  ASSERT_TRUE(csv);
  EXPECT_EQ(cell(*csv, 0, "op"), "reducescatter");
}

TEST(ImportNccl, WrongResultsAndBrokenLinesAreRefusedWithTheirPlace) {
  EXPECT_EQ(refusal(changed(kNccl, "50.41      0", "50.41      7")),
            "in:7:84: 7 results were wrong: such a run is no measurement");
  EXPECT_NE(refusal(changed(kNccl, "   31.20", "     n/a")).find("in:7:"), std::string::npos);
  EXPECT_NE(refusal(changed(kNccl, "   33.61   50.41      0", "")).find("a line of nccl-tests has 13 columns"),
            std::string::npos);
}

// What nobody can have measured is refused where it stands, not written down as evidence.
TEST(Import, AbsurdFiguresAreRefused) {
  for (const auto& [from, to, place] :
       {std::tuple{"\"output_throughput\": 256.0", "\"output_throughput\": 1e308", "in#/output_throughput"},
        {"\"output_throughput\": 256.0", "\"output_throughput\": 1e-308", "in#/output_throughput"},
        {"\"max_concurrency\": 16", "\"max_concurrency\": 9223372036854775808", "in#/max_concurrency"},
        {"\"total_input_tokens\": 102400", "\"total_input_tokens\": 1e12", "in#/total_input_tokens"},
        {"\"median_tpot_ms\": 7.5", "\"median_tpot_ms\": 1e308", "in#/median_tpot_ms"}}) {
    const std::string said = refusal(changed(kVllm, from, to), {.device = "h200-sxm"});
    EXPECT_TRUE(said.starts_with(std::string(place) + ": ")) << to << ": " << said;
  }
  for (const char* const tp : {"1.5", "1e308", "1e-308", "1e7"}) {
    const std::string said = refusal(changed(kInferenceX, "\"tp\": 8", std::string("\"tp\": ") + tp));
    EXPECT_NE(said.find("/tp: "), std::string::npos) << tp << ": " << said;
  }
  EXPECT_NE(refusal(changed(kNccl, "   31.20", "   1e308")).find("in:7:"), std::string::npos);
  EXPECT_NE(refusal(changed(kNccl, "     1048576        262144", "     1e308        262144")).find("in:7:"),
            std::string::npos);
  EXPECT_NE(refusal(changed(kSmi, "690.00 W", "1e300 W")).find("in:3:"), std::string::npos);
}

TEST(ImportVllm, LengthsAreMeansOverCompletedRequests) {
  const auto csv = import_of(kVllm, {.device = "h200-sxm"});
  ASSERT_TRUE(csv) << csv.error().text();
  EXPECT_EQ(cell(*csv, 0, "model"), "llama3.1-8b");
  EXPECT_EQ(cell(*csv, 0, "isl"), "1024");
  EXPECT_EQ(cell(*csv, 0, "osl"), "128");
  EXPECT_EQ(cell(*csv, 0, "mode"), "closed-loop");
  EXPECT_EQ(cell(*csv, 0, "concurrency"), "16");
  EXPECT_EQ(cell(*csv, 0, "date"), "2025-11-07");
  EXPECT_EQ(cell(*csv, 0, "tpot_ms"), "7.5");
  EXPECT_EQ(cell(*csv, 0, "weight_precision"), "bf16");
  for (const Case& c : read_back(*csv)) EXPECT_EQ(c.refusal, "");
}

TEST(ImportVllm, OneResultPerLineIsReadToo) {
  std::string line = kVllm;
  std::erase(line, '\n');
  const auto csv = import_of(line + "\n" + line + "\n", {.device = "h200-sxm"});
  ASSERT_TRUE(csv) << csv.error().text();
  EXPECT_EQ(cell(*csv, 1, "output_tok_s"), "256");
}

TEST(ImportVllm, WhatIsMissingOrBrokenIsNamed) {
  const ImportOptions h200{.device = "h200-sxm"};
  EXPECT_NE(refusal(kVllm).find("⟦device⟧"), std::string::npos);
  EXPECT_EQ(refusal(changed(kVllm, "\"output_throughput\": 256.0", "\"output_throughput\": -1"), h200),
            "in#/output_throughput: has to be a number above 0");
  EXPECT_NE(refusal(changed(kVllm, "\"max_concurrency\": 16, ", ""), h200).find("mode"), 0u);
  EXPECT_NE(refusal(changed(kVllm, "Llama-3.1-8B", "Unheard-9B"), h200).find("no model like"), std::string::npos);
  EXPECT_NE(refusal(changed(kVllm, "\"completed\": 100,", "\"completed\": ,"), h200).find("in:2:"), std::string::npos);
}

TEST(ImportInferenceX, FiguresPerGpuBecomeThoseOfTheDeployment) {
  const auto csv = import_of(kInferenceX);
  ASSERT_TRUE(csv) << csv.error().text();
  EXPECT_EQ(cell(*csv, 0, "device"), "h200-sxm");
  EXPECT_EQ(cell(*csv, 0, "model"), "deepseek-r1");
  EXPECT_EQ(cell(*csv, 0, "output_tok_s"), "800");  // 8 x 100
  EXPECT_EQ(cell(*csv, 0, "ttft_ms"), "500");
  EXPECT_EQ(cell(*csv, 0, "engine"), "sglang");
  for (const Case& c : read_back(*csv)) EXPECT_EQ(c.refusal, "");
}

TEST(ImportInferenceX, LengthsComeFromTheUserWhereTheFileHasNone) {
  const std::string without = changed(kInferenceX, ", \"isl\": 8192, \"osl\": 1024", "");
  EXPECT_NE(refusal(without).find("in#/0/isl: is missing"), std::string::npos);
  const auto csv = import_of(without, {.isl = 1024, .osl = 1024});
  ASSERT_TRUE(csv) << csv.error().text();
  EXPECT_EQ(cell(*csv, 0, "isl"), "1024");
}

TEST(ImportPower, OnlyBusySamplesCountForWork) {
  const auto csv = import_of(kSmi, {.precision = "bf16", .work = "gemm8192"});
  ASSERT_TRUE(csv) << csv.error().text();
  EXPECT_EQ(cell(*csv, 0, "watts"), "692");  // (690 + 694)/2; the idle sample is left out
  EXPECT_EQ(cell(*csv, 0, "clock_mhz"), "1490");
  EXPECT_EQ(cell(*csv, 0, "device"), "h200-sxm");
  for (const Case& c : read_back(*csv)) EXPECT_EQ(c.refusal, "");
}

TEST(ImportPower, ABrokenSampleIsRefusedWithItsPlace) {
  EXPECT_EQ(refusal(changed(kSmi, " 690.00 W", " [N/A]")), "in:3:38: '[N/A]' is no figure");
}

TEST(Import, OtherFilesAreRefused) {
  EXPECT_NE(refusal("hello\n").find("looks like no measurement"), std::string::npos);
  EXPECT_FALSE(parse_import_kind("nccl"));
}

}  // namespace
}  // namespace ridge::evidence
