// Quantities as people write them.
//
//   parse_quantity<Bytes>("141 GB")             141e9 bytes;  "131.3 GiB" is almost the same amount
//   parse_quantity<BytesPerSecond>("400 Gb/s")  50e9 bytes per second: a small b is a bit
//   parse_quantity<GpuRent>("$2.30/GPU-hour")
//   parse_quantity<Bytes>("141")                refused: "a unit is missing: write for example '141 GB'"
//   format(BytesPerSecond(4.8e12))              "4.80 TB/s"
//
// A number never goes without its unit, and a unit of another dimension is refused with the column where it stands.
// All functions are pure and may be called from any thread.
#pragma once

#include <string>
#include <string_view>

#include "ridge/quantity.hpp"
#include "ridge/result.hpp"

namespace ridge {

namespace detail {
/// Exponents in the order of `Dimension`.
struct Measure {
  double base_units = 0;
  int exponents[9] = {};
};
Result<double> parse_measure(std::string_view text, const int (&wanted)[9]);
std::string format_measure(double base_units, const int (&exponents)[9], int digits);
}  // namespace detail

/// Reads a number and its unit: decimal prefixes (k M G T P E), binary ones before B (Ki Mi Gi Ti), B for byte and b for
/// bit, FLOP/s and OP/s, W, J, Wh, Hz, s ms us ns min h day, $ (in front or as USD), tok, GPU, kg, m; '/' for per.
/// Refuses (bad_input, `where` = "column N"): no unit, an unknown unit, another dimension, text after the unit, NaN or
/// infinity.
template <class Q>
Result<Q> parse_quantity(std::string_view text) {
  const auto value = detail::parse_measure(text, Q::dimension::exponents);
  if (!value) return value.error();
  return Q(*value);
}

/// The quantity with `digits` significant digits and the prefix a person would choose: "3.35 TB/s", "$2.30/GPU-hour".
template <class Dim>
std::string format(Quantity<Dim> q, int digits = 3) {
  return detail::format_measure(q.value(), Dim::exponents, digits);
}

/// A plain number with `digits` significant digits and thousands set apart: "12,304", "0.235".
std::string format_number(double value, int digits = 3);

/// A count with a suffix: "15T", "8.03B", "4k", "1.5e13" → 15e12, 8.03e9, 4e3, 1.5e13. Refuses what is not a number.
Result<double> parse_count(std::string_view text);

/// A share: "40%" or "0.4" → 0.4. Refuses what is not a number.
Result<double> parse_share(std::string_view text);

/// The candidates nearest to `word` by edit distance, best first, at most `limit`: for "did you mean".
std::string nearest(std::string_view word, const std::string_view* candidates, std::size_t count, std::size_t limit = 3);

}  // namespace ridge
