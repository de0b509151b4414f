// ridge validate: predictions beside measurements.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "app/cli/estimate/estimate.hpp"
#include "app/cli/line/options.hpp"
#include "app/cli/line/value.hpp"
#include "app/cli/session/report_file.hpp"
#include "app/cli/session/session.hpp"
#include "app/cli/session/wrong.hpp"
#include "app/cli/verbs.hpp"
#include "evidence/calibration/calibration_run.hpp"
#include "evidence/cases/rl_cases.hpp"
#include "evidence/measured/bundle.hpp"
#include "evidence/settings/bundle.hpp"
#include "evidence/validate/gate.hpp"
#include "evidence/validate/plan_backtest.hpp"
#include "evidence/validate/requirements.hpp"
#include "report/estimate/diffusion_training_report.hpp"
#include "report/evidence/validation_report.hpp"
#include "report/rl/report.hpp"
#include "ridge/base/folder.hpp"
#include "ridge/base/limits.hpp"

namespace ridge::cli {

namespace {

using namespace ridge::evidence;  // NOLINT(google-build-using-namespace): the verb speaks of nothing else

constexpr std::string_view kValidateSchema = "ridge.validate/1";
constexpr std::array kAllKinds = {CaseKind::training, CaseKind::inference, CaseKind::kernel, CaseKind::power,
                                  CaseKind::diffusion};
constexpr std::array kAllWays = {FoldBy::models, FoldBy::devices, FoldBy::sources};
constexpr std::size_t kGateLimit = 16u << 20;

struct ValidateArguments {
  std::vector<std::string> cases;
  std::vector<std::string> kinds;
  std::vector<std::string> require;
  std::string rows, by, cv, svg, html, report;
  int threads = 0;
  bool simulate = false;
  bool gate = false;
  bool update = false;
  bool points = false;
  bool memory = false;
  bool rl = false;
  bool diffusion_training = false;
  bool decisions = false;
  bool plans = false;
};

class Validation {
 public:
  Validation(Session& session, const ValidateArguments& arguments) : session_(session), arguments_(arguments) {}

  Result<int> run() {
    if (arguments_.threads > limits::kThreads.most) return wrong("--threads", limits::beyond(limits::kThreads));
    if (const Status ready = prepare(); !ready) return ready.error();
    if (arguments_.gate || arguments_.update) return run_gates();
    if (arguments_.memory) return run_memory();
    if (arguments_.rl) return run_rl();
    if (arguments_.diffusion_training) return run_diffusion_training();
    if (const Status read = read_evidence(); !read) return read.error();
    rows_ = validate(cases_, knowledge(),
                     {.threads = arguments_.threads,
                      .roofline = true,
                      .simulated = arguments_.simulate,
                      .settings = std::move(settings_),
                      .patience = session_.patience()});
    if (const Status s = session_.in_time(); !s) return s.error();
    if (!ways_.empty()) leave_out();
    if (arguments_.decisions) return print_decisions();
    if (arguments_.plans) return print_plans();
    if (const Status written = write_files(); !written) return written.error();
    return print();
  }

 private:
  [[nodiscard]] Knowledge knowledge() const { return {*catalogue_, *engines_, *calibration_}; }

  Status prepare() {
    const Result<Knowledge> known = knowledge_of(session_);
    if (!known) return known.error();
    catalogue_ = &known->catalogue;
    engines_ = &known->engines;
    calibration_ = &known->calibration;
    return understand();
  }

