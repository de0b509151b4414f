// Any text is a table or an error; a table that is written reads back the same.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "ridge/base/csv.hpp"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

std::string written(const ridge::CsvTable& table) {
  std::string out;
  ridge::CsvWriter writer(out);
  for (std::size_t column = 0; column < table.columns(); ++column) writer.cell(table.header(column));
  writer.end_row();
  for (std::size_t row = 0; row < table.rows(); ++row) {
    for (std::size_t column = 0; column < table.columns(); ++column) {
      require(table.line(row, column) > 1 && table.character(row, column) > 0);
      writer.cell(table.cell(row, column));
    }
    writer.end_row();
  }
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto table = ridge::CsvTable::parse(text, "t.csv", 1 << 20);
  if (!table) {
    require(table.error().where.starts_with("t.csv:") && !table.error().message.empty());
    return 0;
  }
  const std::string once = written(*table);
  const auto again = ridge::CsvTable::parse(once, "t.csv");
  require(again.ok() && again->rows() == table->rows() && again->columns() == table->columns());
  for (std::size_t column = 0; column < table->columns(); ++column) {
    require(again->header(column) == table->header(column));
    for (std::size_t row = 0; row < table->rows(); ++row) {
      require(again->cell(row, column) == table->cell(row, column));
    }
  }
  require(written(*again) == once);
  return 0;
}
