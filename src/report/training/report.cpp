// Words and tables of a training answer.
#include "report/training/report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/estimate/inference_report.hpp"
#include "ridge/base/text.hpp"
#include "ridge/perf/traffic.hpp"

namespace ridge::report {

namespace {

Interval over(const Interval& i, double by) {
  return {i.low / by, i.mid / by, i.high / by};
}

/// What the run takes: less time at the high rate.
struct Run {
  Interval days, gpu_hours;
};
Run run_of(const TrainingAnswer& a, double tokens) {
  const Interval& rate = a.outcome.estimate.tokens_per_s;
  const TrainingRun low = training_run(tokens, rate.high, a.query.plan.gpus);
  const TrainingRun mid = training_run(tokens, rate.mid, a.query.plan.gpus);
  const TrainingRun high = training_run(tokens, rate.low, a.query.plan.gpus);
  return {{low.days, mid.days, high.days}, {low.gpu_hours, mid.gpu_hours, high.gpu_hours}};
}

bool frozen(const TrainingAnswer& a) {
  return a.query.task == TrainingTask::lora;
}

int products_with_weights(const TrainingAnswer& a) {
  return frozen(a) ? 4 : 6;
}

std::string mfu_convention(const TrainingAnswer& a) {
  return fmt::format("{} P + 12 L h s FLOPs per token ({}attention counted in full), against the dense {} peak of {}",
                     products_with_weights(a), frozen(a) ? "weights are frozen, " : "", name(a.facts.precision),
                     format(FlopsPerSecond(a.facts.peak)));
}

/// How examples fill rows.
std::string examples_text(const TrainingAnswer& a) {
  if (a.query.examples.packing) return fmt::format("{} examples each", format_number(a.examples->in_row));
  return fmt::format("padded to {} tokens on average: {} % is padding", format_number(a.examples->row, 7),
                     format_number(100 * a.examples->padding, 2));
}

Table predictions(const TrainingAnswer& a, const TrainingReportOptions& options) {
  const TrainingEstimate& e = a.outcome.estimate;
  const double gpus = a.query.plan.gpus;
  Table table = two_columns("Predicted, with 80 % intervals");
  const auto add = [&](const char* what, const std::string& value) { table.rows.push_back({Cell(what), Cell(value)}); };
  add("step", time_cell(e.step_time_s).text());
  add("tokens", in_unit(e.tokens_per_s, "tok/s"));
  add("tokens, per GPU", in_unit(over(e.tokens_per_s, gpus), "tok/s"));
  if (a.examples) {
    add("examples", in_unit(over(e.tokens_per_s, a.query.examples.mean), "a second"));
    add("rows", examples_text(a));
  }
  add("model FLOPs, per GPU", in_unit(over(e.tokens_per_s, gpus), "TFLOP/s", e.model_flops_per_token * 1e-12));
  add("MFU", in_unit(e.mfu, "%", 100));
  const double six_p = e.six_p_flops_per_token / e.model_flops_per_token;
  add(frozen(a) ? "MFU by 4 P alone" : "MFU by 6 P alone", fmt::format("{} %", format_number(100 * e.mfu.mid * six_p)));
  add("MFU, causal attention", fmt::format("{} %", format_number(100 * e.mfu.mid * 0.5 * (1 + six_p))));
  if (e.power_w.mid > 0) {
    add("power, all devices", Cell::interval<Watts>(e.power_w).text());
    add("energy per token", fmt::format("{} J", format_number(e.power_w.mid / e.tokens_per_s.mid)));
  }
  if (options.tokens > 0) {
    const Run run = run_of(a, options.tokens);
    const std::string what = format_count(options.tokens) + " tokens take";
    add(what.c_str(), in_unit(run.days, "days"));
    add("", in_unit(run.gpu_hours, "GPU-hours"));
  }
  return table;
}

Table time_table(const TrainingEstimate& e) {
  Table table = shares_table("Where a step goes", "phase");
  for (std::size_t i = 0; i < kTrainingPhases; ++i) {
    const double seconds = e.phases_s[i];
    if (seconds <= 0) continue;
    const double share = seconds / e.step_time_s.mid;
    add_share(table, spaced(name(static_cast<TrainingPhase>(i))), Cell(Seconds(seconds)), share, 1);
  }
  return table;
}

Table kernel_table(const TrainingEstimate& e) {
  Table table;
  table.title = "The same by kind of work";
  table.headings = false;
  table.columns = {{.key = "term", .heading = "term"},
                   {.key = "time", .heading = "time", .kind = ColumnKind::number},
                   {.key = "share", .heading = "share", .kind = ColumnKind::number}};
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < kTerms; ++i) {
    if (e.terms_s[i] > 0) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t x, std::size_t y) { return e.terms_s[x] > e.terms_s[y]; });
  for (const std::size_t i : order) {
    table.rows.push_back({Cell(spoken(static_cast<Term>(i))), Cell(Seconds(e.terms_s[i])),
                          Cell(fmt::format("{:.1f} %", 100 * e.terms_s[i] / e.step_time_s.mid))});
  }
  return table;
}

