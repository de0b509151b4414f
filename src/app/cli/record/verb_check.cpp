// ridge check: audits claims from the command line, from claim files, and in documents.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "app/cli/line/options.hpp"
#include "app/cli/session/session.hpp"
#include "app/cli/verbs.hpp"
#include "report/record/claims_report.hpp"
#include "ridge/base/folder.hpp"
#include "ridge/base/text.hpp"
#include "ridge/claims/claims.hpp"

namespace ridge::cli {

namespace {

struct CheckArguments {
  std::vector<std::string> words;
  bool all = false;
  bool annotate = false;
  bool bundled = false;
  bool kinds = false;
};

struct Checked {
  Audit audit;
  std::string text;  // of a document or sentence
  bool sentence = false;
};

bool ends_with_any(const std::string& path, std::initializer_list<std::string_view> endings) {
  return std::any_of(endings.begin(), endings.end(), [&](std::string_view e) { return path.ends_with(e); });
}

bool is_path(const std::string& word) {
  std::error_code error;
  return word == "-" ||
         (word.find('\n') == std::string::npos && word.size() < 4096 && std::filesystem::exists(word, error)) ||
         (word.find(' ') == std::string::npos && ends_with_any(word, {".toml", ".csv", ".md", ".txt"}));
}

class Check {
 public:
  Check(Session& session, const CheckArguments& arguments) : session_(session), arguments_(arguments) {}

  Result<int> run() {
    if (arguments_.kinds) return list_kinds();
    const auto catalogue = session_.catalogue();
    if (!catalogue) return catalogue.error();
    const auto directory = session_.data_directory();
    if (!directory) return directory.error();
    auto checker = Checker::load(**catalogue, *directory);
    if (!checker) return checker.error();
    if (const Status gathered = gather(*checker, *directory); !gathered) return gathered.error();
    return print();
  }

 private:
  Status gather(const Checker& checker, const std::string& directory) {
    std::vector<std::string> paths;
    std::string sentence;
    for (const std::string& word : arguments_.words) {
      if (session_.may_name_files() && is_path(word)) {
        paths.push_back(word == "-" ? "/dev/stdin" : word);
      } else {
        sentence += (sentence.empty() ? "" : " ") + word;
      }
    }
    if (arguments_.bundled) {
      const Result<std::vector<std::string>> bundled = files_in(directory + "/claims", ".toml");
      if (!bundled) return bundled.error();
      for (const std::string& path : *bundled) {
        if (!path.ends_with("/names.toml") && !path.ends_with("/facts.toml")) paths.push_back(path);
      }
    }
    if (paths.empty() && sentence.empty()) {
      return Error{ErrorCode::bad_input, "",
                   "say what to check: a sentence in quotes, a claim file (.toml, .csv) or a document"};
    }
    if (!sentence.empty()) {
      auto audit = checker.check_text(sentence, "argument");
      if (!audit) return audit.error();
      checked_.push_back({std::move(*audit), sentence, true});
    }
    for (const std::string& path : paths) {
      if (const Status one = read(checker, path); !one) return one;
    }
    return {};
  }

  Status read(const Checker& checker, const std::string& path) {
    auto text = session_.files().read(path, Checker::kLargestDocument);
    if (!text) return text.error();
    const bool toml = path.ends_with(".toml");
    if (toml || path.ends_with(".csv")) {
      auto claims = toml ? checker.read_toml(*text, path) : checker.read_csv(std::move(*text), path);
      if (!claims) return claims.error();
      checked_.push_back({checker.check(std::move(*claims), path), {}, false});
      return {};
    }
    auto audit = checker.check_text(*text, path);
    if (!audit) return audit.error();
    checked_.push_back({std::move(*audit), std::move(*text), false});
    return {};
  }

  Result<int> print() const {
    bool wrong = false;
    for (const Checked& c : checked_) wrong = wrong || c.audit.any_error();
    if (session_.form() == Form::json) {
      std::vector<Audit> audits;
      for (const Checked& c : checked_) audits.push_back(c.audit);
      session_.print(report::audits_json(audits).text());
    } else if (session_.form() == Form::csv) {
      Table all;
      for (const Checked& c : checked_) {
        Table one = report::audit_table(c.audit, {.all = true});
        all.columns = one.columns;
        all.rows.insert(all.rows.end(), one.rows.begin(), one.rows.end());
      }
      session_.print(to_csv(all));
    } else {
      for (const Checked& c : checked_) print_one(c);
    }
    if (wrong) return kCheckFailed;
    // Whoever asks about a sentence wants to know that all of it holds.
    const bool open = std::any_of(checked_.begin(), checked_.end(), [](const Checked& c) { return !all_checked(c); });
    return open ? kRefused : kFine;
  }

  static bool all_checked(const Checked& c) {
    if (!c.sentence) return true;
    const bool decided = std::none_of(c.audit.findings.begin(), c.audit.findings.end(),
                                      [](const Finding& f) { return f.verdict == Verdict::cannot_check; });
    // Nothing found is nothing checked, whether the sentence claims something or not.
    return decided && !c.audit.findings.empty() && c.audit.not_understood.empty();
  }

