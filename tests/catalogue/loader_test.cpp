// What a catalogue refuses, and how later files build on earlier ones.
#include <gtest/gtest.h>

#include "catalogue/files/toml_document.hpp"
#include "folder.hpp"

namespace ridge {
namespace {

/// An overlay that starts from the device "base" and says `rest` (from line 5 on).
std::string changed(const std::string& rest) {
  return "[[device]]\nid = \"mine\"\nbased_on = \"base\"\nsource = \"own\"\n" + rest;
}

TEST(CatalogueRefuses, AnUnknownKey) {
  expect_refused(changed("[device.memory]\nbandwith = \"4.8 TB/s\"\n"), "6:1",
                 "unknown key 'bandwith' in [device.memory]; did you mean 'bandwidth'?");
  expect_refused(changed("colour = \"green\"\n"), "5:1", "unknown key 'colour' in [device]");
  expect_refused("[[devise]]\nid = \"a\"\n", "1:3", "unknown table 'devise'; did you mean 'device'?");
}

TEST(CatalogueRefuses, ABareNumberWhereAUnitBelongs) {
  expect_refused(changed("[device.memory]\nbandwidth = 4800\n"), "6:13",
                 "write its unit, for example bandwidth = \"4.8 TB/s\"");
  expect_refused(changed("[device.power]\ntdp = 700.0\n"), "6:7", "for example tdp = \"700 W\"");
  expect_refused(changed("[device.power]\ntdp = { value = 700, source = \"own\" }\n"), "6:17",
                 "for example tdp = \"700 W\"");
  expect_refused(changed("[device.memory]\ncapacity = \"141\"\n"), "6:16", "unit");
}

TEST(CatalogueRefuses, AMissingSource) {
  expect_refused("[[device]]\nid = \"mine\"\nbased_on = \"base\"\n[device.power]\ntdp = \"500 W\"\n", "5:7",
                 "power tdp has no source");
  expect_refused("[[architecture]]\nid = \"a\"\nname = \"A\"\nvendor = \"V\"\n", "1:1",
                 "[architecture] names no source");
}

TEST(CatalogueRefuses, ADanglingSource) {
  expect_refused(changed("[device.power]\ntdp = { value = \"500 W\", source = \"owm\" }\n"), "6:35",
                 "there is no [[source]] 'owm'; did you mean 'own'?");
  expect_refused("[[device]]\nid = \"mine\"\nbased_on = \"base\"\nsource = \"nowhere\"\n", "4:10",
                 "there is no [[source]] 'nowhere'");
}

TEST(CatalogueRefuses, ADanglingReference) {
  expect_refused(changed("architecture = \"hoper\"\n"), "5:16",
                 "there is no architecture 'hoper'; did you mean 'hopper'?");
}

TEST(CatalogueRefuses, ADuplicateIdNamingBothPlaces) {
  const Folder folder;
  const Result<Catalogue> loaded = folder.load_with("mine.toml", "\n[[device]]\nid = \"base\"\n");
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().where, folder.path("mine.toml") + ":3:6");
  EXPECT_NE(loaded.error().message.find(folder.path("data/devices/base.toml") + ":1:1"), std::string::npos)
      << loaded.error().message;
  expect_refused("[[source]]\nid = \"own\"\n", "2:6", "duplicate id: the source 'own'");
}

TEST(CatalogueRefuses, ImplausibleValues) {
  expect_refused(changed("[device.memory]\nbandwidth = \"4.8 GB/s\"\n"), "6:13",
                 "4.8 GB/s is implausible for memory bandwidth (50 GB/s to 50 TB/s); did you mean 4.8 TB/s?");
  expect_refused(changed("[device.memory]\ncapacity = \"141 MB\"\n"), "6:12", "did you mean 141 GB?");
  expect_refused(changed("[device.power]\ntdp = \"700 kW\"\n"), "6:7", "did you mean 700 W?");
  expect_refused(changed("[device.cores]\nboost_clock = \"1830 GHz\"\n"), "6:15", "did you mean 1.83 GHz?");
  expect_refused(changed("[device.peak_dense]\nbf16 = \"989 GFLOP/s\"\n"), "6:8", "did you mean 989 TFLOP/s?");
  expect_refused(changed("[device.memory]\ncapacity = \"0 GB\"\n"), "6:12", "implausible");
  expect_refused(changed("[device.cores]\ncount = 0\n"), "6:9", "implausible");
  expect_refused(changed("[device.scale_up]\nper_direction = \"50 GB/s\"\npeer_per_direction = \"60 GB/s\"\n"), "7:22",
                 "two devices cannot reach more than all links of one");
  expect_refused(changed("year = 24\n"), "5:8", "implausible");
}

// 132 SMs x 1.83 GHz x 4096 = 989.4 TFLOP/s; the sparse 1979 is twice of it.
TEST(CatalogueRefuses, ASparsePeakAboveCoresTimesClock) {
  expect_refused(changed("[device.peak_dense]\nbf16 = \"1979 TFLOP/s\"\n"), "6:8",
                 "looks like the sparse figure; dense would be about 989.4 TFLOP/s");
  expect_refused(changed("[device.peak_dense]\nfp8 = \"3958 TFLOP/s\"\n"), "6:7", "looks like the sparse figure");
  expect_refused(changed("[device.peak_dense]\nint8 = \"3958 TOP/s\"\n"), "6:8", "looks like the sparse figure");
  expect_refused(changed("[device.peak_dense]\ntf32 = \"989 TFLOP/s\"\n"), "6:8", "looks like the sparse figure");
}

/// A device of which only the rates are known.
std::string rates_only(const std::string& peaks) {
  return "[[device]]\nid = \"mine\"\nname = \"M\"\nvendor = \"V\"\narchitecture = \"hopper\"\nyear = 2024\nform = "
         "\"sxm\"\nconfidence = \"primary\"\nsource = \"own\"\n[device.peak_dense]\n" +
         peaks;
}

TEST(CatalogueRefuses, ASparsePeakByItsRatioToBf16) {
  expect_refused(rates_only("bf16 = \"500 TFLOP/s\"\nfp8 = \"2000 TFLOP/s\"\n"), "12:7",
                 "dense would be about 1 PFLOP/s (Hopper does fp8 at 2 times the bf16 rate)");
}

// Without a clock of its own a device is held against the highest of its design: 132 x 1.98 GHz x 4096 = 1070.
TEST(CatalogueRefuses, ASparsePeakOfADeviceWithoutClock) {
  expect_refused(rates_only("bf16 = \"1671 TFLOP/s\"\n[device.cores]\ncount = 132\n"), "11:8",
                 "looks like the sparse figure; dense would be about 835.5 TFLOP/s");
}

TEST(CatalogueRefuses, ATableOfSparsePeaks) {
  expect_refused(changed("[device.peak_sparse]\nbf16 = \"1979 TFLOP/s\"\n"), "5:1", "sparse peaks are not kept");
}

TEST(CatalogueRefuses, MalformedFiles) {
  expect_refused("[[device]]\nid = \n", "2:6", "malformed TOML");
  expect_refused("[[device]]\nid = \"cut off", "2:14", "malformed TOML");
  expect_refused("[device]\nid = \"a\"\n", "1:2", "[[device]]");
  expect_refused("device = [1]\n", "1:11", "has to hold tables");
  expect_refused("[[device]]\nname = \"a\"\n", "1:1", "'id' is missing");
  expect_refused("[[device]]\nid = \"H200\"\n", "2:6", "lower case");
  expect_refused("[[device]]\nid = 200\n", "2:6", "lower case");
  expect_refused("[[device]]\nid = \"\xff\"\n", "2:6", "utf-8");
  expect_refused("a = " + std::string(100'000, '['), "1:29", "nested too deeply");
}

TEST(CatalogueRefuses, AFileOfAHundredMegabytesWithoutReadingIt) {
  const Folder folder;
  const std::string path = folder.write("mine.toml", "");
  std::filesystem::resize_file(path, 100'000'000);
  const auto loaded =
      Catalogue::load({.data_directory = folder.small_catalogue(), .overlays = {path}, .price_lists = {}});
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().where, path);
  EXPECT_NE(loaded.error().message.find("16,000,000"), std::string::npos) << loaded.error().message;
}

TEST(CatalogueRefuses, FilesAndFoldersThatAreNotThere) {
  const Folder folder;
  const auto no_folder = Catalogue::load({.data_directory = folder.path("none"), .overlays = {}, .price_lists = {}});
  ASSERT_FALSE(no_folder.ok());
  EXPECT_EQ(no_folder.error().code, ErrorCode::not_found);
  folder.write("empty/readme", "");
  const auto no_data = Catalogue::load({.data_directory = folder.path("empty"), .overlays = {}, .price_lists = {}});
  ASSERT_FALSE(no_data.ok());
  EXPECT_NE(no_data.error().message.find("holds no catalogue"), std::string::npos);
  const auto no_overlay = Catalogue::load(
      {.data_directory = folder.small_catalogue(), .overlays = {folder.path("no.toml")}, .price_lists = {}});
  ASSERT_FALSE(no_overlay.ok());
  EXPECT_EQ(no_overlay.error().where, folder.path("no.toml"));
}

TEST(CatalogueRefuses, PartitionsThatDoNotFit) {
  const std::string part = "[[device.partition]]\nname = \"p\"\ncompute_share = 0.5\nbandwidth_share = 0.5\nmemory = ";
  expect_refused(changed(part + "\"200 GB\"\n"), "9:10", "more than the device has (141 GB)");
  expect_refused(changed(part + "\"20 GB\"\n" + part + "\"20 GB\"\n"), "11:8", "two partitions 'p'");
  expect_refused(changed("[[device.partition]]\nname = \"p\"\ncompute_share = 1.5\n"), "7:17", "implausible");
}

TEST(Overlay, AddsEntriesAndSourcesOfItsOwn) {
  const Folder folder;
  const auto loaded = folder.load_with(
      "mine.toml",
      "[[device]]\nid = \"mine\"\nbased_on = \"base\"\nsource = \"lab\"\n[device.power]\ntdp = \"500 W\"\n"
      "[[source]]\nid = \"lab\"\ntitle = \"Lab\"\nwhere = \"x\"\ndate = \"2026\"\nkind = \"measurement\"\n");
  ASSERT_TRUE(loaded.ok()) << loaded.error().text();
  const Device* mine = loaded->device("mine");
  ASSERT_NE(mine, nullptr);
  EXPECT_EQ(mine->tdp->value, watts(500));
  EXPECT_EQ(loaded->source(mine->tdp->source).id, "lab");
  EXPECT_NE(loaded->device("base"), nullptr);
  EXPECT_EQ(mine->place.file, folder.path("mine.toml"));
  EXPECT_EQ(mine->place.line, 1U);
}

TEST(Overlay, BasedOnMergesTablesAndKeepsTheSourcesOfWhatItInherits) {
  const Folder folder;
  const auto loaded = folder.load_with("mine.toml", changed("[device.memory]\nbandwidth = \"5 TB/s\"\n"));
  ASSERT_TRUE(loaded.ok()) << loaded.error().text();
  const Device& mine = *loaded->device("mine");
  EXPECT_EQ(mine.memory_bandwidth->value, gigabytes(5000) / seconds(1));
  EXPECT_EQ(loaded->source(mine.memory_bandwidth->source).id, "own");
  EXPECT_EQ(mine.memory_capacity->value, gigabytes(141));
  EXPECT_EQ(loaded->source(mine.memory_capacity->source).id, "sheet");
  EXPECT_EQ(mine.partitions.size(), 1U);
  EXPECT_EQ(mine.name, "Base");
}

TEST(Overlay, BasedOnMayBeAChain) {
  const Folder folder;
  const auto loaded = folder.load_with("mine.toml",
                                       "[[device]]\nid = \"c\"\nbased_on = \"b\"\nname = \"C\"\n"
                                       "[[device]]\nid = \"b\"\nbased_on = \"base\"\nsource = \"own\"\nyear = 2025\n");
  ASSERT_TRUE(loaded.ok()) << loaded.error().text();
  EXPECT_EQ(loaded->device("c")->name, "C");
  EXPECT_EQ(loaded->device("c")->year, 2025);
  EXPECT_EQ(loaded->device("c")->cores->value, 132);
}

TEST(Overlay, BasedOnItselfOrNothingIsRefused) {
  expect_refused("[[device]]\nid = \"a\"\nbased_on = \"b\"\n[[device]]\nid = \"b\"\nbased_on = \"a\"\n", "6:12",
                 "'a' is based on itself");
  expect_refused("[[device]]\nid = \"a\"\nbased_on = \"a\"\n", "3:12", "there is no device 'a' to start from");
  expect_refused("[[device]]\nid = \"a\"\nbased_on = \"bass\"\n", "3:12", "did you mean 'base'?");
  expect_refused("[[device]]\nid = \"a\"\nbased_on = 3\n", "3:12", "id of a device");
}

TEST(Overlay, ReplaceTakesThePlaceOfAnEntry) {
  const Folder folder;
  const auto loaded = folder.load_with(
      "mine.toml",
      "[[device]]\nid = \"base\"\nreplace = true\nbased_on = \"base\"\nsource = \"own\"\n[device.power]\ntdp = "
      "\"600 W\"\n");
  ASSERT_TRUE(loaded.ok()) << loaded.error().text();
  EXPECT_EQ(loaded->devices().size(), 1U);
  EXPECT_EQ(loaded->device("base")->tdp->value, watts(600));
  EXPECT_EQ(loaded->device("base")->cores->value, 132);
}

TEST(Overlay, ReplaceOfNothingIsRefused) {
  expect_refused("[[device]]\nid = \"bsae\"\nreplace = true\n", "3:11", "to replace; did you mean 'base'?");
  expect_refused("[[device]]\nid = \"base\"\nreplace = \"yes\"\n", "3:11", "true or false");
}

TEST(Overlay, LaterFilesBuildOnEarlierOnes) {
  const Folder folder;
  const std::string first = folder.write("1.toml", changed("year = 2020\n"));
  const std::string second =
      folder.write("2.toml", "[[device]]\nid = \"mine\"\nreplace = true\nbased_on = \"mine\"\nname = \"Second\"\n");
  const auto loaded =
      Catalogue::load({.data_directory = folder.small_catalogue(), .overlays = {first, second}, .price_lists = {}});
  ASSERT_TRUE(loaded.ok()) << loaded.error().text();
  EXPECT_EQ(loaded->device("mine")->name, "Second");
  EXPECT_EQ(loaded->device("mine")->year, 2020);
}

}  // namespace
}  // namespace ridge
