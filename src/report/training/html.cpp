// A training answer as a page: what is predicted, where a step and the memory go, how it scales.
#include "report/page/html.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/chart/bars.hpp"
#include "report/page/page.hpp"
#include "report/training/report.hpp"
#include "ridge/base/text.hpp"

namespace ridge::report {

namespace {

Bars step_bars(const TrainingEstimate& e) {
  Bars bars;
  bars.title = "Where a step goes";
  bars.subtitle = time_cell(e.step_time_s).text() + " in all";
  bars.axis = "milliseconds";
  bars.series = {""};
  for (std::size_t i = 0; i < kTrainingPhases; ++i) {
    const double seconds = e.phases_s[i];
    if (seconds <= 0) continue;
    bars.lines.push_back(
        {spaced(name(static_cast<TrainingPhase>(i))), {seconds * 1e3}, {percent(seconds / e.step_time_s.mid, 1)}});
  }
  return bars;
}

Bars memory_bars(const TrainingAnswer& a) {
  const auto total = [](const auto& parts) {
    double sum = 0;
    for (const double bytes : parts) sum += bytes;
    return sum;
  };
  const auto fullest = std::max_element(a.stages.begin(), a.stages.end(),
                                        [&](const auto& x, const auto& y) { return total(x) < total(y); });
  Bars bars;
  bars.title = "Memory of the fullest device";
  bars.subtitle = fmt::format("stage {}, {} of the {} that it has", fullest - a.stages.begin(),
                              format(Bytes(total(*fullest))), format(Bytes(a.facts.memory_bytes)));
  bars.axis = "GB";
  bars.series = {""};
  for (std::size_t i = 0; i < kTrainingMemory; ++i) {
    const double bytes = (*fullest)[i];
    if (bytes <= 0) continue;
    bars.lines.push_back(
        {spaced(name(static_cast<TrainingMemory>(i))), {bytes * 1e-9}, {percent(bytes / a.facts.memory_bytes)}});
  }
  return bars;
}

}  // namespace

std::string training_html(const TrainingAnswer& a, const TrainingReportOptions& options,
                          const std::optional<ScalingCurve>& curve, const Provenance& provenance) {
  Document text = training_page(a, options, curve);
  HtmlPage page(text.title);
  page.add(std::get<Paragraph>(text.blocks.front()));  // the answer; then pictures, then all the figures
  text.blocks.erase(text.blocks.begin());
  std::vector<std::string> figures = {bars_svg(step_bars(a.outcome.estimate))};
  if (!a.stages.empty()) figures.push_back(bars_svg(memory_bars(a)));
  if (curve) figures.push_back(scaling_svg(*curve, fmt::format("Train {} on {}", a.query.model, a.facts.device)));
  if (std::string pipeline = pipeline_svg(a); !pipeline.empty()) figures.push_back(std::move(pipeline));
  page.add_figures(figures);
  page.add(text);
  page.add(provenance);
  return page.finish();
}

}  // namespace ridge::report
