#include "app/cli/plan_run.hpp"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <thread>

#include "app/cli/progress.hpp"
#include "app/cli/ranks.hpp"
#include "search/store.hpp"

namespace ridge::cli {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kBetweenCheckpoints{800};

}  // namespace

Status parse_shard(const std::string& text, PlanRun& run) {
  const char* end = text.data() + text.size();
  const auto part = std::from_chars(text.data(), end, run.shard);
  const bool slash = part.ec == std::errc() && part.ptr != end && *part.ptr == '/';
  const auto parts = slash ? std::from_chars(part.ptr + 1, end, run.shards) : part;
  if (!slash || parts.ec != std::errc() || parts.ptr != end || run.shards < 1 || run.shard < 0 ||
      run.shard >= run.shards) {
    return Error{ErrorCode::bad_input, "--shard", "write which part of how many, from 0: 2/8"};
  }
  return {};
}

namespace {

constexpr std::size_t kTop = 8;
constexpr int kPiecesPerRank = 48;

/// "run.sqlite" of rank 2 → "run.rank-2.sqlite".
std::string rank_file(const std::string& results, int rank) {
  const std::size_t dot = results.rfind('.');
  return fmt::format("{}.rank-{}{}", results.substr(0, dot), rank, results.substr(dot));
}

/// Files of the same question that a run of several ranks left.
std::vector<std::string> rank_files(const std::string& results) {
  std::vector<std::string> found;
  std::error_code absent;
  for (int rank = 0; std::filesystem::exists(rank_file(results, rank), absent) || rank < 1024; ++rank) {
    if (std::filesystem::exists(rank_file(results, rank), absent)) found.push_back(rank_file(results, rank));
  }
  return found;
}

/// A search of this problem that has not begun.
search::StoredSearch blank(const search::Problem& problem, const PlanRun& run) {
  search::StoredSearch out;
  out.question = run.question;
  out.basis = run.basis;
  out.size = problem.all().size();
  out.findings.top = kTop;
  out.findings.groups.resize(problem.groups());
  return out;
}

/// One run of one process: what is known, where it is kept, and who is told.
class Runner {
 public:
  Runner(const search::Problem& problem, const PlanRun& run)
      : problem_(problem), run_(run), kept_(blank(problem, run)) {}

  Result<PlanOutcome> go(std::uint64_t setup_evaluations) {
    Result<std::unique_ptr<Ranks>> joined_ranks = Ranks::join();
    if (!joined_ranks) return joined_ranks.error();
    ranks_ = *std::move(joined_ranks);
    if (ranks_ && run_.shards > 1) return Error{ErrorCode::bad_input, "--shard", "mpirun shares out the space itself"};
    if (const Status s = open(); !s) return s.error();
    whole_ = shard(problem_.all(), run_.shard, run_.shards);
    if (!run_.exhaustive && (ranks_ || run_.shards > 1)) {
      kept_.findings = merge(std::move(kept_.findings), search::scout(problem_, kTop));
    }
    if (ranks_) {
      const int pieces = kPiecesPerRank * ranks_->size();
      for (long piece = ranks_->next(); piece < pieces && complete_; piece = ranks_->next()) {
        search_range(shard(whole_, static_cast<int>(piece), pieces));
      }
    } else {
      search_range(whole_);
    }
    if (!written_) return written_.error();
    if (const Status s = keep(); !s) return s.error();
    if (ranks_) {
      if (const Status s = gather(); !s) return s.error();
    }
    return outcome(setup_evaluations);
  }

 private:
  Status open() {
    if (run_.results.empty()) return {};
    std::vector<std::string> earlier = rank_files(run_.results);
    std::error_code absent;
    if (run_.resume) {
      if (std::filesystem::exists(run_.results, absent)) earlier.push_back(run_.results);
      for (const std::string& file : earlier) {
        const Result<search::Store> store = search::Store::open_existing(file);
        if (!store) return store.error();
        if (store->empty()) continue;
        const Result<search::StoredSearch> before = store->read();
        if (!before) return before.error();
        if (const Status s = check_stored(*before, file, problem_, run_); !s) return s;
        Result<search::StoredSearch> both = search::merge({kept_, *before}, {"this question", file});
        if (!both) return both.error();
        kept_ = *std::move(both);
      }
    } else if (!ranks_ || ranks_->rank() == 0) {
      for (const std::string& file : earlier) {
        // Somebody else's file of that name stays, and the run ends here.
        if (const Result<search::Store> ours = search::Store::open(file); !ours) return ours.error();
        std::filesystem::remove(file, absent);
      }
    }
    const std::string mine = ranks_ ? rank_file(run_.results, ranks_->rank()) : run_.results;
    Result<search::Store> opened = search::Store::open(mine);
    if (!opened) return opened.error();
    store_ = *std::move(opened);
    return {};
  }

