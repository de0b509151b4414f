// Claim files: what is refused and where; the bundled claims against the audit they were written from.
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "ridge/base/csv.hpp"
#include "ridge/base/file.hpp"
#include "support.hpp"

namespace ridge::test {
namespace {

std::string refusal(std::string_view toml) {
  const auto claims = checker().read_toml(toml, "c.toml");
  EXPECT_FALSE(claims);
  return claims ? "" : claims.error().text();
}

TEST(ClaimFile, EveryMistakeIsNamedWithItsPlace) {
  EXPECT_NE(refusal("[[claim]]\nclaimed='1x'\n").find("c.toml:1:1: the kind of claim is missing"), std::string::npos);
  EXPECT_NE(refusal("[[claim]]\nkind='rato'\na='1'\nb='2'\nclaimed='1x'\n").find("did you mean 'ratio'"),
            std::string::npos);
  EXPECT_NE(
      refusal("[[claim]]\nkind='ratio'\na='1'\nc='2'\nclaimed='1x'\n").find("c.toml:4:1: 'c' is no input of ratio"),
      std::string::npos);
  EXPECT_NE(refusal("[[claim]]\nkind='ratio'\na='1'\nclaimed='1x'\n").find("'b' is missing"), std::string::npos);
  EXPECT_NE(refusal("[[claim]]\nkind='ratio'\na='1'\nb='2'\n").find("'claimed' is missing"), std::string::npos);
  EXPECT_NE(refusal("[[claim]]\nkind='ratio'\na='1'\nb='2'\nclaimed='soon'\n").find("'soon' is no figure"),
            std::string::npos);
  EXPECT_NE(refusal("[[claim]]\nid='a'\nkind='ratio'\na='1'\nb='2'\nclaimed='1x'\n[[claim]]\nid='a'\nkind='ratio'\na='"
                    "1'\nb='2'\nclaimed='1x'\n")
                .find("given twice"),
            std::string::npos);
  EXPECT_NE(refusal("verdict='right'\n").find("[[claim]] only"), std::string::npos);
  // A verdict cannot be stored beside a claim.
  EXPECT_NE(
      refusal("[[claim]]\nkind='ratio'\na='1'\nb='2'\nclaimed='1x'\nverdict='right'\n").find("'verdict' is no input"),
      std::string::npos);
  EXPECT_FALSE(refusal("[[claim").empty());
}

TEST(ClaimFile, CsvHoldsTheSameRecords) {
  const auto claims = checker().read_csv(
      "id,kind,claimed,rent,rate\nc1,cost-per-token,$0.42/1M tokens,$3.39/hour,4000 tok/s\n", "c.csv");
  ASSERT_TRUE(claims) << claims.error().text();
  const Audit found = checker().check(*claims, "c.csv");
  ASSERT_EQ(found.findings.size(), 1u);
  expect_verdict(found.findings[0], Verdict::wrong, 0.2354e-6);
  const auto broken = checker().read_csv("id,kind,claimed,rant\nc1,ratio,2x,5\n", "c.csv");
  ASSERT_FALSE(broken);
  EXPECT_NE(broken.error().text().find("c.csv:2:"), std::string::npos);
}

std::map<std::string, std::string> expected_verdicts() {
  std::map<std::string, std::string> expected;
  auto text = read_file(RIDGE_TEST_DIR "/claims/expected.csv", 1 << 20);
  EXPECT_TRUE(text);
  const auto table = CsvTable::parse(std::move(*text), "expected.csv");
  EXPECT_TRUE(table);
  for (std::size_t row = 0; row < table->rows(); ++row)
    expected[std::string(table->cell(row, 0))] = std::string(table->cell(row, 1));
  return expected;
}

/// "S3-39d" is part of the audited item "S3-39".
std::string item_of(const std::string& id) {
  std::size_t end = id.find('-') + 1;
  while (end < id.size() && id[end] >= '0' && id[end] <= '9') ++end;
  return id.substr(0, end);
}

TEST(BundledClaims, VerdictsAgreeWithTheAuditOnNinetySevenPercentOfTheItems) {
  const auto expected = expected_verdicts();
  std::map<std::string, bool> agreed;
  std::set<std::string> without_quantity;
  std::string report;
  std::size_t claims_seen = 0;
  for (const auto& entry : std::filesystem::directory_iterator(RIDGE_DATA_DIR "/claims")) {
    const std::string file = entry.path().filename().string();
    if (file == "names.toml" || file == "facts.toml" || entry.path().extension() != ".toml") continue;
    const auto text = read_file(entry.path().string(), 1 << 20);
    ASSERT_TRUE(text);
    const auto claims = checker().read_toml(*text, file);
    ASSERT_TRUE(claims) << claims.error().text();
    for (const Finding& f : checker().check(*claims, file).findings) {
      ++claims_seen;
      const auto at = expected.find(f.claim.id);
      ASSERT_NE(at, expected.end()) << f.claim.id;
      const std::string item = item_of(f.claim.id);
      if (f.claim.kind == "not-computable") {
        EXPECT_FALSE(f.because.empty()) << f.claim.id;
        without_quantity.insert(item);
        continue;
      }
      const bool same = at->second == name(f.verdict);
      agreed.try_emplace(item, true).first->second &= same;
      if (!same)
        report += f.claim.id + ": expected " + at->second + ", computed " + std::string(name(f.verdict)) + " (" +
                  f.formula + "; " + f.because + ")\n";
    }
  }
  EXPECT_EQ(claims_seen, expected.size());
  const auto right =
      static_cast<std::size_t>(std::count_if(agreed.begin(), agreed.end(), [](const auto& a) { return a.second; }));
  // Of items without a quantity a reason is all that can be asked; it was asked for above.
  const std::size_t items = agreed.size() + without_quantity.size();
  EXPECT_EQ(items, 206u);
  EXPECT_LE(without_quantity.size(), 20u);
  EXPECT_GE(static_cast<double>(right + without_quantity.size()), 0.97 * static_cast<double>(items))
      << right << " of " << agreed.size() << "\n"
      << report;
  RecordProperty("agreed", static_cast<int>(right));
  RecordProperty("items", static_cast<int>(agreed.size()));
}

}  // namespace
}  // namespace ridge::test
