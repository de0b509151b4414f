#include "report/estimate/context_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/estimate/inference_report.hpp"
#include "ridge/base/text.hpp"

namespace ridge::report {

namespace {

std::string context_devices(const ContextAnswer& a) {
  const DeploymentFacts& f = a.curve.facts;
  std::string text = fmt::format("{} × {}", format_number(a.curve.devices, 7), f.device);
  if (f.tp > 1) text += fmt::format(", TP {}", f.tp);
  if (f.pp > 1) text += fmt::format(", PP {}", f.pp);
  if (f.ep > 1) text += fmt::format(", EP {}", f.ep);
  if (a.curve.cp > 1) text += fmt::format(", CP {}", a.curve.cp);
  return text;
}

}  // namespace

std::string context_refusal(const ContextAnswer& a) {
  const ContextPoint& p = a.curve.points.front();
  std::string text = fmt::format("{} on {} cannot run a prompt of {} tokens: {}", a.query.model, context_devices(a),
                                 format_count(p.tokens), name(p.reason));
  if (p.reason != Reason::out_of_memory) return text;
  const double room = std::max(a.curve.kv_room_bytes, 0.0);
  text += fmt::format(": each device needs {} more", format(Bytes(p.short_by)));
  if (room > 0) {
    const double ranks = std::ceil(a.curve.cp * (room + p.short_by) / room);
    text += fmt::format("; ⟦cp={:.0f}⟧ would share the cache", ranks);
  }
  return text;
}

Table context_table(const ContextAnswer& a) {
  Table t;
  t.columns = {{.key = "tokens", .heading = "tokens", .kind = ColumnKind::number},
               {.key = "ttft", .unit = "s", .heading = "time to first token", .kind = ColumnKind::interval},
               {.key = "tokens_per_s", .heading = "tok/s", .kind = ColumnKind::number},
               {.key = "attention_share", .heading = "attention", .kind = ColumnKind::number},
               {.key = "exchange_share", .heading = "waits for the ring", .kind = ColumnKind::number},
               {.key = "kv", .unit = "bytes", .heading = "KV a device", .kind = ColumnKind::number},
               {.key = "activations", .unit = "bytes", .heading = "activations", .kind = ColumnKind::number},
               {.key = "steps", .heading = "steps", .kind = ColumnKind::number},
               {.key = "bound", .heading = "bound by"}};
  for (const ContextPoint& p : a.curve.points) {
    std::vector<Cell> row = {Cell(p.tokens, 9)};
    if (p.reason == Reason::none) {
      row.push_back(Cell::interval<Seconds>(p.ttft_s));
      row.emplace_back(p.tokens_per_s.mid);
      row.emplace_back(percent(p.attention_share));
      row.emplace_back(percent(p.exchange_share));
    } else {
      row.insert(row.end(), 4, Cell());
    }
    row.emplace_back(Bytes(p.kv_bytes));
    row.emplace_back(Bytes(p.activation_bytes));
    row.emplace_back(p.steps, 9);
    row.emplace_back(p.reason == Reason::none ? std::string(name(p.bound)) : std::string(name(p.reason)));
    t.rows.push_back(std::move(row));
  }
  return t;
}

Document context_page(const ContextAnswer& a) {
  Document page;
  const DeploymentFacts& f = a.curve.facts;
  page.title = fmt::format("{} on {}, {} weights, {} KV, {} · one prompt alone", a.query.model, context_devices(a),
                           name(f.weights), name(f.kv), f.engine);
  Table table = context_table(a);
  table.title = "Time to first token against the length of the prompt, with 80 % intervals";
  page.blocks.emplace_back(std::move(table));
  page.blocks.emplace_back(
      Paragraph{fmt::format("{} of each device are left for the KV cache.", format(Bytes(a.curve.kv_room_bytes)))});
  add_assumptions(page, a.curve.assumptions);
  return page;
}

Json context_json(const ContextAnswer& a) {
  const ContextCurve& c = a.curve;
  Json points = Json::array();
  for (const ContextPoint& p : c.points) {
    const bool fits = p.reason == Reason::none;
    points.push(Json::object()
                    .set("tokens", p.tokens)
                    .set("fits", fits)
                    .set("reason", fits ? Json() : Json(name(p.reason)))
                    .set("short_by_bytes", p.reason == Reason::out_of_memory ? Json(p.short_by) : Json())
                    .set("ttft_s", fits ? interval_json(p.ttft_s) : Json())
                    .set("tokens_per_s", fits ? interval_json(p.tokens_per_s) : Json())
                    .set("attention_share", fits ? Json(p.attention_share) : Json())
                    .set("exchange_share", fits ? Json(p.exchange_share) : Json())
                    .set("kv_bytes", p.kv_bytes)
                    .set("activation_bytes", p.activation_bytes)
                    .set("steps", p.steps)
                    .set("bottleneck", fits ? Json(name(p.bound)) : Json()));
  }
  Json query = Json::object();
  query.set("model", a.query.model).set("device", c.facts.device).set("engine", c.facts.engine);
  query.set("gpus", c.devices).set("tp", c.facts.tp).set("pp", c.facts.pp).set("ep", c.facts.ep).set("cp", c.cp);
  query.set("weight_precision", name(c.facts.weights)).set("kv_precision", name(c.facts.kv));
  Json json = Json::object();
  json.set("schema", kEstimateSchema).set("kind", "context").set("query", std::move(query));
  json.set("kv_room_bytes", c.kv_room_bytes).set("points", std::move(points));
  return json.set("assumptions", texts_json(c.assumptions));
}

}  // namespace ridge::report
