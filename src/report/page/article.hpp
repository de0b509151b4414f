// A report to be read: headings, sentences, tables and figures, in one of two languages, as HTML or Markdown.
//
//   Article a{.title = "MLPerf", .language = Language::zh};
//   a.blocks.emplace_back(Heading{"方法"});
//   a.blocks.emplace_back(table);
//   write_file("report.html", article_html(a));     // one file: no scripts, figures inside, fonts that show Chinese
//   write_file("report.md", article_markdown(a));   // bars in characters
//
// Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "report/chart/bars.hpp"
#include "ridge/base/result.hpp"
#include "ridge/report/report.hpp"

namespace ridge::report {

enum class Language : std::uint8_t { en, zh };
/// "en" or "zh"; refuses others.
Result<Language> parse_language(std::string_view text);

struct Heading {
  std::string text;
  int level = 2;
};
struct Bullets {
  std::vector<std::string> items;
};
using ArticleBlock = std::variant<Heading, Paragraph, Bullets, Table, Bars, Trend>;

struct Article {
  std::string title;
  Language language = Language::en;
  std::vector<ArticleBlock> blocks;
};

[[nodiscard]] std::string article_html(const Article& article);
/// Trends are left out: their figures stand in the table beside them.
[[nodiscard]] std::string article_markdown(const Article& article);

}  // namespace ridge::report
