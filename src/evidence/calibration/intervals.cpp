#include "evidence/calibration/intervals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace ridge::evidence {
namespace {

constexpr double kTail = 0.1;  // 80 % are left between the two
constexpr double kShortestTail = 0.03;
constexpr int kFewest = 12;  // residuals that make a quantile
constexpr std::string_view kNewDevice = "new-device";

std::string class_of(const CrossValidation& cv, const Case& c, const Catalogue& catalogue) {
  if (c.kind == CaseKind::kernel) return "kernel";
  if (cv.by == FoldBy::devices) return std::string(kNewDevice);
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

using CaseSet = std::vector<bool>;  // by position; empty = none

// The interval includes the prediction itself even where all of the evidence is on one side. A handful of devices says
// how far a new one may be off, not in which direction: there both sides are alike.
Width width_of(const std::vector<const Residual*>& pile, double tail, const CaseSet& without = {}) {
  std::vector<double> logs;
  for (const Residual* r : pile) {
    if (without.empty() || !without[r->case_index]) logs.push_back(r->log_ratio);
  }
  if (logs.empty()) return {};
  const int rows = static_cast<int>(logs.size());
  if (pile.front()->resembles == kNewDevice) {
    for (double& log : logs) log = std::fabs(log);
    const double either = std::exp(quantile(std::move(logs), 1 - 2 * tail));
    return {1 / either, either, rows};
  }
  const double low = std::exp(quantile(logs, tail));
  const double high = std::exp(quantile(std::move(logs), 1 - tail));
  return {std::min(low, 1.0), std::max(high, 1.0), rows};
}

double tail_of(const Tails& tails, std::string_view resembles) {
  const auto at = tails.find(resembles);
  return at == tails.end() ? kTail : at->second;
}

// Residuals of one key and class, and the cases of each fold among them.
struct Folded {
  std::vector<const Residual*> all;
  std::map<std::string, CaseSet> folds;
};

// Share of the residuals that are inside of bounds made without their fold.
double held(const std::vector<Folded>& piles, double tail) {
  int inside = 0;
  int counted = 0;
  for (const Folded& pile : piles) {
    std::map<std::string, Width> widths;
    for (const auto& [fold, cases] : pile.folds) widths[fold] = width_of(pile.all, tail, cases);
    for (const Residual* r : pile.all) {
      const Width& w = widths[r->fold];
      if (w.rows == 0) continue;
      ++counted;
      const double ratio = std::exp(r->log_ratio);
      inside += w.low <= ratio && ratio <= w.high ? 1 : 0;
    }
  }
  return counted == 0 ? 1 : static_cast<double>(inside) / counted;
}

double digits(double value) {
  return std::round(value * 1e4) / 1e4;
}

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
    out.push_back({std::move(key), class_of(cv, c, catalogue), fold_name(cv, i), row.case_index, log_ratio});
  }
  return out;
}

Tails fair_tails(std::span<const Residual> pool) {
  std::size_t cases = 0;
  for (const Residual& r : pool) cases = std::max(cases, r.case_index + 1);
  std::map<std::string, std::map<std::string, Folded>> classes;  // class, key
  for (const Residual& r : pool) {
    Folded& pile = classes[r.resembles][r.key];
    pile.all.push_back(&r);
    CaseSet& fold = pile.folds[r.fold];
    fold.resize(cases);
    fold[r.case_index] = true;
  }
  Tails tails;
  for (const auto& [resembles, keys] : classes) {
    std::vector<Folded> piles;
    for (const auto& [key, pile] : keys) piles.push_back(pile);
    double best = kTail;
    double miss = std::abs(held(piles, best) - 0.8);
    for (double tail = kTail - 0.005; tail > kShortestTail - 1e-9; tail -= 0.005) {
      const double distance = std::abs(held(piles, tail) - 0.8);
      if (distance >= miss) continue;
      miss = distance;
      best = tail;
    }
    tails[resembles] = best;
  }
  return tails;
}

std::vector<IntervalClass> interval_classes(std::span<const Residual> pool, const Tails& tails, int least) {
  std::vector<IntervalClass> out;
  for (const auto& [key, pile] : sorted_out(pool)) {
    const Width width = width_of(pile, tail_of(tails, key.second));
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

void apply_intervals(CrossValidation& cv, std::span<const Residual> pool, const Tails& tails,
                     std::span<const Case> cases, const Catalogue& catalogue) {
  const Piles piles = sorted_out(pool);
  std::vector<CaseSet> in_fold(cv.folds.size(), CaseSet(cases.size(), false));
  for (std::size_t i = 0; i < cv.rows.size(); ++i) in_fold[cv.fold_of[i]][cv.rows[i].case_index] = true;
  std::map<std::pair<std::string, std::size_t>, Width> known;  // of (key/class, fold)
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
    const auto [at, is_new] = known.try_emplace({key + "/" + resembles, cv.fold_of[i]});
    Width& width = at->second;
    if (is_new) {
      const double tail = tail_of(tails, resembles);
      width = width_of(pile->second, tail, in_fold[cv.fold_of[i]]);
      // Nothing but this fold has such figures: what is known of the metric under other loads has to do.
      if (width.rows < kFewest) {
        const auto other = piles.find({key.substr(0, key.find('/')), resembles});
        if (other != piles.end()) width = width_of(other->second, tail, in_fold[cv.fold_of[i]]);
      }
    }
    if (width.rows == 0) continue;
    const bool inverse = row.metric == Metric::e2e_ms || (c.mode == "prefill" && row.metric == Metric::total_tok_s);
    const double low = inverse ? 1 / width.high : width.low;
    const double high = inverse ? 1 / width.low : width.high;
    row.predicted = {row.predicted.mid * low, row.predicted.mid, row.predicted.mid * high};
  }
}

}  // namespace ridge::evidence
