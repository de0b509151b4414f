#include "evidence/inference_cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ridge::evidence {
namespace {

constexpr int kMostGpus = 1'000'000;
constexpr double kLongest = 1e8;

struct ModeName {
  std::string_view text;
  LoadMode mode;
};
constexpr std::array<ModeName, 4> kModes{{{"fixed-batch", LoadMode::fixed_batch},
                                          {"closed-loop", LoadMode::closed_loop},
                                          {"offline", LoadMode::offline},
                                          {"prefill", LoadMode::prefill}}};

void read_load(CaseRow& row, const AssumedWorkloads& workloads, InferenceLoad& load) {
  const std::string_view mode = row.text("mode");
  const auto* const known =
      std::find_if(kModes.begin(), kModes.end(), [&](const ModeName& m) { return m.text == mode; });
  if (known == kModes.end()) {
    row.refuse("mode", fmt::format("'{}' is no mode: write fixed-batch, closed-loop, offline or prefill", mode));
    return;
  }
  load.mode = known->mode;

  const AssumedWorkload* const assumed = find_workload(workloads, row.text("id"));
  if (assumed != nullptr) {
    load.natural_text = assumed->natural_text;
    load.queued = assumed->queued;
  }
  if (const auto isl = row.number("isl", 0, kLongest)) {
    load.isl = *isl;
  } else if (row.text("isl").empty() && assumed != nullptr) {
    load.isl = assumed->isl;
  } else {
    row.refuse("isl", "the input length is not published, and none is assumed for this data set");
  }
  if (load.mode == LoadMode::prefill) {
    load.osl = row.number("osl", 0, kLongest).value_or(1);
  } else if (row.require("osl")) {
    load.osl = row.number("osl", 1, kLongest).value_or(1);
  }
  load.length_low = row.number("length_range", 0, 1).value_or(1);

  if (load.mode == LoadMode::fixed_batch || load.mode == LoadMode::prefill) {
    if (row.require("batch")) load.batch = row.number("batch", 1, 1e7).value_or(1);
  } else {
    if (load.mode == LoadMode::closed_loop && !row.require("concurrency")) return;
    load.concurrency = row.number("concurrency", 1, 1e7).value_or(0);
  }
}

}  // namespace

const AssumedWorkload* find_workload(const AssumedWorkloads& workloads, std::string_view id) {
  for (const AssumedWorkload& w : workloads) {
    if (id.find(w.id_contains) != std::string_view::npos) return &w;
  }
  return nullptr;
}

Result<AssumedWorkloads> read_assumed_workloads(std::string csv, const std::string& name) {
  static constexpr std::string_view kColumns[] = {"id_contains", "isl",        "natural_text",
                                                  "queued",      "median_gap", "source"};
  const auto table = CsvTable::parse(std::move(csv), name);
  if (!table) return table.error();
  for (const std::string_view column : kColumns) {
    if (const auto found = table->required_column(column); !found) return found.error();
  }
  AssumedWorkloads workloads;
  for (std::size_t i = 0; i < table->rows(); ++i) {
    CaseRow row(*table, i);
    for (const std::string_view column : kColumns) row.require(column);
    AssumedWorkload entry{std::string(row.text("id_contains")), row.number("isl", 1, kLongest).value_or(0),
                          row.number("natural_text", 0, 1).value_or(0), row.integer("queued", 0, 1).value_or(0) == 1,
                          row.integer("median_gap", 0, 1).value_or(0) == 1};
    if (!row.refusal().empty()) return Error{ErrorCode::bad_input, {}, row.refusal()};
    workloads.push_back(std::move(entry));
  }
  return workloads;
}

InferenceQuery read_inference_query(CaseRow& row, const AssumedWorkloads& workloads) {
  InferenceQuery query;
  row.require("model");
  row.require("device");
  query.model = row.text("model");
  query.device = row.text("device");
  if (!row.text("engine").empty()) query.engine = row.text("engine");
  query.engine_version = row.text("engine_version");
  query.date = leading_date(row.text("date"));
  query.tp = row.integer("tp", 1, kMostGpus).value_or(0);
  query.pp = row.integer("pp", 1, kMostGpus).value_or(1);
  query.ep = row.integer("ep", 1, kMostGpus).value_or(1);
  query.dp = row.integer("dp", 1, kMostGpus).value_or(1);
  query.gpus = row.integer("gpus", 1, kMostGpus).value_or(0);
  query.weights = row.format("weight_precision");
  query.activations = row.format("activation_precision");
  query.kv = row.format("kv_precision");
  read_load(row, workloads, query.load);
  return query;
}

}  // namespace ridge::evidence
