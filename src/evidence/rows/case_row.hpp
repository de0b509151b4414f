// One row of an evidence table, read cell by cell; the first thing wrong with it is kept as the reason to refuse it.
//
//   CaseRow row(table, 12);
//   std::optional<double> batch = row.number("batch", 0, 1e7);  // nothing if the cell is empty or the column absent
//   row.require("osl");                                         // refuses an empty cell
//   if (!row.refusal().empty()) ...                             // "mine.csv:14:37: batch: '12x' is not a number"
//
// Cells are read as people write them: without the spaces around them, empty if they say n/a, NA, -, nan or null, words
// in any case, numbers with thousands set apart ("2,500"; in tables with semicolons a comma is the decimal point).
// Extra columns are never looked at. One thread per object; the table must outlive it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ridge/base/csv.hpp"
#include "ridge/perf/perf.hpp"

namespace ridge::evidence {

/// The cell without what means nothing; empty if the column is absent.
[[nodiscard]] std::string_view cell_text(const CsvTable& table, std::size_t row, std::string_view column);
/// "Closed_Loop" → "closed-loop".
[[nodiscard]] std::string folded_word(std::string_view text);
/// A number as people write it in tables; nothing if it is none.
[[nodiscard]] std::optional<double> cell_number(const CsvTable& table, std::string_view cell);
/// The format that a cell names; nothing for "auto" and "unknown".
[[nodiscard]] Result<std::optional<Format>> cell_format(std::string_view cell);

class CaseRow {
 public:
  CaseRow(const CsvTable& table, std::size_t row) : table_(table), row_(row) {}

  /// The cell; empty if the column is absent.
  [[nodiscard]] std::string_view text(std::string_view column) const { return cell_text(table_, row_, column); }
  /// The cell as words of a list are written: in lower case, '-' between its parts.
  [[nodiscard]] std::string word(std::string_view column) const { return folded_word(text(column)); }
  std::optional<double> number(std::string_view column, double low, double high);
  std::optional<int> integer(std::string_view column, int low, int high);
  std::optional<Format> format(std::string_view column);
  /// Refuses an empty cell or a missing column; returns whether it is there.
  bool require(std::string_view column);
  /// A reason with the place of that column's cell in front.
  [[nodiscard]] std::string located(std::string_view column, const std::string& message) const;
  /// Refuses the row for a reason that concerns that column.
  void refuse(std::string_view column, const std::string& message);

  /// The same with a reason that names its place already.
  void refuse_whole(const std::string& reason) {
    if (refusal_.empty()) refusal_ = reason;
  }

  [[nodiscard]] const std::string& refusal() const { return refusal_; }
  [[nodiscard]] const CsvTable& table() const { return table_; }
  [[nodiscard]] std::size_t position() const { return row_; }
  [[nodiscard]] std::size_t line() const { return table_.line(row_, 0); }

 private:
  const CsvTable& table_;
  std::size_t row_;
  std::string refusal_;
};

/// A number as evidence tables write it: decimal, finite, nothing after it.
[[nodiscard]] std::optional<double> parse_plain_number(std::string_view text);

/// The date at the start of "2024 (workshop)", "2024-2025", "2025-07-10": "2024", "2024", "2025-07-10"; else empty.
[[nodiscard]] std::string leading_date(std::string_view text);

}  // namespace ridge::evidence
