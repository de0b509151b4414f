// Predictions beside measured steps, with factors that were chosen without the publisher of each.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "base/normal.hpp"
#include "evidence/cases/rl_cases.hpp"
#include "evidence/rows/errors.hpp"

namespace ridge::evidence {

namespace {

constexpr double kMeasuredSpread = 0.25;  ///< of the logarithm: what the factors are weighed against their priors with
constexpr double kOutlier = 1.5;          ///< spreads beyond which a row pulls no harder

struct Answered {
  std::size_t case_index = 0;
  std::shared_ptr<const RlParts> parts;
};

double measured_of(const RlMeasured& m, RlMetric metric) {
  const double all[] = {m.step_s, m.generation_s, m.log_probs_s, m.reference_s, m.training_s};
  return all[static_cast<std::size_t>(metric)];
}

Interval predicted_of(const RlEstimate& e, RlMetric metric) {
  constexpr RlPhase kOf[] = {RlPhase::other, RlPhase::generation, RlPhase::log_probs, RlPhase::reference,
                             RlPhase::training};
  return metric == RlMetric::step ? e.step_s : e.phase(kOf[static_cast<std::size_t>(metric)]);
}

/// The factors as a fit moves them: logarithms against their priors.
struct FittedFactor {
  double rl::RlFactors::*member;
  const char* parameter;
};
constexpr FittedFactor kFitted[] = {{&rl::RlFactors::generation, "rl.generation"},
                                    {&rl::RlFactors::training, "rl.training"},
                                    {&rl::RlFactors::refit, "rl.refit"},
                                    {&rl::RlFactors::overhead, "rl.overhead"},
                                    {&rl::RlFactors::handing, "rl.handing"}};

const Parameter& parameter_of(const Calibration& c, std::string_view parameter) {
  return *std::find_if(c.parameters().begin(), c.parameters().end(),
                       [&](const Parameter& p) { return p.name == parameter; });
}

double huber(double z) {
  const double a = std::abs(z);
  return a <= kOutlier ? 0.5 * z * z : kOutlier * (a - 0.5 * kOutlier);
}

class FactorFit {
 public:
  FactorFit(const std::vector<RlCase>& cases, const std::vector<Answered>& answered, const Calibration& calibration)
      : cases_(cases), answered_(answered), calibration_(calibration) {}

  /// By rows of all publishers but one; every publisher weighs the same.
  rl::RlFactors without(std::string_view source) const {
    std::map<std::string, int> rows;
    for (const Answered& a : answered_) ++rows[cases_[a.case_index].source];
    rl::RlFactors f;
    for (const FittedFactor& k : kFitted) f.*k.member = parameter_of(calibration_, k.parameter).prior;
    double best = loss(f, source, rows);
    for (double step = 0.4; step > 0.005; step *= 0.5) {
      for (int round = 0; round < 8; ++round) {
        bool moved = false;
        for (const FittedFactor& k : kFitted) {
          const Parameter& p = parameter_of(calibration_, k.parameter);
          for (const double by : {std::exp(step), std::exp(-step)}) {
            rl::RlFactors tried = f;
            tried.*k.member = std::clamp(f.*k.member * by, p.low, p.high);
            const double l = loss(tried, source, rows);
            if (l < best - 1e-9) {
              best = l;
              f = tried;
              moved = true;
            }
          }
        }
        if (!moved) break;
      }
    }
    f.spread = parameter_of(calibration_, "rl.spread").value;
    return f;
  }

 private:
  [[nodiscard]] double loss(const rl::RlFactors& f, std::string_view without,
                            const std::map<std::string, int>& rows) const {
    double sum = 0;
    for (const FittedFactor& k : kFitted) {
      const Parameter& p = parameter_of(calibration_, k.parameter);
      const double z = std::log(f.*k.member / p.prior) / p.spread;
      sum += 0.5 * z * z;
    }
    for (const Answered& a : answered_) {
      const RlCase& c = cases_[a.case_index];
      if (c.source == without) continue;
      const RlEstimate e = rl::compose(*a.parts, f);
      // A publisher of many rows knows one stack: its rows count as their square root.
      const double weight = 1 / std::sqrt(static_cast<double>(rows.at(c.source)));
      for (std::size_t i = 0; i < kRlMetrics; ++i) {
        const auto metric = static_cast<RlMetric>(i);
        const double measured = measured_of(c.measured, metric);
        const double predicted = predicted_of(e, metric).mid;
        if (measured > 0 && predicted > 0) sum += weight * huber(std::log(measured / predicted) / kMeasuredSpread);
      }
    }
    return sum;
  }

