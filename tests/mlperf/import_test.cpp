// Importing: each format with a file of a few hand-made records, and files that are cut off, renamed or hostile.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "bundled.hpp"
#include "ridge/base/change.hpp"
#include "ridge/base/file.hpp"

namespace ridge::mlperf {
namespace {

/// One record of summary_results.json with fields replaced or added.
std::string summary_record(const std::string& more) {
  return R"({"ID":"9.0-0001","Submitter":"Acme","Availability":"available","Category":"closed","Suite":"datacenter",
  "System":"Acme One","Platform":"acme8","UsedModel":"llama2-70b-99.9","Model":"llama2-70b-99.9","Scenario":"Offline",
  "Nodes":2,"Processor":"Some CPU","Accelerator":"NVIDIA GB200","a#":4,"Software":"TensorRT","version":"v9.0",
  "has_power":false,"weight_data_types":"fp4","Performance_Result":1000.5,"Performance_Units":"Tokens/s")" +
         more + "}";
}

/// One record of cm-result.json or summary.json.
std::string checker_record(const std::string& more) {
  return R"({"Division":"closed","Availability":"available","Organization":"Acme","Platform":"acme8","MlperfModel":"resnet",
  "Model":"resnet50","SystemType":"datacenter","SystemName":"Acme One","accelerator_model_name":"NVIDIA A40",
  "accelerators_per_node":8,"number_of_nodes":1,"host_processor_model_name":"Some CPU","framework":"TensorRT 9")" +
         more + "}";
}

Result<Results> read(const std::string& path, const std::string& text, const ReadOptions& options = {}) {
  return read_results({{path, text}}, options);
}

std::string refusal(const std::string& path, const std::string& text, const ReadOptions& options = {}) {
  const auto read_it = read(path, text, options);
  EXPECT_FALSE(read_it) << text;
  return read_it ? "" : phrased(read_it.error().text(), Voice::flags);
}

TEST(ImportSummary, CountsAcceleratorsOfAllNodes) {
  auto results = read("s.json", "[" + summary_record("") + "]");
  ASSERT_TRUE(results) << results.error().text();
  const Results repaired = repair(*std::move(results), names());
  ASSERT_EQ(repaired.rows.size(), 1u);
  const Row& row = repaired.rows[0];
  EXPECT_EQ(row.id, "i9.0-1");
  EXPECT_EQ(row.accelerators, 8);  // 2 nodes x 4
  EXPECT_EQ(row.accelerator, "gb200");
  EXPECT_EQ(row.device, "gb200-nvl72");
  EXPECT_EQ(row.unit, "tokens/s");
  EXPECT_DOUBLE_EQ(row.value, 1000.5);
}

TEST(ImportSummary, LeavesOutTheOtherSuiteAndSaysSo) {
  std::string edge = summary_record("");
  edge.replace(edge.find("datacenter"), 10, "edge");
  const auto results = read("s.json", "[" + summary_record("") + "," + edge + "]");
  ASSERT_TRUE(results) << results.error().text();
  EXPECT_EQ(results->rows.size(), 1u);
  ASSERT_EQ(results->repairs.size(), 1u);
  EXPECT_EQ(rules()[results->repairs[0].rule].name, "other-suite");
  EXPECT_EQ(results->repairs[0].row, "s.json#/1");
}

TEST(ImportChecker, MergesWattsAndDropsRepeatedPowerRows) {
  const std::string result =
      checker_record(R"(,"Scenario":"Offline","Result":100,"Units":"Samples/s","has_power":true,"version":"v4.0")");
  const std::string watts = checker_record(
      R"(,"Scenario":"Offline","Result":null,"Result_Power":2000.5,"Units":"Watts","has_power":true,"version":"v4.0")");
  const auto merged = read("cm-result.json", "[" + result + "," + watts + "]");
  ASSERT_TRUE(merged) << merged.error().text();
  ASSERT_EQ(merged->rows.size(), 1u);
  EXPECT_EQ(merged->rows[0].published.power_w, 2000.5);
  EXPECT_EQ(rules()[merged->repairs.at(0).rule].name, "watts-row");

  const std::string twice = checker_record(
      R"(,"Scenario":"Offline","Result":100,"Result_Power":2000.5,"Units":"Samples/s","version":"v3.0")");
  const auto dropped = read("cm-result.json", R"({"experiment/a/cm-result.json":[)" + twice + "," + twice + "]}");
  ASSERT_TRUE(dropped) << dropped.error().text();
  EXPECT_EQ(dropped->rows.size(), 1u);
  EXPECT_EQ(rules()[dropped->repairs.at(0).rule].name, "repeated-power-row");
  EXPECT_NE(refusal("cm-result.json", "[" + watts + "]").find("without the result it belongs to"), std::string::npos);
}