  void print_one(const Checked& c) const {
    if (arguments_.annotate && !c.text.empty()) {
      session_.print(report::annotated(c.audit, c.text, {.all = arguments_.all}, session_.style()));
      return;
    }
    if (!c.sentence) {
      session_.print(report::audit_page(c.audit, {.all = arguments_.all}));
      return;
    }
    if (c.audit.findings.empty()) {
      Document page;
      page.blocks.emplace_back(
          Paragraph{"Nothing in this sentence can be checked. A figure needs its unit, a device or model its name. "
                    "`ridge check --kinds` lists what is understood.",
                    Emphasis::warning});
      session_.print(page);
    }
    const std::size_t found = c.audit.findings.size();
    const std::size_t open = c.audit.not_understood.size();
    if (found > 0 && open > 0) {
      Document page;
      page.blocks.emplace_back(
          Paragraph{fmt::format("{} of {} figures checked:", found, found + open), Emphasis::warning});
      session_.print(page);
    }
    for (const Finding& f : c.audit.findings) {
      session_.print(report::claim_page(f));
      if (const std::string next = where_to_ask(f); !next.empty()) session_.print("\n" + next);
    }
    if (open == 0) return;
    std::string figures;
    for (const NotUnderstood& n : c.audit.not_understood) {
      figures += (figures.empty() ? "" : ", ") + ridge::quoted(with_words(c.text, n));
    }
    Document page;
    page.blocks.emplace_back(Paragraph{
        fmt::format("Not checked: {} (no rule matches{})", figures, found > 0 ? "" : " it"), Emphasis::warning});
    session_.print(page);
  }

  /// Commands that answer what a sentence leaves open; empty where there are none.
  static std::string where_to_ask(const Finding& f) {
    const auto& inputs = f.claim.inputs;
    if (f.claim.kind == "rent") {
      return fmt::format("All quotes: ridge show prices --device {}\n", inputs.at("device").text);
    }
    const auto figure = inputs.find("figure");
    if (figure == inputs.end() || figure->second.text != "speed") return "";
    const std::string& of = inputs.at("of").text;
    const std::string& to = inputs.at("to").text;
    return fmt::format(
        "Measured:   ridge mlperf compare {0} {1}\nPredicted:  ridge estimate compare --model llama3.3-70b --device "
        "{0},{1} --gpus 8\n",
        of, to);
  }

  /// The figure with the words behind it, as they stand in the sentence: "99 dollars an hour".
  static std::string with_words(const std::string& text, const NotUnderstood& n) {
    constexpr int kWords = 4;
    std::size_t at = text.find(n.text);
    if (at == std::string::npos) return n.text;
    std::size_t end = at + n.text.size();
    for (int words = 1; words < kWords && end < text.size() && text[end] == ' '; ++words) {
      end = std::min(text.find_first_of(" ,.;:", end + 1), text.size());
    }
    return text.substr(at, end - at);
  }

  Result<int> list_kinds() const {
    Table table;
    table.columns = {{.key = "kind", .heading = "kind"},
                     {.key = "summary", .heading = "what is claimed", .overflow = Overflow::wrap},
                     {.key = "formula", .heading = "formula", .overflow = Overflow::wrap},
                     {.key = "inputs", .heading = "inputs (? may be left out)", .overflow = Overflow::wrap}};
    for (const ClaimKindText& kind : claim_kinds()) {
      std::string inputs;
      for (const std::string_view input : kind.inputs) inputs += (inputs.empty() ? "" : " ") + std::string(input);
      table.rows.push_back({Cell(kind.name), Cell(kind.summary), Cell(kind.formula), Cell(inputs)});
    }
    switch (session_.form()) {
      case Form::json:
        session_.print(to_json(table).text());
        break;
      case Form::csv:
        session_.print(to_csv(table));
        break;
      default: {
        Document page;
        page.blocks.emplace_back(std::move(table));
        session_.print(page);
      }
    }
    return kFine;
  }

  Session& session_;
  const CheckArguments& arguments_;
  std::vector<Checked> checked_;
};

}  // namespace

static Action declare_check(Options& options) {
  auto arguments = std::make_shared<CheckArguments>();
  options.words("CLAIM", arguments->words,
                "a sentence, a claim file (.toml, .csv), a document, or - for standard input", complete_files);
  options.flag("--all", arguments->all, "also show what is right, and all that was not understood");
  options.flag("--annotate", arguments->annotate, "print the document's lines with the findings below them");
  options.flag("--bundled", arguments->bundled, "check the claims that come with the data (data/claims)");
  options.flag("--kinds", arguments->kinds, "list the kinds of claims, their formulas and inputs");
  return [arguments](Session& session) { return Check(session, *arguments).run(); };
}

Verb check_verb() {
  return {
      "check", "audit claims: right, rounded, wrong, and what it ought to be",
      "Takes a sentence, a claim file or a whole document, finds the figures it understands, recomputes each from the "
      "catalogue and from what the text itself gives, and says right, rounded, wrong, unit (the right number in the "
      "wrong "
      "unit or per the wrong thing), sparse, contradiction or cannot check, with the right value, the formula and its "
      "sources. Of documents it also lists the figures it did not understand.\n\n"
      "A claim file holds [[claim]] tables, or one row per claim in CSV: kind, claimed and the inputs of that kind "
      "(--kinds). Inputs are quantities or point into the catalogue: 'h200-sxm:bandwidth'. The verdict is never part "
      "of "
      "the file.\n\n"
      "Exits with 3 if any claim is wrong.",
      "ridge check \"H200 has 4.8 TB/s of memory bandwidth\"\n"
      "ridge check --kinds",
      declare_check};
}

}  // namespace ridge::cli
