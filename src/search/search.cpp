// The driver: workers take batches of blocks, best floors first, and share what they found so far.
#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <numeric>

#include "base/parallel.hpp"
#include "ridge/base/limits.hpp"
#include "search/problem.hpp"

namespace ridge::search {

namespace {

/// Candidates of one batch, about: a millisecond of work between two looks at what others found.
constexpr std::uint64_t kBatch = 1024;

/// Blocks of one group in the order in which they are visited.
struct GroupWork {
  std::once_flag opened;
  std::vector<std::uint32_t> order;
  std::atomic<std::size_t> next{0};
};

/// Blocks of the group that reach into [begin, end), in their order.
std::vector<std::uint32_t> first_blocks(const Problem& problem, std::size_t group, std::uint64_t begin,
                                        std::uint64_t end) {
  std::vector<std::uint32_t> all(problem.blocks(group));
  std::iota(all.begin(), all.end(), 0u);
  const auto from = std::partition_point(all.begin(), all.end(),
                                         [&](std::uint32_t b) { return problem.range(group, b).end <= begin; });
  const auto to =
      std::partition_point(from, all.end(), [&](std::uint32_t b) { return problem.range(group, b).begin < end; });
  return {from, to};
}

/// The same blocks, the most promising ones first.
std::vector<std::uint32_t> by_floor(const Problem& problem, std::size_t group, std::vector<std::uint32_t> blocks) {
  struct Promise {
    double violation, value;
    std::uint32_t block;
  };
  std::vector<Promise> promises;
  promises.reserve(blocks.size());
  for (const std::uint32_t b : blocks) {
    const Floor floor = problem.floor(group, b);
    promises.push_back({floor.violation, floor.criteria[0], b});
  }
  std::sort(promises.begin(), promises.end(), [](const Promise& a, const Promise& b) {
    if (a.violation != b.violation) return a.violation < b.violation;
    return a.value != b.value ? a.value < b.value : a.block < b.block;
  });
  std::transform(promises.begin(), promises.end(), blocks.begin(), [](const Promise& p) { return p.block; });
  return blocks;
}

class Driver {
 public:
  Driver(const Problem& problem, const SearchOptions& options)
      : problem_(problem),
        options_(options),
        range_(options.range.size() > 0 ? options.range : problem.all()),
        work_(problem.groups()) {
    for (std::size_t g = 0; g < work_.size(); ++g) work_[g] = std::make_unique<GroupWork>();
    todo_ = without(range_, options.done);
    if (todo_.empty()) work_.clear();
    outcome_.findings = options.known;
    outcome_.findings.top = options.top;
    outcome_.findings.groups.resize(problem.groups());
    outcome_.done = options.done;
    std::uint64_t left = 0;
    for (const Range& range : todo_) left += range.size();
    total_ = range_.size();
    finished_ = total_ - left;
  }

  SearchOutcome run() {
    const int threads = std::min(options_.threads, static_cast<int>(limits::kThreads.most));
    const int workers = threads > 0 ? threads : usable_cores();
    parallel_for(static_cast<std::size_t>(workers), threads, [&](std::size_t) { worker(); });
    outcome_.done = joined(std::move(outcome_.done));
    outcome_.complete = !stopped_;
    for (Harvest& harvest : outcome_.findings.groups) {
      std::sort(harvest.front.begin(), harvest.front.end(),
                [](const Scored& a, const Scored& b) { return a.index < b.index; });
    }
    return std::move(outcome_);
  }

 private:
  void worker() {
    for (std::size_t group = 0; group < work_.size() && !stopped_; ++group) {
      if (!touched(problem_.range(group))) continue;
      GroupWork& work = *work_[group];
      std::call_once(work.opened, [&] { open(group); });
      while (!stopped_) {
        const std::size_t first = work.next.fetch_add(stride(group));
        if (first >= work.order.size()) break;
        batch(group, first, std::min(first + stride(group), work.order.size()));
      }
    }
  }

  [[nodiscard]] bool touched(Range range) const {
    return std::any_of(todo_.begin(), todo_.end(), [&](const Range& r) { return overlap(r, range).size() > 0; });
  }

