// What can only be held against other statements, and what cannot be computed at all.
#include <fmt/format.h>

#include <algorithm>

#include "claims/kinds/all_kinds.hpp"
#include "ridge/base/text.hpp"

namespace ridge::claims {

namespace {

Result<Recomputed> recompute_statement(Inputs& inputs) {
  return cannot(fmt::format("nothing here computes {}; it is only held against what else is said of it",
                            quoted(inputs.text("about"))));
}

/// "4.8 TB/s | 5.3 TB/s": values that ought to be the same, each with its unit.
Result<Recomputed> recompute_agreement(Inputs& inputs) {
  const std::string all = inputs.text("values");
  std::vector<Measure> values;
  for (std::size_t from = 0; from <= all.size();) {
    const std::size_t bar = std::min(all.find(" | ", from), all.size());
    auto looked = look_up(inputs.context(), std::string_view(all).substr(from, bar - from));
    if (!looked) return looked.error();
    values.push_back(looked->measure);
    from = bar + 3;
  }
  if (values.size() < 2) return cannot("one value agrees with itself");
  const auto [low, high] = std::minmax_element(values.begin(), values.end(),
                                               [](const Measure& a, const Measure& b) { return a.value < b.value; });
  const bool comparable =
      std::all_of(values.begin(), values.end(), [&](const Measure& m) { return same_dimension(m, values.front()); });
  if (!comparable) return cannot("the values are not measured in the same unit");
  // Ranges that meet agree, and so do figures that differ in their last digit.
  const double gap = high->value - low->high;
  const bool agree =
      gap <= 0.012 * std::max(high->value, 0.0) || gap <= std::max(low->written, high->written) * 0.5000001;
  Recomputed result;
  result.formula = "largest / smallest";
  result.right = measure_of(low->value == 0 ? 0 : high->value / low->value, Measure::Form::factor);
  result.compare = Compare::holds;
  result.holds = agree;
  result.because = agree ? "" : fmt::format("from {} to {}", low->text, high->text);
  result.otherwise = Verdict::contradiction;
  return result;
}

Result<Recomputed> recompute_nothing(Inputs& inputs) {
  return cannot(inputs.text("reason"));
}

}  // namespace

const Kind& statement_kind() {
  static const Kind kind{"statement", "a figure that is only held against the same document's others",
                         "none",      "about",
                         true,        recompute_statement,
                         nullptr};
  return kind;
}
const Kind& agreement_kind() {
  static const Kind kind{"agreement",
                         "values that ought to be the same, from several places",
                         "largest / smallest",
                         "values",
                         false,
                         recompute_agreement,
                         nullptr};
  return kind;
}
const Kind& not_computable_kind() {
  static const Kind kind{"not-computable",
                         "a claim without a quantity that could be recomputed, and why",
                         "none",
                         "reason",
                         false,
                         recompute_nothing,
                         nullptr};
  return kind;
}

}  // namespace ridge::claims
