#include "claims/text/written_number.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>

#include "base/units.hpp"
#include "ridge/base/letters.hpp"
#include "ridge/base/text.hpp"

namespace ridge::claims {

namespace {

// Beyond this no number in a text means anything, and the limit keeps from_chars short.
constexpr std::size_t kLongestNumber = 40;

struct Number {
  double value = 0;
  double written = 1;      // one unit of its last digit
  double significant = 1;  // the same without zeros at the end
};

struct UnitPart {
  double factor = 1;
  std::array<std::int8_t, 9> exponents{};
};

struct Spelling {
  std::string_view written;
  std::string_view unit;
};

// What prose writes for units that parse_quantity spells otherwise.
constexpr Spelling kSpellings[] = {
    {"petaflops", "PFLOPS"},
    {"teraflops", "TFLOPS"},
    {"exaflops", "EFLOPS"},
    {"gigaflops", "GFLOPS"},
    {"PetaFLOPS", "PFLOPS"},
    {"petaFLOPS", "PFLOPS"},
    {"exaFLOPS", "EFLOPS"},
    {"ExaFLOPS", "EFLOPS"},
    {"teraFLOPS", "TFLOPS"},
    {"TeraFLOPS", "TFLOPS"},
    {"EFLOPs", "EFLOPS"},
    {"EF", "EFLOPS"},
    {"TFLOPs", "TFLOPS"},
    {"PFLOPs", "PFLOPS"},
    {"TFlops", "TFLOPS"},
    {"TF", "TFLOPS"},
    {"PF", "PFLOPS"},
    {"POPS", "POPS"},
    {"joules", "J"},
    {"Joules", "J"},
    {"joule", "J"},
    {"Joule", "J"},
    {"watts", "W"},
    {"Watts", "W"},
    {"watt", "W"},
    {"kilowatts", "kW"},
    {"KW", "kW"},
    {"megawatts", "MW"},
    {"kwh", "kWh"},
    {"KWh", "kWh"},
    {"gb", "GB"},
    {"KB", "kB"},
    {"GBps", "GB/s"},
    {"hrs", "h"},
    {"Hours", "h"},
    {"secs", "s"},
    {"cards", "GPU"},
    {"card", "GPU"},
    {"chips", "GPU"},
    {"chip", "GPU"},
    {"gpu", "GPU"},
    {"gpus", "GPU"},
    {"accelerators", "GPU"},
    {"accelerator", "GPU"},
    {"Tokens", "tokens"},
    {"toks", "tok"},
    {"Days", "days"},
    {"Months", "months"},
    {"petaflop", "PFLOPS"},
    {"teraflop", "TFLOPS"},
    {"exaflop", "EFLOPS"},
    {"FLOPs", "FLOP"},
};

std::optional<UnitPart> unit_of(std::string_view word) {
  const auto* spelling =
      std::find_if(std::begin(kSpellings), std::end(kSpellings), [&](const Spelling& s) { return s.written == word; });
  if (spelling != std::end(kSpellings)) word = spelling->unit;
  if (word == "GB/s") return UnitPart{1e9, {1, -1}};
  if (word.size() == 1 && word != "W" && word != "J" && word != "s" && word != "h") return std::nullopt;
  if (word == "m" || word == "mm" || word == "nm" || word == "um" || word == "min" || word == "mg") return std::nullopt;
  const auto unit = detail::find_unit(word);
  if (!unit) return std::nullopt;
  UnitPart part{unit->multiply / unit->divide * std::pow(10.0, unit->power), {}};
  for (std::size_t i = 0; i < 9; ++i) part.exponents[i] = static_cast<std::int8_t>(unit->exponents[i]);
  return part;
}

struct Magnitude {
  std::string_view word;
  double factor;
};
constexpr Magnitude kMagnitudes[] = {{"thousand", 1e3},  {"million", 1e6}, {"billion", 1e9},
                                     {"trillion", 1e12}, {"Million", 1e6}, {"Billion", 1e9}};

double letter_magnitude(char c) {
  switch (c) {
    case 'k':
    case 'K':
      return 1e3;
    case 'M':
      return 1e6;
    case 'B':
      return 1e9;
    case 'T':
      return 1e12;
    default:
      return 0;
  }
}

class Scanner {
 public:
  Scanner(std::string_view text, std::size_t at, bool grouped) : text_(text), at_(at), grouped_(grouped) {}

