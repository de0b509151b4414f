#include "report/record/mlperf_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "report/estimate/inference_report.hpp"
#include "ridge/base/text.hpp"

namespace ridge::report {

namespace {

using namespace ridge::mlperf;  // NOLINT(google-build-using-namespace): the file speaks of nothing else

Column text_column(std::string key, std::string heading, Overflow overflow = Overflow::keep) {
  return {.key = std::move(key), .heading = std::move(heading), .overflow = overflow};
}

Column number_column(std::string key, std::string heading, std::string unit = "") {
  return {.key = std::move(key), .unit = std::move(unit), .heading = std::move(heading), .kind = ColumnKind::number};
}

Cell ratio_cell(double ratio) {
  return Cell(ratio).shown_as(fmt::format("{:.2f}×", ratio));
}

Cell ratio_cell(const std::optional<double>& ratio) {
  return ratio ? ratio_cell(*ratio) : Cell();
}

const char* heading_of(Key key) {
  switch (key) {
    case Key::accelerator:
      return "accelerator";
    case Key::name:
      return "accelerator as published";
    case Key::round:
      return "round";
    case Key::submitter:
      return "submitter";
    case Key::size:
      return "accelerators";
    case Key::weights:
      return "weights";
    case Key::availability:
      return "availability";
    case Key::row:
      return "row";
  }
  return "";
}

std::string rounds_of(const Group& group) {
  std::set<std::string> rounds;
  for (const Row* row : group.rows) rounds.insert(row->published.round);
  return rounds.size() == 1 ? *rounds.begin() : *rounds.begin() + "–" + *rounds.rbegin();
}

}  // namespace

Cell rate_cell(double value) {
  // As many digits as the published tables: two decimals below 100, one below 10,000.
  const double size = std::abs(value);
  const int digits = size >= 1e5    ? 6
                     : size >= 1000 ? static_cast<int>(std::floor(std::log10(size))) + 2
                     : size >= 100  ? 4
                                    : 3;
  return Cell(value, digits);
}

Table mlperf_group_table(const std::vector<Group>& groups, const Summary& summary) {
  Table table;
  std::set<std::string> benchmarks;
  for (const Group& group : groups) benchmarks.insert(group.benchmark);
  table.columns.push_back(text_column("benchmark", "benchmark"));
  for (const Key key : summary.keys) table.columns.push_back(text_column(std::string(name(key)), heading_of(key)));
  table.columns.push_back(text_column("scenario", "scenario"));
  table.columns.push_back(number_column("value", std::string(name(summary.statistic))));
  table.columns.push_back(text_column("unit", "unit"));
  table.columns.push_back(number_column("low", "least"));
  table.columns.push_back(number_column("high", "greatest"));
  table.columns.push_back(number_column("mean_total", "mean of a system"));
  table.columns.push_back(number_column("mean_accelerators", "its accelerators"));
  table.columns.push_back(number_column("results", "results"));
  table.columns.push_back(text_column("rounds", "rounds"));
  for (const Group& group : groups) {
    std::vector<Cell> row = {Cell(group.benchmark)};
    for (const std::string& key : group.keys) row.emplace_back(key);
    row.emplace_back(group.scenario);
    row.push_back(rate_cell(group.value).with(Emphasis::strong));
    row.emplace_back(group.unit);
    row.push_back(rate_cell(group.low));
    row.push_back(rate_cell(group.high));
    row.push_back(rate_cell(group.mean_total));
    row.push_back(Cell(group.mean_accelerators).shown_as(fmt::format("{:.1f}", group.mean_accelerators)));
    row.emplace_back(static_cast<int>(group.rows.size()));
    row.emplace_back(rounds_of(group));
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table mlperf_row_table(const RowList& rows, const Summary& summary) {
  Table table;
  table.columns = {text_column("row", "row"),
                   text_column("benchmark", "benchmark"),
                   text_column("scenario", "scenario"),
                   text_column("round", "round"),
                   text_column("submitter", "submitter"),
                   text_column("accelerator", "accelerator"),
                   number_column("accelerators", "accelerators"),
                   number_column("nodes", "nodes"),
                   number_column("result", "result"),
                   text_column("unit", "unit"),
                   number_column("divided", "per " + std::string(name(summary.per))),
                   number_column("power", "power", "w"),
                   text_column("weights", "weights"),
                   text_column("system", "system", Overflow::truncate)};
  for (const Row* row : rows) {
    const auto divided = figure(*row, summary);
    table.rows.push_back({Cell(row->id), Cell(row->benchmark), Cell(row->scenario), Cell(row->published.round),
                          Cell(row->published.submitter), Cell(row->accelerator), Cell(row->accelerators),
                          Cell(row->nodes), rate_cell(row->value), Cell(row->unit),
                          divided ? rate_cell(divided->value) : Cell(),
                          row->published.power_w ? Cell(Watts(*row->published.power_w)) : Cell(), Cell(row->weights),
                          Cell(row->published.system.empty() ? row->published.platform : row->published.system)});
  }
  return table;
}

Table mlperf_rule_table(const Results& results) {
  std::vector<int> touched(rules().size(), 0);
  for (const Repair& repair : results.repairs) ++touched[repair.rule];
  Table table;
  table.columns = {text_column("rule", "rule"), number_column("rows", "rows"),
                   text_column("what", "what it does", Overflow::wrap)};
  for (std::size_t i = 0; i < rules().size(); ++i) {
    table.rows.push_back({Cell(rules()[i].name), Cell(touched[i]), Cell(rules()[i].what)});
  }
  return table;
}

Table mlperf_repair_table(const Results& results, std::size_t rule) {
  Table table;
  table.title = std::string(rules()[rule].what);
  table.columns = {text_column("row", "row"),
                   text_column("published", "published"),
                   text_column("repaired", "repaired"),
                   text_column("submitter", "submitter"),
                   text_column("benchmark", "benchmark"),
                   text_column("scenario", "scenario"),
                   text_column("platform", "platform", Overflow::truncate)};
  std::map<std::string_view, const Row*> by_id;
  for (const Row& row : results.rows) by_id.emplace(row.id, &row);
  for (const Repair& repair : results.repairs) {
    if (repair.rule != rule) continue;
    std::vector<Cell> cells = {Cell(repair.row), Cell(repair.before), Cell(repair.after)};
    if (const auto row = by_id.find(repair.row); row != by_id.end()) {
      const Row& r = *row->second;
      cells.insert(cells.end(),
                   {Cell(r.published.submitter), Cell(r.benchmark), Cell(r.scenario), Cell(r.published.platform)});
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

Table mlperf_ratio_table(const std::vector<Ratio>& ratios) {
  Table table;
  table.columns = {text_column("benchmark", "benchmark"),
                   text_column("kind", "model"),
                   text_column("scenario", "scenario"),
                   text_column("round", "round"),
                   text_column("first", "first"),
                   text_column("second", "second"),
                   number_column("first_per_accelerator", "first, per accelerator"),
                   number_column("second_per_accelerator", "second, per accelerator"),
                   text_column("unit", "unit"),
                   number_column("ratio_per_accelerator", "per accelerator"),
                   number_column("ratio_per_system", "per system"),
                   text_column("systems", "accelerators in a system"),
                   text_column("results", "results")};
  // The least needed go first where the terminal is narrow.
  constexpr int kSpare[] = {0, 6, 0, 0, 9, 8, 0, 0, 5, 0, 2, 4, 3};
  for (std::size_t i = 0; i < table.columns.size(); ++i) table.columns[i].spare = kSpare[i];
  for (const Ratio& r : ratios) {
    table.rows.push_back({Cell(r.benchmark), Cell(r.kind), Cell(r.scenario), Cell(r.round), Cell(r.first),
                          Cell(r.second), rate_cell(r.first_per), rate_cell(r.second_per), Cell(r.unit),
                          ratio_cell(r.per_accelerator()).with(Emphasis::strong), ratio_cell(r.per_system()),
                          Cell(fmt::format("{:.3g} : {:.3g}", r.first_accelerators, r.second_accelerators)),
                          Cell(fmt::format("{} : {}", r.first_rows, r.second_rows))});
  }
  return table;
}

Document mlperf_compared_page(const std::vector<Ratio>& ratios) {
  Document page;
  if (ratios.empty()) return page;
  const std::string& first = ratios[0].first;
  const std::string& second = ratios[0].second;
  std::vector<double> all;
  for (const Ratio& r : ratios) all.push_back(r.per_accelerator());
  std::sort(all.begin(), all.end());
  page.title = fmt::format("{} against {}, mean of the results per accelerator", first, second);
  page.blocks.emplace_back(
      Paragraph{fmt::format("{} does {:.2f} times the work of {} in the median of {} comparisons ({:.2f} to {:.2f}).",
                            first, all[all.size() / 2], second, all.size(), all.front(), all.back()),
                Emphasis::strong});
  Table table;
  table.columns = {text_column("benchmark", "benchmark"), text_column("scenario", "scenario"),
                   text_column("round", "round"),         number_column("first", first),
                   number_column("second", second),       text_column("unit", "unit"),
                   number_column("ratio", "A ÷ B"),       text_column("results", "results")};
  table.columns[5].spare = 1;
  table.columns[7].spare = 2;
  for (const Ratio& r : ratios) {
    table.rows.push_back({Cell(r.benchmark), Cell(r.scenario), Cell(r.round), rate_cell(r.first_per),
                          rate_cell(r.second_per), Cell(r.unit), ratio_cell(r.per_accelerator()).with(Emphasis::strong),
                          Cell(fmt::format("{} : {}", r.first_rows, r.second_rows))});
  }
  page.blocks.emplace_back(std::move(table));
  return page;
}

Table mlperf_coupling_table(const std::vector<mlperf::Coupling>& couplings) {
  std::vector<Ratio> ratios;
  for (const mlperf::Coupling& c : couplings) ratios.push_back(c.ratio);
  Table table = mlperf_ratio_table(ratios);
  // People read the two ratios and why; programs get everything.
  table.columns.push_back(number_column("predicted_ratio", "predicted"));
  table.columns.push_back(number_column("predicted_low", "from"));
  table.columns.push_back(number_column("predicted_high", "to"));
  table.columns.push_back(number_column("fabric_ratio", "of it fabric"));
  table.columns.push_back(text_column("rack_plan", "rack, predicted best"));
  table.columns.push_back(text_column("node_plan", "node, predicted best"));
  for (std::size_t i = 0; i < couplings.size(); ++i) {
    const mlperf::Coupling& c = couplings[i];
    auto& row = table.rows[i];
    const auto part = [&](double Interval::*of) {
      return c.predicted ? std::optional<double>((*c.predicted).*of) : std::nullopt;
    };
    row.push_back(ratio_cell(part(&Interval::mid)).with(Emphasis::strong));
    row.push_back(ratio_cell(part(&Interval::low)));
    row.push_back(ratio_cell(part(&Interval::high)));
    row.push_back(ratio_cell(c.fabric));
    row.emplace_back(c.rack_plan);
    row.emplace_back(c.node_plan);
  }
  return table;
}

std::vector<std::string> mlperf_coupling_sentences(const std::vector<mlperf::Coupling>& couplings) {
  std::size_t predicted = 0;
  std::size_t held = 0;
  std::map<std::pair<std::string, std::string>, std::vector<const mlperf::Coupling*>> kinds;
  for (const mlperf::Coupling& c : couplings) {
    if (!c.predicted) continue;
    ++predicted;
    held += c.held() ? 1 : 0;
    kinds[{c.ratio.kind, c.ratio.scenario}].push_back(&c);
  }
  std::vector<std::string> out;
  if (predicted == 0) return out;
  out.push_back(fmt::format("The predicted interval holds {} of {} measured ratios.", held, predicted));
  for (const auto& [kind, all] : kinds) {
    const auto median = [&members = all](auto&& figure) {
      std::vector<double> values;
      for (const mlperf::Coupling* c : members) values.push_back(figure(*c));
      std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
      return values[values.size() / 2];
    };
    const double measured = median([](const mlperf::Coupling& c) { return c.ratio.per_accelerator(); });
    const double model = median([](const mlperf::Coupling& c) { return c.predicted->mid; });
    const double fabric = median([](const mlperf::Coupling& c) { return c.fabric.value_or(1); });
    out.push_back(fmt::format(
        "{}, {}: measured {:.2f}×, predicted {:.2f}× with the same software on both sides, of which wider groups are "
        "{:.2f}×; beyond the prediction stand {:.2f}× of software, submissions and error.",
        kind.first == "moe" ? "Mixtures of experts" : "Dense models", kind.second, measured, model, fabric,
        measured / model));
  }
  return out;
}

Table mlperf_generation_table(const std::vector<Generation>& generations) {
  Table table;
  table.columns = {text_column("newer", "newer"),
                   text_column("older", "older"),
                   text_column("benchmark", "benchmark"),
                   text_column("scenario", "scenario"),
                   text_column("round", "round"),
                   number_column("ratio", "per accelerator"),
                   number_column("bandwidth_ratio", "bandwidth"),
                   number_column("compute_ratio", "16-bit peak"),
                   number_column("narrowest_ratio", "narrowest peak"),
                   text_column("results", "results")};
  for (const Generation& g : generations) {
    const Ratio& r = g.ratio;
    table.rows.push_back({Cell(r.first), Cell(r.second), Cell(r.benchmark), Cell(r.scenario), Cell(r.round),
                          ratio_cell(r.per_accelerator()).with(Emphasis::strong), ratio_cell(g.bandwidth),
                          ratio_cell(g.compute), ratio_cell(g.narrowest),
                          Cell(fmt::format("{} : {}", r.first_rows, r.second_rows))});
  }
  return table;
}

Table mlperf_share_table(const std::vector<ScenarioShare>& shares) {
  Table table;
  table.columns = {text_column("benchmark", "benchmark"),     text_column("scenario", "scenario over Offline"),
                   text_column("accelerator", "accelerator"), number_column("median", "median"),
                   number_column("low", "10th percentile"),   number_column("high", "90th percentile"),
                   number_column("pairs", "systems")};
  for (const ScenarioShare& s : shares) {
    table.rows.push_back({Cell(s.benchmark), Cell(s.scenario), Cell(s.accelerator.empty() ? "all" : s.accelerator),
                          Cell(s.median).shown_as(percent(s.median)).with(Emphasis::strong),
                          Cell(s.low).shown_as(percent(s.low)), Cell(s.high).shown_as(percent(s.high)), Cell(s.pairs)});
  }
  return table;
}

Table mlperf_elasticity_table(const std::vector<Elasticity>& elasticities) {
  const auto with_error = [](double value, double error) {
    return Cell(value).shown_as(fmt::format("{:.2f} ± {:.2f}", value, error));
  };
  Table table;
  table.columns = {text_column("benchmark", "benchmark"),
                   text_column("scenario", "scenario"),
                   number_column("bandwidth", "bandwidth"),
                   number_column("bandwidth_error", "± bandwidth"),
                   number_column("compute", "compute"),
                   number_column("compute_error", "± compute"),
                   number_column("correlation", "their correlation"),
                   number_column("bandwidth_alone", "bandwidth alone"),
                   number_column("compute_alone", "compute alone"),
                   number_column("r_squared", "R²"),
                   number_column("points", "points"),
                   number_column("accelerators", "accelerators")};
  for (const Elasticity& e : elasticities) {
    table.rows.push_back({Cell(e.benchmark), Cell(e.scenario), with_error(e.bandwidth, e.bandwidth_error),
                          Cell(e.bandwidth_error, 2), with_error(e.compute, e.compute_error), Cell(e.compute_error, 2),
                          Cell(e.correlation, 2), Cell(e.bandwidth_alone), Cell(e.compute_alone), Cell(e.r_squared, 2),
                          Cell(e.points), Cell(e.accelerators)});
  }
  return table;
}

Table mlperf_trend_table(const std::vector<Group>& groups, const std::string& unit) {
  std::set<std::string> rounds;
  std::vector<std::array<std::string, 3>> lines;
  std::map<std::array<std::string, 4>, const Group*> cells;
  for (const Group& g : groups) {
    rounds.insert(g.keys[1]);
    const std::array<std::string, 3> line = {g.benchmark, g.scenario, g.keys[0]};
    if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
    cells.emplace(std::array<std::string, 4>{g.benchmark, g.scenario, g.keys[0], g.keys[1]}, &g);
  }
  Table table;
  table.title = unit;
  table.columns = {text_column("benchmark", "benchmark"), text_column("scenario", "scenario"),
                   text_column("accelerator", "accelerator")};
  for (const std::string& round : rounds) table.columns.push_back(number_column(round, round));
  table.columns.push_back(number_column("newest_over_first", "newest over first"));
  for (const auto& line : lines) {
    std::vector<Cell> row = {Cell(line[0]), Cell(line[1]), Cell(line[2])};
    const Group* first = nullptr;
    const Group* last = nullptr;
    for (const std::string& round : rounds) {
      const auto cell = cells.find({line[0], line[1], line[2], round});
      if (cell == cells.end()) {
        row.emplace_back();
        continue;
      }
      last = cell->second;
      if (first == nullptr) first = last;
      row.push_back(rate_cell(last->value));
    }
    row.push_back(first == last ? Cell() : ratio_cell(last->value / first->value).with(Emphasis::strong));
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::vector<Bars> mlperf_bars(const std::vector<Group>& groups, const Summary& summary) {
  std::vector<Bars> figures;
  for (const Group& group : groups) {
    if (figures.empty() || figures.back().title != group.benchmark) {
      Bars bars;
      bars.title = group.benchmark;
      bars.axis = group.unit;
      for (const Group& g : groups) {
        if (g.benchmark != group.benchmark) continue;
        if (std::find(bars.series.begin(), bars.series.end(), g.scenario) == bars.series.end()) {
          bars.series.push_back(g.scenario);
        }
        // Samples and queries are one thing under two names: one axis for both.
        if (g.unit != bars.axis && bars.axis.find(" or ") == std::string::npos) {
          bars.axis = "samples/s or queries/s" + bars.axis.substr(bars.axis.find(' '));
        }
      }
      bars.subtitle = fmt::format("MLPerf, {} over results", name(summary.statistic));
      figures.push_back(std::move(bars));
    }
    Bars& bars = figures.back();
    std::string label;
    for (const std::string& key : group.keys) label += (label.empty() ? "" : ", ") + key;
    auto line = std::find_if(bars.lines.begin(), bars.lines.end(), [&](const BarLine& l) { return l.name == label; });
    if (line == bars.lines.end()) {
      bars.lines.push_back({label, std::vector<double>(bars.series.size(), std::numeric_limits<double>::quiet_NaN()),
                            std::vector<std::string>(bars.series.size())});
      line = bars.lines.end() - 1;
    }
    const auto at = static_cast<std::size_t>(std::find(bars.series.begin(), bars.series.end(), group.scenario) -
                                             bars.series.begin());
    line->values[at] = group.value;
    line->notes[at] = fmt::format("n={}", group.rows.size());
  }
  return figures;
}

std::vector<Trend> mlperf_trends(const std::vector<Group>& groups, const Summary& summary) {
  std::vector<Trend> trends;
  std::set<std::string> rounds;
  for (const Group& g : groups) rounds.insert(g.keys[1]);
  const std::vector<std::string> points(rounds.begin(), rounds.end());
  for (const Group& g : groups) {
    const std::string title = g.benchmark + ", " + g.scenario;
    if (trends.empty() || trends.back().title != title) {
      Trend trend;
      trend.title = title;
      trend.subtitle = fmt::format("MLPerf, {} over results", name(summary.statistic));
      trend.axis = g.unit;
      trend.points = points;
      trends.push_back(std::move(trend));
    }
    Trend& trend = trends.back();
    auto series = std::find(trend.series.begin(), trend.series.end(), g.keys[0]);
    if (series == trend.series.end()) {
      trend.series.push_back(g.keys[0]);
      trend.values.emplace_back(points.size(), std::numeric_limits<double>::quiet_NaN());
      series = trend.series.end() - 1;
    }
    const auto at = static_cast<std::size_t>(std::find(points.begin(), points.end(), g.keys[1]) - points.begin());
    trend.values[static_cast<std::size_t>(series - trend.series.begin())][at] = g.value;
  }
  return trends;
}

namespace {

/// A latency is that of all accelerators together: it is not shared out between them.
bool is_latency(std::string_view unit) {
  return unit == "s" || unit == "ms";
}

}  // namespace

Table mlperf_prediction_table(const std::vector<mlperf::Explanation>& explanations) {
  Table table;
  table.columns = {text_column("row", "row"),
                   text_column("benchmark", "benchmark"),
                   text_column("scenario", "scenario"),
                   text_column("accelerator", "accelerator"),
                   text_column("round", "round"),
                   number_column("measured", "measured"),
                   {.key = "predicted", .heading = "predicted", .kind = ColumnKind::interval},
                   text_column("unit", "unit"),
                   number_column("ratio", "predicted over measured"),
                   text_column("plan", "plan"),
                   text_column("bottleneck", "bound by")};
  for (const mlperf::Explanation& e : explanations) {
    if (!e.measured) continue;
    const Row& row = *e.row;
    const bool latency = is_latency(e.unit);
    const double n = latency ? 1 : e.accelerators;
    const double over = e.predicted.mid / *e.measured;
    table.rows.push_back({Cell(row.id), Cell(row.benchmark), Cell(row.scenario), Cell(row.accelerator),
                          Cell(row.published.round), rate_cell(*e.measured / n),
                          Cell::interval({e.predicted.low / n, e.predicted.mid / n, e.predicted.high / n}),
                          Cell(latency ? e.unit : e.unit + " per accelerator"), Cell(over).shown_as(percent(over)),
                          Cell(e.plan), Cell(e.bound)});
  }
  return table;
}

Table mlperf_training_table(const std::vector<mlperf::Explanation>& explanations) {
  Table table;
  table.columns = {text_column("row", "row"),
                   text_column("benchmark", "benchmark"),
                   text_column("accelerator", "accelerator"),
                   number_column("accelerators", "accelerators"),
                   text_column("round", "round"),
                   number_column("measured_minutes", "minutes"),
                   number_column("global_batch", "sequences per step"),
                   {.key = "predicted_tokens_per_s", .heading = "predicted tokens/s", .kind = ColumnKind::interval},
                   number_column("implied_tokens", "tokens in that time"),
                   text_column("plan", "plan"),
                   text_column("bottleneck", "bound by")};
  for (const mlperf::Explanation& e : explanations) {
    if (!e.implied_tokens) continue;
    const Row& row = *e.row;
    table.rows.push_back(
        {Cell(row.id), Cell(row.benchmark), Cell(row.accelerator), Cell(row.accelerators), Cell(row.published.round),
         rate_cell(row.value), Cell(row.published.global_batch), Cell::interval(e.predicted),
         Cell(*e.implied_tokens).shown_as(format_count(*e.implied_tokens)), Cell(e.plan), Cell(e.bound)});
  }
  return table;
}

Document mlperf_explanation_page(const mlperf::Explanation& e) {
  const Row& row = *e.row;
  Document page;
  page.title = fmt::format("{}: {} {} {} of {}, {} x {}", row.id, row.published.round, row.benchmark, row.scenario,
                           row.published.submitter, row.accelerators, row.accelerator);
  Table table;
  table.columns = {text_column("what", ""), number_column("system", "whole system"),
                   number_column("accelerator", "per accelerator")};
  if (e.measured) {
    table.rows.push_back({Cell("measured, " + e.unit), rate_cell(*e.measured).with(Emphasis::strong),
                          is_latency(e.unit) ? Cell() : rate_cell(*e.measured / e.accelerators)});
  } else {
    table.rows.push_back({Cell("measured, " + row.unit), rate_cell(row.value).with(Emphasis::strong), Cell()});
  }
  const Interval each{e.predicted.low / e.accelerators, e.predicted.mid / e.accelerators,
                      e.predicted.high / e.accelerators};
  table.rows.push_back(
      {Cell("predicted, " + e.unit), Cell::interval(e.predicted), is_latency(e.unit) ? Cell() : Cell::interval(each)});
  if (e.measured) {
    table.rows.push_back({Cell("predicted over measured"),
                          Cell(e.predicted.mid / *e.measured).shown_as(percent(e.predicted.mid / *e.measured)),
                          Cell()});
  }
  page.blocks.emplace_back(std::move(table));
  page.blocks.emplace_back(Paragraph{
      e.attempts.size() > 1 ? fmt::format("Best plan of {} tried: {}, {}.", e.attempts.size(), e.plan, e.engine)
                            : fmt::format("Plan: {}, {}.", e.plan, e.engine)});
  page.blocks.emplace_back(
      Paragraph{fmt::format("What bound it: {}. In words: {}.", e.bound, e.why), Emphasis::strong});
  if (e.elasticity) {
    const ResourceScale& s = *e.elasticity;
    page.blocks.emplace_back(
        Paragraph{fmt::format("1 % more of a resource gives: compute {:+.2f} %, memory bandwidth {:+.2f} %, memory "
                              "capacity {:+.2f} %, scale-up {:+.2f} %.",
                              s.compute, s.memory_bandwidth, s.memory_capacity, s.scale_up)});
  }
  if (e.attempts.size() > 1) {
    Table others;
    others.title = "Plans tried";
    others.columns = {text_column("plan", "plan"), number_column("predicted", e.unit)};
    for (const Attempt& attempt : e.attempts)
      others.rows.push_back({Cell(attempt.plan), Cell::interval(attempt.predicted)});
    page.blocks.emplace_back(std::move(others));
  }
  std::string assumed = "Assumed:";
  for (const std::string& assumption : e.assumptions) assumed += " " + assumption + ";";
  assumed.back() = '.';
  page.blocks.emplace_back(Paragraph{std::move(assumed), Emphasis::faint});
  return page;
}

Json mlperf_explanation_json(const mlperf::Explanation& e) {
  const Row& row = *e.row;
  Json json = Json::object();
  json.set("schema", kMlperfSchema).set("command", "explain").set("row", row.id).set("round", row.published.round);
  json.set("benchmark", row.benchmark).set("scenario", row.scenario).set("submitter", row.published.submitter);
  json.set("accelerator", row.accelerator).set("accelerators", row.accelerators).set("model", e.model);
  json.set("device", e.device).set("engine", e.engine).set("plan", e.plan).set("unit", e.unit);
  json.set("measured", e.measured ? Json(*e.measured) : Json()).set("predicted", interval_json(e.predicted));
  json.set("implied_tokens", e.implied_tokens ? Json(*e.implied_tokens) : Json());
  json.set("bottleneck", e.bound).set("why", e.why);
  Json attempts = Json::array();
  for (const Attempt& a : e.attempts) {
    Json one = Json::object();
    one.set("plan", a.plan).set("predicted", interval_json(a.predicted));
    attempts.push(std::move(one));
  }
  json.set("attempts", std::move(attempts));
  Json assumptions = Json::array();
  for (const std::string& a : e.assumptions) assumptions.push(a);
  json.set("assumptions", std::move(assumptions));
  return json;
}

}  // namespace ridge::report
