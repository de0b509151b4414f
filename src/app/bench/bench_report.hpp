// What was measured, beside what was predicted, for people and for programs.
//
//   BenchAnswer a{setup.query, measured, predicted};
//   print(bench_page(a)); print(bench_json(a).text());            // docs/schema/bench.json
//   write(vllm_json(a));                                          // as `vllm bench serve --save-result` writes
//   write(evidence_csv(a, "mine"));                               // a row of data/evidence
//
// Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/bench/load_run.hpp"
#include "ridge/report/report.hpp"

namespace ridge::bench {

inline constexpr std::string_view kBenchSchema = "ridge.bench/1";

struct BenchAnswer {
  SimulationQuery query;
  BenchResult measured;
  std::optional<SimulationResult> predicted;
  std::string date;
  std::string plan_title;  ///< of what was predicted
  std::vector<std::string> assumptions;
  bool chat = false;
};

/// One figure of both.
struct Compared {
  std::string key;  ///< "ttft_p50"
  std::string what;
  bool is_time = true;
  double measured = 0;
  Interval predicted;
  [[nodiscard]] bool inside() const { return measured >= predicted.low && measured <= predicted.high; }
};
/// Empty without a prediction.
[[nodiscard]] std::vector<Compared> compare(const BenchAnswer& answer);
/// Why the two may differ: which assumption, which flag of the server.
[[nodiscard]] std::vector<std::string> reasons(const BenchAnswer& answer);
/// Whether every figure lies in its interval.
[[nodiscard]] bool all_inside(const BenchAnswer& answer);
/// Seconds at p99 that this client made times longer by, or requests late.
[[nodiscard]] double client_delay(const BenchResult& measured);
/// The client was slower than what it measured; empty if it was not.
[[nodiscard]] std::string client_limit(const BenchResult& measured);

[[nodiscard]] Document bench_page(const BenchAnswer& answer);
[[nodiscard]] Json bench_json(const BenchAnswer& answer);
[[nodiscard]] Json vllm_json(const BenchAnswer& answer);

/// The header of data/evidence/inference.csv and one row of it. Refuses (refused) a load that is no closed loop of
/// fixed lengths, and a measurement without a plan that says what ran.
[[nodiscard]] std::string evidence_header();
Result<std::string> evidence_row(const BenchAnswer& answer, const std::string& id, const std::string& source);

}  // namespace ridge::bench
