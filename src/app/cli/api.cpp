#include "app/cli/api.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "app/cli/call.hpp"
#include "catalogue/json_document.hpp"
#include "ridge/text.hpp"

namespace ridge::cli {

namespace {

using http::Request;
using http::Response;

constexpr std::size_t kLargestKeptBody = 4096;
constexpr std::size_t kMostKeptBytes = 8u << 20;

struct Endpoint {
  std::string_view path;
  std::string_view verb;
  std::string_view method;
  bool takes_long;
};

constexpr std::array kEndpoints = {
    Endpoint{"/v1/estimate", "estimate", "POST", false}, Endpoint{"/v1/simulate", "simulate", "POST", true},
    Endpoint{"/v1/plan", "plan", "POST", true},          Endpoint{"/v1/cost", "cost", "POST", true},
    Endpoint{"/v1/goodput", "goodput", "POST", true},    Endpoint{"/v1/facility", "facility", "POST", true},
    Endpoint{"/v1/check", "check", "POST", true},        Endpoint{"/v1/catalogue", "show", "GET", false},
    Endpoint{"/v1/mlperf", "mlperf", "GET", true},       Endpoint{"/v1/validate", "validate", "GET", true},
};

const Endpoint* endpoint_of(std::string_view path) {
  const auto at = std::find_if(kEndpoints.begin(), kEndpoints.end(), [&](const Endpoint& e) { return e.path == path; });
  return at == kEndpoints.end() ? nullptr : &*at;
}

Response refused(const Error& error) {
  const int status = error.code == ErrorCode::not_found ? 404 : error.code == ErrorCode::bad_input ? 400 : 422;
  return Response::error(status, error.message, error.where);
}

bool asks_for_a_job(std::string_view body) {
  // Reading it once more would cost as much again, so only where it may say so, plainly or behind an escape.
  if (body.find("async") == std::string_view::npos && body.find('\\') == std::string_view::npos) return false;
  const Result<JsonNode> read = parse_json(body, "body");
  const JsonNode* async = read ? read->find("async") : nullptr;
  return async != nullptr && async->flag;
}

void set_limits(StopSign& stop, const ApiLimits& limits, double seconds) {
  stop.deadline = std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                                         std::chrono::duration<double>(seconds));
  stop.most_requests = limits.most_requests;
}

/// A what-if reads the catalogue anew.
bool reads_catalogue(const std::vector<std::string>& words) {
  return std::any_of(words.begin(), words.end(), [](const std::string& word) { return word.starts_with("--set="); });
}

bool same_secret(std::string_view a, std::string_view b) {  // in a time that tells nothing about where they differ
  unsigned different = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    different |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  }
  return different == 0;
}

}  // namespace

Result<std::vector<std::string>> request_words(const Request& request, const Catalogue& catalogue,
                                               const ApiLimits& limits) {
  const Endpoint* endpoint = endpoint_of(request.path);
  if (endpoint == nullptr) return Error{ErrorCode::not_found, "", "there is nothing at " + quoted(request.path)};
  std::vector<Flag> flags;
  if (endpoint->method == "GET") {
    for (const auto& [key, value] : request.query) {
      if (value.empty()) {
        flags.push_back({key, {}, true});
      } else {
        flags.push_back({key, {value}});
      }
    }
  } else {
    Result<std::vector<Flag>> read = read_flags(request.body, "body");
    if (!read) return read.error();
    flags = *std::move(read);
    std::erase_if(flags, [](const Flag& flag) { return flag.key == "async"; });
  }
  return call_words(endpoint->verb, flags, catalogue, {.most_requests = limits.most_requests});
}

struct Api::Job {
  std::thread thread;
  StopSign stop;
  std::mutex mutex;
  bool done = false;
  Response response;
};

Api::Api(SharedData shared, Surroundings surroundings, ApiLimits limits)
    : shared_(std::move(shared)), surroundings_(std::move(surroundings)), limits_(std::move(limits)) {
  surroundings_.width = 0;
  surroundings_.colour = false;
}

Api::~Api() {
  for (auto& [id, job] : jobs_) job->stop.raised = true;  // all of them end meanwhile
  for (auto& [id, job] : jobs_) job->thread.join();
}

Response Api::run(const std::vector<std::string>& words, const StopSign& stop) const {
  Result<Answer> answer = call(words, shared_, surroundings_, stop, Files::refused);
  if (!answer) return refused(answer.error());
  Response response = Response::json(200, std::move(answer->json));
  response.headers.emplace_back("X-Ridge-Exit", std::to_string(answer->exit_code));
  return response;
}

