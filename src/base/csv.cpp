#include "ridge/base/csv.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <limits>
#include <numeric>

#include "base/utf8.hpp"
#include "ridge/base/text.hpp"

namespace ridge {

namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// Bytes the reader has to stop at: separators, quotes, line ends, NUL, and everything beyond ASCII.
using Stops = std::array<bool, 256>;
constexpr Stops stops_at(char separator) {
  Stops stops{};
  for (const char c : {'"', separator, '\r', '\n', '\0'}) stops[static_cast<unsigned char>(c)] = true;
  for (std::size_t c = 0x80; c < 256; ++c) stops[c] = true;
  return stops;
}

/// What parts the cells of a header: the most frequent of comma, semicolon and tab.
char separator_of(std::string_view text) {
  const std::string_view header = text.substr(0, text.find_first_of("\r\n"));
  char best = ',';
  for (const char c : {';', '\t'}) {
    if (std::count(header.begin(), header.end(), c) > std::count(header.begin(), header.end(), best)) best = c;
  }
  return best;
}

bool is_space(char c) {
  return c == ' ' || c == '\t';
}

}  // namespace

/// One pass over the text. Quoted cells lose their quotes in place, which only ever makes them shorter.
class CsvReader {
 public:
  CsvReader(CsvTable& table, bool forgiving)
      : table_(table), data_(table.text_.data()), end_(table.text_.size()), forgiving_(forgiving) {}

  Status read() {
    if (table_.text_.starts_with(kByteOrderMark)) position_ = line_start_ = kByteOrderMark.size();
    if (forgiving_) {
      while (position_ != end_ && (is_space(peek()) || peek() == '\r' || peek() == '\n')) {
        if (data_[position_++] == '\n') start_line();
      }
      table_.separator_ = separator_of({data_ + position_, end_ - position_});
      stops_ = stops_at(table_.separator_);
    }
    if (position_ == end_) return error_at(line_, 1, "the table is empty: the first row must name the columns");
    if (const auto status = read_row(); !status) return status;
    if (forgiving_) fold_header();
    table_.columns_ = table_.cells_.size();
    if (!forgiving_) {
      if (const auto status = check_header(); !status) return status;
    }
    while (position_ != end_) {
      if (const auto status = read_row(); !status) return status;
    }
    return {};
  }

 private:
  Status read_row() {
    const std::size_t first = table_.cells_.size();
    const std::uint32_t row_line = line_;
    do {
      if (const auto status = read_cell(); !status) return status;
    } while (take(table_.separator_));
    if (const auto status = take_line_end(); !status) return status;
    const std::size_t found = table_.cells_.size() - first;
    if (forgiving_ && first != 0) {
      fit_row(first, row_line);
      return {};
    }
    if (first == 0 || found == table_.columns_) return {};
    const bool empty = found == 1 && table_.cells_.back().length == 0;
    return error_at(row_line, 1,
                    empty
                        ? "this line is empty, the header has " + std::to_string(table_.columns_) + " cells: remove it"
                        : wrong_length(found));
  }

  [[nodiscard]] std::string wrong_length(std::size_t found) const {
    std::string message = "this row has " + std::to_string(found) + (found == 1 ? " cell" : " cells") +
                          ", the header has " + std::to_string(table_.columns_);
    if (found > table_.columns_) message += ": a cell with a comma in it goes between double quotes";
    return message;
  }

  /// Drops the row that starts at cell `first` if it holds nothing; else makes it as long as the header.
  void fit_row(std::size_t first, std::uint32_t row_line) {
    std::vector<CsvTable::Cell>& cells = table_.cells_;
    const auto blank = [&](const CsvTable::Cell& cell) {
      return std::all_of(data_ + cell.offset, data_ + cell.offset + cell.length, is_space);
    };
    const auto filled = std::find_if_not(cells.rbegin(), cells.rend() - static_cast<std::ptrdiff_t>(first), blank);
    const auto used = static_cast<std::size_t>(cells.rend() - filled) - first;
    const std::size_t found = cells.size() - first;
    if (used == 0) {
      cells.resize(first);
      return;
    }
    // Empty cells beyond the header are what a spreadsheet leaves behind.
    if (used > table_.columns_ || found < table_.columns_) {
      table_.faults_.emplace_back(first / table_.columns_ - 1,
                                  error_at(row_line, 1, wrong_length(std::max(used, found))).text());
    }
    cells.resize(first + table_.columns_, {cells.back().offset, 0, row_line, 1});
  }

