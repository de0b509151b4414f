// One record, many printers: tables and pages for people, CSV and JSON for programs, from the same cells.
//
//   Table table;
//   table.columns = {{.key = "device", .heading = "device"},
//                    {.key = "memory", .unit = "bytes", .heading = "memory", .kind = ColumnKind::number}};
//   table.rows = {{Cell("h200-sxm"), Cell(gigabytes(141))}, {Cell("next-chip"), Cell()}};
//   to_terminal(table, {.width = 100});   //  device     memory
//                                         //  h200-sxm   141 GB
//                                         //  next-chip       –
//   to_csv(table);                        // device,memory_bytes ↵ h200-sxm,141000000000 ↵ next-chip,
//   to_json(table).text();                // [{"device": "h200-sxm", "memory_bytes": 141000000000}, ...
//
// People get three significant digits with a unit they would choose; programs get base units, the unit in the key.
// Nothing here reads the locale, the terminal or the environment: width and colour are arguments. All functions are
// pure and may be called from any thread; they refuse nothing: text that is not UTF-8 is shown with U+FFFD in its
// place, and control characters as \x1b, so that a name in a file cannot steer the terminal.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "ridge/base/quantity.hpp"
#include "ridge/perf/perf.hpp"

namespace ridge {

/// A JSON document under construction: keys keep their order, numbers are the shortest text that reads back equal,
/// NaN and infinity (which JSON lacks) are null.
class Json {
 public:
  Json() = default;                                           ///< null
  Json(bool value) : value_(value) {}                         // NOLINT(google-explicit-constructor)
  Json(int value) : value_(static_cast<double>(value)) {}     // NOLINT(google-explicit-constructor)
  Json(double value) : value_(value) {}                       // NOLINT(google-explicit-constructor)
  Json(std::string value) : value_(std::move(value)) {}       // NOLINT(google-explicit-constructor)
  Json(std::string_view value) : Json(std::string(value)) {}  // NOLINT(google-explicit-constructor)
  Json(const char* value) : Json(std::string(value)) {}       // NOLINT(google-explicit-constructor)
  static Json object() { return Json(Object{}); }
  static Json array() { return Json(Array{}); }

  /// Adds a key at the end, or replaces the value of one that is there. Only on objects.
  Json& set(std::string_view key, Json value);
  /// The value of a key, made as null at the end if it is new. Only on objects.
  Json& at(std::string_view key);
  /// Adds an element. Only on arrays.
  Json& push(Json value);
  /// True for null and for objects and arrays without content.
  [[nodiscard]] bool empty() const;

  /// The document as text with a line end: what fits into 100 columns on one line, the rest indented by two.
  [[nodiscard]] std::string text() const;

 private:
  using Array = std::vector<Json>;
  using Object = std::vector<std::pair<std::string, Json>>;
  explicit Json(Array value) : value_(std::move(value)) {}
  explicit Json(Object value) : value_(std::move(value)) {}
  bool one_line(std::string& out, std::size_t limit) const;  // false, and less than all, once `out` is longer
  void print(std::string& out, std::size_t indent, std::size_t line_start) const;

  std::variant<std::monostate, bool, double, std::string, Array, Object> value_;
};

/// How a cell or paragraph stands out where colour is allowed.
enum class Emphasis : std::uint8_t { none, strong, faint, good, warning, bad };

/// What stands in one place of a table.
class Cell {
 public:
  enum class Kind : std::uint8_t { empty, text, boolean, number, interval };

  Cell() = default;                                                ///< unknown: "–", null
  Cell(std::string_view text) : text_(text), kind_(Kind::text) {}  // NOLINT(google-explicit-constructor)
  Cell(const std::string& text) : Cell(std::string_view(text)) {}  // NOLINT(google-explicit-constructor)
  Cell(const char* text) : Cell(std::string_view(text)) {}         // NOLINT(google-explicit-constructor)
  explicit Cell(bool value) : mid_(value ? 1 : 0), kind_(Kind::boolean) {}
  /// A plain number; NaN and infinity are unknown.
  explicit Cell(double value, int digits = 3) : Cell(value, value, value, digits, {}, Kind::number) {}
  explicit Cell(int value) : Cell(static_cast<double>(value), 3) {}
  template <class Dim>
  explicit Cell(Quantity<Dim> value, int digits = 3)
      : Cell(value.value(), value.value(), value.value(), digits, exponents_of<Dim>(), Kind::number) {}

  /// A prediction of a plain number: "0.310 (0.270–0.360)".
  static Cell interval(const Interval& i, int digits = 3) {
    return Cell(i.low, i.mid, i.high, digits, {}, Kind::interval);
  }
  /// A prediction in base units of Q: interval<Seconds>(estimate.ttft_s) → "31.0 ms (27.2–36.1)".
  template <class Q>
  static Cell interval(const Interval& i, int digits = 3) {
    return Cell(i.low, i.mid, i.high, digits, exponents_of<typename Q::dimension>(), Kind::interval);
  }

