// DualPipe: micro-batches enter at both ends of the pipeline, each rank holds a stage of either direction, and weight
// gradients wait where another rank waits for the gradient of inputs (DeepSeek-V3, arXiv 2412.19437, figure 5).
#include "perf/pipeline/dualpipe.hpp"

#include <algorithm>
#include <array>
#include <deque>

namespace ridge {
namespace {

constexpr double kNotDone = -1;

enum class Piece : std::uint8_t { forward, backward, input_gradient, weight_gradient };
struct DualTask {
  Piece piece = Piece::forward;
  int direction = 0;
  bool with_next = false;  ///< mixed with the task after it: neither ends before both do
};

class DualPipe {
 public:
  explicit DualPipe(const PipelineShape& shape) : s_(shape), half_(shape.micro_batches / 2) {
    weight_ = std::min(s_.weight_gradient, s_.backward);
    const auto all = static_cast<std::size_t>(2 * s_.stages * half_);
    forward_end_.assign(all, kNotDone);
    backward_end_.assign(all, kNotDone);
  }

  std::vector<TimelineEvent> run() {
    std::vector<Rank> ranks;
    for (int rank = 0; rank < s_.stages; ++rank) ranks.push_back({order_of(rank)});
    // Work of one rank follows from that of its neighbours: go round until nobody has any left.
    for (bool moved = true; moved;) {
      moved = false;
      for (int rank = 0; rank < s_.stages; ++rank) {
        while (step(rank, ranks[static_cast<std::size_t>(rank)])) moved = true;
      }
    }
    std::stable_sort(events_.begin(), events_.end(),
                     [](const TimelineEvent& a, const TimelineEvent& b) { return a.start < b.start; });
    return std::move(events_);
  }

 private:
  struct Waiting {
    int direction, micro_batch;
  };
  struct Rank {
    std::vector<DualTask> order;
    std::size_t next = 0;
    double free = 0;
    std::array<int, 2> forward{};   ///< micro-batches of either direction that have begun
    std::array<int, 2> backward{};  ///< and that have gone back
    std::deque<Waiting> waiting{};  ///< weight gradients put off
    [[nodiscard]] int next_of(const DualTask& task) const {
      return (task.piece == Piece::forward ? forward : backward)[static_cast<std::size_t>(task.direction)];
    }
  };

  [[nodiscard]] std::size_t slot(int rank, int direction, int micro_batch) const {
    return static_cast<std::size_t>((direction * half_ + micro_batch) * s_.stages + rank);
  }

  /// The eight parts of the schedule; `near` is the direction that enters on this rank's side.
  [[nodiscard]] std::vector<DualTask> order_of(int rank) const {
    const bool second = rank >= s_.stages / 2;
    const int near = second ? 1 : 0;
    const int far = 1 - near;
    const int depth = std::min(rank, s_.stages - 1 - rank);
    const int to_middle = s_.stages / 2 - depth - 1;
    std::vector<DualTask> order;
    const auto add = [&](Piece piece, int direction) { order.push_back({piece, direction}); };
    const auto mix = [&](int forward, int backward) {
      order.push_back({Piece::forward, forward, true});
      order.push_back({Piece::backward, backward});
    };
    const auto repeat = [](int times, auto&& what) {
      for (int i = 0; i < times; ++i) what(i);
    };
    repeat(2 * to_middle, [&](int) { add(Piece::forward, near); });
    repeat(depth + 1, [&](int) {
      add(Piece::forward, near);
      add(Piece::forward, far);
    });
    repeat(to_middle, [&](int) {
      add(Piece::input_gradient, far);
      add(Piece::weight_gradient, far);
      add(Piece::forward, far);
    });
    repeat(half_ - s_.stages + depth + 1, [&](int) {
      mix(near, far);
      mix(far, near);
    });
    repeat(to_middle, [&](int) {
      add(Piece::backward, far);
      mix(far, near);
    });
    // From the middle of this part on, weight gradients are put off.
    const int ending = depth + 1;
    repeat(ending, [&](int i) {
      add(2 * i < ending ? Piece::backward : Piece::input_gradient, far);
      add(2 * i + 1 < ending ? Piece::backward : Piece::input_gradient, near);
    });
    repeat(to_middle, [&](int) {
      add(Piece::weight_gradient, near);
      add(Piece::input_gradient, near);
    });
    repeat(depth + 1, [&](int) { add(Piece::weight_gradient, near); });
    return order;
  }

