// Runs a search for `ridge plan`: progress, Ctrl-C, checkpoints, shards, ranks.
#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "report/plan_report.hpp"
#include "ridge/result.hpp"
#include "search/problem.hpp"
#include "search/store.hpp"

namespace ridge::cli {

struct PlanRun {
  std::string question;                   ///< the same text for the same space
  std::vector<search::Basis> basis = {};  ///< what the answer depends on beside it; only if there is a file
  std::string results;                    ///< file.sqlite, or empty
  bool resume = false;
  bool exhaustive = false;
  int threads = 0;
  int shard = 0, shards = 1;
  std::function<bool()> stopped = {};   ///< whether to end with the best so far
  bool unwatched = false;               ///< nobody watches the terminal
  std::atomic<double>* told = nullptr;  ///< who hears how far the search is
};

struct PlanOutcome {
  search::SearchOutcome found;
  report::PlanStatistics statistics;
  bool speaks = true;  ///< false: another rank prints
};

/// Refuses what the file of results refuses, and a file of another question, or made with other data.
Result<PlanOutcome> run_search(const search::Problem& problem, const PlanRun& run, std::uint64_t setup_evaluations);

/// Refuses (bad_input, where = `file`) a search that is not of this problem, or was made with something else.
Status check_stored(const search::StoredSearch& stored, const std::string& file, const search::Problem& problem,
                    const PlanRun& run);

/// Whether this process may speak: it is alone, or rank 0.
[[nodiscard]] bool is_first_rank();

/// "2/8" → {2, 8}. Refuses others.
Status parse_shard(const std::string& text, PlanRun& run);

}  // namespace ridge::cli
