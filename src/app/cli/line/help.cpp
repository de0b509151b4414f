#include "app/cli/line/help.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "app/cli/line/help_groups.hpp"
#include "report/page/page.hpp"
#include "ridge/base/letters.hpp"

namespace ridge::cli {

namespace {

Table two_columns(std::string title) {
  return report::two_columns(std::move(title), Overflow::wrap);
}

void add_option(Table& table, const OptionText& option, const std::string& help) {
  table.rows.push_back(
      {Cell(option.name + (option.name.empty() || option.value.empty() ? "" : " ") + option.value), Cell(help)});
}

/// Long lists of words stand in the usage alone.
Table options_table(std::string title, const std::vector<OptionText>& options) {
  constexpr std::size_t kLongestWords = 32;
  Table table = two_columns(std::move(title));
  for (const OptionText& option : options) {
    const bool too_long = option.name.empty() && option.value.size() > kLongestWords;
    if (!option.hidden && !too_long) add_option(table, option, option.help);
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

constexpr std::size_t kLongest = 76;  // with a blank before and a backslash behind it fits 80 columns

/// As one types it: what is too long for a terminal goes on behind a backslash, at a flag.
std::string typed_lines(std::string_view examples) {
  std::string out;
  for (const std::string& line : split_words(examples, '\n')) {
    std::string_view rest = line;
    std::string_view indent;
    while (rest.size() + indent.size() > kLongest) {
      const std::size_t at = rest.rfind(" --", kLongest - indent.size());
      if (at == std::string_view::npos || at == 0) break;
      out += fmt::format("{}{} \\\n", indent, rest.substr(0, at));
      rest.remove_prefix(at + 1);
      indent = "    ";
    }
    out += fmt::format("{}{}\n", indent, rest);
  }
  return out;
}

/// Many words to choose from go on in a second line.
Table usage_table(std::string usage) {
  if (usage.size() > kLongest) {
    if (const std::size_t at = usage.rfind('|', kLongest); at != std::string::npos) usage.insert(at + 1, "\n    ");
  }
  return lines_table("Usage", usage);
}

Table examples_table(std::string_view examples) {
  const bool one = examples.substr(0, examples.find_last_not_of('\n')).find('\n') == std::string_view::npos;
  return lines_table(one ? "Example" : "Examples", typed_lines(examples));
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
  // A command has a line of its own: beside its question it would be broken in 80 columns, and nobody could copy it.
  Table questions = lines_table("", "");
  questions.rows.clear();
  const auto add = [&](std::string_view question, std::string_view command) {
    questions.rows.push_back({Cell(question)});
    questions.rows.push_back({Cell(fmt::format("  {}", command))});
  };
  for (const StartQuestion& q : start_questions()) add(q.question, q.command);
  add("All of this in a browser", "ridge serve");
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
  page.blocks.push_back(examples_table(examples));
  page.blocks.push_back(Paragraph{
      "Exit codes: 0 success, 1 invalid input, 2 the plan cannot run or no plan meets the goal, 3 a check failed."});
  return page;
}

namespace {

/// "serving: a; training: b" on a page of one kind: its own part without the name, and what has no name. On the page of
/// a command (`word` empty) all but what is about words of `ridge estimate`.
std::string help_for(std::string_view word, std::string_view help) {
  struct Part {
    std::string_view name, words;
    bool everywhere = true;
  };
  static constexpr Part kParts[] = {{"serving: ", " infer techniques compare serve "},
                                    {"training: ", " train rl "},
                                    {"images: ", " diffusion "},
                                    {"compare, fit: ", " compare fit ", false}};
  std::string out;
  while (!help.empty()) {
    const std::size_t end = std::min(help.find("; "), help.size());
    std::string_view part = help.substr(0, end);
    help.remove_prefix(std::min(end + 2, help.size()));
    const auto* const named =
        std::find_if(std::begin(kParts), std::end(kParts), [&](const Part& p) { return part.starts_with(p.name); });
    if (named != std::end(kParts) && !word.empty()) {
      if (named->words.find(fmt::format(" {} ", word)) == std::string_view::npos) continue;
      part.remove_prefix(named->name.size());
    } else if (named != std::end(kParts) && !named->everywhere) {
      continue;
    }
    out += (out.empty() ? "" : "; ") + std::string(part);
  }
  return out;
}

/// Those of one kind of question: what is used most, then by heading. Those of a command that has no kinds: its own
/// first, headings in the order in which it declares their options, the result last.
void add_groups(Document& page, const std::vector<OptionText>& options, const VerbKind& kind) {
  Table most = two_columns("Most used");
  std::vector<Table> groups;
  for (const std::string_view heading : kHelpHeadings) groups.push_back(two_columns(std::string(heading)));
  if (kind.word.empty()) groups.back().title = "Options";
  std::vector<std::size_t> order;  // of headings that have options
  const std::string used = " " + std::string(kind.most) + " ";
  for (const std::string& name : split_words(kind.most, ' ')) {
    const auto at = std::find_if(options.begin(), options.end(), [&](const OptionText& o) { return o.name == name; });
    if (at != options.end()) add_option(most, *at, help_for(kind.word, at->help));
  }
  for (const OptionText& option : options) {
    if (option.hidden || option.name.empty() || used.find(" " + option.name + " ") != std::string::npos ||
        (kind.takes != nullptr && !kind.takes(option))) {
      continue;
    }
    const auto* const heading = std::find(kHelpHeadings.begin(), kHelpHeadings.end(), help_group(option.name));
    const auto at = static_cast<std::size_t>(heading - kHelpHeadings.begin());
    if (groups[at].rows.empty()) order.push_back(at);
    add_option(groups[at], option, help_for(kind.word, option.help));
  }
  if (kind.word.empty()) {
    const auto place = [&](std::size_t at) {
      return at + 1 == groups.size() ? 0 : groups[at].title == "Result" ? 2 : 1;
    };
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return place(a) < place(b); });
  } else {
    std::sort(order.begin(), order.end());
  }
  std::vector<Table> ordered = {std::move(most)};
  for (const std::size_t at : order) ordered.push_back(std::move(groups[at]));
  groups = std::move(ordered);
  // One column of names over all headings.
  int widest = 0;
  for (const Table& group : groups) {
    for (const auto& row : group.rows) widest = std::max(widest, display_width(row[0].text()));
  }
  for (Table& group : groups) {
    if (group.rows.empty()) continue;
    Cell& name = group.rows.front().front();
    name = Cell(fmt::format("{:<{}}", name.text(), widest));
    page.blocks.emplace_back(std::move(group));
  }
}

Paragraph options_of_all(const Grammar& grammar) {
  std::string names;
  for (const OptionText& option : grammar.globals) {
    if (!option.hidden) names += (names.empty() ? "" : ", ") + option.name;
  }
  return Paragraph{"Options of every command (`ridge help` explains them): " + names + "."};
}

Document kind_help(const Grammar& grammar, const VerbText& text, const VerbKind& kind) {
  Document page;
  const std::string name = fmt::format("ridge {} {}", text.verb->name, kind.word);
  page.title = fmt::format("{}: {}", name, kind.summary);
  page.blocks.push_back(lines_table("Usage", name + " [OPTIONS]"));
  add_groups(page, text.options, kind);
  page.blocks.emplace_back(options_of_all(grammar));
  page.blocks.push_back(examples_table(kind.example));
  return page;
}

}  // namespace

Document verb_help(const Grammar& grammar, std::size_t index, std::string_view word) {
  const VerbText& text = grammar.verbs[index];
  for (const VerbKind& kind : text.verb->kinds) {
    if (kind.word == word) return kind_help(grammar, text, kind);
  }
  Document page;
  page.title = "ridge " + std::string(text.verb->name) + ": " + std::string(text.verb->summary);
  std::string usage = "ridge " + std::string(text.verb->name);
  for (const OptionText& option : text.options) {
    if (option.name.empty()) usage += " " + option.value;
  }
  page.blocks.push_back(usage_table(usage + " [OPTIONS]"));
  add_paragraphs(page, text.verb->details);
  constexpr std::size_t kLongList = 20;
  if (text.verb->kinds.empty() && text.options.size() > kLongList) {
    add_groups(page, text.options, {});
  } else if (text.verb->kinds.empty()) {
    page.blocks.push_back(options_table("Options", text.options));
  } else {
    Table kinds = two_columns("Pages with the options of each");
    for (const VerbKind& kind : text.verb->kinds) {
      kinds.rows.push_back({Cell(fmt::format("ridge {} {} --help", text.verb->name, kind.word)), Cell(kind.summary)});
    }
    page.blocks.push_back(std::move(kinds));
  }
  page.blocks.emplace_back(options_of_all(grammar));
  page.blocks.push_back(examples_table(text.verb->example));
  return page;
}

}  // namespace ridge::cli
