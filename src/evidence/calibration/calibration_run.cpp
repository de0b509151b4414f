#include "evidence/calibration/calibration_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace ridge::evidence {
namespace {

CaseKind kind_of_group(std::string_view group) {
  if (group == "kernels") return CaseKind::kernel;
  if (group == "training") return CaseKind::training;
  if (group == "diffusion") return CaseKind::diffusion;
  return CaseKind::inference;  // power is measured on inference runs
}

std::string figures(const std::vector<SummaryLine>& lines) {
  std::string out;
  for (const SummaryLine& line : lines) {
    if (!std::isfinite(line.errors.median)) continue;
    out += fmt::format("{}{} {:.1f} / {:.1f} %", out.empty() ? "" : ", ", line.category.label(),
                       100 * line.errors.median, 100 * line.errors.p90);
  }
  return out;
}

// What was fitted to what, and how well, as comments at the head of the file.
std::string heading(std::string_view group, const GroupFit& fit, const FullFit& all, std::span<const Case> cases,
                    const std::vector<ResultRow>& in_sample, std::span<const CrossValidated> left_out,
                    const Catalogue& catalogue) {
  std::set<std::string> files;
  std::set<std::size_t> used;
  for (const FitTarget& t : fit.targets()) {
    used.insert(t.case_index);
    const std::string& file = cases[t.case_index].file;
    files.insert(file.substr(file.rfind('/') + 1));
  }
  std::string tables;
  for (const std::string& file : files) tables += (tables.empty() ? "" : ", ") + file;
  std::string out =
      fmt::format("# Fitted by `ridge calibrate`; do not edit values. {} parameters to {} figures of {} rows ({}).\n",
                  count_fitted(all.calibration, group), fit.targets().size(), used.size(), tables);
  std::set<std::pair<std::size_t, Metric>> fitted;
  for (const FitTarget& t : fit.targets()) fitted.insert({t.case_index, cases[t.case_index].targets[t.target].metric});
  const auto only_fitted = [&](const std::vector<ResultRow>& rows) {
    std::vector<ResultRow> kept;
    for (const ResultRow& row : rows) {
      if (fitted.contains({row.case_index, row.metric})) kept.push_back(row);
    }
    return kept;
  };
  out += "# Errors are median / p90 of |predicted/measured - 1|.\n";
  out += fmt::format("# In sample: {}.\n", figures(summary(cases, only_fitted(in_sample), GroupBy::none, catalogue)));
  for (const CrossValidated& c : left_out) {
    if (c.kind != kind_of_group(group)) continue;
    out += fmt::format("# Whole {} left out: {}.\n", name(c.by),
                       figures(summary(cases, only_fitted(c.cv.rows), GroupBy::none, catalogue)));
  }
  return out + "\n";
}

}  // namespace

std::vector<CaseKind> kinds_of(std::span<const std::string_view> groups) {
  std::vector<CaseKind> kinds;
  for (const std::string_view group : groups) {
    const CaseKind kind = kind_of_group(group);
    if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) kinds.push_back(kind);
  }
  return kinds;
}

std::vector<CrossValidated> cross_validate_all(const FullFit& all, std::span<const CaseKind> kinds,
                                               std::span<const FoldBy> ways, std::span<const Case> cases,
                                               const Catalogue& catalogue, const Engines& engines,
                                               std::vector<Residual>& pool) {
  std::vector<CrossValidated> out;
  for (const CaseKind kind : kinds) {
    for (const FoldBy by : ways) {
      out.push_back({by, kind, cross_validate(all, kind, by, cases, catalogue, engines)});
      const auto found = residuals(out.back().cv, cases, catalogue);
      pool.insert(pool.end(), found.begin(), found.end());
    }
  }
  const Tails tails = fair_tails(pool);
  for (CrossValidated& c : out) apply_intervals(c.cv, pool, tails, cases, catalogue);
  return out;
}

std::vector<ResultRow> rows_left_out(std::span<const CrossValidated> all, FoldBy by) {
  std::vector<ResultRow> rows;
  for (const CrossValidated& c : all) {
    if (c.by == by) rows.insert(rows.end(), c.cv.rows.begin(), c.cv.rows.end());
  }
  return rows;
}

