#include "app/cli/help.hpp"

#include <array>
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

std::span<const StartQuestion> start_questions() {
  static constexpr std::array kQuestions = {
      StartQuestion{"What should I rent or buy?", "ridge plan serve --model llama3.3-70b --request-rate 50"},
      StartQuestion{"Does it fit? How fast is it?", "ridge estimate infer --model llama3.3-70b --device h200-sxm"},
      StartQuestion{"What latency will users see?",
                    "ridge simulate --model llama3.1-8b --device h100-sxm --request-rate 5"},
      StartQuestion{"How fast does it train?", "ridge estimate train --model llama3.1-8b --device h100-sxm --gpus 64"},
      StartQuestion{"Is this figure right?", "ridge check \"H200 has 4.8 TB/s of memory bandwidth\""},
  };
  return kQuestions;
}

Document start_page(const Grammar& grammar, std::string_view version, std::string_view catalogue_month) {
  Document page;
  page.title = "Ridgeline " + std::string(version) + ": which AI hardware should run a model, how fast, at what cost";
  Table questions = two_columns("");
  for (const StartQuestion& q : start_questions()) questions.rows.push_back({Cell(q.question), Cell(q.command)});
  questions.rows.push_back({Cell("All of this in a browser"), Cell("ridge serve")});
  page.blocks.emplace_back(std::move(questions));
  std::string names;
  for (const VerbText& text : grammar.verbs) names += (names.empty() ? "" : " ") + std::string(text.verb->name);
  page.blocks.emplace_back(Paragraph{"Commands: " + names});
  page.blocks.emplace_back(
      Paragraph{(catalogue_month.empty() ? std::string() : "Data as of " + std::string(catalogue_month) + ". ") +
                "`ridge help COMMAND` explains one command, `ridge help` lists all of them."});
  return page;
}

Document program_help(const Grammar& grammar) {
  Document page;
  page.title = "ridge: which AI hardware should run a model, how fast, at what cost";
  page.blocks.push_back(lines_table("Usage", "ridge COMMAND [WORDS] [OPTIONS]"));
  Table verbs = two_columns("Commands");
  std::string examples;
  for (const VerbText& text : grammar.verbs) {
    verbs.rows.push_back({Cell(text.verb->name), Cell(text.verb->summary)});
    examples += std::string(text.verb->example.substr(0, text.verb->example.find('\n'))) + "\n";
  }
  verbs.rows.push_back({Cell("help"), Cell("explain a command: ridge help show")});
  page.blocks.push_back(std::move(verbs));
  page.blocks.push_back(options_table("Options of every command", grammar.globals));
  page.blocks.push_back(lines_table("Examples", examples));
  page.blocks.push_back(Paragraph{
      "Exit codes: 0 success, 1 invalid input, 2 the plan cannot run or no plan meets the goal, 3 a check failed."});
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
  page.blocks.push_back(options_table("Options of every command", grammar.globals));
  page.blocks.push_back(lines_table(text.verb->example.find('\n') == std::string_view::npos ? "Example" : "Examples",
                                    text.verb->example));
  return page;
}

}  // namespace ridge::cli