  void fold_header() {
    for (CsvTable::Cell& cell : table_.cells_) {
      while (cell.length > 0 && is_space(data_[cell.offset])) {
        ++cell.offset;
        --cell.length;
      }
      while (cell.length > 0 && is_space(data_[cell.offset + cell.length - 1])) --cell.length;
      // "TTFT (ms)" is ttft_ms, "Output tok/s" is output_tok_s.
      char* const first = data_ + cell.offset;
      char* const last = std::remove_if(first, first + cell.length,
                                        [](char c) { return c == '(' || c == ')' || c == '[' || c == ']'; });
      cell.length = static_cast<std::uint32_t>(last - first);
      for (char* c = first; c != last; ++c) {
        if (*c >= 'A' && *c <= 'Z') *c = static_cast<char>(*c - 'A' + 'a');
        if (*c == ' ' || *c == '-' || *c == '/') *c = '_';
      }
    }
    while (table_.cells_.size() > 1 && table_.cells_.back().length == 0) table_.cells_.pop_back();
  }

  /// Whether the quote here is closed, and a separator or a line end follows.
  [[nodiscard]] bool opens_a_cell() const {
    if (peek() != '"') return false;
    std::size_t at = position_ + 1;
    for (; at != end_; ++at) {
      if (data_[at] != '"') continue;
      if (at + 1 == end_ || data_[at + 1] != '"') break;
      ++at;
    }
    if (at == end_) return false;
    for (++at; at != end_ && data_[at] == ' ';) ++at;
    return at == end_ || data_[at] == table_.separator_ || data_[at] == '\r' || data_[at] == '\n';
  }

  Status read_cell() {
    if (forgiving_) {
      const std::size_t start = position_;
      while (is_space(peek()) && peek() != table_.separator_) ++position_;
      if (!opens_a_cell()) position_ = start;
    }
    CsvTable::Cell cell{narrow(position_), 0, line_, character()};
    const bool quoted_cell = (!forgiving_ || opens_a_cell()) && take('"');
    if (!quoted_cell) {
      if (const auto status = skip_text(); !status) return status;
      while (forgiving_ && peek() == '"') {
        ++position_;
        if (const auto status = skip_text(); !status) return status;
      }
      if (peek() == '"')
        return error_here("a quote inside a cell: put the cell between double quotes and double this one");
      cell.length = narrow(position_) - cell.offset;
      table_.cells_.push_back(cell);
      return {};
    }
    std::size_t kept = position_;
    cell.offset = narrow(kept);
    for (;;) {
      const std::size_t run = position_;
      if (const auto status = skip_text(); !status) return status;
      if (kept != run) std::memmove(data_ + kept, data_ + run, position_ - run);
      kept += position_ - run;
      if (position_ == end_)
        return error_at(cell.line, cell.character, "the quote that opens this cell is never closed");
      const char c = data_[position_++];
      if (c == '"' && !take('"')) break;
      if (c == '\n') start_line();
      data_[kept++] = c;
    }
    cell.length = narrow(kept) - cell.offset;
    table_.cells_.push_back(cell);
    while (forgiving_ && peek() == ' ') ++position_;
    if (position_ != end_ && peek() != table_.separator_ && peek() != '\r' && peek() != '\n') {
      return error_here("text after a closing quote: a quote inside a quoted cell is written twice");
    }
    return {};
  }

  /// Goes over ordinary text, checking what is not ASCII, up to a separator, quote, line end or the end.
  Status skip_text() {
    for (;;) {
      while (position_ != end_ && !stops_[static_cast<unsigned char>(data_[position_])]) ++position_;
      if (position_ == end_) return {};
      const auto c = static_cast<unsigned char>(data_[position_]);
      if (c == 0) return error_here("a NUL byte: this is not a text file");
      if (c < 0x80) return {};
      const std::size_t length = utf8_length({data_ + position_, end_ - position_});
      if (length == 0 && forgiving_) {
        data_[position_++] = '?';
        continue;
      }
      if (length == 0) return error_here("malformed UTF-8: save the file as UTF-8");
      position_ += length;
      continuation_bytes_ += length - 1;
    }
  }

  Status take_line_end() {
    if (position_ == end_) return {};
    if (take('\r') && peek() != '\n') {
      if (!forgiving_) return error_here("a carriage return without a line feed: end lines with LF or CRLF");
    } else {
      ++position_;
    }
    start_line();
    return {};
  }

