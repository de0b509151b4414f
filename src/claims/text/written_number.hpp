// Numbers as people write them in prose: "~4 500", "$27,000-40,000", "20 PFLOPS/W", "54.2 cents per million tokens".
//
//   const auto found = scan_measure("1.6 TB/s of", 0);     // found->measure.value == 1.6e12, found->end == 8
//   Result<Measure> m = parse_claimed("+43%");
//
// Looser than parse_quantity: digits may be grouped, units may be spelled out, a range is one measure. Pure functions.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "ridge/base/quantity.hpp"
#include "ridge/claims/claims.hpp"

namespace ridge::claims {

struct Scanned {
  Measure measure;
  std::size_t end = 0;  ///< the first byte after it
};

/// The measure that starts at `at` (a digit, a sign such as '~' or '<', or '$'), or nothing. `grouped`: digits may be
/// parted by spaces, as in "4 500"; not where spaces part columns.
[[nodiscard]] std::optional<Scanned> scan_measure(std::string_view text, std::size_t at, bool grouped = true);

/// A whole text as a measure; a sign may stand in front. Refuses (bad_input) anything left over.
Result<Measure> parse_claimed(std::string_view text);

/// True if both have the same unit; per GPU or not does not matter here.
[[nodiscard]] bool same_dimension(const Measure& a, const Measure& b);

template <class Q>
[[nodiscard]] bool is_a(const Measure& m) {
  for (int i = 0; i < 9; ++i) {
    if (i != 6 && m.exponents[static_cast<std::size_t>(i)] != Q::dimension::exponents[i]) return false;
  }
  return m.has_unit();
}

/// "$0.235/1M tokens", "58.8 %", "2.27x": fills `text` of a measure whose other fields are set.
[[nodiscard]] std::string shown(const Measure& measure);

/// As `shown`, with as many digits as it takes to read the same value back.
[[nodiscard]] std::string faithful(const Measure& measure);

template <class Dim>
[[nodiscard]] Measure measure_of(Quantity<Dim> q) {
  Measure m;
  m.value = m.high = q.value();
  for (std::size_t i = 0; i < 9; ++i) m.exponents[i] = static_cast<std::int8_t>(Dim::exponents[i]);
  m.text = shown(m);
  return m;
}
[[nodiscard]] Measure measure_of(double value, Measure::Form form = Measure::Form::plain);

/// The same measure below zero.
[[nodiscard]] Measure negated(Measure m);

/// The same measure times a plain number.
[[nodiscard]] Measure scaled(Measure m, double factor);

}  // namespace ridge::claims
