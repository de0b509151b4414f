// Printing numbers and quantities the way a person would. Locale plays no part: everything goes through std::to_chars.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>

#include "base/units.hpp"
#include "ridge/base/text.hpp"

namespace ridge {

namespace detail {
namespace {

// Any double in fixed notation with 40 decimals fits.
constexpr std::size_t kBuffer = 400;

std::string fixed(double value, int decimals) {
  char buffer[kBuffer];
  const auto end = std::to_chars(buffer, buffer + kBuffer, value, std::chars_format::fixed, decimals).ptr;
  return {buffer, end};
}

/// A positive number rounded to significant digits: its decimal exponent and the rounded value.
struct Rounded {
  double value = 0;
  int exponent = 0;
  std::string scientific;  ///< "3.80e25"
};

Rounded round_to(double value, int digits) {
  char buffer[kBuffer];
  char* end = std::to_chars(buffer, buffer + kBuffer, value, std::chars_format::scientific, digits - 1).ptr;
  Rounded result;
  std::from_chars(buffer, end, result.value);
  char* e = std::find(buffer, end, 'e');
  std::from_chars(e[1] == '+' ? e + 2 : e + 1, end, result.exponent);
  result.scientific = std::string(buffer, e) + 'e' + std::to_string(result.exponent);
  return result;
}

std::string positional(const Rounded& rounded, int digits) {
  return fixed(rounded.value, std::max(0, digits - 1 - rounded.exponent));
}

bool is_whole(double value) {
  return value == std::floor(value);
}

std::string not_finite(double value) {
  if (std::isnan(value)) return "nan";
  return value > 0 ? "inf" : "-inf";
}

constexpr double kLargestExact = 1e15;

}  // namespace

std::string format_measure(double base_units, const int (&exponents)[kBaseUnits], int digits) {
  digits = std::clamp(digits, 1, 17);
  static constexpr Step kUnscaled[] = {{1, "", 1e6}};
  const std::string spelled = spell(exponents);
  const Kind* named = find_kind(exponents);
  const Kind kind = named ? *named : Kind{{}, "", "", "", "", spelled.c_str(), 1, kUnscaled};
  const bool money = *kind.lead != '\0';
  const auto ladder = kind.ladder;
  const Step* base = &*std::find_if(ladder.begin(), ladder.end(), [](const Step& s) { return s.scale == 1; });

  const auto with_unit = [&](const std::string& number, const Step& step) {
    const std::string unit = std::string(step.prefix) + kind.printed;
    return (base_units < 0 ? "-" : "") + std::string(kind.lead) + number + (money || unit.empty() ? "" : " ") + unit;
  };
  if (!std::isfinite(base_units)) return not_finite(base_units) + (money ? " USD" : " ") + base->prefix + kind.printed;
  if (base_units == 0) return with_unit("0", *base);

  const double size = std::abs(base_units) / kind.scale;
  const Step* step = ladder.data();
  const Step* last = step + ladder.size() - 1;
  Rounded rounded = round_to(size / step->scale, digits);
  while (rounded.value >= step->limit && step != last) {
    ++step;
    if (step == last || size / step->scale < step->limit * 2) rounded = round_to(size / step->scale, digits);
  }
  // Whole bytes, tokens and GPUs are counted, not measured: "8 GPU", never "8.00 GPU" or "16,400 GPU" for 16,384.
  if (kind.whole && step == base && is_whole(size) && size < kLargestExact) return with_unit(fixed(size, 0), *base);
  if (rounded.value >= step->limit || rounded.exponent < -4) {
    return with_unit(round_to(size, digits).scientific, *base);
  }
  return with_unit(positional(rounded, digits), *step);
}

}  // namespace detail

std::string format_number(double value, int digits) {
  digits = std::clamp(digits, 1, 17);
  if (!std::isfinite(value)) return detail::not_finite(value);
  if (value == 0) return "0";
  const std::string sign = value < 0 ? "-" : "";
  const double size = std::abs(value);
  const detail::Rounded rounded = detail::round_to(size, digits);
  if (rounded.value >= detail::kLargestExact || rounded.exponent < -4) return sign + rounded.scientific;

  const int decimals = detail::is_whole(size) ? 0 : std::max(0, digits - 1 - rounded.exponent);
  std::string text = detail::fixed(size, decimals);
  const std::size_t whole = std::min(text.find('.'), text.size());
  for (std::size_t i = whole; i > 3;) text.insert(i -= 3, 1, ',');
  return sign + text;
}

}  // namespace ridge
