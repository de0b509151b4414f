// A verdict as a page: the answer, what it costs against how fast it is, why the others lost.
#include "report/page/html.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/chart/bars.hpp"
#include "report/chart/money_charts.hpp"
#include "report/chart/ranges.hpp"
#include "report/estimate/inference_report.hpp"
#include "report/plan/parts.hpp"
#include "ridge/base/text.hpp"

namespace ridge::report {

namespace {

constexpr std::size_t kMostLines = 16;
constexpr double kDearest = 8;     ///< times the cheapest; beyond that, nobody asks
constexpr double kManyTimes = 20;  ///< from which on an axis is logarithmic

std::string answer_text(const ServingPlan& best) {
  std::string text =
      fmt::format("{} {} as {}, {} weights", best.gpus, best.query.device, layout_text(best), name(best.facts.weights));
  if (best.usd_per_million) {
    text += fmt::format(": ${} ({}–{}) per million output tokens", format_number(best.usd_per_million->mid),
                        format_number(best.usd_per_million->low, 2), format_number(best.usd_per_million->high, 2));
  }
  if (best.usd_per_hour) text += fmt::format(", ${} an hour", format_number(*best.usd_per_hour));
  return text + fmt::format(". Bound by {}.", best.bound_text);
}

std::string answer_text(const TrainingPick& best) {
  std::string text = fmt::format("{} {} as {}, {}", format_number(best.plan.gpus, 7), best.device, layout_text(best),
                                 name(best.precision));
  if (best.days) text += ": " + in_unit(*best.days, "days");
  if (best.usd) {
    text += fmt::format(", {} ({}–{}){}", format(Dollars(best.usd->mid)), format(Dollars(best.usd->low), 2),
                        format(Dollars(best.usd->high), 2), best.days ? "" : " per billion tokens");
  }
  return text + fmt::format(", MFU {:.0f} %.", 100 * best.estimate.mfu.mid);
}

/// One line per ranked plan that has the figure.
template <class Plan, class Read, class Name>
Ranges ranking(const std::vector<Plan>& plans, const Read& read, const Name& name_of, const std::vector<Rank>& ranks) {
  Ranges out;
  for (std::size_t i = 0; i < std::min(plans.size(), kMostLines); ++i) {
    const std::optional<Interval> value = read(plans[i]);
    if (!value) continue;
    out.lines.push_back({name_of(plans[i]), *value, i < ranks.size() ? "rank " + ranks[i].text() : ""});
  }
  out.subtitle = "dot: predicted; bar: 80 % interval";
  return out;
}

/// The front as a curve, one colour per device.
template <class Plan, class X, class Y, class Device, class Tip>
void add_front(HtmlPage& page, CurveChart chart, const std::vector<Plan>& front, const X& x, const Y& y,
               const Device& device, const Tip& tip) {
  double cheapest = 0;
  for (const Plan& p : front) {
    if (const double at = y(p); at > 0 && (cheapest == 0 || at < cheapest)) cheapest = at;
  }
  std::vector<CurveSeries> by_device;
  std::size_t drawn = 0;
  for (const Plan& p : front) {
    if (!(x(p) > 0) || !(y(p) > 0) || y(p) > kDearest * cheapest) continue;
    ++drawn;
    const auto same = [&](const CurveSeries& s) { return s.name == device(p); };
    auto at = std::find_if(by_device.begin(), by_device.end(), same);
    if (at == by_device.end()) at = by_device.insert(at, CurveSeries{device(p), {}});
    at->points.push_back({x(p), y(p), tip(p)});
  }
  if (drawn < 2) return;
  const auto by_x = [](const CurvePoint& a, const CurvePoint& b) { return a.x < b.x; };
  for (CurveSeries& s : by_device) std::sort(s.points.begin(), s.points.end(), by_x);
  const auto [least, most] =
      std::minmax_element(front.begin(), front.end(), [&](const Plan& a, const Plan& b) { return x(a) < x(b); });
  chart.logarithmic_x = x(*most) > kManyTimes * x(*least);
  chart.series = std::move(by_device);
  page.add_figure(curve_svg(chart));
}

/// How likely each limit is held, plan by plan.
void add_chances(HtmlPage& page, const ServingVerdict& verdict, const ServingGoal& goal) {
  Bars bars;
  bars.title = "Probability that each limit holds";
  bars.subtitle = fmt::format("asked for: {:.0f} % for all of them together", 100 * goal.confidence);
  bars.axis = "%";
  bars.series = {"rate and TPOT", "TTFT", "all together"};
  for (std::size_t i = 0; i < std::min(verdict.plans.size(), kMostLines); ++i) {
    const PlanConfidence& sure = verdict.plans[i].sure;
    if (!sure.holds || !sure.holds_rate || !sure.holds_ttft) continue;
    bars.lines.push_back(
        {verdict.plans[i].query.device, {100 * *sure.holds_rate, 100 * *sure.holds_ttft, 100 * *sure.holds}, {}});
  }
  if (!bars.lines.empty()) page.add_figure(bars_svg(bars));
}

/// What more confidence costs, of the plans that were sized for several.
void add_cost_of_confidence(HtmlPage& page, const ServingVerdict& verdict) {
  CurveChart chart;
  chart.title = "What being sure costs";
  chart.subtitle = "the same layout with as many replicas as hold rate and limits with that probability";
  chart.x_axis = "% sure";
  chart.y_axis = "$ an hour";
  for (const ServingPlan& plan : verdict.plans) {
    if (plan.sure.ladder.size() < 2 || !plan.usd_per_hour || !(*plan.usd_per_hour > 0) || plan.gpus <= 0) continue;
    CurveSeries series{plan.query.device, {}};
    for (const Rung& rung : plan.sure.ladder) {
      series.points.push_back({100 * rung.confidence, *plan.usd_per_hour * rung.gpus / plan.gpus,
                               fmt::format("{} {} at {:.0f} %", rung.gpus, plan.query.device, 100 * rung.confidence)});
    }
    chart.series.push_back(std::move(series));
  }
  if (!chart.series.empty()) page.add_figure(curve_svg(chart));
}

/// What the first plan's dollars depend on.
void add_sensitivity_picture(HtmlPage& page, const ServingVerdict& verdict) {
  if (verdict.sensitivity.empty()) return;
  Tornado tornado;
  tornado.title = "What the dollars depend on";
  tornado.subtitle = fmt::format("rank 1, {}: each end of a bar is named; load and traffic halved and doubled",
                                 verdict.plans.front().query.device);
  tornado.axis = "$ per million output tokens";
  tornado.middle = verdict.plans.front().usd_per_million->mid;
  for (const Sensitivity& s : verdict.sensitivity) {
    tornado.bars.push_back({s.what, s.usd_at_less, s.usd_at_more, s.less, s.more});
  }
  page.add_figure(tornado_svg(tornado));
}

template <class Verdict>
HtmlPage begin(const Document& text, const Verdict& verdict) {
  HtmlPage page(text.title);
  if (!verdict.plans.empty()) page.add(Paragraph{answer_text(verdict.plans.front()), Emphasis::strong});
  return page;
}

}  // namespace

std::string plan_html(const ServingQuest& quest, const ServingVerdict& verdict, const PlanReportOptions& options,
                      const Provenance& provenance) {
  const Document text = plan_page(quest, verdict, options);
  HtmlPage page = begin(text, verdict);
  const auto device = [](const ServingPlan& p) { return p.query.device; };
  Ranges cost = ranking(
      verdict.plans, [](const ServingPlan& p) { return p.usd_per_million; }, device, verdict.ranks);
  cost.title = "What a million output tokens cost";
  cost.axis = "$ per million output tokens";
  if (!cost.lines.empty()) page.add_figure(ranges_svg(cost));
  Ranges pace = ranking(
      verdict.plans, [](const ServingPlan& p) { return std::optional(p.tpot_s); }, device, verdict.ranks);
  for (RangeLine& line : pace.lines) line.value = {line.value.low * 1e3, line.value.mid * 1e3, line.value.high * 1e3};
  pace.title = "Time per output token, mean with every place taken";
  pace.axis = "milliseconds per token";
  pace.limit = quest.goal.tpot_s * 1e3;
  if (!pace.lines.empty()) page.add_figure(ranges_svg(pace));
  add_chances(page, verdict, quest.goal);
  add_cost_of_confidence(page, verdict);
  add_sensitivity_picture(page, verdict);
  CurveChart front;
  front.title = "Cheaper only by being slower";
  front.subtitle = "plans that no other beats in both; point at one to see it";
  front.x_axis = "seconds for a whole request";
  front.y_axis = "$ per million output tokens";
  add_front(
      page, front, verdict.front, [](const ServingPlan& p) { return p.e2e_s.mid; },
      [](const ServingPlan& p) { return p.usd_per_million ? p.usd_per_million->mid : 0.0; }, device,
      [](const ServingPlan& p) { return fmt::format("{} {}, {}", p.gpus, p.query.device, layout_text(p)); });
  page.add(text);
  page.add(provenance);
  return page.finish();
}

std::string plan_html(const TrainingQuest& quest, const TrainingVerdict& verdict, const PlanReportOptions& options,
                      const Provenance& provenance) {
  const Document text = plan_page(quest, verdict, options);
  HtmlPage page = begin(text, verdict);
  const auto device = [](const TrainingPick& p) { return p.device; };
  const auto numbered = [](const TrainingPick& p) { return fmt::format("{} {}", p.plan.gpus, p.device); };
  Ranges cost = ranking(
      verdict.plans,
      [](const TrainingPick& p) {
        return p.usd ? std::optional(Interval{p.usd->low / 1e6, p.usd->mid / 1e6, p.usd->high / 1e6}) : std::nullopt;
      },
      numbered, verdict.ranks);
  cost.title = quest.goal.tokens > 0 ? "What the run costs" : "What a billion tokens cost";
  cost.axis = "million $";
  if (!cost.lines.empty()) page.add_figure(ranges_svg(cost));
  Ranges days = ranking(
      verdict.plans, [](const TrainingPick& p) { return p.days; }, numbered, verdict.ranks);
  days.title = "How long it takes";
  days.axis = "days";
  days.limit = quest.goal.days;
  if (!days.lines.empty()) page.add_figure(ranges_svg(days));
  CurveChart front;
  front.title = "Sooner only by paying more";
  front.subtitle = "plans that no other beats in time, cost and energy at once; point at one to see it";
  front.x_axis = "days";
  front.y_axis = "million $";
  add_front(
      page, front, verdict.front, [](const TrainingPick& p) { return p.days ? p.days->mid : 0.0; },
      [](const TrainingPick& p) { return p.usd ? p.usd->mid / 1e6 : 0.0; }, device,
      [](const TrainingPick& p) { return fmt::format("{} {}, {}", p.plan.gpus, p.device, layout_text(p)); });
  page.add(text);
  page.add(provenance);
  return page.finish();
}

}  // namespace ridge::report