  Status understand() {
    if (!arguments_.by.empty()) {
      by_ = parse_group(arguments_.by).value_or(GroupBy::none);
      if (by_ == GroupBy::none)
        return wrong("--by", "group by model, device, source, engine, precision, mode, class or vendor");
    }
    for (const FoldBy way : kAllWays) {
      const bool joint =
          (arguments_.cv == "joint" || arguments_.decisions || arguments_.plans) && way != FoldBy::models;
      if (joint || arguments_.cv == name(way) || arguments_.cv == "all" || !arguments_.report.empty()) {
        ways_.push_back(way);
      }
    }
    if (!arguments_.cv.empty() && ways_.empty()) {
      return wrong("--cv", "leave out models, devices, sources, all of them in turn, or joint: what goes out together");
    }
    if (!ways_.empty() && !arguments_.cases.empty()) {
      return wrong("--cv", "cross-validation refits the bundled evidence: leave out --cases");
    }
    for (const std::string& kind : arguments_.kinds) {
      const auto* const at =
          std::find_if(kAllKinds.begin(), kAllKinds.end(), [&](CaseKind k) { return name(k) == kind; });
      if (at == kAllKinds.end()) return wrong("--kind", "choose of training, inference, kernel, power and diffusion");
      kinds_.push_back(*at);
    }
    if (kinds_.empty()) kinds_.assign(kAllKinds.begin(), kAllKinds.end());
    for (const std::string& text : arguments_.require) {
      auto requirement = parse_requirement(text);
      if (!requirement) return requirement.error();
      requirements_.push_back(std::move(*requirement));
    }
    return {};
  }

  Status read_evidence() {
    const auto directory = session_.data_directory();
    if (!directory) return directory.error();
    if (arguments_.cases.empty()) {
      auto bundle = load_bundle(*directory);
      if (!bundle) return bundle.error();
      cases_ = std::move(bundle->cases);
    } else {
      const auto workloads = load_assumed_workloads(*directory);
      if (!workloads) return workloads.error();
      auto cases = load_cases(arguments_.cases, *workloads);
      if (!cases) return cases.error();
      cases_ = std::move(*cases);
    }
    if (arguments_.simulate) {
      auto settings = load_published_settings(*directory);
      if (!settings) return settings.error();
      settings_ = *std::move(settings);
    }
    // Cross-validation needs the kernels of a device even if only inference is asked for; they are left out of what is
    // shown.
    if (ways_.empty()) std::erase_if(cases_, [&](const Case& c) { return !shown(c.kind); });
    return {};
  }

  [[nodiscard]] bool shown(CaseKind kind) const {
    return std::find(kinds_.begin(), kinds_.end(), kind) != kinds_.end();
  }

  void leave_out() {
    std::vector<std::string_view> groups;
    for (const std::string_view group : evidence::kGroups) {
      const bool needed = std::any_of(kinds_.begin(), kinds_.end(), [&](CaseKind kind) {
        const auto used = groups_of(kind);
        return std::find(used.begin(), used.end(), group) != used.end();
      });
      if (needed) groups.push_back(group);
    }
    const FullFit all = fit_all(calibration_->with_effects({}), groups, cases_, *catalogue_, *engines_);
    std::vector<Residual> pool;
    std::vector<CaseKind> kinds;
    for (const CaseKind kind : kinds_) {
      if (kind != CaseKind::power) kinds.push_back(kind);
    }
    auto found = cross_validate_all(all, kinds, ways_, cases_, *catalogue_, *engines_, pool);
    const Knowledge fitted{*catalogue_, *engines_, all.calibration};
    const auto in_sample = validate(cases_, fitted, {.threads = arguments_.threads, .roofline = true});
    for (CrossValidated& c : found) put_beside(c.cv, in_sample);
    for (JointFold& fold : joint_folds(found, all.calibration, cases_, *catalogue_, *engines_).folds) {
      left_out_.push_back({std::move(fold.name), std::move(fold.rows)});
    }
    for (const FoldBy way : ways_) {
      if (arguments_.cv == "all" || arguments_.cv == name(way) || !arguments_.report.empty())
        left_out_.push_back({std::string(name(way)), rows_left_out(found, way)});
    }
    for (CrossValidated& c : found) {
      if (c.cv.by == FoldBy::sources) publishers_.push_back(std::move(c.cv));
    }
  }

