#include "report/estimate/diffusion_training_report.hpp"

#include <fmt/format.h>

#include "report/estimate/inference_report.hpp"
#include "report/page/findings.hpp"
#include "report/page/page.hpp"
#include "ridge/base/text.hpp"

namespace ridge::report {

namespace {

constexpr double kTrainingDay = 86400;

std::string trained_text(const DiffusionTrainingAnswer& a) {
  std::string text = fmt::format("{} × {}", a.query.gpus, a.query.device);
  if (a.query.tp > 1) text += fmt::format(", TP {}", a.query.tp);
  text += fmt::format(", DP {}", a.dp);
  if (a.query.recompute) text += ", recomputed";
  return text;
}

struct TrainedTerm {
  const char* what;
  const char* key;
  double seconds;
};

std::vector<TrainedTerm> terms_of(const DiffusionTrainingEstimate& e) {
  return {{"forward pass", "forward", e.forward_s},  {"backward pass", "backward", e.backward_s},
          {"text encoders", "text", e.text_s},       {"gradients, not hidden", "exposed", e.exposed_s},
          {"optimizer", "optimizer", e.optimizer_s}, {"around the passes", "around", e.around_s}};
}

std::vector<std::pair<const char*, double>> memory_of(const DiffusionTrainingMemory& m) {
  return {{"weights", m.weights},
          {"gradients", m.gradients},
          {"optimizer", m.optimizer},
          {"activations", m.activations},
          {"text_encoders", m.text_encoders}};
}

Interval days_of(const DiffusionTrainingAnswer& a, double images) {
  const Interval& r = a.estimate.images_per_s;
  return {images / r.high / kTrainingDay, images / r.mid / kTrainingDay, images / r.low / kTrainingDay};
}

}  // namespace

std::string diffusion_training_refusal(const DiffusionTrainingAnswer& a) {
  if (a.reason != Reason::out_of_memory) return std::string(name(a.reason));
  std::string what = a.largest_micro_batch >= 1
                         ? fmt::format("⟦micro_batch={:.0f}⟧ fits", a.largest_micro_batch)
                         : std::string("not one image fits: use fewer pixels, ⟦tp⟧, or more devices");
  if (!a.query.recompute) what += ", or ⟦recompute=full⟧";
  return fmt::format("out of memory: each {1} needs {0} more: {2}", format(Bytes(a.short_by)), a.query.device, what);
}

Table diffusion_training_table(const DiffusionTrainingAnswer& a) {
  Table table = quantities_table();
  const auto add = [&](const char* what, const char* unit, const Interval& i) { add_quantity(table, what, unit, i); };
  add("step", "s", a.estimate.step_s);
  add("images", "1/s", a.estimate.images_per_s);
  return table;
}

Document diffusion_training_page(const DiffusionTrainingAnswer& a, double images) {
  const DiffusionTrainingEstimate& e = a.estimate;
  const bool clip = a.query.frames > 1;
  Document page;
  page.title =
      fmt::format("Train {} on {} · {:.0f} × {:.0f} pixels{}, {:.0f} {} a step", a.query.model, trained_text(a),
                  a.query.width, a.query.height, clip ? fmt::format(" × {:.0f} frames", a.query.frames) : std::string(),
                  a.query.global_batch, clip ? "clips" : "images");
  page.blocks.emplace_back(
      Paragraph{fmt::format("A step takes {}, {} {}/s, MFU {}.", time_cell(e.step_s).text(),
                            format_number(e.images_per_s.mid), clip ? "clips" : "images", percent(e.mfu)),
                Emphasis::strong});
  Table table = two_columns("Predicted, with 80 % intervals");
  table.rows.push_back({Cell("step"), time_cell(e.step_s)});
  table.rows.push_back({Cell(clip ? "clips/s" : "images/s"), Cell(in_unit(e.images_per_s, ""))});
  table.rows.push_back(
      {Cell("per device"), Cell(fmt::format("{}/s", format_number(e.images_per_s.mid / a.query.gpus)))});
  table.rows.push_back({Cell("work of a step"), Cell(Flops(e.flops_per_step))});
  table.rows.push_back(
      {Cell("micro-batches"), Cell(fmt::format("{:.0f} of {:.0f}", a.accumulation, a.query.micro_batch))});
  if (images > 0) {
    const Interval days = days_of(a, images);
    table.rows.push_back({Cell("time for all"), Cell(in_unit(days, "days"))});
    table.rows.push_back({Cell("GPU-hours"), Cell(days.mid * 24 * a.query.gpus)});
  }
  page.blocks.emplace_back(std::move(table));
  Table where = shares_table("Where the time of a step goes", "term");
  for (const TrainedTerm& t : terms_of(e)) {
    if (t.seconds <= 0) continue;
    add_share(where, t.what, Cell(Seconds(t.seconds)), t.seconds / e.step_s.mid);
  }
  page.blocks.emplace_back(std::move(where));
  Table memory = two_columns("Memory of one device");
  memory.columns[1].kind = ColumnKind::number;
  for (const auto& [what, bytes] : memory_of(a.memory)) {
    std::string said = what;
    for (char& c : said) c = c == '_' ? ' ' : c;
    if (bytes > 0) memory.rows.push_back({Cell(said), Cell(Bytes(bytes))});
  }
  memory.rows.push_back({Cell("of"), Cell(Bytes(a.memory.capacity))});
  page.blocks.emplace_back(std::move(memory));
  add_assumptions(page, a.assumptions);
  return page;
}

Json diffusion_training_json(const DiffusionTrainingAnswer& a, double images) {
  const bool fits = a.reason == Reason::none;
  const DiffusionTrainingEstimate& e = a.estimate;
  Json query = Json::object();
  query.set("model", a.query.model).set("device", a.query.device).set("gpus", a.query.gpus).set("tp", a.query.tp);
  query.set("dp", a.dp).set("global_batch", a.query.global_batch).set("micro_batch", a.query.micro_batch);
  query.set("width_pixels", a.query.width).set("height_pixels", a.query.height).set("frames", a.query.frames);
  query.set("text_encoders", a.query.text_encoders).set("recompute", a.query.recompute);
  Json json = Json::object();
  json.set("schema", kEstimateSchema).set("kind", "diffusion-training").set("query", std::move(query));
  json.set("fits", fits).set("reason", fits ? Json() : Json(diffusion_training_refusal(a)));
  json.set("short_by_bytes", a.reason == Reason::out_of_memory ? Json(a.short_by) : Json());
  json.set("step_s", fits ? interval_json(e.step_s) : Json());
  json.set("images_per_s", fits ? interval_json(e.images_per_s) : Json());
  json.set("step_flop", fits ? Json(e.flops_per_step) : Json()).set("mfu", fits ? Json(e.mfu) : Json());
  Json terms = Json::object();
  for (const TrainedTerm& t : terms_of(e)) terms.set(t.key, t.seconds);
  json.set("terms_s", fits ? std::move(terms) : Json());
  Json memory = Json::object();
  for (const auto& [what, bytes] : memory_of(a.memory)) memory.set(what, bytes);
  json.set("memory_bytes", std::move(memory));
  json.set("days", fits && images > 0 ? interval_json(days_of(a, images)) : Json());
  return json.set("assumptions", texts_json(a.assumptions));
}

Table diffusion_training_findings_table(const evidence::DiffusionTrainingFindings& f) {
  return findings_table(f.lines, "rows", false);
}

Document diffusion_training_findings_page(const evidence::DiffusionTrainingFindings& f) {
  Document page;
  Table table = diffusion_training_findings_table(f);
  table.title = "Steps of training diffusion models: predicted beside measured, submitters left out";
  page.blocks.emplace_back(std::move(table));
  for (const std::string& line : f.refused) page.blocks.emplace_back(Paragraph{line, Emphasis::bad});
  page.blocks.emplace_back(
      Paragraph{fmt::format("All rows would choose: passes {}, around {} s, spread {}.", format_number(f.chosen.passes),
                            format_number(f.chosen.around), format_number(f.chosen.spread)),
                Emphasis::faint});
  return page;
}

Table diffusion_training_rows_table(const evidence::DiffusionTrainingFindings& f,
                                    const std::vector<evidence::DiffusionTrainingCase>& cases) {
  Table table;
  table.columns = {{.key = "id", .heading = "id"},
                   {.key = "measured", .unit = "s", .heading = "measured", .kind = ColumnKind::number},
                   {.key = "predicted", .unit = "s", .heading = "predicted", .kind = ColumnKind::interval},
                   {.key = "left_out", .unit = "s", .heading = "left out", .kind = ColumnKind::interval}};
  for (const evidence::DiffusionTrainingRow& r : f.rows) {
    const evidence::DiffusionTrainingCase& c = cases[r.case_index];
    table.rows.push_back({Cell(c.id), Cell(Seconds(c.step_s)), Cell::interval<Seconds>(r.predicted),
                          Cell::interval<Seconds>(r.left_out)});
  }
  return table;
}

}  // namespace ridge::report
