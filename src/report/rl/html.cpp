// The page of a step of reinforcement learning, with its timeline drawn.
#include "report/page/html.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "report/chart/svg.hpp"
#include "report/rl/report.hpp"
#include "ridge/base/text.hpp"

namespace ridge::report {

namespace {

constexpr double kRlWidth = 900, kRlLane = 46, kRlLeft = 96, kRlTop = 40, kRlLegend = 22;

}  // namespace

std::string rl_timeline_svg(const RlAnswer& a) {
  const RlEstimate& e = a.estimate;
  std::set<int> pools;
  for (const RlSpan& s : e.timeline) pools.insert(s.pool);
  const auto lane_of = [&](int pool) { return static_cast<double>(std::distance(pools.begin(), pools.find(pool))); };
  const double below = kRlTop + static_cast<double>(pools.size()) * kRlLane;
  std::vector<RlPhase> legend;
  for (const RlSpan& s : e.timeline) {
    if (std::find(legend.begin(), legend.end(), s.phase) == legend.end()) legend.push_back(s.phase);
  }
  const std::size_t lines = (legend.size() + 4) / 5;
  Svg svg(kRlWidth, below + 30 + kRlLegend * static_cast<double>(lines));
  svg.text(kRlLeft, 20, fmt::format("A step, {}", format(Seconds(e.step_s.mid))), {.size = 14, .bold = true});
  const double scale = (kRlWidth - kRlLeft - 20) / e.step_s.mid;
  for (const int pool : pools) {
    const double lane = lane_of(pool);
    svg.text(kRlLeft - 8, kRlTop + (lane + 0.6) * kRlLane, rl_pool(a, pool), {.anchor = "end"});
    svg.rectangle(kRlLeft, kRlTop + lane * kRlLane, e.step_s.mid * scale, kRlLane - 8, {.stroke = "#d0d7de"});
  }
  for (const RlSpan& s : e.timeline) {
    svg.rectangle(kRlLeft + s.start * scale, kRlTop + lane_of(s.pool) * kRlLane, std::max(1.0, s.seconds * scale),
                  kRlLane - 8, {.fill = colour(static_cast<int>(s.phase))});
  }
  for (std::size_t i = 0; i < legend.size(); ++i) {
    const double x = kRlLeft + static_cast<double>(i % 5) * 150;
    const std::size_t line = i / 5;
    const double y = below + 24 + kRlLegend * static_cast<double>(line);
    svg.rectangle(x, y - 10, 12, 12, {.fill = colour(static_cast<int>(legend[i]))});
    svg.text(x + 18, y, fmt::format("{} {}", name(legend[i]), format(Seconds(e.phase(legend[i]).mid))));
  }
  return svg.finish();
}

std::string rl_html(const RlAnswer& a, const RlReportOptions& options, const Provenance& provenance) {
  RlReportOptions drawn = options;
  drawn.bars = false;  // the figure shows them, and letters of a page are of different widths
  const Document document = rl_page(a, drawn);
  HtmlPage page(document.title);
  page.add_figure(rl_timeline_svg(a));
  page.add(document);
  page.add(provenance);
  return page.finish();
}

}  // namespace ridge::report