  [[nodiscard]] const std::vector<ResultRow>& main_rows() const {
    return left_out_.empty() ? rows_ : left_out_[0].rows;
  }

  Status write_files() const {
    if (!arguments_.rows.empty()) {
      if (left_out_.size() > 1 && arguments_.cv != "joint")
        return wrong("--rows",
                     "the rows of one cross-validation at a time: choose --cv models, devices, sources, or joint "
                     "(without the publisher)");
      const Status s = session_.files().write(arguments_.rows, rows_csv(cases_, main_rows()));
      if (!s) return s;
    }
    if (!arguments_.svg.empty()) {
      const Status s =
          session_.files().write(arguments_.svg, report::scatter_sheet(report::scatters(cases_, main_rows())));
      if (!s) return s;
    }
    if (!arguments_.html.empty()) {
      Document text = document({});
      text.title = "Predicted against measured";
      const Paragraph how{
          "Each point is one published measurement; on the dashed line the prediction is right. Point at one to see "
          "what it is."};
      text.blocks.emplace_back(how);
      const Status s =
          session_.files().write(arguments_.html, report::scatter_page(text, report::scatters(cases_, main_rows()),
                                                                       {evidence_sources(), command_text(session_)}));
      if (!s) return s;
    }
    return arguments_.report.empty() ? Status() : write_report();
  }

  /// Publishers of what was shown, each with its rows.
  [[nodiscard]] std::vector<std::string> evidence_sources() const {
    std::map<std::string, int> rows;
    for (const ResultRow& row : main_rows()) {
      if (shown(cases_[row.case_index].kind)) ++rows[cases_[row.case_index].source];
    }
    std::vector<std::string> out;
    for (const auto& [source, count] : rows) out.push_back(fmt::format("{}: {} figures", source, count));
    return out;
  }

  Status write_report() const {
    const auto directory = session_.data_directory();
    if (!directory) return directory.error();
    const std::string path = *directory + "/evidence/explanations.csv";
    auto text = session_.files().read(path, kGateLimit);
    if (!text) return text.error();
    auto explanations = report::read_explanations(std::move(*text), path);
    if (!explanations) return explanations.error();
    report::ValidationFindings findings{
        cases_, rows_, left_out_, gains(), *catalogue_, *calibration_, std::move(*explanations)};
    Result<std::vector<TraceComparison>> traces = replay_traces(*directory + "/evidence/traces", knowledge());
    if (!traces) return traces.error();
    findings.traces = *std::move(traces);
    Result<std::vector<MeasuredFinding>> measured = measured_findings(*directory, knowledge());
    if (!measured) return measured.error();
    findings.measured = *std::move(measured);
    for (const auto& left_out : left_out_) {
      if (left_out.what != "publisher") continue;
      findings.decisions = judge_decisions(left_out.rows, cases_, knowledge());
      findings.plans = test_plans(left_out.rows, cases_);
    }
    auto layouts = memory_layouts();
    if (!layouts) return layouts.error();
    findings.memory = judge_memory(*layouts, knowledge());
    const std::string scores = *directory + "/evidence/first_contact.csv";
    auto contact = session_.files().read(scores, kGateLimit);
    if (!contact) return contact.error();
    auto first = report::first_contact_markdown(std::move(*contact), scores);
    if (!first) return first.error();
    findings.first_contact = *std::move(first);
    return session_.files().write(arguments_.report, report::accuracy_markdown(findings));
  }

