#include "app/emulate/emulator.hpp"

#include <arpa/inet.h>
#include <fmt/compile.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <deque>
#include <unordered_map>

#include "app/emulate/metrics.hpp"
#include "app/emulate/openai.hpp"

namespace ridge::emulate {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kBodyLimit = 16'000'000;
constexpr std::size_t kConnectionMemory = 32 * 1024;
constexpr std::size_t kBlock = 4096;  ///< of an answer, handed over at once
constexpr unsigned kConnectionLimit = 20'000;
constexpr unsigned kIdleSeconds = 120;  ///< a connection that says nothing is closed
constexpr auto kLongestSleep = std::chrono::milliseconds(100);
constexpr auto kBetweenLooks = std::chrono::milliseconds(250);  ///< for clients that left before anything was sent

}  // namespace

enum class Stage : std::uint8_t { reading, waiting, streaming, answered };

/// One request from its first byte to its last.
struct Exchange {
  MHD_Connection* connection = nullptr;
  std::string method, path, body;
  bool authorized = true;
  bool too_large = false;
  Stage stage = Stage::reading;
  bool asleep = false;  ///< the connection waits for tokens
  bool in_system = false;
  bool over = false;    ///< no token follows
  bool broken = false;  ///< the connection is cut instead of a good end
  bool torn = false;    ///< it is cut now, whatever waits
  std::uint64_t id = 0;
  Asked asked;
  AnswerForm form;
  Clock::time_point arrival, last_token;
  std::uint32_t generated = 0;
  std::uint32_t cached = 0;
  int status = 200;
  std::string pending;  ///< text that waits to be sent
  std::size_t sent = 0;
  bool chunked = false;  ///< the client speaks HTTP/1.1: a stream has no length
  int socket = -1;
};

struct Emulator::Core {
  explicit Core(EmulatorOptions given)
      : options(std::move(given)), metrics(options.model), quoted_model(quoted_json(options.model)) {}
  ~Core() {
    if (daemon == nullptr) return;
    for (auto& [id, exchange] : exchanges) {  // MHD wants nobody asleep when it stops
      exchange->in_system = false;
      exchange->over = exchange->broken = true;
      exchange->status = 503;
      wake(*exchange);
    }
    MHD_run(daemon);
    MHD_stop_daemon(daemon);
  }

  EmulatorOptions options;
  Metrics metrics;
  std::string quoted_model;
  MHD_Daemon* daemon = nullptr;
  int epoll = -1;
  Clock::time_point start = Clock::now();
  std::int64_t created = static_cast<std::int64_t>(std::time(nullptr));
  std::unordered_map<std::uint64_t, Exchange*> exchanges;  ///< of requests that the scheduler has, or will
  std::uint64_t ids = 0;
  std::deque<LiveRequest> came;
  std::deque<std::uint64_t> left;
  LiveState state;
  Clock::time_point next_look = start;
  std::vector<pollfd> looked_at;
  std::vector<Exchange*> lookers;
  std::string piece, framed;  ///< of one token, kept for their memory

  [[nodiscard]] std::int64_t ticks_of(Clock::time_point t) const {
    return static_cast<std::int64_t>(std::chrono::duration<double>(t - start).count() * options.speed *
                                     kTicksPerSecond);
  }
  [[nodiscard]] Clock::time_point time_of(std::int64_t ticks) const {
    const double seconds = static_cast<double>(ticks) / kTicksPerSecond / options.speed;
    return start + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(std::min(seconds, 1e8)));
  }

  void wake(Exchange& e) {
    if (!e.asleep) return;
    e.asleep = false;
    MHD_resume_connection(e.connection);
  }

  MHD_Result send(Exchange& e, int status, std::string_view body, const char* type) {
    e.stage = Stage::answered;
    MHD_Response* out =
        MHD_create_response_from_buffer(body.size(), const_cast<char*>(body.data()), MHD_RESPMEM_MUST_COPY);
    if (out == nullptr) return MHD_NO;
    MHD_add_response_header(out, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    if (status == 429) MHD_add_response_header(out, MHD_HTTP_HEADER_RETRY_AFTER, "1");
    const MHD_Result queued = MHD_queue_response(e.connection, static_cast<unsigned>(status), out);
    MHD_destroy_response(out);
    return queued;
  }
  MHD_Result refuse(Exchange& e, int status, std::string_view type, std::string_view message) {
    return send(e, status, error_body(status, type, message), "application/json");
  }

  void look_who_left(Clock::time_point now);
  bool write_through(Exchange& e, std::string_view events);
  MHD_Result stream(Exchange& e);
  MHD_Result answer(Exchange& e);
  MHD_Result admit(Exchange& e, Endpoint endpoint);
  MHD_Result answer_page(Exchange& e);
};

