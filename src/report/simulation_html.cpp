// A page with the latency distributions and the timelines of a simulation.
#include <algorithm>

#include "report/html.hpp"
#include "report/line_chart.hpp"
#include "report/simulation_report.hpp"

namespace ridge::report {

namespace {

std::vector<SvgPoint> distribution(const LatencyDistribution& d) {
  std::vector<SvgPoint> points;
  if (d.count() == 0) return points;
  for (int i = 0; i <= 400; ++i) {
    const double q = std::max(1e-4, i / 400.0);
    points.push_back({d.quantile(q), q});
  }
  return points;
}

std::string cdf(const char* title, const LatencyDistribution& d, double limit, int style, const char* unit,
                const char* of = "requests") {
  LineChart c;
  c.title = title;
  c.subtitle = std::string("share of the ") + of + " that took no longer";
  c.x_axis = unit;
  c.y_axis = "share";
  c.log_x = true;
  c.y_top = 1;
  c.series = {{title, distribution(d), style}};
  if (limit > 0) c.marks.push_back({limit, "limit"});
  return line_chart_svg(c);
}

template <class Read>
LineSeries over_time(const char* name, const SimulationResult& r, int style, const Read& read) {
  LineSeries s{name, {}, style};
  for (const TimelinePoint& p : r.timeline) s.points.push_back({p.start + 0.5 * r.timeline_step, read(p)});
  return s;
}

}  // namespace

std::string simulation_html(const SimulationAnswer& a) {
  const SimulationResult& r = a.result;
  HtmlPage page(simulation_title(a));
  Document text = simulation_page(a);
  page.add(text);
  page.add_figure(cdf("Time to first token", r.ttft, a.query.limits.ttft, 0, "seconds"));
  if (r.tpot.count() > 0) {
    page.add_figure(cdf("Time per output token", r.tpot, a.query.limits.tpot, 1, "seconds per token"));
    page.add_figure(cdf("Between tokens", r.itl, 0, 2, "seconds", "gaps"));
  }
  page.add_figure(cdf("End to end", r.e2e, a.query.limits.e2e, 3, "seconds"));
  LineChart load;
  load.title = "Requests in the system";
  load.x_axis = "seconds since the start";
  load.y_axis = "requests";
  load.series = {over_time("running", r, 0, [](const TimelinePoint& p) { return p.running; }),
                 over_time("waiting", r, 1, [](const TimelinePoint& p) { return p.queue; })};
  page.add_figure(line_chart_svg(load));
  LineChart cache;
  cache.title = "KV cache in use";
  cache.x_axis = "seconds since the start";
  cache.y_axis = "share";
  cache.y_top = 1;
  cache.series = {over_time("KV cache", r, 2, [](const TimelinePoint& p) { return p.kv_share; })};
  page.add_figure(line_chart_svg(cache));
  LineChart tokens;
  tokens.title = "Output";
  tokens.x_axis = "seconds since the start";
  tokens.y_axis = "tokens per second";
  tokens.series = {over_time("tokens/s", r, 3, [](const TimelinePoint& p) { return p.output_tokens_per_s; })};
  page.add_figure(line_chart_svg(tokens));
  if (a.query.policies.autoscaling || r.failures > 0) {
    LineChart engines;
    engines.title = "Engines that are up or starting";
    engines.x_axis = "seconds since the start";
    engines.y_axis = "engines";
    engines.series = {over_time("engines", r, 4, [](const TimelinePoint& p) { return p.engines; })};
    page.add_figure(line_chart_svg(engines));
  }
  return page.finish();
}

}  // namespace ridge::report
