// The scaling curve of a training plan.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/chart/svg.hpp"
#include "report/training/report.hpp"
#include "ridge/base/text.hpp"

namespace ridge::report {

namespace {

constexpr double kWidth = 760;
constexpr double kHeight = 460;
constexpr double kLeft = 90;
constexpr double kTop = 60;
constexpr double kPlotWidth = 620;
constexpr double kPlotHeight = 330;

double each(const ScalingPoint& p, double Interval::*bound) {
  return p.outcome.estimate.tokens_per_s.*bound / p.plan.gpus;
}

}  // namespace

Table scaling_table(const ScalingCurve& curve, std::optional<double> usd_per_gpu_hour) {
  Table table;
  table.title = curve.scaling == Scaling::weak ? "Weak scaling: the batch grows with the devices"
                                               : "Strong scaling: the batch stays";
  table.columns = {{.key = "gpus", .heading = "GPUs", .kind = ColumnKind::number},
                   {.key = "dp", .heading = "DP", .kind = ColumnKind::number},
                   {.key = "global_batch", .heading = "batch", .kind = ColumnKind::number},
                   {.key = "step_time", .unit = "s", .heading = "step", .kind = ColumnKind::number},
                   {.key = "tokens_per_s", .heading = "tok/s", .kind = ColumnKind::number},
                   {.key = "tokens_per_s_per_gpu", .heading = "tok/s/GPU (80 %)", .kind = ColumnKind::interval},
                   {.key = "mfu", .heading = "MFU", .kind = ColumnKind::number},
                   {.key = "efficiency", .heading = "efficiency", .kind = ColumnKind::number},
                   {.key = "usd_per_million_tokens", .heading = "$/1M tokens", .kind = ColumnKind::number},
                   {.key = "reason", .heading = ""}};
  for (const ScalingPoint& p : curve.points) {
    const int dp = std::max(1, p.plan.gpus / (p.plan.tp * p.plan.pp * p.plan.cp));
    std::vector<Cell> row = {Cell(p.plan.gpus), Cell(dp), Cell(p.plan.global_batch)};
    if (p.outcome.reason != Reason::none) {
      row.resize(9);
      row.push_back(Cell(name(p.outcome.reason)).with(Emphasis::bad));
      table.rows.push_back(std::move(row));
      continue;
    }
    const TrainingEstimate& e = p.outcome.estimate;
    const Interval one = {each(p, &Interval::low), each(p, &Interval::mid), each(p, &Interval::high)};
    row.emplace_back(Seconds(e.step_time_s.mid));
    row.emplace_back(e.tokens_per_s.mid);
    const Cell cell = Cell::interval(one);
    row.push_back(one.low == one.high ? cell.shown_as(format_number(one.mid)) : cell);
    row.push_back(Cell(e.mfu.mid).shown_as(fmt::format("{:.1f} %", 100 * e.mfu.mid)));
    row.push_back(Cell(p.efficiency).shown_as(fmt::format("{:.1f} %", 100 * p.efficiency)));
    // A GPU-hour buys its tokens: rent / (rate x 3,600 s).
    row.push_back(usd_per_gpu_hour ? Cell(*usd_per_gpu_hour / (one.mid * 3600) * 1e6) : Cell());
    row.emplace_back("");
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string scaling_svg(const ScalingCurve& curve, const std::string& title) {
  std::vector<const ScalingPoint*> points;
  double most = 0;
  for (const ScalingPoint& p : curve.points) {
    if (p.outcome.reason != Reason::none) continue;
    points.push_back(&p);
    most = std::max(most, each(p, &Interval::high));
  }
  Svg svg(kWidth, kHeight);
  svg.rectangle(0, 0, kWidth, kHeight, {.fill = "#ffffff"});
  svg.text(kLeft, 26, title, {.size = 15, .bold = true});
  svg.text(kLeft, 45, scaling_table(curve).title, {.size = 12, .fill = kFaint});
  if (points.empty()) return svg.finish();
  const double low = std::log2(points.front()->plan.gpus);
  const double high = std::max(low + 1, std::log2(points.back()->plan.gpus));
  const auto x = [&](double gpus) {
    return kLeft + kPlotWidth * (0.03 + 0.94 * (std::log2(gpus) - low) / (high - low));
  };
  const auto y = [&](double rate) { return kTop + kPlotHeight * (1 - rate / (1.08 * most)); };
  for (const double tick : linear_ticks(0, most, 6)) {
    svg.line(kLeft, y(tick), kLeft + kPlotWidth, y(tick), {.stroke = kGrid});
    svg.text(kLeft - 7, y(tick) + 4, tick_label(tick), {.anchor = "end", .size = 11, .fill = kFaint});
  }
  std::vector<SvgPoint> band;
  std::vector<SvgPoint> line;
  for (const ScalingPoint* p : points) {
    const double at = x(p->plan.gpus);
    svg.text(at, kTop + kPlotHeight + 17, format_number(p->plan.gpus, 7),
             {.anchor = "middle", .size = 11, .fill = kFaint});
    band.push_back({at, y(each(*p, &Interval::high))});
    line.push_back({at, y(each(*p, &Interval::mid))});
  }
  for (auto p = points.rbegin(); p != points.rend(); ++p)
    band.push_back({x((*p)->plan.gpus), y(each(**p, &Interval::low))});
  svg.polygon(band, {.fill = colour(0), .opacity = 0.15});
  svg.line(x(points.front()->plan.gpus), line.front().y, x(points.back()->plan.gpus), line.front().y,
           {.stroke = kFaint, .dashes = "5 4"});
  svg.polyline(line, {.stroke = colour(0), .width = 2});
  for (std::size_t i = 0; i < points.size(); ++i) {
    svg.mark(line[i].x, line[i].y, 4, 0, {.stroke = "#ffffff", .fill = colour(0)},
             fmt::format("{} GPUs: {} tok/s/GPU, MFU {:.1f} %", points[i]->plan.gpus,
                         format_number(each(*points[i], &Interval::mid)), 100 * points[i]->outcome.estimate.mfu.mid));
  }
  svg.rectangle(kLeft, kTop, kPlotWidth, kPlotHeight, {.stroke = "#afb8c1"});
  svg.text(kLeft + kPlotWidth / 2, kTop + kPlotHeight + 40, "GPUs", {.anchor = "middle"});
  svg.text(24, kTop + kPlotHeight / 2, "tokens/s per GPU", {.anchor = "middle", .turned = -90});
  svg.text(kLeft + kPlotWidth, kTop + kPlotHeight + 40, "band: 80 % interval; dashed: no loss",
           {.anchor = "end", .size = 11, .fill = kFaint});
  return svg.finish();
}

}  // namespace ridge::report
