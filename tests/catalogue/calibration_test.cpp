#include "ridge/catalogue/calibration.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>

#include "catalogue/calibration_files.hpp"
#include "folder.hpp"
#include "ridge/base/file.hpp"

namespace ridge {
namespace {

std::string entry(const std::string& name, const std::string& value = "0.8", const std::string& more = "") {
  return "[[parameter]]\nname = \"" + name + "\"\nmeaning = \"a share\"\nvalue = " + value +
         "\nprior = 0.9\nspread = 0.2\nrange = [0.1, 1.5]\ngroup = \"kernels\"\n" + more + "\n";
}

Result<Calibration> load(const Folder& folder, const std::string& text, std::vector<std::string> overlays = {}) {
  folder.write("calibration/kernels.toml", text);
  return read_calibration(folder.path("calibration"), overlays, {});
}

TEST(Calibration, AScopeMultipliesTheBaseAndAnUnknownScopeLeavesIt) {
  const Folder folder;
  const auto c = load(folder, entry("a.b") + entry("a.b@hopper", "0.5") + entry("a.b@fp8", "1.5") + entry("a.bc", "1"));
  ASSERT_TRUE(c) << c.error().text();
  EXPECT_DOUBLE_EQ(c->value("a.b"), 0.8);
  EXPECT_DOUBLE_EQ(c->value("a.b", {"hopper"}), 0.4);
  EXPECT_DOUBLE_EQ(c->value("a.b", {"hopper", "fp8"}), 0.8 * 0.5 * 1.5);
  EXPECT_DOUBLE_EQ(c->value("a.b", {"volta"}), 0.8);
  EXPECT_DOUBLE_EQ(c->value("a.bc", {"hopper"}), 1);
}

TEST(Calibration, AScopeIsInformedOnlyByRows) {
  const Folder folder;
  const auto c = load(folder, entry("a") + entry("a@x", "1", "rows = 3\n") + entry("a@y", "1"));
  ASSERT_TRUE(c) << c.error().text();
  EXPECT_TRUE(c->informed("a", "x"));
  EXPECT_FALSE(c->informed("a", "y"));
  EXPECT_FALSE(c->informed("a", "z"));
}

TEST(Calibration, WhatIsWrittenReadsBackTheSame) {
  const Folder folder;
  const auto first = load(folder, entry("a", "0.123456", "source = \"a \\\"paper\\\"\"\nfitted = false\nrows = 7\n") +
                                      entry("a@x", "1.25", "logarithmic = false\n"));
  ASSERT_TRUE(first) << first.error().text();
  const std::string text = write_calibration(*first, "kernels");
  const auto second = load(folder, text);
  ASSERT_TRUE(second) << second.error().text();
  EXPECT_EQ(write_calibration(*second, "kernels"), text);
  ASSERT_EQ(second->parameters().size(), 2u);
  const Parameter& p = second->parameters()[0];
  EXPECT_EQ(p.source, "a \"paper\"");
  EXPECT_DOUBLE_EQ(p.value, 0.123456);
  EXPECT_FALSE(p.fitted);
  EXPECT_EQ(p.rows, 7);
  EXPECT_FALSE(second->parameters()[1].logarithmic);
  EXPECT_EQ(write_calibration(*first, "training"), "");
}

TEST(Calibration, DataOlderThanTheProgramIsRefusedByTheParameterItLacks) {
  namespace fs = std::filesystem;
  const Folder folder;
  fs::copy(RIDGE_DATA_DIR "/calibration", folder.path("calibration"));
  ASSERT_TRUE(load_calibration(folder.path("calibration")));
  for (const char* name : {"gemm.wave", "host.eager_layer@recurrent"}) {
    const std::string path =
        folder.path(name == std::string("gemm.wave") ? "calibration/kernels.toml" : "calibration/inference.toml");
    const std::string whole = *read_file(path, 1'000'000);
    const std::size_t at = whole.find("name = \"" + std::string(name) + '"');
    const std::size_t from = whole.rfind("[[parameter]]", at);
    std::string older = whole;
    older.erase(from, whole.find("[[parameter]]", at) - from);
    ASSERT_TRUE(write_file_atomically(path, older));
    const auto refused = load_calibration(folder.path("calibration"));
    ASSERT_FALSE(refused) << name;
    EXPECT_EQ(refused.error().where, path);
    EXPECT_NE(refused.error().message.find("'" + std::string(name) + "' is missing"), std::string::npos);
    EXPECT_NE(refused.error().message.find("older than the program"), std::string::npos);
    ASSERT_TRUE(write_file_atomically(path, whole));
  }
}

// What the code asks for by name has to be among what loading insists on; else it would be NaN at the first use.
TEST(Calibration, EveryNameInTheCodeIsOneThatLoadingInsistsOn) {
  std::set<std::string, std::less<>> required;
  for (const RequiredParameter& r : program_parameters()) required.emplace(r.name);
  const std::regex literal("value\\(\"([a-z_]+(\\.[a-z_]+)*(@[a-z0-9_]+)?)\"");
  int found = 0;
  for (const auto& file : std::filesystem::recursive_directory_iterator(RIDGE_TEST_DIR "/../src/perf")) {
    if (!file.is_regular_file()) continue;
    const std::string text = *read_file(file.path().string(), 1'000'000);
    for (auto at = std::sregex_iterator(text.begin(), text.end(), literal); at != std::sregex_iterator(); ++at) {
      ++found;
      EXPECT_TRUE(required.contains((*at)[1].str())) << (*at)[1] << " in " << file.path();
    }
  }
  EXPECT_GT(found, 50);
}

TEST(Calibration, RefusalsNameThePlaceAndTheFix) {
  const Folder folder;
  const auto refused = [&](const std::string& text) { return load(folder, text).error().text(); };
  EXPECT_NE(refused(entry("a", "2")).find("kernels.toml:4:1: 2 is outside of the range of 'a'"), std::string::npos);
  EXPECT_NE(refused(entry("a", "1", "vaule = 1\n")).find("kernels.toml:9:1: 'vaule' is no key"), std::string::npos);
  EXPECT_NE(refused(entry("a") + entry("a")).find("'a' is there twice"), std::string::npos);
  EXPECT_NE(refused(entry("a@x")).find("'a@x' is a factor on 'a'"), std::string::npos);
  EXPECT_NE(refused("[[parameter]]\nname = \"a\"\n").find("'meaning' is missing"), std::string::npos);
  EXPECT_NE(refused("[parameters]\n").find("write [[parameter]], [[interval]], [[effect]] or [[rest]]"),
            std::string::npos);
  EXPECT_NE(refused(entry("a", "\"much\"")).find("'value' has to be a finite number"), std::string::npos);
  EXPECT_EQ(load_calibration(folder.path("nowhere")).error().code, ErrorCode::not_found);
}

TEST(Calibration, AnOverlayReplacesValuesWithinTheirRange) {
  const Folder folder;
  const std::string good = folder.write("mine.toml", "[[parameter]]\nname = \"a\"\nvalue = 1.25\nrows = 4\n");
  const auto c = load(folder, entry("a") + entry("b"), {good});
  ASSERT_TRUE(c) << c.error().text();
  EXPECT_DOUBLE_EQ(c->value("a"), 1.25);
  EXPECT_DOUBLE_EQ(c->value("b"), 0.8);
  EXPECT_EQ(c->parameters()[0].rows, 4);
  const std::string unknown = folder.write("mine.toml", "[[parameter]]\nname = \"gemm.computer\"\nvalue = 1\n");
  EXPECT_NE(load(folder, entry("gemm.compute"), {unknown}).error().text().find("did you mean 'gemm.compute'?"),
            std::string::npos);
  const std::string outside = folder.write("mine.toml", "[[parameter]]\nname = \"a\"\nvalue = 7\n");
  EXPECT_NE(load(folder, entry("a"), {outside}).error().text().find("[0.1, 1.5]"), std::string::npos);
}

TEST(Calibration, AnUnknownClassGetsTheWidestIntervalOfItsMetric) {
  const Calibration c({}, {{"tpot_ms", "dense", 0.9, 1.1, 50, 0.05, 0.1},
                           {"tpot_ms", "moe", 0.7, 1.5, 20, 0.1, 0.3},
                           {"ttft_ms", "dense", 0.1, 9, 20, 0.1, 0.3}});
  EXPECT_DOUBLE_EQ(c.interval("tpot_ms", "dense")->high, 1.1);
  EXPECT_EQ(c.interval("tpot_ms", "new-device")->resembles, "moe");
  EXPECT_EQ(c.interval("watts", "dense"), nullptr);
}

}  // namespace
}  // namespace ridge