  /// When what the task needs is there, or kNotDone.
  [[nodiscard]] double ready_at(int rank, const DualTask& task, int micro_batch) const {
    const int onward = task.direction == 0 ? 1 : -1;
    const int first = task.direction == 0 ? 0 : s_.stages - 1;
    const int last = s_.stages - 1 - first;
    if (task.piece == Piece::forward) {
      return rank == first ? 0 : forward_end_[slot(rank - onward, task.direction, micro_batch)];
    }
    return rank == last ? forward_end_[slot(rank, task.direction, micro_batch)]
                        : backward_end_[slot(rank + onward, task.direction, micro_batch)];
  }

  void place(Rank& r, int rank, int direction, int micro_batch, PipelineWork work, double start, double seconds) {
    events_.push_back({rank, direction, direction * half_ + micro_batch, work, start, seconds});
    r.free = start + seconds;
  }

  bool step(int rank, Rank& r) {
    if (r.next >= r.order.size()) return false;
    const DualTask& task = r.order[r.next];
    if (task.piece == Piece::weight_gradient) {
      ++r.next;
      const Waiting w = r.waiting.front();
      r.waiting.pop_front();
      place(r, rank, w.direction, w.micro_batch, PipelineWork::weight_gradient, r.free, weight_);
      return true;
    }
    const std::size_t count = task.with_next ? 2 : 1;
    double start = r.free;
    for (std::size_t i = 0; i < count; ++i) {
      const DualTask& part = r.order[r.next + i];
      const double ready = ready_at(rank, part, r.next_of(part));
      if (ready == kNotDone) return false;
      start = std::max(start, ready);
    }
    const std::size_t first = r.next;
    r.free = start;
    for (; r.next < first + count; ++r.next) work(rank, r, r.order[r.next]);
    r.next = first;
    for (std::size_t i = 0; i < count; ++i, ++r.next) finish(rank, r, r.order[r.next]);
    return true;
  }

  /// Draws a task from when the rank is free.
  void work(int rank, Rank& r, const DualTask& task) {
    const bool forward = task.piece == Piece::forward;
    const double put_off = task.piece == Piece::input_gradient ? weight_ : 0;
    place(r, rank, task.direction, r.next_of(task), forward ? PipelineWork::forward : PipelineWork::backward, r.free,
          forward ? s_.forward : s_.backward - put_off);
  }

  /// What it made is there now.
  void finish(int rank, Rank& r, const DualTask& task) {
    const int micro_batch = r.next_of(task);
    const auto d = static_cast<std::size_t>(task.direction);
    const bool forward = task.piece == Piece::forward;
    (forward ? forward_end_ : backward_end_)[slot(rank, task.direction, micro_batch)] = r.free;
    if (task.piece == Piece::input_gradient) r.waiting.push_back({task.direction, micro_batch});
    ++(forward ? r.forward : r.backward)[d];
  }

  PipelineShape s_;
  int half_ = 0;
  double weight_ = 0;
  std::vector<double> forward_end_, backward_end_;
  std::vector<TimelineEvent> events_;
};

}  // namespace

std::vector<TimelineEvent> dualpipe_timeline(const PipelineShape& shape) {
  if (shape.stages % 2 != 0 || shape.micro_batches % 2 != 0 || shape.micro_batches < 2 * shape.stages) return {};
  return DualPipe(shape).run();
}

}  // namespace ridge
