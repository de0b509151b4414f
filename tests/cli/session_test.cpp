#include "app/cli/session/session.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "app/cli/session/dates.hpp"
#include "app/cli/session/progress.hpp"
#include "support/session.hpp"

namespace ridge::cli {
namespace {

namespace fs = std::filesystem;

TEST(DataDirectory, IsTheOptionThenTheVariableThenBesideTheProgramThenTheSourceTree) {
  const fs::path root = fs::temp_directory_path() / ("ridge_session_test_" + std::to_string(getpid()));
  fs::create_directories(root / "share" / "ridgeline");
  Surroundings around;
  around.program = (root / "bin" / "ridge").string();
  around.data_variable = "/from/variable";
  EXPECT_EQ(*find_data_directory("/from/option", around), "/from/option");
  EXPECT_EQ(*find_data_directory("", around), "/from/variable");
  around.data_variable.reset();
  EXPECT_EQ(*find_data_directory("", around), (root / "share" / "ridgeline").string());
  fs::remove_all(root);
  EXPECT_EQ(*find_data_directory("", around), RIDGE_DATA_DIR);
}

TEST(Session, ReadsTheCatalogueOnceAndNamesADirectoryThatIsNotThere) {
  Session good({.data = RIDGE_DATA_DIR}, {});
  const auto first = good.catalogue();
  ASSERT_TRUE(first) << first.error().text();
  EXPECT_EQ(*first, *good.catalogue());
  Session bad({.data = "/nowhere"}, {});
  ASSERT_FALSE(bad.catalogue());
  EXPECT_EQ(bad.catalogue().error().where, "/nowhere");
}

// Sources of economics and facility are numbered by the catalogue that they were read with.
TEST(Session, TakesSharedDataUnlessTheLineChangesTheCatalogue) {
  const SharedData& shared = testing_support::shared();
  std::string out;
  const StopSign never;
  Session plain({}, testing_support::here(), shared, out, never, Files::refused);
  EXPECT_EQ(*plain.economics(), shared.economics.get());
  EXPECT_EQ(*plain.facility(), shared.facility.get());
  EXPECT_EQ(*plain.policy(), shared.policy.get());
  GlobalOptions what_if;
  what_if.settings = {"device.hbm_bandwidth=8TB/s"};
  Session other(what_if, testing_support::here(), shared, out, never, Files::refused);
  other.about({.devices = {"h100-sxm"}});
  ASSERT_TRUE(other.economics());
  EXPECT_NE(*other.economics(), shared.economics.get());
  EXPECT_EQ(*other.policy(), shared.policy.get());
}

TEST(Session, ColourNeedsATerminalThatHasItAndAUserWhoWantsIt) {
  const Surroundings terminal{.program = "", .data_variable = {}, .width = 80, .colour = true};
  EXPECT_TRUE(Session({}, terminal).style().colour);
  EXPECT_FALSE(Session({.no_colour = true}, terminal).style().colour);
  EXPECT_FALSE(Session({}, Surroundings{}).style().colour);
}

TEST(Dates, HaveThreeForms) {
  EXPECT_TRUE(parse_date("2026"));
  EXPECT_TRUE(parse_date("2026-08"));
  EXPECT_TRUE(parse_date("2024-02-29"));
  for (const char* bad :
       {"", "26", "2026-13", "2026-00", "2026-8", "2026-02-29", "2026-01-32", "2026/01", "2026-01-01x"}) {
    EXPECT_FALSE(parse_date(bad)) << bad;
  }
}

TEST(Dates, AreLaterOnlyAsFarAsBothSay) {
  EXPECT_TRUE(is_later("2026-09", "2026-08-31"));
  EXPECT_FALSE(is_later("2026-08-31", "2026-08"));
  EXPECT_FALSE(is_later("2026-08", "2026-08-03"));
  EXPECT_TRUE(is_later("2026-08-04", "2026-08-03"));
}

TEST(Dates, AreStaleAfterSixMonths) {
  EXPECT_FALSE(is_stale("2026-02-22", "2026-08-22"));
  EXPECT_TRUE(is_stale("2026-02-21", "2026-08-22"));
  EXPECT_FALSE(is_stale("2026-02", "2026-08-22"));  // the day is not said
  EXPECT_TRUE(is_stale("2026-01", "2026-08"));
  EXPECT_FALSE(is_stale("2025", "2026-06"));  // may have been December
  EXPECT_TRUE(is_stale("2025", "2026-07"));
  EXPECT_FALSE(is_stale("", "2026-07"));
  EXPECT_FALSE(is_stale("2026-07", "2025-01"));
}

TEST(ProgressLine, TellsShareAndTimeLeft) {
  // 25 % in 3 s: three times as much is left.
  EXPECT_EQ(progress_line("searching", 0.25, 3), "searching  ━━━━━───────────────  25 %, 9 s left");
  EXPECT_EQ(progress_line("searching", 0.25, 2, 6.2e6, "plans"),
            "searching  ━━━━━───────────────  25 %, 3.10M plans/s, 6 s left");
  EXPECT_EQ(progress_line("searching", 0.001, 3), "searching  ────────────────────  0 %");
  EXPECT_EQ(progress_line("searching", 2, 3), "searching  ━━━━━━━━━━━━━━━━━━━━  100 %");
}

TEST(Progress, IsSilentWhereThereIsNoTerminal) {
  std::FILE* file = std::tmpfile();
  {
    Progress progress("searching", file);
    usleep(120'000);
    progress.show(0.5);
  }
  EXPECT_EQ(std::ftell(file), 0);
  std::fclose(file);
}

}  // namespace
}  // namespace ridge::cli
