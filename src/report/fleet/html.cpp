// The page of a fleet: how busy its devices are by hour, what is had from when to when, then what the terminal shows.
#include "report/page/html.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/chart/svg.hpp"
#include "report/fleet/report.hpp"
#include "ridge/base/text.hpp"

namespace ridge::report {

namespace {

constexpr double kFleetLeft = 190, kFleetTop = 44, kFleetWidth = 900, kFleetLine = 20;
constexpr double kHeatRow = 14;

/// From white over yellow to dark red, so that busy hours stand out on paper too.
std::string heat(double share) {
  const double s = std::clamp(share, 0.0, 1.0);
  const auto between = [&](double a, double b, double t) { return static_cast<int>(std::lround(a + (b - a) * t)); };
  if (s < 0.5) {
    const double t = 2 * s;
    return fmt::format("#{:02x}{:02x}{:02x}", between(255, 254, t), between(255, 196, t), between(229, 79, t));
  }
  const double t = 2 * s - 1;
  return fmt::format("#{:02x}{:02x}{:02x}", between(254, 153, t), between(196, 0, t), between(79, 13, t));
}

std::string heat_svg(const FleetView& view) {
  const std::vector<FleetUse> pools = fleet_use(view);
  const fleet::Problem& p = view.problem;
  const double block = kHeatRow * p.months + 30;
  Svg svg(kFleetWidth, kFleetTop + block * static_cast<double>(pools.size()) + 40);
  svg.text(kFleetLeft, 20, "How busy devices are: a line for each month, a column for each hour of the day",
           {.size = 14, .bold = true});
  const double cell = (kFleetWidth - kFleetLeft - 20) / p.hours;
  double top = kFleetTop;
  for (const FleetUse& pool : pools) {
    svg.text(8, top + 14, pool.device, {.bold = true});
    svg.text(8, top + 30, pool.site);
    for (int m = 0; m < p.months; ++m) {
      const auto at = static_cast<std::size_t>(m);
      const double y = top + m * kHeatRow;
      if (m % 3 == 0)
        svg.text(kFleetLeft - 6, y + 11, fmt::format("{}: {:.0f}", p.month_name(m), pool.gpus[at]),
                 {.anchor = "end", .size = 10});
      for (int h = 0; h < p.hours; ++h) {
        const double share = pool.share[at][static_cast<std::size_t>(h)];
        if (pool.gpus[at] > 0) svg.rectangle(kFleetLeft + h * cell, y, cell - 1, kHeatRow - 1, {.fill = heat(share)});
      }
    }
    top += block;
  }
  for (int h = 0; h < p.hours; h += 3) {
    svg.text(kFleetLeft + (h + 0.5) * cell, top, fmt::format("{} h", h), {.anchor = "middle", .size = 10});
  }
  for (int i = 0; i <= 4; ++i) {
    svg.rectangle(kFleetLeft + i * 70, top + 12, 14, 12, {.stroke = "#d0d7de", .fill = heat(i / 4.0)});
    svg.text(kFleetLeft + i * 70 + 19, top + 22, fmt::format("{} %", 25 * i), {.size = 10});
  }
  return svg.finish();
}

std::string timeline_svg(const FleetView& view) {
  const fleet::Problem& p = view.problem;
  std::vector<const fleet::Holding*> lines;
  for (const fleet::Holding& h : view.answer.holdings) {
    if (std::any_of(h.held.begin(), h.held.end(), [](double v) { return v > 0; })) lines.push_back(&h);
  }
  Svg svg(kFleetWidth, kFleetTop + 2 * kFleetLine * static_cast<double>(lines.size()) + 30);
  svg.text(kFleetLeft, 20, "What is had, and from when to when: devices in each month", {.size = 14, .bold = true});
  const double month = (kFleetWidth - kFleetLeft - 20) / p.months;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const fleet::Stock& stock = p.stocks[static_cast<std::size_t>(lines[i]->stock)];
    const fleet::Pool& pool = p.pools[static_cast<std::size_t>(stock.pool)];
    const double y = kFleetTop + 2 * kFleetLine * static_cast<double>(i);
    svg.text(8, y + 12, pool.device, {.bold = true});
    svg.text(8, y + 27, fmt::format("{}, {}", fleet::name(stock.way), p.sites[static_cast<std::size_t>(pool.site)].id),
             {.size = 11});
    for (int m = 0; m < p.months; ++m) {
      const double gpus = lines[i]->held[static_cast<std::size_t>(m)];
      if (!(gpus > 0)) continue;
      const double before = m > 0 ? lines[i]->held[static_cast<std::size_t>(m) - 1] : 0;
      svg.rectangle(kFleetLeft + m * month, y, month - 1, 1.5 * kFleetLine,
                    {.fill = colour(static_cast<int>(stock.way)), .opacity = gpus > before ? 0.9 : 0.55});
      if (gpus != before || m % 6 == 0)
        svg.text(kFleetLeft + (m + 0.5) * month, y + 19, fmt::format("{:.0f}", gpus), {.anchor = "middle"});
    }
  }
  const double below = kFleetTop + 2 * kFleetLine * static_cast<double>(lines.size()) + 14;
  for (int m = 0; m < p.months; m += std::max(1, p.months / 6)) {
    svg.text(kFleetLeft + (m + 0.5) * month, below, p.month_name(m), {.anchor = "middle", .size = 10});
  }
  return svg.finish();
}

}  // namespace

std::string fleet_html(const FleetView& view, const Provenance& provenance) {
  const Document document = fleet_page(view);
  HtmlPage page(document.title);
  if (view.answer.found) {
    page.add_figure(timeline_svg(view));
    page.add_figure(heat_svg(view));
  }
  page.add(document);
  page.add(provenance);
  return page.finish();
}

}  // namespace ridge::report
