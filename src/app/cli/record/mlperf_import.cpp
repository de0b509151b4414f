// ridge mlperf import: result files of MLCommons into SQLite.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "app/cli/record/mlperf.hpp"
#include "app/cli/session/progress.hpp"
#include "report/record/mlperf_report.hpp"

namespace ridge::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMlperfFileLimit = 64u << 20;
constexpr std::size_t kMostFiles = 50'000;

bool wanted(const fs::path& path) {
  const std::string name = path.filename().string();
  return name == "mlperf_log_summary.txt" || (name.starts_with("result_") && name.ends_with(".txt")) ||
         (path.parent_path().filename() == "systems" && name.ends_with(".json")) || name == "summary_results.json" ||
         name == "cm-result.json" || name == "summary.json" || name == "summary.csv";
}

/// The files themselves, and of folders those that hold results.
Result<std::vector<std::string>> expand(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      files.push_back(path);
      continue;
    }
    const std::size_t before = files.size();
    for (auto entry = fs::recursive_directory_iterator(path, error);
         !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
      if (entry->is_regular_file(error) && wanted(entry->path())) files.push_back(entry->path().string());
      if (files.size() > kMostFiles) return Error{ErrorCode::bad_input, path, "there are too many files below"};
    }
    if (error) return Error{ErrorCode::bad_input, path, "cannot be read: " + error.message()};
    if (files.size() == before) return Error{ErrorCode::not_found, path, "there is no file of MLPerf results below"};
    std::sort(files.begin() + static_cast<std::ptrdiff_t>(before), files.end());
  }
  return files;
}

/// The description of the system that a log belongs to, if it stands where submissions have it.
void add_systems(std::vector<std::string>& files) {
  std::set<std::string> all(files.begin(), files.end());
  const std::vector<std::string> given = files;
  for (const std::string& file : given) {
    const std::size_t results = file.rfind("/results/");
    if (results == std::string::npos || !file.ends_with(".txt")) continue;
    const std::size_t begin = results + 9;
    const std::string system =
        file.substr(0, results) + "/systems/" + file.substr(begin, file.find('/', begin) - begin) + ".json";
    std::error_code error;
    if (fs::is_regular_file(system, error) && all.insert(system).second) files.push_back(system);
  }
}

Result<mlperf::Results> read(Session& session, const MlperfImport& arguments, const mlperf::Names& names) {
  for (const std::string& path : arguments.paths) {
    if (const Status s = session.files().may_read(path); !s) return s.error();
  }
  if (arguments.paths.empty()) {
    const Result<std::string> directory = session.data_directory();
    if (!directory) return directory.error();
    return mlperf::load_bundled(*directory, names);
  }
  Result<std::vector<std::string>> paths = expand(arguments.paths);
  if (!paths) return paths.error();
  add_systems(*paths);
  std::vector<mlperf::InputFile> files;
  Progress progress = session.progress("reading");
  for (const std::string& path : *paths) {
    progress.show(static_cast<double>(files.size()) / static_cast<double>(paths->size()));
    Result<std::string> text = session.files().read(path, kMlperfFileLimit);
    if (!text) return text.error();
    files.push_back({path, *std::move(text)});
  }
  mlperf::ReadOptions options;
  options.round = arguments.round;
  if (!arguments.system.empty()) options.system = arguments.system;
  Result<mlperf::Results> results = mlperf::read_results(std::move(files), options);
  if (!results) return results;
  return mlperf::repair(*std::move(results), names);
}

}  // namespace

Result<MlperfRecord> mlperf_record(const Session& session, const std::string& database) {
  const Result<std::string> directory = session.data_directory();
  if (!directory) return directory.error();
  Result<mlperf::Names> names = mlperf::load_names(*directory);
  if (!names) return names.error();
  if (database.empty()) {
    Result<mlperf::Results> results = mlperf::load_bundled(*directory, *names);
    if (!results) return results.error();
    return MlperfRecord{*std::move(names), *std::move(results)};
  }
  Result<std::vector<mlperf::Row>> rows = mlperf::read_database(database);
  if (!rows) return rows.error();
  mlperf::Results results = mlperf::repair(*std::move(rows), *names);
  return MlperfRecord{*std::move(names), std::move(results)};
}

Result<int> mlperf_import(Session& session, const MlperfImport& arguments) {
  if (!arguments.system.empty() && arguments.system != "datacenter" && arguments.system != "edge") {
    return Error{ErrorCode::bad_input, "--suite", "write datacenter or edge"};
  }
  const Result<std::string> directory = session.data_directory();
  if (!directory) return directory.error();
  const Result<mlperf::Names> names = mlperf::load_names(*directory);
  if (!names) return names.error();
  const Result<mlperf::Results> results = read(session, arguments, *names);
  if (!results) return results.error();
  if (!arguments.database.empty()) {
    const Status written = mlperf::write_database(arguments.database, *results, {.replace = arguments.replace});
    if (!written) return written.error();
  }
  std::map<std::string, int> rounds;
  for (const mlperf::Row& row : results->rows) {
    ++rounds[std::string(name(row.suite)) + " " + row.published.round];
  }
  if (session.form() == Form::json) {
    Json json = Json::object();
    Json counts = Json::object();
    for (const auto& [round, count] : rounds) counts.set(round, count);
    json.set("schema", report::kMlperfSchema)
        .set("command", "import")
        .set("rows", static_cast<int>(results->rows.size()));
    json.set("repairs", static_cast<int>(results->repairs.size())).set("rounds", std::move(counts));
    json.set("rules", to_json(report::mlperf_rule_table(*results)));
    session.print(json.text());
    return kFine;
  }
  if (session.form() == Form::csv) {
    session.print(to_csv(report::mlperf_rule_table(*results)));
    return kFine;
  }
  Document page;
  std::string text = fmt::format("{} results, {} repairs by {} rules", results->rows.size(), results->repairs.size(),
                                 mlperf::rules().size());
  text += arguments.database.empty() ? "; nothing is kept without --db." : "; kept in " + arguments.database + ".";
  page.blocks.emplace_back(Paragraph{std::move(text)});
  std::string list;
  for (const auto& [round, count] : rounds) list += fmt::format("{}{} ({})", list.empty() ? "" : ", ", round, count);
  page.blocks.emplace_back(Paragraph{list + "."});
  if (arguments.rules) page.blocks.emplace_back(report::mlperf_rule_table(*results));
  session.print(page);
  return kFine;
}

}  // namespace ridge::cli
