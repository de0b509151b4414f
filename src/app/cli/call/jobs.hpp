// Long work for clients of the API who come back for the answer.
//
//   Jobs jobs(limits, run);
//   jobs.start("192.0.2.7", call, false);         // 202 {"job": "8c1f...", "state": "waiting"}
//   jobs.state("192.0.2.7", "8c1f...");           // 202 and how far it is, or the answer
//
// A job is known by a number that nobody guesses and belongs to the client who started it: to others there is none. It
// ends when its client asks for it no more, unless the client said that it is to be kept. Clients take turns. Answers
// are kept for an hour. Any thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "app/cli/call/call.hpp"
#include "app/cli/session/session.hpp"
#include "app/http/fair_queue.hpp"
#include "app/http/server.hpp"
#include "ridge/base/limits.hpp"

namespace ridge::cli {

struct JobLimits {
  std::size_t of_one = static_cast<std::size_t>(limits::kJobsOfOne.most);  ///< that wait or run
  std::size_t of_all = static_cast<std::size_t>(limits::kJobs.most);
  std::size_t kept = static_cast<std::size_t>(limits::kKeptAnswers.most);  ///< answers; the oldest goes
  std::size_t kept_bytes = 256u << 20;
  std::chrono::duration<double> kept_for{limits::kKeptSeconds.most};
  std::chrono::duration<double> silence{limits::kSilence.most};
  unsigned threads = 2;  ///< of which one client has at most half
};

class Jobs {
 public:
  /// What a job does. `stop` is raised when nobody waits for it any more.
  using Work = std::function<http::Response(const Call& asked, StopSign& stop)>;

  Jobs(JobLimits limits, Work work);
  ~Jobs();
  Jobs(const Jobs&) = delete;
  Jobs& operator=(const Jobs&) = delete;

  /// 202, or 503 if the client, or all of them together, have too many.
  http::Response start(const std::string& client, Call asked, bool keep);
  /// 202 and how far it is; the answer once there is one; 404 if this client has no such job.
  http::Response state(const std::string& client, std::string_view id);
  http::Response end(const std::string& client, std::string_view id);
  /// Those of the client, oldest first.
  http::Response list(const std::string& client);

 private:
  using Clock = std::chrono::steady_clock;
  struct Job;
  using Shared = std::shared_ptr<Job>;
  void work();
  /// Ends what nobody asks about, forgets what is old. Called with the lock held.
  void tidy(Clock::time_point now);
  Shared find(const std::string& client, std::string_view id);

  const JobLimits limits_;
  const Work work_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::map<std::string, Shared, std::less<>> jobs_;  ///< by id
  http::FairQueue<Shared> waiting_;
  bool closing_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace ridge::cli