  // What one measurement gains on stacks whose publisher was left out of the fit.
  [[nodiscard]] std::vector<report::ValidationFindings::Gain> gains() const {
    std::vector<report::ValidationFindings::Gain> out;
    for (const CaseKind kind : {CaseKind::inference, CaseKind::training}) {
      std::vector<LeftOutStacks> parts;
      for (const CrossValidation& cv : publishers_) {
        std::vector<LeftOutStacks> own;
        for (const Calibration& fitted : cv.fitted) own.push_back({&fitted, {}});
        std::size_t last = cases_.size();
        for (std::size_t i = 0; i < cv.rows.size(); ++i) {
          const std::size_t at = cv.rows[i].case_index;
          if (at != last && cases_[at].kind == kind) own[cv.fold_of[i]].cases.push_back(cases_[at]);
          last = at;
        }
        std::move(own.begin(), own.end(), std::back_inserter(parts));
      }
      // Tables that the physics was never fitted to: their publishers are left out as they stand.
      const Calibration neutral = calibration_->with_effects({});
      LeftOutStacks never{&neutral, {}};
      for (const Case& c : cases_) {
        if (c.kind == kind && c.fitted && !c.physics) never.cases.push_back(c);
      }
      parts.push_back(std::move(never));
      for (const std::size_t rows : {std::size_t{1}, std::size_t{5}}) {
        out.push_back({fmt::format("{}, {} row{}", name(kind), rows, rows == 1 ? "" : "s"),
                       overlay_gain(parts, *catalogue_, *engines_, rows)});
      }
    }
    return out;
  }

  Result<int> print() {
    std::vector<RequirementMet> verdicts;
    const auto lines = summary(cases_, main_rows(), GroupBy::none, *catalogue_);
    for (const Requirement& r : requirements_) {
      for (RequirementMet& v : check(r, lines)) verdicts.push_back(std::move(v));
    }
    if (session_.form() == Form::json) {
      print_json(verdicts);
    } else if (session_.form() == Form::csv) {
      session_.print(to_csv(report::summary_table(summary(cases_, main_rows(), by_, *catalogue_), arguments_.by)));
    } else {
      session_.print(document(verdicts));
    }
    const bool met = std::all_of(verdicts.begin(), verdicts.end(), [](const RequirementMet& v) { return v.met; });
    return met ? kFine : kCheckFailed;
  }

  [[nodiscard]] std::string title(const std::string& what) const {
    if (what.empty())
      return arguments_.cases.empty() ? "Predictions beside the evidence, in sample" : "Predictions beside the cases";
    if (what.starts_with("publisher")) return "Left out together: " + what;
    return "Whole " + what + " left out of the fit";
  }

  Document document(const std::vector<RequirementMet>& verdicts) const {
    Document page;
    const auto add = [&](const std::string& what, const std::vector<ResultRow>& rows) {
      std::vector<ResultRow> kept;
      for (const ResultRow& row : rows) {
        if (shown(cases_[row.case_index].kind)) kept.push_back(row);
      }
      Table table = report::summary_table(summary(cases_, kept, by_, *catalogue_), arguments_.by);
      table.title = title(what);
      page.blocks.emplace_back(std::move(table));
    };
    // Whoever measured a few runs asks about each of them first.
    constexpr std::size_t kFewFigures = 40;
    if (!arguments_.cases.empty() && !rows_.empty() && rows_.size() <= kFewFigures) {
      page.blocks.emplace_back(report::case_table(cases_, rows_));
      if (const std::string text = report::cases_text(rows_); !text.empty()) {
        page.blocks.emplace_back(Paragraph{text});
      }
    }
    if (left_out_.empty()) add({}, rows_);
    for (const auto& left_out : left_out_) add(left_out.what, left_out.rows);
    if (!arguments_.cases.empty()) add_refused(page);
    if (left_out_.size() > 1) {
      Table table = report::interval_table(left_out_, cases_, *catalogue_);
      table.title = "How often the 80 % interval held";
      page.blocks.emplace_back(std::move(table));
    }
    if (arguments_.simulate && arguments_.cases.empty()) {
      const auto directory = session_.data_directory();
      if (const auto traces = replay_traces(*directory + "/evidence/traces", knowledge())) {
        Table table = report::trace_table(*traces);
        table.title = "Logs of engines, played request by request";
        page.blocks.emplace_back(std::move(table));
      }
    }
    page.blocks.emplace_back(Paragraph{
        fmt::format(
            "{} fitted parameters. Errors are of |predicted/measured - 1|; the roofline is the datasheet alone.",
            count_fitted(*calibration_)),
        Emphasis::faint});
    const auto too_fast = faster_than_roofline(rows_);
    if (!too_fast.empty()) {
      page.blocks.emplace_back(
          Paragraph{fmt::format("{} predictions are faster than the datasheet allows, the first of them {}.",
                                too_fast.size(), cases_[rows_[too_fast[0]].case_index].id),
                    Emphasis::bad});
    }
    for (const RequirementMet& v : verdicts)
      page.blocks.emplace_back(Paragraph{v.text, v.met ? Emphasis::good : Emphasis::bad});
    return page;
  }

