// Traces as CSV: those of Azure (TIMESTAMP,ContextTokens,GeneratedTokens) and plain ones (arrival_s,isl,osl,
// with priority and session where there are any).
#include <fmt/format.h>

#include "ridge/base/csv.hpp"
#include "ridge/base/text.hpp"
#include "serve/workload/trace_reader.hpp"

namespace ridge::serve {

namespace {

constexpr std::size_t kMostBytes = 1U << 30;

struct Columns {
  std::size_t arrival = 0, input = 0, output = 0;
  std::optional<std::size_t> priority, session;
  bool stamps = false;

  [[nodiscard]] std::size_t of(TraceField field) const {
    return field == TraceField::arrival ? arrival : field == TraceField::input ? input : output;
  }
};

Result<Columns> find_columns(const CsvTable& t) {
  Columns c;
  c.stamps = t.column("TIMESTAMP").has_value();
  const std::string_view names[3] = {c.stamps ? "TIMESTAMP" : "arrival_s", c.stamps ? "ContextTokens" : "isl",
                                     c.stamps ? "GeneratedTokens" : "osl"};
  std::size_t* into[3] = {&c.arrival, &c.input, &c.output};
  for (int i = 0; i < 3; ++i) {
    const Result<std::size_t> at = t.required_column(names[i]);
    if (!at) {
      return Error{ErrorCode::bad_input, t.name() + ":1:1",
                   fmt::format("the column '{}' is missing: a trace has arrival_s,isl,osl or, from Azure, "
                               "TIMESTAMP,ContextTokens,GeneratedTokens",
                               names[i])};
    }
    *into[i] = *at;
  }
  c.priority = t.column("priority");
  c.session = t.column("session");
  return c;
}

}  // namespace

Result<Workload> parse_csv_trace(std::string text, const std::string& file) {
  const Result<CsvTable> table = CsvTable::parse(std::move(text), file, kMostBytes);
  if (!table) return table.error();
  const Result<Columns> columns = find_columns(*table);
  if (!columns) return columns.error();
  TraceBuilder builder;
  for (std::size_t row = 0; row < table->rows(); ++row) {
    const std::string_view when = table->cell(row, columns->arrival);
    const std::optional<double> arrival = columns->stamps ? parse_timestamp(when) : parse_plain_number(when);
    if (!arrival) {
      return table->error(row, columns->arrival,
                          columns->stamps ? quoted(when) + " is no time like 2023-11-16 18:17:03.97"
                                          : quoted(when) + " is no number of seconds");
    }
    double lengths[2] = {0, 0};
    for (int i = 0; i < 2; ++i) {
      const std::size_t column = i == 0 ? columns->input : columns->output;
      const std::optional<double> tokens = parse_plain_number(table->cell(row, column));
      if (!tokens) return table->error(row, column, quoted(table->cell(row, column)) + " is no number of tokens");
      lengths[i] = *tokens;
    }
    double priority = 0;
    if (columns->priority) {
      const std::optional<double> given = parse_plain_number(table->cell(row, *columns->priority));
      if (!given || *given < 0 || *given >= kPriorities || *given != static_cast<int>(*given)) {
        return table->error(row, *columns->priority, "a priority is 0 (first) to 3");
      }
      priority = *given;
    }
    if (const auto wrong = builder.add(*arrival, lengths[0], lengths[1], static_cast<int>(priority))) {
      return table->error(row, columns->of(wrong->field), wrong->message);
    }
    if (columns->session) builder.set_session(table->cell(row, *columns->session));
  }
  return builder.finish(file, columns->stamps ? "Azure LLM inference trace" : "trace");
}

}  // namespace ridge::serve
