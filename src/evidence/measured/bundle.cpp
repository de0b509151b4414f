#include "evidence/measured/bundle.hpp"

#include <cmath>
#include <map>

#include "evidence/measured/measurement.hpp"
#include "evidence/measured/steps.hpp"
#include "ridge/base/file.hpp"
#include "ridge/base/folder.hpp"

namespace ridge::evidence {
namespace {

constexpr std::size_t kProfileLimit = 16u << 20;

struct Named {
  std::string device;
  measure::Profile profile;
};

Result<std::vector<Named>> read_profiles(const std::string& folder, const Catalogue& catalogue) {
  const Result<std::vector<std::string>> files = files_in(folder, ".toml");
  if (!files) return files.error();
  std::vector<Named> out;
  for (const std::string& path : *files) {
    const Result<std::string> text = read_file(path, kProfileLimit);
    if (!text) return text.error();
    Result<measure::Profile> profile = read_measurement(*text, path);
    if (!profile) return profile.error();
    const Result<std::string> id = device_like(*profile, catalogue);
    if (!id) return Error{id.error().code, path, id.error().text()};
    out.push_back({*id, *std::move(profile)});
  }
  return out;
}

/// Logarithms of predicted over measured, before and after.
struct Errors {
  std::vector<double> before, after;
};

Status add_steps(const Named& model, const Knowledge& before, const Knowledge& after,
                 std::map<std::string, Errors>& kinds) {
  for (const measure::ModelStep& step : model.profile.steps) {
    const std::string& id = model_of(step, model.profile);
    const Result<StepPrediction> assumed = predict_step(step, id, model.device, before);
    if (!assumed) return assumed.error();
    const Result<StepPrediction> measured = predict_step(step, id, model.device, after);
    if (!measured) return measured.error();
    Errors& kind = kinds[step.phase + " " + step.precision];
    kind.before.push_back(std::log(assumed->seconds / step.seconds));
    kind.after.push_back(std::log(measured->seconds / step.seconds));
  }
  return {};
}

std::vector<MeasuredGain> gains_of(const std::map<std::string, Errors>& kinds) {
  std::vector<MeasuredGain> out;
  Errors all;
  for (const auto& [kind, errors] : kinds) {
    out.push_back(gain_of(kind, errors.before, errors.after));
    all.before.insert(all.before.end(), errors.before.begin(), errors.before.end());
    all.after.insert(all.after.end(), errors.after.begin(), errors.after.end());
  }
  if (!out.empty()) out.push_back(gain_of("all", std::move(all.before), std::move(all.after)));
  return out;
}

}  // namespace

Result<std::vector<MeasuredFinding>> measured_findings(const std::string& data_directory, const Knowledge& knowledge) {
  const Result<std::vector<Named>> profiles = read_profiles(data_directory + "/profiles", knowledge.catalogue);
  if (!profiles) return profiles.error();
  std::vector<MeasuredFinding> out;
  for (const Named& device : *profiles) {
    if (device.profile.mode == "model") continue;
    const OverlayText overlay = measured_overlay(device.profile, *knowledge.catalogue.device(device.device));
    const Result<Catalogue> catalogue =
        Catalogue::load({.data_directory = data_directory, .overlays = {}, .price_lists = {}, .texts = {overlay}});
    if (!catalogue) return catalogue.error();
    const Result<MeasuredFit> fit =
        fit_measured(device.profile, device.device, knowledge.calibration, *catalogue, knowledge.engines);
    if (!fit) return fit.error();
    MeasuredFinding finding{.device = device.device,
                            .date = device.profile.date.substr(0, std::string_view("2026-11-15").size()),
                            .driver = device.profile.facts.driver,
                            .models = {},
                            .points = fit->gains,
                            .steps = {}};
    std::map<std::string, Errors> kinds;
    for (const Named& model : *profiles) {
      if (model.profile.mode != "model" || model.device != device.device) continue;
      const Status added = add_steps(model, knowledge, {*catalogue, knowledge.engines, fit->calibration}, kinds);
      if (!added) return added.error();
      finding.models.push_back(model.profile.model);
    }
    finding.steps = gains_of(kinds);
    out.push_back(std::move(finding));
  }
  return out;
}

}  // namespace ridge::evidence
