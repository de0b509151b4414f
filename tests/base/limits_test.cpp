// One table of limits: the page for people says what the program holds to.
#include "ridge/base/limits.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "base/digest.hpp"
#include "ridge/base/change.hpp"
#include "ridge/base/patience.hpp"
#include "ridge/base/text.hpp"

namespace ridge {
namespace {

TEST(Limits, ThePageHasARowForEachAndNoOther) {
  std::ifstream file(RIDGE_TEST_DIR "/../docs/limits.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  ASSERT_FALSE(page.empty());
  for (const limits::Limit& limit : limits::kAll) {
    const std::size_t row = page.find("| " + phrased(limit.what, Voice::flags) + " | ");
    ASSERT_NE(row, std::string::npos) << limit.what;
    std::string cell = page.substr(row + phrased(limit.what, Voice::flags).size() + 5);
    cell = cell.substr(0, cell.find(' '));
    std::erase(cell, ',');
    EXPECT_EQ(std::stod(cell), limit.most) << limit.what;
    EXPECT_GT(limit.most, 0) << limit.what;
    EXPECT_NE(page.find(phrased(limit.why, Voice::flags)), std::string::npos) << limit.what;
  }
  std::size_t rows = 0;
  for (std::size_t at = page.find("\n| "); at != std::string::npos; at = page.find("\n| ", at + 1)) ++rows;
  EXPECT_EQ(rows, limits::kAll.size() + 1) << "and the line of names";
}

TEST(Limits, ARefusalSaysTheNumber) {
  EXPECT_EQ(limits::beyond(limits::kThreads), "at most 256 threads for one question");
}

TEST(Digest, TellsApartWhatDiffersByABitOrByWhereAPieceEnds) {
  const auto of = [](std::string_view a, std::string_view b) { return Digest().add(a).add(b).hex(); };
  EXPECT_EQ(of("prices", "1.25"), of("prices", "1.25"));
  EXPECT_NE(of("prices", "1.25"), of("prices", "1.24"));
  EXPECT_NE(of("ab", "c"), of("a", "bc"));
  EXPECT_NE(of("", std::string(1, '\0')), of("", ""));
  EXPECT_NE(of(std::string(8, 'x'), ""), of(std::string(16, 'x'), ""));
  EXPECT_EQ(of("a", "b").size(), 32u);
}

TEST(Patience, HasNoEndUnlessSomebodySaysSo) {
  EXPECT_FALSE(Patience().over());
  bool over = false;
  const Patience patience([&] { return over; });
  EXPECT_FALSE(patience.over());
  over = true;
  EXPECT_TRUE(patience.over());
}

}  // namespace
}  // namespace ridge