  std::optional<Scanned> run() {
    const std::size_t start = at_;
    take_signs();
    const bool money = take_money();
    auto first = take_number();
    if (!first) return std::nullopt;
    Measure m = with_unit(*first, money);
    take_range(m, money);
    if (peek() == '+' && !is_digit(peek(1)) && !is_letter(peek(1))) {
      ++at_;
      m.bound = Measure::Bound::at_least;
      if (!m.has_unit() && m.form == Measure::Form::plain) m = again(m, *first, money);
    }
    if (bound_ != Measure::Bound::exact) m.bound = bound_;
    if (!std::isfinite(m.value) || !std::isfinite(m.high)) return std::nullopt;
    m.text = std::string(text_.substr(start, at_ - start));
    return Scanned{std::move(m), at_};
  }

 private:
  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  [[nodiscard]] std::size_t past_spaces(std::size_t from) const {
    while (from < text_.size() && (text_[from] == ' ' || text_[from] == '\n')) ++from;
    return from;
  }
  [[nodiscard]] std::string_view word_at(std::size_t from) const {
    std::size_t end = from;
    while (end < text_.size() && is_letter(text_[end])) ++end;
    return text_.substr(from, end - from);
  }

  void take_signs() {
    for (;; at_ = past_spaces(at_ + 1)) {
      const char c = peek();
      if (c == '~') {
        bound_ = Measure::Bound::about;
      } else if (c == '<' || c == '>') {
        bound_ = c == '<' ? Measure::Bound::at_most : Measure::Bound::at_least;
        if (peek(1) == '=') ++at_;
      } else {
        return;
      }
    }
  }

  bool take_money() {
    if (text_.substr(at_).starts_with("US$")) at_ += 2;
    if (peek() != '$') return false;
    at_ = past_spaces(at_ + 1);
    return true;
  }

  // Digits in groups of three: "12,288", "4 500".
  std::optional<Number> take_number() {
    const std::size_t start = at_;
    std::string digits;
    while (is_digit(peek()) && digits.size() < kLongestNumber) digits += text_[at_++];
    const std::size_t leading = digits.size();
    const auto group = [&](char separator) {
      return peek() == separator && is_digit(peek(1)) && is_digit(peek(2)) && is_digit(peek(3)) && !is_digit(peek(4));
    };
    if (leading >= 1 && leading <= 3 && digits[0] != '0') {
      const char separator = group(',') ? ',' : grouped_ && group(' ') ? ' ' : '\0';
      while (separator != '\0' && group(separator) && digits.size() < kLongestNumber) {
        digits += text_.substr(at_ + 1, 3);
        at_ += 4;
      }
    }
    std::size_t decimals = 0;
    if (peek() == '.' && is_digit(peek(1))) {
      digits += text_[at_++];
      while (is_digit(peek()) && digits.size() < kLongestNumber) {
        digits += text_[at_++];
        ++decimals;
      }
    }
    if (digits.empty() || is_digit(peek())) {
      at_ = start;
      return std::nullopt;
    }
    if (leading == 0 && digits[0] == '.') digits.insert(0, "0");
    if ((peek() == 'e' || peek() == 'E') &&
        (is_digit(peek(1)) || ((peek(1) == '+' || peek(1) == '-') && is_digit(peek(2))))) {
      std::size_t end = at_ + 2;
      while (end < text_.size() && is_digit(text_[end]) && end - at_ < 6) ++end;
      if (end >= text_.size() || !is_letter(text_[end])) {
        std::string_view power = text_.substr(at_, end - at_);
        digits += power;
        at_ = end;
      }
    }
    Number number;
    if (std::from_chars(digits.data(), digits.data() + digits.size(), number.value).ec != std::errc()) {
      at_ = start;
      return std::nullopt;
    }
    const double power = number.value == 0 ? 1 : std::pow(10.0, -static_cast<double>(decimals));
    number.written = power;
    const std::size_t e = digits.find_first_of("eE");
    if (e != std::string::npos) {
      int exponent = 0;
      const std::size_t from = digits[e + 1] == '+' ? e + 2 : e + 1;
      std::from_chars(digits.data() + from, digits.data() + digits.size(), exponent);
      number.written *= std::pow(10.0, exponent);
    }
    number.significant = number.written;
    if (decimals == 0 && e == std::string::npos) {
      for (std::size_t i = digits.size(); i > 1 && digits[i - 1] == '0'; --i) number.significant *= 10;
    }
    return number;
  }

