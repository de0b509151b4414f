// Result files of MLCommons to published rows.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "mlperf/records.hpp"
#include "mlperf/rules.hpp"
#include "ridge/base/text.hpp"

namespace ridge::mlperf {

namespace {

constexpr double kMostResult = 1e12;
constexpr int kMostNodes = 100'000;

/// "v6.1": the only form of a round.
bool is_round(std::string_view text) {
  const std::size_t dot = text.find('.');
  if (text.size() < 4 || text.size() > 8 || text[0] != 'v' || dot == std::string_view::npos) return false;
  return std::all_of(text.begin() + 1, text.end(), [](char c) { return c == '.' || (c >= '0' && c <= '9'); }) &&
         dot > 1 && dot + 1 < text.size() && text.find('.', dot + 1) == std::string_view::npos;
}

/// The two vocabularies of the formats: summary_results.json, and the submission checker's.
class Reader {
 public:
  Reader(const ReadOptions& options, Results& results) : options_(options), results_(results) {}

  Status add(Record record) {
    const bool summary = record.find({"Performance_Result"}) != nullptr;
    const std::string suite = record.text({summary ? "Suite" : "SystemType", "Suite", "SystemType"});
    if (!record.error() && suite.find(options_.system) == std::string::npos) {
      drop(Rule::other_suite, record, suite);
      return {};
    }
    Row row;
    Published& p = row.published;
    p.round = record.optional_text({"version", "Round"});
    if (!is_round(p.round)) p.round = options_.round;
    if (p.round.empty()) {
      record.refuse({"version"}, "the file does not say which round it is: add ⟦round⟧, as in ⟦round=v6.1⟧");
    }
    p.division = record.text({summary ? "Category" : "Division", "Division", "Category"});
    if (p.division.ends_with("-power")) p.division.resize(p.division.size() - 6);
    p.availability = record.optional_text({"Availability"});
    p.submitter = record.text({summary ? "Submitter" : "Organization", "Organization", "Submitter"});
    p.system = record.optional_text({"System", "SystemName"});
    p.platform = record.text({"Platform"});
    p.accelerator = record.optional_text({summary ? "Accelerator" : "accelerator_model_name"});
    p.nodes = record.whole({summary ? "Nodes" : "number_of_nodes", "Nodes", "number_of_nodes"}, 1, kMostNodes);
    p.accelerators_per_node = accelerators_per_node(record, summary, p.accelerator);
    read_benchmark(record, summary, p);
    p.host = record.optional_text({"Processor", "host_processor_model_name"});
    p.software = record.optional_text({"Software", "framework"});
    p.weights = record.optional_text({"weight_data_types"});
    p.power_w = record.optional_number({"Power_Result", "Result_Power"}, 0.1, 1e9);
    const std::string measured = record.optional_text({"has_power"});
    if (p.power_w || measured == "true" || measured == "True") p.category = "power";
    p.unit = record.text({summary ? "Performance_Units" : "Units", "Units", "Result_Units", "Performance_Units"});
    const bool watts = p.unit == "Watts" && record.find({"Result", "Performance_Result"}) == nullptr;
    if (!watts) p.result = record.number({summary ? "Performance_Result" : "Result"}, 0, kMostResult);
    check(record, p, watts);
    if (p.division == "network") {  // closed, measured through the network
      p.division = "closed";
      p.category = "network";
    }
    if (record.error()) return *record.error();
    return keep(std::move(row), record, watts);
  }

 private:
  void drop(Rule rule, const Record& record, std::string what) {
    results_.repairs.push_back({static_cast<std::uint16_t>(rule), record.where(), std::move(what), "dropped"});
  }

  /// Systems without accelerators write nothing, 0 or 'N/A'.
  static int accelerators_per_node(Record& record, bool summary, std::string_view accelerator) {
    const Record::Names names = {summary ? "a#" : "accelerators_per_node", "accelerators_per_node"};
    if (accelerator.empty() || accelerator == "N/A" || accelerator == "-") {
      const Record::Field* const field = record.find(names);
      if (field == nullptr || field->value == "N/A" || field->value == "-") return 0;
      return record.whole(names, 0, kMostNodes, 0);
    }
    return record.whole(names, 0, kMostNodes);  // 0 in some open rows: counted as published
  }

