// Arithmetic that one sentence states: "16 GPUs for 10 days at $3/hr is $11,520".
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "claims/kinds/all_kinds.hpp"
#include "claims/kinds/finders.hpp"
#include "claims/known/figures.hpp"
#include "ridge/base/text.hpp"

namespace ridge::claims {

namespace {

constexpr std::array<std::string_view, 4> kNumerators = {"a", "b", "c", "d"};
constexpr std::array<std::string_view, 3> kDenominators = {"over", "over-b", "over-c"};

void multiply(Measure& product, const Measure& factor, int power) {
  product.value *= power > 0 ? factor.value : 1 / factor.value;
  for (std::size_t i = 0; i < 9; ++i) {
    product.exponents[i] = static_cast<std::int8_t>(product.exponents[i] + power * factor.exponents[i]);
  }
}

/// The peak of another format or with sparsity in the place of the one that was taken, for a share or part of a peak.
void add_other_peaks(Inputs& inputs, std::string_view name, bool below, Recomputed& result) {
  const std::string reference = inputs.text(name);
  const std::size_t colon = reference.find(':');
  if (colon == std::string::npos || !peak_format(reference.substr(colon + 1))) return;
  const std::string device = reference.substr(0, colon);
  const auto taken = look_up(inputs.context(), reference);
  if (!taken) return;
  const auto add = [&](const std::string& figure, Verdict verdict, std::string because) {
    const auto other = look_up(inputs.context(), device + ":" + figure);
    if (!other) return;
    const double ratio = other->measure.value / taken->measure.value;
    result.readings.push_back({scaled(*result.right, below ? 1 / ratio : ratio), verdict, std::move(because), 0.015});
  };
  const std::string figure = reference.substr(colon + 1);
  add(figure + "-sparse", Verdict::sparse, "that is against the peak with structured sparsity");
  if (inputs.text("assumed") == "format") add("fp8", Verdict::rounded, "that is against the FP8 peak");
}

/// `right` as people compare it with what is claimed: GPU-hours beside GPU-hours and $ a month beside $ a month, where
/// the claim names a span of time; else in the unit that its size suggests.
std::string shown_beside(const Measure& right, const Measure& claimed) {
  constexpr std::array<std::string_view, 7> kSpans = {"hour", "hr", "GPU-h", "day", "week", "month", "year"};
  const std::string_view text = claimed.text;
  const bool span = std::any_of(kSpans.begin(), kSpans.end(),
                                [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
  const std::size_t from = std::min(text.find_first_of("0123456789"), text.size());
  const std::size_t end = std::min(text.find_first_not_of("0123456789.,", from), text.size());
  std::string digits(text.substr(from, end - from));
  digits.erase(std::remove(digits.begin(), digits.end(), ','), digits.end());
  const auto number = scan_measure(digits, 0);
  // "4 500 hours" and "1e3 hours" have more of the number behind what was read of it.
  const std::size_t next = std::min(text.find_first_not_of(" eE", end), text.size());
  const bool goes_on = next < text.size() && text[next] >= '0' && text[next] <= '9';
  if (!span || !number || number->end != digits.size() || goes_on || claimed.is_range() || !(claimed.value > 0) ||
      !same_dimension(right, claimed)) {
    return shown(right);
  }
  const bool money = from > 0 && text[from - 1] == '$';
  return fmt::format("{}{}{}", money ? "$" : "", format_number(number->measure.value * right.value / claimed.value, 3),
                     text.substr(end));
}

Result<Recomputed> recompute_calculation(Inputs& inputs) {
  Measure right = measure_of(1.0);
  std::string above, under;
  for (const std::string_view name : kNumerators) {
    if (!inputs.has(name)) continue;
    const auto factor = inputs.measure(name);
    if (!factor) return factor.error();
    multiply(right, factor->measure, 1);
    above += (above.empty() ? "" : " x ") + factor->shown;
  }
  int divisors = 0;
  for (const std::string_view name : kDenominators) {
    if (!inputs.has(name)) continue;
    const auto divisor = inputs.measure(name);
    if (!divisor) return divisor.error();
    if (divisor->measure.value == 0) return cannot("nothing can be divided by zero");
    multiply(right, divisor->measure, -1);
    under += (under.empty() ? "" : " x ") + divisor->shown;
    ++divisors;
  }
  if (above.empty()) return cannot("nothing is multiplied: give at least 'a'");
  const Measure& claimed = inputs.claim().claimed;
  // Accelerators only count: eight cards of 80 GB are 640 GB; and what each token takes is said without the token.
  right.exponents[6] = 0;
  if (right.exponents[5] == -1 && claimed.exponents[5] == 0) right.exponents[5] = 0;
  if (right.exponents[5] == 0 && is_a<TokensPerSecond>(claimed) && is_a<Hertz>(right)) right.exponents[5] = 1;
  right.high = right.value;
  right.form = claimed.form;
  right.text = shown_beside(right, claimed);
  Recomputed result;
  result.right = right;
  result.formula = under.empty()   ? above
                   : divisors == 1 ? fmt::format("{} / {}", above, under)
                                   : fmt::format("{} / ({})", above, under);
  result.slack = inputs.slack();
  for (const double power : {1e3, 1e-3, 1e6, 1e-6, 1e9, 1e-9}) {
    result.readings.push_back({scaled(right, power), Verdict::unit,
                               fmt::format("the prefix of the unit is wrong: it is {}", right.text), 0.02});
  }
  if (right.exponents[0] != 0) {
    for (const double bits : {8.0, 0.125}) {
      result.readings.push_back({scaled(right, bits), Verdict::unit, "bits and bytes are mixed up", 0.02});
    }
  }
  for (const std::string_view name : kNumerators) add_other_peaks(inputs, name, false, result);
  for (const std::string_view name : kDenominators) add_other_peaks(inputs, name, true, result);
  return result;
}

}  // namespace

const Kind& calculation_kind() {
  static const Kind kind{
      "calculation",
      "a product or quotient of amounts with units",
      "a x b x c x d / (over x over-b x over-c)",
      "a b? c? d? over? over-b? over-c? assumed?",
      true,
      recompute_calculation,
      find_calculations,
  };
  return kind;
}

}  // namespace ridge::claims
