// The whole system over time: arrivals, router, engines, and what happens to engines. One loop that takes the earliest
// event and lets whom it concerns handle it.
//
//   Cluster cluster(query, setup, result, observer);
//   cluster.run();
//
// One thread.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "ridge/base/limits.hpp"
#include "serve/api_limits.hpp"
#include "serve/earliest.hpp"
#include "serve/live_book.hpp"
#include "serve/policy/router.hpp"
#include "serve/workload/request_source.hpp"

namespace ridge::serve {

/// A kind of engine: its shape, times and policies.
struct EnginePool {
  EngineShape shape;
  const StepModel* model = nullptr;
  BatchingPolicy batching = BatchingPolicy::chunked;
  Engine::Role role = Engine::Role::whole;
  int engines = 1;
};

struct ClusterSetup {
  std::vector<EnginePool> pools;  ///< the first takes new requests; with two, the second decodes
  double server_seconds = 0;      ///< from the client to the scheduler
  double link_bytes_per_s = 0;    ///< between the pools, out of one engine
  double link_latency = 0;
};

class Cluster final : public EngineHost {
 public:
  Cluster(const SimulationQuery& query, const ClusterSetup& setup, SimulationResult& result,
          SimulationObserver* observer, LiveTraffic* live = nullptr);
  void run();

  // What engines say.
  void finished(Slot slot, Ticks now) override;
  void dropped(Slot slot, Ticks now, RequestRecord::End why) override;
  void chunks_of(const Request& request, std::vector<Chunk>& chunks) const override {
    live_ != nullptr ? live_book_.chunks_of(request, chunks) : source_.chunks_of(request, chunks);
  }
  bool key_of_all(const Request& request, std::uint64_t& key) const override {
    return live_ == nullptr && source_.key_of_all(request, key);
  }
  bool all_chunks_of(const Request& request, std::vector<Chunk>& chunks) const override {
    return live_ != nullptr && live_book_.all_chunks_of(request, chunks);
  }
  void queue_changed(int by, Ticks now) override;

  /// Whether engines fail so often that no request would ever be finished: limits::kFailedStarts.
  [[nodiscard]] bool hopeless() const { return static_cast<double>(failed_in_vain_) > limits::kFailedStarts.most; }
  [[nodiscard]] const std::vector<std::unique_ptr<Engine>>& engines() const { return engines_; }
  [[nodiscard]] double up_seconds(std::size_t engine) const { return to_seconds(up_ticks_[engine]); }

 private:
  enum class Kind : std::uint8_t { client, come, release, transfer, decide, up, fail, repair, fetched };
  struct Event {
    Ticks time;
    std::uint64_t order;
    Kind kind;
    std::uint32_t a;
    std::uint32_t b;
    bool operator<(const Event& o) const { return time != o.time ? time > o.time : order > o.order; }
  };
  enum class State : std::uint8_t { off, starting, up, draining, broken };

  void push(Ticks time, Kind kind, std::uint32_t a = 0, std::uint32_t b = 0);
  void handle(const Event& event);
  void client_sends(std::uint32_t client, std::uint32_t session, Ticks ready);
  void arrive(Slot slot, Ticks ready);
  void route(Slot slot, Ticks now);
  void give_to(Engine& engine, Slot slot, Ticks now);
  void make_tiers();
  void route_homeless(Ticks now);
  void to_decode(Slot slot, Ticks now);
  void record(Slot slot, Ticks now, RequestRecord::End end);
  void leave(Slot slot, Ticks now, bool rejected);
  void account_system(int by, Ticks now);
  void start_client_later(const Request& request, Ticks now, bool rejected);
  [[nodiscard]] bool done() const;

  // Requests from outside (cluster_live.cpp).
  LiveTraffic::Wake wait_for(Ticks next);
  void take_live();
  void forget_live(const RequestRecord& record, const Request& request);
  [[nodiscard]] LiveState live_state() const;

  // Engines that come, go and break (cluster_engines.cpp).
  void begin_engines();
  void decide(Ticks now);
  void start_engine(std::size_t engine, Ticks now, double delay);
  void stop_engine(std::size_t engine, Ticks now);
  void engine_up(std::size_t engine, Ticks now);
  void engine_fails(std::size_t engine, Ticks now);
  void set_state(std::size_t engine, State state, Ticks now);
  void renew_lists();
  void update_next(std::size_t engine);
  [[nodiscard]] int count(State state) const;
  void finish_accounts();

  std::uint64_t failed_in_vain_ = 0;  ///< failures that hit requests, since one was finished
  const SimulationQuery& query_;
  ClusterSetup setup_;
  SimulationResult& result_;
  SimulationObserver* observer_;
  LiveTraffic* live_;
  LiveBook live_book_;
  RequestPool pool_;
  RequestSource source_;
  Series series_;
  EngineShared shared_;
  std::vector<std::unique_ptr<StepClock>> clocks_;
  std::vector<std::unique_ptr<TierStore>> tiers_;
  std::vector<std::unique_ptr<Engine>> engines_;
  Earliest nexts_;  // step of each engine
  std::vector<State> states_;
  std::vector<Ticks> since_;  // the state holds
  std::vector<Ticks> up_ticks_;
  std::vector<Ticks> idle_since_;
  std::vector<Ticks> link_free_;
  bool lists_are_old_ = false;    // an engine went up or down since they were made
  std::vector<Engine*> takes_;    // engines of the first pool that take requests
  std::vector<Engine*> decodes_;  // of the second
  std::unique_ptr<Router> router_;
  std::unique_ptr<Router> decode_router_;
  ApiGate gate_;
  std::vector<Event> events_;  // a heap
  std::uint64_t orders_ = 0;
  std::uint64_t waiting_clients_ = 0;  // client events in the heap
  std::deque<Slot> homeless_;          // no engine is up, or all that come and go are full
  std::vector<Chunk> chunks_;
  Ticks server_ = 0;
  Ticks now_ = 0;
  Ticks first_arrival_ = -1;
  Ticks last_arrival_ = 0;
  Ticks last_token_ = 0;
  std::int64_t in_system_ = 0;
  std::int64_t in_queue_ = 0;
  Ticks queue_since_ = 0;
  double system_area_ = 0;
  std::uint64_t half_arrived_ = 0;
  std::int64_t half_in_queue_ = 0;
  Ticks half_time_ = 0;
  double transfer_sum_ = 0;
  std::uint64_t transfers_ = 0;
  std::int64_t end_in_queue_ = 0;  // waited when the last request arrived
};

}  // namespace ridge::serve
