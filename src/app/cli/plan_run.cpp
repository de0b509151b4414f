#include "app/cli/plan_run.hpp"

#include <fmt/format.h>

#include <atomic>
#include <charconv>
#include <chrono>
#include <csignal>
#include <optional>
#include <thread>

#include "app/cli/progress.hpp"
#include "search/store.hpp"

namespace ridge::cli {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kBetweenCheckpoints{800};

std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler sets it");

extern "C" void interrupt(int) {
  interrupted = true;
}

/// While it lives, Ctrl-C and a polite end set `interrupted`; a second Ctrl-C ends the program as usual.
class Interruptible {
 public:
  Interruptible() {
    interrupted = false;
    struct sigaction action = {};
    action.sa_handler = interrupt;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigaction(SIGINT, &action, &before_int_);
    sigaction(SIGTERM, &action, &before_term_);
  }
  ~Interruptible() {
    sigaction(SIGINT, &before_int_, nullptr);
    sigaction(SIGTERM, &before_term_, nullptr);
  }
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

 private:
  struct sigaction before_int_ = {};
  struct sigaction before_term_ = {};
};

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

Result<PlanOutcome> run_search(const search::Problem& problem, const PlanRun& run, std::uint64_t setup_evaluations) {
  const Clock::time_point start = Clock::now();
  PlanOutcome out;
  std::optional<search::Store> store;
  search::SearchOptions options;
  options.prune = !run.exhaustive;
  options.threads = run.threads;
  options.range = shard(problem.all(), run.shard, run.shards);
  const std::uint64_t size = problem.all().size();
  if (!run.results.empty()) {
    Result<search::Store> opened = search::Store::open(run.results);
    if (!opened) return opened.error();
    store = *std::move(opened);
    if (!store->empty() && run.resume) {
      Result<search::StoredSearch> before = store->read();
      if (!before) return before.error();
      if (before->question != run.question || before->size != size) {
        return Error{ErrorCode::bad_input, run.results, "is of another question; leave out --resume to begin anew"};
      }
      options.known = std::move(before->findings);
      options.done = std::move(before->done);
    }
  }
  Progress progress("searching");
  const Interruptible interruptible;
  Clock::time_point last = start;
  Status written;
  options.observe = [&](const search::SearchState& state) {
    progress.show(static_cast<double>(state.finished) / static_cast<double>(std::max<std::uint64_t>(1, state.total)));
    if (store && Clock::now() - last > kBetweenCheckpoints) {
      written = store->write({run.question, size, state.findings, joined(state.done)});
      last = Clock::now();
    }
    return !interrupted && written.ok();
  };
  out.found = search::search(problem, options);
  if (!written) return written.error();
  if (store) {
    if (const Status s = store->write({run.question, size, out.found.findings, out.found.done}); !s) return s.error();
  }
  report::PlanStatistics& s = out.statistics;
  s.size = options.range.size();
  s.evaluated = out.found.count.evaluated + setup_evaluations;
  s.pruned = out.found.count.pruned;
  s.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  s.workers = run.threads > 0 ? run.threads : static_cast<int>(std::thread::hardware_concurrency());
  s.complete = out.found.complete;
  if (!s.complete) {
    std::uint64_t done = 0;
    for (const Range& range : out.found.done) done += overlap(range, options.range).size();
    s.stopped = fmt::format("interrupted after {:.0f} % of the space; this is the best so far{}",
                            100.0 * static_cast<double>(done) / static_cast<double>(std::max<std::uint64_t>(1, s.size)),
                            store ? ", and --resume goes on." : ".");
  }
  return out;
}

}  // namespace ridge::cli
