// What a plan needs of storage: capacity, rates, and what each way of saving checkpoints costs.
//
//   StorageRequest r;
//   r.parameters = 70.6e9; r.nodes = 64; r.devices_per_node = 8; r.step = seconds(4); r.tokens_per_s = 4e5;
//   r.dataset = Bytes(60e12); r.write = BytesPerSecond(100e9);
//   StorageNeed need = storage_need(r);
//   need.checkpoint;                     // 988 GB: 14 bytes per parameter
//   need.strategies[0].stall;            // a full one stops training so long
//   judge_storage(need, r, data, local); // which classes of storage are up to it, and why
//
// Pure; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ridge/facility/facility.hpp"

namespace ridge {

/// Mixed-precision Adam: 16-bit weights 2, 32-bit master weights 4, two moments 8.
inline constexpr double kCheckpointBytesPerParameter = 14;
[[nodiscard]] Bytes checkpoint_size(double parameters, double bytes_per_parameter = kCheckpointBytesPerParameter);

enum class CheckpointStrategy : std::uint8_t {
  full,       ///< one node gathers everything and writes it while training waits
  sharded,    ///< every node writes its own part, training waits
  async,      ///< copied to host memory, written while training goes on
  in_memory,  ///< copied to the host memory of another node; storage gets one now and then
  delta,      ///< what has changed, every few minutes, written in the background
};
inline constexpr std::size_t kCheckpointStrategies = 5;
[[nodiscard]] std::string_view name(CheckpointStrategy strategy);

/// What shared storage takes from all nodes together where nobody says: the tier that `ridge goodput` starts from.
inline constexpr BytesPerSecond kUsualStorageWrite{100e9};

struct StorageRequest {
  double parameters = 0;     ///< that a checkpoint holds; 0 = no checkpoints (serving)
  double changed_share = 1;  ///< of a checkpoint that differs from the one before: 1 where every weight trains
  double bytes_per_parameter = kCheckpointBytesPerParameter;
  int nodes = 1, devices_per_node = 8;
  double tokens_per_s = 0;     ///< read from the data set
  double bytes_per_token = 4;  ///< tokenised; images and video take more
  Bytes dataset{0};
  int kept = 3;                 ///< checkpoints on storage
  Seconds interval{1800};       ///< between two of them
  Seconds memory_interval{60};  ///< between two in memory, and between two deltas 300 s
  Seconds delta_interval{300};
  Seconds restart{300};                 ///< in which all nodes have to have read one back
  BytesPerSecond write{0};              ///< that storage takes from all nodes together; 0 = as much as they send
  BytesPerSecond node_link{50e9};       ///< of one node to storage
  BytesPerSecond writer{5e9};           ///< one process that writes for all, as `ridge goodput` takes it
  BytesPerSecond device_to_host{50e9};  ///< of one device
  BytesPerSecond node_network{400e9};   ///< of one node to another
  Bytes host_memory{0};                 ///< of one node, 0 = unknown
};

struct StrategyCost {
  CheckpointStrategy strategy = CheckpointStrategy::full;
  Seconds stall;           ///< training waits so long, each time
  double stall_share = 0;  ///< of the time between two
  Seconds loss_most;       ///< work lost at worst (RPO): back to the last one that is whole
  Seconds written;         ///< from the start until it is safe
  BytesPerSecond needed;   ///< write rate that keeps up with the interval
  Bytes host_memory;       ///< of one node
  bool feasible = true;
  std::string why;  ///< what limits it, or what to know
};

struct StorageVerdict {
  const StorageClass* storage = nullptr;
  bool serves = false;
  double units = 0;  ///< nodes, gateways or controllers of it, where it is sold so; 0 = unknown
  std::string why;
};

/// The tier that size alone suggests, from the rule-of-thumb table.
struct DatasetTier {
  std::string tier;
  BytesPerSecond rate;
  bool per_node = false;  ///< the rate is of one node, not of the cluster
};
[[nodiscard]] DatasetTier dataset_tier(Bytes dataset);

struct StorageNeed {
  Bytes checkpoint;
  Bytes capacity;            ///< data set and the checkpoints kept
  BytesPerSecond read_data;  ///< to feed training
  BytesPerSecond read_restart;
  BytesPerSecond write_background;  ///< a checkpoint per interval
  BytesPerSecond write_sharded;     ///< so that a sharded one stalls less than 1 % of the time
  std::vector<StrategyCost> strategies;
  CheckpointStrategy best = CheckpointStrategy::async;  ///< least stall among those that work
  [[nodiscard]] BytesPerSecond read() const;
  [[nodiscard]] BytesPerSecond write() const;
};

[[nodiscard]] StorageNeed storage_need(const StorageRequest& request);
/// Every class of the data, in its order.
[[nodiscard]] std::vector<StorageVerdict> judge_storage(const StorageNeed& need, const StorageRequest& request,
                                                        const FacilityData& data, Bytes local_per_node);

}  // namespace ridge
