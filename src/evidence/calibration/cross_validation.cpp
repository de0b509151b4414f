#include "evidence/calibration/cross_validation.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <set>
#include <thread>

#include "evidence/rows/nothing.hpp"

namespace ridge::evidence {
namespace {

constexpr std::array<std::string_view, 1> kKernelGroups = {"kernels"};
constexpr std::array<std::string_view, 3> kInferenceGroups = {"kernels", "inference", "power"};
constexpr std::array<std::string_view, 2> kTrainingGroups = {"kernels", "training"};
constexpr std::array<std::string_view, 2> kPowerGroups = {"kernels", "power"};
constexpr std::array<std::string_view, 3> kDiffusionGroups = {"kernels", "power", "diffusion"};

// What has to be left out with the fold: also kernels of that device, and other tables of that publisher.
std::vector<bool> left_out_with(const Fold& fold, FoldBy by, std::span<const Case> cases, const Catalogue& catalogue) {
  std::vector<bool> out(cases.size(), false);
  for (const std::size_t i : fold.cases) out[i] = true;
  if (by == FoldBy::models) return out;
  std::set<std::string> keys;
  for (const std::size_t i : fold.cases) keys.insert(fold_key(cases[i], by, catalogue));
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (!out[i] && keys.contains(fold_key(cases[i], by, catalogue))) out[i] = true;
  }
  return out;
}

Calibration refit(const FullFit& all, CaseKind kind, const std::vector<bool>& left_out,
                  const std::map<std::string, GroupFit, std::less<>>& fits) {
  Calibration calibration = all.calibration;
  bool changed = false;
  for (const std::string_view group : groups_of(kind)) {
    const auto fit = fits.find(group);
    const auto full = all.groups.find(group);
    if (fit == fits.end() || full == all.groups.end()) continue;
    if (!changed && !fit->second.uses(left_out)) continue;
    calibration = fit->second.run(calibration, left_out, &full->second.jacobian).calibration;
    changed = true;
  }
  return calibration;
}

}  // namespace

std::span<const std::string_view> groups_of(CaseKind kind) {
  switch (kind) {
    case CaseKind::kernel:
      return kKernelGroups;
    case CaseKind::inference:
      return kInferenceGroups;
    case CaseKind::training:
      return kTrainingGroups;
    case CaseKind::power:
      return kPowerGroups;
    case CaseKind::diffusion:
      return kDiffusionGroups;
  }
  return {};
}

FullFit fit_all(const Calibration& calibration, std::span<const std::string_view> groups, std::span<const Case> cases,
                const Catalogue& catalogue, const Engines& engines) {
  FullFit all{calibration, {}};
  for (const std::string_view group : groups) {
    const GroupFit fit(group, cases, catalogue, engines);
    FitResult result = fit.run(with_priors(all.calibration, group), {});
    all.calibration = fit.finish(result);
    all.groups.emplace(std::string(group), std::move(result));
  }
  return all;
}

CrossValidation cross_validate(const FullFit& all, CaseKind kind, FoldBy by, std::span<const Case> cases,
                               const Catalogue& catalogue, const Engines& engines, int threads) {
  std::vector<Case> own;  // folds are made of the cases of the kind; positions refer to all of them
  std::vector<std::size_t> position;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (cases[i].kind != kind || !cases[i].fitted || !cases[i].physics) continue;
    own.push_back(cases[i]);
    position.push_back(i);
  }
  std::vector<Fold> folds = make_folds(own, by, catalogue);
  for (Fold& fold : folds) {
    for (std::size_t& i : fold.cases) i = position[i];
  }
  std::map<std::string, GroupFit, std::less<>> fits;
  for (const std::string_view group : groups_of(kind)) {
    if (all.groups.contains(group)) fits.emplace(std::string(group), GroupFit(group, cases, catalogue, engines));
  }

  std::vector<std::vector<std::vector<Prediction>>> predictions(folds.size());
  std::vector<Calibration> fitted(folds.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t f = next.fetch_add(1); f < folds.size(); f = next.fetch_add(1)) {
      fitted[f] = refit(all, kind, left_out_with(folds[f], by, cases, catalogue), fits);
      const Knowledge knowledge{catalogue, engines, fitted[f]};
      for (const std::size_t i : folds[f].cases) {
        predictions[f].push_back(predict(cases[i], knowledge, Basis::calibrated));
      }
    }
  };
  const unsigned count =
      threads > 0 ? static_cast<unsigned>(threads) : std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> pool;
  for (unsigned t = 1; t < count; ++t) pool.emplace_back(work);
  work();
  for (std::thread& thread : pool) thread.join();

  // Back into the order of the cases, so that tables compare with those of the plain validation.
  std::vector<std::pair<std::size_t, std::size_t>> place(cases.size(), {folds.size(), 0});
  CrossValidation out;
  out.by = by;
  out.fitted = std::move(fitted);
  for (std::size_t f = 0; f < folds.size(); ++f) {
    out.folds.push_back({folds[f].name, folds[f].cases.size()});
    for (std::size_t k = 0; k < folds[f].cases.size(); ++k) place[folds[f].cases[k]] = {f, k};
  }
  for (const std::size_t i : position) {
    const auto [f, k] = place[i];
    for (std::size_t t = 0; t < cases[i].targets.size(); ++t) {
      const Prediction& p = predictions[f][k][t];
      out.rows.push_back({i, cases[i].targets[t].metric, cases[i].targets[t].measured, p.value, p.refusal, kNothing,
                          kNothing, p.response});
      out.fold_of.push_back(f);
    }
  }
  return out;
}

void put_beside(CrossValidation& cv, std::span<const ResultRow> plain) {
  std::map<std::pair<std::size_t, Metric>, const ResultRow*> by_target;
  for (const ResultRow& row : plain) by_target[{row.case_index, row.metric}] = &row;
  for (ResultRow& row : cv.rows) {
    const auto at = by_target.find({row.case_index, row.metric});
    if (at == by_target.end()) continue;
    row.roofline = at->second->roofline;
    row.in_sample = at->second->predicted.mid;
  }
}

}  // namespace ridge::evidence