  [[nodiscard]] std::size_t stride(std::size_t group) const {
    const std::uint64_t each = problem_.range(group).size() / std::max<std::size_t>(1, problem_.blocks(group));
    return static_cast<std::size_t>(std::max<std::uint64_t>(1, kBatch / std::max<std::uint64_t>(1, each)));
  }

  void open(std::size_t group) {
    GroupWork& work = *work_[group];
    const std::vector<std::uint32_t> first = first_blocks(problem_, group, todo_.front().begin, todo_.back().end);
    work.order = options_.prune ? by_floor(problem_, group, first) : first;
  }

  void batch(std::size_t group, std::size_t first, std::size_t last) {
    const std::vector<std::uint32_t>& order = work_[group]->order;
    Harvest mine;
    {
      const std::lock_guard lock(mutex_);
      mine = outcome_.findings.groups[group];
    }
    Count count;
    std::vector<Range> done;
    for (std::size_t i = first; i < last; ++i) {
      const Range block = problem_.range(group, order[i]);
      const bool skip = options_.prune && hopeless(problem_.floor(group, order[i]), mine, options_.top);
      for (const Range& wanted : todo_) {
        const Range part = overlap(block, wanted);
        if (part.size() == 0) continue;
        if (skip) {
          count.pruned += part.size();
        } else {
          problem_.walk(group, order[i], part, options_.prune, options_.top, mine, count);
        }
        done.push_back(part);
      }
    }
    const std::lock_guard lock(mutex_);
    merge_into(outcome_.findings.groups[group], mine, options_.top);
    outcome_.count += count;
    for (const Range& range : done) {
      finished_ += range.size();
      outcome_.done.push_back(range);
    }
    if (outcome_.done.size() > kJoinAt) outcome_.done = joined(std::move(outcome_.done));
    if (options_.observe && !options_.observe({outcome_.findings, outcome_.done, outcome_.count, finished_, total_})) {
      stopped_ = true;
    }
  }

  static constexpr std::size_t kJoinAt = 65536;

  const Problem& problem_;
  const SearchOptions& options_;
  const Range range_;
  std::vector<Range> todo_;
  std::vector<std::unique_ptr<GroupWork>> work_;
  std::mutex mutex_;
  std::atomic<bool> stopped_{false};
  SearchOutcome outcome_;
  std::uint64_t finished_ = 0;
  std::uint64_t total_ = 0;
};

}  // namespace

Range Problem::all() const {
  return groups() == 0 ? Range{} : Range{range(0).begin, range(groups() - 1).end};
}

bool hopeless(const Floor& floor, const Harvest& harvest, std::size_t top) {
  if (harvest.best.size() < top) return false;
  const Scored& worst = harvest.best.back();
  const bool cannot_rank = floor.violation > worst.violation ||
                           (floor.violation == worst.violation && floor.criteria[0] > worst.criteria[0]);
  if (!cannot_rank) return false;
  if (floor.violation > 0) return true;  // the front has only what meets the goal
  // Dominated strictly by one point: then everything above the floor is.
  return std::any_of(harvest.front.begin(), harvest.front.end(), [&](const Scored& s) {
    bool less = false;
    for (std::size_t i = 0; i < kMostCriteria; ++i) {
      if (s.criteria[i] > floor.criteria[i]) return false;
      less = less || s.criteria[i] < floor.criteria[i];
    }
    return less;
  });
}

Findings scout(const Problem& problem, std::size_t top) {
  constexpr std::uint64_t kLook = 4096;  // candidates of each group
  Findings findings;
  findings.top = top;
  findings.groups.resize(problem.groups());
  const Range all = problem.all();
  for (std::size_t g = 0; g < problem.groups(); ++g) {
    Count count;
    for (const std::uint32_t b : by_floor(problem, g, first_blocks(problem, g, all.begin, all.end))) {
      problem.walk(g, b, problem.range(g, b), true, top, findings.groups[g], count);
      if (count.evaluated >= kLook) break;
    }
  }
  return findings;
}

SearchOutcome search(const Problem& problem, const SearchOptions& options) {
  return Driver(problem, options).run();
}

}  // namespace ridge::search
