#include "ridge/facility/storage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ridge/base/text.hpp"

namespace ridge {

namespace {

constexpr double kStallShare = 0.01;      // of the time that a sharded checkpoint may take
constexpr double kMemoryForCopies = 0.5;  // of host memory that copies may take beside data loading

class Costs {
 public:
  Costs(const StorageRequest& r, Bytes size) : r_(r), size_(size), per_node_(size / r.nodes) {}

  [[nodiscard]] StrategyCost full() const {
    return blocking(CheckpointStrategy::full, limited(std::min(r_.node_link, r_.writer)), "one process writes for all");
  }

  [[nodiscard]] StrategyCost sharded() const {
    return blocking(CheckpointStrategy::sharded, limited(r_.node_link * r_.nodes), "all nodes write at once");
  }

  [[nodiscard]] StrategyCost async() const {
    StrategyCost c = background(CheckpointStrategy::async, size_, r_.interval);
    c.stall = copy(per_node_);
    c.host_memory = per_node_;
    return settle(c, r_.interval);
  }

  [[nodiscard]] StrategyCost in_memory() const {
    StrategyCost c;
    c.strategy = CheckpointStrategy::in_memory;
    c.stall = copy(per_node_);
    c.written = c.stall + per_node_ / r_.node_network;
    c.loss_most = r_.memory_interval + c.written;
    c.needed = size_ / r_.interval;
    c.host_memory = per_node_ * 2.0;  // its own and its neighbour's
    c.why = "survives the loss of a node, not of the site; storage gets one per interval";
    if (r_.nodes < 2) {
      c.feasible = false;
      c.why = "needs a second node";
    }
    return settle(c, r_.memory_interval);
  }

  [[nodiscard]] StrategyCost delta() const {
    const Bytes changed = size_ * r_.changed_share;
    StrategyCost c = background(CheckpointStrategy::delta, changed, r_.delta_interval);
    c.stall = copy(changed / r_.nodes);
    c.host_memory = changed / r_.nodes;
    if (r_.changed_share >= 0.99 && c.feasible)
      c.why = "every step changes every weight: a delta is as large as the whole";
    return settle(c, r_.delta_interval);
  }

 private:
  [[nodiscard]] BytesPerSecond limited(BytesPerSecond by) const {
    return r_.write > BytesPerSecond(0) && r_.write < by ? r_.write : by;
  }
  [[nodiscard]] Seconds copy(Bytes per_node) const { return per_node / (r_.device_to_host * r_.devices_per_node); }

  [[nodiscard]] StrategyCost blocking(CheckpointStrategy strategy, BytesPerSecond rate, const char* why) const {
    StrategyCost c;
    c.strategy = strategy;
    c.stall = c.written = size_ / rate;
    // The interval runs from end to end of the stalls: what is lost is the work between two of them.
    c.loss_most = r_.interval + c.written;
    c.needed = rate;
    c.why = why;
    return settle(c, r_.interval);
  }

  [[nodiscard]] StrategyCost background(CheckpointStrategy strategy, Bytes size, Seconds interval) const {
    StrategyCost c;
    c.strategy = strategy;
    c.needed = size / interval;
    const BytesPerSecond rate = limited(r_.node_link * r_.nodes);
    c.written = size / rate;
    c.loss_most = interval + c.written;
    if (c.written > interval) {
      c.feasible = false;
      c.why = fmt::format("takes {} to write, longer than the {} between two", format(c.written), format(interval));
    }
    return c;
  }

  [[nodiscard]] StrategyCost settle(StrategyCost c, Seconds interval) const {
    c.stall_share = c.stall / (interval + c.stall);
    if (r_.host_memory > Bytes(0) && c.host_memory > r_.host_memory * kMemoryForCopies) {
      c.feasible = false;
      c.why =
          fmt::format("needs {} of host memory per node, which has {}", format(c.host_memory), format(r_.host_memory));
    }
    return c;
  }

