// The verbs of the program over HTTP: a JSON object of flags in, the verb's own --json out.
//
//   Api api(*session.share(), surroundings, {});
//   http::Response r = api.answer(request, false);
//
//   POST /v1/estimate   {"kind": "infer", "model": "llama3.3-70b", "device": "h200-sxm", "gpus": 2}
//   POST /v1/simulate, /v1/plan, /v1/cost, /v1/goodput, /v1/facility, /v1/check: the same way
//   GET  /v1/catalogue?kind=devices, /v1/mlperf?..., /v1/validate, /v1/openapi.json
//   POST with "async": true → 202 {"job": "7"}; GET /v1/jobs/7 → its state or answer; DELETE /v1/jobs/7 ends it
//
// A key is the name of a flag without its dashes, - as _; "kind" is the word after the verb. Refused (400): unknown
// keys, values of the wrong kind, and whatever names a file: no text of a request reaches the file system. Any thread.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>

#include "app/cli/session.hpp"
#include "app/http/server.hpp"

namespace ridge::cli {

struct ApiLimits {
  double long_seconds = 30;    ///< after which long work ends with what it has
  std::size_t jobs = 16;       ///< that are kept, running or done
  double most_requests = 2e6;  ///< of one simulation
  std::string token;           ///< asked for as "Authorization: Bearer ..."; empty = none
};

class Api {
 public:
  Api(SharedData shared, Surroundings surroundings, ApiLimits limits);
  ~Api();
  Api(const Api&) = delete;
  Api& operator=(const Api&) = delete;

  /// The answer to /v1/..., or 404. Defers what takes long unless it may.
  [[nodiscard]] http::Response answer(const http::Request& request, bool may_take_long);

 private:
  struct Job;
  using Jobs = std::map<int, std::unique_ptr<Job>>;
  [[nodiscard]] Jobs::iterator find_job(std::string_view id);
  http::Response run(const std::vector<std::string>& words, const StopSign& stop) const;
  http::Response start_job(std::vector<std::string> words);
  http::Response job_state(std::string_view id);
  http::Response end_job(std::string_view id);
  void keep(const std::string& body, const http::Response& response);

  SharedData shared_;
  Surroundings surroundings_;
  ApiLimits limits_;
  std::mutex mutex_;
  Jobs jobs_;  ///< by their number: the first one is the oldest
  int last_job_ = 0;
  // Estimates depend on nothing but the request: those of late are kept, as sliders come back to where they were.
  std::mutex kept_mutex_;
  std::unordered_map<std::string, http::Response> kept_;
  std::deque<const std::string*> oldest_;  ///< keys of kept_, as they came
  std::size_t kept_bytes_ = 0;
  std::array<std::string, 2> validation_;  ///< the bundled cases never change: predicted once, without and with points
};

/// The command line that a request stands for, for people to copy: "ridge estimate infer --model ...". Refuses what
/// answer() refuses.
Result<std::vector<std::string>> request_words(const http::Request& request, const Catalogue& catalogue,
                                               const ApiLimits& limits);

}  // namespace ridge::cli
