#include "evidence/cases/training_cases.hpp"

#include <algorithm>
#include <string>

namespace ridge::evidence {
namespace {

constexpr int kMost = 10'000'000;

int required_integer(CaseRow& row, std::string_view column) {
  return row.require(column) ? row.integer(column, 1, kMost).value_or(1) : 1;
}

/// A word of `parse`, or what an empty cell means.
template <class E, class Parse>
E word(CaseRow& row, std::string_view column, E otherwise, Parse parse) {
  const std::string cell = row.word(column);
  if (cell.empty()) return otherwise;
  const auto parsed = parse(cell);
  if (parsed) return *parsed;
  row.refuse(column, parsed.error().message);
  return otherwise;
}

}  // namespace

TrainingQuery read_training_query(CaseRow& row) {
  TrainingQuery query;
  row.require("model");
  row.require("device");
  query.model = row.text("model");
  query.device = row.text("device");
  if (!row.text("engine").empty()) query.engine = row.text("engine");
  query.engine_version = row.text("engine_version");
  query.date = row.text("date");
  query.task = word(row, "task", TrainingTask::pretrain, parse_training_task);
  query.precision = row.format("precision");
  query.frozen = row.format("frozen_weights");
  query.gpus_per_node = row.integer("gpus_per_node", 1, kMost).value_or(0);
  query.scale_up_domain = row.integer("scaleup_domain", 1, kMost).value_or(0);

  TrainingPlan& plan = query.plan;
  plan.sequence = required_integer(row, "seq_len");
  plan.global_batch = required_integer(row, "global_batch");
  plan.tp = row.integer("tp", 1, kMost).value_or(1);
  plan.pp = row.integer("pp", 1, kMost).value_or(1);
  plan.vp = row.integer("vp", 1, kMost).value_or(0);
  plan.cp = row.integer("cp", 1, kMost).value_or(1);
  plan.ep = row.integer("ep", 1, kMost).value_or(1);
  plan.dp = row.integer("dp", 1, kMost).value_or(0);
  // Where only the degrees are given, they say how many devices there are.
  const bool told = row.text("gpus").empty() && !row.text("dp").empty();
  const double product = 1.0 * plan.tp * plan.pp * plan.cp * plan.dp;
  plan.gpus = told ? static_cast<int>(std::min<double>(product, kMost)) : required_integer(row, "gpus");
  plan.micro_batch = row.integer("micro_batch", 1, kMost).value_or(1);
  plan.sharding = word(row, "sharding", Sharding::unknown, parse_sharding);
  plan.recompute = word(row, "recompute", Recompute::unknown, parse_recompute);
  plan.recompute_layers = row.integer("recompute_layers", 1, kMost).value_or(0);
  plan.capacity = static_cast<float>(row.number("capacity", 1, kMost).value_or(0));
  return query;
}

}  // namespace ridge::evidence