  static void scale(Measure& m, double factor) {
    m.value *= factor;
    m.high *= factor;
    m.written *= factor;
    m.significant *= factor;
  }

  // What follows the digits: a magnitude, a percent sign, a factor, a unit with what it is per.
  Measure with_unit(const Number& number, bool money) {
    Measure m;
    m.value = m.high = number.value;
    m.written = number.written;
    m.significant = number.significant;
    if (money) m.exponents[4] = 1;
    take_magnitude(m, money);
    if (take_percent(m) || (!money && take_factor(m))) return m;
    if (!money) take_unit_word(m);
    if (m.has_unit()) {
      while (take_per(m)) {
      }
    }
    return m;
  }

  // "600+ TFLOPS": the unit stands behind the sign.
  Measure again(const Measure& without, const Number& number, bool money) {
    Measure m = with_unit(number, money);
    m.bound = without.bound;
    return m;
  }

  void take_magnitude(Measure& m, bool money) {
    const char letter = peek();
    const std::size_t from = money ? past_spaces(at_) : at_;
    const char c = from < text_.size() ? text_[from] : '\0';
    const char next = from + 1 < text_.size() ? text_[from + 1] : '\0';
    if (letter_magnitude(c) != 0 && !is_letter(next) && !is_digit(next) && (from == at_ || next != '.')) {
      scale(m, letter_magnitude(c));
      m.suffix = c;
      at_ = from + 1;
      return;
    }
    std::size_t word_start = at_;
    if (letter == '-') ++word_start;
    word_start = past_spaces(word_start);
    const std::string_view word = word_at(word_start);
    for (const Magnitude& magnitude : kMagnitudes) {
      if (word != magnitude.word) continue;
      scale(m, magnitude.factor);
      m.suffix = 'B';
      at_ = word_start + word.size();
      return;
    }
  }

  bool take_percent(Measure& m) {
    const std::size_t from = past_spaces(at_);
    const bool sign = from < text_.size() && text_[from] == '%';
    if (!sign && word_at(from) != "percent") return false;
    at_ = sign ? from + 1 : from + 7;
    scale(m, 0.01);
    m.form = Measure::Form::percent;
    return true;
  }

  bool take_factor(Measure& m) {
    if ((peek() == 'x' || peek() == 'X') && !is_letter(peek(1)) && !is_digit(peek(1))) {
      ++at_;
      m.form = Measure::Form::factor;
      return true;
    }
    std::size_t from = peek() == '-' ? at_ + 1 : past_spaces(at_);
    const std::string_view word = word_at(from);
    if (word != "times" && word != "fold") return false;
    at_ = from + word.size();
    m.form = Measure::Form::factor;
    return true;
  }

  void apply(Measure& m, const UnitPart& part, bool below) {
    scale(m, below ? 1 / part.factor : part.factor);
    for (std::size_t i = 0; i < 9; ++i) {
      const int sum = m.exponents[i] + (below ? -part.exponents[i] : part.exponents[i]);
      m.exponents[i] = static_cast<std::int8_t>(std::clamp(sum, -9, 9));
    }
  }