TrainingTraffic traffic_of(const TrainingAnswer& a) {
  TrainingPlan plan = a.query.plan;
  if (a.examples) plan.sequence = static_cast<int>(a.examples->row);
  return training_traffic(*a.job->resolved, plan);
}

/// Which collective crosses which tier.
Table collective_table(const TrainingTraffic& traffic) {
  Table table;
  table.title = "What each device sends in a step";
  table.columns = {{.key = "collectives", .heading = "collectives"},
                   {.key = "ranks", .heading = "ranks", .kind = ColumnKind::number},
                   {.key = "ranks_in_domain", .heading = "in one domain", .kind = ColumnKind::number},
                   {.key = "scale_up", .unit = "bytes", .heading = "scale-up", .kind = ColumnKind::number},
                   {.key = "scale_out", .unit = "bytes", .heading = "network", .kind = ColumnKind::number}};
  for (std::size_t i = 0; i < kTrafficKinds; ++i) {
    if (traffic.ranks[i] <= 1) continue;
    table.rows.push_back({Cell(name(static_cast<TrafficKind>(i))), Cell(traffic.ranks[i]), Cell(traffic.inside[i]),
                          Cell(Bytes(traffic.up[i])), Cell(Bytes(traffic.out[i]))});
  }
  return table;
}

/// What a narrow recipe leaves wide.
std::string recipe(const TrainingAnswer& a) {
  if (bytes_per_element(a.facts.precision) >= 2) return {};
  const int wide = a.query.wide_layers;
  return fmt::format(
      "{}: the products of the layers{}, forward and both gradients; attention, router, embedding, head, loss, norms, "
      "what devices exchange and the optimizer stay in 16 or 32 bits",
      name(a.facts.precision), wide > 0 ? fmt::format(" but {}", wide) : "");
}

/// Stages that need the same, together.
Table memory_table(const TrainingAnswer& a, double sold_bytes) {
  Table table;
  table.title = memory_title(sold_bytes, a.facts.memory_bytes);
  table.columns = {{.key = "stage", .heading = "stage"}};
  for (std::size_t i = 0; i < kTrainingMemory; ++i) {
    const std::string_view part = name(static_cast<TrainingMemory>(i));
    table.columns.push_back(
        {.key = std::string(part), .unit = "bytes", .heading = std::string(part), .kind = ColumnKind::number});
  }
  table.columns.push_back({.key = "total", .unit = "bytes", .heading = "all", .kind = ColumnKind::number});
  table.columns.push_back({.key = "bar", .heading = ""});
  for (std::size_t first = 0; first < a.stages.size();) {
    std::size_t last = first;
    while (last + 1 < a.stages.size() && a.stages[last + 1] == a.stages[first]) ++last;
    std::vector<Cell> row = {Cell(first == last ? fmt::format("{}", first) : fmt::format("{} to {}", first, last))};
    double total = 0;
    for (const double bytes : a.stages[first]) {
      row.emplace_back(Bytes(bytes));
      total += bytes;
    }
    row.emplace_back(Bytes(total));
    row.emplace_back(bar(total / a.facts.memory_bytes, 12));
    table.rows.push_back(std::move(row));
    first = last + 1;
  }
  return table;
}

}  // namespace

std::string training_text(const TrainingAnswer& a) {
  const TrainingPlan& p = a.query.plan;
  std::string out = fmt::format("{} × {}", format_number(p.gpus, 7), a.facts.device);
  const auto add = [&](const char* what, int degree) {
    if (degree > 1) out += fmt::format(", {} {}", what, degree);
  };
  add("TP", p.tp);
  add("PP", p.pp);
  add("CP", p.cp);
  add("EP", p.ep);
  add("DP", a.facts.dp);
  out += fmt::format(", {}, {}", name(a.facts.precision), a.facts.era.empty() ? a.facts.engine : a.facts.era);
  return out;
}

