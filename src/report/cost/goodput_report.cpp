#include "report/cost/goodput_report.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "report/chart/money_charts.hpp"
#include "report/cost/report.hpp"
#include "report/estimate/inference_report.hpp"
#include "report/page/html.hpp"
#include "report/page/page.hpp"
#include "ridge/base/text.hpp"

namespace ridge::report {

namespace {

std::string time(double seconds) {
  return format(Seconds(seconds));
}
double per_million_hours(double per_gpu_hour) {
  return per_gpu_hour * 1e6;
}

std::string headline(const GoodputAnswer& a) {
  const GoodputOutputs& o = a.sample.mean;
  if (a.sample.gave_up) {
    return fmt::format(
        "The job fails every {} and needs {} to be back: it would take more than 20 times its useful time, if it ended "
        "at all. Fewer GPUs, more spares, faster restarts or checkpoints are needed.",
        time(o.mtbf_s), time(a.inputs.detection_s + a.inputs.restart_s + a.inputs.checkpoint.load_s));
  }
  std::string text = fmt::format("Goodput {} ({}–{}): {} of useful time take {}, {} at p95. ", percent(o.goodput, 1),
                                 percent(a.sample.goodput.low, 1), percent(a.sample.goodput.high, 1),
                                 time(a.inputs.useful_s), time(o.time_to_train_s), time(a.sample.time_to_train_s.high));
  if (o.interruptions >= 0.5) {
    text += fmt::format(
        "{} interruptions ({}–{}), one in {}; a checkpoint every {}.", format_number(std::round(o.interruptions)),
        format_number(std::round(a.sample.interruptions.low)), format_number(std::round(a.sample.interruptions.high)),
        time(o.mtbf_s), time(o.checkpoint_interval_s));
  } else {
    text += "Hardly anything fails in that time.";
  }
  return text;
}

Table summary(const GoodputAnswer& a) {
  Table table;
  table.title = "By discrete events, and in closed form";
  table.columns = {{.key = "what", .heading = ""},
                   {.key = "simulated", .heading = fmt::format("{} runs", a.sample.trials)},
                   {.key = "spread", .heading = "p5–p95"},
                   {.key = "closed", .heading = "Young/Daly"}};
  const GoodputOutputs& s = a.sample.mean;
  const GoodputOutputs& c = a.closed;
  const auto spread = [](const Interval& i, auto&& show) { return show(i.low) + "–" + show(i.high); };
  const auto counted = [](double v) { return format_number(v); };
  table.rows = {
      {Cell("goodput"), Cell(percent(s.goodput, 1)),
       Cell(spread(a.sample.goodput, [](double v) { return percent(v, 1); })), Cell(percent(c.goodput, 1))},
      {Cell("time to train"), Cell(time(s.time_to_train_s)), Cell(spread(a.sample.time_to_train_s, time)),
       Cell(time(c.time_to_train_s))},
      {Cell("interruptions"), Cell(counted(s.interruptions)), Cell(spread(a.sample.interruptions, counted)),
       Cell(counted(c.interruptions))},
      {Cell("best checkpoint interval"), Cell(time(a.curve.best_s)), Cell(""),
       Cell(fmt::format("{} (Young), {} (Daly)", time(c.young_s), time(c.daly_s)))},
      {Cell("engineer hours"), Cell(counted(s.engineer_hours)), Cell(""), Cell(counted(c.engineer_hours))},
  };
  return table;
}

Table causes(const GoodputAnswer& a) {
  Table table;
  table.title = "Interruptions by cause";
  table.columns = {{.key = "cause", .heading = "cause"},
                   {.key = "rate", .heading = "per 1M GPU-hours", .kind = ColumnKind::number},
                   {.key = "interruptions", .heading = "expected", .kind = ColumnKind::number},
                   {.key = "gpus", .heading = "GPUs down", .kind = ColumnKind::number},
                   {.key = "lost", .heading = "lost GPU-hours", .kind = ColumnKind::number},
                   {.key = "bar", .heading = ""}};
  const GoodputOutputs& o = a.sample.mean;
  const double rates = std::accumulate(a.inputs.per_gpu_hour.begin(), a.inputs.per_gpu_hour.end(), 0.0);
  const double lost = std::accumulate(o.lost_by_cause.begin(), o.lost_by_cause.end(), 0.0);
  for (std::size_t i = 0; i < kFailureCauses; ++i) {
    if (a.inputs.per_gpu_hour[i] <= 0) continue;
    const auto cause = static_cast<FailureCause>(i);
    const double down = cause == FailureCause::software || cause == FailureCause::network ? 0
                        : cause == FailureCause::scale_up ? std::max(a.inputs.domain_gpus, a.inputs.unit_gpus)
                                                          : a.inputs.unit_gpus;
    table.rows.push_back({Cell(name(cause)), Cell(per_million_hours(a.inputs.per_gpu_hour[i])),
                          Cell(o.interruptions * a.inputs.per_gpu_hour[i] / rates), Cell(down),
                          Cell(o.lost_by_cause[i]), Cell(bar(lost > 0 ? o.lost_by_cause[i] / lost : 0))});
  }
  return table;
}

Table strategies(const GoodputAnswer& a) {
  Table table;
  table.title = fmt::format("Ways to checkpoint {} at {}", format(Bytes(a.setup.bytes)),
                            format(BytesPerSecond(a.setup.storage_bytes_per_s)));
  table.columns = {{.key = "strategy", .heading = "strategy"},
                   {.key = "stall", .unit = "s", .heading = "stall", .kind = ColumnKind::number},
                   {.key = "lag", .unit = "s", .heading = "safe after", .kind = ColumnKind::number},
                   {.key = "load", .unit = "s", .heading = "read back", .kind = ColumnKind::number},
                   {.key = "interval", .unit = "s", .heading = "every", .kind = ColumnKind::number},
                   {.key = "goodput", .heading = "goodput", .kind = ColumnKind::number}};
  for (const StrategyLine& line : a.strategies) {
    const bool used = line.strategy == a.setup.strategy;
    table.rows.push_back({Cell(used ? std::string(name(line.strategy)) + " *" : std::string(name(line.strategy))),
                          Cell(Seconds(line.cost.stall_s)), Cell(Seconds(line.cost.lag_s)),
                          Cell(Seconds(line.cost.load_s)), Cell(Seconds(line.out.checkpoint_interval_s)),
                          Cell(line.out.goodput).shown_as(percent(line.out.goodput, 1))});
  }
  return table;
}

Table money_table(const GoodputAnswer& a) {
  Table table = two_columns("Money");
  table.rows.push_back({Cell("run, with spares and engineers"), Cell(money(a.run_usd))});
  table.rows.push_back(
      {Cell("of it lost"), Cell(fmt::format("{} ({})", money(a.lost_usd), percent(a.lost_usd / a.run_usd, 1)))});
  if (std::isfinite(a.usd_per_million_useful_tokens)) {
    table.rows.push_back({Cell("1M useful tokens"), Cell(money(a.usd_per_million_useful_tokens))});
    table.rows.push_back({Cell("1M tokens if nothing failed"), Cell(money(a.usd_per_million_tokens))});
  }
  return table;
}

Json losses_json(const GoodputOutputs& o) {
  Json json = Json::object();
  double total = 0;
  static constexpr std::string_view kKeys[kLossKinds] = {"checkpoints",        "rework",     "restart",
                                                         "waiting_for_spares", "stragglers", "idle_spares"};
  for (std::size_t i = 0; i < kLossKinds; ++i) {
    json.set(kKeys[i], o.lost_gpu_hours[i]);
    total += o.lost_gpu_hours[i];
  }
  return json.set("total", total);
}

Json outputs_json(const GoodputOutputs& o) {
  return Json::object()
      .set("goodput", o.goodput)
      .set("interruptions", o.interruptions)
      .set("checkpoint_interval_s", o.checkpoint_interval_s)
      .set("time_to_train_s", o.time_to_train_s)
      .set("lost_gpu_hours", losses_json(o));
}

}  // namespace

Table loss_table(const GoodputAnswer& a) {
  Table table;
  table.title = "Lost GPU-hours";
  table.columns = {{.key = "kind", .heading = "to"},
                   {.key = "lost_gpu_hours", .heading = "GPU-hours", .kind = ColumnKind::number},
                   {.key = "share", .heading = "of the run", .kind = ColumnKind::number},
                   {.key = "bar", .heading = ""}};
  const GoodputOutputs& o = a.sample.mean;
  const double run = o.time_to_train_s / 3600 * a.inputs.gpus;
  const double lost = std::accumulate(o.lost_gpu_hours.begin(), o.lost_gpu_hours.end(), 0.0);
  for (std::size_t i = 0; i < kLossKinds; ++i) {
    const double hours = o.lost_gpu_hours[i];
    table.rows.push_back({Cell(name(static_cast<LossKind>(i))), Cell(hours),
                          Cell(hours / run).shown_as(percent(hours / run, 2)), Cell(bar(lost > 0 ? hours / lost : 0))});
  }
  return table;
}

Document goodput_page(const GoodputAnswer& a) {
  Document page;
  page.title = a.title;
  page.blocks.emplace_back(Paragraph{headline(a), a.sample.gave_up ? Emphasis::bad : Emphasis::strong});
  if (!a.sample.gave_up) page.blocks.emplace_back(summary(a));
  page.blocks.emplace_back(loss_table(a));
  page.blocks.emplace_back(causes(a));
  page.blocks.emplace_back(strategies(a));
  if (std::isfinite(a.run_usd)) page.blocks.emplace_back(money_table(a));
  std::string text = "Assumed: ";
  for (std::size_t i = 0; i < a.assumptions.size(); ++i) text += (i == 0 ? "" : "; ") + a.assumptions[i];
  page.blocks.emplace_back(Paragraph{text + ".", Emphasis::faint});
  return page;
}

Json goodput_json(const GoodputAnswer& a, const Catalogue& catalogue) {
  const GoodputOutputs& o = a.sample.mean;
  Json json = Json::object();
  json.set("schema", kGoodputSchema).set("title", a.title);
  json.set("gpus", a.inputs.gpus).set("spare_gpus", a.inputs.spare_gpus).set("useful_s", a.inputs.useful_s);
  json.set("ends", !a.sample.gave_up);
  json.set("goodput", o.goodput).set("interruptions", o.interruptions).set("mtbf_s", o.mtbf_s);
  json.set("checkpoint_interval_s", o.checkpoint_interval_s).set("time_to_train_s", o.time_to_train_s);
  json.set("time_to_train_p95_s", a.sample.time_to_train_s.high);
  json.set("lost_gpu_hours", losses_json(o));
  Json by_cause = Json::array();
  for (std::size_t i = 0; i < kFailureCauses; ++i) {
    by_cause.push(Json::object()
                      .set("cause", name(static_cast<FailureCause>(i)))
                      .set("per_million_gpu_hours", per_million_hours(a.inputs.per_gpu_hour[i]))
                      .set("lost_gpu_hours", o.lost_by_cause[i]));
  }
  json.set("causes", std::move(by_cause));
  json.set("spread", Json::object()
                         .set("goodput", interval_json(a.sample.goodput))
                         .set("interruptions", interval_json(a.sample.interruptions))
                         .set("time_to_train_s", interval_json(a.sample.time_to_train_s))
                         .set("meaning", "5 %, 50 % and 95 % of the simulated runs")
                         .set("runs", a.sample.trials));
  json.set("closed_form", outputs_json(a.closed).set("young_s", a.closed.young_s).set("daly_s", a.closed.daly_s));
  json.set("best_interval_simulated_s", a.curve.best_s);
  Json ways = Json::array();
  for (const StrategyLine& line : a.strategies) {
    ways.push(Json::object()
                  .set("strategy", name(line.strategy))
                  .set("stall_s", line.cost.stall_s)
                  .set("lag_s", line.cost.lag_s)
                  .set("load_s", line.cost.load_s)
                  .set("interval_s", line.out.checkpoint_interval_s)
                  .set("goodput", line.out.goodput));
  }
  json.set("strategies", std::move(ways));
  json.set("engineer_hours", o.engineer_hours).set("run_usd", a.run_usd).set("lost_usd", a.lost_usd);
  json.set("usd_per_million_useful_tokens", a.usd_per_million_useful_tokens);
  json.set("usd_per_million_tokens", a.usd_per_million_tokens);
  json.set("record_source", catalogue.source(a.record_source).id);
  return json.set("assumptions", texts_json(a.assumptions));
}

std::string goodput_html(const GoodputAnswer& a) {
  HtmlPage page(a.title);
  CurveChart chart;
  chart.title = "Goodput by checkpoint interval";
  chart.subtitle =
      fmt::format("stall {}, MTBF {}, restart {}", time(a.inputs.checkpoint.stall_s), time(a.closed.mtbf_s),
                  time(a.inputs.detection_s + a.inputs.restart_s + a.inputs.checkpoint.load_s));
  chart.x_axis = "training between two checkpoints, seconds";
  chart.y_axis = "goodput, %";
  chart.logarithmic_x = true;
  chart.from_zero = false;
  CurveSeries simulated{.name = "discrete events", .points = {}};
  CurveSeries closed{.name = "closed form", .points = {}, .dashed = true, .marks = false};
  for (const IntervalCurve::Point& p : a.curve.points) {
    simulated.points.push_back(
        {p.interval_s, 100 * p.simulated, fmt::format("{}: {}", time(p.interval_s), percent(p.simulated, 2))});
    closed.points.push_back({p.interval_s, 100 * p.expected});
  }
  chart.series = {std::move(simulated), std::move(closed)};
  chart.notes = {{a.closed.checkpoint_interval_s, 100 * a.closed.goodput, "used"}};
  page.add_figure(curve_svg(chart));

  Waterfall losses;
  losses.title = "Where the GPU-hours go";
  losses.subtitle = a.title;
  losses.unit = "million GPU-hours";
  const double useful = a.inputs.useful_s / 3600 * a.inputs.gpus / 1e6;
  losses.steps.push_back({"useful", useful, true});
  double all = useful;
  for (std::size_t i = 0; i < kLossKinds; ++i) {
    const double lost = a.sample.mean.lost_gpu_hours[i] / 1e6;
    if (lost <= 0) continue;
    losses.steps.push_back({std::string(name(static_cast<LossKind>(i))), lost, false});
    all += lost;
  }
  losses.steps.push_back({"paid", all, true});
  page.add_figure(waterfall_svg(losses));
  page.add(goodput_page(a));
  return page.finish();
}

}  // namespace ridge::report
