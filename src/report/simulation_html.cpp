// A page with the latency distributions and the timelines of a simulation.
#include <fmt/format.h>

#include <algorithm>

#include "report/html.hpp"
#include "report/line_chart.hpp"
#include "report/page.hpp"
#include "report/simulation_report.hpp"
#include "ridge/text.hpp"

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

struct Look {
  int style = 0;
  double low = 1, high = 1;  ///< of the prediction, as factors
};

std::string cdf(const char* title, const LatencyDistribution& d, double limit, const Look& look, const char* unit,
                const char* of = "requests") {
  LineChart c;
  c.title = title;
  c.subtitle = std::string("share of the ") + of + " that took no longer" +
               (look.low < look.high ? "; band: 80 % of cases like it" : "");
  c.x_axis = unit;
  c.y_axis = "share";
  c.log_x = true;
  c.y_top = 1;
  c.series = {{title, distribution(d), look.style, look.low, look.high}};
  if (limit > 0) c.marks.push_back({limit, "limit"});
  return line_chart_svg(c);
}

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

template <class Read>
LineSeries over_time(const char* name, const SimulationResult& r, int style, const Read& read) {
  LineSeries s{.name = name, .points = {}, .style = style};
  for (const TimelinePoint& p : r.timeline) s.points.push_back({p.start + 0.5 * r.timeline_step, read(p)});
  return s;
}

}  // namespace

std::string simulation_html(const SimulationAnswer& a, const Provenance& provenance) {
  const SimulationResult& r = a.result;
  HtmlPage page(simulation_title(a));
  page.add(Paragraph{answer_sentence(a), r.overloaded ? Emphasis::bad : Emphasis::strong});
  std::vector<std::string> figures;
  const PredictionSpread& sure = r.spread;
  figures.push_back(
      cdf("Time to first token", r.ttft, a.query.limits.ttft, {0, sure.ttft_low, sure.ttft_high}, "seconds"));
  if (r.tpot.count() > 0) {
    figures.push_back(cdf("Time per output token", r.tpot, a.query.limits.tpot, {1, sure.tpot_low, sure.tpot_high},
                          "seconds per token"));
    figures.push_back(cdf("Between tokens", r.itl, 0, {2, sure.tpot_low, sure.tpot_high}, "seconds", "gaps"));
  }
  figures.push_back(cdf("End to end", r.e2e, a.query.limits.e2e, {3, sure.tpot_low, sure.tpot_high}, "seconds"));
  LineChart load;
  load.title = "Requests in the system";
  load.x_axis = "seconds since the start";
  load.y_axis = "requests";
  load.series = {over_time("running", r, 0, [](const TimelinePoint& p) { return p.running; }),
                 over_time("waiting", r, 1, [](const TimelinePoint& p) { return p.queue; })};
  figures.push_back(line_chart_svg(load));
  LineChart cache;
  cache.title = "KV cache in use";
  cache.x_axis = "seconds since the start";
  cache.y_axis = "share";
  cache.y_top = 1;
  cache.series = {over_time("KV cache", r, 2, [](const TimelinePoint& p) { return p.kv_share; })};
  figures.push_back(line_chart_svg(cache));
  LineChart tokens;
  tokens.title = "Output";
  tokens.x_axis = "seconds since the start";
  tokens.y_axis = "tokens per second";
  tokens.series = {over_time("tokens/s", r, 3, [](const TimelinePoint& p) { return p.output_tokens_per_s; })};
  figures.push_back(line_chart_svg(tokens));
  if (a.query.policies.autoscaling || r.failures > 0) {
    LineChart engines;
    engines.title = "Engines that are up or starting";
    engines.x_axis = "seconds since the start";
    engines.y_axis = "engines";
    engines.series = {over_time("engines", r, 4, [](const TimelinePoint& p) { return p.engines; })};
    figures.push_back(line_chart_svg(engines));
  }
  page.add_figures(figures);
  page.add(simulation_page(a));
  page.add(provenance);
  return page.finish();
}

}  // namespace ridge::report
