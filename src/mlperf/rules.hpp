// The rules by which published rows are repaired. Each has a name, a sentence, and rows it touched.
#pragma once

#include <string>
#include <vector>

#include "ridge/mlperf/mlperf.hpp"

namespace ridge::mlperf {

/// In the order in which they are applied; index into rules().
enum class Rule : std::uint16_t {
  other_suite,
  repeated_power_row,
  watts_row,
  interactive_offline_rerun,
  no_accelerator,
  accelerator_alias,
  unknown_accelerator,
  memory_from_platform,
  sockets_are_not_nodes,
  per_node_is_total,
  nodes_times_per_node,
  count_in_name,
  benchmark_alias,
  interactive_is_a_scenario,
  whisper_counts_tokens,
  llama2_offline_counts_tokens,
  llama2_server_from_log,
  interactive_counts_tokens,
  label_against_log,
  gptj_samples_to_tokens,
  server_counts_scheduled,
  power_tuned,
  virtualised,
  availability_spelling,
  format_spelling,
  copied_99,
};
inline constexpr std::size_t kRules = 26;

/// Scenario as written in results ("offline", "Server"), or empty.
[[nodiscard]] std::string scenario_of(std::string_view text);
/// "Samples/s" to "samples/s", "Latency (ms)" to "ms"; empty if unknown.
[[nodiscard]] std::string unit_of(std::string_view text);

}  // namespace ridge::mlperf
