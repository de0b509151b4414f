// The MLPerf report and its figures.
#include "report/record/mlperf_article.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace ridge::report {
namespace {

class MlperfReport : public testing::Test {
 protected:
  struct Loaded {
    Result<Catalogue> catalogue =
        Catalogue::load({.data_directory = RIDGE_DATA_DIR, .overlays = {}, .price_lists = {}});
    Result<Engines> engines = load_engines(std::string(RIDGE_DATA_DIR) + "/engines");
    Result<Calibration> calibration = load_calibration(std::string(RIDGE_DATA_DIR) + "/calibration");
    Result<mlperf::Names> names = mlperf::load_names(RIDGE_DATA_DIR);
    Result<mlperf::Results> results = mlperf::load_bundled(RIDGE_DATA_DIR, *names);
    Knowledge knowledge{*catalogue, *engines, *calibration};
  };
  static const Loaded& loaded() {
    static const Loaded all;
    return all;
  }
  static MlperfEvidence evidence() { return {*loaded().results, *loaded().names, loaded().knowledge}; }
};

bool has_chinese(std::string_view text) {
  // U+4E00 to U+9FFF begin with 0xE4 to 0xE9 in UTF-8.
  return std::any_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0xE4 && byte <= 0xE9;
  });
}

TEST_F(MlperfReport, IsOneHtmlFileWithoutScriptsInEitherLanguage) {
  for (const Language language : {Language::en, Language::zh}) {
    const std::string html = article_html(mlperf_article(evidence(), language));
    EXPECT_EQ(html.find("<script"), std::string::npos);
    EXPECT_EQ(html.find("href="), std::string::npos) << "nothing is fetched";
    EXPECT_EQ(html.find("src="), std::string::npos);
    EXPECT_NE(html.find("<svg"), std::string::npos);
    EXPECT_NE(html.find("Noto Sans CJK SC"), std::string::npos);
    EXPECT_NE(html.find(language == Language::zh ? "<html lang=\"zh\">" : "<html lang=\"en\">"), std::string::npos);
    EXPECT_EQ(html.find("nan"), std::string::npos);
  }
}

TEST_F(MlperfReport, CarriesTheRightFiguresAndNotTheWrongOnes) {
  const std::string text = article_markdown(mlperf_article(evidence(), Language::en));
  EXPECT_NE(text.find("| gb200 | Offline | 72,428 | 4,023.8 | 18.00× |"), std::string::npos);
  EXPECT_NE(text.find("| gb200 | Server | 41,894.5 | 2,327.5 | 18.00× |"), std::string::npos);
  EXPECT_NE(text.find("the rack of 72 delivers 9.2× the node of 8, with 9× the accelerators: 1.02× per accelerator"),
            std::string::npos);
  EXPECT_NE(text.find("h200-sxm-141gb is 1.40× h100-sxm-80gb per accelerator (68.6 against 48.9 tokens/s"),
            std::string::npos);
  EXPECT_NE(text.find("| h100-sxm-80gb | hopper | 989 TFLOP/s | 1.98 PFLOP/s |"), std::string::npos) << "dense";
}

TEST_F(MlperfReport, EveryHeadingAndSentenceIsTranslated) {
  const Article article = mlperf_article(evidence(), Language::zh);
  EXPECT_TRUE(has_chinese(article.title));
  for (const ArticleBlock& block : article.blocks) {
    if (const auto* heading = std::get_if<Heading>(&block)) {
      EXPECT_TRUE(has_chinese(heading->text)) << heading->text;
    }
    if (const auto* paragraph = std::get_if<Paragraph>(&block)) {
      EXPECT_TRUE(has_chinese(paragraph->text)) << paragraph->text;
    }
    if (const auto* bullets = std::get_if<Bullets>(&block)) {
      for (const std::string& item : bullets->items) EXPECT_TRUE(has_chinese(item)) << item;
    }
    if (const auto* table = std::get_if<Table>(&block)) {
      for (const Column& column : table->columns) {
        EXPECT_TRUE(has_chinese(column.heading) || column.heading == "R²") << column.heading;
      }
    }
  }
}

TEST_F(MlperfReport, EverySentenceOfFindingsCarriesNumbers) {
  const MlperfFindings findings(evidence(), Language::en);
  std::vector<std::string> all = findings.coupling();
  for (const auto& more : {findings.generations(), findings.elasticity(), findings.virtualised(), findings.power()}) {
    EXPECT_FALSE(more.empty());
    all.insert(all.end(), more.begin(), more.end());
  }
  for (const std::string& sentence : all) {
    EXPECT_GE(std::count_if(sentence.begin(), sentence.end(), [](char c) { return c >= '0' && c <= '9'; }), 3)
        << sentence;
  }
  EXPECT_EQ(findings.ratio("gb200", "a100-sxm-80gb", "gptj-99", "Offline"), "") << "no round has both: nothing is said";
}

TEST(BarsFigure, IsDrawnToScaleAndLeavesOutWhatIsUnknown) {
  Bars bars;
  bars.title = "a < b";
  bars.series = {"one", "two"};
  bars.lines = {{"x", {10, std::nan("")}, {"n=1", ""}}, {"y", {5, 2.5}, {}}};
  const std::string svg = bars_svg(bars);
  EXPECT_NE(svg.find("a &lt; b"), std::string::npos);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(bars_text(bars, 8), "x  one  ████████ 10  n=1\ny  one  ████ 5\n   two  ██ 2.50\n");
}

}  // namespace
}  // namespace ridge::report