Table training_table(const TrainingAnswer& a, const TrainingReportOptions& options) {
  Table table = quantities_table();
  const TrainingEstimate& e = a.outcome.estimate;
  const double gpus = a.query.plan.gpus;
  const auto add = [&](const char* what, const char* unit, const Interval& i) { add_quantity(table, what, unit, i); };
  add("step_time", "s", e.step_time_s);
  add("tokens_per_s", "tokens/s", e.tokens_per_s);
  add("tokens_per_s_per_gpu", "tokens/s", over(e.tokens_per_s, gpus));
  add("mfu", "", e.mfu);
  add("model_flops_per_s", "FLOP/s", over(e.tokens_per_s, 1 / e.model_flops_per_token));
  add("power", "W", e.power_w);
  if (options.tokens > 0) {
    const Run run = run_of(a, options.tokens);
    add("days", "days", run.days);
    add("gpu_hours", "GPU-hours", run.gpu_hours);
  }
  return table;
}

/// What of the model is trained, where it is not all of it.
std::string trained(const TrainingAnswer& a) {
  if (a.query.task != TrainingTask::lora) return {};
  const std::string frozen = a.query.frozen ? fmt::format(" on {} weights", name(*a.query.frozen)) : std::string();
  return fmt::format("LoRA of rank {}{} for ", a.query.lora_rank, frozen);
}

Document training_page(const TrainingAnswer& a, const TrainingReportOptions& options,
                       const std::optional<ScalingCurve>& curve) {
  const TrainingEstimate& e = a.outcome.estimate;
  const TrainingPlan& p = a.query.plan;
  Document page;
  page.title =
      fmt::format("Train {}{} on {} · {} sequences of {} tokens, micro-batch {}", trained(a), a.query.model,
                  training_text(a), format_number(p.global_batch, 7), format_number(p.sequence, 7), p.micro_batch);
  page.blocks.emplace_back(Paragraph{
      fmt::format("{} a step, {} tok/s per GPU, MFU {:.1f} %. Bottleneck: {}.", time_cell(e.step_time_s).text(),
                  format_number(e.tokens_per_s.mid / p.gpus), 100 * e.mfu.mid, name(e.bound)),
      Emphasis::strong});
  page.blocks.emplace_back(predictions(a, options));
  page.blocks.emplace_back(Paragraph{fmt::format("MFU: {}.", mfu_convention(a)), Emphasis::faint});
  if (const std::string narrow = recipe(a); !narrow.empty()) {
    page.blocks.emplace_back(Paragraph{narrow + ".", Emphasis::faint});
  }
  page.blocks.emplace_back(time_table(e));
  page.blocks.emplace_back(kernel_table(e));
  if (Table sent = collective_table(traffic_of(a)); !sent.rows.empty()) page.blocks.emplace_back(std::move(sent));
  page.blocks.emplace_back(memory_table(a, options.sold_bytes));
  if (curve) {
    page.blocks.emplace_back(scaling_table(*curve, options.usd_per_gpu_hour));
    if (curve->serial_share) {
      page.blocks.emplace_back(Paragraph{fmt::format("{} law fits with {} % of the work that does not spread.",
                                                     curve->scaling == Scaling::weak ? "Gustafson's" : "Amdahl's",
                                                     format_number(100 * *curve->serial_share, 2))});
    }
  }
  add_assumptions(page, a.assumptions);
  return page;
}

