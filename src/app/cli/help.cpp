#include "app/cli/help.hpp"

#include <string>

namespace ridge::cli {

namespace {

Table two_columns(std::string title) {
  Table table;
  table.title = std::move(title);
  table.headings = false;
  table.columns = {{.key = "name", .heading = "name"},
                   {.key = "help", .heading = "meaning", .overflow = Overflow::wrap}};
  return table;
}

Table options_table(std::string title, const std::vector<OptionText>& options) {
  Table table = two_columns(std::move(title));
  for (const OptionText& option : options) {
    if (option.hidden) continue;
    const std::string gap = option.name.empty() || option.value.empty() ? "" : " ";
    table.rows.push_back({Cell(option.name + gap + option.value), Cell(option.help)});
  }
  return table;
}

/// One row for each line of the text.
Table lines_table(std::string title, std::string_view text) {
  Table table;
  table.title = std::move(title);
  table.headings = false;
  table.columns = {{.key = "line", .heading = "line"}};
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    table.rows.push_back({Cell(text.substr(0, end))});
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return table;
}

void add_paragraphs(Document& page, std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find("\n\n"), text.size());
    page.blocks.push_back(Paragraph{std::string(text.substr(0, end))});
    text.remove_prefix(std::min(end + 2, text.size()));
  }
}

}  // namespace

Document program_help(const Grammar& grammar) {
  Document page;
  page.title = "ridge: what AI hardware can do for a model, with the source of every figure";
  page.blocks.push_back(lines_table("Usage", "ridge VERB [WORDS] [OPTIONS]"));
  Table verbs = two_columns("Verbs");
  std::string examples;
  for (const VerbText& text : grammar.verbs) {
    verbs.rows.push_back({Cell(text.verb->name), Cell(text.verb->summary)});
    examples += std::string(text.verb->example.substr(0, text.verb->example.find('\n'))) + "\n";
  }
  verbs.rows.push_back({Cell("help"), Cell("explain a verb: ridge help show")});
  page.blocks.push_back(std::move(verbs));
  page.blocks.push_back(options_table("Options of every verb", grammar.globals));
  page.blocks.push_back(lines_table("Examples", examples));
  page.blocks.push_back(Paragraph{
      "Exit codes: 0 fine, 1 input that cannot be understood, 2 a plan that is refused or infeasible, 3 a check "
      "that failed."});
  return page;
}

Document verb_help(const Grammar& grammar, std::size_t index) {
  const VerbText& text = grammar.verbs[index];
  Document page;
  page.title = "ridge " + std::string(text.verb->name) + ": " + std::string(text.verb->summary);
  std::string usage = "ridge " + std::string(text.verb->name);
  for (const OptionText& option : text.options) {
    if (option.name.empty()) usage += " " + option.value;
  }
  page.blocks.push_back(lines_table("Usage", usage + " [OPTIONS]"));
  add_paragraphs(page, text.verb->details);
  page.blocks.push_back(options_table("Options", text.options));
  page.blocks.push_back(options_table("Options of every verb", grammar.globals));
  page.blocks.push_back(lines_table(text.verb->example.find('\n') == std::string_view::npos ? "Example" : "Examples",
                                    text.verb->example));
  return page;
}

}  // namespace ridge::cli
