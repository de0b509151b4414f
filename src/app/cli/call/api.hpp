// The verbs of the program over HTTP: a JSON object of flags in, the verb's own --json out.
//
//   Api api(*session.share(), surroundings, {});
//   http::Response r = api.answer(request, false);
//
//   POST /v1/estimate   {"kind": "infer", "model": "llama3.3-70b", "device": "h200-sxm", "gpus": 2}
//   POST /v1/simulate, /v1/plan, /v1/cost, /v1/goodput, /v1/facility, /v1/check: the same way
//   GET  /v1/catalogue?kind=devices, /v1/mlperf?..., /v1/validate, /v1/openapi.json
//   POST with "async": true → 202 {"job": "8c1f..."}; GET /v1/jobs/8c1f... → its state or answer; DELETE ends it;
//   GET /v1/jobs lists those of whoever asks. With "keep": true a job goes on though nobody asks about it.
//
// A key is the name of a flag without its dashes, - as _; "kind" is the word after the verb. Refused (400): unknown
// keys, values of the wrong kind, and whatever names a file: no text of a request reaches the file system. Refused
// (403): what a page of another site asks. A client is known by its token if there are several, else by its address,
// and shares the server fairly with the others. Any thread.
#pragma once

#include <array>
#include <chrono>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "app/cli/call/call.hpp"
#include "app/cli/call/jobs.hpp"
#include "app/cli/session/session.hpp"
#include "app/http/server.hpp"
#include "ridge/base/limits.hpp"

namespace ridge::cli {

struct ServiceLimits {
  double long_seconds = limits::kServedSeconds.most;  ///< after which long work ends with what it has
  double job_seconds = limits::kServedJobSeconds.most;
  double most_requests = limits::kServedRequests.most;  ///< of one simulation
  double most_draws = limits::kServedDraws.most;
  double most_memory = limits::kServedMemory.most;  ///< of the process, from which on long work ends
  JobLimits jobs = {};
  std::vector<std::string> tokens = {};  ///< one is asked for as "Authorization: Bearer ..."; none = nothing is
  bool trust_forwarded = false;          ///< a proxy says by X-Forwarded-For who asks
};

class Api {
 public:
  Api(SharedData shared, Surroundings surroundings, ServiceLimits limits);
  Api(const Api&) = delete;
  Api& operator=(const Api&) = delete;

  /// The answer to /v1/..., or 404. Defers what takes long unless it may; what was taken for short and is not, once
  /// more, as heavy.
  [[nodiscard]] http::Response answer(const http::Request& request, bool may_take_long);

 private:
  http::Response run(const Call& asked, const StopSign& stop) const;
  void set_limits(StopSign& stop, double seconds, std::chrono::steady_clock::time_point from) const;
  /// Who asks, or nothing if the token is missing.
  [[nodiscard]] std::optional<std::string> client_of(const http::Request& request) const;
  http::Response job(const std::string& client, const http::Request& request);
  void keep(const std::string& body, const http::Response& response);

  SharedData shared_;
  Surroundings surroundings_;
  ServiceLimits limits_;
  std::mutex mutex_;
  // Estimates depend on nothing but the request: those of late are kept, as sliders come back to where they were.
  std::mutex kept_mutex_;
  std::unordered_map<std::string, http::Response> kept_;
  std::deque<const std::string*> oldest_;  ///< keys of kept_, as they came
  std::size_t kept_bytes_ = 0;
  std::array<std::string, 2> validation_;  ///< the bundled cases never change: predicted once, without and with points
  Jobs jobs_;                              ///< last: they use all of the above until they have ended
};

/// The call that a request stands for. Refuses what answer() refuses.
Result<Call> request_call(const http::Request& request, const Catalogue& catalogue, const ServiceLimits& limits);

}  // namespace ridge::cli
