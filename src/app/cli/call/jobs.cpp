#include "app/cli/call/jobs.hpp"

#include <sys/random.h>

#include <algorithm>
#include <array>

namespace ridge::cli {

using http::Response;

namespace {

/// 128 random bits as hexadecimal digits; empty if the system has none.
std::string new_id() {
  std::array<unsigned char, 16> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) return {};
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string id;
  for (const unsigned char byte : bytes) {
    id += kDigits[byte >> 4];
    id += kDigits[byte & 15];
  }
  return id;
}

}  // namespace

struct Jobs::Job {
  std::string id;
  std::string client;
  Call asked;
  bool keep = false;
  StopSign stop;
  // Guarded by the lock of all.
  enum class State { waiting, running, done } state = State::waiting;
  Clock::time_point started = Clock::now();
  Clock::time_point seen = started;
  Clock::time_point ended;
  Response response;

  [[nodiscard]] Json text(Clock::time_point now) const {
    static constexpr std::array<std::string_view, 3> kStates = {"waiting", "running", "done"};
    Json out = Json::object();
    out.set("job", id).set("verb", asked.verb->name).set("state", kStates[static_cast<std::size_t>(state)]);
    out.set("progress", state == State::done ? 1.0 : stop.done_share.load());
    return out.set("age_s", std::chrono::duration<double>(now - started).count());
  }
};

Jobs::Jobs(JobLimits limits, Work work)
    : limits_(limits),
      work_(std::move(work)),
      waiting_({limits.of_one, limits.of_all, std::max(1U, limits.threads / 2)}) {
  for (unsigned i = 0; i < std::max(1U, limits_.threads); ++i) {
    threads_.emplace_back([this] { this->work(); });
  }
}

Jobs::~Jobs() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    for (const auto& [id, job] : jobs_) job->stop.raised = true;
    (void)waiting_.clear();
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Jobs::work() {
  http::stand_back();  // questions that somebody waits for come first
  constexpr std::chrono::milliseconds kBetween{500};
  std::unique_lock lock(mutex_);
  while (!closing_) {
    tidy(Clock::now());
    auto next = waiting_.pop();
    if (!next) {
      wake_.wait_for(lock, kBetween);
      continue;
    }
    Job& job = *next->value;
    job.state = Job::State::running;
    lock.unlock();
    Response response = http::guarded([&] { return work_(job.asked, job.stop); });
    lock.lock();
    job.response = std::move(response);
    job.state = Job::State::done;
    job.ended = Clock::now();
    waiting_.done(next->client);
    wake_.notify_all();
  }
}

void Jobs::tidy(Clock::time_point now) {
  std::size_t kept = 0;
  std::size_t bytes = 0;
  std::vector<Shared> done;
  for (auto at = jobs_.begin(); at != jobs_.end();) {
    Job& job = *at->second;
    const bool is_done = job.state == Job::State::done;
    const bool forgotten = is_done ? now - job.ended > limits_.kept_for : !job.keep && now - job.seen > limits_.silence;
    if (forgotten) {
      job.stop.raised = true;
      at = jobs_.erase(at);
      continue;
    }
    if (is_done) {
      ++kept;
      bytes += job.response.body.size();
      done.push_back(at->second);
    }
    ++at;
  }
  if (kept > limits_.kept || bytes > limits_.kept_bytes) {
    std::sort(done.begin(), done.end(), [](const Shared& a, const Shared& b) { return a->ended < b->ended; });
    for (const Shared& oldest : done) {
      if (kept <= limits_.kept && bytes <= limits_.kept_bytes) break;
      --kept;
      bytes -= oldest->response.body.size();
      jobs_.erase(oldest->id);
    }
  }
  (void)waiting_.take_if([](const Shared& job) { return job->stop.raised.load(); });
}

Jobs::Shared Jobs::find(const std::string& client, std::string_view id) {
  const auto at = jobs_.find(id);
  if (at == jobs_.end() || at->second->client != client) return nullptr;
  at->second->seen = Clock::now();
  return at->second;
}

Response Jobs::start(const std::string& client, Call asked, bool keep) {
  auto job = std::make_shared<Job>();
  job->id = new_id();
  if (job->id.empty()) return Response::error(503, "the system has no random numbers");
  job->client = client;
  job->asked = std::move(asked);
  job->keep = keep;
  const std::lock_guard lock(mutex_);
  tidy(Clock::now());
  std::size_t mine = 0;
  std::size_t all = 0;
  for (const auto& [id, other] : jobs_) {
    if (other->state == Job::State::done) continue;
    ++all;
    if (other->client == client) ++mine;
  }
  if (mine >= limits_.of_one || all >= limits_.of_all || !waiting_.push(client, job)) {
    return Response::error(503, limits::beyond(mine >= limits_.of_one ? limits::kJobsOfOne : limits::kJobs) +
                                    ": end one, or try again later");
  }
  jobs_.emplace(job->id, job);
  wake_.notify_one();
  return Response::json(202, job->text(Clock::now()).text());
}

Response Jobs::state(const std::string& client, std::string_view id) {
  const std::lock_guard lock(mutex_);
  const Shared job = find(client, id);
  if (!job) return Response::error(404, "there is no such job");
  return job->state == Job::State::done ? job->response : Response::json(202, job->text(Clock::now()).text());
}

Response Jobs::end(const std::string& client, std::string_view id) {
  const std::lock_guard lock(mutex_);
  const Shared job = find(client, id);
  if (!job) return Response::error(404, "there is no such job");
  job->stop.raised = true;
  jobs_.erase(job->id);
  return Response::json(200, job->text(Clock::now()).set("state", "ended").text());
}

Response Jobs::list(const std::string& client) {
  const std::lock_guard lock(mutex_);
  std::vector<const Job*> mine;
  for (const auto& [id, job] : jobs_) {
    if (job->client == client) mine.push_back(job.get());
  }
  std::sort(mine.begin(), mine.end(), [](const Job* a, const Job* b) { return a->started < b->started; });
  Json all = Json::array();
  for (const Job* job : mine) all.push(job->text(Clock::now()));
  return Response::json(200, Json::object().set("jobs", std::move(all)).text());
}

}  // namespace ridge::cli
