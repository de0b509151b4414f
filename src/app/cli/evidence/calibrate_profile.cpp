#include "app/cli/evidence/calibrate_profile.hpp"

#include <fmt/format.h>

#include "evidence/measured/device.hpp"
#include "evidence/measured/measurement.hpp"
#include "report/evidence/validation_report.hpp"

namespace ridge::cli {

namespace {

constexpr std::size_t kProfileLimit = 16u << 20;

Table gain_table(const evidence::MeasuredFit& fit) {
  Table table = report::measured_gain_table(fit.gains);
  table.title = "Errors of the profile's points: by the catalogue, and after the fit";
  return table;
}

Table factor_table(const evidence::MeasuredFit& fit) {
  Table table;
  table.title = "Factors of the measured device, on top of what holds for all";
  table.columns = {{.key = "parameter", .heading = "parameter"},
                   {.key = "architecture", .heading = fit.parent, .kind = ColumnKind::number},
                   {.key = "measured", .heading = "measured", .kind = ColumnKind::number},
                   {.key = "rows", .heading = "points", .kind = ColumnKind::number}};
  for (const Parameter& p : fit.calibration.parameters()) {
    if (!p.group.starts_with("measured") || p.rows == 0) continue;
    const std::string_view base = std::string_view(p.name).substr(0, p.name.find('@'));
    const std::string_view scope = std::string_view(p.name).substr(base.size() + 1);
    // What held before: the parent's factor of that name, which the prior was copied from unless steps refined it.
    std::string inherited(scope);
    inherited.replace(inherited.find(fit.architecture), fit.architecture.size(), fit.parent);
    const double parent = fit.calibration.value(base, {inherited}) / fit.calibration.value(base);
    table.rows.push_back({Cell(p.name), Cell(parent), Cell(p.value), Cell(p.rows)});
  }
  return table;
}

}  // namespace

Result<int> calibrate_profile(Session& session, const std::string& path, const std::string& overlay) {
  const Result<std::string> id = session.use_profile(path);
  if (!id) return id.error();
  const Result<std::string> text = session.files().read(path, kProfileLimit);
  if (!text) return text.error();
  const Result<measure::Profile> profile = evidence::read_measurement(*text, path);
  if (!profile) return profile.error();
  const Result<std::string> directory = session.data_directory();
  if (!directory) return directory.error();
  const Result<Calibration> bundled = load_calibration(*directory + "/calibration", session.options().calibrations);
  if (!bundled) return bundled.error();
  const Result<const Catalogue*> catalogue = session.catalogue();
  if (!catalogue) return catalogue.error();
  const Result<const Engines*> engines = session.engines();
  if (!engines) return engines.error();
  const Result<evidence::MeasuredFit> fit = evidence::fit_measured(*profile, *id, *bundled, **catalogue, **engines);
  if (!fit) return fit.error();
  if (!overlay.empty()) {
    const Status written = session.files().write(overlay, evidence::measured_parameters_toml(*fit, *profile));
    if (!written) return written.error();
  }
  if (session.form() == Form::json) {
    Json json = Json::object();
    json.set("schema", "ridge-calibrate-profile-1").set("device", *id).set("architecture", fit->parent);
    json.set("errors", to_json(gain_table(*fit))).set("factors", to_json(factor_table(*fit)));
    session.print(json.text());
    return kFine;
  }
  if (session.form() == Form::csv) {
    session.print(to_csv(factor_table(*fit)));
    return kFine;
  }
  Document page;
  page.blocks.emplace_back(
      Paragraph{fmt::format("{}, measured {} (driver {}, {}): {} of the catalogue. {} points, {} steps, {} left out.",
                            profile->facts.name, profile->date, profile->facts.driver, profile->facts.libraries, *id,
                            profile->points.size(), profile->steps.size(), profile->skipped.size()),
                Emphasis::none});
  page.blocks.emplace_back(gain_table(*fit));
  page.blocks.emplace_back(factor_table(*fit));
  std::string use = fmt::format("--device {} uses them for this device alone.", path);
  if (!overlay.empty()) {
    use += fmt::format(" --calibration {} uses them for every device of the architecture {}.", overlay, fit->parent);
  }
  page.blocks.emplace_back(Paragraph{use, Emphasis::none});
  session.print(page);
  return kFine;
}

}  // namespace ridge::cli
