#include "ridge/base/csv.hpp"

#include "ridge/report/report.hpp"

namespace ridge {

std::string to_csv(const Table& table) {
  std::string out;
  CsvWriter csv(out);
  for (const Column& column : table.columns) {
    if (column.kind == ColumnKind::interval) csv.cell(column.name() + "_low");
    csv.cell(column.name());
    if (column.kind == ColumnKind::interval) csv.cell(column.name() + "_high");
  }
  csv.end_row();
  for (const auto& row : table.rows) {
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      const Cell cell = c < row.size() ? row[c] : Cell();
      const bool interval = table.columns[c].kind == ColumnKind::interval;
      if (interval) csv.cell(cell.empty() ? "" : exact_number(cell.low()));
      csv.cell(cell.plain());
      if (interval) csv.cell(cell.empty() ? "" : exact_number(cell.high()));
    }
    csv.end_row();
  }
  return out;
}

Json to_json(const Table& table) {
  Json list = Json::array();
  for (const auto& row : table.rows) {
    Json object = Json::object();
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      object.set(table.columns[c].name(), c < row.size() ? row[c].json() : Json());
    }
    list.push(std::move(object));
  }
  return list;
}

}  // namespace ridge