  /// Of the user's own rows those that say nothing, with the reason: a misspelt name, usually.
  void add_refused(Document& page) const {
    constexpr std::size_t kMost = 10;
    std::vector<std::string> lines;
    for (const ResultRow& row : main_rows()) {
      const Case& c = cases_[row.case_index];
      if (row.refusal.empty() || !shown(c.kind)) continue;
      std::string line = fmt::format("{}: {}", c.id, row.refusal);
      if (lines.empty() || lines.back() != line) lines.push_back(std::move(line));
    }
    for (std::size_t i = 0; i < std::min(kMost, lines.size()); ++i) {
      page.blocks.emplace_back(Paragraph{"Not predicted: " + lines[i] + ".", Emphasis::bad});
    }
    if (lines.size() > kMost) {
      page.blocks.emplace_back(Paragraph{fmt::format("and {} rows more (--rows lists all)", lines.size() - kMost)});
    }
  }

  // Every prediction beside its measurement; what was refused is left out, as nothing was predicted.
  [[nodiscard]] Json points() const {
    Json all = Json::array();
    for (const ResultRow& row : main_rows()) {
      const Case& c = cases_[row.case_index];
      if (!shown(c.kind) || !row.refusal.empty()) continue;
      Json point = Json::object();
      point.set("id", c.id).set("metric", name(row.metric)).set("kind", name(c.kind)).set("device", c.device);
      point.set("measured", row.measured).set("predicted", row.predicted.mid);
      point.set("low", row.predicted.low).set("high", row.predicted.high);
      if (std::isfinite(row.roofline)) point.set("roofline", row.roofline);
      all.push(std::move(point));
    }
    return all;
  }

  void print_json(const std::vector<RequirementMet>& verdicts) const {
    Json out = Json::object();
    out.set("schema", kValidateSchema);
    Json parameters = Json::object();
    parameters.set("fitted", count_fitted(*calibration_));
    for (const std::string_view group : evidence::kGroups) parameters.set(group, count_fitted(*calibration_, group));
    out.set("parameters", std::move(parameters));
    const auto lines_of = [&](const std::vector<ResultRow>& rows) {
      return to_json(report::summary_table(summary(cases_, rows, by_, *catalogue_), arguments_.by));
    };
    out.set("summary", lines_of(rows_));
    if (!left_out_.empty()) {
      Json all = Json::object();
      for (const auto& left_out : left_out_) all.set(left_out.what, lines_of(left_out.rows));
      out.set("left_out", std::move(all));
    }
    if (left_out_.size() > 1) out.set("intervals", to_json(report::interval_table(left_out_, cases_, *catalogue_)));
    out.set("faster_than_roofline", static_cast<int>(faster_than_roofline(rows_).size()));
    Json bars = Json::array();
    for (const RequirementMet& v : verdicts) bars.push(Json::object().set("met", v.met).set("text", v.text));
    out.set("requirements", std::move(bars));
    if (arguments_.points) out.set("points", points());
    session_.print(out.text());
  }

