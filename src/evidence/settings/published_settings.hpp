// How the servers of published measurements were started, where the publisher says it and the row does not.
//
//   PublishedSettings all = *load_published_settings("data");
//   const ServerSettings* s = find_settings(all, "inferencex-agg", query);   // nullptr: the engine's defaults
//   if (s != nullptr) apply(*s, query);
//
// They say how a scheduler works and what was sent, not how long a step takes: gathering is for the simulator alone.
// Values; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ridge/serve/simulation.hpp"

namespace ridge::evidence {

/// The first entry whose conditions all hold for a row is its own; an empty or zero condition always holds.
struct ServerSettings {
  std::string source;  ///< of the measurement begins so
  std::string engine;
  std::string model;
  std::string device;  ///< the id begins so
  std::string precision;
  std::string since;  ///< date of the measurement
  double isl = 0, osl = 0;
  int most_tp = 0;
  double least_concurrency = 0;

  double max_batched_tokens = 0;  ///< 0 = the engine's
  double tokens_beside_prompt =
      0;                          ///< a step takes a prompt, a token of each client and so many more; 0 = no such rule
  double max_sequences = 0;       ///< 0 = the engine's
  double memory_utilization = 0;  ///< share of the device that the engine may use; 0 = the engine's
  double requests = 0;            ///< sent in all; 0 = as the row says
  int poll_steps = 1;
  PromptGathering gathering;
};
using PublishedSettings = std::vector<ServerSettings>;

/// Refuses (bad_input, file:line:column) a missing column, a number out of range, an entry without a source.
Result<PublishedSettings> read_published_settings(std::string csv, const std::string& name);
/// data/evidence/published_settings.csv.
Result<PublishedSettings> load_published_settings(const std::string& data_directory);

[[nodiscard]] const ServerSettings* find_settings(const PublishedSettings& settings, std::string_view source,
                                                  const InferenceQuery& query);
void apply(const ServerSettings& settings, InferenceQuery& query);
void apply(const ServerSettings& settings, SimulationQuery& simulation);

}  // namespace ridge::evidence