  bool take_unit_word(Measure& m) {
    const std::size_t from = past_spaces(at_);
    const std::string_view word = word_at(from);
    if (word.empty()) return false;
    if (word == "cents" || word == "cent") {
      at_ = from + word.size();
      scale(m, 0.01);
      m.exponents[4] = 1;
      return true;
    }
    const auto part = unit_of(word);
    if (!part) return false;
    const std::size_t end = from + word.size();
    if (end < text_.size() && is_digit(text_[end])) return false;  // "8 h200" is no duration
    // "GPU-hours" are one unit.
    if (part->exponents[6] == 1 && end < text_.size() && (text_[end] == '-' || text_[end] == ' ')) {
      const std::string_view second = word_at(end + 1);
      if (second == "hours" || second == "hour" || second == "h") {
        apply(m, *part, false);
        apply(m, UnitPart{3600, {0, 1}}, false);
        at_ = end + 1 + second.size();
        return true;
      }
    }
    apply(m, *part, false);
    at_ = end;
    return true;
  }

  // "/s", "per million tokens", "/GPU-hour".
  bool take_per(Measure& m) {
    std::size_t from = past_spaces(at_);
    if (from < text_.size() && text_[from] == '/') {
      from = past_spaces(from + 1);
    } else if (word_at(from) == "per") {
      from = past_spaces(from + 3);
    } else {
      return take_each_time(m, from);
    }
    double count = 1;
    if (text_.substr(from).starts_with("1M")) {
      count = 1e6;
      from = past_spaces(from + 2);
    } else if (const std::string_view word = word_at(from); word == "M" || word == "million") {
      count = 1e6;
      from = past_spaces(from + word.size());
    } else if (text_.substr(from).starts_with("1 million")) {
      count = 1e6;
      from = past_spaces(from + 9);
    }
    const std::string_view word = word_at(from);
    const auto part = unit_of(word);
    if (!part) return false;
    at_ = from + word.size();
    apply(m, *part, true);
    scale(m, 1 / count);
    if (peek() == '-' && part->exponents[6] == 1) {
      const std::string_view second = word_at(at_ + 1);
      if (const auto time = unit_of(second); time && time->exponents[1] == 1) {
        at_ += 1 + second.size();
        apply(m, *time, true);
      }
    }
    return true;
  }

  // "$3 an hour", "100 GB every second", "60 tokens a day": not "$2M a year ago".
  bool take_each_time(Measure& m, std::size_t from) {
    const std::string_view article = word_at(from);
    if (article != "a" && article != "an" && article != "every" && article != "each") return false;
    if (m.exponents[1] != 0) return false;  // "700 W a year" and "30 days a month" are no rates
    from = past_spaces(from + article.size());
    const std::string_view word = word_at(from);
    const auto part = word.size() < 2 ? std::nullopt : unit_of(word);
    if (!part || part->exponents != std::array<std::int8_t, 9>{0, 1}) return false;
    const std::string_view next = word_at(past_spaces(from + word.size()));
    if (next == "ago" || next == "later" || next == "earlier" || next == "before" || next == "after") return false;
    at_ = from + word.size();
    apply(m, *part, true);
    return true;
  }

  void take_range(Measure& m, bool money) {
    if (peek() != '-' || !(is_digit(peek(1)) || peek(1) == '$')) return;
    const std::size_t before = at_;
    ++at_;
    const bool second_money = take_money();
    const auto second = take_number();
    if (!second) {
      at_ = before;
      return;
    }
    Measure high = with_unit(*second, money || second_money);
    // "27,000-40,000 W" states its unit once; "70%-87.5%" twice.
    if (!m.has_unit() && m.form == Measure::Form::plain && (high.has_unit() || high.form != Measure::Form::plain)) {
      const double factor = second->value == 0 ? 1 : high.value / second->value;
      scale(m, factor);
      m.exponents = high.exponents;
      m.form = high.form;
    } else if (money && m.exponents != high.exponents && m.exponents[4] == 1) {
      const double factor = second->value == 0 ? 1 : high.value / second->value;
      scale(m, factor);
      m.exponents = high.exponents;
    }
    const bool fits = m.exponents == high.exponents && m.form == high.form && high.value > m.value;
    if (!fits || (m.form == Measure::Form::plain && !m.has_unit() && m.suffix == 0 && high.suffix == 0 &&
                  m.value >= 1900 && m.value <= 2100)) {
      at_ = before;
      return;
    }
    m.high = high.value;
    m.significant = std::max(m.significant, high.significant);
  }

