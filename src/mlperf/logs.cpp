// Logs of submissions: mlperf_log_summary.txt of loadgen, and the :::MLLOG lines of training runs.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "catalogue/files/json_document.hpp"
#include "mlperf/columns.hpp"
#include "mlperf/records.hpp"
#include "mlperf/rules.hpp"
#include "ridge/base/letters.hpp"
#include "ridge/base/text.hpp"

namespace ridge::mlperf {

namespace {

/// The parts of a path, without "." and nothing.
std::vector<std::string> folders(std::string_view path) {
  std::vector<std::string> parts = split_words(path, '/');
  std::erase(parts, ".");
  return parts;
}

/// What a path inside a submission says.
struct Place {
  std::string division, submitter, platform, benchmark, scenario;
  std::string root;  ///< in front of "results", with its slash
};

Result<Place> place_of(const std::string& path, bool training) {
  const std::vector<std::string> parts = folders(path);
  const auto results = std::find(parts.rbegin(), parts.rend(), "results");
  const auto at = static_cast<std::size_t>(parts.rend() - results);  // one behind "results"
  const std::size_t below = training ? 3 : 4;
  if (results == parts.rend() || at < 2 || parts.size() < at + below) {
    return Error{ErrorCode::bad_input, path,
                 training ? "a training log has to stand at <org>/results/<system>/<benchmark>/result_N.txt"
                          : "a log has to stand at <division>/<org>/results/<system>/<benchmark>/<scenario>/..."};
  }
  Place place;
  place.submitter = parts[at - 2];
  if (at >= 3) place.division = parts[at - 3];
  place.platform = parts[at];
  place.benchmark = parts[at + 1];
  if (!training) place.scenario = parts[at + 2];
  place.root = path.substr(0, path.rfind("/results/" + place.platform + "/") + 1);
  return place;
}

/// Fills in what systems/<system>.json says.
Status describe(const LogFiles& files, const Place& place, const std::string& log, Published& p) {
  const std::string wanted = place.root + "systems/" + place.platform + ".json";
  const auto file =
      std::find_if(files.systems.begin(), files.systems.end(), [&](const InputFile* f) { return f->path == wanted; });
  if (file == files.systems.end()) {
    return Error{ErrorCode::not_found, log, "its system is described in " + wanted + ", which is not among the files"};
  }
  const Result<JsonNode> node = parse_json((*file)->text, wanted);
  if (!node) return node.error();
  std::vector<Record::Field> fields;
  for (const JsonMember& m : node->members) {
    std::string value = m.value.kind == JsonNode::Kind::text      ? m.value.text
                        : m.value.kind == JsonNode::Kind::integer ? fmt::format("{}", m.value.integer)
                        : m.value.kind == JsonNode::Kind::number  ? fmt::format("{}", m.value.number)
                                                                  : "";
    fields.push_back({m.key, std::move(value), wanted + "#/" + m.key});
  }
  Record record(wanted + "#", std::move(fields));
  p.system = record.optional_text({"system_name"});
  p.availability = record.optional_text({"status"});
  p.accelerator = record.optional_text({"accelerator_model_name"});
  p.nodes = record.whole({"number_of_nodes"}, 1, 100'000);
  p.accelerators_per_node = record.whole({"accelerators_per_node"}, 0, 100'000, 0);
  p.host = record.optional_text({"host_processor_model_name"});
  p.software = record.optional_text({"framework"});
  if (p.division.empty()) p.division = record.optional_text({"division"});
  if (record.error()) return *record.error();
  return {};
}

/// "key : value" lines.
std::map<std::string, std::string, std::less<>> lines_of(std::string_view text) {
  std::map<std::string, std::string, std::less<>> lines;
  const auto trim = [](std::string_view s) {
    const std::size_t first = s.find_first_not_of(" \t\r");
    if (first == std::string_view::npos) return std::string();
    return std::string(s.substr(first, s.find_last_not_of(" \t\r") - first + 1));
  };
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    if (const std::size_t colon = line.find(':'); colon != std::string_view::npos) {
      lines.emplace(trim(line.substr(0, colon)), trim(line.substr(colon + 1)));
    }
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return lines;
}

Status read_inference_log(const LogFiles& files, const InputFile& file, const std::string& round,
                          std::vector<Row>& rows) {
  const Result<Place> place = place_of(file.path, false);
  if (!place) return place.error();
  const auto lines = lines_of(file.text);
  const auto refuse = [&](std::string message) { return Error{ErrorCode::bad_input, file.path, std::move(message)}; };
  const auto number = [&](std::string_view key) -> std::optional<double> {
    const auto line = lines.find(key);
    return line == lines.end() ? std::nullopt : number_of(line->second);
  };
  const auto valid = lines.find("Result is");
  if (valid == lines.end()) return refuse("the line 'Result is' is missing: the log is cut off");
  if (valid->second != "VALID") return refuse("the run is not valid: 'Result is : " + valid->second + "'");
  const bool offline = scenario_of(place->scenario) == "Offline";
  auto samples = number(offline ? "Samples per second" : "Completed samples per second");
  const auto scheduled = number("Scheduled samples per second");
  if (!samples) samples = scheduled;
  const auto tokens = number(offline ? "Tokens per second" : "Completed tokens per second");
  if (!samples && !tokens) return refuse("there is no rate in this log: neither samples nor tokens per second");
  const auto milliseconds = [&](std::initializer_list<std::string_view> keys) -> std::optional<double> {
    for (const std::string_view key : keys) {
      if (const auto ns = number(key)) return *ns * 1e-6;
    }
    return std::nullopt;
  };
  Row* row = nullptr;
  for (Row& known : rows) {
    const Published& p = known.published;
    if (p.submitter == place->submitter && p.platform == place->platform && p.benchmark == place->benchmark &&
        scenario_of(p.scenario) == scenario_of(place->scenario)) {
      row = &known;
    }
  }
  if (row == nullptr) {
    if (round.empty()) return refuse("a log does not say which round it is: add ⟦round⟧, as in ⟦round=v6.1⟧");
    Row made;
    Published& p = made.published;
    p.round = round;
    p.division = place->division;
    p.submitter = place->submitter;
    p.platform = place->platform;
    p.benchmark = place->benchmark;
    p.scenario = place->scenario;
    if (scenario_of(p.scenario).empty()) return refuse(quoted(p.scenario) + " in its path is not a scenario");
    p.unit = tokens ? "Tokens/s" : offline ? "Samples/s" : "Queries/s";
    p.result = tokens.value_or(samples.value_or(0));
    if (const Status s = describe(files, *place, file.path, p); !s) return s;
    rows.push_back(std::move(made));
    row = &rows.back();
  }
  Published& p = row->published;
  p.log_samples_per_s = samples;
  p.log_tokens_per_s = tokens;
  p.ttft_p99_ms = milliseconds({"99.00 percentile first token latency (ns)"});
  p.tpot_p99_ms =
      milliseconds({"99.00 percentile time to output token (ns)", "99.00 percentile time per output token (ns)"});
  return {};
}

/// The time of one run in minutes; infinity if it failed.
struct Run {
  double minutes = std::numeric_limits<double>::infinity();
  double global_batch = 0;
};

Result<Run> read_run(const InputFile& file) {
  constexpr std::string_view kMark = ":::MLLOG";
  Run run;
  std::optional<double> start;
  std::optional<double> stop;
  bool success = false;
  std::size_t line_number = 0;
  std::string_view text = file.text;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    ++line_number;
    // Many launchers put the rank in front of a line.
    const std::size_t mark = line.find(kMark);
    if (mark == std::string_view::npos) continue;
    line.remove_prefix(mark + kMark.size());
    const std::string where = fmt::format("{}:{}", file.path, line_number);
    const Result<JsonNode> event = parse_json(line, where);
    if (!event) return event.error();
    const JsonNode* const key = event->find("key");
    const JsonNode* const time = event->find("time_ms");
    if (key == nullptr || time == nullptr) {
      return Error{ErrorCode::bad_input, where, "an event without 'key' or 'time_ms'"};
    }
    if (key->text == "run_start" && !start) start = time->number;
    if (key->text == "run_stop") {
      stop = time->number;
      const JsonNode* const metadata = event->find("metadata");
      const JsonNode* const status = metadata == nullptr ? nullptr : metadata->find("status");
      success = status != nullptr && status->text == "success";
    }
    if (key->text == "global_batch_size") {
      if (const JsonNode* const value = event->find("value")) run.global_batch = value->number;
    }
  }
  if (!start) return Error{ErrorCode::bad_input, file.path, "there is no run_start in this log"};
  if (!stop) return Error{ErrorCode::bad_input, file.path, "there is no run_stop in this log: it is cut off"};
  if (*stop < *start) return Error{ErrorCode::bad_input, file.path, "run_stop is before run_start"};
  if (success) run.minutes = (*stop - *start) / 60'000;
  return run;
}

/// MLPerf's score: fastest and slowest dropped (four each of unet3d's forty), the mean of the rest; the median of
/// three.
Result<double> score(std::vector<double> minutes, const std::string& benchmark, const std::string& where) {
  std::sort(minutes.begin(), minutes.end());
  const std::size_t n = minutes.size();
  const std::size_t dropped = n == 3 ? 1 : benchmark == "unet3d" ? 4 : 1;
  if (n < 2 * dropped + 1) {
    return Error{ErrorCode::bad_input, where, fmt::format("{} runs are too few to drop {} at each end", n, dropped)};
  }
  double sum = 0;
  for (std::size_t i = dropped; i < n - dropped; ++i) sum += minutes[i];
  const double mean = sum / static_cast<double>(n - 2 * dropped);
  if (!std::isfinite(mean)) return Error{ErrorCode::bad_input, where, "more runs failed than may be dropped"};
  return mean;
}

}  // namespace

bool is_inference_log(const InputFile& file) {
  return file.path.ends_with("mlperf_log_summary.txt");
}

bool is_training_log(const InputFile& file) {
  const std::size_t slash = file.path.rfind('/');
  const std::string_view name = std::string_view(file.path).substr(slash == std::string::npos ? 0 : slash + 1);
  return name.starts_with("result_") && name.ends_with(".txt");
}

bool is_system(const InputFile& file) {
  const std::vector<std::string> parts = folders(file.path);
  return parts.size() >= 2 && parts[parts.size() - 2] == "systems" && file.path.ends_with(".json");
}

Status read_logs(const LogFiles& files, const std::string& round, std::vector<Row>& rows) {
  for (const InputFile* file : files.inference) {
    if (const Status s = read_inference_log(files, *file, round, rows); !s) return s;
  }
  std::map<std::string, std::vector<const InputFile*>> folders;
  for (const InputFile* file : files.training) folders[file->path.substr(0, file->path.rfind('/'))].push_back(file);
  for (const auto& [folder, runs] : folders) {
    const Result<Place> place = place_of(runs[0]->path, true);
    if (!place) return place.error();
    if (round.empty()) {
      return Error{ErrorCode::bad_input, folder,
                   "a log does not say which round it is: add ⟦round⟧, as in ⟦round=v5.1⟧"};
    }
    Row row;
    row.suite = Suite::training;
    Published& p = row.published;
    std::vector<double> minutes;
    for (const InputFile* file : runs) {
      const Result<Run> run = read_run(*file);
      if (!run) return run.error();
      minutes.push_back(run->minutes);
      if (!std::isfinite(run->minutes)) ++p.failed_runs;
      p.global_batch = run->global_batch;
    }
    const Result<double> mean = score(minutes, place->benchmark, folder);
    if (!mean) return mean.error();
    p.round = round;
    p.submitter = place->submitter;
    p.platform = place->platform;
    p.benchmark = place->benchmark;
    p.unit = "minutes";
    p.result = *mean;
    p.runs = static_cast<int>(runs.size());
    p.fastest_minutes = *std::min_element(minutes.begin(), minutes.end());
    if (const Status s = describe(files, *place, folder, p); !s) return s;
    if (p.division.empty()) p.division = "closed";
    rows.push_back(std::move(row));
  }
  return {};
}

}  // namespace ridge::mlperf
