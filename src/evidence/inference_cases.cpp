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

void read_load(CaseRow& row, const AssumedLengths& lengths, InferenceLoad& load) {
  const std::string_view mode = row.text("mode");
  const auto* const known = std::find_if(kModes.begin(), kModes.end(), [&](const ModeName& m) { return m.text == mode; });
  if (known == kModes.end()) {
    row.refuse("mode", fmt::format("'{}' is no mode: write fixed-batch, closed-loop, offline or prefill", mode));
    return;
  }
  load.mode = known->mode;

  const std::string_view id = row.text("id");
  const auto assumed = std::find_if(lengths.begin(), lengths.end(),
                                    [&](const AssumedLength& a) { return id.find(a.id_contains) != std::string_view::npos; });
  if (assumed != lengths.end()) load.natural_text = assumed->natural_text;
  if (const auto isl = row.number("isl", 0, kLongest)) {
    load.isl = *isl;
  } else if (row.text("isl").empty() && assumed != lengths.end()) {
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

Result<AssumedLengths> read_assumed_lengths(std::string csv, const std::string& name) {
  const auto table = CsvTable::parse(std::move(csv), name);
  if (!table) return table.error();
  for (const std::string_view column : {"id_contains", "isl", "natural_text", "source"}) {
    if (const auto found = table->required_column(column); !found) return found.error();
  }
  AssumedLengths lengths;
  for (std::size_t i = 0; i < table->rows(); ++i) {
    CaseRow row(*table, i);
    for (const std::string_view column : {"id_contains", "isl", "natural_text", "source"}) row.require(column);
    AssumedLength entry{std::string(row.text("id_contains")), row.number("isl", 1, kLongest).value_or(0),
                        row.number("natural_text", 0, 1).value_or(0)};
    if (!row.refusal().empty()) return Error{ErrorCode::bad_input, {}, row.refusal()};
    lengths.push_back(std::move(entry));
  }
  return lengths;
}

InferenceQuery read_inference_query(CaseRow& row, const AssumedLengths& lengths) {
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
  read_load(row, lengths, query.load);
  return query;
}

}  // namespace ridge::evidence
