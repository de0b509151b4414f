#include "evidence/calibration/overlay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "evidence/fit/calibrate.hpp"
#include "evidence/predict/predict.hpp"
#include "evidence/validate/folds.hpp"

namespace ridge::evidence {
namespace {

std::vector<Comparison> headline(std::span<const Case> cases, const Calibration& calibration,
                                 const Catalogue& catalogue, const Engines& engines, bool simulated = false) {
  const Knowledge knowledge{catalogue, engines, calibration};
  std::vector<Comparison> out;
  for (const ResultRow& row : validate(cases, knowledge, {.threads = 1, .roofline = false, .simulated = simulated})) {
    switch (row.metric) {
      case Metric::step_time_s:
      case Metric::tokens_per_sec_per_gpu:
      case Metric::output_tok_s:
      case Metric::tpot_ms:
        out.push_back(row.comparison());
        break;
      default:
        break;
    }
  }
  return out;
}

}  // namespace

namespace {

/// How much longer each case took than predicted, as the mean logarithm over its figures of speed.
std::vector<OwnRun> runs_of(std::span<const Case> mine, const Knowledge& knowledge, std::vector<std::size_t>& cases) {
  std::vector<std::vector<double>> slower(mine.size());
  for (const ResultRow& row : validate(mine, knowledge, {.threads = 1, .roofline = false})) {
    const bool rate = row.metric == Metric::output_tok_s || row.metric == Metric::tokens_per_sec_per_gpu;
    if (!rate && row.metric != Metric::step_time_s && row.metric != Metric::tpot_ms) continue;
    const double ratio = std::log(row.measured / row.predicted.mid);
    if (std::isfinite(ratio)) slower[row.case_index].push_back(rate ? -ratio : ratio);
  }
  std::vector<OwnRun> runs;
  for (std::size_t i = 0; i < mine.size(); ++i) {
    if (slower[i].empty()) continue;
    const auto point = own_point(mine[i], knowledge);
    if (!point) continue;
    const double sum = std::accumulate(slower[i].begin(), slower[i].end(), 0.0);
    runs.push_back({*point, sum / static_cast<double>(slower[i].size())});
    cases.push_back(i);
  }
  return runs;
}

}  // namespace

OverlayFit fit_overlay(const Calibration& calibration, std::span<const Case> mine, const Catalogue& catalogue,
                       const Engines& engines, bool judge) {
  const Calibration plain = calibration.with_own_runs({});
  std::vector<std::size_t> cases;
  const std::vector<OwnRun> runs = runs_of(mine, Knowledge{catalogue, engines, plain}, cases);
  OverlayFit out{calibration.with_own_runs(OwnRuns(runs)), {}, {}};
  if (!judge) return out;
  out.before = summarise(headline(mine, calibration, catalogue, engines));
  std::vector<Comparison> others;
  for (std::size_t i = 0; i < runs.size() && runs.size() > 1; ++i) {
    std::vector<OwnRun> rest = runs;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
    const Calibration without = calibration.with_own_runs(OwnRuns(std::move(rest)));
    const auto one = headline(mine.subspan(cases[i], 1), without, catalogue, engines);
    others.insert(others.end(), one.begin(), one.end());
  }
  out.after = summarise(others);
  return out;
}

namespace {

/// The parameters that a few runs of one server can tell: its factor on all time, its host's, its prompts'.
Calibration open_for_learning(const Calibration& calibration, std::span<const Case> mine, const Catalogue& catalogue,
                              const Engines& engines) {
  const auto given = calibration.parameters();
  std::vector<Parameter> parameters(given.begin(), given.end());
  const auto built = [&](std::vector<Parameter> from) {
    const auto intervals = calibration.intervals();
    return Calibration(std::move(from), {intervals.begin(), intervals.end()}, calibration.effects());
  };
  for (Parameter& p : parameters) {
    if (p.group != "user") continue;
    p.value = p.prior;
    p.rows = 0;
  }
  const auto predicted = [&](const Calibration& c) {
    std::vector<double> out;
    for (const Comparison& one : headline(mine, c, catalogue, engines)) out.push_back(one.predicted);
    return out;
  };
  const std::vector<double> plain = predicted(built(parameters));
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (given[i].group != "user") continue;
    const bool apart = given[i].name == "user.host" || given[i].name == "user.prefill";
    if (!apart && given[i].fitted) {  // of this stack, if it moves anything
      std::vector<Parameter> moved = parameters;
      moved[i].value *= 1.1;
      parameters[i].fitted = predicted(built(std::move(moved))) != plain;
    }
    if (apart) parameters[i].fitted = true;
    if (parameters[i].fitted) parameters[i].rows = static_cast<int>(mine.size());
  }
  return built(std::move(parameters));
}

}  // namespace

