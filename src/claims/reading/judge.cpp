#include "claims/reading/judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "ridge/base/text.hpp"

namespace ridge {

std::string_view name(Verdict verdict) {
  constexpr std::array<std::string_view, kVerdicts> kNames = {"right",  "rounded",       "wrong",       "unit",
                                                              "sparse", "contradiction", "cannot check"};
  return kNames[static_cast<std::size_t>(verdict)];
}

bool is_error(Verdict verdict) {
  return verdict == Verdict::wrong || verdict == Verdict::unit || verdict == Verdict::sparse ||
         verdict == Verdict::contradiction;
}

bool Audit::any_error() const {
  return std::any_of(findings.begin(), findings.end(), [](const Finding& f) { return is_error(f.verdict); });
}

std::array<int, kVerdicts> Audit::count() const {
  std::array<int, kVerdicts> counts{};
  for (const Finding& f : findings) ++counts[static_cast<std::size_t>(f.verdict)];
  return counts;
}

namespace claims {

namespace {

constexpr double kRight = 0.015;
constexpr double kRightByDigit = 0.05;
constexpr double kRounded = 0.12;
constexpr double kAbout = 0.05;  // "roughly" and "~" allow for more than their digits do

/// The end of the claimed range that is nearest to `value`; inside, the value itself.
double nearest_end(const Measure& claimed, double value) {
  return std::clamp(value, claimed.value, claimed.high);
}

}  // namespace

Verdict compare(const Measure& claimed, const Measure& right) {
  const double value = right.value;
  if (claimed.bound == Measure::Bound::at_least && value >= claimed.value) return Verdict::right;
  if (claimed.bound == Measure::Bound::at_most && value <= claimed.high) return Verdict::right;
  const double end = nearest_end(claimed, value);
  const double difference = std::abs(end - value);
  const double relative = value == 0 ? (difference == 0 ? 0 : HUGE_VAL) : difference / std::abs(value);
  if (relative <= kRight) return Verdict::right;
  // A hair of slack: 0.625 printed as 0.63 differs by exactly half a digit.
  if (!claimed.is_range() && difference <= claimed.written * 0.5000001 && relative <= kRightByDigit)
    return Verdict::right;
  if (difference <= claimed.significant * 1.0000001 && relative <= kRounded) return Verdict::rounded;
  if (claimed.bound == Measure::Bound::about && relative <= kAbout) return Verdict::rounded;
  return Verdict::wrong;
}

bool resembles(const Measure& claimed, const Measure& value, double tolerance) {
  if (value.value == 0 || !same_dimension(claimed, value)) return false;
  const double end = nearest_end(claimed, value.value);
  return std::abs(end - value.value) <= tolerance * std::abs(value.value);
}

Finding judge(const Claim& claim, const Context& context) {
  Finding finding;
  finding.claim = claim;
  const Kind* kind = find_kind(claim.kind);
  if (kind == nullptr) {
    finding.because = "there is no kind of claim " + quoted(claim.kind);
    return finding;
  }
  Inputs inputs(claim, context);
  auto recomputed = kind->recompute(inputs);
  finding.inputs = std::move(inputs).taken();
  if (!recomputed) {
    finding.because = recomputed.error().message;
    return finding;
  }
  if (recomputed->right && !std::isfinite(recomputed->right->value)) {
    finding.because = "the figures are beyond what a number can hold";
    return finding;
  }
  finding.right = recomputed->right;
  finding.formula = recomputed->formula;
  finding.because = recomputed->because;
  for (Finding::Input& input : recomputed->inputs) finding.inputs.push_back(std::move(input));
  if (recomputed->compare == Compare::holds) {
    finding.verdict = recomputed->holds ? Verdict::right : Verdict::wrong;
  } else if (!recomputed->right) {
    finding.verdict = Verdict::cannot_check;
    return finding;
  } else if (!same_dimension(claim.claimed, *recomputed->right)) {
    finding.verdict = Verdict::unit;
    finding.because = fmt::format("{} is not measured in that unit", recomputed->right->text);
    return finding;
  } else if (recomputed->compare == Compare::at_most) {
    const bool possible = claim.claimed.value <= recomputed->right->value * (1 + kRight);
    finding.verdict = possible ? Verdict::right : Verdict::wrong;
  } else {
    finding.verdict = compare(claim.claimed, *recomputed->right);
  }
  if (finding.verdict == Verdict::wrong && recomputed->compare == Compare::equal && recomputed->slack > 0 &&
      resembles(claim.claimed, *recomputed->right, recomputed->slack)) {
    finding.verdict = Verdict::rounded;
  }
  if (finding.verdict == Verdict::rounded) {
    for (const Reading& reading : recomputed->readings) {
      // Another reading that fits much better than rounding does: a sibling's figure, or 40 GiB written as 40 GB.
      const bool sibling =
          reading.verdict == Verdict::right && resembles(claim.claimed, reading.value, reading.tolerance);
      const bool unit = reading.verdict == Verdict::unit && claim.claimed.bound != Measure::Bound::about &&
                        resembles(claim.claimed, reading.value, 0.004);
      if (!sibling && !unit) continue;
      finding.verdict = reading.verdict;
      finding.because = reading.because;
      break;
    }
  }
  if (finding.verdict != Verdict::wrong) return finding;
  if (claim.claimed.high < 0 && claim.claimed.form == Measure::Form::plain && finding.right &&
      finding.right->value > 0) {
    finding.because = "it cannot be below zero";
    return finding;
  }
  finding.verdict = recomputed->otherwise;
  for (const Reading& reading : recomputed->readings) {
    if (!resembles(claim.claimed, reading.value, reading.tolerance)) continue;
    finding.verdict = reading.verdict;
    finding.because = reading.because;
    break;
  }
  return finding;
}

namespace {

/// Claims with the same key speak of the same thing.
std::string subject(const Claim& claim) {
  constexpr std::array kComparable = {std::string_view("specification"), std::string_view("kv-cache"),
                                      std::string_view("weights"), std::string_view("statement"),
                                      std::string_view("training-time")};
  if (std::find(kComparable.begin(), kComparable.end(), claim.kind) == kComparable.end()) return "";
  std::string key = claim.document + "\n" + claim.kind;
  for (const auto& [name, input] : claim.inputs) key += "\n" + name + "=" + input.text;
  return key;
}

bool disagree(const Measure& a, const Measure& b) {
  if (!same_dimension(a, b)) return true;
  if (a.high >= b.value * (1 - kRight) && b.high >= a.value * (1 - kRight)) return false;  // ranges meet
  const Measure& low = a.high < b.value ? a : b;
  const Measure& high = a.high < b.value ? b : a;
  const double gap = high.value - low.high;
  const double slack = std::max(low.written, high.written);
  // One digit says little: "0.2" and "0.25" may be the same, 1 and 2 are not.
  return gap > slack || gap > 0.4 * std::abs(high.value);
}

}  // namespace

namespace {

/// Of findings about the same thing, those that others may contradict, the first of each figure: who says the same
/// again contradicts nobody else.
std::vector<std::size_t> distinct_figures(const std::vector<Finding>& findings,
                                          const std::vector<std::size_t>& members) {
  // Who speaks of one thing more often than this has been contradicted before; it keeps long documents fast.
  constexpr std::size_t kMost = 500;
  std::set<std::tuple<double, double, double, std::array<std::int8_t, 9>>> seen;
  std::vector<std::size_t> distinct;
  for (const std::size_t i : members) {
    const bool explained = findings[i].verdict == Verdict::unit || findings[i].verdict == Verdict::sparse;
    const Measure& m = findings[i].claim.claimed;
    if (explained || !seen.emplace(m.value, m.high, m.written, m.exponents).second) continue;
    distinct.push_back(i);
    if (distinct.size() == kMost) break;
  }
  return distinct;
}

}  // namespace

void find_contradictions(std::vector<Finding>& findings) {
  std::map<std::string, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < findings.size(); ++i) {
    const std::string key = subject(findings[i].claim);
    if (!key.empty()) groups[key].push_back(i);
  }
  for (const auto& [key, members] : groups) {
    const std::vector<std::size_t> others = distinct_figures(findings, members);
    for (const std::size_t i : members) {
      Finding& finding = findings[i];
      const bool statement = finding.claim.kind == "statement";
      // A right figure stays right whatever else is said, and one that a unit or sparsity explains stays explained.
      if (finding.verdict != Verdict::wrong && !statement) continue;
      for (const std::size_t j : others) {
        const Finding& other = findings[j];
        if (i == j || !disagree(finding.claim.claimed, other.claim.claimed)) continue;
        finding.verdict = Verdict::contradiction;
        finding.because =
            fmt::format("{}{}: {}", finding.because.empty() ? "" : finding.because + "; ",
                        other.claim.line == 0 ? "it is also said to be" : fmt::format("line {} says", other.claim.line),
                        other.claim.claimed.text);
        break;
      }
    }
  }
}

}  // namespace claims
}  // namespace ridge
