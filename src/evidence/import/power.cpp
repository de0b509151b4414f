// The log of nvidia-smi: --query-gpu=timestamp,name,power.draw,... --format=csv.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "evidence/import/parts.hpp"
#include "evidence/rows/case_row.hpp"
#include "ridge/base/letters.hpp"
#include "ridge/base/text.hpp"

namespace ridge::evidence {
namespace {

std::optional<std::size_t> column_with(const CsvTable& table, std::string_view name) {
  for (std::size_t i = 0; i < table.columns(); ++i) {
    if (trimmed(table.header(i), " \t\r").starts_with(name)) return i;
  }
  return std::nullopt;
}

struct Sample {
  double watts = 0;
  double clock = 0;
  double busy = -1;  ///< per cent; below 0: not logged
};

}  // namespace

Result<std::string> import_nvidia_smi(std::string_view text, const std::string& file, const ImportOptions& options,
                                      const Catalogue& catalogue) {
  const Result<CsvTable> table = CsvTable::parse(std::string(text), file);
  if (!table) return table.error();
  const auto power = column_with(*table, "power.draw");
  if (!power) return Error{ErrorCode::bad_input, file + ":1:1", "there is no column power.draw"};
  const auto name_column = column_with(*table, "name");
  const auto clock_column = column_with(*table, "clocks");
  const auto busy_column = column_with(*table, "utilization.gpu");
  std::optional<std::size_t> board;
  for (const std::string_view name : {"uuid", "index", "pci.bus_id"}) {
    if (!board) board = column_with(*table, name);
  }
  if (table->rows() == 0) return Error{ErrorCode::bad_input, file + ":1:1", "has no samples"};
  constexpr double kMostFigure = 1e6;  // watts of a board, megahertz, percent
  const auto number = [&](std::size_t row, std::size_t column) -> Result<double> {
    const std::string_view cell = trimmed(table->cell(row, column), " \t\r");
    const auto value = parse_plain_number(cell.substr(0, cell.find(' ')));
    if (!value || !(*value >= 0 && *value <= kMostFigure))
      return table->error(row, column, quoted(cell) + " is no figure");
    return *value;
  };
  std::vector<Sample> samples;
  std::set<std::string> boards;
  for (std::size_t row = 0; row < table->rows(); ++row) {
    Sample s;
    const Result<double> watts = number(row, *power);
    if (!watts) return watts.error();
    s.watts = *watts;
    for (const auto& [column, into] : {std::pair{clock_column, &s.clock}, {busy_column, &s.busy}}) {
      if (!column) continue;
      const Result<double> value = number(row, *column);
      if (!value) return value.error();
      *into = *value;
    }
    if (board) boards.emplace(trimmed(table->cell(row, *board), " \t\r"));
    samples.push_back(s);
  }
  const std::string_view logged = name_column ? trimmed(table->cell(0, *name_column), " \t\r") : std::string_view();
  if (options.device.empty() && logged.empty()) {
    return Error{ErrorCode::bad_input, "⟦device⟧", "the log has no column name: say which device it was"};
  }
  const Result<std::string> device =
      device_named(options.device.empty() ? logged : std::string_view(options.device), catalogue, file);
  if (!device) return device.error();

  // Steady work: the samples in which the device was as busy as it got, without the way up and down.
  const std::string work = options.work.empty() ? "idle" : options.work;
  double most = 0;
  for (const Sample& s : samples) most = std::max(most, work == "idle" ? 0 : s.busy);
  std::vector<Sample> steady;
  for (const Sample& s : samples) {
    if (most <= 0 || s.busy >= 0.9 * most) steady.push_back(s);
  }
  Sample mean;
  for (const Sample& s : steady) {
    mean.watts += s.watts / static_cast<double>(steady.size());
    mean.clock += s.clock / static_cast<double>(steady.size());
  }
  if (!(mean.watts > 0)) return table->error(0, *power, "no power was logged");
  Rows rows({"id", "source", "device", "gpus", "what", "model", "precision", "batch", "isl", "ctx", "watts",
             "clock_mhz", "notes"});
  rows.begin();
  rows.set("id", id_of_file(file) + "1");
  rows.set("source", options.source.empty() ? "nvidia-smi" : options.source);
  rows.set("device", *device);
  rows.set("gpus", "1");
  rows.set("what", work);
  if (work == "prefill" || work == "decode") {
    if (options.model.empty()) return Error{ErrorCode::bad_input, "⟦model⟧", "say which model drew that power"};
    const Result<std::string> model = model_like(options.model, catalogue, "⟦model⟧");
    if (!model) return model.error();
    rows.set("model", *model);
    rows.set(work == "prefill" ? "isl" : "ctx", cell_number(options.isl));
  }
  rows.set("precision", options.precision);
  rows.set("watts", cell_number(mean.watts));
  rows.set("clock_mhz", cell_number(mean.clock));
  rows.set("notes", fmt::format("nvidia-smi, mean of {} of {} samples, {} board(s)", steady.size(), samples.size(),
                                std::max<std::size_t>(boards.size(), 1)));
  return rows.text();
}

}  // namespace ridge::evidence
