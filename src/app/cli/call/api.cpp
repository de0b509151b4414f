#include "app/cli/call/api.hpp"

#include <algorithm>
#include <array>

#include "app/http/origin.hpp"
#include "catalogue/files/json_document.hpp"
#include "ridge/base/change.hpp"
#include "ridge/base/text.hpp"

namespace ridge::cli {

namespace {

using http::Request;
using http::Response;

constexpr std::size_t kLargestKeptBody = 4096;
constexpr std::size_t kMostKeptBytes = 8u << 20;
constexpr std::size_t kLongestAddress = 64;
constexpr std::size_t kReadAtOnce = 16 << 10;  ///< of a body: a megabyte of JSON takes a fifth of a second to read
/// That a question may take where short ones wait for their turn; then it goes to the end of the heavy ones.
constexpr std::chrono::milliseconds kShortTurn{400};
/// Of the seconds that long work has, until it is asked to end: the rest is for putting together what it found.
constexpr double kWorking = 0.95;
constexpr std::string_view kJobs = "/v1/jobs";

struct Endpoint {
  std::string_view path;
  std::string_view verb;
  std::string_view method;
  enum class Effort { nothing, little, long_work } effort;  ///< mostly at once, below a second, or more
};
using Effort = Endpoint::Effort;

constexpr std::array kEndpoints = {
    Endpoint{"/v1/estimate", "estimate", "POST", Effort::nothing},
    Endpoint{"/v1/simulate", "simulate", "POST", Effort::long_work},
    Endpoint{"/v1/plan", "plan", "POST", Effort::long_work},
    Endpoint{"/v1/cost", "cost", "POST", Effort::little},
    Endpoint{"/v1/goodput", "goodput", "POST", Effort::little},
    Endpoint{"/v1/facility", "facility", "POST", Effort::little},
    Endpoint{"/v1/check", "check", "POST", Effort::little},
    Endpoint{"/v1/catalogue", "show", "GET", Effort::little},
    Endpoint{"/v1/mlperf", "mlperf", "GET", Effort::little},
    Endpoint{"/v1/validate", "validate", "GET", Effort::long_work},
};

const Endpoint* endpoint_of(std::string_view path) {
  const auto at = std::find_if(kEndpoints.begin(), kEndpoints.end(), [&](const Endpoint& e) { return e.path == path; });
  return at == kEndpoints.end() ? nullptr : &*at;
}

Response refused(const Error& error) {
  const int status = error.code == ErrorCode::not_found ? 404 : error.code == ErrorCode::bad_input ? 400 : 422;
  const Error said = phrased(error, Voice::json);
  return Response::error(status, said.message, said.where);
}

/// What the body says of how it is to be answered.
struct Manner {
  bool job = false;
  bool keep = false;
};

Manner manner_of(std::string_view body) {
  // Reading it once more would cost as much again, so only where it may say so, plainly or behind an escape.
  if (body.find("async") == std::string_view::npos && body.find('\\') == std::string_view::npos) return {};
  const Result<JsonNode> read = parse_json(body, "body");
  if (!read) return {};
  const JsonNode* async = read->find("async");
  const JsonNode* keep = read->find("keep");
  return {async != nullptr && async->flag, keep != nullptr && keep->flag};
}

/// Whether it takes a few milliseconds at most, so that nobody notices whoever asks it a thousand times. A what-if
/// reads the catalogue anew, a list of lengths has thousands, and the other kinds of estimates look at whole spaces.
bool is_quick(const Endpoint& endpoint, const Call& asked) {
  if (endpoint.effort != Effort::nothing || asked.says("--set") || asked.says("--lengths")) return false;
  static constexpr std::array<std::string_view, 4> kQuick = {"infer", "train", "diffusion", "techniques"};
  return asked.words.empty() || std::find(kQuick.begin(), kQuick.end(), asked.words.front()) != kQuick.end();
}

bool same_secret(std::string_view a, std::string_view b) {  // in a time that tells nothing about where they differ
  unsigned different = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    different |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  }
  return different == 0;
}

}  // namespace

Result<Call> request_call(const Request& request, const Catalogue& catalogue, const ServiceLimits& limits) {
  const Endpoint* endpoint = endpoint_of(request.path);
  if (endpoint == nullptr) return Error{ErrorCode::not_found, "", "there is nothing at " + quoted(request.path)};
  Result<std::vector<Said>> said = std::vector<Said>();
  if (endpoint->method == "GET") {
    for (const auto& [key, value] : request.query) {
      said->push_back(value.empty() ? Said{key, {}, true} : Said{key, {value}});
    }
  } else {
    said = read_said(request.body, "body");
    if (!said) return said.error();
    std::erase_if(*said, [](const Said& one) { return one.key == "async" || one.key == "keep"; });
  }
  return make_call(endpoint->verb, *std::move(said), catalogue,
                   {.most_requests = limits.most_requests, .most_draws = limits.most_draws});
}

