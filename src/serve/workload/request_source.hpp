// Where requests come from: arrival times of the open loop, lengths by class or trace, conversations turn by turn.
//
//   RequestSource source(query);
//   while (source.next() != kNever) { Slot s = pool.take(); source.start(pool[s]); ... }
//   source.next_turn(session, request);              // the next turn of a conversation
//
// What a request is depends on the seed and its number alone, not on when it is served. One thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "serve/cache/prefix_cache.hpp"
#include "serve/engine/request_pool.hpp"

namespace ridge::serve {

inline constexpr double kShortestBurst = 1e-3;  ///< seconds
inline constexpr double kShortestPeriod = 1;    ///< seconds of a wave

/// Refuses (bad_input, "arrivals") what would take for ever to draw or makes no sense; `rate` in requests per second.
Status check(const ArrivalProcess& process, double rate);

/// Gaps of an arrival process with mean rate 1, stretched to the rate.
class ArrivalStream {
 public:
  ArrivalStream(const ArrivalProcess& process, double rate, std::uint64_t seed);
  /// Seconds of the next arrival.
  double next();

 private:
  ArrivalProcess process_;
  double rate_;
  Random random_;
  double now_ = 0;
  double burst_end_ = 0;
};

class RequestSource {
 public:
  explicit RequestSource(const SimulationQuery& query);

  /// When the next request of the stream arrives at the client; kNever if there is none any more.
  [[nodiscard]] Ticks next() const { return wanted_ > 0 && created_ >= wanted_ ? kNever : next_; }
  /// The request that arrives then; the stream moves on.
  void start(Request& request);
  /// A request at a time of the caller's: closed loop. False if no more are wanted.
  bool start_at(Request& request, Ticks when);
  /// The next turn of the conversation; false if it was the last or no more are wanted.
  bool next_turn(std::uint32_t session, Request& request, Ticks when);
  /// The answer of a turn is out: seconds until the next turn, or a negative number if there is none. A recorded turn
  /// comes at its time, or at once where that is over: its answer was awaited.
  double finish_turn(const Request& request, Ticks now);
  /// A turn has ended: how long its conversation took, if it was the last.
  struct Task {
    Ticks whole = 0;
    Ticks busy = 0;  ///< without the time between turns
  };
  std::optional<Task> task_after(const Request& request, Ticks now);
  /// Gives the conversation up.
  void end_session(std::uint32_t session);

  void chunks_of(const Request& request, std::vector<Chunk>& chunks) const;
  bool key_of_all(const Request& request, std::uint64_t& key) const;
  /// Requests in all, 0 if only time ends it.
  [[nodiscard]] std::uint64_t wanted() const { return wanted_; }
  /// Share of the arrivals that are over.
  [[nodiscard]] double progress(Ticks now) const;

 private:
  struct Session {
    std::uint64_t id = 0;
    std::uint32_t turns_left = 0;
    std::uint32_t context = 0;  ///< tokens said so far
    std::uint16_t request_class = 0;
    std::uint32_t group = 0;
    Ticks start = 0;
    Ticks busy = 0;
    std::vector<std::uint32_t> segments;  ///< tokens of each turn
    std::uint32_t row = 0;                ///< of a trace: its next turn, 0 = there is none
  };
  std::uint32_t open_session(std::uint64_t id, Ticks when);
  void record(Request& request, std::uint32_t row, Session* session);
  [[nodiscard]] bool replays() const { return workload_.trace && load_.kind == OfferedKind::trace; }
  [[nodiscard]] bool wants_more(Ticks when) const;
  void fill(Request& request, Ticks when);
  void set_lengths(Request& request, Session& session, Random& random);
  void move_on();

  const Workload& workload_;
  OfferedLoad load_;
  std::uint64_t seed_;
  std::uint64_t wanted_;
  Ticks last_ = kNever;  // no arrivals after this
  double shares_ = 0;
  ArrivalStream arrivals_;
  double trace_scale_ = 1;
  std::uint64_t streamed_ = 0;
  std::uint64_t created_ = 0;
  Ticks next_ = kNever;
  std::vector<Session> sessions_;
  std::vector<std::uint32_t> free_sessions_;
};

}  // namespace ridge::serve
