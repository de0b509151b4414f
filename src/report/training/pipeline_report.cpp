// One step of the pipeline of a training plan: as a trace for a viewer, and drawn.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "report/chart/svg.hpp"
#include "report/training/report.hpp"
#include "ridge/base/text.hpp"
#include "ridge/perf/timeline.hpp"

namespace ridge::report {

namespace {

constexpr std::size_t kMostEvents = 200'000;
constexpr double kMostDrawn = 6000;  ///< rectangles that a page takes easily
constexpr double kWidth = 820;
constexpr double kLeft = 76;
constexpr double kTop = 78;
constexpr double kPlotWidth = 724;
constexpr std::array<std::string_view, 3> kCategories = {"forward", "backward", "weight gradient"};

double phase_s(const TrainingAnswer& a, TrainingPhase p) {
  return a.outcome.estimate.phases_s[static_cast<std::size_t>(p)];
}

double event_count(const PipelineShape& shape) {
  return 2.0 * shape.stages * shape.chunks * shape.micro_batches;
}

PipelineShape shape_of(const TrainingAnswer& a) {
  const TrainingEstimate& e = a.outcome.estimate;
  const TrainingPlan& plan = a.query.plan;
  const auto phase = [&](TrainingPhase p) { return phase_s(a, p); };
  // What a stage does for one micro-batch: the passes, and what is exposed or waits for the host beside them.
  const double forward = phase(TrainingPhase::forward);
  const double backward = phase(TrainingPhase::backward) + phase(TrainingPhase::recompute);
  const double beside = phase(TrainingPhase::tensor_parallel) + phase(TrainingPhase::context_parallel) +
                        phase(TrainingPhase::expert_parallel) + phase(TrainingPhase::host);
  const double share = forward / (forward + backward);
  PipelineShape shape;
  shape.stages = plan.pp;
  shape.chunks = e.vp;
  shape.micro_batches = e.micro_batches;
  shape.forward = (forward + beside * share + phase(TrainingPhase::head) / 3) / e.micro_batches;
  shape.backward = (backward + beside * (1 - share) + phase(TrainingPhase::head) * 2 / 3) / e.micro_batches;
  shape.weight_gradient = e.weight_gradient_s / e.micro_batches;
  shape.schedule = plan.schedule;
  return shape;
}

}  // namespace

Result<std::string> pipeline_trace(const TrainingAnswer& a) {
  if (a.refusal) return Error{ErrorCode::infeasible, "⟦trace⟧", "a plan that cannot run has no timeline"};
  const TrainingPlan& plan = a.query.plan;
  const PipelineShape shape = shape_of(a);
  const double count = event_count(shape);
  if (count > static_cast<double>(kMostEvents)) {
    return Error{ErrorCode::refused, "⟦trace⟧",
                 fmt::format("{} events are more than a browser shows: take fewer micro-batches (⟦global_batch⟧)",
                             format_number(count, 9))};
  }
  std::vector<TimelineEvent> events = pipeline_timeline(shape);
  if (events.empty()) {
    return Error{
        ErrorCode::refused, "⟦trace⟧",
        "DualPipe needs an even number of stages and at least twice as many micro-batches: raise ⟦global_batch⟧"};
  }
  // Transfers are not drawn, and stages that are not the longest are drawn as long as it: the whole lasts as predicted.
  const double reduced = phase_s(a, TrainingPhase::data_parallel);
  const double updated = phase_s(a, TrainingPhase::optimizer);
  const double stretch = (a.outcome.estimate.step_time_s.mid - reduced - updated) / pipeline_span(events);
  for (TimelineEvent& event : events) {
    event.start *= stretch;
    event.seconds *= stretch;
  }
  std::string out = "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n";
  for (int stage = 0; stage < plan.pp; ++stage) {
    out += fmt::format(
        "{{\"ph\": \"M\", \"name\": \"thread_name\", \"pid\": 0, \"tid\": {0}, \"args\": {{\"name\": \"stage "
        "{0}\"}}}},\n",
        stage);
  }
  const auto add = [&](const std::string& name, std::string_view category, int stage, double start, double seconds) {
    out += fmt::format(
        "{{\"ph\": \"X\", \"name\": \"{}\", \"cat\": \"{}\", \"pid\": 0, \"tid\": {}, \"ts\": {:.3f}, \"dur\": "
        "{:.3f}}},\n",
        name, category, stage, start * 1e6, seconds * 1e6);
  };
  for (const TimelineEvent& event : events) {
    static constexpr std::string_view kLetters[] = {"F", "B", "W"};
    const auto work = static_cast<std::size_t>(event.work);
    const bool parts = shape.chunks > 1 || plan.schedule == Schedule::dual_pipe;
    const std::string chunk = parts ? fmt::format(".{}", event.chunk) : "";
    add(fmt::format("{}{}{}", kLetters[work], event.micro_batch, chunk), kCategories[work], event.stage, event.start,
        event.seconds);
  }
  const double end = pipeline_span(events);
  for (int stage = 0; stage < plan.pp; ++stage) {
    if (reduced > 0) add("gradients", "data parallel", stage, end, reduced);
    if (updated > 0) add("optimizer", "optimizer", stage, end + reduced, updated);
  }
  out.resize(out.size() - 2);  // the comma of the last event
  return out + "\n]}\n";
}

std::string pipeline_svg(const TrainingAnswer& a) {
  const TrainingPlan& plan = a.query.plan;
  if (a.refusal || plan.pp < 2 || plan.schedule == Schedule::dual_pipe) return "";
  PipelineShape shape = shape_of(a);
  const int all = shape.micro_batches;
  // Filling and draining look the same however long the middle is: where there are too many, the middle is cut.
  while (event_count(shape) > kMostDrawn && shape.micro_batches > 2 * shape.stages) shape.micro_batches /= 2;
  if (event_count(shape) > kMostDrawn) return "";
  const std::vector<TimelineEvent> events = pipeline_timeline(shape);
  const double span = pipeline_span(events);
  if (!(span > 0)) return "";
  const double row = std::clamp(220.0 / shape.stages, 7.0, 24.0);
  const double bottom = kTop + row * shape.stages;
  Svg svg(kWidth, bottom + 46);
  svg.rectangle(0, 0, kWidth, bottom + 46, {.fill = "#ffffff"});
  svg.text(16, 26, "One step of the pipeline", {.size = 15, .bold = true});
  std::string subtitle = fmt::format("{} stages, {} micro-batches", shape.stages, shape.micro_batches);
  if (shape.micro_batches < all) subtitle += fmt::format(" of {}: the middle is cut", all);
  svg.text(16, 44, subtitle + "; grey: a stage waits", {.size = 12, .fill = kFaint});
  double x = 16;
  for (std::size_t i = 0; i < kCategories.size(); ++i) {
    const auto is_one = [&](const TimelineEvent& e) { return static_cast<std::size_t>(e.work) == i; };
    if (std::none_of(events.begin(), events.end(), is_one)) continue;
    svg.rectangle(x, 55, 10, 10, {.fill = colour(static_cast<int>(i))});
    svg.text(x + 15, 64, kCategories[i], {.size = 12});
    x += 33 + 7.2 * static_cast<double>(kCategories[i].size());
  }
  const auto at = [&](double seconds) { return kLeft + kPlotWidth * seconds / span; };
  const int every = std::max(1, static_cast<int>(14 / row) + 1);
  for (int stage = 0; stage < shape.stages; ++stage) {
    const double y = kTop + row * stage;
    svg.rectangle(kLeft, y + 0.5, kPlotWidth, row - 1, {.fill = "#eef1f4"});
    if (stage % every == 0) {
      svg.text(kLeft - 8, y + row / 2 + 4, fmt::format("stage {}", stage),
               {.anchor = "end", .size = 11, .fill = kFaint});
    }
  }
  for (const TimelineEvent& event : events) {
    svg.rectangle(at(event.start), kTop + row * event.stage + 0.5, std::max(0.3, at(event.seconds) - kLeft - 0.3),
                  row - 1, {.fill = colour(static_cast<int>(event.work))});
  }
  for (const double tick : linear_ticks(0, span, 7)) {
    svg.line(at(tick), bottom, at(tick), bottom + 4, {.stroke = "#afb8c1"});
    svg.text(at(tick), bottom + 17, tick_label(tick), {.anchor = "middle", .size = 11, .fill = kFaint});
  }
  svg.text(kLeft + kPlotWidth / 2, bottom + 36, "seconds since the step began", {.anchor = "middle"});
  return svg.finish();
}

}  // namespace ridge::report
