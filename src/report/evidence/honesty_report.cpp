// Memory of training layouts, decisions between devices and plans held against measurements, as tables.
#include <fmt/format.h>

#include "report/evidence/validation_report.hpp"
#include "ridge/base/csv.hpp"

namespace ridge::report {
namespace {

Cell share(double value) {
  return Cell(value).shown_as(fmt::format("{:.0f} %", 100 * value));
}

}  // namespace

Result<std::string> first_contact_markdown(std::string csv, const std::string& name) {
  const auto read = CsvTable::parse(std::move(csv), name);
  if (!read) return read.error();
  static constexpr std::string_view kColumns[] = {
      "date", "table", "metric", "vendor", "figures", "predicted", "median_percent", "p90_percent", "held_percent"};
  static constexpr std::string_view kHeadings[] = {"date",      "rows",   "metric", "vendor",       "figures",
                                                   "predicted", "median", "p90",    "80 % coverage"};
  Table table;
  for (std::size_t i = 0; i < std::size(kColumns); ++i) {
    if (const auto found = read->required_column(kColumns[i]); !found) return found.error();
    table.columns.push_back({.key = std::string(kColumns[i]),
                             .heading = std::string(kHeadings[i]),
                             .kind = i < 4 ? ColumnKind::text : ColumnKind::number});
  }
  for (std::size_t r = 0; r < read->rows(); ++r) {
    std::vector<Cell> cells;
    for (std::size_t i = 0; i < std::size(kColumns); ++i) {
      const std::string text(read->cell(r, *read->column(kColumns[i])));
      cells.push_back(text.empty() ? Cell() : Cell(i < 6 ? text : text + " %"));
    }
    table.rows.push_back(std::move(cells));
  }
  return to_markdown(table);
}

Table memory_table(std::span<const evidence::MemoryFinding> findings) {
  Table table;
  table.columns = {{.key = "what", .heading = "layouts"},
                   {.key = "ran", .heading = "ran", .kind = ColumnKind::number},
                   {.key = "median", .heading = "median error", .kind = ColumnKind::number},
                   {.key = "p90", .heading = "p90", .kind = ColumnKind::number},
                   {.key = "bias", .heading = "bias", .kind = ColumnKind::number},
                   {.key = "refused", .heading = "ran, but refused", .kind = ColumnKind::number},
                   {.key = "failed", .heading = "failed", .kind = ColumnKind::number},
                   {.key = "found", .heading = "predicted not to fit", .kind = ColumnKind::number}};
  for (const evidence::MemoryFinding& f : findings) {
    table.rows.push_back({Cell(f.what), Cell(f.ran), share(f.median_error), share(f.p90_error), share(f.bias),
                          Cell(f.ran_refused).shown_as(fmt::format("{:.1f} %", 100 * f.ran_refused)), Cell(f.failed),
                          f.failed > 0 ? share(f.found) : Cell()});
  }
  return table;
}

std::vector<Table> decision_tables(const evidence::DecisionFindings& findings) {
  Table order;
  order.title = "Two devices at the same work, measured by one publisher that the fit had not seen";
  order.columns = {{.key = "what", .heading = "pairs that"},
                   {.key = "pairs", .heading = "pairs", .kind = ColumnKind::number},
                   {.key = "right", .heading = "in the right order", .kind = ColumnKind::number},
                   {.key = "stated", .heading = "probability stated", .kind = ColumnKind::number}};
  for (const evidence::DecisionLine& l : findings.lines) {
    order.rows.push_back(
        {Cell(l.what), Cell(l.pairs), l.pairs > 0 ? share(l.right) : Cell(), l.pairs > 0 ? share(l.stated) : Cell()});
  }
  Table calibration;
  calibration.title = "How often a stated probability held";
  calibration.columns = {{.key = "stated", .heading = "stated"},
                         {.key = "pairs", .heading = "pairs", .kind = ColumnKind::number},
                         {.key = "mean", .heading = "mean stated", .kind = ColumnKind::number},
                         {.key = "right", .heading = "right", .kind = ColumnKind::number}};
  for (std::size_t i = 0; i < findings.calibration.size(); ++i) {
    const auto& bin = findings.calibration[i];
    calibration.rows.push_back({Cell(fmt::format("{} to {} %", 50 + 10 * i, 60 + 10 * i)), Cell(bin.pairs),
                                bin.pairs > 0 ? share(bin.stated) : Cell(), bin.pairs > 0 ? share(bin.right) : Cell()});
  }
  return {std::move(order), std::move(calibration)};
}

Table plan_test_table(std::span<const evidence::PlanTest> tests) {
  Table table;
  table.title = "Plans for work of publishers that the fit had not seen: how many would have held";
  table.columns = {{.key = "what", .heading = "what was sized"},
                   {.key = "plans", .heading = "plans", .kind = ColumnKind::number},
                   {.key = "publishers", .heading = "publishers", .kind = ColumnKind::number}};
  for (const bool evenly : {false, true}) {
    for (const double confidence : evidence::kTestedConfidences) {
      table.columns.push_back(
          {.key = fmt::format("held_{:.0f}{}", 100 * confidence, evenly ? "_evenly" : ""),
           .heading = fmt::format("{}{:.0f} %", evenly ? "evenly " : "sized for ", 100 * confidence),
           .kind = ColumnKind::number});
    }
  }
  for (const evidence::PlanTest& t : tests) {
    std::vector<Cell> row = {Cell(t.what), Cell(t.plans), Cell(t.publishers)};
    for (const double held : t.held) row.push_back(share(held));
    for (const double held : t.held_evenly) row.push_back(share(held));
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace ridge::report
