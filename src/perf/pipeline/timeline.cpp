#include "ridge/perf/timeline.hpp"

#include <algorithm>

#include "perf/pipeline/dualpipe.hpp"

namespace ridge {
namespace {

constexpr double kNotYet = -1;

/// One piece of work of a stage, in the order in which the stage takes it.
struct Task {
  int chunk = 0;
  int micro_batch = 0;
  bool forward = true;
};

class Scheduler {
 public:
  explicit Scheduler(const PipelineShape& shape) : s_(shape) {
    // Megatron interleaves in groups of as many micro-batches as there are stages; without them stages stay whole.
    if (s_.stages < 2 || s_.micro_batches % s_.stages != 0) s_.chunks = 1;
    deferred_ = s_.schedule == Schedule::zero_bubble ? std::min(s_.weight_gradient, s_.backward) : 0;
    const auto all = static_cast<std::size_t>(s_.stages) * static_cast<std::size_t>(s_.chunks) *
                     static_cast<std::size_t>(s_.micro_batches);
    forward_end_.assign(all, kNotYet);
    backward_end_.assign(all, kNotYet);
  }

  std::vector<TimelineEvent> run() {
    std::vector<std::vector<Task>> orders;
    for (int stage = 0; stage < s_.stages; ++stage) orders.push_back(order_of(stage));
    std::vector<std::size_t> next(orders.size(), 0);
    std::vector<double> free(orders.size(), 0);
    std::vector<std::vector<Task>> waiting(orders.size());  // weight gradients put off
    // Work of one stage follows from that of its neighbours: go round until nobody has any left.
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t stage = 0; stage < orders.size(); ++stage) {
        while (next[stage] < orders[stage].size()) {
          const Task& task = orders[stage][next[stage]];
          const double ready = ready_at(static_cast<int>(stage), task);
          if (ready == kNotYet) break;
          fill_gap(static_cast<int>(stage), ready, free[stage], waiting[stage]);
          const double start = std::max(ready, free[stage]);
          const double seconds = (task.forward ? s_.forward : s_.backward - deferred_) / s_.chunks;
          place(static_cast<int>(stage), task, task.forward ? PipelineWork::forward : PipelineWork::backward, start,
                seconds);
          (task.forward ? forward_end_ : backward_end_)[slot(static_cast<int>(stage), task)] = start + seconds;
          if (!task.forward && deferred_ > 0) waiting[stage].push_back(task);
          free[stage] = start + seconds;
          ++next[stage];
          moved = true;
        }
      }
    }
    for (std::size_t stage = 0; stage < orders.size(); ++stage) {
      for (const Task& task : waiting[stage]) put_off(static_cast<int>(stage), task, free[stage]);
    }
    std::stable_sort(events_.begin(), events_.end(),
                     [](const TimelineEvent& a, const TimelineEvent& b) { return a.start < b.start; });
    return std::move(events_);
  }

 private:
  [[nodiscard]] std::size_t slot(int stage, const Task& task) const {
    return (static_cast<std::size_t>(task.micro_batch) * static_cast<std::size_t>(s_.chunks) +
            static_cast<std::size_t>(task.chunk)) *
               static_cast<std::size_t>(s_.stages) +
           static_cast<std::size_t>(stage);
  }

  /// The k-th forward (or backward) piece of a stage: micro-batches in groups of `stages`, chunk after chunk.
  [[nodiscard]] Task piece(int k, bool forward) const {
    const int group = s_.stages * s_.chunks;
    const int chunk = s_.chunks == 1 ? 0 : k % group / s_.stages;
    const int micro_batch = s_.chunks == 1 ? k : k / group * s_.stages + k % s_.stages;
    return {forward ? chunk : s_.chunks - 1 - chunk, micro_batch, forward};
  }

  /// Forward passes that fill the pipeline, then one forward and one backward in turn, then what is left.
  [[nodiscard]] std::vector<Task> order_of(int stage) const {
    const int all = s_.micro_batches * s_.chunks;
    const int behind = s_.stages - stage - 1;
    const int filling = std::min(all, s_.chunks == 1 ? behind : 2 * behind + (s_.chunks - 1) * s_.stages);
    std::vector<Task> order;
    int forward = 0;
    int backward = 0;
    while (forward < filling) order.push_back(piece(forward++, true));
    while (forward < all) {
      order.push_back(piece(forward++, true));
      order.push_back(piece(backward++, false));
    }
    while (backward < all) order.push_back(piece(backward++, false));
    return order;
  }

  /// When what the task needs is there, or kNotYet.
  [[nodiscard]] double ready_at(int stage, const Task& task) const {
    const bool first = stage == 0 && task.chunk == 0;
    const bool last = stage == s_.stages - 1 && task.chunk == s_.chunks - 1;
    if (task.forward) {
      if (first) return 0;
      const Task before{stage == 0 ? task.chunk - 1 : task.chunk, task.micro_batch, true};
      return forward_end_[slot(stage == 0 ? s_.stages - 1 : stage - 1, before)];
    }
    if (last) return forward_end_[slot(stage, task)];
    const Task after{stage == s_.stages - 1 ? task.chunk + 1 : task.chunk, task.micro_batch, false};
    return backward_end_[slot(stage == s_.stages - 1 ? 0 : stage + 1, after)];
  }

  void place(int stage, const Task& task, PipelineWork work, double start, double seconds) {
    events_.push_back({stage, task.chunk, task.micro_batch, work, start, seconds});
  }
  void put_off(int stage, const Task& task, double& free) {
    place(stage, task, PipelineWork::weight_gradient, free, deferred_ / s_.chunks);
    free += deferred_ / s_.chunks;
  }
  /// Weight gradients that end before the stage is needed again.
  void fill_gap(int stage, double until, double& free, std::vector<Task>& waiting) {
    std::size_t done = 0;
    while (done < waiting.size() && free + deferred_ / s_.chunks <= until * (1 + 1e-12))
      put_off(stage, waiting[done++], free);
    waiting.erase(waiting.begin(), waiting.begin() + static_cast<std::ptrdiff_t>(done));
  }

  PipelineShape s_;
  double deferred_ = 0;
  std::vector<double> forward_end_, backward_end_;
  std::vector<TimelineEvent> events_;
};

}  // namespace

std::vector<TimelineEvent> pipeline_timeline(const PipelineShape& shape) {
  if (shape.stages < 1 || shape.chunks < 1 || shape.micro_batches < 1 || !(shape.forward > 0) ||
      !(shape.backward > 0)) {
    return {};
  }
  return shape.schedule == Schedule::dual_pipe ? dualpipe_timeline(shape) : Scheduler(shape).run();
}

double pipeline_span(const std::vector<TimelineEvent>& events) {
  double end = 0;
  for (const TimelineEvent& e : events) end = std::max(end, e.start + e.seconds);
  return end;
}

}  // namespace ridge
