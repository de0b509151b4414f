// Long documents: time and memory grow with the length of a text, not with its square.
#include <algorithm>
#include <cmath>
#include <ctime>

#include "claims/text/passage.hpp"
#include "ridge/base/file.hpp"
#include "support.hpp"

namespace ridge::test {
namespace {

std::string repeated(std::string_view text, std::size_t times) {
  std::string result;
  result.reserve(text.size() * times);
  for (std::size_t i = 0; i < times; ++i) result += text;
  return result;
}

/// Processor time of this program that a check takes; the least of several, as others share the machine.
double seconds_for(const std::string& text, std::size_t claims, int tries) {
  double least = HUGE_VAL;
  for (int i = 0; i < tries; ++i) {
    const std::clock_t start = std::clock();
    EXPECT_EQ(audit(text).findings.size(), claims);
    least = std::min(least, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  return least;
}

/// 128 times the text takes 128 times as long if time is linear, and 800 times and more if it is quadratic: a bound
/// between them that no busy machine crosses.
constexpr std::size_t kLonger = 128;
constexpr double kMostTimes = 400;
void expect_linear(std::string_view sentence) {
  constexpr std::size_t kFew = 250;
  constexpr std::size_t kMany = kLonger * kFew;
  const double few = seconds_for(repeated(sentence, kFew), kFew, 5);
  const double many = seconds_for(repeated(sentence, kMany), kMany, 1);
  EXPECT_LT(many, kMostTimes * few) << sentence;
}

TEST(LongText, TimeGrowsWithTheNumberOfClaims) {
  expect_linear("H100 has 80 GB.\n");
}

TEST(LongText, TimeGrowsWithTheNumberOfWrongClaimsAboutOneThing) {
  expect_linear("H100 has 60 GB.\n");
}

TEST(LongText, TimeGrowsWithTheLengthOfATableThatTheTextSpeaksOf) {
  // Each sentence is a claim about the table, each row one of its own.
  const auto text = [](std::size_t n) {
    return "| GPU | Scenario | Total tok/s | GPUs | tok/s per GPU |\n|---|---|---|---|---|\n" +
           repeated("| H100 | Offline | 24000 | 8 | 3000 |\n| B200 | Offline | 98000 | 8 | 12250 |\n", n / 2) + "\n\n" +
           repeated("B200 performs faster than H100. ", n);
  };
  constexpr std::size_t kFew = 150;
  const double few = seconds_for(text(kFew), 2 * kFew, 5);
  const double many = seconds_for(text(kLonger * kFew), 2 * kLonger * kFew, 1);
  EXPECT_LT(many, kMostTimes * few);
}

TEST(LongText, WhoRepeatsHimselfIsContradictedByTheFirstWhoSaysOtherwise) {
  const Audit found = audit("H100 has 60 GB.\nH100 has 60 GB.\nH100 has 70 GB.\nH100 has 75 GB.\n");
  ASSERT_EQ(found.findings.size(), 4U);
  const auto says = [&](std::size_t i) { return found.findings[i].because; };
  for (const Finding& f : found.findings) expect_verdict(f, Verdict::contradiction);
  EXPECT_NE(says(0).find("line 3 says: 70 GB"), std::string::npos) << says(0);
  EXPECT_NE(says(1).find("line 3 says: 70 GB"), std::string::npos) << says(1);
  EXPECT_NE(says(2).find("line 1 says: 60 GB"), std::string::npos) << says(2);
  EXPECT_NE(says(3).find("line 1 says: 60 GB"), std::string::npos) << says(3);
}

TEST(LongText, RowsShareTheirHeaderAndSentencesTheirHeading) {
  const std::string path = std::string(RIDGE_DATA_DIR) + "/claims/names.toml";
  const auto toml = read_file(path, 1U << 22);
  ASSERT_TRUE(toml);
  const auto names = claims::Names::load(catalogue(), *toml, path);
  ASSERT_TRUE(names);
  const claims::Text text = claims::clean(
      "# Parts of 2024\n\nOne sentence. Another one.\n\n| GPU | Memory (GB) |\n|---|---|\n| H100 | 80 |\n| H200 | 141 "
      "|\n");
  const auto passages = claims::read_passages(text, *names);
  ASSERT_EQ(passages.size(), 4U);
  ASSERT_TRUE(passages[2].is_row() && passages[3].is_row());
  for (const claims::Passage& p : passages) EXPECT_EQ(p.heading, passages[0].heading);
  EXPECT_FALSE(passages[0].heading->empty());
  for (std::size_t c = 0; c < 2; ++c) EXPECT_EQ(passages[2].cells[c].header, passages[3].cells[c].header);
  ASSERT_TRUE(passages[3].cells[1].header->unit);
  EXPECT_EQ(passages[3].cells[1].header->unit->value, 1e9);
}

}  // namespace
}  // namespace ridge::test
