#include "app/cli/session/report_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "app/cli/session/program.hpp"
#include "base/shell.hpp"

namespace ridge::cli {

namespace {

namespace fs = std::filesystem;

struct Maker {
  std::string_view report;
  std::vector<std::string> words;  ///< that make it
};

const std::vector<Maker>& makers() {
  static const std::vector<Maker> all = {
      {"plan", {"plan"}},         {"fleet", {"plan", "fleet"}}, {"train", {"estimate", "train"}},
      {"rl", {"estimate", "rl"}}, {"serve", {"simulate"}},      {"accuracy", {"validate"}}};
  return all;
}

/// Takes "--name VALUE" or "--name=VALUE" out of the words; the last one wins.
std::string take_flag(std::vector<std::string>& words, std::initializer_list<std::string_view> names) {
  std::string value;
  for (std::size_t i = 0; i < words.size();) {
    const std::size_t equals = std::min(words[i].find('='), words[i].size());
    const std::string_view name = std::string_view(words[i]).substr(0, equals);
    const bool is_one = std::find(names.begin(), names.end(), name) != names.end();
    if (!is_one) {
      ++i;
      continue;
    }
    const bool apart = equals == words[i].size() && i + 1 < words.size();
    value = apart ? words[i + 1] : equals < words[i].size() ? words[i].substr(equals + 1) : std::string();
    words.erase(words.begin() + static_cast<std::ptrdiff_t>(i),
                words.begin() + static_cast<std::ptrdiff_t>(i + 1 + apart));
  }
  return value;
}

/// The one one stands in where $TMPDIR is no folder.
fs::path passing_folder() {
  std::error_code none;
  const fs::path folder = fs::temp_directory_path(none);
  return none ? fs::path(".") : folder;
}

}  // namespace

std::string passing_page() {
  return (passing_folder() / fmt::format("ridge-report-{}.html", getpid())).string();
}

Result<std::optional<ForwardedReport>> forwarded_report(const std::vector<std::string>& words) {
  std::optional<ForwardedReport> none;
  if (words.size() < 2 || words[0] != "report") return none;
  const auto& all = makers();
  const auto maker = std::find_if(all.begin(), all.end(), [&](const Maker& m) { return m.report == words[1]; });
  const auto asks_for_help = [](const std::string& word) { return word == "-h" || word == "--help"; };
  if (maker == all.end() || std::any_of(words.begin(), words.end(), asks_for_help)) return none;

  ForwardedReport report;
  std::vector<std::string> rest(words.begin() + 2, words.end());
  report.html = take_flag(rest, {"-o", "--out", "--html"});
  report.pdf = take_flag(rest, {"--pdf"});
  if (report.html.ends_with(".pdf") && report.pdf.empty()) report.pdf = std::exchange(report.html, {});
  if (report.html.empty() && report.pdf.empty()) {
    return Error{ErrorCode::bad_input, "-o", "say where to write the report: -o report.html, or --pdf report.pdf"};
  }
  if (!report.html.empty() && !report.html.ends_with(".html")) {
    return Error{ErrorCode::bad_input, "-o", "this report is written as .html; --pdf FILE prints it as well"};
  }
  report.keeps_html = !report.html.empty();
  if (!report.keeps_html) report.html = passing_page();
  report.words = maker->words;
  // A plan is one to serve with unless the line says otherwise.
  const bool kind_is_open = maker->report == "plan" && (rest.empty() || rest[0].starts_with("-"));
  if (kind_is_open) report.words.emplace_back("serve");
  report.words.insert(report.words.end(), rest.begin(), rest.end());
  report.words.push_back("--html=" + report.html);
  return std::optional(std::move(report));
}

Status finish_report(const Session& session, const ForwardedReport& report) {
  std::error_code absent;
  if (!fs::exists(report.html, absent)) return {};  // the answer was none, and said so
  const auto written = [&](const std::string& path) {
    const double kilobytes = std::max(1.0, static_cast<double>(fs::file_size(path, absent)) / 1000);
    if (session.form() == Form::terminal) session.print(fmt::format("{}: {:.0f} kB\n", path, kilobytes));
  };
  if (report.keeps_html) written(report.html);
  if (report.pdf.empty()) return {};
  const Status printed = print_pdf(report.html, report.pdf);
  if (!report.keeps_html) fs::remove(report.html, absent);
  if (printed) written(report.pdf);
  return printed;
}

Status print_pdf(const std::string& html, const std::string& pdf) {
  const std::string browser =
      find_program({"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"});
  if (browser.empty()) {
    return Error{
        ErrorCode::refused, "--pdf",
        "neither Chromium nor Chrome is in $PATH: install one (apt-get install chromium), or open the HTML in a "
        "browser and print it"};
  }
  std::error_code failure;
  // Of this run alone: a name that others can guess could hold what they put there for the browser.
  std::string profile = (passing_folder() / "ridge-chromium-XXXXXX").string();
  if (mkdtemp(profile.data()) == nullptr) {
    return Error{ErrorCode::refused, "--pdf", "there is no folder for temporary files; name one by $TMPDIR"};
  }
  std::vector<std::string> words = {"--headless",
                                    "--disable-gpu",
                                    "--no-first-run",
                                    "--no-pdf-header-footer",
                                    "--user-data-dir=" + fs::absolute(profile, failure).string(),
                                    "--print-to-pdf=" + fs::absolute(pdf, failure).string(),
                                    "file://" + fs::absolute(html, failure).string()};
  if (geteuid() == 0) words.insert(words.begin(), "--no-sandbox");  // it refuses to run as root otherwise
  fs::remove(pdf, failure);
  const Result<int> code = run_program(browser, words, Sound::silent);
  fs::remove_all(profile, failure);
  if (!code) return code.error();
  if (*code != 0 || !fs::exists(pdf, failure)) {
    return Error{ErrorCode::refused, "--pdf", fmt::format("{} printed nothing (exit code {})", browser, *code)};
  }
  return {};
}

std::string command_text(const Session& session) {
  std::vector<std::string> words = session.options().line;
  take_flag(words,
            {"--html", "--svg", "--trace", "--requests-csv", "--perfetto", "--timeline-csv", "--rows", "--report"});
  std::string out = "ridge";
  for (const std::string& word : words) out += " " + shell_word(word);
  return out;
}

}  // namespace ridge::cli
