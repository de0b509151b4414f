#include "evidence/validate/requirements.hpp"

#include <fmt/format.h>

#include "evidence/rows/case_row.hpp"

namespace ridge::evidence {
namespace {

Error malformed(std::string_view text, std::string_view why) {
  return {ErrorCode::bad_input, "⟦require⟧",
          fmt::format("'{}': {}; write for example \"output_tok_s@offline<=7.5/23\" (median and p90 in percent) or "
                      "\"step_time_s>=97\" (coverage)",
                      text, why)};
}

std::optional<double> percent(std::string_view text) {
  const auto value = parse_plain_number(text);
  if (!value || *value < 0) return std::nullopt;
  return *value / 100;
}

RequirementMet judge(const Requirement& r, const SummaryLine& line) {
  const ErrorSummary& e = line.errors;
  RequirementMet v;
  std::string figures;
  if (r.coverage) {
    v.met = e.coverage() >= *r.coverage;
    figures = fmt::format("{:.1f} % predicted (bar {:.4g})", 100 * e.coverage(), 100 * *r.coverage);
  } else {
    // NaN compares false: a category in which nothing was predicted misses.
    v.met = e.median <= *r.median && (!r.p90 || e.p90 <= *r.p90);
    figures = fmt::format("{:.1f} / {:.1f} % (bar {:.4g}{})", 100 * e.median, 100 * e.p90, 100 * *r.median,
                          r.p90 ? fmt::format(" / {:.4g}", 100 * *r.p90) : "");
  }
  v.text = fmt::format("{}: {}: {}", line.category.label(), figures, v.met ? "met" : "missed");
  return v;
}

}  // namespace

Result<Requirement> parse_requirement(std::string_view text) {
  const std::size_t at_most = text.find("<=");
  const std::size_t at_least = text.find(">=");
  const std::size_t sign = std::min(at_most, at_least);
  if (sign == std::string_view::npos) return malformed(text, "there is no <= or >=");
  Requirement r;
  r.text = text;
  std::string_view left = text.substr(0, sign);
  const std::string_view right = text.substr(sign + 2);
  if (const std::size_t at = left.find('@'); at != std::string_view::npos) {
    r.mode = left.substr(at + 1);
    left = left.substr(0, at);
  }
  const auto metric = parse_metric(left);
  if (!metric) return malformed(text, fmt::format("'{}' is no metric", left));
  r.metric = *metric;
  if (sign == at_least) {
    r.coverage = percent(right);
    if (!r.coverage) return malformed(text, fmt::format("'{}' is no percentage", right));
    return r;
  }
  const std::size_t slash = right.find('/');
  r.median = percent(right.substr(0, slash));
  if (!r.median) return malformed(text, fmt::format("'{}' is no percentage", right.substr(0, slash)));
  if (slash != std::string_view::npos) {
    r.p90 = percent(right.substr(slash + 1));
    if (!r.p90) return malformed(text, fmt::format("'{}' is no percentage", right.substr(slash + 1)));
  }
  return r;
}

std::vector<RequirementMet> check(const Requirement& requirement, std::span<const SummaryLine> lines) {
  std::vector<RequirementMet> verdicts;
  for (const SummaryLine& line : lines) {
    if (line.category.metric != requirement.metric) continue;
    if (!requirement.mode.empty() && line.category.mode != requirement.mode) continue;
    verdicts.push_back(judge(requirement, line));
  }
  if (verdicts.empty()) verdicts.push_back({false, requirement.text + ": there is no such case: missed"});
  return verdicts;
}

}  // namespace ridge::evidence
