#include "app/cli/show/filter.hpp"

#include <gtest/gtest.h>

namespace ridge::cli {
namespace {

Sheet chips() {
  Sheet sheet;
  sheet.plural = "devices";
  sheet.singular = "device";
  const auto field = [&](std::string_view key, std::string_view unit, ColumnKind kind) {
    sheet.fields.push_back({key, unit, key, key, "", kind, key == "id"});
  };
  field("id", "", ColumnKind::text);
  field("vendor", "", ColumnKind::text);
  field("memory", "bytes", ColumnKind::number);
  field("parameters", "", ColumnKind::number);
  field("peak.bf16", "flops_per_s", ColumnKind::number);
  field("gated", "", ColumnKind::text);
  const auto row = [&](const char* id, const char* vendor, Cell memory, Cell parameters, bool gated) {
    sheet.rows.push_back({id,
                          {{Cell(id), {}},
                           {Cell(vendor), {}},
                           {memory, {}},
                           {parameters, {}},
                           {Cell(FlopsPerSecond(989.4e12)), {}},
                           {Cell(gated), {}}},
                          sheet.rows.size()});
  };
  row("a", "NVIDIA", Cell(gigabytes(80)), Cell(8e9), true);
  row("b", "AMD", Cell(gigabytes(192)), Cell(70e9), false);
  row("c", "Nvidia", Cell(), Cell(), true);
  row("d", "AMD", Cell(gigabytes(40)), Cell(1e9), false);
  return sheet;
}

std::string ids(const Sheet& sheet) {
  std::string all;
  for (const Row& row : sheet.rows) all += row.id;
  return all;
}

std::string where(std::string_view condition) {
  Sheet sheet = chips();
  const Status status = keep_where(sheet, condition);
  return status ? ids(sheet) : status.error().text();
}

std::string sorted(std::string_view key) {
  Sheet sheet = chips();
  const Status status = sort_rows(sheet, key);
  return status ? ids(sheet) : status.error().text();
}

TEST(Where, ComparesQuantitiesInAnyUnitOfTheirDimension) {
  EXPECT_EQ(where("memory>=80GB"), "ab");
  EXPECT_EQ(where("memory > 80 GB"), "b");
  EXPECT_EQ(where("memory<0.08TB"), "d");
  EXPECT_EQ(where("memory<=80000 MB"), "ad");
  EXPECT_EQ(where("memory = 80 GB"), "a");
  EXPECT_EQ(where("memory==80GB"), "a");
  EXPECT_EQ(where("memory!=80GB"), "bd");
  EXPECT_EQ(where("memory_bytes>100GiB"), "b");
}

TEST(Where, ComparesCountsWithTheirSuffix) {
  EXPECT_EQ(where("parameters>=8B"), "ab");
  EXPECT_EQ(where("parameters<2e9"), "d");
}

TEST(Where, ComparesTextWithoutRegardToCase) {
  EXPECT_EQ(where("vendor=nvidia"), "ac");
  EXPECT_EQ(where("vendor!=NVIDIA"), "bd");
  EXPECT_EQ(where("vendor~md"), "bd");
  EXPECT_EQ(where("gated=yes"), "ac");
  EXPECT_EQ(where("gated=no"), "bd");
  EXPECT_EQ(where("gated!=true"), "bd");
}

TEST(Where, AnUnknownFigureMeetsOnlyTheQuestionForIt) {
  EXPECT_EQ(where("memory>=0GB"), "abd");
  EXPECT_EQ(where("memory=unknown"), "c");
  EXPECT_EQ(where("memory!=unknown"), "abd");
}

TEST(Where, FindsWhatStandsAfterTheDot) {
  EXPECT_EQ(where("bf16>=900TFLOP/s"), "abcd");
  EXPECT_EQ(where("peak.bf16>1 PFLOP/s"), "");
  EXPECT_EQ(where("peak_flops_per_s.bf16=989.4 TFLOP/s"), "abcd");
}

TEST(Where, RefusesWhatItCannotUnderstand) {
  EXPECT_EQ(where("memory"), "'memory' has no comparison; write for example 'memory>=80GB' or 'vendor=AMD'");
  EXPECT_EQ(where("memory>80"), "memory: a unit is missing: write for example '80 GB'");
  EXPECT_EQ(where("memry>80GB"),
            "devices have no 'memry'; did you mean 'memory'? `ridge show devices --keys` lists what they have");
  EXPECT_NE(where("memory>80 W").find("memory: "), std::string::npos);
  EXPECT_NE(where("parameters>x").find("parameters: "), std::string::npos);
}

TEST(Sort, AscendsDescendsAndPutsUnknownLast) {
  EXPECT_EQ(sorted("memory"), "dabc");
  EXPECT_EQ(sorted("-memory"), "badc");
  EXPECT_EQ(sorted("vendor"), "bdac");  // equal ones keep their order
  EXPECT_EQ(sorted("-vendor"), "acbd");
  EXPECT_NE(sorted("-memry").find("devices have no 'memry'"), std::string::npos);
}

TEST(Columns, AreChosenByKeyInTheirOrder) {
  EXPECT_EQ(*choose_fields(chips(), "memory, id,bf16"), (std::vector<std::size_t>{2, 0, 4}));
  EXPECT_FALSE(choose_fields(chips(), "memory,,id"));
  EXPECT_EQ(listed_fields(chips()), std::vector<std::size_t>{0});
}

}  // namespace
}  // namespace ridge::cli
