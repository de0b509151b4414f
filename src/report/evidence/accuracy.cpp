// The page docs/accuracy.md.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "evidence/fit/calibrate.hpp"
#include "report/evidence/validation_report.hpp"

namespace ridge::report {
namespace {

using evidence::Case;
using evidence::GroupBy;
using evidence::Metric;
using evidence::ResultRow;

std::string error_text(const ResultRow& row) {
  return fmt::format("{:+.0f} %", 100 * row.comparison().error());
}

bool headline(const ResultRow& row) {
  switch (row.metric) {
    case Metric::step_time_s:
    case Metric::output_tok_s:
    case Metric::tpot_ms:
    case Metric::ttft_ms:
    case Metric::power_w:
    case Metric::batch_latency_s:
      return true;
    default:
      return false;
  }
}

std::string worst_section(const ValidationFindings& f) {
  std::vector<ResultRow> rows;
  for (const ResultRow& row : f.rows) {
    if (headline(row) && f.cases[row.case_index].kind != evidence::CaseKind::kernel) rows.push_back(row);
  }
  Table table;
  table.columns = {{.key = "id", .heading = "row"},
                   {.key = "metric", .heading = "metric"},
                   {.key = "measured", .heading = "measured", .kind = ColumnKind::number},
                   {.key = "predicted", .heading = "predicted", .kind = ColumnKind::number},
                   {.key = "error", .heading = "error", .kind = ColumnKind::number},
                   {.key = "explanation", .heading = "why"}};
  for (const ResultRow& row : worst(rows, 10)) {
    const std::string& id = f.cases[row.case_index].id;
    const auto known = f.explanations.find(id);
    const std::string why = known == f.explanations.end()
                                ? "not explained yet"
                                : fmt::format("{}: {}", known->second.cause, known->second.text);
    table.rows.push_back({Cell(id), Cell(evidence::name(row.metric)), Cell(row.measured, 4), Cell(row.predicted.mid, 4),
                          Cell(row.comparison().error()).shown_as(error_text(row)), Cell(why)});
  }
  return to_markdown(table);
}

std::string suspects_section(const ValidationFindings& f) {
  Table table;
  table.columns = {{.key = "id", .heading = "row"},
                   {.key = "metric", .heading = "metric"},
                   {.key = "error", .heading = "error", .kind = ColumnKind::number},
                   {.key = "explanation", .heading = "why it looks wrong"}};
  for (const auto& [id, explanation] : f.explanations) {
    if (explanation.cause != "evidence") continue;
    const auto row = std::find_if(f.rows.begin(), f.rows.end(), [&, wanted = id](const ResultRow& r) {
      return headline(r) && f.cases[r.case_index].id == wanted;
    });
    const bool there = row != f.rows.end() && std::isfinite(row->predicted.mid);
    table.rows.push_back({Cell(id), there ? Cell(evidence::name(row->metric)) : Cell(),
                          there ? Cell(row->comparison().error()).shown_as(error_text(*row)) : Cell(),
                          Cell(explanation.text)});
  }
  return to_markdown(table);
}

std::string gains_section(const ValidationFindings& f) {
  Table table;
  table.columns = {{.key = "what", .heading = "evidence"},
                   {.key = "stacks", .heading = "stacks", .kind = ColumnKind::number},
                   {.key = "cases", .heading = "other rows", .kind = ColumnKind::number},
                   {.key = "before", .heading = "median / p90 before"},
                   {.key = "after", .heading = "median / p90 after"}};
  const auto pair = [](const evidence::ErrorSummary& e) {
    return Cell(fmt::format("{:.1f} / {:.0f} %", 100 * e.median, 100 * e.p90));
  };
  for (const ValidationFindings::Gain& g : f.gains) {
    table.rows.push_back(
        {Cell(g.what), Cell(g.gain.stacks), Cell(g.gain.before.predicted), pair(g.gain.before), pair(g.gain.after)});
  }
  return to_markdown(table);
}

std::string measured_section(const ValidationFindings& f) {
  std::string text =
      "## Devices that were measured\n\nProfiles of `ridge measure --quick` that come with the data (`--device "
      "data/profiles/...`; [how](measure.md)):\nerrors by the catalogue, and after the fit to the profile.\n\n";
  for (const evidence::MeasuredFinding& m : f.measured) {
    text += fmt::format("### {}, {}, driver {}\n\n", m.device, m.date, m.driver);
    if (!m.steps.empty()) {
      text += fmt::format("Whole steps of {}, timed by `ridge measure model`; the fit has not seen them:\n\n{}\n",
                          fmt::join(m.models, ", "), to_markdown(measured_gain_table(m.steps)));
    }
    text += "The points and steps that the fit is made of:\n\n" + to_markdown(measured_gain_table(m.points)) + "\n";
  }
  return text;
}

}  // namespace

Table trace_table(std::span<const evidence::TraceComparison> comparisons) {
  Table table;
  table.columns = {{.key = "log", .heading = "log"},
                   {.key = "requests", .heading = "requests", .kind = ColumnKind::number},
                   {.key = "measure", .heading = "measure"},
                   {.key = "measured", .unit = "s", .heading = "median measured", .kind = ColumnKind::number},
                   {.key = "simulated", .unit = "s", .heading = "simulated", .kind = ColumnKind::number},
                   {.key = "error", .heading = "error", .kind = ColumnKind::number},
                   {.key = "distance", .heading = "Kolmogorov–Smirnov", .kind = ColumnKind::number}};
  for (const evidence::TraceComparison& c : comparisons) {
    table.rows.push_back({Cell(c.file), Cell(c.requests), Cell(c.measure), Cell(Seconds(c.measured)),
                          Cell(Seconds(c.simulated)),
                          Cell(c.error()).shown_as(fmt::format("{:+.1f} %", 100 * c.error())), Cell(c.distance, 2)});
  }
  return table;
}

Table measured_gain_table(std::span<const evidence::MeasuredGain> gains) {
  Table table;
  table.columns = {
      {.key = "what", .heading = "what"},
      {.key = "points", .heading = "points", .kind = ColumnKind::number},
      {.key = "median_before", .unit = "percent", .heading = "median, %", .kind = ColumnKind::number},
      {.key = "worst_before", .unit = "percent", .heading = "worst, %", .kind = ColumnKind::number},
      {.key = "median_after", .unit = "percent", .heading = "after: median, %", .kind = ColumnKind::number},
      {.key = "worst_after", .unit = "percent", .heading = "worst, %", .kind = ColumnKind::number}};
  const auto percent = [](double share) { return Cell(fmt::format("{:.1f}", 100 * share)); };
  for (const evidence::MeasuredGain& g : gains) {
    table.rows.push_back({Cell(g.family), Cell(g.points), percent(g.median_before), percent(g.worst_before),
                          percent(g.median_after), percent(g.worst_after)});
  }
  return table;
}

std::string accuracy_markdown(const ValidationFindings& f) {
  std::string page =
      "# How accurate the predictions are\n\n"
      "Generated by `ridge validate --report docs/accuracy.md`; do not edit. Errors are of |predicted/measured − 1|, "
      "bias is the\n"
      "median of predicted/measured − 1, and the roofline is what the datasheet alone says (`--engine ideal`). "
      "Measurements repeat\n"
      "themselves to 3–10 % in the median from one software release to the next: an error below that means little.\n\n";
  bool joint = false;
  for (const ValidationFindings::LeftOut& left_out : f.cross_validated) {
    if (!left_out.what.starts_with("publisher")) continue;
    if (!joint) {
      page +=
          "## As new users will see it: left out together\n\nA publisher's rows are predicted without any row of that "
          "publisher, and without any row of its devices or of its\nengine. The interval of each comes from the other "
          "publishers. This is what an answer about a machine, a framework and a\nmodel of your own is like.\n\n";
      joint = true;
    }
    page += fmt::format("### Without the {}\n\n", left_out.what);
    page += to_markdown(summary_table(evidence::summary(f.cases, left_out.rows, GroupBy::none, f.catalogue)));
    page += "\nBy vendor:\n\n";
    page +=
        to_markdown(summary_table(evidence::summary(f.cases, left_out.rows, GroupBy::vendor, f.catalogue), "vendor"));
    page += "\nDense and mixture models apart:\n\n";
    page += to_markdown(
        summary_table(evidence::summary(f.cases, left_out.rows, GroupBy::model_class, f.catalogue), "class"));
    page += "\n";
  }
  if (!f.plans.empty()) {
    page +=
        "## Plans that would have held\n\nSized with a confidence (`ridge plan --confidence`) for work of publishers "
        "that the fit had not seen: as many devices as the load takes\nat the slowness that is exceeded with the rest "
        "of "
        "the confidence. Evenly: each publisher counts once.\n\n";
    Table table = plan_test_table(f.plans);
    table.title.clear();
    page += to_markdown(table) + "\n";
  }
  if (f.decisions) {
    page += "## Decisions\n\n";
    for (Table& table : decision_tables(*f.decisions)) {
      page += fmt::format("{}:\n\n", table.title);
      table.title.clear();
      page += to_markdown(table) + "\n";
    }
    page += fmt::format(
        "Taking the device that is predicted best gives away {:.1f} % of the best measured rate on average ({} "
        "choices).\n\n",
        100 * f.decisions->regret, f.decisions->choices);
  }
  if (!f.memory.empty()) {
    page += "## Memory of training layouts\n\n" + to_markdown(memory_table(f.memory)) + "\n";
  }
  if (!f.first_contact.empty()) {
    page +=
        "## First contact\n\nHow each new set of rows was predicted before anything was fitted or changed for it. This "
        "section only grows.\n\n" +
        f.first_contact + "\n";
  }
  page +=
      "## One thing left out at a time\n\nEach prediction below comes from parameters fitted without the model, device "
      "or publisher it is about: an easier\nquestion than the ones above.\n\n";
  for (const ValidationFindings::LeftOut& left_out : f.cross_validated) {
    if (left_out.what.starts_with("publisher")) continue;
    page += fmt::format("### Whole {} left out\n\n", left_out.what);
    page += to_markdown(summary_table(evidence::summary(f.cases, left_out.rows, GroupBy::none, f.catalogue)));
    page += fmt::format("\nDense and mixture models apart:\n\n");
    page += to_markdown(
        summary_table(evidence::summary(f.cases, left_out.rows, GroupBy::model_class, f.catalogue), "class"));
    page += "\n";
  }
  if (!f.cross_validated.empty()) {
    page +=
        "### How often the interval held\n\nIntervals are made from folds other than the one they are tested on.\n\n";
    page += to_markdown(interval_table(f.cross_validated, f.cases, f.catalogue)) + "\n";
  }
  page += "## In sample\n\n";
  page += to_markdown(summary_table(evidence::summary(f.cases, f.rows, GroupBy::none, f.catalogue))) + "\n";
  page += fmt::format("Predictions faster than the datasheet allows: {}.\n\n",
                      evidence::faster_than_roofline(f.rows).size());
  page += "`ridge validate --by device` and `--by source` split them.\n\n";
  if (!f.traces.empty()) {
    page +=
        "## Logs of engines, request by request\n\nPlayed by the simulator at the recorded arrivals (`ridge validate "
        "--simulate`). Four factors were set on these logs.\n\n";
    page += to_markdown(trace_table(f.traces)) + "\n";
  }
  if (!f.gains.empty()) {
    page +=
        "## What measurements of your own gain\n\nFor every stack (publisher, engine, device, model) with its "
        "publisher left out of "
        "the fit: one or five rows are given\nto `ridge calibrate --cases`, the others are predicted before and "
        "after.\n\n";
    page += gains_section(f) + "\n";
  }
  if (!f.measured.empty()) page += measured_section(f);
  page += "## Parameters\n\n" + to_markdown(parameter_table(f.calibration)) + "\n";
  page += "## The ten worst cases\n\n" + worst_section(f) + "\n";
  page += "## Rows that look wrong\n\nKept as published; the fit is robust against them.\n\n" + suspects_section(f);
  return page;
}

}  // namespace ridge::report