namespace {

/// MHD asks for the next bytes of a stream.
ssize_t read_stream(void* closure, std::uint64_t /*position*/, char* into, std::size_t most) {
  Exchange& e = *static_cast<Exchange*>(closure);
  if (e.torn) return MHD_CONTENT_READER_END_WITH_ERROR;
  const std::size_t there = e.pending.size() - e.sent;
  if (there == 0) {
    if (e.over) return e.broken ? MHD_CONTENT_READER_END_WITH_ERROR : MHD_CONTENT_READER_END_OF_STREAM;
    e.asleep = true;
    MHD_suspend_connection(e.connection);
    return 0;
  }
  const std::size_t size = std::min(there, most);
  std::memcpy(into, e.pending.data() + e.sent, size);
  e.sent += size;
  if (e.sent == e.pending.size()) {
    e.pending.clear();
    e.sent = 0;
  }
  return static_cast<ssize_t>(size);
}

}  // namespace

/// Nothing is sent to whoever waits for a first token or for a whole answer, so nothing would fail if they hung up: an
/// engine takes them out of its queue then.
void Emulator::Core::look_who_left(Clock::time_point now) {
  if (now < next_look) return;
  next_look = now + kBetweenLooks;
  looked_at.clear();
  lookers.clear();
  for (auto& [id, e] : exchanges) {
    if (!e->asleep || e->stage != Stage::waiting) continue;
    const MHD_ConnectionInfo* info = MHD_get_connection_info(e->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (info == nullptr) continue;
    looked_at.push_back({info->connect_fd, POLLRDHUP, 0});
    lookers.push_back(e);
  }
  if (looked_at.empty() || poll(looked_at.data(), looked_at.size(), 0) <= 0) return;
  for (std::size_t i = 0; i < looked_at.size(); ++i) {
    if (looked_at[i].revents == 0) continue;
    Exchange& e = *lookers[i];
    exchanges.erase(e.id);
    left.push_back(e.id);
    e.in_system = false;
    e.over = e.broken = true;
    e.status = 503;
    wake(e);
  }
}

/// Sends a token of a stream that MHD has put to sleep: it has nothing of its own to send then, and waking it costs two
/// calls of the kernel more than the token. The first piece and the last go through MHD. False: not a byte was sent.
bool Emulator::Core::write_through(Exchange& e, std::string_view events) {
  if (!e.chunked || e.stage != Stage::streaming || !e.asleep || !e.pending.empty()) return false;
  if (e.socket < 0) {
    const MHD_ConnectionInfo* info = MHD_get_connection_info(e.connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (info == nullptr) return false;
    e.socket = info->connect_fd;
    const int on = 1;
    setsockopt(e.socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  framed.clear();
  fmt::format_to(std::back_inserter(framed), FMT_COMPILE("{:x}\r\n"), events.size());
  framed.append(events).append("\r\n");
  ssize_t sent = ::send(e.socket, framed.data(), framed.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent <= 0) return false;  // a full buffer, or nobody there: MHD waits, or finds out
  if (static_cast<std::size_t>(sent) < framed.size()) {
    // Half a piece is on its way and nobody reads: no good end is left.
    e.torn = true;
    wake(e);
  }
  return true;
}

MHD_Result Emulator::Core::stream(Exchange& e) {
  e.stage = Stage::streaming;
  MHD_Response* out = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, kBlock, read_stream, &e, nullptr);
  if (out == nullptr) return MHD_NO;
  MHD_add_response_header(out, MHD_HTTP_HEADER_CONTENT_TYPE, "text/event-stream; charset=utf-8");
  MHD_add_response_header(out, MHD_HTTP_HEADER_CACHE_CONTROL, "no-cache");
  const MHD_Result queued = MHD_queue_response(e.connection, MHD_HTTP_OK, out);
  MHD_destroy_response(out);
  return queued;
}

MHD_Result Emulator::Core::answer(Exchange& e) {
  if (e.status == 429) return refuse(e, 429, "rate_limit_error", "a limit of this server is reached: try again later");
  if (e.status == 400) {
    return refuse(e, 400, "invalid_request_error",
                  fmt::format("prompt and answer are {} tokens long, more than the KV cache holds",
                              static_cast<std::uint64_t>(e.asked.input) + e.asked.output));
  }
  if (e.status != 200) return refuse(e, e.status, "internal_error", "the engine failed, or nobody waited any longer");
  if (e.asked.stream) return stream(e);
  std::string text;
  for (std::uint32_t i = 0; i < e.asked.output; ++i) text += answer_word(e.asked.seed, i);
  return send(e, 200, whole_answer(e.form, text, e.asked.input, e.asked.output, e.cached), "application/json");
}

MHD_Result Emulator::Core::admit(Exchange& e, Endpoint endpoint) {
  e.arrival = Clock::now();  // reading a long prompt is no work of the engine
  if (e.too_large) return refuse(e, 413, "invalid_request_error", "the body is larger than 16 MB");
  Result<Asked> asked = read_request(e.body, endpoint, {options.block_tokens, options.usual_output});
  e.body = {};
  if (!asked) return refuse(e, 400, "invalid_request_error", asked.error().message);
  if (!asked->model.empty() && asked->model != options.model) {
    return refuse(e, 404, "NotFoundError", "The model `" + asked->model + "` does not exist; this is " + options.model);
  }
  e.asked = *std::move(asked);
  e.id = ++ids;
  e.form = token_form(endpoint, fmt::format("{}-{}", endpoint == Endpoint::chat ? "chatcmpl" : "cmpl", e.id),
                      quoted_model, static_cast<std::int64_t>(std::time(nullptr)));
  e.stage = Stage::waiting;
  e.in_system = e.asleep = true;
  exchanges[e.id] = &e;
  came.push_back(
      {e.id, ticks_of(e.arrival), e.asked.input, e.asked.output, e.asked.priority, std::move(e.asked.block_keys)});
  MHD_suspend_connection(e.connection);
  return MHD_YES;
}

MHD_Result Emulator::Core::answer_page(Exchange& e) {
  if (e.method != MHD_HTTP_METHOD_GET && e.method != MHD_HTTP_METHOD_HEAD) {
    return refuse(e, 404, "NotFoundError", "POST is for /v1/completions and /v1/chat/completions");
  }
  if (e.path == "/health" || e.path == "/ping") {
    return state.engines_up > 0 || ids == 0 ? send(e, 200, "", "text/plain")
                                            : send(e, 503, "no engine is up\n", "text/plain");
  }
  if (e.path == "/metrics") return send(e, 200, metrics.text(state), "text/plain; version=0.0.4; charset=utf-8");
  if (e.path == "/version") return send(e, 200, "{\"version\":\"ridge emulate\"}\n", "application/json");
  if (e.path == "/v1/models") {
    const std::string length =
        options.max_tokens > 0 ? fmt::format(",\"max_model_len\":{:.0f}", options.max_tokens) : std::string();
    return send(e, 200,
                fmt::format("{{\"object\":\"list\",\"data\":[{{\"id\":{},\"object\":\"model\",\"created\":{},"
                            "\"owned_by\":\"ridge emulate\"{}}}]}}\n",
                            quoted_model, created, length),
                "application/json");
  }
  return refuse(e, 404, "NotFoundError",
                "there is /v1/completions, /v1/chat/completions, /v1/models, /health, /version and /metrics");
}

namespace {

void* begin_exchange(void* /*closure*/, const char* /*uri*/, MHD_Connection* /*connection*/) {
  return new Exchange;
}

void ignore_log(void* /*closure*/, const char* /*form*/, va_list /*arguments*/) {}

}  // namespace

Result<std::unique_ptr<Emulator>> Emulator::listen(EmulatorOptions given) {
  auto core = std::make_unique<Core>(std::move(given));
  const EmulatorOptions& options = core->options;
  sockaddr_in v4{};
  sockaddr_in6 v6{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(static_cast<std::uint16_t>(options.port));
  v6.sin6_family = AF_INET6;
  v6.sin6_port = v4.sin_port;
  const bool is_v4 = inet_pton(AF_INET, options.address.c_str(), &v4.sin_addr) == 1;
  if (!is_v4 && inet_pton(AF_INET6, options.address.c_str(), &v6.sin6_addr) != 1) {
    return Error{ErrorCode::bad_input, "⟦host⟧", "'" + options.address + "' is no address; write 127.0.0.1 or ::1"};
  }
  const auto* address = is_v4 ? reinterpret_cast<const sockaddr*>(&v4) : reinterpret_cast<const sockaddr*>(&v6);

  const auto step = [](void* closure, MHD_Connection* connection, const char* url, const char* method,
                       const char* version, const char* data, std::size_t* size, void** held) -> MHD_Result {
    Core& self = *static_cast<Core*>(closure);
    Exchange& e = *static_cast<Exchange*>(*held);
    if (e.method.empty()) {  // headers are here, the body is not
      e.connection = connection;
      e.method = method;
      e.path = url;
      e.chunked = std::string_view(version) == MHD_HTTP_VERSION_1_1;
      if (!self.options.key.empty() && e.path.starts_with("/v1/")) {
        const char* carried = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_AUTHORIZATION);
        e.authorized = carried != nullptr && carried == "Bearer " + self.options.key;
      }
      return MHD_YES;
    }
    if (*size > 0) {
      e.too_large = e.too_large || e.body.size() + *size > kBodyLimit;
      if (!e.too_large) e.body.append(data, *size);
      *size = 0;
      return MHD_YES;
    }
    if (e.stage == Stage::waiting) return e.asleep ? MHD_YES : self.answer(e);
    if (e.stage != Stage::reading) return MHD_YES;
    if (!e.authorized) return self.refuse(e, 401, "invalid_api_key", "the bearer token is missing or wrong");
    const bool post = e.method == MHD_HTTP_METHOD_POST;
    if (post && e.path == "/v1/completions") return self.admit(e, Endpoint::completions);
    if (post && e.path == "/v1/chat/completions") return self.admit(e, Endpoint::chat);
    return self.answer_page(e);
  };
  const auto end = [](void* closure, MHD_Connection* /*connection*/, void** held, MHD_RequestTerminationCode /*why*/) {
    Core& self = *static_cast<Core*>(closure);
    auto* e = static_cast<Exchange*>(*held);
    if (e == nullptr) return;
    if (e->in_system) {
      self.exchanges.erase(e->id);
      self.left.push_back(e->id);
    }
    delete e;
    *held = nullptr;
  };

  errno = 0;
  core->daemon = MHD_start_daemon(
      MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG | (is_v4 ? MHD_NO_FLAG : MHD_USE_IPv6),
      static_cast<std::uint16_t>(options.port), nullptr, nullptr, static_cast<MHD_AccessHandlerCallback>(step),
      core.get(), MHD_OPTION_EXTERNAL_LOGGER, ignore_log, nullptr, MHD_OPTION_SOCK_ADDR, address,
      MHD_OPTION_URI_LOG_CALLBACK, begin_exchange, nullptr, MHD_OPTION_NOTIFY_COMPLETED,
      static_cast<MHD_RequestCompletedCallback>(end), core.get(), MHD_OPTION_CONNECTION_LIMIT, kConnectionLimit,
      MHD_OPTION_CONNECTION_TIMEOUT, kIdleSeconds, MHD_OPTION_CONNECTION_MEMORY_LIMIT, kConnectionMemory,
      MHD_OPTION_LISTENING_ADDRESS_REUSE, 1U, MHD_OPTION_LISTEN_BACKLOG_SIZE, 4096U, MHD_OPTION_END);
  if (core->daemon == nullptr) {
    return Error{ErrorCode::bad_input, options.address + ":" + std::to_string(options.port),
                 "cannot listen there" + (errno != 0 ? ": " + std::string(std::strerror(errno)) : std::string()) +
                     "; choose another with ⟦port⟧"};
  }
  // Connections inherit it. Others (BBR) pace what is sent by a guess of the network, by a timer for each piece.
  if (const MHD_DaemonInfo* listener = MHD_get_daemon_info(core->daemon, MHD_DAEMON_INFO_LISTEN_FD)) {
    setsockopt(listener->listen_fd, IPPROTO_TCP, TCP_CONGESTION, "reno", 4);
  }
  const MHD_DaemonInfo* info = MHD_get_daemon_info(core->daemon, MHD_DAEMON_INFO_EPOLL_FD);
  core->epoll = info == nullptr ? -1 : info->epoll_fd;
  return std::unique_ptr<Emulator>(new Emulator(std::move(core)));
}

Emulator::Emulator(std::unique_ptr<Core> core) : core_(std::move(core)) {}
Emulator::~Emulator() = default;

int Emulator::port() const {
  const MHD_DaemonInfo* info = MHD_get_daemon_info(core_->daemon, MHD_DAEMON_INFO_BIND_PORT);
  return info == nullptr ? core_->options.port : info->port;
}
const LatencyDistribution& Emulator::lateness() const {
  return core_->metrics.lateness();
}
std::uint64_t Emulator::finished() const {
  return core_->metrics.finished();
}
std::uint64_t Emulator::generated() const {
  return core_->metrics.generated();
}

LiveTraffic::Wake Emulator::wait(std::int64_t ticks, const LiveState& state) {
  Core& c = *core_;
  c.state = state;
  const Clock::time_point due = c.time_of(ticks);
  while (true) {
    // What was written since the last look leaves before anything else happens.
    do {
      MHD_run(c.daemon);
      MHD_UNSIGNED_LONG_LONG more = 1;
      if (MHD_get_timeout(c.daemon, &more) != MHD_YES || more > 0) break;
    } while (Clock::now() < due);
    c.look_who_left(Clock::now());
    if (!c.came.empty() || !c.left.empty()) return Wake::changed;
    const Clock::time_point now = Clock::now();
    if (now >= due) {
      c.metrics.late(std::chrono::duration<double>(now - due).count());
      return Wake::due;
    }
    if (c.options.stopped && c.options.stopped()) return Wake::stop;
    const auto sleep = std::min<Clock::duration>(due - now, kLongestSleep);
    const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(sleep).count();
    const timespec longest{ns / 1'000'000'000, ns % 1'000'000'000};
    pollfd sockets{c.epoll, POLLIN, 0};
    ppoll(&sockets, 1, &longest, nullptr);
  }
}

bool Emulator::take(LiveRequest& request) {
  if (core_->came.empty()) return false;
  request = std::move(core_->came.front());
  core_->came.pop_front();
  return true;
}

bool Emulator::take_cancelled(std::uint64_t& id) {
  if (core_->left.empty()) return false;
  id = core_->left.front();
  core_->left.pop_front();
  return true;
}

void Emulator::tokens(std::uint64_t id, std::uint32_t generated) {
  const auto at = core_->exchanges.find(id);
  if (at == core_->exchanges.end()) return;
  Exchange& e = *at->second;
  if (generated <= e.generated) return;
  const Clock::time_point now = Clock::now();
  if (e.generated == 0) {
    core_->metrics.first_token(std::chrono::duration<double>(now - e.arrival).count());
  } else {
    core_->metrics.gap(std::chrono::duration<double>(now - e.last_token).count());
  }
  e.last_token = now;
  if (!e.asked.stream) {
    e.generated = generated;
    return;
  }
  std::string& piece = core_->piece;
  piece.clear();
  if (e.generated == 0 && e.form.endpoint == Endpoint::chat) append_role(piece, e.form);
  while (e.generated < generated) {
    const std::string text = answer_word(e.asked.seed, e.generated++);
    append_token(piece, e.form, text, e.generated == e.asked.output);
  }
  if (e.generated < e.asked.output && core_->write_through(e, piece)) return;
  e.pending += piece;
  core_->wake(e);
}

void Emulator::ended(const RequestRecord& record, LiveEnd end) {
  Core& c = *core_;
  const double seconds = static_cast<double>(record.last_token - record.arrival) / kTicksPerSecond / c.options.speed;
  const auto at = c.exchanges.find(record.id);
  if (at != c.exchanges.end() && end == LiveEnd::finished) tokens(record.id, record.output);
  c.metrics.ended(record, end, seconds);
  if (at == c.exchanges.end()) return;
  Exchange& e = *at->second;
  c.exchanges.erase(at);
  e.in_system = false;
  e.over = true;
  e.cached = record.cached;
  if (end == LiveEnd::finished) {
    if (e.asked.stream) {
      if (e.asked.wants_usage) append_usage(e.pending, e.form, e.asked.input, e.asked.output, e.cached);
      e.pending += "data: [DONE]\n\n";
    }
  } else if (end == LiveEnd::rejected) {
    e.status = 429;
  } else if (end == LiveEnd::too_long) {
    e.status = 400;
  } else {
    e.status = 503;
    e.broken = true;
  }
  c.wake(e);
}

bool Emulator::may_restart(std::uint64_t id) {
  const auto at = core_->exchanges.find(id);
  return at != core_->exchanges.end() && at->second->generated == 0;
}

}  // namespace ridge::emulate