  const StorageRequest& r_;
  Bytes size_, per_node_;
};

BytesPerSecond larger(BytesPerSecond a, BytesPerSecond b) {
  return a < b ? b : a;
}

}  // namespace

std::string_view name(CheckpointStrategy strategy) {
  constexpr std::string_view kNames[] = {"full", "sharded", "async", "in-memory", "delta"};
  return kNames[static_cast<std::size_t>(strategy)];
}

Bytes checkpoint_size(double parameters, double bytes_per_parameter) {
  return bytes(parameters * bytes_per_parameter);
}

DatasetTier dataset_tier(Bytes dataset) {
  if (dataset < bytes(10e12)) return {"NVMe in the nodes", BytesPerSecond(10e9), true};
  if (dataset < bytes(100e12)) return {"parallel file system", BytesPerSecond(100e9), false};
  if (dataset < bytes(10e15)) return {"parallel file system and object store", BytesPerSecond(500e9), false};
  return {"NVMe cache, parallel file system and object store", BytesPerSecond(1e12), false};
}

BytesPerSecond StorageNeed::read() const {
  return larger(read_data, read_restart);
}

BytesPerSecond StorageNeed::write() const {
  for (const StrategyCost& c : strategies) {
    if (c.strategy == best) return c.needed;
  }
  return BytesPerSecond(0);
}

StorageNeed storage_need(const StorageRequest& r) {
  StorageNeed need;
  need.checkpoint = checkpoint_size(r.parameters, r.bytes_per_parameter);
  need.capacity = r.dataset + need.checkpoint * static_cast<double>(r.kept);
  need.read_data = BytesPerSecond(r.tokens_per_s * r.bytes_per_token);
  if (r.parameters <= 0) return need;
  need.read_restart = need.checkpoint / r.restart;
  need.write_background = need.checkpoint / r.interval;
  need.write_sharded = need.checkpoint / (r.interval * kStallShare);
  const Costs costs(r, need.checkpoint);
  need.strategies = {costs.full(), costs.sharded(), costs.async(), costs.in_memory(), costs.delta()};
  // In memory alone leaves nothing behind when the site goes dark: it is chosen beside one that writes, never as one.
  const StrategyCost* best = nullptr;
  for (const StrategyCost& c : need.strategies) {
    if (!c.feasible || c.strategy == CheckpointStrategy::in_memory || c.strategy == CheckpointStrategy::delta) continue;
    if (best == nullptr || c.stall < best->stall) best = &c;
  }
  if (best != nullptr) need.best = best->strategy;
  return need;
}

std::vector<StorageVerdict> judge_storage(const StorageNeed& need, const StorageRequest& r, const FacilityData& data,
                                          Bytes local_per_node) {
  std::vector<StorageVerdict> verdicts;
  for (const StorageClass& s : data.storage) {
    StorageVerdict v;
    v.storage = &s;
    const BytesPerSecond reads = need.read();
    const BytesPerSecond writes = need.write();
    if (!s.shared) {
      v.units = r.nodes;
      const Bytes holds = local_per_node * r.nodes;
      if (r.nodes > 1 && r.parameters > 0) {
        v.why = "not shared: a lost node takes its part of every checkpoint with it";
      } else if (local_per_node > Bytes(0) && holds < need.capacity) {
        v.why = fmt::format("holds {}, {} are needed", format(holds), format(need.capacity));
      } else {
        v.serves = true;
        v.why = "the data fits beside the devices";
      }
      verdicts.push_back(v);
      continue;
    }
    if (s.capacity && s.capacity->value < need.capacity) {
      v.why = fmt::format("holds up to {}, {} are needed", format(s.capacity->value), format(need.capacity));
    } else if (!s.posix && r.parameters > 0) {
      v.why = "no POSIX files: as a second tier, for data sets and old checkpoints";
    } else if (s.unit) {
      const double for_reads = reads / s.unit->value;
      const double for_writes = writes / (s.unit->value * s.write_share);
      v.units = std::max(1.0, std::ceil(std::max(for_reads, for_writes)));
      v.serves = true;
      v.why = fmt::format("{} of {} each give {} reading, {} writing", format_number(v.units), format(s.unit->value),
                          format(s.unit->value * v.units), format(s.unit->value * (v.units * s.write_share)));
    } else if (s.cluster) {
      const double share = std::max(reads / s.cluster->value, writes / (s.cluster->value * s.write_share));
      v.serves = true;
      v.why = share <= 1 ? fmt::format("a usual installation gives {}: {:.0f} % of it is needed",
                                       format(s.cluster->value), 100 * share)
                         : fmt::format("needs {} times a usual installation of {}", format_number(share, 2),
                                       format(s.cluster->value));
    } else {
      v.why = "its rates are not known";
    }
    verdicts.push_back(v);
  }
  return verdicts;
}

}  // namespace ridge
