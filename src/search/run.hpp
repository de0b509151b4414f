// One run of a search: what is known is kept in a file, gone on with, shared out between processes and shards, and
// told.
//
//   Run run{.question = "train\n--model=...", .results = "plans.sqlite", .resume = true};
//   Result<RunOutcome> outcome = run_search(*quest.problem, run, watcher, nullptr);
//
// Whoever asks (a person, C, Python, a server) hands in who watches and who else searches; this file knows neither
// terminals nor MPI. Refuses what the file of results refuses, and a file of another question, or made with other data.
// One thread calls; the search takes as many as it is told.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ridge/base/result.hpp"
#include "search/problem.hpp"
#include "search/store.hpp"

namespace ridge::search {

/// Who is told how far a search is, and may end it with the best so far. Called by the thread that runs the search.
class Watcher {
 public:
  virtual ~Watcher() = default;
  virtual void show(double share, double plans) = 0;
  [[nodiscard]] virtual bool stopped() const = 0;
};

/// Processes that search together.
class Ranks {
 public:
  virtual ~Ranks() = default;
  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  /// 0, 1, 2, ...: each number goes to one rank.
  [[nodiscard]] virtual long next() const = 0;
  /// Every rank calls it; on rank 0 `take` gets the bytes of each.
  [[nodiscard]] virtual Status gather(const std::string& bytes,
                                      const std::function<void(const std::string&)>& take) const = 0;
};

struct Run {
  std::string question = {};      ///< the same text for the same space
  std::vector<Basis> basis = {};  ///< what the answer depends on beside it; only if there is a file
  std::string results = {};       ///< file.sqlite, or empty
  bool resume = false;
  bool exhaustive = false;
  int threads = 0;  ///< 0 = all cores
  int shard = 0, shards = 1;
};

struct RunStatistics {
  std::uint64_t size = 0;  ///< candidates of the space
  std::uint64_t evaluated = 0;
  std::uint64_t pruned = 0;
  double seconds = 0;
  int workers = 0;
  bool complete = true;
  double done_share = 1;  ///< of the space, where it is not
};

struct RunOutcome {
  SearchOutcome found;
  RunStatistics statistics;
  bool speaks = true;  ///< false: another rank answers
};

/// `ranks` may be null: this process is alone. Refuses (bad_input) shards of a run that ranks share out.
Result<RunOutcome> run_search(const Problem& problem, const Run& run, Watcher& watcher, const Ranks* ranks);

/// Refuses (bad_input, where = `file`) a search that is not of this problem, or was made with something else.
Status check_stored(const StoredSearch& stored, const std::string& file, const Problem& problem, const Run& run);

/// What one rank sends to the first: counts, whether it is complete, ranges, findings. Reading refuses (bad_input)
/// bytes that are none.
struct Share {
  Count count;
  bool complete = true;
  std::vector<Range> done;
  Findings findings;
};
[[nodiscard]] std::string write_share(const Share& share);
[[nodiscard]] Result<Share> read_share(const std::string& bytes);

}  // namespace ridge::search
