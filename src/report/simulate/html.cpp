// A page with the latency distributions and the timelines of a simulation.
#include "report/page/html.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/chart/line_chart.hpp"
#include "report/page/page.hpp"
#include "report/simulate/report.hpp"
#include "ridge/base/text.hpp"

namespace ridge::report {

namespace {

constexpr double kPercent = 100;
constexpr double kChartWidth = 580;
constexpr double kChartHeight = 300;

/// A unit of time in which the numbers of an axis are short.
struct TimeUnit {
  const char* name;
  double seconds;
};

TimeUnit latency_unit(double longest) {
  return longest < 2 ? TimeUnit{"ms", 1e-3} : longest < 300 ? TimeUnit{"s", 1} : TimeUnit{"min", 60};
}

TimeUnit clock_unit(double end) {
  return end < 300 ? TimeUnit{"s", 1} : end < 7200 ? TimeUnit{"min", 60} : TimeUnit{"h", 3600};
}

LineChart chart(const char* title, std::string subtitle) {
  LineChart c;
  c.title = title;
  c.subtitle = std::move(subtitle);
  c.width = kChartWidth;
  c.height = kChartHeight;
  return c;
}

struct Look {
  int style = 0;
  double low = 1, high = 1;  ///< of the prediction, as factors
};

std::string cdf(const char* title, const LatencyDistribution& d, double limit, const Look& look,
                const char* of = "requests") {
  LineChart c =
      chart(title, fmt::format("half within {}, 95 % within {}{}", format(Seconds(d.p50())), format(Seconds(d.p95())),
                               look.low < look.high ? "; band: 80 % of cases like it" : ""));
  const TimeUnit unit = latency_unit(d.p99());
  c.x_axis = unit.name;
  c.y_axis = fmt::format("% of {} within", of);
  c.log_x = true;
  c.y_top = kPercent;
  LineSeries series{title, {}, look.style, look.low, look.high};
  constexpr int kPoints = 400;
  for (int i = 0; i <= kPoints && d.count() > 0; ++i) {
    const double q = std::max(1e-4, static_cast<double>(i) / kPoints);
    series.points.push_back({d.quantile(q) / unit.seconds, kPercent * q});
  }
  c.series.push_back(std::move(series));
  if (limit > 0) c.marks.push_back({limit / unit.seconds, "limit " + format(Seconds(limit))});
  return line_chart_svg(c);
}

class Timelines {
 public:
  explicit Timelines(const SimulationResult& r)
      : result_(r), unit_(clock_unit(static_cast<double>(r.timeline.size()) * r.timeline_step)) {}

  template <class Read>
  [[nodiscard]] LineSeries series(const char* name, int style, const Read& read) const {
    LineSeries s{.name = name, .points = {}, .style = style};
    for (const TimelinePoint& p : result_.timeline) {
      s.points.push_back({(p.start + 0.5 * result_.timeline_step) / unit_.seconds, read(p)});
    }
    return s;
  }

  [[nodiscard]] std::string draw(const char* title, const char* y_axis, std::vector<LineSeries> series,
                                 double top = 0) const {
    LineChart c = chart(title, "mean of every " + format(Seconds(result_.timeline_step)));
    c.x_axis = fmt::format("{} since the start", unit_.name);
    c.y_axis = y_axis;
    c.y_top = top;
    c.series = std::move(series);
    return line_chart_svg(c);
  }

 private:
  const SimulationResult& result_;
  TimeUnit unit_;
};

std::string answer_sentence(const SimulationAnswer& a) {
  const SimulationResult& r = a.result;
  if (r.overloaded) {
    return fmt::format("Overloaded: the queue grows by {} requests a second.", format_number(r.growth_per_s));
  }
  const auto p95 = [](const LatencyDistribution& d) { return format(Seconds(d.p95())); };
  std::string text = fmt::format("Of 100 requests 95 have their first token within {}", p95(r.ttft));
  if (r.tpot.count() > 0) text += fmt::format(", {} per token after it", p95(r.tpot));
  text += fmt::format(" and end within {}; {} requests a second", p95(r.e2e), format_number(r.requests_per_s));
  const bool limited = a.query.limits.ttft > 0 || a.query.limits.tpot > 0 || a.query.limits.e2e > 0;
  if (limited && r.arrived > 0) {
    const double share = static_cast<double>(r.good) / static_cast<double>(r.arrived);
    text += fmt::format(", {} of them within the limits", percent(share, 1));
  }
  return text + ".";
}

}  // namespace

std::string simulation_html(const SimulationAnswer& a, const Provenance& provenance) {
  const SimulationResult& r = a.result;
  HtmlPage page(simulation_title(a));
  page.add(Paragraph{answer_sentence(a), r.overloaded ? Emphasis::bad : Emphasis::strong});
  const PredictionSpread& sure = r.spread;
  std::vector<std::string> latencies{
      cdf("Time to first token", r.ttft, a.query.limits.ttft, {0, sure.ttft_low, sure.ttft_high})};
  if (r.tpot.count() > 0) {
    latencies.push_back(cdf("Time per output token", r.tpot, a.query.limits.tpot, {1, sure.tpot_low, sure.tpot_high}));
    latencies.push_back(cdf("Between tokens", r.itl, 0, {2, sure.tpot_low, sure.tpot_high}, "gaps"));
  }
  latencies.push_back(cdf("End to end", r.e2e, a.query.limits.e2e, {3, sure.tpot_low, sure.tpot_high}));
  page.add_heading("How long requests take");
  page.add_figures(latencies);

  const Timelines over_time(r);
  std::vector<std::string> timelines{
      over_time.draw("Requests in the system", "requests",
                     {over_time.series("running", 0, [](const TimelinePoint& p) { return p.running; }),
                      over_time.series("waiting", 1, [](const TimelinePoint& p) { return p.queue; })}),
      over_time.draw("Arrivals", "requests per second",
                     {over_time.series("arrivals", 4, [](const TimelinePoint& p) { return p.arrivals_per_s; })}),
      over_time.draw("KV cache", "% in use",
                     {over_time.series("KV cache", 2, [](const TimelinePoint& p) { return kPercent * p.kv_share; })},
                     kPercent),
      over_time.draw("Output", "tokens per second",
                     {over_time.series("tokens", 3, [](const TimelinePoint& p) { return p.output_tokens_per_s; })})};
  if (a.query.policies.autoscaling || r.failures > 0) {
    timelines.push_back(
        over_time.draw("Engines that are up or starting", "engines",
                       {over_time.series("engines", 4, [](const TimelinePoint& p) { return p.engines; })}));
  }
  page.add_heading("The system over time");
  page.add_figures(timelines);
  page.add(simulation_page(a));
  page.add(provenance);
  return page.finish();
}

}  // namespace ridge::report
