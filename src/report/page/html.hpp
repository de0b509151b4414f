// A page for a browser: paragraphs, tables and figures, self-contained, without scripts, for light and dark screens
// and for paper.
//
//   HtmlPage page("h200-sxm against b200-sxm-180");
//   page.add(Paragraph{"..."});
//   page.add(table);
//   page.add_figure(roofline_svg(...));
//   write_file("compare.html", page.finish());
//
// Text is escaped. One thread per object.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/page/provenance.hpp"
#include "ridge/report/report.hpp"

namespace ridge::report {

class HtmlPage {
 public:
  /// `language` is that of the text, as HTML names it ("en", "zh").
  explicit HtmlPage(std::string_view title, std::string_view language = "en");

  /// Level 2 is below the title, 3 below that.
  void add_heading(std::string_view text, int level = 2);
  void add_list(const std::vector<std::string>& items);
  void add(const Paragraph& paragraph);
  void add(const Table& table);
  /// Every block of the document, without its title.
  void add(const Document& document);
  /// A finished SVG.
  void add_figure(std::string_view svg);
  /// Several, beside each other where there is room.
  void add_figures(std::span<const std::string> svgs);
  /// Sources and command; nothing of what is empty.
  void add(const Provenance& provenance);

  /// The whole file. The object is empty afterwards.
  [[nodiscard]] std::string finish();

 private:
  std::string out_;
};

}  // namespace ridge::report
