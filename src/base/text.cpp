// Reading: quantities, counts and shares. Printing is in format.cpp, the vocabulary in units.cpp.
#include "ridge/base/text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <vector>

#include "base/units.hpp"
#include "ridge/base/letters.hpp"
#include "ridge/base/limits.hpp"

namespace ridge {

namespace detail {
namespace {

// A quantity is a handful of words; more is a mistake, and the limit keeps messages and exponents small.
constexpr std::size_t kLongestQuantity = 200;

/// Reads from the left and remembers where it stands.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  [[nodiscard]] bool at_end() const { return position_ == text_.size(); }
  [[nodiscard]] char peek() const { return at_end() ? '\0' : text_[position_]; }
  [[nodiscard]] std::size_t position() const { return position_; }
  [[nodiscard]] std::string_view rest() const { return text_.substr(position_); }
  [[nodiscard]] std::string_view since(std::size_t start) const { return text_.substr(start, position_ - start); }
  void go_to(std::size_t position) { position_ = position; }
  void skip(std::size_t bytes) { position_ += bytes; }
  void skip_spaces() {
    while (peek() == ' ' || peek() == '\t') ++position_;
  }
  bool take(std::string_view token) {
    if (!rest().starts_with(token)) return false;
    position_ += token.size();
    return true;
  }
  /// Letters, and the two characters that are written for micro.
  std::string_view take_word() {
    const std::size_t start = position_;
    while (is_letter(peek()) || rest().starts_with("\u00b5") || rest().starts_with("\u03bc")) {
      position_ += is_letter(peek()) ? 1 : 2;
    }
    return since(start);
  }
  [[nodiscard]] Error error(std::size_t position, std::string message) const {
    const auto column = 1 + std::count_if(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(position),
                                          [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
    return {ErrorCode::bad_input, "column " + std::to_string(column), std::move(message)};
  }

 private:
  std::string_view text_;
  std::size_t position_ = 0;
};

/// An unsigned decimal number at the cursor. `example` completes "write for example ...".
Result<double> take_number(Cursor& cursor, const std::string& example) {
  const std::size_t start = cursor.position();
  const std::string_view rest = cursor.rest();
  const bool starts = !rest.empty() && (is_digit(rest[0]) || (rest[0] == '.' && rest.size() > 1 && is_digit(rest[1])));
  if (!starts) {
    if (rest.empty()) return cursor.error(start, "a number is missing: write for example " + example);
    return cursor.error(start, quoted(rest) + " does not start with a number: write for example " + example);
  }
  double value = 0;
  const auto [end, code] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  cursor.skip(static_cast<std::size_t>(end - rest.data()));
  if (code != std::errc() || !std::isfinite(value)) {
    return cursor.error(start, quoted(cursor.since(start)) + " is beyond what a number can hold (1e-307 to 1e308)");
  }
  if (cursor.peek() == ',' || cursor.peek() == '_') {
    return cursor.error(cursor.position(), "numbers are written without separators and with a decimal point: '1250.5'");
  }
  return value;
}

/// A product of powers of units, with its size in base units.
struct Measure {
  int power = 0;
  double multiply = 1;
  double divide = 1;
  Exponents exponents = {};

  void apply(const Unit& unit, int times, bool below) {
    power += (below ? -times : times) * unit.power;
    for (int i = 0; i < times; ++i) {
      (below ? divide : multiply) *= unit.multiply;
      (below ? multiply : divide) *= unit.divide;
    }
    for (int i = 0; i < kBaseUnits; ++i) exponents[i] += (below ? -times : times) * unit.exponents[i];
  }
  [[nodiscard]] bool is(const Exponents& wanted) const {
    return std::equal(std::begin(exponents), std::end(exponents), std::begin(wanted));
  }
};

/// `number` (as take_number accepted it) times a power of ten, rounded once. Zero or infinity if out of range.
double shifted(std::string_view number, int power) {
  const std::size_t e = std::min(number.find_first_of("eE"), number.size());
  std::string_view own = number.substr(std::min(e + 1, number.size()));
  if (own.starts_with('+')) own.remove_prefix(1);
  int own_power = 0;
  std::from_chars(own.data(), own.data() + own.size(), own_power);
  own_power = std::clamp(own_power, -100'000, 100'000);  // only a zero can have more
  std::string text(number.substr(0, e));
  text += 'e' + std::to_string(own_power + power);
  double value = 0;
  const auto code = std::from_chars(text.data(), text.data() + text.size(), value).ec;
  return code == std::errc() ? value : own_power + power > 0 ? HUGE_VAL : 0;
}

std::string unknown_unit(std::string_view word, std::string_view text) {
  if (word.ends_with("FLOPs") || word.ends_with("OPs")) {
    const std::string stem(word.substr(0, word.size() - 1));
    return quoted(word) + " may mean an amount or a rate: write '" + stem + "' or '" + stem + "/s'";
  }
  if (word.empty()) return quoted(text) + " is no unit";
  if (word[0] == 'K' && find_unit("k" + std::string(word.substr(1)))) {
    const std::string stem(word.substr(1));
    const std::string binary = find_unit("Ki" + stem) ? " or 'Ki" + stem + "' for 1024" : "";
    return quoted(word) + " is no unit known here: write 'k" + stem + "' for 1000" + binary;
  }
  const std::vector<std::string>& spellings = unit_spellings();
  const std::vector<std::string_view> candidates(spellings.begin(), spellings.end());
  const std::string near = nearest(word, candidates.data(), candidates.size());
  return quoted(word) + " is no unit known here" + (near.empty() ? "" : ": did you mean " + near + "?");
}

int take_power(Cursor& cursor) {
  const bool caret = cursor.take("^");
  if (cursor.take("2") || cursor.take("\u00b2")) return 2;
  if (cursor.take("3") || cursor.take("\u00b3")) return 3;
  return caret ? 0 : 1;
}

/// "GB", "GPU-hour", "M tokens", "m^2": units joined by '-', '*' or a middle dot.
Status take_product(Cursor& cursor, bool below, Measure& measure) {
  do {
    cursor.skip_spaces();
    std::size_t start = cursor.position();
    std::string_view word = cursor.take("$") ? std::string_view("$") : cursor.take_word();
    if (word.size() == 1 && magnitude(word[0]) != 0 && cursor.peek() == ' ') {  // "15 T tokens"
      const std::size_t after = cursor.position();
      cursor.skip_spaces();
      const std::size_t next = cursor.position();
      if (const std::string_view counted = cursor.take_word(); is_counted(counted)) {
        measure.power += below ? -magnitude(word[0]) : magnitude(word[0]);
        word = counted;
        start = next;
      } else {
        cursor.go_to(after);
      }
    }
    const auto unit = find_unit(word);
    if (!unit) {
      cursor.go_to(start);
      if (cursor.at_end()) return cursor.error(start, "a unit is missing after the last sign");
      return cursor.error(start, unknown_unit(word, cursor.rest()));
    }
    const int power = take_power(cursor);
    if (power == 0) return cursor.error(cursor.position(), "a power is 2 or 3, as in 'm^2'");
    measure.apply(*unit, power, below);
  } while (cursor.take("-") || cursor.take("*") || cursor.take("\u00b7"));
  return {};
}

std::string example_of(const Exponents& wanted) {
  if (const Kind* kind = find_kind(wanted)) return "'" + kind->example() + "'";
  return "'1 " + spell(wanted) + "'";
}

std::string wrong_dimension(std::string_view unit, const Exponents& found, const Exponents& wanted) {
  const Kind* is = find_kind(found);
  const Kind* kind = find_kind(wanted);
  std::string message = quoted(unit) + " is " + (is ? is->name : "not what this figure is measured in") + "; ";
  message += kind ? std::string(kind->name) + " such as '" + kind->example() + "'" : "something in " + spell(wanted);
  return message + " belongs here";
}

std::string missing_unit(std::string_view number, const Exponents& wanted) {
  const Kind* kind = find_kind(wanted);
  // Of money the sign alone is missing: '$10000', not millions of them.
  const bool money = kind && kind->lead == std::string_view("$") && kind->unit == std::string_view("M");
  const std::string with_unit = money  ? "$" + std::string(number)
                                : kind ? kind->lead + std::string(number) + kind->unit
                                       : std::string(number) + " " + spell(wanted);
  return "a unit is missing: write for example '" + with_unit + "'";
}

}  // namespace

Result<double> parse_measure(std::string_view text, const int (&wanted)[kBaseUnits]) {
  Cursor cursor(text);
  if (text.size() > kLongestQuantity) {
    return cursor.error(0, "a quantity is short, this text is " + std::to_string(text.size()) +
                               " characters long: write for example " + example_of(wanted));
  }
  Measure measure;
  cursor.skip_spaces();
  const std::size_t start = cursor.position();
  bool negative = cursor.take("-");
  const bool money = cursor.take("$");
  if (money) {
    cursor.skip_spaces();
    negative = negative || cursor.take("-");
    measure.apply({0, 1, 1, {0, 0, 0, 0, 1}}, 1, false);
  }

  const std::size_t number_start = cursor.position();
  const auto number = take_number(cursor, example_of(wanted));
  if (!number) return number.error();
  const std::string_view number_text = cursor.since(number_start);
  if (negative && *number == 0) return cursor.error(start, "zero has no sign: write '0'");

  if (money) {  // "$2M", "$1.2 B": in money no unit goes before '/', so a single letter is a magnitude
    const std::size_t before = cursor.position();
    cursor.skip_spaces();
    const std::string_view letter = cursor.take_word();
    const int power = letter.size() == 1 ? magnitude(letter[0]) : 0;
    measure.power += power;
    if (power == 0) cursor.go_to(before);
  }

  cursor.skip_spaces();
  const std::size_t unit_start = money ? start : cursor.position();
  if (!cursor.at_end() && cursor.peek() != '/') {
    if (const auto status = take_product(cursor, false, measure); !status) return status.error();
  }
  for (cursor.skip_spaces(); cursor.take("/"); cursor.skip_spaces()) {
    cursor.skip_spaces();
    if (is_digit(cursor.peek())) {  // "/1M tokens"
      const std::size_t count_start = cursor.position();
      const auto count = take_number(cursor, example_of(wanted));
      if (!count) return count.error();
      if (*count == 0) return cursor.error(count_start, "nothing can be divided by zero");
      measure.divide *= *count;
    }
    if (const auto status = take_product(cursor, true, measure); !status) return status.error();
  }
  if (!cursor.at_end()) {
    return cursor.error(cursor.position(), quoted(cursor.rest()) + " after the unit is not understood: remove it");
  }
  if (!measure.is(wanted)) {
    const std::string_view unit = text.substr(unit_start);
    if (unit.empty()) return cursor.error(unit_start, missing_unit(number_text, wanted));
    return cursor.error(unit_start, wrong_dimension(unit, measure.exponents, wanted));
  }
  const double value = shifted(number_text, measure.power) * measure.multiply / measure.divide;
  if (!(value <= limits::kNumber.most)) {
    return cursor.error(number_start,
                        quoted(text) + " is beyond what a number can hold here: " + limits::beyond(limits::kNumber));
  }
  if (value == 0 && *number != 0) {
    return cursor.error(number_start, quoted(text) + " is beyond what a number can hold (1e-307 to 1e308)");
  }
  return negative ? -value : value;
}

}  // namespace detail

namespace {

struct NumberAndSuffix {
  double value = 0;
  std::string_view number;
  std::string_view suffix;
  std::string where_suffix;
};

/// A number that is not negative, and the word or sign that follows it.
Result<NumberAndSuffix> split_number(std::string_view text, const char* example) {
  detail::Cursor cursor(text);
  cursor.skip_spaces();
  const std::size_t start = cursor.position();
  if (cursor.peek() == '-') {
    return cursor.error(start, "this number cannot be negative: write for example " + std::string(example));
  }
  const auto value = detail::take_number(cursor, example);
  if (!value) return value.error();
  NumberAndSuffix result{*value, cursor.since(start), {}, {}};
  cursor.skip_spaces();
  result.suffix = cursor.rest();
  while (result.suffix.ends_with(' ') || result.suffix.ends_with('\t')) result.suffix.remove_suffix(1);
  result.where_suffix = cursor.error(cursor.position(), {}).where;
  return result;
}

Error too_large(std::string_view text) {
  return {ErrorCode::bad_input, "column 1",
          quoted(text) + " is beyond what a number can hold here: " + limits::beyond(limits::kNumber)};
}

}  // namespace

Result<double> parse_count(std::string_view text) {
  const auto split = split_number(text, "'64', '4k' or '15T'");
  if (!split) return split.error();
  const std::string_view suffix = split->suffix;
  double value = split->value;
  if (suffix == "Ki") {
    value *= 0x1p10;
  } else if (suffix == "Mi") {
    value *= 0x1p20;
  } else if (const int power = suffix.size() == 1 ? detail::magnitude(suffix[0]) : 0; power != 0) {
    value = detail::shifted(split->number, power);
  } else if (!suffix.empty()) {
    const std::string number(split->number);
    std::string fix = "write for example '" + number + "k', '" + number + "M', '" + number + "B' or '" + number + "T'";
    if (suffix == "K") fix = "write '" + number + "k' for thousands or '" + number + "Ki' for units of 1024";
    if (suffix.starts_with('/')) fix = "write the number alone: '" + number + "'";
    if (suffix == "G") fix = "write '" + number + "B' for billions";
    return Error{ErrorCode::bad_input, split->where_suffix, quoted(suffix) + " does not end a count: " + fix};
  }
  if (!(value <= limits::kNumber.most)) return too_large(text);
  return value;
}

Result<double> parse_share(std::string_view text) {
  const auto split = split_number(text, "'40%' or '0.4'");
  if (!split) return split.error();
  if (!split->suffix.empty() && split->suffix != "%") {
    return Error{ErrorCode::bad_input, split->where_suffix,
                 quoted(split->suffix) + " does not end a share: write for example '40%' or '0.4'"};
  }
  const double value = split->suffix.empty() ? split->value : detail::shifted(split->number, -2);
  if (value > 1) {
    const bool percent = split->suffix.empty() && value <= 100;
    return Error{
        ErrorCode::bad_input, "column 1",
        quoted(text) + " is more than the whole" + (percent ? ": write '" + std::string(split->number) + "%'" : "")};
  }
  return value;
}

}  // namespace ridge
