#include "measure/gpu/timing.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace ridge::measure {

Graph::Graph(gpuStream_t stream, const std::function<void()>& enqueue) {
  check(gpuStreamBeginCapture(stream, kCaptureMode), "beginning a capture");
  try {
    enqueue();
  } catch (const GpuFailure&) {
    (void)gpuStreamEndCapture(stream, &graph_);
    if (graph_ != nullptr) (void)gpuGraphDestroy(graph_);
    (void)gpuGetLastError();
    throw;
  }
  check(gpuStreamEndCapture(stream, &graph_), "ending a capture");
  const gpuError_t code = gpuGraphInstantiateWithFlags(&executable_, graph_, 0);
  if (code != gpuSuccess) (void)gpuGraphDestroy(graph_);
  check(code, "instantiating a graph");
}

Graph::~Graph() {
  if (executable_ != nullptr) (void)gpuGraphExecDestroy(executable_);
  if (graph_ != nullptr) (void)gpuGraphDestroy(graph_);
}

void Graph::replay(gpuStream_t stream) const {
  check(gpuGraphLaunch(executable_, stream), "replaying a graph");
}

Events::Events(std::size_t count) : events_(count, nullptr) {
  for (gpuEvent_t& event : events_) check(gpuEventCreate(&event), "creating an event");
}

Events::~Events() {
  for (gpuEvent_t event : events_) {
    if (event != nullptr) (void)gpuEventDestroy(event);
  }
}

void Events::record(std::size_t at, gpuStream_t stream) const {
  check(gpuEventRecord(events_[at], stream), "recording an event");
}

double Events::between(std::size_t first, std::size_t second) const {
  check(gpuEventSynchronize(events_[second]), "waiting for the device");
  float milliseconds = 0;
  check(gpuEventElapsedTime(&milliseconds, events_[first], events_[second]), "reading events");
  return milliseconds * 1e-3;
}

Timing summarise(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  const auto at = [&](double share) {
    const double position = share * static_cast<double>(times.size() - 1);
    const auto below = static_cast<std::size_t>(position);
    const std::size_t above = std::min(below + 1, times.size() - 1);
    return times[below] + (position - static_cast<double>(below)) * (times[above] - times[below]);
  };
  return {at(0.5), at(0.1), at(0.9), static_cast<int>(times.size()), 1};
}

double quick_time(gpuStream_t stream, const Launch& launch, int launches) {
  const Events events(2);
  launch(0);
  events.record(0, stream);
  for (int i = 1; i <= launches; ++i) launch(i);
  events.record(1, stream);
  return events.between(0, 1) / launches;
}

Timing time_operation(gpuStream_t stream, const Launch& launch, const TimingOptions& options) {
  for (int i = 0; i < 2; ++i) launch(i);
  check(gpuStreamSynchronize(stream), "running the operation");
  const double estimate = std::max(quick_time(stream, launch, 3), 5e-7);
  const double wanted = std::ceil(options.sample / estimate);
  const int inner = std::max(options.rotation, static_cast<int>(std::min(wanted, 400.0)));
  const auto all = [&] {
    for (int i = 0; i < inner; ++i) launch(i);
  };
  std::optional<Graph> graph;
  if (options.graph) graph.emplace(stream, all);
  const auto run = [&] {
    if (graph) {
      graph->replay(stream);
    } else {
      all();
    }
  };
  // The first replay uploads the graph and is not timed; the second says how long a sample takes.
  const Events first(2);
  run();
  first.record(0, stream);
  run();
  first.record(1, stream);
  const double per_sample = std::max(first.between(0, 1), 1e-6);
  const int samples = std::clamp(static_cast<int>(options.budget / per_sample), options.least, options.most);
  for (int i = 0; i < static_cast<int>(options.settle / per_sample); ++i) run();
  const Events events(static_cast<std::size_t>(samples) + 1);
  events.record(0, stream);
  for (int i = 0; i < samples; ++i) {
    run();
    events.record(static_cast<std::size_t>(i) + 1, stream);
  }
  std::vector<double> times;
  for (int i = 0; i < samples; ++i) {
    times.push_back(events.between(static_cast<std::size_t>(i), static_cast<std::size_t>(i) + 1) / inner);
  }
  Timing timing = summarise(std::move(times));
  timing.launches = inner;
  return timing;
}

}  // namespace ridge::measure
