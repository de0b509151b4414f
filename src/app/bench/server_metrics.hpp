// What a server says of itself in /metrics (Prometheus' text), where its names are known.
//
//   MetricsSampler sampler;
//   if (!sampler.add(page)) ...;                 // nothing that is known stands there
//   sampler.result().mean_running;
//
// One thread.
#pragma once

#include <optional>
#include <string_view>

#include "app/bench/load_run.hpp"

namespace ridge::bench {

struct MetricsPage {
  std::string kind;
  double running = 0, waiting = 0;
  std::optional<double> kv;
  double ttft_sum = 0, ttft_count = 0;  ///< of the histogram of times to the first token
  double gap_sum = 0, gap_count = 0;    ///< and between tokens
};
/// Nothing if no known name stands there. Values of several labels are added, shares averaged.
[[nodiscard]] std::optional<MetricsPage> read_metrics_page(std::string_view text);

class MetricsSampler {
 public:
  bool add(std::string_view page);
  [[nodiscard]] const ServerMetrics& result() const { return result_; }

 private:
  ServerMetrics result_;
};

}  // namespace ridge::bench