  Status check_header() {
    const auto name = [&](std::size_t i) { return table_.header(i); };
    std::vector<std::size_t> order(table_.columns_);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return name(a) < name(b); });
    for (std::size_t i = 0; i < order.size(); ++i) {
      const CsvTable::Cell& cell = table_.cells_[order[i]];
      if (cell.length == 0) return error_at(cell.line, cell.character, "a column without a name");
      if (i > 0 && name(order[i]) == name(order[i - 1])) {
        return error_at(cell.line, cell.character, "the column " + quoted(name(order[i])) + " is there twice");
      }
    }
    return {};
  }

  [[nodiscard]] char peek() const { return position_ == end_ ? '\0' : data_[position_]; }
  bool take(char c) {
    if (position_ == end_ || data_[position_] != c) return false;
    ++position_;
    return true;
  }
  void start_line() {
    ++line_;
    line_start_ = position_;
    continuation_bytes_ = 0;
  }
  static std::uint32_t narrow(std::size_t v) { return static_cast<std::uint32_t>(v); }
  [[nodiscard]] std::uint32_t character() const { return narrow(position_ - line_start_ - continuation_bytes_ + 1); }
  [[nodiscard]] Error error_here(std::string message) const { return error_at(line_, character(), std::move(message)); }
  [[nodiscard]] Error error_at(std::uint32_t line, std::uint32_t character, std::string message) const {
    return {ErrorCode::bad_input, table_.name_ + ":" + std::to_string(line) + ":" + std::to_string(character),
            std::move(message)};
  }

  CsvTable& table_;
  char* data_;
  std::size_t end_;
  bool forgiving_;
  Stops stops_ = stops_at(',');
  std::size_t position_ = 0;
  std::size_t line_start_ = 0;
  std::size_t continuation_bytes_ = 0;  // on this line, so that columns count characters
  std::uint32_t line_ = 1;
};

Result<CsvTable> CsvTable::parse(std::string text, std::string_view name, std::size_t max_bytes) {
  return read(std::move(text), name, max_bytes, false);
}

Result<CsvTable> CsvTable::parse_forgiving(std::string text, std::string_view name, std::size_t max_bytes) {
  return read(std::move(text), name, max_bytes, true);
}

Result<CsvTable> CsvTable::read(std::string text, std::string_view name, std::size_t max_bytes, bool forgiving) {
  max_bytes = std::min<std::size_t>(max_bytes, std::numeric_limits<std::uint32_t>::max());
  if (text.size() > max_bytes) {
    return Error{ErrorCode::bad_input, std::string(name),
                 "the table has " + format_number(static_cast<double>(text.size())) +
                     " bytes, more than the limit of " + format_number(static_cast<double>(max_bytes))};
  }
  CsvTable table;
  table.text_ = std::move(text);
  table.name_ = name;
  if (const auto status = CsvReader(table, forgiving).read(); !status) return status.error();
  return table;
}

std::optional<std::size_t> CsvTable::column(std::string_view name) const {
  for (std::size_t i = 0; i < columns_; ++i) {
    if (header(i) == name) return i;
  }
  return std::nullopt;
}

Result<std::size_t> CsvTable::required_column(std::string_view name) const {
  if (const auto found = column(name)) return *found;
  std::vector<std::string_view> names(columns_);
  for (std::size_t i = 0; i < columns_; ++i) names[i] = header(i);
  const std::string near = nearest(name, names.data(), names.size());
  return Error{ErrorCode::not_found, name_ + ":1:1",
               "the column " + quoted(name) + " is missing" + (near.empty() ? "" : ": did you mean " + near + "?")};
}

std::string_view CsvTable::fault(std::size_t row) const {
  const auto at = std::lower_bound(faults_.begin(), faults_.end(), row,
                                   [](const auto& fault, std::size_t wanted) { return fault.first < wanted; });
  return at != faults_.end() && at->first == row ? std::string_view(at->second) : std::string_view();
}

std::string CsvTable::where(std::size_t row, std::size_t column) const {
  return name_ + ":" + std::to_string(line(row, column)) + ":" + std::to_string(character(row, column));
}

Error CsvTable::error(std::size_t row, std::size_t column, std::string message) const {
  return {ErrorCode::bad_input, where(row, column), std::move(message)};
}

CsvWriter& CsvWriter::cell(std::string_view text) {
  if (cells_in_row_++ > 0) *out_ += ',';
  last_was_empty_ = text.empty();
  if (text.find_first_of("\",\r\n") == std::string_view::npos && !text.starts_with(kByteOrderMark)) {
    *out_ += text;
    return *this;
  }
  *out_ += '"';
  for (const char c : text) {
    if (c == '"') *out_ += '"';
    *out_ += c;
  }
  *out_ += '"';
  return *this;
}

void CsvWriter::end_row() {
  assert(cells_in_row_ > 0 && "a row has at least one cell");
  if (cells_in_row_ == 1 && last_was_empty_) *out_ += "\"\"";  // not to be taken for an empty line
  *out_ += '\n';
  cells_in_row_ = 0;
}

}  // namespace ridge