Api::Api(SharedData shared, Surroundings surroundings, ServiceLimits limits)
    : shared_(std::move(shared)),
      surroundings_(std::move(surroundings)),
      limits_(std::move(limits)),
      jobs_(limits_.jobs, [this](const Call& asked, StopSign& stop) {
        set_limits(stop, limits_.job_seconds, std::chrono::steady_clock::now());
        return run(asked, stop);
      }) {
  surroundings_.width = 0;
  surroundings_.colour = false;
}

void Api::set_limits(StopSign& stop, double seconds, std::chrono::steady_clock::time_point from) const {
  stop.deadline =
      from + std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(seconds));
  stop.most_requests = limits_.most_requests;
  stop.most_memory = limits_.most_memory;
}

std::optional<std::string> Api::client_of(const Request& request) const {
  std::string address = request.address;
  if (limits_.trust_forwarded) {
    // The proxy adds whom it heard at the end; what stands before is what that one said.
    std::string_view said = request.header("x-forwarded-for");
    said.remove_prefix(std::min(said.size(), said.rfind(',') + 1));
    said.remove_prefix(std::min(said.size(), said.find_first_not_of(' ')));
    if (!said.empty() && said.size() <= kLongestAddress) address = said;
  }
  if (limits_.tokens.empty()) return address;
  std::optional<std::string> found;
  for (std::size_t i = 0; i < limits_.tokens.size(); ++i) {
    if (same_secret(request.header("authorization"), "Bearer " + limits_.tokens[i])) {
      found = limits_.tokens.size() > 1 ? "token " + std::to_string(i) : address;
    }
  }
  return found;
}

Response Api::run(const Call& asked, const StopSign& stop) const {
  Result<Answer> answer = call(asked, shared_, surroundings_, stop, Files::refused);
  if (!answer) return refused(answer.error());
  Response response = Response::json(200, std::move(answer->json));
  response.headers.emplace_back("X-Ridge-Exit", std::to_string(answer->exit_code));
  return response;
}

Response Api::job(const std::string& client, const Request& request) {
  const std::string_view id = std::string_view(request.path).substr(std::min(request.path.size(), kJobs.size() + 1));
  const bool reads = request.method == "GET" || request.method == "HEAD";
  if (id.empty() && reads) return jobs_.list(client);
  if (reads) return jobs_.state(client, id);
  if (request.method == "DELETE" && !id.empty()) return jobs_.end(client, id);
  Response response = Response::error(405, "GET or DELETE a job");
  response.headers.emplace_back("Allow", id.empty() ? "GET" : "GET, DELETE");
  return response;
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
  if (http::is_cross_site(request)) {
    return Response::error(403, "a page of another site asks, and gets no answer");
  }
  const std::optional<std::string> client = client_of(request);
  if (!client) {
    Response response = Response::error(401, "a token is needed: Authorization: Bearer ...");
    response.headers.emplace_back("WWW-Authenticate", "Bearer");
    return response;
  }
  if (request.path == kJobs || request.path.starts_with(std::string(kJobs) + "/")) return job(*client, request);
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
  const Response in_turn =
      Response::later(endpoint->effort == Effort::long_work ? http::Weight::heavy : http::Weight::light, *client);
  if (!may_take_long && request.body.size() > kReadAtOnce) return in_turn;
  Result<Call> asked = request_call(request, *shared_.catalogue, limits_);
  if (!asked) return refused(asked.error());
  const bool with_points = request.query.size() == 1 && request.query[0].first == "points";
  const bool remembered = endpoint->verb == "validate" && (request.query.empty() || with_points);
  if (remembered) {
    const std::lock_guard lock(mutex_);
    if (!validation_[with_points].empty()) return Response::json(200, validation_[with_points]);
  }
  if (!reads) {
    if (const Manner manner = manner_of(request.body); manner.job) {
      return jobs_.start(*client, *std::move(asked), manner.keep);
    }
  }
  if (!may_take_long && !is_quick(*endpoint, *asked)) return in_turn;
  StopSign stop;
  set_limits(stop, kWorking * limits_.long_seconds, request.arrived);
  stop.left = request.left;
  const bool short_turn = may_take_long && request.taken_for == http::Weight::light;
  if (short_turn) stop.deadline = std::min(stop.deadline, std::chrono::steady_clock::now() + kShortTurn);
  Response response = run(*asked, stop);
  if (short_turn && stop.said != nullptr) return Response::later(http::Weight::heavy, *client);
  if (kept && response.status == 200) keep(request.body, response);
  if (remembered && response.status == 200) {
    const std::lock_guard lock(mutex_);
    validation_[with_points] = response.body;
  }
  return response;
}

}  // namespace ridge::cli
