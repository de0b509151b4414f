#include "catalogue/files/table_reader.hpp"

#include <gtest/gtest.h>

#include "ridge/base/text.hpp"

namespace ridge {
namespace {

constexpr BytesPerSecond gigabytes_per_second(double value) {
  return gigabytes(value) / seconds(1);
}

/// One entry of text, read by hand.
class TableReaderTest : public testing::Test {
 protected:
  TableReaderTest() {
    sources_.add("sheet", {1});
    sources_.add("own", {2});
  }

  /// The root of the entry; `over` is a layer on top of it, as with based_on.
  TableReader read(const std::string& text, const std::string& over = "") {
    root_ = *parse_toml(text, "base.toml");
    std::vector<EntryLayer> layers;
    if (!over.empty()) {
      over_ = *parse_toml(over, "over.toml");
      layers.push_back({&over_, "over.toml"});
    }
    layers.push_back({&root_, "base.toml"});
    entry_.emplace("device", layers, sources_);
    return entry_->root();
  }

  void expect_error(const std::string& where, const std::string& message) {
    const Status status = entry_->finish();
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().text(), where + ": " + message);
  }
  void expect_fine() {
    const Status status = entry_->finish();
    EXPECT_TRUE(status.ok()) << status.error().text();
  }

  SourceIndex sources_;
  TomlNode root_, over_;
  std::optional<EntryReader> entry_;
};

TEST_F(TableReaderTest, AFigureCarriesTheNearestSource) {
  TableReader t = read(
      "source = \"sheet\"\na = \"1 GB\"\nb = { value = \"2 GB\", source = \"own\" }\n[sub]\nsource = "
      "\"own\"\nc = \"3 GB\"\n");
  const Bytes low = gigabytes(1), high = gigabytes(9);
  EXPECT_EQ(t.figure<Bytes>("a", low, high)->source.index, 1U);
  EXPECT_EQ(t.figure<Bytes>("b", low, high)->source.index, 2U);
  EXPECT_EQ(t.table("sub").figure<Bytes>("c", low, high)->source.index, 2U);
  EXPECT_FALSE(t.figure<Bytes>("d", low, high).has_value());
  expect_fine();
}

TEST_F(TableReaderTest, AFigureOfALowerLayerKeepsTheSourceOfThatLayer) {
  TableReader t =
      read("source = \"sheet\"\n[m]\na = \"1 GB\"\nb = \"2 GB\"\n", "source = \"own\"\n[m]\nb = \"3 GB\"\n");
  TableReader m = t.table("m");
  const auto a = m.figure<Bytes>("a", gigabytes(1), gigabytes(9));
  const auto b = m.figure<Bytes>("b", gigabytes(1), gigabytes(9));
  EXPECT_EQ(a->source.index, 1U);
  EXPECT_EQ(b->source.index, 2U);
  EXPECT_EQ(b->value, gigabytes(3));
  expect_fine();
}

TEST_F(TableReaderTest, AFigureWithoutSourceIsRefused) {
  read("a = \"1 GB\"\n").figure<Bytes>("a", gigabytes(1), gigabytes(9));
  expect_error("base.toml:1:5",
               "a has no source: add source = \"...\" to the entry or to its table, or write a = { value = ..., source "
               "= \"...\" }");
}

TEST_F(TableReaderTest, ASourceThatDoesNotExistIsRefusedWithTheNearest) {
  read("a = { value = \"1 GB\", source = \"shet\" }\n").figure<Bytes>("a", gigabytes(1), gigabytes(9));
  expect_error("base.toml:1:32", "there is no [[source]] 'shet'; did you mean 'sheet'?");
}

TEST_F(TableReaderTest, ABareNumberIsRefusedWithTheUnitThatFits) {
  TableReader t = read("source = \"sheet\"\n[memory]\nbandwidth = 4800\n");
  t.table("memory").figure("bandwidth", gigabytes_per_second(50), gigabytes_per_second(50'000));
  expect_error("base.toml:3:13",
               "a bare number where a quantity belongs: write its unit, for example bandwidth = \"4.8 TB/s\"");
}

TEST_F(TableReaderTest, AnImplausibleValueIsRefusedWithTheUnitProbablyMeant) {
  TableReader t = read("source = \"sheet\"\n[memory]\nbandwidth = \"4.8 GB/s\"\n");
  t.table("memory").figure("bandwidth", gigabytes_per_second(50), gigabytes_per_second(50'000));
  expect_error("base.toml:3:13",
               "4.8 GB/s is implausible for memory bandwidth (50 GB/s to 50 TB/s); did you mean 4.8 TB/s?");
}

TEST_F(TableReaderTest, BitsWrittenAsBytesAreRecognised) {
  TableReader t = read("source = \"sheet\"\nnic = \"400 GB/s\"\n");
  t.figure("nic", gigabytes_per_second(1), gigabytes_per_second(200));
  // 400 / 1000 is below the range, 400 / 8 is in it.
  expect_error("base.toml:2:7", "400 GB/s is implausible for nic (1 GB/s to 200 GB/s); did you mean 50 GB/s?");
}

TEST_F(TableReaderTest, AUnitOfAnotherDimensionIsRefusedAtItsColumn) {
  read("source = \"sheet\"\ncapacity = \"141 GB/s\"\n").figure<Bytes>("capacity", gigabytes(1), gigabytes(999));
  const Status status = entry_->finish();
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().where, "base.toml:2:17");  // the G of "141 GB/s"
}

TEST_F(TableReaderTest, WrongTypesAreRefused) {
  read("name = 4090\n").text("name");
  expect_error("base.toml:1:8", "'name' has to be a text, not a whole number; write \"4090\"");
  read("year = \"2024\"\n").integer("year", 2010, 2040);
  expect_error("base.toml:1:8", "'year' has to be a whole number, not a text; leave the quotes out");
  read("year = 2024.0\n").integer("year", 2010, 2040);
  expect_error("base.toml:1:8", "'year' has to be a whole number, not a decimal number");
  read("date = 2026-08-01\n").date("date");
  expect_error("base.toml:1:8", "'date' has to be a text, not a date or time; put the date between quotes");
  read("memory = 3\n").table("memory");
  expect_error("base.toml:1:10", "'memory' has to be a table, not a whole number");
  read("source = \"sheet\"\ntdp = [1]\n").figure<Watts>("tdp", watts(1), watts(9));
  expect_error("base.toml:2:7", "'tdp' has to be a quantity such as \"1 W\", not an array");
  read("replaced = 1\n").flag("replaced");
  expect_error("base.toml:1:12", "'replaced' has to be true or false, not a whole number");
}

TEST_F(TableReaderTest, WholeNumbersAreExactAndWithinRange) {
  EXPECT_EQ(read("n = 2147483647\n").integer("n", 0, std::numeric_limits<int>::max()), 2147483647);
  expect_fine();
  read("n = 2147483648\n").integer("n", 0, std::numeric_limits<int>::max());
  expect_error("base.toml:1:5", "2147483648 is implausible for n (0 to 2147483647)");
  read("n = -1\n").integer("n", 0, 9);
  expect_error("base.toml:1:5", "-1 is implausible for n (0 to 9)");
}

TEST_F(TableReaderTest, NotANumberIsNotWithinAnyRange) {
  read("n = nan\n").number("n", 0, 1);
  EXPECT_FALSE(entry_->finish().ok());
}

TEST_F(TableReaderTest, CountsMayHaveSuffixes) {
  TableReader t = read("a = \"8.03B\"\nb = 1024\n");
  EXPECT_EQ(t.optional_count("a", 1, 1e15), 8.03e9);
  EXPECT_EQ(t.optional_count("b", 1, 1e15), 1024);
  expect_fine();
}

TEST_F(TableReaderTest, KeysThatNobodyAskedForAreRefusedWithTheNearest) {
  TableReader t = read("source = \"sheet\"\n[memory]\nkind = \"HBM3\"\nbandwith = \"4.8 TB/s\"\n");
  TableReader memory = t.table("memory");
  memory.text("kind");
  memory.figure("bandwidth", gigabytes_per_second(50), gigabytes_per_second(50'000));
  expect_error("base.toml:4:1", "unknown key 'bandwith' in [device.memory]; did you mean 'bandwidth'?");
}

TEST_F(TableReaderTest, UnknownKeysOfEveryLayerAreRefused) {
  read("naem = \"x\"\n", "name = \"y\"\n").text("name");
  expect_error("base.toml:1:1", "unknown key 'naem' in [device]; did you mean 'name'?");
}

TEST_F(TableReaderTest, AMissingKeyIsRefusedAtItsTable) {
  TableReader t = read("\n[sub]\na = 1\n").table("sub");
  t.integer("a", 0, 9);
  t.text("name");
  expect_error("base.toml:2:1", "'name' is missing in [device.sub]");
}

TEST_F(TableReaderTest, AMissingKeyOfAMissingTableIsRefusedAtTheTableAround) {
  read("\n[sub]\na = 1\n").table("sub").table("deep").text("name");
  expect_error("base.toml:2:1", "'name' is missing in [device.sub.deep]");
}

TEST_F(TableReaderTest, IdsAndDatesHaveOneForm) {
  for (const char* good : {"h200-sxm", "mig-3g.40gb", "3", "a"}) EXPECT_TRUE(is_valid_id(good)) << good;
  for (const char* bad : {"", "H200", "a_b", "a/b", "-a", "a.", "ä", "a b"}) EXPECT_FALSE(is_valid_id(bad)) << bad;
  for (const char* good : {"2026", "2026-08", "2026-08-31"}) {
    read("d = \"" + std::string(good) + "\"\n").date("d");
    expect_fine();
  }
  for (const char* bad : {"26", "2026-13", "2026-00", "2026-08-32", "2026/08", "2026-8", "August 2026", "2026-08-3x"}) {
    read("d = \"" + std::string(bad) + "\"\n").date("d");
    EXPECT_FALSE(entry_->finish().ok()) << bad;
  }
}

TEST_F(TableReaderTest, AWordOutsideOfTheListIsRefusedWithTheList) {
  read("kind = \"web\"\n").choice<int>("kind", {{"vendor", 1}, {"paper", 2}});
  expect_error("base.toml:1:8", "'web' is no kind; use vendor, paper");
  EXPECT_EQ(read("kind = \"paper\"\n").choice<int>("kind", {{"vendor", 1}, {"paper", 2}}), 2);
  EXPECT_EQ(read("").optional_choice<int>("kind", 7, {{"vendor", 1}}), 7);
}

TEST_F(TableReaderTest, ArraysOfTablesAreReadOneByOne) {
  TableReader t = read("source = \"sheet\"\n[[part]]\nname = \"a\"\n[[part]]\nname = \"b\"\n");
  std::string names;
  for (TableReader part : t.tables("part")) names += part.text("name");
  EXPECT_EQ(names, "ab");
  expect_fine();
  read("part = [1]\n").tables("part");
  expect_error("base.toml:1:9", "'part' has to hold tables: write [[device.part]]");
}

TEST_F(TableReaderTest, TheFirstErrorIsTheOneReported) {
  TableReader t = read("a = 1\nb = 2\n");
  t.text("b");
  t.text("a");
  EXPECT_TRUE(t.failed());
  expect_error("base.toml:2:5", "'b' has to be a text, not a whole number; write \"2\"");
}

TEST_F(TableReaderTest, TextOfTheUserIsPrintedSafely) {
  read("\"k\\u0007\" = 1\n");
  const Status status = entry_->finish();
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message.find('\a'), std::string::npos);
}

}  // namespace
}  // namespace ridge
