#include "evidence/intervals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace ridge::evidence {
namespace {

constexpr double kLowest = 0.1;
constexpr double kHighest = 0.9;

std::string class_of(const CrossValidation& cv, const Case& c, const Catalogue& catalogue) {
  if (cv.by == FoldBy::devices) return "new-device";
  const std::string kind = model_class(c, catalogue);
  return kind.empty() ? "dense" : kind;
}

std::string fold_name(const CrossValidation& cv, std::size_t row) {
  return fmt::format("{} {}", name(cv.by), cv.folds[cv.fold_of[row]].name);
}

using Piles = std::map<std::pair<std::string, std::string>, std::vector<const Residual*>>;

// Each residual counts for its own key and, for loads nobody measured, for the metric as a whole.
Piles sorted_out(std::span<const Residual> residuals) {
  Piles piles;
  for (const Residual& r : residuals) {
    piles[{r.key, r.resembles}].push_back(&r);
    if (const auto slash = r.key.find('/'); slash != std::string::npos) {
      piles[{r.key.substr(0, slash), r.resembles}].push_back(&r);
    }
  }
  return piles;
}

struct Width {
  double low = 1;
  double high = 1;
  int rows = 0;
};

// The interval includes the prediction itself even where all of the evidence is on one side.
Width width_of(const std::vector<const Residual*>& pile, const std::string& without_fold = {}) {
  std::vector<double> logs;
  for (const Residual* r : pile) {
    if (without_fold.empty() || r->fold != without_fold) logs.push_back(r->log_ratio);
  }
  if (logs.empty()) return {};
  const int rows = static_cast<int>(logs.size());
  const double low = std::exp(quantile(logs, kLowest));
  const double high = std::exp(quantile(std::move(logs), kHighest));
  return {std::min(low, 1.0), std::max(high, 1.0), rows};
}

double digits(double value) { return std::round(value * 1e4) / 1e4; }

}  // namespace

std::string interval_key(const Case& c, Metric metric) {
  switch (c.kind) {
    case CaseKind::training:
      return "step_time_s";
    case CaseKind::kernel:
      return "seconds/" + category(c, metric).mode;
    case CaseKind::diffusion:
      return metric == Metric::images_per_s ? std::string() : std::string(name(metric)) + "/diffusion";
    case CaseKind::power:
      return {};
    case CaseKind::inference:
      break;
  }
  if (c.mode == "prefill") return metric == Metric::ttft_ms ? "prefill_ms/prefill" : std::string();
  if (metric == Metric::total_tok_s || metric == Metric::e2e_ms) return {};
  return fmt::format("{}/{}", name(metric), c.mode);
}

std::vector<Residual> residuals(const CrossValidation& cv, std::span<const Case> cases, const Catalogue& catalogue) {
  std::vector<Residual> out;
  for (std::size_t i = 0; i < cv.rows.size(); ++i) {
    const ResultRow& row = cv.rows[i];
    const Case& c = cases[row.case_index];
    std::string key = interval_key(c, row.metric);
    const double log_ratio = std::log(row.measured / row.predicted.mid);
    if (key.empty() || !std::isfinite(log_ratio)) continue;
    out.push_back({std::move(key), class_of(cv, c, catalogue), fold_name(cv, i), log_ratio});
  }
  return out;
}

std::vector<IntervalClass> interval_classes(std::span<const Residual> residuals, int least) {
  std::vector<IntervalClass> out;
  for (const auto& [key, pile] : sorted_out(residuals)) {
    const Width width = width_of(pile);
    if (width.rows < least) continue;
    std::vector<double> errors;
    for (const Residual* r : pile) errors.push_back(std::abs(std::exp(-r->log_ratio) - 1));
    IntervalClass c;
    c.metric = key.first;
    c.resembles = key.second;
    c.low = digits(width.low);
    c.high = digits(width.high);
    c.rows = width.rows;
    c.median_error = digits(quantile(errors, 0.5));
    c.p90_error = digits(quantile(std::move(errors), 0.9));
    out.push_back(std::move(c));
  }
  return out;
}

void apply_intervals(CrossValidation& cv, std::span<const Residual> pool, std::span<const Case> cases,
                     const Catalogue& catalogue) {
  const Piles piles = sorted_out(pool);
  std::map<std::pair<std::string, std::string>, Width> known;  // of (key/class, fold)
  for (std::size_t i = 0; i < cv.rows.size(); ++i) {
    ResultRow& row = cv.rows[i];
    const Case& c = cases[row.case_index];
    if (!std::isfinite(row.predicted.mid)) continue;
    // Figures without a key of their own have the interval of throughput.
    std::string key = interval_key(c, row.metric);
    if (key.empty()) key = c.mode == "prefill" ? "prefill_ms/prefill" : "output_tok_s/" + c.mode;
    const std::string resembles = class_of(cv, c, catalogue);
    const auto pile = piles.find({key, resembles});
    if (pile == piles.end()) continue;
    const std::string fold = fold_name(cv, i);
    const auto [at, is_new] = known.try_emplace({key + "/" + resembles, fold});
    if (is_new) at->second = width_of(pile->second, fold);
    if (at->second.rows == 0) continue;  // nothing but this fold: no fair interval exists
    const bool inverse = row.metric == Metric::e2e_ms || (c.mode == "prefill" && row.metric == Metric::total_tok_s);
    const double low = inverse ? 1 / at->second.high : at->second.low;
    const double high = inverse ? 1 / at->second.low : at->second.high;
    row.predicted = {row.predicted.mid * low, row.predicted.mid, row.predicted.mid * high};
  }
}

}  // namespace ridge::evidence
