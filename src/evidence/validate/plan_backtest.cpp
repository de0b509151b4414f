#include "evidence/validate/plan_backtest.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "evidence/validate/folds.hpp"
#include "ridge/search/confidence.hpp"

namespace ridge::evidence {
namespace {

using Held = std::array<bool, kTestedConfidences.size()>;

/// Plans of one line, by publisher.
struct Tally {
  std::map<std::string, std::vector<Held>> plans;

  [[nodiscard]] PlanTest line(std::string what) const {
    PlanTest test;
    test.what = std::move(what);
    test.publishers = static_cast<int>(plans.size());
    for (const auto& [publisher, all] : plans) {
      test.plans += static_cast<int>(all.size());
      for (std::size_t i = 0; i < kTestedConfidences.size(); ++i) {
        const auto held =
            static_cast<double>(std::count_if(all.begin(), all.end(), [&](const Held& one) { return one[i]; }));
        test.held[i] += held;
        test.held_evenly[i] += held / static_cast<double>(all.size());
      }
    }
    for (double& share : test.held) share /= std::max(1, test.plans);
    for (double& share : test.held_evenly) share /= std::max(1, test.publishers);
    return test;
  }
};

/// How many times the predicted time the measured one is, and the error that was stated for it.
struct Outcome {
  double slowness;
  LogError error;

  [[nodiscard]] Held held() const {
    Held out{};
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = slowness <= error.factor(kTestedConfidences[i]);
    return out;
  }
};

bool is_rate(Metric metric) {
  return metric == Metric::output_tok_s;
}

}  // namespace

std::vector<PlanTest> test_plans(std::span<const ResultRow> rows, std::span<const Case> cases) {
  Tally rates, paces, firsts, together, steps;
  std::map<std::string, Tally> modes;
  struct Both {
    Outcome rate;
    double pace = 0;
  };
  std::map<std::size_t, Both> both;  // cases with a rate and a pace
  for (const ResultRow& row : rows) {
    const Interval& p = row.predicted;
    if (!(row.measured > 0) || !(p.low > 0) || !std::isfinite(p.high)) continue;
    const Case& c = cases[row.case_index];
    const Outcome outcome{is_rate(row.metric) ? p.mid / row.measured : row.measured / p.mid,
                          time_error(is_rate(row.metric) ? inverse(p) : p, {})};
    const std::string who = publisher(c.source);
    if (c.kind == CaseKind::training) {
      if (row.metric == Metric::step_time_s) steps.plans[who].push_back(outcome.held());
      continue;
    }
    if (c.kind != CaseKind::inference) continue;
    if (is_rate(row.metric)) {
      rates.plans[who].push_back(outcome.held());
      modes[c.mode].plans[who].push_back(outcome.held());
      both[row.case_index].rate = outcome;
    } else if (row.metric == Metric::tpot_ms) {
      paces.plans[who].push_back(outcome.held());
      both[row.case_index].pace = outcome.slowness;
    } else if (row.metric == Metric::ttft_ms) {
      firsts.plans[who].push_back(outcome.held());
    }
  }
  for (const auto& [at, pair] : both) {
    if (!(pair.rate.slowness > 0) || !(pair.pace > 0)) continue;
    together.plans[publisher(cases[at].source)].push_back(
        Outcome{std::max(pair.rate.slowness, pair.pace), pair.rate.error}.held());
  }
  std::vector<PlanTest> out;
  const auto add = [&](const std::string& what, const Tally& tally) {
    if (!tally.plans.empty()) out.push_back(tally.line(what));
  };
  add("serving: rate", rates);
  for (const auto& [mode, tally] : modes) add("rate, " + mode, tally);
  add("serving: time per token", paces);
  add("rate and time per token together", together);
  add("serving: time to first token", firsts);
  add("training: time of a step", steps);
  return out;
}

}  // namespace ridge::evidence
