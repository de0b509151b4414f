#include "report/rl/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "report/estimate/inference_report.hpp"
#include "report/page/findings.hpp"
#include "report/page/page.hpp"
#include "report/plan/parts.hpp"
#include "ridge/base/text.hpp"

namespace ridge::report {

namespace {

constexpr int kTimelineWidth = 56;
constexpr double kHour = 3600, kDay = 86400;

std::string trained_text(const TrainingPlan& p) {
  std::string text = fmt::format("TP {}", p.tp);
  if (p.pp > 1) text += fmt::format(", PP {}", p.pp);
  if (p.cp > 1) text += fmt::format(", CP {}", p.cp);
  if (p.ep > 1) text += fmt::format(", EP {}", p.ep);
  return text + fmt::format(", DP {}", std::max(1, p.dp));
}

bool pools_apart(const RlAnswer& a) {
  return a.query.placement != RlPlacement::colocated;
}

/// Worth a sentence.
constexpr double kWorthSaying = 0.005;

/// What a reader should take away, in two sentences.
std::string rl_summary(const RlAnswer& a) {
  const RlEstimate& e = a.estimate;
  std::string text =
      fmt::format("A step takes {}, most of it {}.", format(Seconds(e.step_s.mid)), spaced(name(e.binds)));
  if (!pools_apart(a)) {
    if (e.trainers_idle < kWorthSaying) return text;
    return text + fmt::format(" {} % of the devices' time is the tail of drawing, when engines have run dry.",
                              format_number(100 * e.trainers_idle, 2));
  }
  const bool draws = e.wait_s > 0;
  text += fmt::format(" Trainers wait {} % of the time, generators {} %.", format_number(100 * e.trainers_idle, 2),
                      format_number(100 * std::max(0.0, e.generators_idle), 2));
  if (e.binds == RlPhase::reward) return text + " Judging binds.";
  if (e.balanced_generators != a.generators) {
    text += fmt::format(" {} devices that draw would balance them, instead of {}: {} binds.", e.balanced_generators,
                        a.generators, draws ? "drawing" : "training");
  }
  return text;
}

Table rl_timeline_table(const RlAnswer& a, bool bars) {
  const RlEstimate& e = a.estimate;
  Table table;
  table.title = fmt::format("Timeline of a step, {}", format(Seconds(e.step_s.mid)));
  table.columns = {{.key = "who", .heading = "who"},
                   {.key = "phase", .heading = "phase"},
                   {.key = "seconds", .unit = "s", .heading = "time", .kind = ColumnKind::number},
                   {.key = "when", .heading = "from 0 to the end of the step"}};
  if (!bars) table.columns.back() = {.key = "start", .unit = "s", .heading = "from", .kind = ColumnKind::number};
  std::vector<RlSpan> spans = e.timeline;
  std::stable_sort(spans.begin(), spans.end(), [](const RlSpan& x, const RlSpan& y) {
    return x.pool != y.pool ? x.pool < y.pool : x.start < y.start;
  });
  for (const RlSpan& s : spans) {
    table.rows.push_back({Cell(rl_pool(a, s.pool)), Cell(spaced(name(s.phase))), Cell(Seconds(s.seconds)),
                          bars ? Cell(span_bar(s, e.step_s.mid, kTimelineWidth)) : Cell(Seconds(s.start))});
  }
  return table;
}

Table rl_phases_table(const RlAnswer& a) {
  const RlEstimate& e = a.estimate;
  Table table = two_columns("Predicted, with 80 % intervals");
  const auto add = [&](const std::string& what, const Cell& cell) { table.rows.push_back({Cell(what), cell}); };
  add("step", time_cell(e.step_s));
  for (std::size_t i = 0; i < kRlPhases; ++i) {
    const auto phase = static_cast<RlPhase>(i);
    if (e.phase(phase).mid > 0) add("  " + spaced(name(phase)), time_cell(e.phase(phase)));
  }
  add("tokens of a step", Cell(fmt::format("{} in {} update{}", format_count(e.tokens), format_number(e.updates),
                                           e.updates == 1 ? "" : "s")));
  add("throughput per GPU", Cell(in_unit(e.tokens_per_s_per_gpu, "tok/s")));
  add("sequences per engine", Cell(fmt::format("{} on average, {} % of the drawing after nine in ten are done",
                                               format_number(e.mean_running), format_number(100 * e.tail_share, 2))));
  add("weights to an engine", Cell(format(Bytes(e.weight_bytes))));
  return table;
}

/// "128 prompts × 16 answers", "128 prompts with one answer each".
std::string drawn_text(const RlQuery& q) {
  const std::string prompts = format_number(q.prompts, 6) + (q.prompts == 1 ? " prompt" : " prompts");
  if (q.samples == 1) return prompts + " with one answer each";
  return fmt::format("{} × {} answers", prompts, format_number(q.samples, 6));
}

Interval rl_scaled(const Interval& i, double by) {
  return {i.low * by, i.mid * by, i.high * by};
}

}  // namespace

std::string rl_text(const RlAnswer& a) {
  const std::string split = pools_apart(a) ? fmt::format("{} draw, {} train", a.generators, a.trainers) : "";
  return fmt::format("{} × {}, {}{}, {} engine{} of {}, trained {}", a.query.gpus, a.generation.device,
                     name(a.query.placement), split.empty() ? "" : " (" + split + ")", a.engines,
                     a.engines == 1 ? "" : "s", a.query.generation.gpus, trained_text(a.query.training.plan));
}

std::string_view rl_pool(const RlAnswer& a, int pool) {
  if (pool == 2) return "critic";
  if (pool == 1) return "generators";
  return pools_apart(a) ? "trainers" : a.query.critic_gpus > 0 ? "policy" : "all";
}

std::string span_bar(const RlSpan& span, double step, int width) {
  const auto place = [&](double t) { return std::clamp(static_cast<int>(std::lround(t / step * width)), 0, width); };
  int from = place(span.start);
  int to = place(span.start + span.seconds);
  if (to == from) (from == width ? --from : ++to);  // what takes any time is seen
  std::string out;
  for (int i = 0; i < width; ++i) out += i >= from && i < to ? "█" : "·";
  return out;
}

Document rl_page(const RlAnswer& a, const RlReportOptions& options) {
  const RlQuery& q = a.query;
  const RlEstimate& e = a.estimate;
  Document page;
  page.title = fmt::format("{} of {} on {} · {}", name(q.algorithm), q.model, rl_text(a), drawn_text(q));
  page.blocks.emplace_back(Paragraph{rl_summary(a)});
  page.blocks.emplace_back(rl_phases_table(a));
  page.blocks.emplace_back(rl_timeline_table(a, options.bars));
  if (q.steps > 0) {
    Table run = two_columns(fmt::format("{} steps", format_number(q.steps, 7)));
    const bool long_run = e.step_s.mid * q.steps >= kDay;
    run.rows.push_back({Cell("time"), long_run ? Cell(in_unit(rl_scaled(e.step_s, q.steps / kDay), "days"))
                                               : time_cell(rl_scaled(e.step_s, q.steps))});
    run.rows.push_back({Cell("GPU-hours"), Cell(in_unit(rl_scaled(e.step_s, q.steps * q.gpus / kHour), "h"))});
    if (options.usd_per_gpu_hour) {
      const Interval usd = rl_scaled(e.step_s, q.steps * q.gpus / kHour * *options.usd_per_gpu_hour);
      run.rows.push_back({Cell("cost"), Cell(fmt::format("${} ({}–{})", format_number(usd.mid), format_number(usd.low),
                                                         format_number(usd.high)))});
    }
    page.blocks.emplace_back(std::move(run));
  }
  if (!a.suggestions.empty()) {
    Table change = two_columns("What would make steps faster");
    for (const Suggestion& s : a.suggestions) {
      change.rows.push_back({Cell(s.change), Cell(fmt::format("{:+.0f} % steps", 100 * s.gain))});
    }
    page.blocks.emplace_back(std::move(change));
  }
  add_assumptions(page, a.assumptions);
  return page;
}

Json rl_json(const RlAnswer& a, const RlReportOptions& options) {
  const RlQuery& q = a.query;
  const RlEstimate& e = a.estimate;
  Json json = Json::object();
  json.set("schema", kEstimateSchema).set("kind", "rl").set("model", q.model).set("device", q.device);
  json.set("fits", !a.refusal);
  json.set("algorithm", name(q.algorithm)).set("placement", name(q.placement)).set("gpus", q.gpus);
  if (a.refusal) {
    Json near = Json::array();
    for (const NearestPlan& n : a.refusal->nearest) {
      near.push(nearest_json(n));
    }
    json.set("reason", name(a.refusal->reason)).set("why", a.refusal->why).set("nearest", std::move(near));
    json.set("assumptions", texts_json(a.assumptions));
    return json;
  }
  json.set("generators", a.generators).set("trainers", a.trainers).set("engines", a.engines);
  json.set("staleness", q.staleness).set("partial_rollouts", q.partial);
  json.set("prompts", q.prompts).set("samples", q.samples);
  Json generation = Json::object();
  generation.set("engine", a.generation.engine).set("gpus", q.generation.gpus).set("tp", a.generation.tp);
  generation.set("pp", a.generation.pp).set("ep", a.generation.ep).set("weight_precision", name(a.generation.weights));
  json.set("generation", std::move(generation));
  const TrainingPlan& p = q.training.plan;
  Json training = Json::object();
  training.set("engine", a.training.engine).set("tp", p.tp).set("pp", p.pp).set("cp", p.cp).set("ep", p.ep);
  training.set("dp", std::max(1, p.dp)).set("micro_batch", p.micro_batch);
  json.set("training", std::move(training));
  json.set("step_s", interval_json(e.step_s));
  Json phases = Json::object();
  for (std::size_t i = 0; i < kRlPhases; ++i) {
    std::string key(name(static_cast<RlPhase>(i)));
    std::replace(key.begin(), key.end(), '-', '_');
    phases.set(key, interval_json(e.phases_s[i]));
  }
  json.set("phases_s", std::move(phases));
  Json timeline = Json::array();
  for (const RlSpan& s : e.timeline) {
    timeline.push(Json::object()
                      .set("phase", name(s.phase))
                      .set("pool", rl_pool(a, s.pool))
                      .set("start_s", s.start)
                      .set("seconds", s.seconds));
  }
  json.set("timeline", std::move(timeline));
  json.set("tokens_per_step", e.tokens).set("updates_per_step", e.updates);
  json.set("tokens_per_s_per_gpu", interval_json(e.tokens_per_s_per_gpu));
  json.set("trainers_idle_share", e.trainers_idle);
  json.set("generators_idle_share", pools_apart(a) ? Json(e.generators_idle) : Json());
  json.set("balanced_generators", pools_apart(a) ? Json(e.balanced_generators) : Json());
  json.set("tail_share", e.tail_share).set("sequences_per_engine", e.mean_running);
  json.set("weight_bytes", e.weight_bytes).set("bottleneck", name(e.binds));
  const double hours = q.steps * q.gpus / kHour;
  json.set("days", q.steps > 0 ? interval_json(rl_scaled(e.step_s, q.steps / kDay)) : Json());
  json.set("cost_usd", q.steps > 0 && options.usd_per_gpu_hour
                           ? interval_json(rl_scaled(e.step_s, hours * *options.usd_per_gpu_hour))
                           : Json());
  Json changes = Json::array();
  for (const Suggestion& s : a.suggestions) {
    changes.push(Json::object().set("change", s.change).set("gain", s.gain).set("set", changes_json(s.changes)));
  }
  json.set("suggestions", std::move(changes));
  json.set("assumptions", texts_json(a.assumptions));
  return json;
}

Table rl_table(const RlAnswer& a) {
  Table table = quantities_table();
  const auto add = [&](std::string_view what, const char* unit, const Interval& i) {
    add_quantity(table, what, unit, i);
  };
  add("step", "s", a.estimate.step_s);
  for (std::size_t i = 0; i < kRlPhases; ++i) add(name(static_cast<RlPhase>(i)), "s", a.estimate.phases_s[i]);
  add("tokens_per_s_per_gpu", "tokens/s", a.estimate.tokens_per_s_per_gpu);
  return table;
}

std::optional<double> RlPick::usd_per_step() const {
  if (!usd_per_gpu_hour) return std::nullopt;
  return answer.estimate.step_s.mid * answer.query.gpus / kHour * *usd_per_gpu_hour;
}

Table rl_plan_table(const std::vector<RlPick>& picks) {
  Table table;
  table.columns = {{.key = "device", .heading = "device"},
                   {.key = "gpus", .heading = "GPUs", .kind = ColumnKind::number},
                   {.key = "placement", .heading = "placement"},
                   {.key = "generators", .heading = "draw", .kind = ColumnKind::number},
                   {.key = "trainers", .heading = "train", .kind = ColumnKind::number},
                   {.key = "gen_tp", .heading = "gen TP", .kind = ColumnKind::number},
                   {.key = "layout", .heading = "trained"},
                   {.key = "step", .unit = "s", .heading = "step", .kind = ColumnKind::interval},
                   {.key = "idle_trainers", .heading = "trainers wait", .kind = ColumnKind::number},
                   {.key = "cost_per_step", .unit = "usd", .heading = "$ a step", .kind = ColumnKind::number}};
  for (const RlPick& pick : picks) {
    const RlAnswer& a = pick.answer;
    const auto usd = pick.usd_per_step();
    table.rows.push_back({Cell(a.generation.device), Cell(a.query.gpus), Cell(name(a.query.placement)),
                          Cell(a.generators), Cell(a.trainers), Cell(a.generation.tp),
                          Cell(trained_text(a.query.training.plan)), Cell::interval<Seconds>(a.estimate.step_s),
                          Cell(a.estimate.trainers_idle).shown_as(percent(a.estimate.trainers_idle)),
                          usd ? Cell(*usd) : Cell()});
  }
  return table;
}

namespace {

/// Of each device, number and placement the first: splits beside it differ little.
std::vector<RlPick> best_splits(const std::vector<RlPick>& picks) {
  std::set<std::tuple<std::string, int, RlPlacement>> seen;
  std::vector<RlPick> out;
  for (const RlPick& pick : picks) {
    const RlAnswer& a = pick.answer;
    if (seen.insert({a.generation.device, a.query.gpus, a.query.placement}).second) out.push_back(pick);
  }
  return out;
}

}  // namespace

Document rl_plan_page(const std::vector<RlPick>& picks, std::size_t rows) {
  Document page;
  const RlAnswer& best = picks.front().answer;
  page.title = fmt::format("{} of {}: {}", name(best.query.algorithm), best.query.model, drawn_text(best.query));
  page.blocks.emplace_back(
      Paragraph{fmt::format("Best: {}, a step in {}.", rl_text(best), format(Seconds(best.estimate.step_s.mid)))});
  Table table = rl_plan_table(best_splits(picks));
  if (table.rows.size() > rows) table.rows.resize(rows);
  page.blocks.emplace_back(std::move(table));
  add_assumptions(page, best.assumptions);
  return page;
}

Json rl_plan_json(const std::vector<RlPick>& picks) {
  Json json = Json::object();
  json.set("schema", "ridge.plan/1").set("kind", "rl");
  Json plans = Json::array();
  for (const RlPick& pick : picks) {
    Json one = rl_json(pick.answer, {pick.usd_per_gpu_hour});
    const auto usd = pick.usd_per_step();
    plans.push(one.set("cost_per_step_usd", usd ? Json(*usd) : Json()));
  }
  json.set("plans", std::move(plans));
  return json;
}

Table rl_findings_table(const evidence::RlFindings& f) {
  return findings_table(f.lines, "figures", true);
}

Document rl_findings_page(const evidence::RlFindings& f) {
  Document page;
  Table table = rl_findings_table(f);
  table.title = "Steps of reinforcement learning: predicted beside measured, publishers left out";
  page.blocks.emplace_back(std::move(table));
  page.blocks.emplace_back(
      Paragraph{fmt::format("Colocated against pools apart, both measured: the faster is predicted in {} of {} pairs. "
                            "{} rows do not say what "
                            "a step holds, or are predicted not to run.",
                            f.order_right, f.order_pairs, f.refused.size())});
  page.blocks.emplace_back(Paragraph{
      fmt::format("All rows would choose: generation {}, training {}, refit {}, overhead {} s, handing {}, spread {}.",
                  format_number(f.chosen.generation), format_number(f.chosen.training), format_number(f.chosen.refit),
                  format_number(f.chosen.overhead), format(BytesPerSecond(f.chosen.handing)),
                  format_number(f.chosen.spread)),
      Emphasis::faint});
  return page;
}

Table rl_rows_table(const evidence::RlFindings& f, const std::vector<evidence::RlCase>& cases) {
  Table table;
  table.columns = {{.key = "id", .heading = "id"},
                   {.key = "metric", .heading = "metric"},
                   {.key = "measured", .unit = "s", .heading = "measured", .kind = ColumnKind::number},
                   {.key = "predicted", .unit = "s", .heading = "predicted", .kind = ColumnKind::interval},
                   {.key = "left_out", .unit = "s", .heading = "left out", .kind = ColumnKind::interval}};
  for (const evidence::RlRow& r : f.rows) {
    table.rows.push_back({Cell(cases[r.case_index].id), Cell(name(r.metric)), Cell(Seconds(r.measured)),
                          Cell::interval<Seconds>(r.predicted), Cell::interval<Seconds>(r.left_out)});
  }
  return table;
}

}  // namespace ridge::report