  /// Layouts of training runs that ran or did not, and the memory they took.
  [[nodiscard]] Result<std::vector<MemoryCase>> memory_layouts() const {
    const auto directory = session_.data_directory();
    if (!directory) return directory.error();
    std::vector<MemoryCase> all;
    for (const std::string_view file : {"/evidence/more/memory_fit.csv", "/evidence/own_memory.csv"}) {
      const std::string path = *directory + std::string(file);
      auto text = session_.files().read(path, kGateLimit);
      if (!text) return text.error();
      auto cases = read_memory_cases(std::move(*text), path);
      if (!cases) return cases.error();
      std::move(cases->begin(), cases->end(), std::back_inserter(all));
    }
    return all;
  }

  Result<int> run_memory() {
    const auto layouts = memory_layouts();
    if (!layouts) return layouts.error();
    Document page;
    Table table = report::memory_table(judge_memory(*layouts, knowledge()));
    table.title = "Memory of training layouts: predicted beside taken";
    if (session_.form() == Form::csv) {
      session_.print(to_csv(table));
      return kFine;
    }
    page.blocks.emplace_back(std::move(table));
    page.blocks.emplace_back(
        Paragraph{"A run may fail for other reasons than memory. Errors are of |predicted/taken - 1| over what ran.",
                  Emphasis::faint});
    session_.print(page);
    return kFine;
  }

  /// Steps of reinforcement learning, the bundled ones or the user's own.
  Result<int> run_rl() {
    const auto directory = session_.data_directory();
    if (!directory) return directory.error();
    std::vector<std::string> paths = arguments_.cases;
    if (paths.empty()) paths = {*directory + "/evidence/more/rl.csv"};
    std::vector<RlCase> cases;
    for (const std::string& path : paths) {
      auto text = session_.files().read(path, kGateLimit);
      if (!text) return text.error();
      auto found = read_rl_cases(std::move(*text), path);
      if (!found) return found.error();
      cases.insert(cases.end(), found->begin(), found->end());
    }
    const RlFindings findings = judge_rl(cases, knowledge());
    if (!arguments_.rows.empty()) {
      const Status s = session_.files().write(arguments_.rows, to_csv(report::rl_rows_table(findings, cases)));
      if (!s) return s.error();
    }
    if (session_.form() == Form::json) {
      Json out = Json::object();
      out.set("schema", kValidateSchema).set("rl", to_json(report::rl_findings_table(findings)));
      out.set("order_pairs", findings.order_pairs).set("order_right", findings.order_right);
      out.set("rows", to_json(report::rl_rows_table(findings, cases)));
      session_.print(out.text());
    } else if (session_.form() == Form::csv) {
      session_.print(to_csv(report::rl_findings_table(findings)));
    } else {
      Document page = report::rl_findings_page(findings);
      if (!arguments_.cases.empty()) {
        for (const std::string& line : findings.refused) page.blocks.emplace_back(Paragraph{line, Emphasis::bad});
      }
      session_.print(page);
    }
    return kFine;
  }

  /// Steps of training diffusion models, the bundled ones or the user's own.
  Result<int> run_diffusion_training() {
    const auto directory = session_.data_directory();
    if (!directory) return directory.error();
    std::vector<std::string> paths = arguments_.cases;
    if (paths.empty()) paths = {*directory + "/evidence/more/diffusion_training.csv"};
    std::vector<DiffusionTrainingCase> cases;
    for (const std::string& path : paths) {
      auto text = session_.files().read(path, kGateLimit);
      if (!text) return text.error();
      auto found = read_diffusion_training_cases(std::move(*text), path);
      if (!found) return found.error();
      cases.insert(cases.end(), found->begin(), found->end());
    }
    const DiffusionTrainingFindings findings = judge_diffusion_training(cases, knowledge());
    const Table rows = report::diffusion_training_rows_table(findings, cases);
    if (!arguments_.rows.empty()) {
      if (const Status s = session_.files().write(arguments_.rows, to_csv(rows)); !s) return s.error();
    }
    const Table table = report::diffusion_training_findings_table(findings);
    if (session_.form() == Form::json) {
      Json out = Json::object();
      out.set("schema", kValidateSchema).set("diffusion_training", to_json(table)).set("rows", to_json(rows));
      session_.print(out.text());
    } else if (session_.form() == Form::csv) {
      session_.print(to_csv(table));
    } else {
      session_.print(report::diffusion_training_findings_page(findings));
    }
    return kFine;
  }

