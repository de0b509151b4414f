#include "evidence/cases/case_files.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>

#include "evidence/cases/training_cases.hpp"
#include "evidence/rows/case_row.hpp"

namespace ridge::evidence {
namespace {

/// How tables of one kind are told apart and what their rows must have.
struct KindColumns {
  CaseKind kind;
  std::string_view mark;                        ///< only tables of this kind have it
  std::array<std::string_view, 2> other_marks;  ///< what tells a user's table without the mark
  std::array<std::string_view, 2> required;     ///< of every table
  std::string_view also_required;               ///< of the bundled ones
  std::array<std::string_view, 7> targets;
  std::string_view users_target;  ///< a figure more in users' tables: bundled ones repeat another in it
};

constexpr std::array<KindColumns, kCaseKinds> kKinds{{
    {CaseKind::training,
     "step_time_s",
     {"tokens_per_sec_per_gpu", "global_batch"},
     {"model", "device"},
     "gpus",
     {"step_time_s"},
     "tokens_per_sec_per_gpu"},
    {CaseKind::diffusion,
     "batch_latency_s",
     {"images_per_s", "energy_per_image_j"},
     {"model", "device"},
     "steps",
     {"batch_latency_s", "images_per_s", "power_w", "energy_per_image_j"},
     {}},
    {CaseKind::inference,
     "mode",
     {"isl", "osl"},
     {"model", "device"},
     "gpus",
     {"output_tok_s", "total_tok_s", "ttft_ms", "tpot_ms", "e2e_ms", "power_w", "joules_per_output_token"},
     {}},
    {CaseKind::kernel, "op", {}, {"device", "op"}, "dtype", {"seconds"}, {}},
    {CaseKind::power, "what", {}, {"device", "what"}, "gpus", {"seconds", "watts", "joules_per_token"}, {}},
}};

const KindColumns& columns_of(CaseKind kind) {
  for (const KindColumns& k : kKinds) {
    if (k.kind == kind) return k;
  }
  return kKinds[0];
}

void read_target(Case& c, const CaseRow& row, std::string_view column) {
  const std::string_view cell = row.text(column);
  if (cell.empty()) return;
  const auto value = cell_number(row.table(), cell);
  const bool good = value && *value > 0;
  Target target{*parse_metric(column), good ? *value : std::numeric_limits<double>::quiet_NaN()};
  if (!good) target.refusal = row.located(column, "'" + std::string(cell) + "' is not a positive number");
  c.targets.push_back(std::move(target));
}

void read_targets(Case& c, const CaseRow& row, Reading reading) {
  const KindColumns& columns = columns_of(c.kind);
  for (const std::string_view column : columns.targets) {
    if (!column.empty()) read_target(c, row, column);
  }
  if (reading == Reading::forgiving && !columns.users_target.empty()) read_target(c, row, columns.users_target);
}

TrainingFreedom left_open(const CaseRow& row) {
  const auto empty = [&](std::string_view column) { return row.text(column).empty(); };
  return {
      .tp = empty("tp"), .pp = empty("pp"), .ep = empty("ep"), .micro_batch = empty("micro_batch"), .schedule = true};
}

/// What a case is refused for if nothing of it was read: the first figure that the table has.
Metric first_metric(CaseKind kind, const CsvTable& table) {
  const KindColumns& columns = columns_of(kind);
  for (const std::string_view column : columns.targets) {
    if (!column.empty() && table.column(column)) return *parse_metric(column);
  }
  return *parse_metric(columns.users_target.empty() ? columns.targets[0] : columns.users_target);
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
      c.mode = mode_name(row);
      c.input = read_inference_query(row, workloads);
      if (const AssumedWorkload* w = find_workload(workloads, c.id)) c.median_gap = w->median_gap;
      break;
    case CaseKind::kernel: {
      c.precision = row.text("dtype");
      c.mode = row.word("op");
      KernelCase kernel = read_kernel_case(row.table(), row.position());
      row.refuse_whole(kernel.refusal);
      kernel.measured = 0;  // a target: kept apart from what prediction sees
      c.input = std::move(kernel);
      break;
    }
    case CaseKind::power:
      c.precision = row.text("precision");
      c.mode = row.word("what");
      c.input = read_power_case(row);
      break;
    case CaseKind::diffusion:
      c.precision = row.text("weight_precision");
      c.input = read_diffusion_case(row);
      break;
  }
}

}  // namespace

Result<CaseKind> kind_of(const CsvTable& table, Reading reading) {
  const bool forgiving = reading == Reading::forgiving;
  const auto has = [&](std::string_view column) { return !column.empty() && table.column(column).has_value(); };
  const auto* kind = std::find_if(kKinds.begin(), kKinds.end(), [&](const KindColumns& k) { return has(k.mark); });
  if (kind == kKinds.end() && forgiving) {
    kind = std::find_if(kKinds.begin(), kKinds.end(),
                        [&](const KindColumns& k) { return has(k.other_marks[0]) || has(k.other_marks[1]); });
  }
  if (kind == kKinds.end()) {
    return Error{ErrorCode::bad_input, table.name() + ":1:1",
                 "no kind of evidence has these columns: training has step_time_s, inference mode, kernels op, "
                 "diffusion batch_latency_s, power what; docs/calibration.md lists those of your own measurements"};
  }
  for (const std::string_view column : kind->required) {
    if (const auto found = table.required_column(column); !found) return found.error();
  }
  if (!forgiving) {
    if (const auto found = table.required_column(kind->also_required); !found) return found.error();
  }
  return kind->kind;
}

Result<std::vector<Case>> read_cases(std::string csv, const std::string& name, const AssumedWorkloads& workloads,
                                     Reading reading) {
  const auto table = reading == Reading::forgiving ? CsvTable::parse_forgiving(std::move(csv), name)
                                                   : CsvTable::parse(std::move(csv), name);
  if (!table) return table.error();
  const auto kind = kind_of(*table, reading);
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
    read_targets(c, row, reading);
    row.refuse_whole(std::string(table->fault(i)));
    read_input(c, row, workloads);
    if (reading == Reading::forgiving) c.open = left_open(row);
    c.refusal = row.refusal();
    if (!c.refusal.empty()) c.input = std::monostate();
    if (!table->fault(i).empty() && c.targets.empty()) {
      c.targets.push_back({first_metric(c.kind, *table), std::numeric_limits<double>::quiet_NaN()});
    }
    cases.push_back(std::move(c));
  }
  return cases;
}

}  // namespace ridge::evidence
