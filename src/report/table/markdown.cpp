#include <algorithm>

#include "report/table/unicode.hpp"
#include "ridge/base/change.hpp"
#include "ridge/report/report.hpp"

namespace ridge {

namespace {

/// Text that Markdown shows as it is. Inside a table a bar would end the cell.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    if (c == '|' || c == '\\' || c == '`' || c == '*' || c == '_' || c == '<' || c == '[') out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

std::string to_markdown(const Table& table) {
  std::string out = table.title.empty() ? "" : "## " + escaped(phrased(table.title, Voice::flags)) + "\n\n";
  for (const Column& column : table.columns) out += "| " + escaped(column.heading) + " ";
  out += "|\n";
  for (const Column& column : table.columns) out += column.kind == ColumnKind::text ? "|---" : "|--:";
  out += "|\n";
  for (const auto& row : table.rows) {
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      out += "| " + escaped(c < row.size() ? row[c].text() : Cell().text()) + " ";
    }
    out += "|\n";
  }
  return out;
}

std::string to_markdown(const Document& document) {
  std::string out = document.title.empty() ? "" : "# " + escaped(phrased(document.title, Voice::flags)) + "\n";
  for (const auto& block : document.blocks) {
    if (!out.empty()) out += "\n";
    if (const auto* table = std::get_if<Table>(&block)) {
      out += to_markdown(*table);
    } else {
      out += escaped(phrased(std::get<Paragraph>(block).text, Voice::flags)) + "\n";
    }
  }
  return out;
}

}  // namespace ridge