  /// Of two devices at the same work: the order, how sure it was, and what following it costs.
  Result<int> print_decisions() {
    const DecisionFindings found = judge_decisions(main_rows(), cases_, knowledge());
    Document page;
    for (Table& table : report::decision_tables(found)) page.blocks.emplace_back(std::move(table));
    page.blocks.emplace_back(Paragraph{
        fmt::format("Taking the device that is predicted best gives away {:.1f} % of the best measured rate on "
                    "average ({} choices).",
                    100 * found.regret, found.choices)});
    session_.print(page);
    return kFine;
  }

  /// Plans sized with a stated confidence for work that was measured: how many would have held.
  Result<int> print_plans() {
    if (!arguments_.rows.empty()) {
      const Status s = session_.files().write(arguments_.rows, rows_csv(cases_, main_rows()));
      if (!s) return s.error();
    }
    Table table = report::plan_test_table(test_plans(main_rows(), cases_));
    if (session_.form() == Form::csv) {
      session_.print(to_csv(table));
      return kFine;
    }
    if (session_.form() == Form::json) {
      session_.print(Json::object().set("schema", kValidateSchema).set("plans", to_json(table)).text());
      return kFine;
    }
    Document page;
    page.blocks.emplace_back(std::move(table));
    page.blocks.emplace_back(Paragraph{
        "A plan sized with a confidence is given as many devices as the load takes at the slowness that is exceeded "
        "with the rest of it; it holds where what was measured is at least that fast. Evenly: each publisher counts "
        "once.",
        Emphasis::faint});
    session_.print(page);
    return kFine;
  }

  Result<int> run_gates() {
    const auto directory = session_.data_directory();
    if (!directory) return directory.error();
    const auto workloads = load_assumed_workloads(*directory);
    if (!workloads) return workloads.error();
    std::vector<std::string> paths = arguments_.cases;
    if (paths.empty()) {
      if (Result<std::vector<std::string>> gates = files_in(*directory + "/gate", ".csv")) paths = *std::move(gates);
    }
    if (paths.empty()) return Error{ErrorCode::not_found, *directory + "/gate", "there is no gate to compare with"};
    bool clean = true;
    int compared = 0;
    for (const std::string& path : paths) {
      auto text = session_.files().read(path, kGateLimit);
      if (!text) return text.error();
      const auto table = read_gate(std::move(*text), path, *workloads);
      if (!table) return table.error();
      const GateReport found = run_gate(*table, knowledge(), arguments_.threads);
      compared += found.compared;
      for (const std::string& line : gate_lines(*table, found)) session_.print(line + "\n");
      if (arguments_.update) {
        const Status written = session_.files().write(path, updated_gate(*table, found));
        if (!written) return written.error();
      } else {
        clean = clean && found.clean();
      }
    }
    session_.print(fmt::format("{} predictions compared: {}\n", compared,
                               arguments_.update ? "the committed ones are updated"
                               : clean           ? "nothing moved"
                                       : "they moved; if that is meant, run `ridge validate --gate --update`"));
    return clean ? kFine : kCheckFailed;
  }

