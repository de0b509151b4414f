// ridge measure model --compare: steps as measured beside steps as predicted, operator by operator.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "app/cli/estimate/estimate.hpp"
#include "app/cli/evidence/measure.hpp"
#include "evidence/measured/device.hpp"
#include "evidence/measured/measurement.hpp"
#include "evidence/measured/steps.hpp"
#include "evidence/rows/errors.hpp"

namespace ridge::cli {

namespace {

using evidence::StepPrediction;

constexpr std::size_t kComparedLimit = 16u << 20;

struct Compared {
  const measure::ModelStep* step;
  StepPrediction predicted;
  [[nodiscard]] double error() const { return predicted.seconds / step->seconds - 1; }
};

struct Spread {
  int count = 0;
  double median = 0;  ///< of the absolute error
  double worst = 0;
  double bias = 0;  ///< median of the signed error
};

Spread spread_of(std::vector<double> errors) {
  Spread s;
  s.count = static_cast<int>(errors.size());
  if (errors.empty()) return s;
  s.bias = evidence::quantile(errors, 0.5);
  for (double& e : errors) e = std::abs(e);
  s.worst = *std::max_element(errors.begin(), errors.end());
  s.median = evidence::quantile(std::move(errors), 0.5);
  return s;
}

Table step_table(const std::vector<Compared>& all) {
  Table table;
  table.title = "Steps";
  table.columns = {{.key = "phase", .heading = "phase"},
                   {.key = "precision", .heading = "format"},
                   {.key = "batch", .heading = "batch", .kind = ColumnKind::number},
                   {.key = "context", .heading = "context", .kind = ColumnKind::number},
                   {.key = "measured", .unit = "s", .heading = "measured", .kind = ColumnKind::number},
                   {.key = "predicted", .unit = "s", .heading = "predicted", .kind = ColumnKind::number},
                   {.key = "error", .unit = "percent", .heading = "error, %", .kind = ColumnKind::number}};
  for (const Compared& c : all) {
    table.rows.push_back({Cell(c.step->phase), Cell(c.step->precision), Cell(c.step->batch, 5),
                          Cell(c.step->context, 6), Cell(Seconds(c.step->seconds)), Cell(Seconds(c.predicted.seconds)),
                          Cell(fmt::format("{:+.1f}", 100 * c.error()))});
  }
  return table;
}

Table summary_table(const std::vector<Compared>& all) {
  Table table;
  table.title = "Errors of whole steps";
  table.columns = {{.key = "steps", .heading = "steps"},
                   {.key = "count", .heading = "number", .kind = ColumnKind::number},
                   {.key = "median", .unit = "percent", .heading = "median, %", .kind = ColumnKind::number},
                   {.key = "worst", .unit = "percent", .heading = "worst, %", .kind = ColumnKind::number},
                   {.key = "bias", .unit = "percent", .heading = "bias, %", .kind = ColumnKind::number}};
  std::map<std::string, std::vector<double>> groups;
  std::vector<double> every;
  for (const Compared& c : all) {
    groups[c.step->phase + " " + c.step->precision].push_back(c.error());
    every.push_back(c.error());
  }
  const auto add = [&](const std::string& name, std::vector<double> errors) {
    const Spread s = spread_of(std::move(errors));
    table.rows.push_back({Cell(name), Cell(s.count), Cell(fmt::format("{:.1f}", 100 * s.median)),
                          Cell(fmt::format("{:.1f}", 100 * s.worst)), Cell(fmt::format("{:+.1f}", 100 * s.bias))});
  };
  for (const auto& [name, errors] : groups) add(name, errors);
  add("all", std::move(every));
  return table;
}

Table skipped_table(const std::vector<measure::Skipped>& skipped) {
  Table table;
  table.title = "Not measured";
  table.columns = {{.key = "what", .heading = "what"}, {.key = "why", .heading = "why"}};
  for (const measure::Skipped& s : skipped) table.rows.push_back({Cell(s.what), Cell(s.why)});
  return table;
}

Table operator_table(const std::vector<Compared>& all) {
  Table table;
  table.title = "Operators, each timed by itself";
  table.columns = {{.key = "operator", .heading = "operator"},
                   {.key = "phase", .heading = "phase"},
                   {.key = "precision", .heading = "format"},
                   {.key = "share", .unit = "percent", .heading = "of the step, %", .kind = ColumnKind::number},
                   {.key = "median", .unit = "percent", .heading = "median, %", .kind = ColumnKind::number},
                   {.key = "worst", .unit = "percent", .heading = "worst, %", .kind = ColumnKind::number},
                   {.key = "bias", .unit = "percent", .heading = "bias, %", .kind = ColumnKind::number}};
  struct Group {
    std::vector<double> errors, shares;
  };
  std::map<std::tuple<std::string, std::string, std::string>, Group> groups;
  for (const Compared& c : all) {
    for (const measure::ModelStep::Operator& m : c.step->operators) {
      const auto& list = c.predicted.operators;
      const auto p = std::find_if(list.begin(), list.end(), [&](const auto& o) { return o.what == m.what; });
      if (p == list.end()) continue;
      Group& g = groups[{c.step->phase, c.step->precision, m.what}];
      g.errors.push_back(p->seconds / m.seconds - 1);
      g.shares.push_back(m.seconds / c.step->seconds);
    }
  }
  for (auto& [key, g] : groups) {
    const Spread s = spread_of(g.errors);
    table.rows.push_back({Cell(std::get<2>(key)), Cell(std::get<0>(key)), Cell(std::get<1>(key)),
                          Cell(fmt::format("{:.0f}", 100 * spread_of(g.shares).median)),
                          Cell(fmt::format("{:.1f}", 100 * s.median)), Cell(fmt::format("{:.1f}", 100 * s.worst)),
                          Cell(fmt::format("{:+.1f}", 100 * s.bias))});
  }
  return table;
}

}  // namespace

Result<int> measure_compare(Session& session, const MeasureArguments& arguments) {
  const Result<std::string> text = session.files().read(arguments.compare, kComparedLimit);
  if (!text) return text.error();
  const Result<measure::Profile> profile = evidence::read_measurement(*text, arguments.compare);
  if (!profile) return profile.error();
  if (profile->steps.empty()) {
    return Error{ErrorCode::bad_input, arguments.compare, "has no steps: write it by `ridge measure model --out FILE`"};
  }
  const Result<Knowledge> knowledge = knowledge_of(session);
  if (!knowledge) return knowledge.error();
  std::string id = arguments.device;
  if (id.empty()) {
    const Result<std::string> like = evidence::device_like(*profile, knowledge->catalogue);
    if (!like) return like.error();
    id = *like;
  }
  std::vector<Compared> all;
  for (const measure::ModelStep& step : profile->steps) {
    const std::string& model = arguments.model.empty() ? evidence::model_of(step, *profile) : arguments.model;
    Result<StepPrediction> p = evidence::predict_step(step, model, id, *knowledge);
    if (!p) return p.error();
    all.push_back({&step, *std::move(p)});
  }
  if (session.form() == Form::csv) {
    session.print(to_csv(step_table(all)));
    return kFine;
  }
  if (session.form() == Form::json) {
    Json json = Json::object();
    json.set("schema", "ridge-measure-compare-1").set("device", id).set("measured_on", profile->facts.name);
    json.set("steps", to_json(step_table(all))).set("summary", to_json(summary_table(all)));
    json.set("operators", to_json(operator_table(all))).set("skipped", to_json(skipped_table(profile->skipped)));
    session.print(json.text());
    return kFine;
  }
  Document page;
  page.blocks.emplace_back(Paragraph{
      fmt::format("Steps of {} on {} ({}), predicted for {} with the engine native.",
                  evidence::model_of(profile->steps.front(), *profile), profile->facts.name, profile->date, id),
      Emphasis::none});
  page.blocks.emplace_back(step_table(all));
  if (!profile->skipped.empty()) page.blocks.emplace_back(skipped_table(profile->skipped));
  page.blocks.emplace_back(operator_table(all));
  page.blocks.emplace_back(summary_table(all));
  session.print(page);
  return kFine;
}

}  // namespace ridge::cli