EffectFit joint_folds(std::span<const CrossValidated> all, const Calibration& neutral, std::span<const Case> cases,
                      const Catalogue& catalogue, const Engines& engines) {
  const auto has = [&](CaseKind kind, FoldBy by) {
    return std::any_of(all.begin(), all.end(), [&](const CrossValidated& c) { return c.kind == kind && c.by == by; });
  };
  for (const CaseKind kind : {CaseKind::training, CaseKind::inference}) {
    if (!has(kind, FoldBy::sources) || !has(kind, FoldBy::devices)) return {};
  }
  const auto plain = validate(cases, Knowledge{catalogue, engines, neutral}, {.threads = 0, .roofline = true});
  const UnseenRows unseen{unseen_rows(rows_left_out(all, FoldBy::sources), plain, cases),
                          unseen_rows(rows_left_out(all, FoldBy::devices), plain, cases)};
  return fit_effects(unseen, cases, catalogue, engines, neutral);
}

CalibrationRun calibrate(const Calibration& calibration, std::span<const std::string_view> groups,
                         bool with_cross_validation, std::span<const Case> cases, const Catalogue& catalogue,
                         const Engines& engines) {
  // Effects are what remains beside the physics: it is fitted without them.
  FullFit all = fit_all(calibration.with_effects({}), groups, cases, catalogue, engines);
  Effects effects = calibration.effects();
  CalibrationRun run;
  std::vector<Residual> pool;
  if (with_cross_validation) {
    static constexpr FoldBy kWays[] = {FoldBy::models, FoldBy::devices, FoldBy::sources};
    run.cross_validated = cross_validate_all(all, kinds_of(groups), kWays, cases, catalogue, engines, pool);
    std::vector<IntervalClass> classes = interval_classes(pool, fair_tails(pool));
    std::set<std::string> renewed;
    for (const IntervalClass& c : classes) renewed.insert(c.metric);
    for (const IntervalClass& c : calibration.intervals()) {
      if (!renewed.contains(c.metric)) classes.push_back(c);
    }
    std::stable_sort(classes.begin(), classes.end(), [](const IntervalClass& a, const IntervalClass& b) {
      return std::tie(a.metric, a.resembles) < std::tie(b.metric, b.resembles);
    });
    all.calibration = all.calibration.with_intervals(std::move(classes));
    run.files["intervals.toml"] =
        "# Written by `ridge calibrate`: what 80 % of the cases that were left out of the fit stayed within, as "
        "factors on\n"
        "# the prediction. dense and moe: whole models and whole publishers left out; new-device: whole devices left "
        "out.\n\n" +
        write_calibration(all.calibration, "intervals");
    EffectFit joint = joint_folds(run.cross_validated, all.calibration, cases, catalogue, engines);
    if (!joint.effects.empty()) {
      effects = std::move(joint.effects);
      run.joint = std::move(joint.folds);
      run.files["effects.toml"] =
          "# Written by `ridge calibrate`: what devices and software make of the physics (effect: the mean and spread "
          "of\n# log(measured/predicted time)), what remains (rest) and how far out 80 % of the rows reach that were "
          "left "
          "out with\n# their publisher, their devices or their engine (low, high: in standard deviations). "
          "include/ridge/catalogue/effects.hpp says how they add up.\n\n" +
          write_calibration(all.calibration.with_effects(effects), "effects");
    }
  }
  all.calibration = all.calibration.with_effects(std::move(effects));
  const auto in_sample =
      validate(cases, Knowledge{catalogue, engines, all.calibration}, {.threads = 0, .roofline = false});
  for (const std::string_view group : groups) {
    const GroupFit fit(group, cases, catalogue, engines);
    if (count_fitted(all.calibration, group) == 0) continue;
    run.files[std::string(group) + ".toml"] =
        heading(group, fit, all, cases, in_sample, run.cross_validated, catalogue) +
        write_calibration(all.calibration, group);
  }
  run.calibration = std::move(all.calibration);
  return run;
}

}  // namespace ridge::evidence