  const std::vector<RlCase>& cases_;
  const std::vector<Answered>& answered_;
  const Calibration& calibration_;
};

FoldLine rl_line_of(std::string what, const std::vector<RlRow>& rows, const std::function<bool(const RlRow&)>& keep) {
  std::vector<Comparison> left_out, own;
  for (const RlRow& r : rows) {
    if (!keep(r)) continue;
    left_out.push_back({r.measured, r.left_out.mid, r.left_out.low, r.left_out.high});
    own.push_back({r.measured, r.predicted.mid, r.predicted.low, r.predicted.high});
  }
  return fold_line(std::move(what), left_out, own);
}

/// Of two rows that differ in their placement: whether the faster one is predicted to be.
void judge_order(const std::vector<RlCase>& cases, RlFindings& f) {
  std::vector<const RlRow*> steps;
  for (const RlRow& r : f.rows) {
    if (r.metric == RlMetric::step) steps.push_back(&r);
  }
  for (const RlRow* shared : steps) {
    const RlCase& a = cases[shared->case_index];
    if (a.query.placement != RlPlacement::colocated) continue;
    for (const RlRow* apart : steps) {
      const RlCase& b = cases[apart->case_index];
      const bool alike = a.setting == b.setting && a.query.training.precision == b.query.training.precision;
      if (!alike || b.query.placement == RlPlacement::colocated) continue;
      ++f.order_pairs;
      const bool faster = apart->measured < shared->measured;
      f.order_right += faster == (apart->left_out.mid < shared->left_out.mid) ? 1 : 0;
    }
  }
}

}  // namespace

RlFindings judge_rl(const std::vector<RlCase>& cases, const Knowledge& knowledge) {
  RlFindings f;
  std::vector<Answered> answered;
  std::set<std::string> sources;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const RlCase& c = cases[i];
    if (!c.refusal.empty()) {
      f.refused.push_back(c.refusal);
      continue;
    }
    const Result<RlAnswer> a = answer(c.query, knowledge, {.suggest = false});
    if (!a || a->refusal) {
      f.refused.push_back(fmt::format("{}: {}", c.id, a ? a->refusal->why : a.error().message));
      continue;
    }
    answered.push_back({i, a->parts});
    sources.insert(c.source);
  }
  const FactorFit fit(cases, answered, knowledge.calibration);
  const rl::RlFactors own = rl::factors_of(knowledge.calibration);
  f.chosen = fit.without({});
  std::map<std::string, rl::RlFactors> left_out;
  for (const std::string& source : sources) left_out[source] = fit.without(source);
  for (const Answered& a : answered) {
    const RlCase& c = cases[a.case_index];
    const RlEstimate with = rl::compose(*a.parts, own);
    const RlEstimate without = rl::compose(*a.parts, left_out.at(c.source));
    for (std::size_t i = 0; i < kRlMetrics; ++i) {
      const auto metric = static_cast<RlMetric>(i);
      const double measured = measured_of(c.measured, metric);
      if (measured <= 0 || predicted_of(with, metric).mid <= 0) continue;
      f.rows.push_back({a.case_index, metric, measured, predicted_of(with, metric), predicted_of(without, metric)});
    }
  }
  f.lines.push_back(rl_line_of("step", f.rows, [](const RlRow& r) { return r.metric == RlMetric::step; }));
  f.lines.push_back(rl_line_of("phases", f.rows, [](const RlRow& r) { return r.metric != RlMetric::step; }));
  for (std::size_t i = 1; i < kRlMetrics; ++i) {
    const auto metric = static_cast<RlMetric>(i);
    f.lines.push_back(
        rl_line_of(std::string(name(metric)), f.rows, [&](const RlRow& r) { return r.metric == metric; }));
  }
  for (const std::string& source : sources) {
    f.lines.push_back(rl_line_of("step, " + source, f.rows, [&](const RlRow& r) {
      return r.metric == RlMetric::step && cases[r.case_index].source == source;
    }));
  }
  // The spread that makes 80 % of the step times stay within.
  std::vector<double> off;
  for (const RlRow& r : f.rows) {
    if (r.metric == RlMetric::step) off.push_back(std::abs(std::log(r.measured / r.left_out.mid)));
  }
  if (!off.empty()) f.chosen.spread = quantile(std::move(off), 0.8) / kNormal90;
  judge_order(cases, f);
  return f;
}

}  // namespace ridge::evidence
