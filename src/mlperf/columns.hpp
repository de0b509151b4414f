// Cells of a CSV table read by column name, with the first refusal kept.
//
//   Columns columns(table);
//   std::string round = columns.text(row, "round");
//   int nodes = columns.whole(row, "nodes", 1, 100000);
//   if (columns.error()) return *columns.error();        // "systems.csv:7:12: ..."
//
// One thread per object; the table and the names of columns (literals) must outlive it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ridge/base/csv.hpp"

namespace ridge::mlperf {

/// A number as files write it ("8", "8.0", "1.5e3"), or nothing.
[[nodiscard]] std::optional<double> number_of(std::string_view text);

class Columns {
 public:
  explicit Columns(const CsvTable& table) : table_(table) {}

  /// Empty text if the column is missing, which is kept as an error.
  std::string_view view(std::size_t row, std::string_view column);
  std::string text(std::size_t row, std::string_view column) { return std::string(view(row, column)); }
  std::optional<double> optional_number(std::size_t row, std::string_view column, double low, double high);
  double number(std::size_t row, std::string_view column, double low, double high);  ///< required
  int whole(std::size_t row, std::string_view column, int low, int high);            ///< required

  [[nodiscard]] std::size_t rows() const { return table_.rows(); }

  void refuse(std::size_t row, std::string_view column, std::string message);
  void fail(const Error& error) {
    if (!error_) error_ = error;
  }
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

 private:
  std::optional<std::size_t> find(std::string_view column);

  const CsvTable& table_;
  std::vector<std::pair<std::string_view, std::size_t>> places_;
  std::optional<Error> error_;
};

/// Reads and parses a file of data/mlperf.
Result<CsvTable> read_table(const std::string& path);

}  // namespace ridge::mlperf