TEST(ImportChecker, ReadsTheSameRecordsByNumberAndAsATable) {
  const std::string record = checker_record(R"(,"Scenario":"Server","Result":12.5,"Units":"Queries/s")");
  const auto json = read("summary.json", R"({"0":)" + record + "}", {.round = "v9.1"});
  ASSERT_TRUE(json) << json.error().text();
  const auto csv =
      read("summary.csv",
           "Scenario,Organization,Division,SystemType,SystemName,Platform,Model,MlperfModel,Result,Units,"
           "number_of_nodes,accelerator_model_name,accelerators_per_node,Availability\n"
           "Server,Acme,closed,datacenter,Acme One,acme8,resnet50,resnet,12.5,Queries/s,1,NVIDIA A40,8,available\n",
           {.round = "v9.1"});
  ASSERT_TRUE(csv) << csv.error().text();
  for (const auto* results : {&json, &csv}) {
    const Row& row = (*results)->rows.at(0);
    EXPECT_EQ(row.published.submitter, "Acme");
    EXPECT_EQ(row.published.benchmark, "resnet50");
    EXPECT_EQ(row.published.round, "v9.1");
    EXPECT_DOUBLE_EQ(row.published.result, 12.5);
  }
  EXPECT_NE(refusal("summary.json", R"({"0":)" + record + "}").find("add --round"), std::string::npos);
}

TEST(ImportLog, MakesRowsOfLogsAndTheirSystems) {
  const std::string system =
      R"({"system_name":"Acme One","status":"available","accelerator_model_name":"NVIDIA H200-SXM-141GB",
    "accelerators_per_node":8,"number_of_nodes":"1","division":"closed","framework":"vLLM"})";
  const std::string log =
      "SUT name : PySUT\nScenario : Server\nCompleted samples per second    : 29.41\nCompleted tokens per second: "
      "8840.42\n"
      "Result is : VALID\n99.00 percentile first token latency (ns)   : 435976100\n"
      "99.00 percentile time to output token (ns)   : 39000000\n";
  const std::string root = "up/closed/Acme/";
  const std::string path = root + "results/acme8/llama2-70b-99.9/Interactive/performance/run_1/mlperf_log_summary.txt";
  const auto results = read_results({{path, log}, {root + "systems/acme8.json", system}}, {.round = "v9.0"});
  ASSERT_TRUE(results) << results.error().text();
  const Published& p = results->rows.at(0).published;
  EXPECT_EQ(p.submitter, "Acme");
  EXPECT_EQ(p.scenario, "Interactive");
  EXPECT_EQ(p.unit, "Tokens/s");
  EXPECT_DOUBLE_EQ(p.result, 8840.42);
  EXPECT_NEAR(p.ttft_p99_ms.value_or(0), 435.9761, 1e-6);
  EXPECT_NEAR(p.tpot_p99_ms.value_or(0), 39, 1e-9);
  EXPECT_NE(refusal(path, log, {.round = "v9.0"}).find("systems/acme8.json, which is not among the files"),
            std::string::npos);
  const std::string invalid = std::string(log).replace(log.find("VALID"), 5, "INVALID");
  EXPECT_NE(refusal(path, invalid, {.round = "v9.0"}).find("not valid"), std::string::npos);
  EXPECT_NE(refusal(path, log.substr(0, 60), {.round = "v9.0"}).find("cut off"), std::string::npos);
}

