// The counters of a server under the names that vLLM gives them, so that dashboards, autoscalers and routers that read
// vLLM read this.
//
//   Metrics metrics("llama3.1-8b");
//   metrics.first_token(0.12);
//   std::string text = metrics.text(state);           // Prometheus' text format
//
// One thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ridge/serve/live.hpp"

namespace ridge::emulate {

class Histogram {
 public:
  explicit Histogram(std::span<const double> edges) : edges_(edges), counts_(edges.size() + 1, 0) {}
  void add(double value);
  void append(std::string& out, std::string_view name, std::string_view help, const std::string& labels) const;

 private:
  std::span<const double> edges_;
  std::vector<std::uint64_t> counts_;
  double sum_ = 0;
};

class Metrics {
 public:
  explicit Metrics(const std::string& model);

  void first_token(double seconds) { ttft_.add(seconds); }
  void gap(double seconds) { gaps_.add(seconds); }
  void ended(const RequestRecord& record, LiveEnd end, double e2e_seconds);
  void rejected() { ++rejected_; }
  void late(double seconds) { late_.add(static_cast<std::int64_t>(seconds * kTicksPerSecond)); }
  /// How late events were handled: what this machine adds to the predicted times.
  [[nodiscard]] const LatencyDistribution& lateness() const { return late_; }
  [[nodiscard]] std::uint64_t finished() const { return finished_; }
  [[nodiscard]] std::uint64_t generated() const { return generated_; }
  [[nodiscard]] std::string text(const LiveState& state) const;

 private:
  std::string labels_;
  Histogram ttft_, gaps_, e2e_;
  LatencyDistribution late_;
  std::uint64_t finished_ = 0, cancelled_ = 0, failed_ = 0, rejected_ = 0;
  std::uint64_t prompt_ = 0, generated_ = 0, cached_ = 0, queried_ = 0;
};

}  // namespace ridge::emulate
