// Result files as lists of records with named fields, whatever they are written in.
//
//   Result<std::vector<Record>> records = read_records(text, "summary_results.json");
//   records->front().text({"Submitter", "Organization"});      // required; the first refusal is kept
//   if (records->front().error()) ...                          // "summary_results.json#/0/Submitter: ..."
#pragma once

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ridge/mlperf/mlperf.hpp"

namespace ridge::mlperf {

/// The fields of one record, as texts; numbers as the file writes them, null as nothing.
class Record {
 public:
  using Names = std::initializer_list<std::string_view>;
  struct Field {
    std::string key;
    std::string value;
    std::string where;
  };

  Record(std::string where, std::vector<Field> fields) : where_(std::move(where)), fields_(std::move(fields)) {}

  /// The first of the names that is there with a value, or nothing.
  [[nodiscard]] const Field* find(Names names) const;
  std::string optional_text(Names names) const;
  std::string text(Names names);  ///< required, not empty
  std::optional<double> optional_number(Names names, double low, double high);
  double number(Names names, double low, double high);
  int whole(Names names, int low, int high, std::optional<int> otherwise = std::nullopt);

  void refuse(Names names, std::string message);
  [[nodiscard]] const std::string& where() const { return where_; }
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

 private:
  void missing(Names names);

  std::string where_;
  std::vector<Field> fields_;
  std::optional<Error> error_;
};

/// JSON (a list, an object of records, an object of lists) or CSV. Refuses what is neither, or holds no record.
Result<std::vector<Record>> read_records(const std::string& text, const std::string& path);

/// Logs of submissions: rows made of them, or evidence for rows that are there. `systems` are the files
/// systems/<system>.json by their path.
struct LogFiles {
  std::vector<const InputFile*> inference;  ///< mlperf_log_summary.txt
  std::vector<const InputFile*> training;   ///< result_N.txt
  std::vector<const InputFile*> systems;
};
[[nodiscard]] bool is_inference_log(const InputFile& file);
[[nodiscard]] bool is_training_log(const InputFile& file);
[[nodiscard]] bool is_system(const InputFile& file);
Status read_logs(const LogFiles& files, const std::string& round, std::vector<Row>& rows);

}  // namespace ridge::mlperf
