#include "report/page/html.hpp"

#include <fmt/format.h>

#include "report/chart/svg.hpp"

namespace ridge::report {

namespace {

constexpr std::string_view kStyle =
    "body { margin: 2rem auto; max-width: 76rem; padding: 0 1rem; line-height: 1.5; color: #24292f; background: #fff; "
    "font-family: system-ui, 'DejaVu Sans', Arial, 'Noto Sans CJK SC', 'Noto Sans SC', 'Source Han Sans SC', 'PingFang "
    "SC', "
    "'Microsoft YaHei', 'WenQuanYi Zen Hei', 'WenQuanYi Micro Hei', SimHei, sans-serif }\n"
    "h1 { font-size: 1.5rem }\nh2 { font-size: 1.1rem; margin: 1.5rem 0 .4rem }\n"
    "h3 { font-size: 1rem; margin: 1.2rem 0 .3rem }\nli { max-width: 58rem; margin: .25rem 0 }\np { max-width: 60rem "
    "}\n"
    "div.table { overflow-x: auto }\n"
    "table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .92rem }\n"
    "th, td { padding: .25rem .7rem; border-bottom: 1px solid #e4e7eb; text-align: left; vertical-align: top }\n"
    "th { color: #57606a; font-weight: 600 }\n.n { text-align: right; white-space: nowrap }\n"
    ".strong { font-weight: 600 }\n.faint { color: #6e7781 }\n.good { color: #1a7f37 }\n.warning { color: #9a6700 }\n"
    ".bad { color: #cf222e }\nfigure { margin: 1.5rem 0 }\nsvg { max-width: 100%; height: auto }\n"
    ".figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 34rem), 1fr)); gap: 1.5rem }\n"
    ".figures figure { margin: 0 }\n.figures svg { width: 100% }\n"
    "pre { padding: .7rem .9rem; border: 1px solid #e4e7eb; border-radius: 6px; background: #f6f8fa; "
    "white-space: pre-wrap; overflow-wrap: anywhere; font-size: .88rem }\n"
    "@page { margin: 14mm }\n"
    "@media print { body { margin: 0; max-width: none; padding: 0; font-size: 10pt } "
    "h1, h2, h3 { break-after: avoid } figure, tr, pre { break-inside: avoid } div.table { overflow: visible } "
    ".figures { display: block } .figures figure { margin: 1rem 0 } }\n";

/// Figures carry their colours as attributes, which a rule of the page overrides: the neutral ones, by night.
struct NightColour {
  std::string_view day, night;
};
constexpr NightColour kNightColours[] = {{"#ffffff", "#0d1117"}, {"#24292f", "#e6edf3"}, {"#6e7781", "#9198a1"},
                                         {"#e4e7eb", "#2a313c"}, {"#afb8c1", "#4b5563"}, {"#eef1f4", "#1c232c"},
                                         {"#e4e8ec", "#262d37"}, {"#f6f8fa", "#161b22"}, {"#cf222e", "#ff7b72"},
                                         {"#5c6b7a", "#93a4b5"}, {"#8a5a3c", "#c08a67"}, {"#4269d0", "#6f93f2"}};

/// On screens only: paper is white.
std::string night_style() {
  std::string out =
      "@media screen and (prefers-color-scheme: dark) {\n"
      "body { color: #e6edf3; background: #0d1117 }\nth, td { border-color: #2a313c }\nth { color: #9198a1 }\n"
      ".faint { color: #9198a1 }\n.good { color: #3fb950 }\n.warning { color: #d29922 }\n.bad { color: #ff7b72 }\n"
      "pre { background: #161b22; border-color: #2a313c }\n";
  for (const auto& [day, night] : kNightColours) {
    out += fmt::format("svg [fill=\"{0}\"] {{ fill: {1} }} svg [stroke=\"{0}\"] {{ stroke: {1} }}\n", day, night);
  }
  return out + "}\n";
}

std::string_view class_of(Emphasis emphasis) {
  switch (emphasis) {
    case Emphasis::none:
      return "";
    case Emphasis::strong:
      return "strong";
    case Emphasis::faint:
      return "faint";
    case Emphasis::good:
      return "good";
    case Emphasis::warning:
      return "warning";
    case Emphasis::bad:
      return "bad";
  }
  return "";
}

std::string attribute(bool number, Emphasis emphasis) {
  const std::string_view look = class_of(emphasis);
  if (!number && look.empty()) return "";
  return fmt::format(" class=\"{}{}{}\"", number ? "n" : "", number && !look.empty() ? " " : "", look);
}

}  // namespace

HtmlPage::HtmlPage(std::string_view title, std::string_view language)
    : out_(fmt::format(
          "<!doctype html>\n<html lang=\"{2}\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" "
          "content=\"light dark\">\n<title>{0}</title>\n"
          "<style>\n{1}{3}</style>\n</head>\n<body>\n<main>\n<h1>{0}</h1>\n",
          escape_markup(title), kStyle, escape_markup(language), night_style())) {}

void HtmlPage::add_heading(std::string_view text, int level) {
  out_ += fmt::format("<h{0}>{1}</h{0}>\n", level, escape_markup(text));
}

void HtmlPage::add_list(const std::vector<std::string>& items) {
  out_ += "<ul>\n";
  for (const std::string& item : items) out_ += fmt::format("<li>{}</li>\n", escape_markup(item));
  out_ += "</ul>\n";
}

void HtmlPage::add(const Paragraph& paragraph) {
  out_ += fmt::format("<p{}>{}</p>\n", attribute(false, paragraph.emphasis), escape_markup(paragraph.text));
}

void HtmlPage::add(const Table& table) {
  if (!table.title.empty()) out_ += fmt::format("<h2>{}</h2>\n", escape_markup(table.title));
  out_ += "<div class=\"table\"><table>\n";
  const auto is_number = [&](std::size_t c) { return table.columns[c].kind != ColumnKind::text; };
  if (table.headings) {
    out_ += "<tr>";
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      out_ += fmt::format("<th{}>{}</th>", attribute(is_number(c), Emphasis::none),
                          escape_markup(table.columns[c].heading));
    }
    out_ += "</tr>\n";
  }
  for (const std::vector<Cell>& row : table.rows) {
    out_ += "<tr>";
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      const Cell cell = c < row.size() ? row[c] : Cell();
      const Emphasis look = cell.empty() ? Emphasis::faint : cell.emphasis();
      out_ += fmt::format("<td{}>{}</td>", attribute(is_number(c), look), escape_markup(cell.text()));
    }
    out_ += "</tr>\n";
  }
  out_ += "</table></div>\n";
}

void HtmlPage::add(const Document& document) {
  for (const auto& block : document.blocks) {
    std::visit([&](const auto& one) { add(one); }, block);
  }
}

void HtmlPage::add_figure(std::string_view svg) {
  out_ += fmt::format("<figure>\n{}</figure>\n", svg);
}

void HtmlPage::add_figures(std::span<const std::string> svgs) {
  out_ += "<div class=\"figures\">\n";
  for (const std::string& svg : svgs) add_figure(svg);
  out_ += "</div>\n";
}

void HtmlPage::add(const Provenance& provenance) {
  if (!provenance.sources.empty()) {
    add_heading("Sources");
    add_list(provenance.sources);
  }
  if (provenance.command.empty()) return;
  add_heading("The same on the command line");
  out_ += fmt::format("<pre><code>{}</code></pre>\n", escape_markup(provenance.command));
}

std::string HtmlPage::finish() {
  out_ += "</main>\n</body>\n</html>\n";
  return std::move(out_);
}

}  // namespace ridge::report
