#include "report/page/article.hpp"

#include "report/page/html.hpp"

namespace ridge::report {

namespace {

template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <class... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

}  // namespace

Result<Language> parse_language(std::string_view text) {
  if (text.empty() || text == "en") return Language::en;
  if (text == "zh") return Language::zh;
  return Error{ErrorCode::bad_input, "⟦lang⟧", "write en or zh"};
}

std::string article_html(const Article& article) {
  HtmlPage page(article.title, article.language == Language::zh ? "zh" : "en");
  for (const ArticleBlock& block : article.blocks) {
    std::visit(Overloaded{[&](const Heading& h) { page.add_heading(h.text, h.level); },
                          [&](const Paragraph& p) { page.add(p); }, [&](const Bullets& b) { page.add_list(b.items); },
                          [&](const Table& t) { page.add(t); }, [&](const Bars& b) { page.add_figure(bars_svg(b)); },
                          [&](const Trend& t) { page.add_figure(trend_svg(t)); }},
               block);
  }
  return page.finish();
}

std::string article_markdown(const Article& article) {
  std::string out = "# " + article.title + "\n\n";
  for (const ArticleBlock& block : article.blocks) {
    std::visit(Overloaded{[&](const Heading& h) {
                            out += std::string(static_cast<std::size_t>(h.level), '#') + " " + h.text + "\n\n";
                          },
                          [&](const Paragraph& p) { out += p.text + "\n\n"; },
                          [&](const Bullets& b) {
                            for (const std::string& item : b.items) out += "- " + item + "\n";
                            out += "\n";
                          },
                          [&](const Table& t) { out += to_markdown(t) + "\n"; },
                          [&](const Bars& b) {
                            out += "**" + b.title + "** (" + b.axis + ")\n\n```text\n" + bars_text(b) + "```\n\n";
                          },
                          [](const Trend&) {}},
               block);
  }
  return out;
}

}  // namespace ridge::report
