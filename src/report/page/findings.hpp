// What predictions of one kind are worth: a line for each group of rows.
//
//   Table table = findings_table(findings.lines, "rows");      // what | rows | median | p90 | bias | 80 % coverage |
//   ...
#pragma once

#include <string>
#include <vector>

#include "evidence/rows/errors.hpp"
#include "report/page/page.hpp"

namespace ridge::report {

/// `counted` heads the column of how many there are; `own_tail` adds the 90th percentile of all rows in the fit.
[[nodiscard]] inline Table findings_table(const std::vector<evidence::FoldLine>& lines, std::string counted,
                                          bool own_tail) {
  Table table;
  table.columns = {{.key = "what", .heading = "what"},
                   {.key = "rows", .heading = std::move(counted), .kind = ColumnKind::number},
                   {.key = "median", .heading = "median", .kind = ColumnKind::number},
                   {.key = "p90", .heading = "p90", .kind = ColumnKind::number},
                   {.key = "bias", .heading = "bias", .kind = ColumnKind::number},
                   {.key = "held", .heading = "80 % coverage", .kind = ColumnKind::number},
                   {.key = "own_median", .heading = "own median", .kind = ColumnKind::number}};
  if (own_tail) {
    table.columns.push_back({.key = "own_p90", .heading = "own p90", .kind = ColumnKind::number});
  }
  const auto share = [](double x) { return Cell(x).shown_as(percent(x, 1)); };
  for (const evidence::FoldLine& l : lines) {
    auto& row = table.rows.emplace_back();
    row = {Cell(l.what),  Cell(l.rows),  share(l.median_error), share(l.p90_error),
           share(l.bias), share(l.held), share(l.own_median)};
    if (own_tail) row.push_back(share(l.own_p90));
  }
  return table;
}

}  // namespace ridge::report