  std::string_view text_;
  std::size_t at_;
  bool grouped_;
  Measure::Bound bound_ = Measure::Bound::exact;
};

}  // namespace

std::optional<Scanned> scan_measure(std::string_view text, std::size_t at, bool grouped) {
  return Scanner(text, at, grouped).run();
}

Result<Measure> parse_claimed(std::string_view text) {
  const auto refuse = [&](std::string_view why) {
    return Error{ErrorCode::bad_input, "", quoted(text) + " " + std::string(why)};
  };
  std::size_t at = 0;
  while (at < text.size() && text[at] == ' ') ++at;
  const bool minus = at < text.size() && text[at] == '-';
  if (minus || (at < text.size() && text[at] == '+')) ++at;
  auto found = scan_measure(text, at);
  if (!found) return refuse("is no figure: write for example '141 GB', '+43%', '2.5x' or '$0.42/1M tokens'");
  std::size_t end = found->end;
  while (end < text.size() && text[end] == ' ') ++end;
  if (end != text.size()) return refuse("has a unit that is not understood: " + quoted(text.substr(end)));
  if (minus) found->measure = negated(std::move(found->measure));
  found->measure.text = std::string(text);
  return std::move(found->measure);
}

bool same_dimension(const Measure& a, const Measure& b) {
  for (std::size_t i = 0; i < 9; ++i) {
    if (i != 6 && a.exponents[i] != b.exponents[i]) return false;
  }
  return true;
}

std::string shown(const Measure& m) {
  // Two prices that have no name of their own among the units: per compute rate, and per memory and hour.
  if (m.exponents == std::array<std::int8_t, 9>{0, 1, -1, 0, 1})
    return "$" + format_number(m.value * 1e15, 4) + "/PFLOPS";
  if (m.exponents == std::array<std::int8_t, 9>{-1, -1, 0, 0, 1})
    return fmt::format("${:.4f}/GB/hour", m.value * 3.6e12);
  if (m.form == Measure::Form::percent) return fmt::format("{} %", format_number(m.value * 100, 3));
  if (m.form == Measure::Form::factor) return format_number(m.value, 3) + "x";
  if (!m.has_unit()) return format_number(m.value, 4);
  int exponents[9];
  std::copy(m.exponents.begin(), m.exponents.end(), exponents);
  return detail::format_measure(m.value, exponents, std::abs(m.value) < 1 && exponents[4] == 1 ? 4 : 3);
}

std::string faithful(const Measure& m) {
  if (!m.has_unit() || m.form != Measure::Form::plain) return m.text.empty() ? shown(m) : m.text;
  int exponents[9];
  std::copy(m.exponents.begin(), m.exponents.end(), exponents);
  std::string text;
  for (int digits = 3; digits <= 12; ++digits) {
    text = detail::format_measure(m.value, exponents, digits);
    const auto read = scan_measure(text, 0);
    if (read && std::abs(read->measure.value - m.value) <= 1e-9 * std::abs(m.value)) break;
  }
  return text;
}

Measure measure_of(double value, Measure::Form form) {
  Measure m;
  m.value = m.high = value;
  m.form = form;
  m.text = shown(m);
  return m;
}

Measure negated(Measure m) {
  const double low = m.value;
  m.value = -m.high;
  m.high = -low;
  return m;
}

Measure scaled(Measure m, double factor) {
  m.value *= factor;
  m.high *= factor;
  m.text = shown(m);
  return m;
}

}  // namespace ridge::claims
