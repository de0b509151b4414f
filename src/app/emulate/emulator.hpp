// A server that answers at the predicted pace of a deployment, on no GPU: the simulator's scheduler behind the API that
// inference servers share.
//
//   Result<std::unique_ptr<Emulator>> server = Emulator::listen({.port = 8000, .model = "llama3.1-8b"});
//   Result<SimulationResult> r = serve_live(query, knowledge, **server);       // until stop() says so
//
// POST /v1/completions and /v1/chat/completions (streamed or not), GET /v1/models, /health, /version, /metrics. One
// thread does everything: while the scheduler waits for the end of its next step, sockets are served. A client that
// leaves is noticed within a quarter of a second, or when the next of its tokens is sent. Refuses (bad_input) an
// address or port that cannot be had.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "ridge/serve/live.hpp"

namespace ridge::emulate {

struct EmulatorOptions {
  std::string address = "127.0.0.1";
  int port = 8000;  ///< 0 takes any that is free
  double speed = 1;
  std::string model;
  std::string key;  ///< that requests must carry as a bearer token; empty = none
  std::uint32_t block_tokens = 16;
  std::uint32_t usual_output = 256;
  double max_tokens = 0;          ///< of a request, as /v1/models says it; 0 = not said
  std::function<bool()> stopped;  ///< asked now and then
};

class Emulator final : public LiveTraffic {
 public:
  static Result<std::unique_ptr<Emulator>> listen(EmulatorOptions options);
  ~Emulator() override;

  [[nodiscard]] int port() const;
  /// How late events were handled, in seconds of the wall: what this machine adds to the prediction.
  [[nodiscard]] const LatencyDistribution& lateness() const;
  [[nodiscard]] std::uint64_t finished() const;
  [[nodiscard]] std::uint64_t generated() const;

  Wake wait(std::int64_t ticks, const LiveState& state) override;
  bool take(LiveRequest& request) override;
  bool take_cancelled(std::uint64_t& id) override;
  void tokens(std::uint64_t id, std::uint32_t generated) override;
  void ended(const RequestRecord& record, LiveEnd end) override;
  bool may_restart(std::uint64_t id) override;

 private:
  struct Core;
  explicit Emulator(std::unique_ptr<Core> core);
  std::unique_ptr<Core> core_;
};

}  // namespace ridge::emulate
