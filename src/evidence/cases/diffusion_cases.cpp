#include "evidence/cases/diffusion_cases.hpp"

namespace ridge::evidence {

DiffusionCase read_diffusion_case(CaseRow& row) {
  DiffusionCase c;
  for (const char* column : {"model", "device", "steps", "width", "height"}) row.require(column);
  c.model = row.text("model");
  c.device = row.text("device");
  c.engine = row.text("engine");
  c.date = leading_date(row.text("date"));
  c.gpus = row.integer("gpus", 1, 1'000'000).value_or(1);
  c.ulysses = row.integer("ulysses", 1, 1'000'000).value_or(0);
  c.ring = row.integer("ring", 1, 1'000'000).value_or(0);
  c.weights = row.format("weight_precision");
  c.steps = row.number("steps", 1, 1e5).value_or(1);
  c.width = row.number("width", 8, 1e6).value_or(0);
  c.height = row.number("height", 8, 1e6).value_or(0);
  c.batch = row.number("batch", 1, 1e6).value_or(1);
  return c;
}

}  // namespace ridge::evidence
