#include "app/cli/api.hpp"

#include <algorithm>
#include <array>

#include "app/cli/verbs.hpp"
#include "catalogue/json_document.hpp"
#include "ridge/text.hpp"

namespace ridge::cli {

namespace {

using http::Request;
using http::Response;

constexpr std::size_t kLargestKeptBody = 4096;
constexpr std::size_t kMostKeptBytes = 16u << 20;

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

const Verb* verb_of(std::string_view name) {
  const auto all = verbs();
  const auto at = std::find_if(all.begin(), all.end(), [&](const Verb& v) { return v.name == name; });
  return at == all.end() ? nullptr : &*at;
}

/// Flags of each verb, made once.
const Grammar& whole_grammar() {
  static const Grammar all = grammar(verbs());
  return all;
}

Error wrong(std::string_view key, std::string message) {
  return {ErrorCode::bad_input, std::string(key), std::move(message)};
}

bool names_file(const OptionText& option) {
  return option.value == "FILE" || option.value == "OUT" || option.value == "DIR" || option.name == "--data";
}

/// Switches that write into the data of the server.
bool changes_data(std::string_view verb, std::string_view flag) {
  return verb == "validate" && (flag == "--gate" || flag == "--update");
}

/// Flags of all verbs that a request may set.
constexpr std::array<std::string_view, 2> kGlobals = {"--set", "--as-of"};

class Reader {
 public:
  Reader(const Verb& verb, const Catalogue& catalogue, const ApiLimits& limits)
      : verb_(verb), catalogue_(catalogue), limits_(limits) {
    for (const VerbText& text : whole_grammar().verbs) {
      if (text.verb->name == verb.name) options_ = &text.options;
    }
    words_ = {std::string(verb.name)};
  }

  Result<std::vector<std::string>> finish() {
    words_.insert(words_.begin() + 1, positional_.begin(), positional_.end());
    words_.emplace_back("--json");
    return std::move(words_);
  }

  Status positional(std::string_view key, std::string text) {
    if (text.empty() || text.starts_with("-")) return wrong(key, quoted(text) + " is no word");
    // What a verb reads as a path when it stands alone must not be one.
    if (text.find('/') != std::string::npos || text.find(".toml") != std::string::npos) {
      return wrong(key, "names a file: give the words themselves");
    }
    if ((verb_.name == "mlperf" && text == "import") || (verb_.name == "plan" && text == "merge")) {
      return wrong(key, quoted(text) + " reads files: use the command line");
    }
    positional_.push_back(std::move(text));
    return {};
  }

  Status add(std::string_view key, const std::vector<std::string>& values, bool is_switch) {
    std::string flag = "--" + std::string(key);
    std::replace(flag.begin(), flag.end(), '_', '-');
    const OptionText* option = find(flag);
    if (option == nullptr) {
      std::vector<std::string_view> known;
      for (const OptionText& text : *options_) {
        if (!text.name.empty() && may_set(text)) known.push_back(text.name);
      }
      const std::string near = nearest(flag, known.data(), known.size());
      return wrong(key,
                   "is no key of " + std::string(verb_.name) + (near.empty() ? "" : "; did you mean " + near + "?"));
    }
    if (option->value.empty()) {
      if (!is_switch) return wrong(key, "is a switch: write true or false");
      words_.push_back(flag);
      return {};
    }
    if (is_switch) return wrong(key, "needs a value, not true");
    const bool repeatable = option->help.ends_with("repeatable");
    std::string joined;
    for (const std::string& value : values) {
      if (const Status s = check(flag, value); !s) return wrong(key, s.error().message);
      if (repeatable) {
        words_.push_back(flag + "=" + value);
      } else {
        joined += (joined.empty() ? "" : ",") + value;
      }
    }
    if (!repeatable) words_.push_back(flag + "=" + joined);
    return {};
  }

  /// What `ridge check` judges. The space keeps it from being read as an option; the verb never takes it for a path.
  Status claims(std::string_view text) {
    if (verb_.name != "check") return wrong("text", "is no key of " + std::string(verb_.name));
    if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) return wrong("text", "is empty");
    positional_.push_back(" " + std::string(text));
    return {};
  }

 private:
  [[nodiscard]] bool may_set(const OptionText& text) const {
    return !text.hidden && !names_file(text) && !changes_data(verb_.name, text.name);
  }

  [[nodiscard]] const OptionText* find(std::string_view flag) const {
    for (const auto* texts : {options_, &whole_grammar().globals}) {
      for (const OptionText& text : *texts) {
        if (text.name != flag || !may_set(text)) continue;
        const bool global = texts != options_;
        if (!global || std::find(kGlobals.begin(), kGlobals.end(), flag) != kGlobals.end()) return &text;
      }
    }
    return nullptr;
  }

  [[nodiscard]] Status check(std::string_view flag, const std::string& value) const {
    if (flag == "--model" && !value.starts_with("dense:") && !value.starts_with("moe:")) {
      for (std::string_view rest = value; !rest.empty();) {
        const std::string_view id = rest.substr(0, rest.find(','));
        if (catalogue_.model(id) == nullptr) {
          return wrong("", "there is no model " + quoted(id) + "; a model written out (dense:layers=...) works too");
        }
        rest.remove_prefix(std::min(rest.size(), id.size() + 1));
      }
    }
    if (flag == "--device" && value.find(".toml") != std::string::npos) return wrong("", "names a file");
    if (flag == "--workload" && value.find('/') != std::string::npos) return wrong("", "names a file");
    if (flag == "--requests") {
      const Result<double> count = parse_count(value);
      if (count && *count > limits_.most_requests) {
        return wrong("", "is more than the " + format_number(limits_.most_requests, 9) + " that this server simulates");
      }
    }
    return {};
  }

