// From a claim and what was recomputed to a verdict. The only place that compares.
#pragma once

#include <vector>

#include "claims/known/kind.hpp"

namespace ridge::claims {

/// How near `claimed` is to `right`: Verdict::right, rounded, or wrong.
///   right    |difference| <= 1.5 % of the right value, or half a unit of the last digit written and at most 5 %
///   rounded  |difference| <= one unit of the last significant digit and at most 12 %
/// A range holds what it spans; "over 30 %" holds everything above.
[[nodiscard]] Verdict compare(const Measure& claimed, const Measure& right);

/// Whether `claimed` may stand for `value`, within `tolerance`.
[[nodiscard]] bool resembles(const Measure& claimed, const Measure& value, double tolerance);

[[nodiscard]] Finding judge(const Claim& claim, const Context& context);

/// Sets `contradiction` where claims of one document speak of the same thing and differ.
void find_contradictions(std::vector<Finding>& findings);

}  // namespace ridge::claims