  /// The same cell; people read `text` instead, programs still get the number.
  [[nodiscard]] Cell shown_as(std::string_view text) const;
  [[nodiscard]] Cell with(Emphasis emphasis) const;

  [[nodiscard]] Kind kind() const { return kind_; }
  [[nodiscard]] bool empty() const { return kind_ == Kind::empty; }
  [[nodiscard]] Emphasis emphasis() const { return emphasis_; }
  /// In base units; 0 for text, 0 or 1 for a boolean.
  [[nodiscard]] double low() const { return low_; }
  [[nodiscard]] double mid() const { return mid_; }
  [[nodiscard]] double high() const { return high_; }
  /// Exponents in the order of `Dimension`; all zero for plain numbers.
  [[nodiscard]] const std::array<std::int8_t, 9>& exponents() const { return exponents_; }
  /// What people read, "–" if unknown.
  [[nodiscard]] std::string text() const;
  /// What programs read in CSV: text as it is, base units, true or false, nothing if unknown. `mid` of an interval.
  [[nodiscard]] std::string plain() const;
  [[nodiscard]] Json json() const;

 private:
  using Exponents = std::array<std::int8_t, 9>;
  Cell(double low, double mid, double high, int digits, Exponents exponents, Kind kind);
  template <class Dim>
  static constexpr Exponents exponents_of() {
    Exponents exponents{};
    for (std::size_t i = 0; i < exponents.size(); ++i) exponents[i] = static_cast<std::int8_t>(Dim::exponents[i]);
    return exponents;
  }
  [[nodiscard]] std::string formatted(double value) const;

  std::string text_;   // of a text cell
  std::string shown_;  // what people read instead, or empty
  double low_ = 0;
  double mid_ = 0;
  double high_ = 0;
  Exponents exponents_{};
  std::int8_t digits_ = 3;
  Kind kind_ = Kind::empty;
  Emphasis emphasis_ = Emphasis::none;
};

enum class ColumnKind : std::uint8_t { text, number, interval };

/// What a column does when the table is wider than the terminal. Numbers are never cut.
enum class Overflow : std::uint8_t { keep, truncate, wrap };

struct Column {
  std::string key = {};      ///< for programs: "memory_bandwidth"
  std::string unit = {};     ///< base unit, as the end of the key: "bytes_per_s"; empty for plain numbers and text
  std::string heading = {};  ///< for people: "bandwidth"
  ColumnKind kind = ColumnKind::text;  ///< text stands left, numbers right; an interval is three columns of CSV
  Overflow overflow = Overflow::keep;
  int spare = 0;  ///< where the terminal is too narrow the column with the highest goes first; 0: only from the end

  /// "memory_bandwidth_bytes_per_s": the name in CSV and JSON.
  [[nodiscard]] std::string name() const { return unit.empty() ? key : key + "_" + unit; }
};

struct Table {
  std::string title;  ///< printed above, or empty
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;  ///< a short row ends in unknown cells
  bool headings = true;                 ///< false for a list of names and values
};

struct Paragraph {
  std::string text;
  Emphasis emphasis = Emphasis::none;
};

/// A page: paragraphs and tables in the order in which they are read.
struct Document {
  std::string title;
  std::vector<std::variant<Paragraph, Table>> blocks;
};

struct TerminalStyle {
  int width = 0;  ///< columns; 0 = no terminal: nothing is cut, and text that wraps does so at 100
  bool colour = false;
};

/// Aligned, without boxes. Too wide: text columns that allow it are cut with "…" or wrapped; if that is not enough,
/// columns are left out, the most spare first, then the last, and named below the table. The first column always stays.
[[nodiscard]] std::string to_terminal(const Table& table, const TerminalStyle& style = {});
[[nodiscard]] std::string to_terminal(const Document& document, const TerminalStyle& style = {});
[[nodiscard]] std::string to_markdown(const Table& table);
[[nodiscard]] std::string to_markdown(const Document& document);
/// RFC 4180 with a header line; unknown is an empty field.
[[nodiscard]] std::string to_csv(const Table& table);
/// A list of objects, one per row.
[[nodiscard]] Json to_json(const Table& table);

/// A count with the suffix parse_count reads: 8.03e9 → "8.03B", 15e12 → "15T".
[[nodiscard]] std::string format_count(double value, int digits = 3);
/// The shortest text that reads back as the same number, independent of locale: 141e9 → "141000000000", 0.1 → "0.1".
[[nodiscard]] std::string exact_number(double value);

/// Columns a terminal needs: 2 for East Asian wide characters and emoji, 0 for combining marks.
[[nodiscard]] int display_width(std::string_view utf8);
/// Whole words in lines of at most `width` columns; a longer word is broken.
[[nodiscard]] std::vector<std::string> wrap_text(std::string_view utf8, int width);

}  // namespace ridge
