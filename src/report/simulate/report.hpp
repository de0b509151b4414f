// A serving simulation for people and for programs.
//
//   SimulationAnswer a{question, result, search};
//   print(simulation_page(a));
//   print(simulation_json(a).text());                    // docs/schema/simulate.json
//   write(simulation_html(a));                           // latency curves and timelines, no scripts
//
// Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/page/provenance.hpp"
#include "ridge/report/report.hpp"
#include "ridge/serve/simulation.hpp"

namespace ridge::report {

inline constexpr std::string_view kSimulateSchema = "ridge.simulate/1";

/// The same with another capacity of the first tier.
struct TierSize {
  double capacity = 0;      ///< bytes; 0 = without the tier
  double cached_share = 0;  ///< of the input that did not have to be computed
  double later_ttft_p95 = 0;
  double requests_per_s = 0;
  bool overloaded = false;
  double peak_bytes = 0;  ///< of the first tier, all engines together
};

struct SimulationAnswer {
  SimulationQuery query;  ///< with the layout that was chosen
  SimulationResult result;
  std::optional<RateSearch> search;      ///< of --find-rate; its result is `result`
  std::vector<TierSize> sizes;           ///< of --size-tiers, the smallest first
  std::vector<std::string> assumptions;  ///< of the question; the result has its own
  double load_share = 0;                 ///< of its capacity that was used (simulation_load.hpp); 0 = not known
  double wall_seconds = 0;               ///< under `statistics` alone
};

[[nodiscard]] Document simulation_page(const SimulationAnswer& answer);
[[nodiscard]] Json simulation_json(const SimulationAnswer& answer);
/// One row for each measure, its mean and percentiles; nothing is added of what was not measured.
[[nodiscard]] Table latencies_table(std::string title);
void add_latencies(Table& table, const char* what, const LatencyDistribution& distribution);
[[nodiscard]] Table latency_table(const SimulationAnswer& answer);
/// "10 requests/s", "32 clients", ...: what is sent.
[[nodiscard]] std::string offered_text(const OfferedLoad& load);
[[nodiscard]] Table timeline_table(const SimulationResult& result);
[[nodiscard]] std::string simulation_html(const SimulationAnswer& answer, const Provenance& provenance);
/// "llama3.1-70b on 8 × h100-sxm, TP 8, ... · chat, 12 requests/s".
[[nodiscard]] std::string simulation_title(const SimulationAnswer& answer);

/// Requests as CSV, line by line: times in seconds.
[[nodiscard]] std::string request_csv_header();
void append_request_csv(std::string& out, const RequestRecord& record);

/// Steps and requests for a trace viewer (the JSON format of Perfetto and Chrome).
class ViewerTrace {
 public:
  explicit ViewerTrace(std::size_t most_events = 200'000) : most_(most_events) {}
  void add(const StepRecord& steps);
  void add(const RequestRecord& request);
  [[nodiscard]] bool full() const { return events_ >= most_; }
  [[nodiscard]] std::string finish();

 private:
  void event(std::string_view text);
  void name_engine(std::uint32_t engine);
  std::string out_;
  std::vector<bool> named_;
  std::size_t events_ = 0;
  std::size_t most_;
};

}  // namespace ridge::report
