#include "report/evidence/validation_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "evidence/fit/calibrate.hpp"
#include "ridge/base/csv.hpp"
#include "ridge/base/text.hpp"

namespace ridge::report {
namespace {

using evidence::Case;
using evidence::Category;
using evidence::ErrorSummary;
using evidence::Metric;
using evidence::ResultRow;
using evidence::SummaryLine;

Cell percent_cell(double share, int decimals = 1) {
  if (!std::isfinite(share)) return {};
  return Cell(share).shown_as(fmt::format("{:.{}f} %", 100 * share, decimals));
}

Cell whole_percent(double share) {
  return percent_cell(share, 0);
}

std::string refusal_text(const SummaryLine& line) {
  std::string out;
  for (const auto& [kind, count] : line.refusals) out += fmt::format("{}{} {}", out.empty() ? "" : ", ", count, kind);
  return out;
}

// The unit and the factor from the column's unit to it: kernels are read in microseconds.
std::pair<std::string, double> axis_of(Metric metric) {
  switch (metric) {
    case Metric::output_tok_s:
    case Metric::total_tok_s:
      return {"tokens/s", 1};
    case Metric::tokens_per_sec_per_gpu:
      return {"tokens/s/GPU", 1};
    case Metric::ttft_ms:
    case Metric::tpot_ms:
    case Metric::e2e_ms:
      return {"ms", 1};
    case Metric::power_w:
    case Metric::watts:
      return {"W", 1};
    case Metric::joules_per_output_token:
    case Metric::joules_per_token:
      return {"J/token", 1};
    case Metric::energy_per_image_j:
      return {"J/image", 1};
    case Metric::images_per_s:
      return {"images/s", 1};
    case Metric::seconds:
      return {"µs", 1e6};
    case Metric::step_time_s:
    case Metric::batch_latency_s:
      break;
  }
  return {"s", 1};
}

}  // namespace

Table case_table(std::span<const Case> cases, std::span<const ResultRow> rows) {
  Table table;
  table.title = "Each figure, with the 80 % interval of its prediction; ratio is measured ÷ predicted";
  table.columns = {{.key = "case", .heading = "case", .overflow = Overflow::truncate},
                   {.key = "metric", .heading = "metric"},
                   {.key = "measured", .heading = "measured", .kind = ColumnKind::number},
                   {.key = "predicted", .heading = "predicted (80 %)", .kind = ColumnKind::interval},
                   {.key = "ratio", .heading = "ratio", .kind = ColumnKind::number},
                   {.key = "inside", .heading = "inside"}};
  for (const ResultRow& row : rows) {
    const auto [unit, factor] = axis_of(row.metric);
    const auto number = [scale = factor](double value, int digits = 3) { return format_number(value * scale, digits); };
    const Interval& p = row.predicted;
    const bool known = std::isfinite(p.mid) && p.mid > 0;
    const bool inside = row.measured >= p.low && row.measured <= p.high;
    table.rows.push_back(
        {Cell(cases[row.case_index].id), Cell(std::string(name(row.metric))),
         Cell(row.measured).shown_as(fmt::format("{} {}", number(row.measured), unit)),
         known ? Cell::interval(p).shown_as(fmt::format("{} ({}–{})", number(p.mid), number(p.low), number(p.high)))
               : Cell(),
         known ? Cell(row.measured / p.mid).shown_as(fmt::format("{:.2f}", row.measured / p.mid)) : Cell(),
         known ? Cell(inside                 ? "yes"
                      : row.measured < p.low ? "below"
                                             : "above")
               : Cell("not predicted")});
  }
  return table;
}

std::string cases_text(std::span<const ResultRow> rows) {
  int inside = 0;
  int better = 0;
  int worse = 0;
  for (const ResultRow& row : rows) {
    if (!(std::isfinite(row.predicted.mid) && row.predicted.mid > 0)) continue;
    const bool above = row.measured > row.predicted.high;
    if (!above && row.measured >= row.predicted.low) {
      ++inside;
    } else {
      const bool rate = axis_of(row.metric).first.find("/s") != std::string::npos;
      ++(above == rate ? better : worse);
    }
  }
  const int all = inside + better + worse;
  if (all == 0) return "";
  const auto count = [](int n) {
    return n == 0 ? std::string("none is") : fmt::format("{} {}", n, n == 1 ? "is" : "are");
  };
  return fmt::format("{} of {} figure{} {} as predicted (inside the interval), {} better, {} worse.", inside, all,
                     all == 1 ? "" : "s", inside == 1 ? "is" : "are", count(better), count(worse));
}

Table summary_table(std::span<const SummaryLine> lines, std::string_view grouped_by) {
  Table table;
  table.columns.push_back({.key = "metric", .heading = "metric"});
  if (!grouped_by.empty()) {
    table.columns.push_back(
        {.key = std::string(grouped_by), .heading = std::string(grouped_by), .overflow = Overflow::truncate});
  }
  const auto number = [&](const char* key, const char* heading) {
    table.columns.push_back({.key = key, .heading = heading, .kind = ColumnKind::number});
  };
  number("cases", "cases");
  number("coverage", "predicted");
  number("median", "median");
  number("p90", "p90");
  number("bias", "bias");
  number("within_10", "≤ 10 %");
  number("within_20", "≤ 20 %");
  number("within_30", "≤ 30 %");
  number("held", "80 % coverage");
  const bool left_out =
      std::any_of(lines.begin(), lines.end(), [](const SummaryLine& l) { return l.in_sample.predicted > 0; });
  if (left_out) {
    number("in_sample_median", "in-sample median");
    number("in_sample_p90", "in-sample p90");
  }
  number("roofline_median", "roofline median");
  number("roofline_p90", "roofline p90");
  table.columns.push_back({.key = "refusals", .heading = "not predicted", .overflow = Overflow::truncate});
  for (const SummaryLine& line : lines) {
    const ErrorSummary& e = line.errors;
    std::vector<Cell> row = {Cell(line.category.label())};
    if (!grouped_by.empty()) row.emplace_back(line.group.empty() ? "not said" : line.group);
    row.insert(row.end(), {Cell(e.asked), whole_percent(e.coverage()), percent_cell(e.median), percent_cell(e.p90),
                           percent_cell(e.bias), whole_percent(e.within_10), whole_percent(e.within_20),
                           whole_percent(e.within_30), whole_percent(e.held)});
    if (left_out) row.insert(row.end(), {percent_cell(line.in_sample.median), percent_cell(line.in_sample.p90)});
    row.insert(row.end(), {whole_percent(line.roofline.median), whole_percent(line.roofline.p90)});
    row.push_back(line.refusals.empty() ? Cell() : Cell(refusal_text(line)));
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::vector<Scatter> scatters(std::span<const Case> cases, std::span<const ResultRow> rows, int least) {
  std::map<std::string, int> styles;  // by the number of rows, so that common devices get the plain circles
  {
    std::map<std::string, int> counts;
    for (const ResultRow& row : rows) ++counts[cases[row.case_index].device];
    std::vector<std::pair<int, std::string>> order;
    for (const auto& [device, count] : counts) order.emplace_back(-count, device);
    std::sort(order.begin(), order.end());
    for (const auto& [count, device] : order) styles.emplace(device, static_cast<int>(styles.size()));
  }
  const Catalogue none;  // classes of models do not matter here
  std::vector<Scatter> out;
  for (const SummaryLine& line : evidence::summary(cases, rows, evidence::GroupBy::none, none)) {
    if (line.errors.predicted < least) continue;
    const auto [unit, factor] = axis_of(line.category.metric);
    Scatter figure;
    figure.title = line.category.label();
    figure.subtitle =
        fmt::format("{} cases, median error {:.1f} %, p90 {:.0f} %, bias {:+.1f} %", line.errors.predicted,
                    100 * line.errors.median, 100 * line.errors.p90, 100 * line.errors.bias);
    figure.axis = unit;
    std::map<std::string, std::size_t> series;
    for (const ResultRow& row : rows) {
      const Case& c = cases[row.case_index];
      if (evidence::category(c, row.metric) != line.category || !std::isfinite(row.predicted.mid)) continue;
      const auto [at, is_new] = series.emplace(c.device, figure.series.size());
      if (is_new) figure.series.push_back({c.device, styles[c.device]});
      figure.points.push_back({row.measured * factor, row.predicted.mid * factor, at->second,
                               fmt::format("{}: measured {:.4g}, predicted {:.4g} {}", c.id, row.measured * factor,
                                           row.predicted.mid * factor, unit)});
    }
    out.push_back(std::move(figure));
  }
  return out;
}

Result<Explanations> read_explanations(std::string csv, const std::string& name) {
  const auto table = CsvTable::parse(std::move(csv), name);
  if (!table) return table.error();
  std::size_t columns[3] = {};
  const char* names[3] = {"id", "cause", "explanation"};
  for (int i = 0; i < 3; ++i) {
    const auto column = table->required_column(names[i]);
    if (!column) return column.error();
    columns[i] = *column;
  }
  Explanations out;
  for (std::size_t row = 0; row < table->rows(); ++row) {
    const std::string_view cause = table->cell(row, columns[1]);
    if (cause != "evidence" && cause != "physics") {
      return table->error(row, columns[1],
                          "the cause is 'evidence' (the row looks wrong) or 'physics' (we lack an effect)");
    }
    Explanation e{std::string(cause), std::string(table->cell(row, columns[2]))};
    if (!out.emplace(std::string(table->cell(row, columns[0])), std::move(e)).second) {
      return table->error(row, columns[0], "this id is explained twice");
    }
  }
  return out;
}

std::vector<ResultRow> worst(std::span<const ResultRow> rows, std::size_t count) {
  std::vector<ResultRow> sorted;
  for (const ResultRow& row : rows) {
    if (std::isfinite(row.predicted.mid) && row.measured > 0) sorted.push_back(row);
  }
  const auto distance = [](const ResultRow& r) { return std::abs(std::log(r.predicted.mid / r.measured)); };
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](const ResultRow& a, const ResultRow& b) { return distance(a) > distance(b); });
  std::vector<ResultRow> out;
  std::set<std::size_t> seen;
  for (const ResultRow& row : sorted) {
    if (out.size() == count) break;
    if (seen.insert(row.case_index).second) out.push_back(row);
  }
  return out;
}

Table interval_table(std::span<const ValidationFindings::LeftOut> cross_validated, std::span<const Case> cases,
                     const Catalogue& catalogue) {
  std::map<std::string, std::vector<evidence::Comparison>> piles;
  for (const ValidationFindings::LeftOut& left_out : cross_validated) {
    for (const ResultRow& row : left_out.rows) {
      if (!std::isfinite(row.predicted.mid)) continue;
      const std::string kind = evidence::model_class(cases[row.case_index], catalogue);
      piles["all"].push_back(row.comparison());
      if (left_out.what == "models" && !kind.empty()) piles[kind].push_back(row.comparison());
      if (left_out.what == "devices") piles["new device"].push_back(row.comparison());
      if (left_out.what == "sources") piles["new source"].push_back(row.comparison());
    }
  }
  Table table;
  table.columns = {{.key = "class", .heading = "class"},
                   {.key = "cases", .heading = "cases", .kind = ColumnKind::number},
                   {.key = "held", .heading = "80 % coverage", .kind = ColumnKind::number}};
  for (const auto& [kind, pile] : piles) {
    const ErrorSummary e = evidence::summarise(pile);
    table.rows.push_back({Cell(kind), Cell(e.predicted), percent_cell(e.held)});
  }
  return table;
}

Table parameter_table(const Calibration& calibration) {
  Table table;
  table.columns = {{.key = "group", .heading = "group"},
                   {.key = "fitted", .heading = "fitted parameters", .kind = ColumnKind::number},
                   {.key = "informed", .heading = "informed by evidence", .kind = ColumnKind::number}};
  for (const std::string_view group : evidence::kGroups) {
    int informed = 0;
    for (const Parameter& p : calibration.parameters()) informed += p.fitted && p.group == group && p.rows > 0 ? 1 : 0;
    table.rows.push_back({Cell(group), Cell(evidence::count_fitted(calibration, group)), Cell(informed)});
  }
  table.rows.push_back({Cell("all"), Cell(evidence::count_fitted(calibration)), Cell()});
  return table;
}

}  // namespace ridge::report
