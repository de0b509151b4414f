// Rules that hold for every entry of the bundled catalogue, whatever is added to it.
#include "app/cli/show/sheet.hpp"

#include <gtest/gtest.h>

#include <set>

#include "app/cli/show/filter.hpp"
#include "app/cli/show/print.hpp"

namespace ridge::cli {
namespace {

class Sheets : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    auto loaded = Catalogue::load({.data_directory = RIDGE_DATA_DIR, .overlays = {}, .price_lists = {}});
    ASSERT_TRUE(loaded) << loaded.error().text();
    catalogue_ = new Catalogue(std::move(*loaded));
    context_ = new SheetContext{*catalogue_, RIDGE_DATA_DIR, "2026-08", nullptr, {}};
  }
  static void TearDownTestSuite() {
    delete context_;
    delete catalogue_;
  }
  static std::vector<Sheet> all() {
    const SheetContext& c = *context_;
    return {device_sheet(catalogue_->devices(), c),
            system_sheet(catalogue_->systems(), c),
            fabric_sheet(catalogue_->fabrics(), c),
            model_sheet(catalogue_->models(), c),
            price_sheet(catalogue_->prices(), c),
            architecture_sheet(c),
            source_sheet(c)};
  }
  static Value value(const Sheet& sheet, std::string_view id, std::string_view key) {
    for (const Row& row : sheet.rows) {
      if (row.id == id) return row.values[*sheet.find_field(key)];
    }
    return {};
  }

  static Catalogue* catalogue_;
  static SheetContext* context_;
};
Catalogue* Sheets::catalogue_ = nullptr;
SheetContext* Sheets::context_ = nullptr;

TEST_F(Sheets, HaveUniqueKeysAndAValueForEachField) {
  for (const Sheet& sheet : all()) {
    std::set<std::string_view> keys;
    for (const Field& field : sheet.fields)
      EXPECT_TRUE(keys.insert(field.key).second) << sheet.plural << " " << field.key;
    std::set<std::string_view> ids;
    for (const Row& row : sheet.rows) {
      EXPECT_EQ(row.values.size(), sheet.fields.size());
      EXPECT_EQ(row.values[0].cell.plain(), row.id);
      EXPECT_TRUE(ids.insert(row.id).second) << sheet.plural << " " << row.id;
    }
  }
}

TEST_F(Sheets, EveryFigureOfADeviceHasASource) {
  const Sheet sheet = device_sheet(catalogue_->devices(), *context_);
  ASSERT_FALSE(sheet.rows.empty());
  for (const Row& row : sheet.rows) {
    for (std::size_t i = 0; i < sheet.fields.size(); ++i) {
      const Field& field = sheet.fields[i];
      if (field.kind != ColumnKind::number || field.quiet || field.key == "year") continue;
      EXPECT_EQ(row.values[i].cell.empty(), !row.values[i].source.has_value()) << row.id << " " << field.key;
    }
  }
}

TEST_F(Sheets, EveryEntryHasAPageThatListsEachSourceItMarks) {
  for (const Sheet& sheet : all()) {
    for (const Row& row : sheet.rows) {
      const std::string page = to_terminal(explain(sheet, row, *catalogue_));
      EXPECT_NE(page.find(row.id), std::string::npos);
      for (int n = 1;; ++n) {
        const std::string mark = "[" + std::to_string(n) + "]";
        if (page.find(mark) == std::string::npos) break;
        EXPECT_NE(page.find("\n " + mark + "  "), std::string::npos) << row.id << " " << mark;
      }
    }
  }
}

TEST_F(Sheets, ARidgePointIsPeakOverBandwidth) {
  const Sheet sheet = device_sheet(catalogue_->devices(), *context_);
  // 989.4 TFLOP/s / 4.8 TB/s = 206.125 FLOP/byte
  EXPECT_DOUBLE_EQ(value(sheet, "h200-sxm", "ridge_point.bf16").cell.mid(), 206.125);
}

TEST_F(Sheets, IntegerPeaksAreNotCalledFloatingPoint) {
  const Sheet sheet = device_sheet(catalogue_->devices(), *context_);
  EXPECT_EQ(value(sheet, "h200-sxm", "peak_dense.int8").cell.text(), "1.98 POP/s");
}

TEST_F(Sheets, ASystemHasTheMemoryOfAllItsDevices) {
  const Sheet sheet = system_sheet(catalogue_->systems(), *context_);
  EXPECT_DOUBLE_EQ(value(sheet, "dgx-h200", "total_memory").cell.mid(), 8 * 141e9);
  EXPECT_DOUBLE_EQ(value(sheet, "rack-gb200-nvl72", "devices").cell.mid(), 72);
}

TEST_F(Sheets, PricesAfterTheDateAreLeftOutAndOldOnesAreStale) {
  const SheetContext earlier{*catalogue_, RIDGE_DATA_DIR, "2026-06-30", nullptr, {}};
  const Sheet now = price_sheet(catalogue_->prices(), *context_);
  const Sheet then = price_sheet(catalogue_->prices(), earlier);
  EXPECT_LT(then.rows.size(), now.rows.size());
  const std::size_t date = *then.find_field("date");
  const std::size_t stale = *then.find_field("stale");
  for (const Row& row : then.rows) {
    const std::string day = row.values[date].cell.plain();
    EXPECT_LE(day.substr(0, 7), "2026-06") << row.id;
    if (day.size() < 10) continue;
    EXPECT_EQ(row.values[stale].cell.mid() != 0, day.substr(0, 10) < "2025-12-30") << row.id << day;
  }
}

}  // namespace
}  // namespace ridge::cli
