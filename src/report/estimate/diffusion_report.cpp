#include "report/estimate/diffusion_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/estimate/inference_report.hpp"
#include "ridge/base/text.hpp"

namespace ridge::report {

namespace {

Interval per_image(const DiffusionEstimate& e, const DiffusionLoad& load) {
  const Interval& t = e.batch_latency_s;
  return {t.low / load.batch, t.mid / load.batch, t.high / load.batch};
}

std::string size_text(const DiffusionLoad& load) {
  return fmt::format("{:.0f} × {:.0f}", load.width, load.height);
}

/// What one call makes.
std::string_view product(const DiffusionLoad& load) {
  return load.frames > 1 ? "clip" : "image";
}

std::string deployment(const DiffusionQuery& q) {
  std::string text = fmt::format("{} × {}", std::max(q.gpus, 1), q.device);
  if (q.ulysses > 1) text += fmt::format(", Ulysses {}", q.ulysses);
  if (q.ring > 1) text += fmt::format(", ring {}", q.ring);
  if (q.cfg > 1) text += ", guidance on two halves";
  if (q.compiled) text += ", compiled";
  if (q.takes_turns) text += ", parts take turns";
  return text + ", " + q.engine;
}

Table time_table(const DiffusionEstimate& e) {
  Table table = shares_table("Where the time of a call goes", "term");
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < kTerms; ++i) {
    if (e.terms_s[i] > 0) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t x, std::size_t y) { return e.terms_s[x] > e.terms_s[y]; });
  for (const std::size_t i : order) {
    const Term term = static_cast<Term>(i);
    const double share = e.terms_s[i] / e.batch_latency_s.mid;
    add_share(table, term == Term::head ? "text encoders and decoder" : spoken(term), Cell(Seconds(e.terms_s[i])),
              share);
  }
  return table;
}

Table memory_table(const DiffusionEstimate& e) {
  Table table = two_columns("Memory of one device");
  table.columns[1].kind = ColumnKind::number;
  for (const MemoryPart part : {MemoryPart::weights, MemoryPart::activations}) {
    table.rows.push_back({Cell(name(part)), Cell(Bytes(e.memory_bytes[static_cast<std::size_t>(part)]))});
  }
  return table;
}

Json load_json(const DiffusionLoad& load) {
  return Json::object()
      .set("steps", load.steps)
      .set("width_pixels", load.width)
      .set("height_pixels", load.height)
      .set("batch", load.batch)
      .set("frames", load.frames > 1 ? load.frames : 1);
}

void set_estimate(Json& json, const DiffusionOutcome& o, const DiffusionLoad& load) {
  const bool fits = o.reason == Reason::none;
  const DiffusionEstimate& e = o.estimate;
  const auto predicted = [&](const Interval& i) { return fits ? interval_json(i) : Json(); };
  json.set("batch_latency_s", predicted(e.batch_latency_s)).set("image_s", predicted(per_image(e, load)));
  json.set("images_per_s", predicted(e.images_per_s));
  const auto published = [&](const Interval& value) { return value.mid > 0 ? predicted(value) : Json(); };
  json.set("power_w", published(e.power_w)).set("energy_per_image_j", published(e.energy_per_image_j));
}

}  // namespace

std::string diffusion_refusal(const DiffusionAnswer& a) {
  const DiffusionOutcome& o = a.outcome;
  if (o.reason == Reason::out_of_memory) {
    return fmt::format("out of memory: each {1} needs {0} more{2}", format(Bytes(o.short_by)), a.query.device,
                       a.query.gpus > 1 ? "; the weights are on every device" : "");
  }
  if (o.reason == Reason::heads_not_divisible) {
    return fmt::format("Ulysses {} does not divide the heads of {}: use ⟦ring⟧ for the rest", a.query.ulysses,
                       a.query.model);
  }
  if (o.reason == Reason::gpus_do_not_multiply) {
    return fmt::format("CFG {} x Ulysses {} x ring {} is not {} devices", a.query.cfg, std::max(a.query.ulysses, 1),
                       std::max(a.query.ring, 1), a.query.gpus);
  }
  if (o.reason == Reason::bad_value && a.query.cfg > 1) {
    return "guidance takes one pass a step here: there is nothing to share out, leave ⟦cfg_parallel⟧ away";
  }
  if (o.reason == Reason::sequence_not_divisible) {
    return "a UNet has no sequence that devices could share: leave out ⟦ulysses⟧ and ⟦ring⟧, and calls run side by "
           "side";
  }
  return std::string(name(o.reason));
}

