// A serving system that runs while others use it: the scheduler of simulate(), fed with requests from outside and
// driven by a clock that the caller brings.
//
//   class Sockets final : public LiveTraffic { ... };                 // waits on sockets until a time has come
//   Sockets sockets(8000);
//   Result<SimulationResult> r = serve_live(query, knowledge, sockets);       // returns when wait() says so
//
// Times are ticks (kTicksPerSecond) since the start; only wait() knows how long a tick lasts, so that the same
// scheduler serves a real-time stand-in, one ten times as fast, or a test that waits for nothing. Of the query the
// deployment, replicas and policies count; load and workload only say what length models with windows are sized for and
// how many clients the engine is made ready for. Memory does not grow with the requests that have left. One thread
// calls all functions of a LiveTraffic: the one that called serve_live(). Refuses what simulate() refuses.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ridge/serve/simulation.hpp"

namespace ridge {

/// A request as it came from outside.
struct LiveRequest {
  std::uint64_t id = 0;      ///< unique as long as it is in the system
  std::int64_t arrival = 0;  ///< ticks, not before the last time that wait() was given as reached
  std::uint32_t input = 1;
  std::uint32_t output = 1;
  int priority = 0;
  /// A key for each whole block of prompt and answer from the start: equal keys are equal beginnings.
  std::vector<std::uint64_t> block_keys;
};

/// What the engines hold at the moment.
struct LiveState {
  std::uint64_t running = 0;
  std::uint64_t waiting = 0;
  std::uint64_t preemptions = 0;
  std::uint64_t steps = 0;
  int engines_up = 0;
  double kv_share = 0;  ///< of all blocks, those that a request holds
};

/// How a request from outside left.
enum class LiveEnd : std::uint8_t { finished, too_long, rejected, timed_out, cancelled, failed };

class LiveTraffic {
 public:
  enum class Wake : std::uint8_t {
    due,      ///< the time has come
    changed,  ///< somebody came or left before it
    stop,     ///< all is to end now
  };
  virtual ~LiveTraffic() = default;
  /// Returns when `ticks` have passed, or before. The greatest number there is stands for never.
  virtual Wake wait(std::int64_t ticks, const LiveState& state) = 0;
  /// The next request that has come; false if there is none.
  virtual bool take(LiveRequest& request) = 0;
  /// The next request whose client has left; false if there is none.
  virtual bool take_cancelled(std::uint64_t& id) = 0;

  /// So many tokens of its answer are out by now, not necessarily more than before.
  virtual void tokens(std::uint64_t id, std::uint32_t generated) = 0;
  /// It has left, `record.id` is free again.
  virtual void ended(const RequestRecord& record, LiveEnd end) = 0;
  /// Its engine failed: whether it may start over elsewhere; it ends as `failed` otherwise.
  virtual bool may_restart(std::uint64_t id) = 0;
};

Result<SimulationResult> serve_live(const SimulationQuery& query, const Knowledge& knowledge, LiveTraffic& traffic);

}  // namespace ridge
