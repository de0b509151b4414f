// ridge calibrate: fit the parameters to evidence, or to a user's own measurements.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "app/cli/estimate/estimate.hpp"
#include "app/cli/evidence/calibrate_profile.hpp"
#include "app/cli/line/options.hpp"
#include "app/cli/line/value.hpp"
#include "app/cli/session/session.hpp"
#include "app/cli/session/wrong.hpp"
#include "app/cli/verbs.hpp"
#include "evidence/calibration/calibration_run.hpp"
#include "evidence/calibration/overlay.hpp"
#include "evidence/rows/errors.hpp"
#include "evidence/settings/bundle.hpp"
#include "report/evidence/validation_report.hpp"

namespace ridge::cli {

namespace {

using namespace ridge::evidence;  // NOLINT(google-build-using-namespace): the verb speaks of nothing else

constexpr std::size_t kCalibrationLimit = 16u << 20;

struct CalibrateArguments {
  std::vector<std::string> groups;
  std::vector<std::string> cases;
  std::string out, overlay, profile;
  bool no_cv = false;
  bool check = false;
};

/// Equal but for comments: those state cross-validated errors, which --no-cv leaves out.
bool same_values(std::string_view one, std::string_view other) {
  const auto next_line = [](std::string_view& text) {
    while (text.starts_with('#')) text.remove_prefix(std::min(text.size() - 1, text.find('\n')) + 1);
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    return line;
  };
  while (!one.empty() || !other.empty()) {
    if (next_line(one) != next_line(other)) return false;
  }
  return true;
}

class Calibrating {
 public:
  Calibrating(Session& session, const CalibrateArguments& arguments) : session_(session), arguments_(arguments) {}

  Result<int> run() {
    if (!arguments_.profile.empty()) {
      if (!arguments_.cases.empty() || !arguments_.groups.empty()) {
        return wrong("--profile", "a profile says what one device does: leave out --cases and --group");
      }
      return calibrate_profile(session_, arguments_.profile, arguments_.overlay);
    }
    const Result<Knowledge> known = knowledge_of(session_);
    if (!known) return known.error();
    const auto directory = session_.data_directory();
    if (!directory) return directory.error();
    catalogue_ = &known->catalogue;
    engines_ = &known->engines;
    calibration_ = &known->calibration;
    return arguments_.cases.empty() ? refit(*directory) : own(*directory);
  }

 private:
  Result<std::vector<std::string_view>> groups() const {
    std::vector<std::string_view> out;
    const auto asked = [&](std::string_view group) {
      return arguments_.groups.empty() ||
             std::any_of(arguments_.groups.begin(), arguments_.groups.end(),
                         [&](const std::string& word) { return word == group || word == "all"; });
    };
    for (const std::string_view group : evidence::kGroups) {
      if (asked(group)) out.push_back(group);
    }
    for (const std::string& word : arguments_.groups) {
      if (word != "all" &&
          std::find(std::begin(evidence::kGroups), std::end(evidence::kGroups), word) == std::end(evidence::kGroups)) {
        return wrong("--group", "'" + word + "' is no group: kernels, inference, training, power, diffusion or all");
      }
    }
    return out;
  }

  Result<int> refit(const std::string& directory) {
    if (!arguments_.overlay.empty())
      return wrong("--overlay", "an overlay is fitted to your own measurements: add --cases FILE.csv");
    const auto wanted = groups();
    if (!wanted) return wanted.error();
    auto bundle = load_bundle(directory);
    if (!bundle) return bundle.error();
    const CalibrationRun run =
        calibrate(*calibration_, *wanted, !arguments_.no_cv, bundle->cases, *catalogue_, *engines_);
    const std::string folder = arguments_.out.empty() ? directory + "/calibration" : arguments_.out;
    bool same = true;
    for (const auto& [file, text] : run.files) {
      const std::string path = folder + "/" + file;
      if (arguments_.check) {
        const auto committed = session_.files().read(path, kCalibrationLimit);
        if (!committed) return committed.error();
        if (same_values(*committed, text)) continue;
        same = false;
        session_.print(path + " is not what a refit gives\n");
        continue;
      }
      const Status written = session_.files().write(path, text);
      if (!written) return written.error();
      session_.print("wrote " + path + "\n");
    }
    print_run(run, bundle->cases, *wanted);
    return same ? kFine : kCheckFailed;
  }

  void print_run(const CalibrationRun& run, const std::vector<Case>& cases,
                 const std::vector<std::string_view>& wanted) const {
    const auto kinds = kinds_of(wanted);
    const auto in_sample = validate(cases, Knowledge{*catalogue_, *engines_, run.calibration}, {});
    std::vector<ResultRow> kept;
    for (const ResultRow& row : in_sample) {
      if (std::find(kinds.begin(), kinds.end(), cases[row.case_index].kind) != kinds.end()) kept.push_back(row);
    }
    Document page;
    Table table = report::summary_table(summary(cases, kept, GroupBy::none, *catalogue_));
    table.title = "In sample";
    page.blocks.emplace_back(std::move(table));
    for (const FoldBy by : {FoldBy::models, FoldBy::devices, FoldBy::sources}) {
      const auto rows = rows_left_out(run.cross_validated, by);
      if (rows.empty()) continue;
      Table left_out = report::summary_table(summary(cases, rows, GroupBy::none, *catalogue_));
      left_out.title = fmt::format("Whole {} left out", name(by));
      page.blocks.emplace_back(std::move(left_out));
    }
    Table parameters = report::parameter_table(run.calibration);
    parameters.title = "Parameters";
    page.blocks.emplace_back(std::move(parameters));
    session_.print(page);
  }