TEST(ImportLog, ScoresTrainingByDroppingFastestAndSlowest) {
  // Minutes 1, 2, 3, 4 and a failed run: without 1 and the failed one the mean is 3.
  const std::string system =
      R"({"accelerator_model_name":"NVIDIA H100-SXM5-80GB","accelerators_per_node":8,"number_of_nodes":2,
    "division":"closed","status":"onprem"})";
  std::vector<InputFile> files = {{"Acme/systems/acme16.json", system}};
  for (int run = 0; run < 5; ++run) {
    const int minutes = run + 1;
    const std::string status = run == 4 ? "aborted" : "success";
    files.push_back({"Acme/results/acme16/llama2_70b_lora/result_" + std::to_string(run) + ".txt",
                     "noise\n0: :::MLLOG {\"time_ms\": 1000, \"key\": \"global_batch_size\", \"value\": 8}\n"
                     "3: :::MLLOG {\"time_ms\": 60000, \"key\": \"run_start\", \"value\": null}\n"
                     ":::MLLOG {\"time_ms\": " +
                         std::to_string(60000 + 60000 * minutes) +
                         ", \"key\": \"run_stop\", \"value\": null, \"metadata\": {\"status\": \"" + status +
                         "\"}}\n"});
  }
  const auto results = read_results(files, {.round = "v9.0"});
  ASSERT_TRUE(results) << results.error().text();
  const Row& row = results->rows.at(0);
  EXPECT_EQ(row.suite, Suite::training);
  EXPECT_DOUBLE_EQ(row.published.result, 3);
  EXPECT_EQ(row.published.failed_runs, 1);
  EXPECT_EQ(row.published.global_batch, 8);
  files.back().text.resize(files.back().text.size() / 2);
  const auto cut = read_results(files, {.round = "v9.0"});
  ASSERT_FALSE(cut);
  EXPECT_NE(cut.error().text().find("result_4.txt"), std::string::npos) << cut.error().text();
}

TEST(ImportRefuses, WhatIsCutOffRenamedOrOutOfRangeWithItsPlace) {
  const std::string good = "[" + summary_record("") + "]";
  EXPECT_EQ(refusal("s.json", good.substr(0, good.size() / 2)).substr(0, 7), "s.json:");
  const auto renamed = [&](const std::string& from, const std::string& to) {
    return std::string(good).replace(good.find(from), from.size(), to);
  };
  EXPECT_EQ(refusal("s.json", renamed("\"Nodes\"", "\"Node\"")),
            "s.json#/0: the field 'Nodes' is missing; there is 'Node'");
  EXPECT_EQ(refusal("s.json", renamed("\"Nodes\":2", "\"Nodes\":-2")), "s.json#/0/Nodes: '-2' is outside 1 to 100000");
  EXPECT_EQ(refusal("s.json", renamed("\"Nodes\":2", "\"Nodes\":2.5")), "s.json#/0/Nodes: a whole number belongs here");
  EXPECT_EQ(refusal("s.json", renamed("1000.5", "\"fast\"")), "s.json#/0/Performance_Result: 'fast' is not a number");
  EXPECT_EQ(refusal("s.json", renamed("1000.5", "1e99")),
            "s.json#/0/Performance_Result: '1e+99' is outside 0 to 1e+12");
  EXPECT_EQ(refusal("s.json", renamed("Tokens/s", "Widgets/s")),
            "s.json#/0/Performance_Units: 'Widgets/s' is not a unit of MLPerf results");
  EXPECT_EQ(refusal("s.json", renamed("Offline", "Onlein")), "s.json#/0/Scenario: 'Onlein' is not a scenario");
  EXPECT_EQ(refusal("s.json", renamed("\"closed\"", "\"shut\"")),
            "s.json#/0/Category: 'shut' is not a division: closed, open or network");
  EXPECT_NE(refusal("s.json", "[" + summary_record("") + "," + renamed("1000.5", "1000.6").substr(1))
                .find("is there already"),
            std::string::npos);
}

