// The tables of a published comparison of MLPerf v3.1 to v5.1 (tests/mlperf/seed_tables.csv), whose totals were right
// and whose figures per accelerator were divided by the accelerators of one node.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "bundled.hpp"
#include "mlperf/columns.hpp"

namespace ridge::mlperf {
namespace {

/// The article's selection: closed, v3.1 to v5.1, by published name, GPT-J in each round's own unit, without NVIDIA's
/// own MaxQ systems of v4.0 and v4.1.
RowList rows_of(std::string_view benchmark, std::string_view accelerator, std::string_view scenario) {
  const std::set<std::string_view> rounds = {"v3.1", "v4.0", "v4.1", "v5.0", "v5.1"};
  RowList rows;
  for (const Row& row : bundled().rows) {
    if (row.benchmark == benchmark && row.scenario == scenario && row.published.accelerator == accelerator &&
        row.published.division == "closed" && rounds.contains(row.published.round) &&
        !(row.power_tuned && row.published.submitter == "NVIDIA" && row.published.round >= "v4.0")) {
      rows.push_back(&row);
    }
  }
  return rows;
}

double published(const Row& row) {
  return row.benchmark.starts_with("gptj") ? row.published.result : row.value;
}

TEST(SeedTables, EveryTotalIsReproducedAndTwelveFiguresPerAcceleratorAreCorrected) {
  const auto table = read_table(std::string(RIDGE_TEST_DIR) + "/mlperf/seed_tables.csv");
  ASSERT_TRUE(table) << table.error().text();
  Columns columns(*table);
  int wrong = 0;
  for (std::size_t r = 0; r < table->rows(); ++r) {
    const RowList rows =
        rows_of(columns.view(r, "benchmark"), columns.view(r, "accelerator"), columns.view(r, "scenario"));
    ASSERT_FALSE(rows.empty()) << r;
    double total = 0;
    double per = 0;
    double accelerators = 0;
    for (const Row* row : rows) {
      total += published(*row);
      per += published(*row) / row->accelerators;
      accelerators += row->accelerators;
    }
    const auto n = static_cast<double>(rows.size());
    const double printed = columns.number(r, "printed_total", 0, 1e9);
    EXPECT_NEAR(total / n, printed, std::max(0.011, 1.2e-5 * printed)) << columns.view(r, "accelerator");
    const double right = columns.number(r, "right_per_accelerator", 0, 1e9);
    EXPECT_NEAR(per / n, right, std::max(0.006, 1e-4 * right)) << columns.view(r, "accelerator");
    EXPECT_NEAR(accelerators / n, columns.number(r, "accelerators", 0, 1e4), 0.051);
    const double claimed = columns.number(r, "printed_per_accelerator", 0, 1e9);
    if (std::abs(per / n - claimed) > std::max(0.011, 5e-3 * claimed)) ++wrong;
  }
  ASSERT_FALSE(columns.error());
  EXPECT_EQ(table->rows(), 76u);
  EXPECT_EQ(wrong, 12);
}

Group group_of(const char* benchmark, const char* scenario, const char* accelerator, std::vector<std::string> rounds) {
  const auto rows = select(
      bundled(),
      {.benchmarks = {benchmark}, .scenarios = {scenario}, .rounds = std::move(rounds), .accelerators = {accelerator}},
      names());
  EXPECT_TRUE(rows);
  const auto groups = summarise(*rows, {});
  EXPECT_TRUE(groups);
  EXPECT_EQ(groups->groups.size(), 1u);
  return groups->groups.at(0);
}

TEST(SeedTables, DeepSeekOnTheRackIsDividedBySeventyTwo) {
  // 289,712 / 72 and 167,578 / 72; the article divided by the 4 of one node.
  EXPECT_NEAR(group_of("deepseek-r1", "Offline", "gb200", {"v5.1"}).value, 4023.8, 0.05);
  EXPECT_NEAR(group_of("deepseek-r1", "Server", "gb200", {"v5.1"}).value, 2327.5, 0.05);
  EXPECT_EQ(group_of("deepseek-r1", "Offline", "gb200", {"v5.1"}).mean_accelerators, 72);
}

TEST(SeedTables, H200IsFasterThanH100OnTheLargeDenseModel) {
  const Group h100 = group_of("llama3.1-405b", "Offline", "h100-sxm-80gb", {"v5.0..v5.1"});
  const Group h200 = group_of("llama3.1-405b", "Offline", "h200-sxm-141gb", {"v5.0..v5.1"});
  EXPECT_NEAR(h100.value, 50, 1);
  EXPECT_NEAR(h200.value / h100.value, 1.38, 0.01);
}

TEST(SeedTables, TheRackIsNotTenfoldOnExpertsButAsFastPerAccelerator) {
  bool found = false;
  for (const Ratio& r : coupling(bundled(), names())) {
    if (r.benchmark != "deepseek-r1" || r.scenario != "Offline" || r.round != "v5.1" || r.first != "gb200") continue;
    found = true;
    EXPECT_EQ(r.kind, "moe");
    EXPECT_NEAR(r.per_system(), 9.2, 0.01);  // what the article saw: 72 accelerators against 8
    EXPECT_NEAR(r.per_accelerator(), 1.022, 0.001);
  }
  EXPECT_TRUE(found);
}

TEST(SeedTables, GptJInPublishedUnitsIsNotAveragedAcrossTheChangeOfUnit) {
  const auto rows = select(
      bundled(),
      {.benchmarks = {"gptj-99"}, .scenarios = {"Offline"}, .accelerators = {"h100-sxm-80gb"}, .power_tuned = true},
      names());
  ASSERT_TRUE(rows);
  const auto mixed = summarise(*rows, {.published_units = true});
  ASSERT_FALSE(mixed);
  EXPECT_EQ(mixed.error().code, ErrorCode::refused);
  EXPECT_NE(mixed.error().message.find("samples/s per accelerator in v3.1 v4.0, tokens/s per accelerator in v4.1 v5.0"),
            std::string::npos)
      << mixed.error().message;
  // In tokens/s all rounds agree on what is counted: 855 in v3.1 (12.4 samples/s x 69), 2,584 in v5.0.
  const auto common = summarise(*rows, {.keys = {Key::round}});
  ASSERT_TRUE(common);
  ASSERT_EQ(common->groups.size(), 4u);
  EXPECT_NEAR(common->groups.back().value, 855, 0.5);
}

}  // namespace
}  // namespace ridge::mlperf