  static void read_benchmark(Record& record, bool summary, Published& p) {
    p.benchmark = summary ? record.text({"Model"}) : record.text({"MlperfModel", "Model"});
    const std::string used = record.optional_text({summary ? "UsedModel" : "Model"});
    // Only the open division may run another model; elsewhere the two differ in spelling alone ("resnet50").
    if (p.division == "open" && used != p.benchmark) p.model = used;
    if (!summary && p.division != "open" && !used.empty()) p.benchmark = used;
    p.scenario = record.text({"Scenario"});
  }

  static void check(Record& record, const Published& p, bool watts) {
    if (p.division != "closed" && p.division != "open" && p.division != "network") {
      record.refuse({"Category", "Division"}, quoted(p.division) + " is not a division: closed, open or network");
    }
    if (scenario_of(p.scenario).empty()) record.refuse({"Scenario"}, quoted(p.scenario) + " is not a scenario");
    if (!watts && unit_of(p.unit).empty()) {
      record.refuse({"Performance_Units", "Units"}, quoted(p.unit) + " is not a unit of MLPerf results");
    }
    if (!is_round(p.round)) record.refuse({"version"}, quoted(p.round) + " is not a round such as v6.1");
  }

  static std::string key_of(const Published& p) {
    return fmt::format("{}|{}|{}|{}|{}|{}|{}|{}", p.round, p.division, p.category, p.submitter, p.platform, p.benchmark,
                       p.model, p.scenario);
  }

  Status keep(Row row, const Record& record, bool watts) {
    Published& p = row.published;
    if (p.benchmark.find("-interactive") != std::string::npos && scenario_of(p.scenario) == "Offline") {
      drop(Rule::interactive_offline_rerun, record, p.benchmark);
      return {};
    }
    const std::string key = key_of(p);
    const auto there = seen_.find(key);
    if (watts) {
      if (there == seen_.end()) {
        return Error{ErrorCode::bad_input, record.where(), "a row of watts without the result it belongs to"};
      }
      results_.rows[there->second].published.power_w = p.power_w;
      drop(Rule::watts_row, record, fmt::format("{:.6g} W", p.power_w.value_or(0)));
      return {};
    }
    if (there != seen_.end()) {
      const Published& first = results_.rows[there->second].published;
      if (first.result == p.result && (!p.power_w || first.power_w == p.power_w) &&
          (p.division != "open" || p.category == "power")) {
        drop(Rule::repeated_power_row, record, fmt::format("{} {}", p.platform, p.benchmark));
        return {};
      }
      if (p.division != "open" && first.accelerator == p.accelerator) {
        return Error{ErrorCode::bad_input, record.where(),
                     fmt::format("{} {} {} of {} is there already, with another result ({:.6g}, now {:.6g})",
                                 p.submitter, p.benchmark, p.scenario, p.platform, first.result, p.result)};
      }
    }
    seen_.emplace(key, results_.rows.size());
    results_.rows.push_back(std::move(row));
    return {};
  }

  const ReadOptions& options_;
  Results& results_;
  std::map<std::string, std::size_t> seen_;
};

}  // namespace

Result<Results> read_results(std::vector<InputFile> files, const ReadOptions& options) {
  if (files.empty()) return Error{ErrorCode::bad_input, "", "there is no file to import"};
  if (!options.round.empty() && !is_round(options.round)) {
    return Error{ErrorCode::bad_input, "⟦round⟧", quoted(options.round) + " is not a round such as v6.1"};
  }
  Results results;
  Reader reader(options, results);
  LogFiles logs;
  for (const InputFile& file : files) {
    if (is_inference_log(file)) {
      logs.inference.push_back(&file);
    } else if (is_training_log(file)) {
      logs.training.push_back(&file);
    } else if (is_system(file)) {
      logs.systems.push_back(&file);
    } else {
      Result<std::vector<Record>> records = read_records(file.text, file.path);
      if (!records) return records.error();
      for (Record& record : *records) {
        if (const Status s = reader.add(std::move(record)); !s) return s.error();
      }
    }
  }
  if (const Status s = read_logs(logs, options.round, results.rows); !s) return s.error();
  if (results.rows.empty()) {
    return Error{ErrorCode::bad_input, files.front().path,
                 "there is no result of the " + options.system + " suite in it"};
  }
  std::map<std::string, int> numbers;
  for (Row& row : results.rows) {
    const std::string round = row.published.round.substr(1);
    const char prefix = row.suite == Suite::inference ? 'i' : 't';
    const int number = ++numbers[prefix + round];
    row.id = fmt::format("{}{}-{}", prefix, round, number);
  }
  return results;
}

}  // namespace ridge::mlperf