Json training_json(const TrainingAnswer& a, const TrainingReportOptions& options,
                   const std::optional<ScalingCurve>& curve) {
  const TrainingEstimate& e = a.outcome.estimate;
  const TrainingPlan& p = a.query.plan;
  const bool fits = !a.refusal;
  const double gpus = p.gpus;
  const auto predicted = [&](const Interval& i) { return fits ? interval_json(i) : Json(); };
  Json query = Json::object();
  query.set("model", a.query.model).set("device", a.facts.device);
  query.set("system", a.query.system.empty() ? Json() : Json(a.query.system));
  query.set("gpus", p.gpus).set("tp", p.tp).set("pp", p.pp).set("cp", p.cp).set("ep", p.ep).set("dp", a.facts.dp);
  query.set("seq_length_tokens", p.sequence).set("global_batch", p.global_batch).set("micro_batch", p.micro_batch);
  query.set("precision", name(a.facts.precision)).set("engine", a.facts.engine);
  query.set("engine_era", a.facts.era.empty() ? Json() : Json(a.facts.era));
  const bool interleaved = fits && a.outcome.estimate.vp > 1 && p.schedule == Schedule::one_f_one_b;
  query.set("task", name(a.query.task)).set("schedule", name(interleaved ? Schedule::interleaved : p.schedule));
  query.set("tokens", options.tokens > 0 ? Json(options.tokens) : Json());

  Json json = Json::object();
  json.set("schema", kEstimateSchema).set("kind", "train").set("query", std::move(query));
  json.set("fits", fits).set("reason", fits ? Json() : Json(a.refusal->why));
  json.set("reason_code", fits ? Json() : Json(name(a.refusal->reason)));
  json.set("short_by_bytes", !fits && a.refusal->short_by ? Json(*a.refusal->short_by) : Json());
  json.set("short_stage", !fits && a.refusal->short_by ? Json(a.outcome.stage) : Json());
  Json near = Json::array();
  if (!fits) {
    for (const NearestPlan& plan : a.refusal->nearest) {
      near.push(nearest_json(plan));
    }
  }
  json.set("nearest", std::move(near));
  json.set("step_time_s", predicted(e.step_time_s));
  Json phases = Json::object();
  for (std::size_t i = 0; i < kTrainingPhases; ++i) phases.set(name(static_cast<TrainingPhase>(i)), e.phases_s[i]);
  json.set("terms_s", fits ? std::move(phases) : Json());
  Json work = Json::object();
  for (std::size_t i = 0; i < kTerms; ++i) {
    if (e.terms_s[i] > 0) work.set(name(static_cast<Term>(i)), e.terms_s[i]);
  }
  json.set("work_terms_s", fits ? std::move(work) : Json());
  json.set("collectives", fits ? to_json(collective_table(traffic_of(a))) : Json());
  if (a.examples) {
    Json examples = Json::object();
    examples.set("mean_tokens", a.query.examples.mean).set("packing", a.query.examples.packing);
    examples.set("row_tokens", a.examples->row).set("padding_share", a.examples->padding);
    examples.set("in_row", a.examples->in_row);
    json.set("examples", examples.set("per_s", predicted(over(e.tokens_per_s, a.query.examples.mean))));
  }
  json.set("tokens_per_s", predicted(e.tokens_per_s))
      .set("tokens_per_s_per_gpu", predicted(over(e.tokens_per_s, gpus)));
  const double six_p = fits ? e.six_p_flops_per_token / e.model_flops_per_token : 0;
  json.set("mfu", predicted(e.mfu)).set("mfu_convention", mfu_convention(a));
  const std::string narrow = recipe(a);
  json.set("precision_recipe", narrow.empty() ? Json() : Json(narrow));
  json.set("mfu_six_p", fits ? Json(e.mfu.mid * six_p) : Json());
  json.set("mfu_causal", fits ? Json(e.mfu.mid * 0.5 * (1 + six_p)) : Json());
  json.set("model_flops_per_token", fits ? Json(e.model_flops_per_token) : Json());
  json.set("model_flops_per_s", predicted(over(e.tokens_per_s, 1 / std::max(e.model_flops_per_token, 1.0))));
  json.set("model_flops_per_s_per_gpu", predicted(over(e.tokens_per_s, gpus / std::max(e.model_flops_per_token, 1.0))));
  Json stages = Json::array();
  for (std::size_t s = 0; s < a.stages.size(); ++s) {
    Json stage = Json::object();
    stage.set("stage", static_cast<int>(s));
    double total = 0;
    for (std::size_t i = 0; i < kTrainingMemory; ++i) {
      stage.set(name(static_cast<TrainingMemory>(i)), a.stages[s][i]);
      total += a.stages[s][i];
    }
    stages.push(stage.set("total", total));
  }
  json.set("memory_bytes", std::move(stages)).set("memory_of_device_bytes", a.facts.memory_bytes);
  json.set("recompute", fits ? Json(name(e.recompute)) : Json());
  json.set("recompute_share", fits ? Json(e.recompute_share) : Json());
  json.set("vp", fits ? Json(e.vp) : Json()).set("micro_batches", fits ? Json(e.micro_batches) : Json());
  json.set("sharding", fits ? Json(name(e.sharding)) : Json());
  json.set("power_w", fits && e.power_w.mid > 0 ? interval_json(e.power_w) : Json());
  json.set("bottleneck", fits ? Json(name(e.bound)) : Json());
  const bool whole = fits && options.tokens > 0;
  json.set("days", whole ? interval_json(run_of(a, options.tokens).days) : Json());
  json.set("gpu_hours", whole ? interval_json(run_of(a, options.tokens).gpu_hours) : Json());
  if (curve) {
    Json scaled = Json::object();
    scaled.set("scaling", curve->scaling == Scaling::weak ? "weak" : "strong");
    scaled.set("serial_share", curve->serial_share ? Json(*curve->serial_share) : Json());
    scaled.set("points", to_json(scaling_table(*curve, options.usd_per_gpu_hour)));
    json.set("scale", std::move(scaled));
  }
  return json.set("assumptions", texts_json(a.assumptions));
}

}  // namespace ridge::report