  void search_range(Range range) {
    search::SearchOptions options;
    options.top = kTop;
    options.prune = !run_.exhaustive;
    options.threads = run_.threads > 0 ? run_.threads : ranks_ ? std::max(1, cores() / ranks_->size()) : 0;
    options.range = range;
    options.known = kept_.findings;
    options.done = kept_.done;
    options.observe = [&](const search::SearchState& state) {
      if (!ranks_) {
        progress_.show(
            static_cast<double>(state.finished) / static_cast<double>(std::max<std::uint64_t>(1, state.total)),
            static_cast<double>(state.count.evaluated + state.count.pruned), "plans");
      }
      if (store_ && Clock::now() - last_ > kBetweenCheckpoints) {
        written_ = store_->write({run_.question, kept_.size, state.findings, joined(state.done), run_.basis});
        last_ = Clock::now();
      }
      return !(run_.stopped && run_.stopped()) && written_.ok();
    };
    search::SearchOutcome found = search::search(problem_, options);
    kept_.findings = std::move(found.findings);
    kept_.done = std::move(found.done);
    count_ += found.count;
    complete_ = complete_ && found.complete;
  }

  Status keep() { return store_ ? store_->write(kept_) : Status(); }

  /// Rank 0 gets what all found and keeps it in one file; those of the ranks go.
  Status gather() {
    std::string mine;
    const std::uint64_t numbers[] = {count_.evaluated, count_.pruned, complete_ ? 1u : 0u, kept_.done.size()};
    mine.append(reinterpret_cast<const char*>(numbers), sizeof numbers);
    mine.append(reinterpret_cast<const char*>(kept_.done.data()), kept_.done.size() * sizeof(Range));
    mine += search::write_findings(kept_.findings);
    search::StoredSearch all = kept_;
    search::Count count;
    bool complete = true;
    store_.reset();
    const Status gathered = ranks_->gather(mine, [&](const std::string& bytes) {
      std::uint64_t theirs[4] = {};
      std::memcpy(theirs, bytes.data(), sizeof theirs);
      count += {theirs[0], theirs[1]};
      complete = complete && theirs[2] == 1;
      std::vector<Range> done(theirs[3]);
      std::memcpy(done.data(), bytes.data() + sizeof theirs, done.size() * sizeof(Range));
      all.done.insert(all.done.end(), done.begin(), done.end());
      all.findings = merge(std::move(all.findings),
                           search::read_findings(bytes.substr(sizeof theirs + done.size() * sizeof(Range))));
    });
    if (!gathered) return gathered;
    if (ranks_->rank() != 0) return {};
    kept_ = std::move(all);
    kept_.done = joined(std::move(kept_.done));
    count_ = count;
    complete_ = complete;
    if (run_.results.empty()) return {};
    Result<search::Store> store = search::Store::open(run_.results);
    if (!store) return store.error();
    if (const Status s = store->write(kept_); !s) return s;
    std::error_code absent;
    for (const std::string& file : rank_files(run_.results)) std::filesystem::remove(file, absent);
    return {};
  }

  PlanOutcome outcome(std::uint64_t setup_evaluations) {
    PlanOutcome out;
    out.speaks = !ranks_ || ranks_->rank() == 0;
    report::PlanStatistics& s = out.statistics;
    s.size = whole_.size();
    s.evaluated = count_.evaluated + setup_evaluations;
    s.pruned = count_.pruned;
    s.seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    s.workers = run_.threads > 0 ? run_.threads : cores();
    s.complete = complete_;
    if (!complete_) {
      std::uint64_t done = 0;
      for (const Range& range : kept_.done) done += overlap(range, whole_).size();
      const double share = static_cast<double>(done) / static_cast<double>(std::max<std::uint64_t>(1, s.size));
      s.stopped = fmt::format("interrupted after {:.0f} % of the space; this is the best so far{}", 100 * share,
                              run_.results.empty() ? "." : ", and --resume goes on.");
    }
    out.found.findings = std::move(kept_.findings);
    out.found.done = std::move(kept_.done);
    out.found.count = count_;
    out.found.complete = complete_;
    return out;
  }

  static int cores() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

  const search::Problem& problem_;
  const PlanRun& run_;
  std::unique_ptr<Ranks> ranks_;
  std::optional<search::Store> store_;
  search::StoredSearch kept_;
  search::Count count_;
  bool complete_ = true;
  Status written_;
  Range whole_;
  Progress progress_{"searching", run_.unwatched ? nullptr : stderr, run_.told};
  const Clock::time_point start_ = Clock::now();
  Clock::time_point last_ = start_;
};

}  // namespace

Result<PlanOutcome> run_search(const search::Problem& problem, const PlanRun& run, std::uint64_t setup_evaluations) {
  return Runner(problem, run).go(setup_evaluations);
}

Status check_stored(const search::StoredSearch& stored, const std::string& file, const search::Problem& problem,
                    const PlanRun& run) {
  std::vector<Range> ranges;
  for (std::size_t g = 0; g < problem.groups(); ++g) ranges.push_back(problem.range(g));
  return search::check_same(stored, file, blank(problem, run), ranges);
}

bool is_first_rank() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"}) {
    const char* text = std::getenv(name);
    if (text != nullptr && *text != '\0') return std::string_view(text) == "0";
  }
  return true;
}

}  // namespace ridge::cli