Table diffusion_table(const DiffusionAnswer& a) {
  Table table;
  table.columns = {{.key = "width", .unit = "pixels", .heading = "width", .kind = ColumnKind::number},
                   {.key = "height", .unit = "pixels", .heading = "height", .kind = ColumnKind::number},
                   {.key = "steps", .heading = "steps", .kind = ColumnKind::number},
                   {.key = "batch", .heading = "batch", .kind = ColumnKind::number},
                   {.key = "image", .unit = "s", .heading = "per image", .kind = ColumnKind::interval},
                   {.key = "images_per_s", .heading = "images/s", .kind = ColumnKind::number},
                   {.key = "energy_per_image", .unit = "j", .heading = "energy", .kind = ColumnKind::number},
                   {.key = "bound", .heading = "bound by"}};
  for (const DiffusionPoint& p : a.sweep) {
    std::vector<Cell> row = {Cell(p.load.width), Cell(p.load.height), Cell(p.load.steps), Cell(p.load.batch)};
    const DiffusionEstimate& e = p.outcome.estimate;
    if (p.outcome.reason == Reason::none) {
      row.push_back(Cell::interval<Seconds>(per_image(e, p.load)));
      row.emplace_back(e.images_per_s.mid);
      row.push_back(e.energy_per_image_j.mid > 0 ? Cell(Joules(e.energy_per_image_j.mid)) : Cell());
      row.emplace_back(name(e.bound));
    } else {
      row.insert(row.end(), 3, Cell());
      row.emplace_back(name(p.outcome.reason));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

Document diffusion_page(const DiffusionAnswer& a) {
  const DiffusionEstimate& e = a.outcome.estimate;
  const DiffusionLoad& load = a.query.load;
  Document page;
  const std::string_view one = product(load);
  const std::string frames = load.frames > 1 ? fmt::format(" × {:.0f} frames", load.frames) : std::string();
  page.title = fmt::format("{} on {} · {} pixels{}, {:.0f} steps, batch {:.0f}", a.query.model, deployment(a.query),
                           size_text(load), frames, load.steps, load.batch);
  page.blocks.emplace_back(
      Paragraph{fmt::format("{} {} {}, {} {}s/s. Bottleneck: {}.", time_cell(per_image(e, load)).text(),
                            one == "image" ? "an" : "a", one, format_number(e.images_per_s.mid), one, name(e.bound)),
                Emphasis::strong});
  const bool certain = e.batch_latency_s.low == e.batch_latency_s.high;
  Table table = two_columns(certain ? "What the datasheet allows" : "Predicted, with 80 % intervals");
  const auto add = [&](const std::string& what, const Cell& cell) { table.rows.push_back({Cell(what), cell}); };
  add("one call", time_cell(e.batch_latency_s));
  add(fmt::format("per {}", one), time_cell(per_image(e, load)));
  if (load.frames > 1) add("tokens that attend to each other", Cell(e.tokens));
  add("one denoising step", Cell(Seconds(e.step_s)));
  add("work of a step", Cell(Flops(e.flops_per_step)));
  if (e.power_w.mid > 0) {
    add("power, all devices", Cell(in_unit(e.power_w, "W")));
    add(fmt::format("energy per {}", one), Cell(in_unit(e.energy_per_image_j, "J")));
  }
  page.blocks.emplace_back(std::move(table));
  page.blocks.emplace_back(time_table(e));
  page.blocks.emplace_back(memory_table(e));
  Table sweep = diffusion_table(a);
  sweep.title = "With other sizes, steps and batches";
  page.blocks.emplace_back(std::move(sweep));
  std::vector<std::string> assumptions = a.assumptions;
  if (e.vae_tiled) assumptions.emplace_back("the decoder works on tiles of 512 x 512 pixels: whole it does not fit");
  add_assumptions(page, assumptions);
  return page;
}

Json diffusion_json(const DiffusionAnswer& a) {
  const DiffusionEstimate& e = a.outcome.estimate;
  const bool fits = a.outcome.reason == Reason::none;
  Json query = load_json(a.query.load);
  query.set("model", a.query.model).set("device", a.query.device).set("engine", a.query.engine);
  query.set("gpus", a.query.gpus).set("ulysses", a.query.ulysses).set("ring", a.query.ring);
  query.set("cfg_parallel", a.query.cfg).set("compiled", a.query.compiled);
  if (a.query.takes_turns) query.set("model_offload", true);
  Json json = Json::object();
  json.set("schema", kEstimateSchema).set("kind", "diffusion").set("query", std::move(query));
  json.set("fits", fits).set("reason", fits ? Json() : Json(diffusion_refusal(a)));
  json.set("short_by_bytes", a.outcome.reason == Reason::out_of_memory ? Json(a.outcome.short_by) : Json());
  set_estimate(json, a.outcome, a.query.load);
  json.set("tokens", fits ? Json(e.tokens) : Json()).set("vae_tiled", fits && e.vae_tiled);
  json.set("step_s", fits ? Json(e.step_s) : Json()).set("step_flop", fits ? Json(e.flops_per_step) : Json());
  Json terms = Json::object();
  for (std::size_t i = 0; i < kTerms; ++i) {
    if (e.terms_s[i] > 0) terms.set(name(static_cast<Term>(i)), e.terms_s[i]);
  }
  json.set("terms_s", fits ? std::move(terms) : Json());
  Json memory = Json::object();
  for (std::size_t i = 0; i < kMemoryParts; ++i) memory.set(name(static_cast<MemoryPart>(i)), e.memory_bytes[i]);
  json.set("memory_bytes", std::move(memory)).set("bottleneck", fits ? Json(name(e.bound)) : Json());
  Json sweep = Json::array();
  for (const DiffusionPoint& p : a.sweep) {
    Json point = load_json(p.load);
    set_estimate(point, p.outcome, p.load);
    sweep.push(std::move(point));
  }
  return json.set("sweep", std::move(sweep)).set("assumptions", texts_json(a.assumptions));
}

}  // namespace ridge::report