OverlayFit learn_overlay(const Calibration& calibration, std::span<const Case> mine, const Catalogue& catalogue,
                         const Engines& engines) {
  const std::vector<FitTarget> targets = fit_targets("user", mine);
  std::vector<double> weights;
  for (const FitTarget& t : targets) weights.push_back(t.weight);
  FitOptions options;
  options.weights = weights;
  const auto log_errors = [&](const Calibration& c, std::span<double> out) {
    const Knowledge knowledge{catalogue, engines, c};
    for (std::size_t i = 0; i < targets.size();) {
      const Case& one = mine[targets[i].case_index];
      const auto predictions = predict(one, knowledge, Basis::simulated);
      for (const std::size_t at = targets[i].case_index; i < targets.size() && targets[i].case_index == at; ++i) {
        const FitTarget& t = targets[i];
        out[i] = std::log(predictions[t.target].value.mid / one.targets[t.target].measured) * options.noise / t.noise;
      }
    }
  };
  const Calibration start = open_for_learning(calibration, mine, catalogue, engines);
  OverlayFit out{fit(start, "user", targets.size(), log_errors, options).calibration, {}, {}};
  out.before = summarise(headline(mine, calibration, catalogue, engines, true));
  out.after = summarise(headline(mine, out.calibration, catalogue, engines, true));
  return out;
}

std::string overlay_toml(const Calibration& calibration) {
  std::string out = "# What this stack does differently: its runs, or factors on time (`ridge calibrate --cases`).\n";
  for (const Parameter& p : calibration.parameters()) {
    if (p.group != "user" || (p.value == 1 && p.rows == 0)) continue;
    out += fmt::format("\n[[parameter]]\nname = \"{}\"\nvalue = {:g}\nrows = {}\nsource = \"own measurements\"\n",
                       p.name, p.value, p.rows);
  }
  for (const OwnRun& r : calibration.own_runs().runs()) {
    const OwnPoint& p = r.point;
    out += fmt::format("\n[[run]]\nstack = \"{}\"\ndevice = \"{}\"\nmodel = \"{}\"\nformat = \"{}\"\nmode = \"{}\"\n",
                       p.stack, p.device, p.model, p.format, p.mode);
    out += fmt::format("at = [{:.4f}]\nslower = {:.4f}\n", fmt::join(p.at, ", "), r.slower);
  }
  return out;
}

StackGain overlay_gain(std::span<const LeftOutStacks> parts, const Catalogue& catalogue, const Engines& engines,
                       std::size_t own_rows, std::size_t least) {
  StackGain gain;
  std::vector<Comparison> before;
  std::vector<Comparison> after;
  for (const LeftOutStacks& part : parts) {
    std::map<std::string, std::vector<Case>> stacks;
    for (const Case& c : part.cases) {
      if (c.kind != CaseKind::inference && c.kind != CaseKind::training) continue;
      if (!c.refusal.empty()) continue;
      stacks[fmt::format("{}|{}|{}|{}", publisher(c.source), c.engine, c.device, c.model)].push_back(c);
    }
    for (const auto& [key, members] : stacks) {
      if (members.size() < std::max(least, 2 * own_rows)) continue;
      // Rows spread over the table stand for those a user would measure; one is that in its middle.
      std::vector<Case> measured, rest;
      for (std::size_t i = 0; i < members.size(); ++i) {
        const std::size_t n = members.size();
        const std::size_t next = measured.size();
        const bool takes = next < own_rows && i == (2 * next + 1) * n / (2 * own_rows);
        (takes ? measured : rest).push_back(members[i]);
      }
      const OverlayFit own = fit_overlay(*part.calibration, measured, catalogue, engines, false);
      const auto b = headline(rest, *part.calibration, catalogue, engines);
      const auto a = headline(rest, own.calibration, catalogue, engines);
      before.insert(before.end(), b.begin(), b.end());
      after.insert(after.end(), a.begin(), a.end());
      ++gain.stacks;
    }
  }
  gain.before = summarise(before);
  gain.after = summarise(after);
  return gain;
}

}  // namespace ridge::evidence
