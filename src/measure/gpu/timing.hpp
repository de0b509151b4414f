// Times of operations on the device: warm-up, graph replays between events, median and spread.
//
//   Timing t = time_operation(stream, [&](int i) { launch(set[i % sets], stream); }, {.rotation = sets});
//   t.seconds; t.low; t.high;          // median, 10th and 90th percentile of the samples, per operation
//
// Operations are captured into a graph of many, so that the host's launch rate does not show; what remains between two
// is the gap that graphs have too. `rotation` operations touch different data, so that a graph passes through more than
// the L2 cache holds. Throws GpuFailure.
#pragma once

#include <functional>
#include <vector>

#include "measure/gpu/gpu.hpp"

namespace ridge::measure {

struct Timing {
  double seconds = 0;
  double low = 0;
  double high = 0;
  int samples = 0;
  int launches = 0;  ///< per sample
};

struct TimingOptions {
  double budget = 0.06;  ///< seconds of device time for all samples
  double sample = 1e-3;  ///< the least a sample lasts
  int rotation = 1;      ///< launches after which the data repeats
  int least = 7;         ///< samples
  int most = 60;
  double settle = 0;  ///< seconds that it runs untimed first, until the power limit has found its clock
  double agree = 0;   ///< the spread, relative to the median, at which a third of the samples is enough
  bool graph = true;  ///< false: operations that cannot be captured
};

using Launch = std::function<void(int)>;

[[nodiscard]] Timing time_operation(gpuStream_t stream, const Launch& launch, const TimingOptions& options = {});

/// A rough time per launch, without a graph; the host's if that is longer.
[[nodiscard]] double quick_time(gpuStream_t stream, const Launch& launch, int launches);

/// Median and 10th and 90th percentile of times per operation; `times` must not be empty.
[[nodiscard]] Timing summarise(std::vector<double> times);

/// A captured sequence of launches.
class Graph {
 public:
  Graph(gpuStream_t stream, const std::function<void()>& enqueue);
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph();
  void replay(gpuStream_t stream) const;

 private:
  gpuGraph_t graph_ = nullptr;
  gpuGraphExec_t executable_ = nullptr;
};

/// Device events, as many as asked for, destroyed with it.
class Events {
 public:
  explicit Events(std::size_t count);
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;
  ~Events();
  void record(std::size_t at, gpuStream_t stream) const;
  /// Seconds between two recorded events; waits for the later.
  [[nodiscard]] double between(std::size_t first, std::size_t second) const;

 private:
  std::vector<gpuEvent_t> events_;
};

}  // namespace ridge::measure
