// ridge report: whole reports as one file to hand on.
#include <fmt/format.h>

#include <array>

#include "app/cli/estimate/estimate.hpp"
#include "app/cli/line/value.hpp"
#include "app/cli/record/mlperf.hpp"
#include "app/cli/session/report_file.hpp"
#include "app/cli/verbs.hpp"
#include "report/record/mlperf_article.hpp"
#include "ridge/base/text.hpp"

namespace ridge::cli {

namespace {

struct ReportArguments {
  std::vector<std::string> words;
  std::string out, pdf, language, database;
};

/// A report: its word and what makes it.
struct ReportKind {
  std::string_view word;
  Result<report::Article> (*make)(Session&, const ReportArguments&, report::Language);
};

Result<report::Article> make_mlperf(Session& session, const ReportArguments& arguments, report::Language language) {
  const Result<MlperfRecord> record = mlperf_record(session, arguments.database);
  if (!record) return record.error();
  const Result<Knowledge> knowledge = knowledge_of(session);
  if (!knowledge) return knowledge.error();
  return report::mlperf_article({record->results, record->names, *knowledge}, language);
}

constexpr std::array<ReportKind, 1> kReports = {{{"mlperf", make_mlperf}}};
/// Made by other verbs: see report_file.hpp.
constexpr std::array<std::string_view, 6> kForwarded = {"plan", "fleet", "train", "rl", "serve", "accuracy"};

std::vector<std::string> complete_report_words(Session&, const std::vector<std::string>& before) {
  std::vector<std::string> offers;
  if (before.empty()) {
    for (const ReportKind& kind : kReports) offers.emplace_back(kind.word);
    offers.insert(offers.end(), kForwarded.begin(), kForwarded.end());
  }
  return offers;
}

Result<int> run(Session& session, const ReportArguments& arguments) {
  std::vector<std::string_view> names;
  for (const ReportKind& kind : kReports) names.push_back(kind.word);
  names.insert(names.end(), kForwarded.begin(), kForwarded.end());
  const std::string all = fmt::format("{}", fmt::join(names, ", "));
  if (arguments.words.empty()) return Error{ErrorCode::bad_input, "", "say which report: " + all};
  if (arguments.words.size() > 1) {
    return Error{ErrorCode::bad_input, "", "nothing is done with " + quoted(arguments.words[1])};
  }
  const Result<report::Language> language = report::parse_language(arguments.language);
  if (!language) return language.error();
  const bool html = arguments.out.ends_with(".html");
  if (!arguments.out.empty() && !html && !arguments.out.ends_with(".md")) {
    return Error{ErrorCode::bad_input, "-o", "a report is written as .html or .md"};
  }
  for (const ReportKind& kind : kReports) {
    if (kind.word != arguments.words[0]) continue;
    const Result<report::Article> article = kind.make(session, arguments, *language);
    if (!article) return article.error();
    const std::string text = html ? article_html(*article) : article_markdown(*article);
    if (!arguments.out.empty()) {
      if (const Status written = session.files().write(arguments.out, text); !written) return written.error();
      session.print(fmt::format("{}: {} kB\n", arguments.out, (text.size() + 999) / 1000));
    }
    if (!arguments.pdf.empty()) {
      const ForwardedReport page{.words = {}, .html = passing_page(), .pdf = arguments.pdf, .keeps_html = false};
      if (const Status s = session.files().write(page.html, article_html(*article)); !s) return s.error();
      if (const Status s = finish_report(session, page); !s) return s.error();
    } else if (arguments.out.empty()) {
      session.print(text);
    }
    return kFine;
  }
  const std::string near = nearest(arguments.words[0], names.data(), names.size());
  return Error{ErrorCode::bad_input, "",
               "there is no report " + quoted(arguments.words[0]) +
                   (near.empty() ? "; there are " + all : "; did you mean " + near + "?")};
}

Action declare_report(Options& options) {
  auto arguments = std::make_shared<ReportArguments>();
  options.words("mlperf|plan|fleet|train|rl|serve|accuracy", arguments->words, "which report", complete_report_words);
  options.text("-o,--out", "FILE", arguments->out, "write it there, as .html or .md; Markdown is printed without it",
               value::written());
  options.text("--pdf", "FILE", arguments->pdf, "print it there, through Chromium or Chrome", value::written());
  options.text("--lang", "LANGUAGE", arguments->language, "mlperf: en (default) or zh", value::one_of({"en", "zh"}));
  options.text("--db", "FILE", arguments->database, "mlperf: read the results of this database", value::file());
  return [arguments](Session& session) { return run(session, *arguments); };
}

}  // namespace

Verb report_verb() {
  return {
      "report", "a whole report as one file",
      "`mlperf` is the published MLPerf record: method and repairs, dense specifications, tables and charts for each "
      "model, what racks, generations, latency limits and virtualisation did, and what bound the submissions; in "
      "English or Chinese, as HTML or Markdown.\n\n"
      "The others take the flags of the command that answers, and are its answer as a page: `plan` (ridge plan; to "
      "serve with unless `train` or a file follows), `fleet` (ridge plan fleet), `train` (ridge estimate train), "
      "`rl` (ridge estimate rl), `serve` (ridge simulate) and `accuracy` "
      "(ridge validate). Each is one HTML file without scripts, for light and dark screens and for paper.",
      "ridge report mlperf -o /tmp/mlperf.html\n"
      "ridge report serve --model llama3.1-8b --device h100-sxm --workload chat --request-rate 5 --requests 500 -o "
      "/tmp/serve.html\n"
      "ridge report train --model llama3.1-70b --device h100-sxm --gpus 512 --tokens 15T -o /tmp/train.html\n"
      "ridge report mlperf -o /tmp/mlperf-zh.md --lang zh",
      declare_report};
}

}  // namespace ridge::cli
