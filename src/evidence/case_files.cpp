#include "evidence/case_files.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <span>

#include "evidence/case_row.hpp"
#include "evidence/training_cases.hpp"

namespace ridge::evidence {
namespace {

/// How tables of one kind are told apart and what their rows must have.
struct KindColumns {
  CaseKind kind;
  std::string_view mark;  ///< only tables of this kind have it
  std::array<std::string_view, 3> required;
  std::array<std::string_view, 7> targets;
};

constexpr std::array<KindColumns, kCaseKinds> kKinds{{
    {CaseKind::training, "step_time_s", {"model", "device", "gpus"}, {"step_time_s"}},
    {CaseKind::diffusion,
     "batch_latency_s",
     {"model", "device", "steps"},
     {"batch_latency_s", "images_per_s", "power_w", "energy_per_image_j"}},
    {CaseKind::inference,
     "mode",
     {"model", "device", "gpus"},
     {"output_tok_s", "total_tok_s", "ttft_ms", "tpot_ms", "e2e_ms", "power_w", "joules_per_output_token"}},
    {CaseKind::kernel, "op", {"device", "op", "dtype"}, {"seconds"}},
    {CaseKind::power, "what", {"device", "what", "gpus"}, {"seconds", "watts", "joules_per_token"}},
}};

const KindColumns& columns_of(CaseKind kind) {
  for (const KindColumns& k : kKinds) {
    if (k.kind == kind) return k;
  }
  return kKinds[0];
}

void read_targets(Case& c, CaseRow& row) {
  for (const std::string_view column : columns_of(c.kind).targets) {
    if (column.empty()) break;
    const std::string_view cell = row.text(column);
    if (cell.empty()) continue;
    const auto value = parse_plain_number(cell);
    const bool good = value && *value > 0;
    if (!good) row.refuse(column, "'" + std::string(cell) + "' is not a positive number");
    c.targets.push_back({*parse_metric(column), good ? *value : std::numeric_limits<double>::quiet_NaN()});
  }
}

void read_input(Case& c, CaseRow& row, const AssumedWorkloads& workloads) {
  switch (c.kind) {
    case CaseKind::training:
      c.precision = row.text("precision");
      c.mode = row.text("task");
      c.input = read_training_query(row);
      break;
    case CaseKind::inference:
      c.precision = row.text("weight_precision");
      c.mode = row.text("mode");
      c.input = read_inference_query(row, workloads);
      if (const AssumedWorkload* w = find_workload(workloads, c.id)) c.median_gap = w->median_gap;
      break;
    case CaseKind::kernel: {
      c.precision = row.text("dtype");
      c.mode = row.text("op");
      KernelCase kernel = read_kernel_case(row.table(), row.position());
      row.refuse_whole(kernel.refusal);
      kernel.measured = 0;  // a target: kept apart from what prediction sees
      c.input = std::move(kernel);
      break;
    }
    case CaseKind::power:
      c.precision = row.text("precision");
      c.mode = row.text("what");
      c.input = read_power_case(row);
      break;
    case CaseKind::diffusion:
      c.precision = row.text("weight_precision");
      c.input = read_diffusion_case(row);
      break;
  }
}

}  // namespace

Result<CaseKind> kind_of(const CsvTable& table) {
  for (const KindColumns& k : kKinds) {
    if (!table.column(k.mark)) continue;
    for (const std::string_view column : k.required) {
      if (const auto found = table.required_column(column); !found) return found.error();
    }
    return k.kind;
  }
  return Error{ErrorCode::bad_input, table.name() + ":1:1",
               "no kind of evidence has these columns: training has step_time_s, inference mode, kernels op, diffusion "
               "batch_latency_s, power what; docs/calibration.md lists those of your own measurements"};
}

Result<std::vector<Case>> read_cases(std::string csv, const std::string& name, const AssumedWorkloads& workloads) {
  const auto table = CsvTable::parse(std::move(csv), name);
  if (!table) return table.error();
  const auto kind = kind_of(*table);
  if (!kind) return kind.error();
  std::vector<Case> cases;
  cases.reserve(table->rows());
  for (std::size_t i = 0; i < table->rows(); ++i) {
    CaseRow row(*table, i);
    Case c;
    c.kind = *kind;
    c.file = name;
    c.line = row.line();
    c.id = row.text("id");
    if (c.id.empty()) c.id = "line " + std::to_string(row.line());  // of a user's own table
    c.source = row.text("source");
    c.engine = row.text("engine");
    c.model = row.text("model");
    c.device = row.text("device");
    read_targets(c, row);
    read_input(c, row, workloads);
    c.refusal = row.refusal();
    if (!c.refusal.empty()) c.input = std::monostate();
    cases.push_back(std::move(c));
  }
  return cases;
}

}  // namespace ridge::evidence
