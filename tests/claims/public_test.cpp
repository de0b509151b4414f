// Short sentences of public pages (public.csv: address, sentence, our judgement of each figure). "none" is a figure
// that nothing in the catalogue can judge. The patterns were written with the half "worked-on"; "held-out" was labelled
// before the program saw it and run once. tools/measure_public.py prints the same shares, and with --show the figures.
#include <algorithm>

#include "ridge/base/csv.hpp"
#include "ridge/base/file.hpp"
#include "support.hpp"

namespace ridge::test {
namespace {

struct PublicShares {
  int figures = 0, checkable = 0, judged = 0, well = 0;
};

void count_public(const std::string& sentence, std::string_view expected, PublicShares& shares) {
  const Audit found = audit(sentence);
  std::size_t at = 0;
  while (!expected.empty()) {
    const std::size_t end = std::min(expected.find("; "), expected.size());
    const std::string_view item = expected.substr(0, end);
    expected.remove_prefix(std::min(end + 2, expected.size()));
    const std::size_t equals = item.rfind('=');
    ASSERT_NE(equals, std::string_view::npos) << item;
    const std::string_view verdict = item.substr(equals + 1);
    const std::size_t place = sentence.find(item.substr(0, equals), at);
    ASSERT_NE(place, std::string::npos) << sentence << ": " << item;
    at = place + 1;
    ++shares.figures;
    shares.checkable += verdict != "none";
    bool judged = false, error = false;
    for (const Finding& f : found.findings) {
      // A sign before the number belongs to it.
      const bool there = f.claim.column >= place && f.claim.column <= place + equals;
      if (!there || f.claim.kind == "fits" || f.verdict == Verdict::cannot_check) continue;
      judged = true;
      error = error || is_error(f.verdict);
    }
    shares.judged += judged;
    shares.well += judged && verdict != "none" && error == (verdict != "right");
  }
}

PublicShares measured_public(std::string_view half) {
  PublicShares shares;
  auto text = read_file(RIDGE_TEST_DIR "/claims/public.csv", 1 << 20);
  EXPECT_TRUE(text) << (text ? "" : text.error().text());
  if (!text) return shares;
  const auto table = CsvTable::parse(std::move(*text), "public.csv");
  EXPECT_TRUE(table) << (table ? "" : table.error().text());
  if (!table) return shares;
  for (std::size_t row = 0; row < table->rows(); ++row) {
    if (table->cell(row, *table->column("half")) != half) continue;
    count_public(std::string(table->cell(row, *table->column("sentence"))),
                 table->cell(row, *table->column("expected")), shares);
  }
  return shares;
}

// Measured: 130 judged, 128 of them well, of 139 that can be checked.
TEST(PublicTexts, FiguresThatWereWorkedOn) {
  const PublicShares s = measured_public("worked-on");
  EXPECT_GE(s.figures, 160);
  EXPECT_GE(s.well, 0.97 * s.judged);
  EXPECT_GE(s.well, 0.88 * s.checkable);
}

// Measured unread: 101 judged, 98 of them well, of 122 that can be checked; 102 and 100 since.
TEST(PublicTexts, FiguresThatWereHeldOut) {
  const PublicShares s = measured_public("held-out");
  EXPECT_GE(s.figures, 135);
  EXPECT_GE(s.well, 0.95 * s.judged);
  EXPECT_GE(s.well, 0.75 * s.checkable);
}

}  // namespace
}  // namespace ridge::test
