#include "report/estimate/capacity_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/estimate/inference_report.hpp"
#include "ridge/base/text.hpp"

namespace ridge::report {

namespace {

Json question_json(const CapacityQuestion& q) {
  return Json::object().set("engine", q.engine).set("isl_tokens", q.isl).set("osl_tokens", q.osl);
}

/// What 16 bytes per parameter come to, and how many devices hold that alone.
double adam_bytes(const Model& model) {
  return kAdamBytesPerParameter * count_parameters(model).total;
}

std::string held_text(const CapacityQuestion& q) {
  return fmt::format("with one sequence of {} tokens, {}", format_number(q.isl + q.osl, 7), q.engine);
}

Table weights_table(const ModelFit& fit) {
  Table table;
  table.title = "Weights";
  table.columns = {{.key = "precision", .heading = "precision"},
                   {.key = "bare", .unit = "bytes", .heading = "bare bits", .kind = ColumnKind::number},
                   {.key = "stored", .unit = "bytes", .heading = "as stored", .kind = ColumnKind::number}};
  for (const auto& w : fit.weights) {
    table.rows.push_back({Cell(name(w.format)), Cell(Bytes(w.memory.bare)), Cell(Bytes(w.memory.stored))});
  }
  return table;
}

Table kv_table(const ModelFit& fit) {
  Table table;
  table.title = "KV cache of one sequence";
  table.columns = {{.key = "context", .heading = "context", .kind = ColumnKind::number},
                   {.key = "bf16", .unit = "bytes", .heading = "bf16", .kind = ColumnKind::number},
                   {.key = "fp8", .unit = "bytes", .heading = "fp8", .kind = ColumnKind::number},
                   {.key = "remark", .heading = ""}};
  for (const KvRow& row : fit.kv) {
    const bool beyond = fit.model.context > 0 && row.tokens > fit.model.context;
    table.rows.push_back({Cell(row.tokens), Cell(Bytes(row.bf16_bytes)), Cell(Bytes(row.fp8_bytes)),
                          Cell(beyond ? "past what it was trained for" : "").with(Emphasis::faint)});
  }
  return table;
}

/// Devices and formats as a grid of the fewest devices.
Table grid(const ModelFit& fit, const CapacityQuestion& question) {
  Table table;
  table.title = fmt::format("Fewest devices ({})", held_text(question));
  table.columns = {{.key = "device", .heading = "device"},
                   {.key = "memory", .heading = "memory", .kind = ColumnKind::number}};
  std::vector<Format> formats;
  for (const auto& d : fit.devices) {
    if (std::find(formats.begin(), formats.end(), d.weights) == formats.end()) formats.push_back(d.weights);
  }
  for (const Format f : formats) {
    table.columns.push_back({.key = std::string(name(f)), .heading = std::string(name(f)), .kind = ColumnKind::number});
  }
  std::vector<std::string> seen;
  for (const auto& d : fit.devices) {
    if (std::find(seen.begin(), seen.end(), d.device) != seen.end()) continue;
    seen.push_back(d.device);
    std::vector<Cell> row = {Cell(d.device), Cell(Bytes(d.memory_bytes))};
    for (const Format f : formats) {
      const auto at = std::find_if(fit.devices.begin(), fit.devices.end(),
                                   [&](const auto& e) { return e.device == d.device && e.weights == f; });
      row.push_back(at != fit.devices.end() && at->fewest ? Cell(at->fewest->gpus) : Cell());
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace

Table device_fit_table(std::span<const DeviceFit> rows) {
  Table table;
  table.columns = {{.key = "device", .heading = "device"},
                   {.key = "precision", .heading = "precision"},
                   {.key = "parameters_bound", .heading = "weights alone", .kind = ColumnKind::number}};
  for (const int gpus : kFitGpus) {
    table.columns.push_back({.key = fmt::format("model_on_{}", gpus),
                             .heading = gpus == 1 ? "one device" : fmt::format("{} devices", gpus)});
    table.columns.push_back({.key = fmt::format("parameters_on_{}", gpus), .heading = "", .kind = ColumnKind::number});
  }
  for (const DeviceFit& fit : rows) {
    const double bound = fit.memory_bytes / bytes_per_weight(fit.weights);
    std::vector<Cell> row = {Cell(fit.device), Cell(name(fit.weights)), Cell(bound).shown_as(format_count(bound))};
    for (const Model* model : fit.largest) {
      const double parameters = model != nullptr ? count_parameters(*model).total : 0;
      row.push_back(model != nullptr ? Cell(model->id) : Cell());
      row.push_back(model != nullptr ? Cell(parameters).shown_as(format_count(parameters)) : Cell());
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

Document device_fit_page(std::span<const DeviceFit> rows, const CapacityQuestion& question) {
  Document page;
  page.title = fmt::format("The largest model of the catalogue that fits, {}", held_text(question));
  page.blocks.emplace_back(device_fit_table(rows));
  std::string stored;
  for (const DeviceFit& fit : rows) {
    if (fit.computes) continue;
    const std::string line = fmt::format("{} does not compute in {}", fit.device, name(fit.weights));
    stored += (stored.empty() ? "" : "; ") + line;
  }
  if (!stored.empty() && rows.size() <= 8) {
    page.blocks.emplace_back(
        Paragraph{"Stored narrow, widened to 16 bits for the product: " + stored + ".", Emphasis::faint});
  }
  return page;
}

Json device_fit_json(std::span<const DeviceFit> rows, const CapacityQuestion& question) {
  Json devices = Json::array();
  for (const DeviceFit& fit : rows) {
    Json largest = Json::array();
    for (std::size_t i = 0; i < kFitGpus.size(); ++i) {
      const Model* model = fit.largest[i];
      largest.push(Json::object()
                       .set("gpus", kFitGpus[i])
                       .set("model", model != nullptr ? Json(model->id) : Json())
                       .set("parameters", model != nullptr ? Json(count_parameters(*model).total) : Json()));
    }
    devices.push(Json::object()
                     .set("device", fit.device)
                     .set("precision", name(fit.weights))
                     .set("computes_in_it", fit.computes)
                     .set("memory_bytes", fit.memory_bytes)
                     .set("parameters_bound", fit.memory_bytes / bytes_per_weight(fit.weights))
                     .set("largest", std::move(largest)));
  }
  Json json = Json::object();
  json.set("schema", kEstimateSchema).set("kind", "fit").set("query", question_json(question));
  return json.set("devices", std::move(devices)).set("model", Json());
}

Table model_fit_table(const ModelFit& fit) {
  static constexpr std::string_view kLabels[kMemoryParts] = {"weights", "KV cache", "activations", "buffers", "left"};
  Table table;
  table.columns = {{.key = "device", .heading = "device"},
                   {.key = "precision", .heading = "precision"},
                   {.key = "gpus", .heading = "fewest", .kind = ColumnKind::number},
                   {.key = "layout", .heading = "layout"}};
  for (std::size_t i = 0; i < kMemoryParts; ++i) {
    table.columns.push_back({.key = std::string(name(static_cast<MemoryPart>(i))),
                             .unit = "bytes",
                             .heading = std::string(kLabels[i]),
                             .kind = ColumnKind::number});
  }
  table.columns.push_back({.key = "max_batch", .heading = "sequences", .kind = ColumnKind::number});
  for (const auto& d : fit.devices) {
    std::vector<Cell> row = {Cell(d.device), Cell(name(d.weights))};
    if (d.fewest) {
      row.emplace_back(d.fewest->gpus);
      row.emplace_back(d.fewest->pp > 1 ? fmt::format("TP{} PP{}", d.fewest->tp, d.fewest->pp)
                                        : fmt::format("TP{}", d.fewest->tp));
      for (const double bytes : d.fewest->estimate.memory_bytes) row.emplace_back(Bytes(bytes));
      row.emplace_back(d.fewest->estimate.max_batch);
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

Document model_fit_page(const ModelFit& fit, const CapacityQuestion& question) {
  const Parameters parameters = count_parameters(fit.model);
  Document page;
  page.title = fmt::format(
      "{}: {} parameters{}", fit.model.id.empty() ? "the model" : fit.model.id, format_count(parameters.total),
      parameters.active < parameters.total ? fmt::format(", {} of them active", format_count(parameters.active)) : "");
  page.blocks.emplace_back(weights_table(fit));
  page.blocks.emplace_back(kv_table(fit));
  const double state = adam_bytes(fit.model);
  page.blocks.emplace_back(Paragraph{
      fmt::format("Training state with Adam in mixed precision, {:.0f} bytes a parameter: {}, before activations.",
                  kAdamBytesPerParameter, format(Bytes(state)))});
  std::vector<std::string> names;
  for (const auto& d : fit.devices) {
    if (std::find(names.begin(), names.end(), d.device) == names.end()) names.push_back(d.device);
  }
  if (names.size() > 3) {
    page.blocks.emplace_back(grid(fit, question));
  } else {
    Table table = model_fit_table(fit);
    table.title = fmt::format("Fewest devices, and what fills one of them ({})", held_text(question));
    page.blocks.emplace_back(std::move(table));
  }
  for (const std::string& device : names) {
    if (names.size() > 3) break;
    const auto at =
        std::find_if(fit.devices.begin(), fit.devices.end(), [&](const auto& d) { return d.device == device; });
    page.blocks.emplace_back(Paragraph{fmt::format("To train it, at least {} of {} hold its state.",
                                                   format_number(std::ceil(state / at->memory_bytes), 7), device)});
  }
  return page;
}

Json model_fit_json(const ModelFit& fit, const CapacityQuestion& question) {
  const Parameters parameters = count_parameters(fit.model);
  Json weights = Json::array();
  for (const auto& w : fit.weights) {
    weights.push(Json::object()
                     .set("precision", name(w.format))
                     .set("bare_bytes", w.memory.bare)
                     .set("stored_bytes", w.memory.stored));
  }
  Json kv = Json::array();
  for (const KvRow& row : fit.kv) {
    kv.push(Json::object()
                .set("context_tokens", row.tokens)
                .set("bf16_bytes", row.bf16_bytes)
                .set("fp8_bytes", row.fp8_bytes));
  }
  Json devices = Json::array();
  for (const auto& d : fit.devices) {
    Json memory = Json();
    if (d.fewest) {
      memory = Json::object();
      for (std::size_t i = 0; i < kMemoryParts; ++i) {
        memory.set(name(static_cast<MemoryPart>(i)), d.fewest->estimate.memory_bytes[i]);
      }
    }
    devices.push(Json::object()
                     .set("device", d.device)
                     .set("precision", name(d.weights))
                     .set("gpus", d.fewest ? Json(d.fewest->gpus) : Json())
                     .set("tp", d.fewest ? Json(d.fewest->tp) : Json())
                     .set("pp", d.fewest ? Json(d.fewest->pp) : Json())
                     .set("memory_bytes", std::move(memory))
                     .set("max_batch", d.fewest ? Json(d.fewest->estimate.max_batch) : Json()));
  }
  Json json = Json::object();
  json.set("schema", kEstimateSchema).set("kind", "fit").set("query", question_json(question));
  json.set("devices", std::move(devices));
  json.set("model", Json::object()
                        .set("model", fit.model.id)
                        .set("parameters", parameters.total)
                        .set("active_parameters", parameters.active)
                        .set("weights", std::move(weights))
                        .set("kv_cache", std::move(kv))
                        .set("adam_state_bytes", adam_bytes(fit.model)));
  return json;
}

}  // namespace ridge::report
