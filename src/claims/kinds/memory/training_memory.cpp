// What training keeps in memory.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "claims/kinds/all_kinds.hpp"
#include "claims/reading/collector.hpp"
#include "claims/reading/memory_parts.hpp"
#include "ridge/base/text.hpp"

namespace ridge::claims {

namespace {

Result<Recomputed> recompute_training(Inputs& inputs) {
  const auto size = size_of(inputs);
  if (!size) return size.error();
  const auto shards = inputs.count("shards", 1.0);
  if (!shards) return shards.error();
  const std::string part = inputs.text("part");
  // Mixed-precision Adam (Rajbhandari et al. 2020, ZeRO, section 3.1): 2 B weights, 2 B gradients, 4 B master weights,
  // 4 B each for two moments.
  const double each = part == "weights" || part == "gradients" ? 2 : part == "optimizer" ? 12 : 16;
  double activations = 0;
  if (inputs.has("activations")) {
    const auto given = inputs.measure("activations");
    if (!given) return given.error();
    activations = given->measure.value;
  }
  Recomputed result;
  result.right = measure_of(Bytes((size->parameters * each + activations) / *shards));
  result.formula = fmt::format("({} x {:g} B{}){}", size->shown, each,
                               activations > 0 ? " + " + measure_of(Bytes(activations)).text : "",
                               *shards == 1 ? "" : fmt::format(" / {:g}", *shards));
  result.readings.push_back({measure_of(Bytes(size->parameters * 8 / *shards)), Verdict::wrong,
                             "that leaves out master weights and counts the moments at two bytes", 0.12});
  return result;
}

// --- finding it in text ------------------------------------------------------------------------------------------

void recognise_training(const Passage& row, Collector& out) {
  if (!row.is_row() || !is_training_table(row)) return;
  const Tokens& first = row.cells[0].tokens;
  const bool total = any_word(first, {"total"});
  const bool optimizer = any_word(first, {"optimizer", "adam"});
  const bool gradients = any_word(first, {"gradients"});
  if (!total && !optimizer && !gradients) return;
  double shards = 1;
  for (const Token& t : first) {
    if (t.is_number() && t.measure.form == Measure::Form::plain &&
        any_word(first, {"fsdp", "shard", "zero", "sharded"})) {
      shards = t.measure.value;
    }
  }
  for (std::size_t i = 1; i < row.cells.size(); ++i) {
    const TableCell& cell = row.cells[i];
    const auto m = cell_measure(cell);
    const Name* model = model_in(cell.header->tokens, out);
    if (!m || !is_a<Bytes>(*m) || model == nullptr) continue;
    const Token& number = *first_number(cell.tokens);
    std::vector<Found> inputs = {{"model", model->id}};
    if (optimizer) inputs.push_back({"part", "optimizer"});
    if (gradients) inputs.push_back({"part", "gradients"});
    const auto kept = out.memory.activations.find({row.table, i});
    if (total && kept != out.memory.activations.end()) inputs.push_back(found("activations", kept->second));
    if (shards != 1) inputs.push_back({"shards", fmt::format("{}", shards)});
    out.add(training_memory_kind(), number,
            fmt::format("training {} keeps {}{}", model->id, number.text,
                        shards == 1 ? "" : fmt::format(" on each of {:g}", shards)),
            std::move(inputs));
  }
}

}  // namespace

const Kind& training_memory_kind() {
  static const Kind kind{"training-memory",
                         "what training keeps in memory",
                         "(parameters x 16 B + activations) / shards: mixed-precision Adam",
                         "model? parameters? shards? part? activations?",
                         true,
                         recompute_training,
                         recognise_training};
  return kind;
}

}  // namespace ridge::claims
