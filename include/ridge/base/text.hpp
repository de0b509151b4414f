// Quantities as people write them.
//
//   parse_quantity<Bytes>("141 GB")             141e9 bytes;  "131.3 GiB" is almost the same amount
//   parse_quantity<BytesPerSecond>("400 Gb/s")  50e9 bytes per second: a small b is a bit
//   parse_quantity<GpuRent>("$2.30/GPU-hour")
//   parse_quantity<Bytes>("141")                refused: "a unit is missing: write for example '141 GB'"
//   format(BytesPerSecond(4.8e12))              "4.80 TB/s"
//
// A number never goes without its unit, and a unit of another dimension is refused with the column where it stands.
// All functions are pure, do not depend on the locale, and may be called from any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "ridge/base/quantity.hpp"
#include "ridge/base/result.hpp"

namespace ridge {

namespace detail {
// Exponents in the order of `Dimension`.
Result<double> parse_measure(std::string_view text, const int (&wanted)[9]);
std::string format_measure(double base_units, const int (&exponents)[9], int digits);
}  // namespace detail

/// Reads a number and its unit, with or without a space between them:
///
///   prefixes   k M G T P E Z Y (1000), Ki Mi Gi Ti Pi before B (1024), m u µ n p before s, W, J, Wh and m
///   data       B byte, b bit, bps           "141 GB", "1 TiB", "400 Gb/s", "400 Gbps"
///   time       s min h day week month year  "40 ms", "60 days"; a month is 730 h and a year 8,760 h
///   work       FLOP, OP; FLOPS and OPS are per second: "989.4 TFLOP/s", "1979 TOPS"
///   energy     J, Wh; power W; frequency Hz "10.2 kW", "3 kWh", "1830 MHz"
///   money      $ in front or USD behind     "$2M", "$1.2B", "$0.08/kWh", "$2.30/GPU-hour", "$0.24/1M tokens"
///   counts     tok token, GPU               "15T tokens", "4000 tok/s", "$0.24/Mtok"
///   others     g and kg, m                  "1500 kg/m2"
///
/// '/' is per, '-' and '*' join units, a power is written m2 or m^2. A minus sign may stand in front ("-$5").
/// Refuses (bad_input, `where` = "column N", counted in characters from 1): no unit, an unknown unit (naming the
/// nearest), another dimension (naming both), text after the unit, a comma in a number, NaN, infinity, negative zero,
/// or a figure beyond the range of a double.
template <class Q>
Result<Q> parse_quantity(std::string_view text) {
  const auto value = detail::parse_measure(text, Q::dimension::exponents);
  if (!value) return value.error();
  return Q(*value);
}

/// The quantity with `digits` (1 to 17) significant digits and the prefix a person would choose: "3.35 TB/s",
/// "$2.30/GPU-hour", "18.2 days". Whole bytes, tokens and GPUs below the first prefix go without decimals: "8 GPU".
/// parse_quantity reads it back: at 17 digits, to within a few units in the last place.
template <class Dim>
std::string format(Quantity<Dim> q, int digits = 3) {
  return detail::format_measure(q.value(), Dim::exponents, digits);
}

/// A plain number with at least `digits` significant digits, thousands set apart: "12,304", "0.235", "2.50". The part
/// before the point is always complete, and whole numbers go without one; far from 1, "1.50e15" and "2.00e-7".
std::string format_number(double value, int digits = 3);

/// A count with a suffix: "15T", "8.03B", "4k", "1.5e13", "128Ki" → 15e12, 8.03e9, 4e3, 1.5e13, 131072. Refuses what is
/// not a number, is negative, or has another suffix ("4K" could be either).
Result<double> parse_count(std::string_view text);

/// A share between 0 and 1: "40%" or "0.4" → 0.4. Refuses what is not a number or is outside (a bare "40").
Result<double> parse_share(std::string_view text);

/// The candidates nearest to `word`, best first, at most `limit`, ready for "did you mean ...?": "'h200-sxm' or
/// 'h200-nvl'". Empty if none is near. Letter case, '_' for '-' and a missing ending count little.
std::string nearest(std::string_view word, const std::string_view* candidates, std::size_t count,
                    std::size_t limit = 3);

/// The text between single quotes, fit to be printed in a message: control characters and malformed UTF-8 become '?',
/// and what goes beyond `limit` characters becomes "...".
std::string quoted(std::string_view text, std::size_t limit = 60);

/// Part of an id: lower case letters, digits and '.', everything between them one '-'. "Lambda Labs" is "lambda-labs".
std::string slug(std::string_view text);

}  // namespace ridge
