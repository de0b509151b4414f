#include "search/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <optional>
#include <thread>

namespace ridge::search {

namespace {

using RunClock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kBetweenCheckpoints{800};
constexpr std::size_t kTopOfRun = 8;
constexpr int kPiecesPerRank = 48;
constexpr std::uint64_t kMostRanges = 10'000'000;

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
StoredSearch blank(const Problem& problem, const Run& run) {
  StoredSearch out;
  out.question = run.question;
  out.basis = run.basis;
  out.size = problem.all().size();
  out.findings.top = kTopOfRun;
  out.findings.groups.resize(problem.groups());
  return out;
}

int cores() {
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

/// One run of one process: what is known, where it is kept, and who is told.
class SearchRun {
 public:
  SearchRun(const Problem& problem, const Run& run, Watcher& watcher, const Ranks* ranks)
      : problem_(problem), run_(run), watcher_(watcher), ranks_(ranks), kept_(blank(problem, run)) {}

  Result<RunOutcome> go() {
    if (ranks_ != nullptr && run_.shards > 1) {
      return Error{ErrorCode::bad_input, "shard", "mpirun shares out the space itself"};
    }
    if (const Status s = open(); !s) return s.error();
    whole_ = shard(problem_.all(), run_.shard, run_.shards);
    if (!run_.exhaustive && (ranks_ != nullptr || run_.shards > 1)) {
      kept_.findings = merge(std::move(kept_.findings), scout(problem_, kTopOfRun));
    }
    if (ranks_ != nullptr) {
      const int pieces = kPiecesPerRank * ranks_->size();
      for (long piece = ranks_->next(); piece < pieces && complete_; piece = ranks_->next()) {
        search_range(shard(whole_, static_cast<int>(piece), pieces));
      }
    } else {
      search_range(whole_);
    }
    if (!written_) return written_.error();
    if (const Status s = keep(); !s) return s.error();
    if (ranks_ != nullptr) {
      if (const Status s = gather(); !s) return s.error();
    }
    return outcome();
  }

 private:
  Status open() {
    if (run_.results.empty()) return {};
    std::vector<std::string> earlier = rank_files(run_.results);
    std::error_code absent;
    if (run_.resume) {
      if (std::filesystem::exists(run_.results, absent)) earlier.push_back(run_.results);
      for (const std::string& file : earlier) {
        const Result<Store> store = Store::open_existing(file);
        if (!store) return store.error();
        if (store->empty()) continue;
        const Result<StoredSearch> before = store->read();
        if (!before) return before.error();
        if (const Status s = check_stored(*before, file, problem_, run_); !s) return s;
        Result<StoredSearch> both = merge({kept_, *before}, {"this question", file});
        if (!both) return both.error();
        kept_ = *std::move(both);
      }
    } else if (ranks_ == nullptr || ranks_->rank() == 0) {
      for (const std::string& file : earlier) {
        // Somebody else's file of that name stays, and the run ends here.
        if (const Result<Store> ours = Store::open(file); !ours) return ours.error();
        std::filesystem::remove(file, absent);
      }
    }
    const std::string mine = ranks_ != nullptr ? rank_file(run_.results, ranks_->rank()) : run_.results;
    Result<Store> opened = Store::open(mine);
    if (!opened) return opened.error();
    store_ = *std::move(opened);
    return {};
  }

  void search_range(Range range) {
    SearchOptions options;
    options.top = kTopOfRun;
    options.prune = !run_.exhaustive;
    options.threads = run_.threads > 0 ? run_.threads : ranks_ != nullptr ? std::max(1, cores() / ranks_->size()) : 0;
    options.range = range;
    options.known = kept_.findings;
    options.done = kept_.done;
    options.observe = [&](const SearchState& state) {
      if (ranks_ == nullptr) {
        watcher_.show(
            static_cast<double>(state.finished) / static_cast<double>(std::max<std::uint64_t>(1, state.total)),
            static_cast<double>(state.count.evaluated + state.count.pruned));
      }
      if (store_ && RunClock::now() - last_ > kBetweenCheckpoints) {
        written_ = store_->write({run_.question, kept_.size, state.findings, joined(state.done), run_.basis});
        last_ = RunClock::now();
      }
      return !watcher_.stopped() && written_.ok();
    };
    SearchOutcome found = search(problem_, options);
    kept_.findings = std::move(found.findings);
    kept_.done = std::move(found.done);
    count_ += found.count;
    complete_ = complete_ && found.complete;
  }

  Status keep() { return store_ ? store_->write(kept_) : Status(); }

  /// Rank 0 gets what all found and keeps it in one file; those of the ranks go.
  Status gather() {
    StoredSearch all = kept_;
    Count count;
    bool complete = true;
    Status understood;
    store_.reset();
    const std::string mine = write_share({count_, complete_, kept_.done, kept_.findings});
    const Status gathered = ranks_->gather(mine, [&](const std::string& bytes) {
      Result<Share> theirs = read_share(bytes);
      if (!theirs || theirs->findings.groups.size() != all.findings.groups.size()) {
        understood = Error{ErrorCode::refused, "", "a rank sent what is no part of this search"};
        return;
      }
      count += theirs->count;
      complete = complete && theirs->complete;
      all.done.insert(all.done.end(), theirs->done.begin(), theirs->done.end());
      all.findings = merge(std::move(all.findings), theirs->findings);
    });
    if (!gathered) return gathered;
    if (ranks_->rank() != 0) return {};
    if (!understood) return understood;
    kept_ = std::move(all);
    kept_.done = joined(std::move(kept_.done));
    count_ = count;
    complete_ = complete;
    if (run_.results.empty()) return {};
    Result<Store> store = Store::open(run_.results);
    if (!store) return store.error();
    if (const Status s = store->write(kept_); !s) return s;
    std::error_code absent;
    for (const std::string& file : rank_files(run_.results)) std::filesystem::remove(file, absent);
    return {};
  }

  RunOutcome outcome() {
    RunOutcome out;
    out.speaks = ranks_ == nullptr || ranks_->rank() == 0;
    RunStatistics& s = out.statistics;
    s.size = whole_.size();
    s.evaluated = count_.evaluated;
    s.pruned = count_.pruned;
    s.seconds = std::chrono::duration<double>(RunClock::now() - start_).count();
    s.workers = run_.threads > 0 ? run_.threads : cores();
    s.complete = complete_;
    if (!complete_) {
      std::uint64_t done = 0;
      for (const Range& range : kept_.done) done += overlap(range, whole_).size();
      s.done_share = static_cast<double>(done) / static_cast<double>(std::max<std::uint64_t>(1, s.size));
    }
    out.found.findings = std::move(kept_.findings);
    out.found.done = std::move(kept_.done);
    out.found.count = count_;
    out.found.complete = complete_;
    return out;
  }

  const Problem& problem_;
  const Run& run_;
  Watcher& watcher_;
  const Ranks* ranks_;
  std::optional<Store> store_;
  StoredSearch kept_;
  Count count_;
  bool complete_ = true;
  Status written_;
  Range whole_;
  const RunClock::time_point start_ = RunClock::now();
  RunClock::time_point last_ = start_;
};

}  // namespace

Result<RunOutcome> run_search(const Problem& problem, const Run& run, Watcher& watcher, const Ranks* ranks) {
  return SearchRun(problem, run, watcher, ranks).go();
}

Status check_stored(const StoredSearch& stored, const std::string& file, const Problem& problem, const Run& run) {
  std::vector<Range> ranges;
  for (std::size_t g = 0; g < problem.groups(); ++g) ranges.push_back(problem.range(g));
  return check_same(stored, file, blank(problem, run), ranges);
}

std::string write_share(const Share& share) {
  const std::uint64_t numbers[] = {share.count.evaluated, share.count.pruned, share.complete ? 1u : 0u,
                                   share.done.size()};
  std::string out(reinterpret_cast<const char*>(numbers), sizeof numbers);
  out.append(reinterpret_cast<const char*>(share.done.data()), share.done.size() * sizeof(Range));
  return out + write_findings(share.findings);
}

Result<Share> read_share(const std::string& bytes) {
  const Error none{ErrorCode::bad_input, "", "these bytes are no part of a search"};
  std::uint64_t numbers[4] = {};
  if (bytes.size() < sizeof numbers) return none;
  std::memcpy(numbers, bytes.data(), sizeof numbers);
  if (numbers[2] > 1 || numbers[3] > kMostRanges || bytes.size() - sizeof numbers < numbers[3] * sizeof(Range)) {
    return none;
  }
  Share share{{numbers[0], numbers[1]}, numbers[2] == 1, std::vector<Range>(numbers[3]), {}};
  std::memcpy(share.done.data(), bytes.data() + sizeof numbers, share.done.size() * sizeof(Range));
  share.findings = read_findings(bytes.substr(sizeof numbers + share.done.size() * sizeof(Range)));
  return share;
}

}  // namespace ridge::search