  const Verb& verb_;
  const Catalogue& catalogue_;
  const ApiLimits& limits_;
  const std::vector<OptionText>* options_ = nullptr;
  std::vector<std::string> words_, positional_;
};

std::string plain(const JsonNode& node) {
  return node.kind == JsonNode::Kind::text      ? node.text
         : node.kind == JsonNode::Kind::integer ? std::to_string(node.integer)
                                                : exact_number(node.number);
}

bool is_scalar(const JsonNode& node) {
  return node.kind == JsonNode::Kind::text || node.kind == JsonNode::Kind::integer ||
         node.kind == JsonNode::Kind::number;
}

Status add_member(Reader& reader, const JsonMember& member) {
  const JsonNode& value = member.value;
  if (member.key == "async" || value.kind == JsonNode::Kind::null) return {};
  if (member.key == "kind" || member.key == "text") {
    if (value.kind != JsonNode::Kind::text) return wrong(member.key, "is a text");
    return member.key == "kind" ? reader.positional(member.key, value.text) : reader.claims(value.text);
  }
  if (value.kind == JsonNode::Kind::flag) return value.flag ? reader.add(member.key, {}, true) : Status();
  if (is_scalar(value)) return reader.add(member.key, {plain(value)}, false);
  if (value.kind == JsonNode::Kind::array && !value.items.empty()) {
    std::vector<std::string> values;
    for (const JsonNode& item : value.items) {
      if (!is_scalar(item)) return wrong(member.key, "is a list of texts or numbers");
      values.push_back(plain(item));
    }
    return reader.add(member.key, values, false);
  }
  return wrong(member.key, "is a text, a number, true, or a list of texts");
}

Response refused(const Error& error) {
  const int status = error.code == ErrorCode::not_found ? 404 : error.code == ErrorCode::bad_input ? 400 : 422;
  return Response::error(status, error.message, error.where);
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
  const Verb* verb = endpoint == nullptr ? nullptr : verb_of(endpoint->verb);
  if (verb == nullptr) return Error{ErrorCode::not_found, "", "there is nothing at " + quoted(request.path)};
  Reader reader(*verb, catalogue, limits);
  if (endpoint->method == "GET") {
    for (const auto& [key, value] : request.query) {
      const Status s = key == "kind" || key == "id" ? reader.positional(key, value)
                       : value.empty()              ? reader.add(key, {}, true)
                                                    : reader.add(key, {value}, false);
      if (!s) return s.error();
    }
    return reader.finish();
  }
  const Result<JsonNode> body = parse_json(request.body, "body");
  if (!body) return body.error();
  if (body->kind != JsonNode::Kind::object) return wrong("body", "is a JSON object of flags: {\"model\": ...}");
  for (const JsonMember& member : body->members) {
    if (const Status s = add_member(reader, member); !s) return s.error();
  }
  return reader.finish();
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
  for (auto& [id, job] : jobs_) {
    job->stop.raised = true;
    job->thread.join();
  }
}

Response Api::run(const std::vector<std::string>& words, const StopSign& stop) const {
  GlobalOptions options;
  const Verb* verb = verb_of(words.front());
  const Result<Command> command = parse_command_line(words, std::span(verb, 1), options);
  if (!command) return refused(command.error());
  std::string out;
  Session session(std::move(options), surroundings_, shared_, out, stop);
  const Result<int> code = command->action(session);
  if (!code) return refused(code.error());
  Response response = Response::json(200, std::move(out));
  response.headers.emplace_back("X-Ridge-Exit", std::to_string(*code));
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
  const std::string id = std::to_string(++last_job_);
  auto job = std::make_unique<Job>();
  job->stop.deadline =
      std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                             std::chrono::duration<double>(10 * limits_.long_seconds));
  job->thread = std::thread([this, raw = job.get(), words = std::move(words)] {
    Response response = run(words, raw->stop);
    const std::lock_guard job_lock(raw->mutex);
    raw->response = std::move(response);
    raw->done = true;
  });
  jobs_[id] = std::move(job);
  return Response::json(202, Json::object().set("job", id).set("state", "running").text());
}

Response Api::job_state(std::string_view id) {
  const std::lock_guard lock(mutex_);
  const auto at = jobs_.find(id);
  if (at == jobs_.end()) return Response::error(404, "there is no such job");
  const std::lock_guard job_lock(at->second->mutex);
  if (at->second->done) return at->second->response;
  return Response::json(202, Json::object().set("job", id).set("state", "running").text());
}

Response Api::end_job(std::string_view id) {
  std::unique_ptr<Job> ended;
  {
    const std::lock_guard lock(mutex_);
    const auto at = jobs_.find(id);
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
  if (kept_bytes_ > kMostKeptBytes) {  // starting anew is cheaper than knowing which one is the oldest
    kept_.clear();
    kept_bytes_ = 0;
  }
  if (kept_.emplace(body, response).second) kept_bytes_ += body.size() + response.body.size();
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
    const Result<JsonNode> body = parse_json(request.body, "body");
    const JsonNode* async = body ? body->find("async") : nullptr;
    if (async != nullptr && async->flag) return start_job(*std::move(words));
  }
  if (endpoint->takes_long && !may_take_long) return Response::later();
  StopSign stop;
  stop.deadline = std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                                         std::chrono::duration<double>(limits_.long_seconds));
  Response response = run(*words, stop);
  if (kept && response.status == 200) keep(request.body, response);
  if (remembered && response.status == 200) {
    const std::lock_guard lock(mutex_);
    validation_[with_points] = response.body;
  }
  return response;
}

}  // namespace ridge::cli
