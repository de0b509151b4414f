// Times of steps in ticks: decode steps from a table that is piecewise linear in the context, so that a run of them is
// an arithmetic series; steps with prefill straight from the model, or, where prompts of the same shape come again and
// again, from tables of their own with the same knots.
//
//   StepClock clock(model, shape);
//   Ticks one = clock.decode(24, 1300);                    // 24 sequences, 1,300 tokens behind each on average
//   Ticks all = clock.decode_run(24, 1300, 500);           // 500 such steps, the context growing by one each
//   std::uint64_t k = clock.steps_until(24, 1300, 500, t); // the first that ends at t or later
//
// Knots stand at multiples of 64 tokens, rounded to whole nanoseconds: with a tick of 1/64 ns the slope between two
// knots is a whole number of ticks per token, and sums are exact. Fills its table as it is asked; one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "serve/cache/ticks.hpp"
#include "serve/engine/drafts.hpp"
#include "serve/engine/step_model.hpp"

namespace ridge::serve {

/// Work of one device while the engine was busy.
struct Work {
  double flops = 0;
  double bytes = 0;
  double seconds = 0;
  double waiting = 0;
};

/// The prompts of one step.
struct PrefillShape {
  double tokens = 0;
  double prompts = 0;
  double pairs = 0;    ///< of query and key, summed over the prompts
  double longest = 0;  ///< tokens of the largest part
  bool operator==(const PrefillShape&) const = default;
};

class StepClock {
 public:
  StepClock(const StepModel& model, const EngineShape& shape);

  [[nodiscard]] Ticks decode(std::uint32_t sequences, std::int64_t context) {
    const Segment s = segment(sequences, context);
    return s.first;
  }

  /// How many steps answers take.
  [[nodiscard]] const Drafts& drafts() const { return drafts_; }

  /// Steps of equally growing length: `count` of them from `first`, each `slope` longer than the one before.
  struct Segment {
    Ticks first = 0;
    Ticks slope = 0;
    std::uint64_t count = 0;  ///< up to the next knot
    [[nodiscard]] Ticks sum(std::uint64_t n) const {
      const auto k = static_cast<Ticks>(n);
      return k * first + slope * (k * (k - 1) / 2);
    }
  };
  [[nodiscard]] Segment segment(std::uint32_t sequences, std::int64_t context) {
    const std::int64_t bucket = context / kSpan;
    const Knot& low = knot(sequences, bucket);
    const Ticks low_ns = low.nanoseconds;
    const Ticks slope = knot(sequences, bucket + 1).nanoseconds - low_ns;
    const std::int64_t offset = context - bucket * kSpan;
    return {low_ns * kTicksPerNanosecond + slope * offset, slope, static_cast<std::uint64_t>(kSpan - offset)};
  }

  [[nodiscard]] Ticks decode_run(std::uint32_t sequences, std::int64_t context, std::uint64_t steps);
  /// Steps of the run, at least one, after which `elapsed` or more has passed; `steps` if the run is shorter.
  [[nodiscard]] std::uint64_t steps_until(std::uint32_t sequences, std::int64_t context, std::uint64_t steps,
                                          Ticks elapsed);
  /// A step with prefill; adds what it does to `work`.
  [[nodiscard]] Ticks mixed(std::uint32_t sequences, std::int64_t context, const PrefillShape& prefill, Work& work);
  /// What a run of decode steps does.
  void add_work(std::uint32_t sequences, std::int64_t context, std::uint64_t steps, Ticks ticks, Work& work);

 private:
  static constexpr std::int64_t kSpan = 64;
  struct Knot {
    std::int64_t nanoseconds = -1;
    float flops = 0;
    float bytes = 0;
    float waiting = 0;
  };
  Knot& knot(std::uint32_t sequences, std::int64_t bucket) {
    if (sequences < rows_.size()) {
      std::vector<Knot>& row = rows_[sequences];
      if (static_cast<std::size_t>(bucket) < row.size()) {
        Knot& k = row[static_cast<std::size_t>(bucket)];
        if (k.nanoseconds >= 0) return k;
      }
    }
    return fill(sequences, bucket);
  }
  Knot& fill(std::uint32_t sequences, std::int64_t bucket);

  // Steps with prompts.
  static constexpr std::uint64_t kMostShapes = 1024;
  static constexpr int kSequenceBits = 24, kBucketBits = 28;  // and ten of the shape: one key
  struct Mixed {
    double seconds = 0, flops = 0, bytes = 0, waiting = 0;
  };
  struct ShapeHash {
    std::size_t operator()(const PrefillShape& s) const {
      const std::hash<double> of;
      return ((of(s.tokens) * 31 + of(s.prompts)) * 31 + of(s.pairs)) * 31 + of(s.longest);
    }
  };
  [[nodiscard]] Mixed timed(std::uint32_t sequences, double context, const PrefillShape& prefill) const;
  const Mixed& mixed_knot(std::uint64_t shape, std::uint32_t sequences, std::int64_t bucket,
                          const PrefillShape& prefill);
  [[nodiscard]] Mixed mixed_at(std::uint32_t sequences, std::int64_t context, const PrefillShape& prefill);
  [[nodiscard]] perf::Step lane(std::uint32_t sequences, double context) const;

  const StepModel& model_;
  EngineShape shape_;
  Drafts drafts_;
  std::vector<std::vector<Knot>> rows_;                                // by number of sequences; then by context
  std::unordered_map<PrefillShape, std::uint64_t, ShapeHash> shapes_;  // those seen, numbered
  std::unordered_map<std::uint64_t, Mixed> mixed_;                     // by shape, sequences and context
};

}  // namespace ridge::serve