TEST(ImportRefuses, HostileFiles) {
  EXPECT_FALSE(refusal("s.json", "").empty());
  EXPECT_FALSE(refusal("s.json", "[]").empty());
  EXPECT_FALSE(refusal("s.json", "{\"a\": 1}").empty());
  EXPECT_FALSE(refusal("s.json", "[[[[[1]]]]]").empty());
  EXPECT_FALSE(refusal("s.json", std::string(10'000, '[')).empty());
  for (const char c : refusal("s.json", std::string("[\xff\xfe]"))) {
    EXPECT_LT(static_cast<unsigned char>(c), 0x80) << "bytes of the file are not repeated as they are";
  }
  EXPECT_FALSE(refusal("s.csv", std::string("a,b\n\"x", 7)).empty());
  EXPECT_FALSE(refusal("s.csv", std::string("a\0b\n1\n", 6)).empty());
  EXPECT_FALSE(refusal("s.csv", "just some text without any result\n").empty());
}

class Database : public testing::Test {
 protected:
  void SetUp() override {
    path_ = (std::filesystem::temp_directory_path() / ("ridge_mlperf_" + std::to_string(::getpid()) + ".db")).string();
    std::filesystem::remove(path_);
  }
  void TearDown() override { std::filesystem::remove(path_); }
  static Results some(const std::string& more = "") {
    auto results = read("s.json", "[" + summary_record(more) + "]");
    EXPECT_TRUE(results) << results.error().text();
    return repair(*std::move(results), names());
  }
  std::string path_;
};

TEST_F(Database, KeepsEveryPublishedFieldOfTheBundledRows) {
  ASSERT_TRUE(write_database(path_, bundled(), {}));
  auto rows = read_database(path_);
  ASSERT_TRUE(rows) << rows.error().text();
  const Results again = repair(*std::move(rows), names());
  ASSERT_EQ(again.rows.size(), bundled().rows.size());
  EXPECT_EQ(again.repairs.size(), bundled().repairs.size());
  for (std::size_t i = 0; i < again.rows.size(); ++i) {
    const Row& a = again.rows[i];
    const Row& b = bundled().rows[i];
    ASSERT_EQ(a.id, b.id);
    ASSERT_EQ(a.value, b.value);
    ASSERT_EQ(a.accelerators, b.accelerators);
    ASSERT_EQ(a.unit, b.unit);
    ASSERT_EQ(a.published.software, b.published.software);
    ASSERT_EQ(a.published.power_w, b.published.power_w);
    ASSERT_EQ(a.published.scaling_factor, b.published.scaling_factor);
  }
}

TEST_F(Database, RefusesARoundThatIsThereUnlessItIsReplaced) {
  ASSERT_TRUE(write_database(path_, some(), {}));
  const Status again = write_database(path_, some(), {});
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::refused);
  EXPECT_TRUE(write_database(path_, some(), {.replace = true}));
  EXPECT_EQ(read_database(path_)->size(), 1u);
}

TEST_F(Database, IsUntouchedWhenAWriteFailsHalfway) {
  ASSERT_TRUE(write_database(path_, some(), {}));
  const auto before = read_file(path_, 1 << 20);
  Results broken = some();
  for (Row& row : broken.rows) row.published.round = "v9.9";
  broken.rows.push_back(broken.rows[0]);  // the same id twice: the second insertion fails
  EXPECT_FALSE(write_database(path_, broken, {}));
  EXPECT_EQ(*read_file(path_, 1 << 20), *before);
  std::filesystem::remove(path_);
  EXPECT_FALSE(write_database(path_, broken, {}));
  EXPECT_FALSE(std::filesystem::exists(path_)) << "nothing is left of a database that could not be filled";
}

TEST_F(Database, RefusesFilesThatAreNotIts) {
  EXPECT_FALSE(read_database(path_));
  ASSERT_TRUE(
      write_file_atomically(path_, "this is a text and no database, however long it may be, and stays one ....."));
  EXPECT_FALSE(read_database(path_));
  EXPECT_FALSE(write_database(path_, some(), {}));
  EXPECT_TRUE(read_file(path_, 1000)->starts_with("this is a text"));
}

}  // namespace
}  // namespace ridge::mlperf
