// Systems small enough to be known by heart, and the bundled data.
#pragma once

#include <string>
#include <vector>

#include "ridge/serve/simulation.hpp"
#include "serve/cluster.hpp"
#include "support/knowledge.hpp"

namespace ridge::testing_support {

/// A microsecond per step, whatever it works on; or growing with what it works on.
class ToyModel final : public serve::StepModel {
 public:
  explicit ToyModel(double per_sequence = 0, double per_token = 0, double per_prompt_token = 0)
      : per_sequence_(per_sequence), per_token_(per_token), per_prompt_token_(per_prompt_token) {}
  [[nodiscard]] perf::StepTime step(const perf::Step& s) const noexcept override {
    perf::StepTime t;
    t.seconds = 1e-6 + per_sequence_ * s.decode + per_token_ * s.decode * s.context + per_prompt_token_ * s.prefill;
    return t;
  }

 private:
  double per_sequence_;
  double per_token_;
  double per_prompt_token_;
};

inline serve::EngineShape toy_shape() {
  serve::EngineShape s;
  s.blocks = 1 << 24;
  s.max_sequences = 64;
  s.max_tokens = 2048;
  return s;
}

/// Keeps every request by its number.
class Recorder final : public SimulationObserver {
 public:
  void request(const RequestRecord& r) override {
    if (requests.size() <= r.id) requests.resize(r.id + 1);
    requests[r.id] = r;
  }
  std::vector<RequestRecord> requests;
};

struct ToySystem {
  SimulationQuery query;
  serve::EngineShape shape = toy_shape();
  ToyModel model;
  BatchingPolicy batching = BatchingPolicy::chunked;
  int engines = 1;

  SimulationResult run(SimulationObserver* observer = nullptr) const {
    serve::ClusterSetup setup;
    setup.pools.push_back({shape, &model, batching, serve::Engine::Role::whole, engines});
    SimulationResult result;
    serve::Cluster(query, setup, result, observer).run();
    return result;
  }
};

/// A workload of recorded requests.
inline Workload trace_of(std::vector<Trace::Request> requests) {
  Workload w = fixed_workload(1, 1);
  auto trace = std::make_shared<Trace>();
  trace->requests = std::move(requests);
  w.trace = std::move(trace);
  return w;
}

/// `count` requests with random gaps and lengths.
inline std::vector<Trace::Request> random_requests(int count, double mean_gap, std::uint32_t input,
                                                   std::uint32_t output, std::uint64_t seed) {
  Random random(seed);
  std::vector<Trace::Request> all;
  double now = 0;
  for (int i = 0; i < count; ++i) {
    Trace::Request r;
    now += mean_gap * random.exponential();
    r.arrival = now;
    r.input = 1 + static_cast<std::uint32_t>(random.below(2 * input));
    r.output = 1 + static_cast<std::uint32_t>(random.below(2 * output));
    all.push_back(r);
  }
  return all;
}

}  // namespace ridge::testing_support