Response Api::start_job(std::vector<std::string> words) {
  const std::lock_guard lock(mutex_);
  for (auto at = jobs_.begin(); at != jobs_.end() && jobs_.size() >= limits_.jobs;) {
    std::unique_lock job_lock(at->second->mutex);
    const bool done = at->second->done;
    job_lock.unlock();
    if (!done) {
      ++at;
      continue;
    }
    at->second->thread.join();
    at = jobs_.erase(at);
  }
  if (jobs_.size() >= limits_.jobs)
    return Response::error(503, "too many jobs run already: end one, or try again later");
  const int id = ++last_job_;
  auto job = std::make_unique<Job>();
  set_limits(job->stop, limits_, 10 * limits_.long_seconds);
  job->thread = std::thread([this, raw = job.get(), words = std::move(words)] {
    Response response = http::guarded([&] { return run(words, raw->stop); });
    const std::lock_guard job_lock(raw->mutex);
    raw->response = std::move(response);
    raw->done = true;
  });
  jobs_[id] = std::move(job);
  return Response::json(
      202, Json::object().set("job", std::to_string(id)).set("state", "running").set("progress", 0.0).text());
}

Api::Jobs::iterator Api::find_job(std::string_view id) {
  int number = 0;
  const auto read = std::from_chars(id.data(), id.data() + id.size(), number);
  return read.ec == std::errc() && std::to_string(number) == id ? jobs_.find(number) : jobs_.end();
}

Response Api::job_state(std::string_view id) {
  const std::lock_guard lock(mutex_);
  const auto at = find_job(id);
  if (at == jobs_.end()) return Response::error(404, "there is no such job");
  const std::lock_guard job_lock(at->second->mutex);
  if (at->second->done) return at->second->response;
  const double share = at->second->stop.done_share;
  return Response::json(202, Json::object().set("job", id).set("state", "running").set("progress", share).text());
}

Response Api::end_job(std::string_view id) {
  std::unique_ptr<Job> ended;
  {
    const std::lock_guard lock(mutex_);
    const auto at = find_job(id);
    if (at == jobs_.end()) return Response::error(404, "there is no such job");
    ended = std::move(at->second);
    jobs_.erase(at);
  }
  ended->stop.raised = true;
  ended->thread.join();
  return Response::json(200, Json::object().set("job", id).set("state", "ended").text());
}

void Api::keep(const std::string& body, const Response& response) {
  const std::lock_guard lock(kept_mutex_);
  const auto size = [](const auto& entry) { return entry.first.size() + entry.second.body.size(); };
  const auto [at, is_new] = kept_.emplace(body, response);
  if (!is_new) return;
  kept_bytes_ += size(*at);
  oldest_.push_back(&at->first);
  // One out for one in: memory stays as it is, whoever asks what.
  while (kept_bytes_ > kMostKeptBytes) {
    const auto gone = kept_.find(*oldest_.front());
    kept_bytes_ -= size(*gone);
    kept_.erase(gone);
    oldest_.pop_front();
  }
}

Response Api::answer(const Request& request, bool may_take_long) {
  if (!limits_.token.empty() && !same_secret(request.header("authorization"), "Bearer " + limits_.token)) {
    Response response = Response::error(401, "a token is needed: Authorization: Bearer ...");
    response.headers.emplace_back("WWW-Authenticate", "Bearer");
    return response;
  }
  constexpr std::string_view kJobs = "/v1/jobs/";
  if (request.path.starts_with(kJobs)) {
    const std::string_view id = std::string_view(request.path).substr(kJobs.size());
    if (request.method == "GET" || request.method == "HEAD") return job_state(id);
    if (request.method == "DELETE") return may_take_long ? end_job(id) : Response::later();
    return Response::error(405, "GET or DELETE a job");
  }
  const Endpoint* endpoint = endpoint_of(request.path);
  if (endpoint == nullptr || verb_of(endpoint->verb) == nullptr) {
    return Response::error(404, "there is nothing at " + quoted(request.path));
  }
  const bool reads = request.method == "GET" || request.method == "HEAD";
  if (reads != (endpoint->method == "GET") || (!reads && request.method != "POST")) {
    Response response = Response::error(405, std::string(endpoint->method) + " it");
    response.headers.emplace_back("Allow", std::string(endpoint->method));
    return response;
  }
  const bool kept = endpoint->verb == "estimate" && request.body.size() <= kLargestKeptBody;
  if (kept) {
    const std::lock_guard lock(kept_mutex_);
    if (const auto at = kept_.find(request.body); at != kept_.end()) return at->second;
  }
  Result<std::vector<std::string>> words = request_words(request, *shared_.catalogue, limits_);
  if (!words) return refused(words.error());
  const bool with_points = request.query.size() == 1 && request.query[0].first == "points";
  const bool remembered = endpoint->verb == "validate" && (request.query.empty() || with_points);
  if (remembered) {
    const std::lock_guard lock(mutex_);
    if (!validation_[with_points].empty()) return Response::json(200, validation_[with_points]);
  }
  if (!reads) {
    if (asks_for_a_job(request.body)) return start_job(*std::move(words));
  }
  if ((endpoint->takes_long || reads_catalogue(*words)) && !may_take_long) return Response::later();
  StopSign stop;
  set_limits(stop, limits_, limits_.long_seconds);
  Response response = run(*words, stop);
  if (kept && response.status == 200) keep(request.body, response);
  if (remembered && response.status == 200) {
    const std::lock_guard lock(mutex_);
    validation_[with_points] = response.body;
  }
  return response;
}

}  // namespace ridge::cli
