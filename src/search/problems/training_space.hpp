// Every sensible way to lay a training job out on a number of devices, numbered.
//
//   TrainingSpace space = training_space(shape, 4096);
//   space.size();                    // millions
//   TrainingPlan plan = space.at(i); // the nested loops' i-th plan
//
// A layout (degrees, micro-batch, schedule, sharding) is a block of candidates that differ in what they recompute,
// offload and do about context parallelism. Only what can run is in it: degrees that multiply to the devices, divide
// heads, experts, sequence and batch; chunks that divide the layers. A plan that means the same as another (a context
// scheme without context parallelism) is in it once.
#pragma once

#include <vector>

#include "ridge/perf/training.hpp"
#include "ridge/search/space.hpp"

namespace ridge::search {

enum class Breadth : std::uint8_t {
  usual,  ///< what training software does by itself
  full,   ///< every schedule, sharding, recompute and offload the model knows
};

/// What of model, goal and device shapes a space.
struct TrainingShape {
  int layers = 1;
  std::vector<int> heads;  ///< of each kind of layer that has any
  int experts = 0;         ///< 0 = dense
  int sequence = 4096;
  int global_batch = 1024;
  int inside = 8;  ///< devices that tensor parallelism may span
  Breadth breadth = Breadth::usual;
  Sharding usual_sharding = Sharding::zero1;  ///< what the software does by itself
  // Fixed by the question; 0 = free.
  int tp = 0, pp = 0, vp = 0, cp = 0, ep = 0, micro_batch = 0;
  Sharding sharding = Sharding::unknown;
  Recompute recompute = Recompute::unknown;
  bool fixed_recompute = false;
  friend bool operator==(const TrainingShape&, const TrainingShape&) = default;
};

/// Degrees that decide the time of a layer, so that it is computed once for all layouts that share them.
struct LayerKey {
  int tp = 1, cp = 1, ep = 1, etp = 1, micro_batch = 1;
  friend auto operator<=>(const LayerKey&, const LayerKey&) = default;
};

struct Layout {
  int tp = 1, pp = 1, vp = 1, cp = 1, ep = 1, etp = 1, micro_batch = 1;
  int shard_group = 0;
  Sharding sharding = Sharding::none;
  Schedule schedule = Schedule::one_f_one_b;
  std::uint8_t policies = 0;  ///< which list of policies
  std::uint16_t key = 0;      ///< into TrainingSpace::keys
};

/// What candidates of one layout differ in.
struct MemoryPolicy {
  Recompute recompute = Recompute::unknown;
  ContextParallel context = ContextParallel::ring;
  float offload = 0;
  bool offload_optimizer = false;
};

class TrainingSpace {
 public:
  int gpus = 1;
  int sequence = 4096;
  int global_batch = 1;
  std::vector<LayerKey> keys;
  std::vector<Layout> layouts;
  std::vector<std::vector<MemoryPolicy>> policies;
  std::vector<std::uint64_t> starts;  ///< of each layout, and the end

  [[nodiscard]] std::uint64_t size() const { return starts.empty() ? 0 : starts.back(); }
  /// The plan of index i < size().
  [[nodiscard]] TrainingPlan at(std::uint64_t i) const;
  [[nodiscard]] Range block(std::size_t layout) const { return {starts[layout], starts[layout + 1]}; }
  /// The plan of a layout and a policy.
  [[nodiscard]] TrainingPlan plan(const Layout& layout, const MemoryPolicy& policy) const;
};

[[nodiscard]] TrainingSpace training_space(const TrainingShape& shape, int gpus);

}  // namespace ridge::search