  Session& session_;
  const ValidateArguments& arguments_;
  const Catalogue* catalogue_ = nullptr;
  const Engines* engines_ = nullptr;
  const Calibration* calibration_ = nullptr;
  GroupBy by_ = GroupBy::none;
  std::vector<FoldBy> ways_;
  std::vector<CaseKind> kinds_;
  std::vector<Requirement> requirements_;
  std::vector<Case> cases_;
  PublishedSettings settings_;
  std::vector<ResultRow> rows_;
  std::vector<report::ValidationFindings::LeftOut> left_out_;
  std::vector<CrossValidation> publishers_;  ///< of those, with sources left out
};

}  // namespace

static Action declare_validate(Options& options) {
  auto arguments = std::make_shared<ValidateArguments>();
  options.list("--cases", "FILE", arguments->cases, "your own measurements, with the columns of data/evidence",
               value::file());
  options.list("--kind", "KIND", arguments->kinds, "only training, inference, kernel, power or diffusion",
               value::one_of({"training", "inference", "kernel", "power", "diffusion"}));
  options.text("--rows", "OUT", arguments->rows, "write one line per figure: id, metric, measured, predicted, interval",
               value::written());
  options.text("--by", "WHAT", arguments->by,
               "split by model, device, source, engine, precision, mode, class or vendor",
               value::one_of({"model", "device", "source", "engine", "precision", "mode", "class", "vendor"}));
  options.text("--cv", "WHAT", arguments->cv,
               "refit without each of the models, devices, sources, all three, or joint: what goes out together",
               value::one_of({"models", "devices", "sources", "all", "joint"}));
  options.list("--require", "BAR", arguments->require, "exit with 3 unless met: 'tpot_ms<=10/33', 'step_time_s>=97'",
               value::parsed([](std::string_view text) -> Status {
                 const auto read = parse_requirement(std::string(text));
                 return read ? Status() : Status(read.error());
               }));
  options.text("--svg", "OUT", arguments->svg, "draw predicted against measured", value::written());
  options.text("--html", "OUT", arguments->html, "the same as a page", value::written());
  options.text("--report", "OUT", arguments->report, "write docs/accuracy.md: all of it, cross-validated",
               value::written());
  options.flag("--simulate", arguments->simulate, "play closed loops request by request, as `ridge simulate` does");
  options.flag("--memory", arguments->memory, "training layouts that ran or did not, beside the memory they took");
  options.flag("--rl", arguments->rl, "steps of reinforcement learning, with each publisher left out in turn");
  options.flag("--diffusion-training", arguments->diffusion_training,
               "steps of training diffusion models, with each submitter left out in turn");
  options.flag("--decisions", arguments->decisions,
               "pairs of devices at the same work: the order, how sure it was, and what following it costs");
  options.flag("--plans", arguments->plans,
               "plans sized with 50, 80 and 95 % for work of publishers left out of the fit: how many would have held");
  options.flag("--points", arguments->points, "with --json: every prediction beside its measurement");
  options.flag("--gate", arguments->gate, "compare predictions of a fixed grid with the committed ones");
  options.flag("--update", arguments->update, "with --gate: commit the predictions of today");
  options.count("--threads", "N", arguments->threads, "how many; results do not depend on it");
  return [arguments](Session& session) { return Validation(session, *arguments).run(); };
}

Verb validate_verb() {
  return {
      "validate", "predictions beside published measurements, or beside yours",
      "Runs every case of the bundled evidence, or of your own files with the same columns (--cases), and prints "
      "for each "
      "metric how many were predicted, the median and 90th percentile of |predicted/measured - 1|, the bias and how "
      "often "
      "the 80 % interval held, beside what the datasheet alone says.\n\n"
      "--cv refits without each model, device or publisher in turn and predicts what was left out. --require turns "
      "bars "
      "into exit code 3: 'output_tok_s@offline<=7.5/23' is a median of 7.5 % and a 90th percentile of 23 %, "
      "'step_time_s>=97' a coverage.\n\n"
      "--gate compares the predictions of a fixed grid with those committed; --update commits them again.",
      "ridge validate\n"
      "ridge validate --kind inference --by device\n"
      "ridge validate --cases data/evidence/consumer.csv --rows /tmp/rows.csv\n"
      "ridge validate --gate",
      declare_validate};
}

}  // namespace ridge::cli
