// Tables in comma-separated values (RFC 4180), read strictly and written so that they read back.
//
//   Result<CsvTable> table = CsvTable::parse(text, "prices.csv");
//   if (!table) return table.error();                        // "prices.csv:7:12: this row has 5 cells, ..."
//   Result<std::size_t> price = table->required_column("price");
//   for (std::size_t row = 0; row < table->rows(); ++row) {
//     if (table->cell(row, *price).empty()) return table->error(row, *price, "a price is missing");
//   }
//
// The first row names the columns. A table owns its text; views into it live as long as the table stays where it is.
// Any number of threads may read one table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ridge/base/result.hpp"

namespace ridge {

class CsvTable {
 public:
  static constexpr std::size_t kDefaultLimit = 256u << 20;  ///< bytes

  /// Reads a whole table; `name` stands in front of positions in errors. Line ends are LF or CRLF, a byte-order mark is
  /// skipped, the last line may go without its end. Refuses, with name:line:column: more than `max_bytes` (or 4 GiB),
  /// no header, an empty or repeated column name, a row with another number of cells (an empty line is one), a quote
  /// that is not closed or stands inside an unquoted cell, text after a closing quote, a lone CR, a NUL byte, malformed
  /// UTF-8.
  static Result<CsvTable> parse(std::string text, std::string_view name, std::size_t max_bytes = kDefaultLimit);

  /// Reads a table that people wrote by hand. Unlike parse(): the header tells whether commas, semicolons or tabs part
  /// the cells; column names are folded ("TTFT (ms)" is ttft_ms) and may be missing or repeated (the
  /// first counts); lines without anything in them are passed over; a row with another number of cells is filled or cut
  /// and has a fault(); a quote that makes no sense is a letter, a byte that is no UTF-8 a '?', a lone CR a line end.
  /// Refuses only what is too large, has no header or has a NUL byte.
  static Result<CsvTable> parse_forgiving(std::string text, std::string_view name,
                                          std::size_t max_bytes = kDefaultLimit);

  /// What is wrong with a row of such a table, with its place; or empty.
  [[nodiscard]] std::string_view fault(std::size_t row) const;
  [[nodiscard]] char separator() const { return separator_; }

  [[nodiscard]] const std::string& name() const { return name_; }
  /// Rows below the header.
  [[nodiscard]] std::size_t rows() const { return cells_.size() / columns_ - 1; }
  [[nodiscard]] std::size_t columns() const { return columns_; }

  [[nodiscard]] std::string_view header(std::size_t column) const { return view(cells_[column]); }
  /// Where the column of that name is, or nothing.
  [[nodiscard]] std::optional<std::size_t> column(std::string_view name) const;
  /// As above; not_found names the nearest columns.
  [[nodiscard]] Result<std::size_t> required_column(std::string_view name) const;

  /// The text of a cell, unquoted; row < rows(), column < columns().
  [[nodiscard]] std::string_view cell(std::size_t row, std::size_t column) const { return view(at(row, column)); }
  /// The line a cell starts on, and its column there in characters, both from 1.
  [[nodiscard]] std::uint32_t line(std::size_t row, std::size_t column) const { return at(row, column).line; }
  [[nodiscard]] std::uint32_t character(std::size_t row, std::size_t column) const { return at(row, column).character; }
  /// "name:line:column" of a cell.
  [[nodiscard]] std::string where(std::size_t row, std::size_t column) const;
  /// A bad_input error that points at a cell.
  [[nodiscard]] Error error(std::size_t row, std::size_t column, std::string message) const;

 private:
  friend class CsvReader;
  // Offsets instead of views: they survive a copy or move of the text.
  struct Cell {
    std::uint32_t offset = 0;
    std::uint32_t length = 0;
    std::uint32_t line = 0;
    std::uint32_t character = 0;
  };
  CsvTable() = default;
  static Result<CsvTable> read(std::string text, std::string_view name, std::size_t max_bytes, bool forgiving);
  [[nodiscard]] const Cell& at(std::size_t row, std::size_t column) const {
    return cells_[(row + 1) * columns_ + column];
  }
  [[nodiscard]] std::string_view view(const Cell& cell) const { return {text_.data() + cell.offset, cell.length}; }

  std::string text_;
  std::string name_;
  std::vector<Cell> cells_;  // row by row, the header first
  std::size_t columns_ = 1;
  char separator_ = ',';
  std::vector<std::pair<std::size_t, std::string>> faults_;  // row and what is wrong with it, by row
};

/// Writes rows onto the end of a string, with quotes only where they are needed:
///
///   std::string out;
///   CsvWriter csv(out);
///   csv.cell("item").cell("price").end_row();
///
/// The string must outlive the writer. Cells that are UTF-8 without NUL bytes read back as they were.
class CsvWriter {
 public:
  explicit CsvWriter(std::string& out) : out_(&out) {}

  CsvWriter& cell(std::string_view text);
  void end_row();

 private:
  std::string* out_;
  std::size_t cells_in_row_ = 0;
  bool last_was_empty_ = false;
};

}  // namespace ridge
