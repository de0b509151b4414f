// Short sentences as vendors, blogs and analysts write them, right and wrong ones (everyday.csv). The patterns were
// written with the half "worked-on"; "held-out" was set aside. One hand wrote both, and 19 sentences that were set
// aside turned up as examples in the code and were moved to the other half: words of some others stand in its lists
// too. So the shares of "held-out" are no measure of what a stranger's text gives.
#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "ridge/base/csv.hpp"
#include "ridge/base/file.hpp"
#include "support.hpp"

namespace ridge::test {
namespace {

/// A figure of a sentence and what it should be judged to be: "80 GB=right".
struct Expected {
  std::string figure;
  std::string verdict;
};

std::vector<Expected> parse_expected(std::string_view text) {
  std::vector<Expected> result;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(';'), text.size());
    std::string_view item = text.substr(0, end);
    while (item.starts_with(' ')) item.remove_prefix(1);
    const std::size_t equals = item.rfind('=');
    EXPECT_NE(equals, std::string_view::npos) << item;
    result.push_back({std::string(item.substr(0, equals)), std::string(item.substr(equals + 1))});
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

struct Shares {
  int figures = 0;
  int found = 0;         // judged at all
  int judged_right = 0;  // an error called an error, a right figure right or rounded
  int exact = 0;         // an error of this very kind
  int errors = 0;        // reported
  int false_alarms = 0;  // reported about right figures, or about figures that claim nothing
  std::string missed;
};

void count(const std::string& sentence, const std::string& expected, Shares& shares) {
  const Audit found = audit(sentence);
  std::vector<bool> taken(found.findings.size());
  for (const Expected& e : parse_expected(expected)) {
    ++shares.figures;
    const std::size_t from = sentence.find(e.figure) + 1;
    const bool fits = e.figure == "fits";
    EXPECT_TRUE(fits || from > 0) << sentence << ": " << e.figure;
    const Finding* judged = nullptr;
    for (std::size_t i = 0; i < found.findings.size(); ++i) {
      const Finding& f = found.findings[i];
      const bool there = f.claim.column >= from && f.claim.column < from + e.figure.size();
      if (fits ? f.claim.kind != "fits" : !there || f.claim.kind == "fits") continue;
      taken[i] = true;
      if (f.verdict == Verdict::cannot_check) continue;
      if (judged == nullptr || is_error(f.verdict)) judged = &f;
    }
    if (judged == nullptr) {
      shares.missed += "\n  " + sentence;
      continue;
    }
    ++shares.found;
    const bool error = is_error(judged->verdict);
    const bool right = error == (e.verdict != "right");
    shares.errors += error;
    shares.false_alarms += error && !right;
    shares.judged_right += right;
    shares.exact += right && (!error || name(judged->verdict) == e.verdict);
    if (!right) shares.missed += "\n  " + sentence + " (" + std::string(name(judged->verdict)) + ")";
  }
  for (std::size_t i = 0; i < found.findings.size(); ++i) {
    if (taken[i] || !is_error(found.findings[i].verdict)) continue;
    ++shares.errors;
    ++shares.false_alarms;
    shares.missed += "\n  " + sentence + " (false: " + found.findings[i].claim.says + ")";
  }
}

/// All sentences of a half with what is expected of them.
std::vector<std::pair<std::string, std::string>> sentences(std::string_view half) {
  std::vector<std::pair<std::string, std::string>> result;
  auto text = read_file(RIDGE_TEST_DIR "/claims/everyday.csv", 1 << 20);
  EXPECT_TRUE(text) << (text ? "" : text.error().text());
  if (!text) return result;
  const auto table = CsvTable::parse(std::move(*text), "everyday.csv");
  EXPECT_TRUE(table) << (table ? "" : table.error().text());
  if (!table) return result;
  const std::size_t which = *table->column("half"), sentence = *table->column("sentence"),
                    expected = *table->column("expected");
  for (std::size_t row = 0; row < table->rows(); ++row) {
    if (table->cell(row, which) == half) result.emplace_back(table->cell(row, sentence), table->cell(row, expected));
  }
  return result;
}

Shares measured(std::string_view half) {
  Shares shares;
  for (const auto& [sentence, expected] : sentences(half)) count(sentence, expected, shares);
  return shares;
}

void expect_shares(const Shares& shares, double found, double judged_right, int false_alarms,
                   const std::string& detail) {
  EXPECT_GE(shares.found, found * shares.figures) << detail;
  EXPECT_GE(shares.judged_right, judged_right * shares.figures) << detail;
  EXPECT_LE(shares.false_alarms, false_alarms) << "of " << shares.errors << " errors" << detail;
}

TEST(Everyday, SentencesThatWereWorkedOnAreJudged) {
  const Shares shares = measured("worked-on");
  ASSERT_GT(shares.figures, 120);
  expect_shares(shares, 1, 1, 0, shares.missed);
}

// Measured: 58 of 61 found and judged right, no false alarm. The sentences themselves are not printed: whoever reads
// them to mend the patterns spends the measurement, and moves them to the other half.
TEST(Everyday, SentencesThatWereHeldOutAreJudged) {
  const Shares shares = measured("held-out");
  ASSERT_GT(shares.figures, 60);
  expect_shares(shares, 0.92, 0.91, 1, "");
}

// Cut off, doubled, with any byte in any place: an answer or a refusal, and the same one twice.
TEST(Everyday, DamagedSentencesGiveAClearResult) {
  std::mt19937 random(11);
  for (const auto& [sentence, expected] : sentences("worked-on")) {
    for (int round = 0; round < 20; ++round) {
      std::string text = sentence;
      const std::size_t at = random() % text.size();
      switch (random() % 4) {
        case 0:
          text.resize(at);
          break;
        case 1:
          text[at] = static_cast<char>(random() % 256);
          break;
        case 2:
          text.insert(at, text.substr(at / 2));
          break;
        default:
          text.erase(at, 1 + random() % 5);
          break;
      }
      const auto once = checker().check_text(text, "damaged"), again = checker().check_text(text, "damaged");
      ASSERT_EQ(bool(once), bool(again));
      if (!once) {
        EXPECT_NE(once.error().text().find("NUL"), std::string::npos) << once.error().text();
        continue;
      }
      ASSERT_EQ(once->findings.size(), again->findings.size());
      for (const Finding& f : once->findings) {
        EXPECT_FALSE(f.claim.says.empty());
        EXPECT_TRUE(f.verdict != Verdict::cannot_check || !f.because.empty()) << text;
        EXPECT_TRUE(!f.right || std::isfinite(f.right->value)) << text;
      }
    }
  }
}

}  // namespace
}  // namespace ridge::test
