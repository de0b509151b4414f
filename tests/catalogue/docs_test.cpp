// The examples of docs/data-format.md are entries the loader takes.
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "bundled.hpp"

namespace ridge {
namespace {

/// The TOML examples that start with one of the tables, as replacements of the bundled entries they show.
std::string examples(const std::set<std::string>& tables) {
  std::ifstream file(std::string(RIDGE_TEST_DIR) + "/../docs/data-format.md");
  std::string text;
  bool inside = false;
  bool wanted = false;
  for (std::string line; std::getline(file, line);) {
    if (line.substr(0, 3) == "```") {
      inside = line == "```toml";
      wanted = false;
      continue;
    }
    if (inside && tables.count(line) != 0) wanted = true;
    if (!wanted) continue;
    text += line + "\n";
    if (line.substr(0, 5) == "id = ") text += "replace = true\n";
  }
  return text;
}

TEST(DataFormatDocument, ExamplesOfSystemsFabricsAndPricesLoad) {
  const std::string text = examples({"[[fabric]]", "[[system]]", "[[price]]", "[[alias]]"});
  for (const std::string_view table : {"[[fabric]]", "[[system]]", "[[price]]", "[[alias]]"}) {
    EXPECT_TRUE(testing_support::contains(text, table));
  }
  const auto loaded = testing_support::load_with_overlay(text);
  ASSERT_TRUE(loaded) << loaded.error().text();
  EXPECT_EQ(loaded->system("rack-gb200-nvl72")->devices(), 72);
  EXPECT_TRUE(testing_support::contains(loaded->fabric("nvlink4")->place.file, "mine.toml"));
}

}  // namespace
}  // namespace ridge