  Result<int> own(const std::string& directory) {
    if (arguments_.overlay.empty()) return wrong("--cases", "say where the factors go: --overlay own.toml");
    if (!arguments_.groups.empty())
      return wrong("--group", "your own measurements fit the factors of your stack only: leave out --group");
    const auto workloads = load_assumed_workloads(directory);
    if (!workloads) return workloads.error();
    const auto cases = load_cases(arguments_.cases, *workloads);
    if (!cases) return cases.error();
    const OverlayFit fit = fit_overlay(*calibration_, *cases, *catalogue_, *engines_);
    if (fit.before.predicted == 0) {
      for (const Case& c : *cases) {
        if (!c.refusal.empty()) return Error{ErrorCode::bad_input, {}, c.refusal};
      }
      return Error{ErrorCode::refused, {}, "none of these cases could be predicted; `ridge validate --cases` says why"};
    }
    const Status written = session_.files().write(arguments_.overlay, overlay_toml(fit.calibration));
    if (!written) return written.error();
    Document page;
    Table table;
    table.columns = {{.key = "stack", .heading = "stack"},
                     {.key = "model", .heading = "model"},
                     {.key = "device", .heading = "device"},
                     {.key = "runs", .heading = "runs", .kind = ColumnKind::number},
                     {.key = "time", .heading = "time, measured ÷ predicted", .kind = ColumnKind::number}};
    std::map<std::array<std::string, 3>, std::vector<double>> stacks;
    for (const OwnRun& r : fit.calibration.own_runs().runs()) {
      stacks[{r.point.stack, r.point.model, r.point.device}].push_back(r.slower);
    }
    for (auto& [of, slower] : stacks) {
      const int runs = static_cast<int>(slower.size());
      const double middle = std::exp(quantile(std::move(slower), 0.5));
      table.rows.push_back({Cell(of[0]), Cell(of[1]), Cell(of[2]), Cell(runs), Cell(middle)});
    }
    page.blocks.emplace_back(std::move(table));
    std::string errors =
        fmt::format("Error on these {} figures: {:.1f} % in the median", fit.before.predicted, 100 * fit.before.median);
    if (fit.after.predicted > 0)
      errors += fmt::format(", {:.1f} % where each run is predicted from the others", 100 * fit.after.median);
    page.blocks.emplace_back(
        Paragraph{fmt::format("{}. Use it by --calibration {}.", errors, arguments_.overlay), Emphasis::none});
    session_.print(page);
    return kFine;
  }

  Session& session_;
  const CalibrateArguments& arguments_;
  const Catalogue* catalogue_ = nullptr;
  const Engines* engines_ = nullptr;
  const Calibration* calibration_ = nullptr;
};

}  // namespace

static Action declare_calibrate(Options& options) {
  auto arguments = std::make_shared<CalibrateArguments>();
  options.list("--group", "GROUP", arguments->groups, "only kernels, inference, training, power or diffusion",
               value::one_of({"kernels", "inference", "training", "power", "diffusion", "all"}));
  options.text("--out", "DIR", arguments->out, "write the calibration files there instead of into the data",
               value::made_folder());
  options.flag("--no-cv", arguments->no_cv, "do not cross-validate; intervals stay as they are");
  options.flag("--check", arguments->check, "write nothing; exit with 3 if the files are not what a refit gives");
  options.list("--cases", "FILE", arguments->cases, "your own measurements, with the columns of data/evidence",
               value::file());
  options.text("--profile", "FILE", arguments->profile, "a device as `ridge measure` found it: show what it changes",
               value::file());
  options.text("--overlay", "OUT", arguments->overlay,
               "with --cases or --profile: where to write what your stack or device does differently",
               value::written());
  return [arguments](Session& session) { return Calibrating(session, *arguments).run(); };
}

Verb calibrate_verb() {
  return {
      "calibrate", "fit the parameters to evidence, or to measurements of your own",
      "Refits the groups of parameters (kernels, inference, training, power, diffusion) to the bundled evidence, "
      "from their "
      "priors, cross-validates, and writes the calibration files. The same evidence gives the same files.\n\n"
      "With --cases it fits only what your stack does differently, a factor on time per engine and model class, and "
      "writes "
      "it to --overlay; other commands take that file by --calibration.\n\n"
      "With --profile it fits the factors of one measured device and shows what they gain. Commands take the profile "
      "itself by --device, for that device alone; the file of --overlay holds for its whole architecture.",
      "ridge calibrate --group power --no-cv --out /tmp\n"
      "ridge calibrate --profile data/profiles/h200-sxm.toml",
      declare_calibrate};
}

}  // namespace ridge::cli
