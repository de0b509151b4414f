#include "app/http/server.hpp"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>
#include <unordered_map>

#include "report/unicode.hpp"
#include "ridge/letters.hpp"
#include "ridge/report.hpp"

namespace ridge::http {

namespace {

constexpr std::size_t kConnectionMemory = 32 * 1024;  // request line and headers must fit
constexpr std::string_view kClosing = "the server is shutting down";
using Clock = std::chrono::steady_clock;

enum class Stage { reading, ready, deferred, answered };

}  // namespace

std::string_view Request::header(std::string_view name) const {
  const auto at = headers.find(name);
  return at == headers.end() ? std::string_view() : std::string_view(at->second);
}

std::string_view Request::parameter(std::string_view name) const {
  for (const auto& [key, value] : query) {
    if (key == name) return value;
  }
  return {};
}

Response Response::error(int status, std::string_view message, std::string_view where) {
  Json inner = Json::object();
  inner.set("message", message);
  if (!where.empty()) inner.set("where", where);
  return json(status, Json::object().set("error", std::move(inner)).text() + "\n");
}

Response guarded(const std::function<Response()>& work) noexcept {
  try {
    return work();
  } catch (const std::exception& failure) {
    return Response::error(500, failure.what());
  }
}

/// One request while it is read and answered.
struct Exchange {
  Request request;
  Response response;
  Stage stage = Stage::reading;
  bool too_large = false;
  MHD_Connection* connection = nullptr;
  Clock::time_point start = Clock::now();
};

/// Ends connections that keep a request open by sending a byte now and then, which a time without progress never ends.
class Watch {
 public:
  explicit Watch(std::chrono::seconds most) : most_(most), thread_([this] { look(); }) {}
  ~Watch() {
    {
      const std::lock_guard lock(mutex_);
      closing_ = true;
    }
    wake_.notify_all();
    thread_.join();
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// From now on the connection owes a request.
  void expect(MHD_Connection* connection) {
    const MHD_ConnectionInfo* info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (info == nullptr) return;
    const std::lock_guard lock(mutex_);
    owing_[connection] = {info->connect_fd, Clock::now()};
  }
  /// The request is there, or the connection is about to be closed.
  void forget(MHD_Connection* connection) {
    const std::lock_guard lock(mutex_);
    owing_.erase(connection);
  }

 private:
  struct Owing {
    MHD_socket socket;
    Clock::time_point since;
  };
  void look() {
    std::unique_lock lock(mutex_);
    while (!closing_) {
      wake_.wait_for(lock, std::chrono::seconds(1));
      const Clock::time_point now = Clock::now();
      for (const auto& [connection, owing] : owing_) {
        // The server notices and closes it; until it has called forget() the socket is this connection's.
        if (now - owing.since > most_) shutdown(owing.socket, SHUT_RDWR);
      }
    }
  }

  const std::chrono::seconds most_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::unordered_map<MHD_Connection*, Owing> owing_;
  bool closing_ = false;
  std::thread thread_;
};

struct Server::Core {
  explicit Core(const Options& wanted) : options(wanted), watch(std::chrono::seconds(wanted.reading_s)) {}
  Options options;
  Watch watch;
  Handler handler;
  Log log;
  MHD_Daemon* daemon = nullptr;
  std::mutex log_mutex;

  // Requests that take long: taken by threads of their own while their connection sleeps.
  std::mutex mutex;
  std::condition_variable wake;
  std::deque<Exchange*> waiting;
  bool closing = false;
  std::vector<std::thread> workers;

  void work() {
    while (true) {
      Exchange* exchange = nullptr;
      {
        std::unique_lock lock(mutex);
        wake.wait(lock, [&] { return closing || !waiting.empty(); });
        if (waiting.empty()) return;
        exchange = waiting.front();
        waiting.pop_front();
      }
      exchange->response = call(exchange->request, true);
      exchange->stage = Stage::answered;
      MHD_resume_connection(exchange->connection);
    }
  }

  Response call(const Request& request, bool may_take_long) {
    return guarded([&] { return handler(request, may_take_long); });
  }

  MHD_Result send(Exchange& exchange) {
    Response& r = exchange.response;
    const std::size_t size = r.body.size();
    MHD_Response* out = MHD_create_response_from_buffer(size, r.body.data(), MHD_RESPMEM_MUST_COPY);
    if (out == nullptr) return MHD_NO;
    MHD_add_response_header(out, MHD_HTTP_HEADER_CONTENT_TYPE, r.type.c_str());
    for (const auto& [name, value] : r.headers) MHD_add_response_header(out, name.c_str(), value.c_str());
    const MHD_Result queued = MHD_queue_response(exchange.connection, static_cast<unsigned>(r.status), out);
    MHD_destroy_response(out);
    if (log) {
      const double ms = std::chrono::duration<double, std::milli>(Clock::now() - exchange.start).count();
      char line[64];
      std::snprintf(line, sizeof line, " %d %zu B %.1f ms", r.status, size, ms);
      const std::lock_guard lock(log_mutex);
      log(printable(exchange.request.method + " " + exchange.request.path) + line);
    }
    return queued;
  }

  /// Called by MHD for each piece of a request.
  MHD_Result step(MHD_Connection* connection, const char* data, std::size_t* size, Exchange& exchange) {
    exchange.connection = connection;
    if (*size > 0) {
      if (exchange.request.body.size() + *size > options.body_limit) {
        exchange.too_large = true;
      } else {
        exchange.request.body.append(data, *size);
      }
      *size = 0;
      return MHD_YES;
    }
    if (exchange.stage == Stage::answered) return send(exchange);
    if (exchange.stage != Stage::reading) return MHD_YES;
    exchange.stage = Stage::ready;
    watch.forget(connection);
    if (exchange.too_large) {
      exchange.response =
          Response::error(413, "the body is larger than " + std::to_string(options.body_limit) + " bytes");
      return send(exchange);
    }
    exchange.response = call(exchange.request, false);
    if (!exchange.response.defer) return send(exchange);
    {
      const std::lock_guard lock(mutex);
      if (closing || waiting.size() >= options.waiting_limit) {
        exchange.response =
            Response::error(503, closing ? kClosing : "too many long requests wait already: try again later");
        return send(exchange);
      }
      exchange.stage = Stage::deferred;
      MHD_suspend_connection(connection);
      waiting.push_back(&exchange);
    }
    wake.notify_one();
    return MHD_YES;
  }

  void stop() {
    if (daemon == nullptr) return;
    const MHD_socket listening = MHD_quiesce_daemon(daemon);
    {
      // Those that nobody has begun are answered at once; those that run end first.
      const std::lock_guard lock(mutex);
      closing = true;
      for (Exchange* exchange : waiting) {
        exchange->response = Response::error(503, kClosing);
        exchange->stage = Stage::answered;
        MHD_resume_connection(exchange->connection);
      }
      waiting.clear();
    }
    wake.notify_all();
    for (std::thread& worker : workers) worker.join();
    MHD_stop_daemon(daemon);
    if (listening != MHD_INVALID_SOCKET) close(listening);
    daemon = nullptr;
  }
};

namespace {

MHD_Result take_query(void* into, MHD_ValueKind /*kind*/, const char* key, const char* value) {
  static_cast<Request*>(into)->query.emplace_back(key, value == nullptr ? "" : value);
  return MHD_YES;
}
MHD_Result take_header(void* into, MHD_ValueKind /*kind*/, const char* key, const char* value) {
  static_cast<Request*>(into)->headers[lower(key)] = value == nullptr ? "" : value;
  return MHD_YES;
}

}  // namespace

Result<Server> Server::start(const Options& options, Handler handler, Log log) {
  auto core = std::make_unique<Core>(options);
  core->handler = std::move(handler);
  core->log = std::move(log);

  sockaddr_in v4{};
  sockaddr_in6 v6{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(static_cast<std::uint16_t>(options.port));
  v6.sin6_family = AF_INET6;
  v6.sin6_port = v4.sin_port;
  const bool is_v4 = inet_pton(AF_INET, options.address.c_str(), &v4.sin_addr) == 1;
  const bool is_v6 = !is_v4 && inet_pton(AF_INET6, options.address.c_str(), &v6.sin6_addr) == 1;
  if (!is_v4 && !is_v6) {
    return Error{ErrorCode::bad_input, "--host", "'" + options.address + "' is no address; write 127.0.0.1 or ::1"};
  }
  const auto* address = is_v4 ? reinterpret_cast<const sockaddr*>(&v4) : reinterpret_cast<const sockaddr*>(&v6);

  const auto begin = [](void* /*closure*/, const char* /*uri*/, MHD_Connection* /*connection*/) -> void* {
    return new Exchange;
  };
  const auto step = [](void* closure, MHD_Connection* connection, const char* url, const char* method,
                       const char* /*version*/, const char* data, std::size_t* size, void** state) -> MHD_Result {
    auto& exchange = *static_cast<Exchange*>(*state);
    if (exchange.request.method.empty()) {  // headers are here, the body is not
      exchange.request.method = method;
      exchange.request.path = url;
      MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, take_query, &exchange.request);
      MHD_get_connection_values(connection, MHD_HEADER_KIND, take_header, &exchange.request);
      return MHD_YES;
    }
    return static_cast<Core*>(closure)->step(connection, data, size, exchange);
  };
  const auto end = [](void* closure, MHD_Connection* connection, void** state, MHD_RequestTerminationCode why) {
    delete static_cast<Exchange*>(*state);
    *state = nullptr;
    if (why == MHD_REQUEST_TERMINATED_COMPLETED_OK) static_cast<Core*>(closure)->watch.expect(connection);
  };
  const auto meet = [](void* closure, MHD_Connection* connection, void** /*context*/,
                       MHD_ConnectionNotificationCode what) {
    Watch& watch = static_cast<Core*>(closure)->watch;
    what == MHD_CONNECTION_NOTIFY_STARTED ? watch.expect(connection) : watch.forget(connection);
  };
  const auto quiet = [](void*, const char*, va_list) {};

  const unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG |
                         (is_v6 ? MHD_USE_IPv6 : MHD_NO_FLAG);
  const unsigned each =
      options.connections_per_address > 0 ? options.connections_per_address : options.connection_limit;
  errno = 0;
  core->daemon = MHD_start_daemon(
      flags, static_cast<std::uint16_t>(options.port), nullptr, nullptr, static_cast<MHD_AccessHandlerCallback>(step),
      core.get(), MHD_OPTION_EXTERNAL_LOGGER, static_cast<void (*)(void*, const char*, va_list)>(quiet), nullptr,
      MHD_OPTION_SOCK_ADDR, address, MHD_OPTION_URI_LOG_CALLBACK,
      static_cast<void* (*)(void*, const char*, MHD_Connection*)>(begin), nullptr, MHD_OPTION_NOTIFY_COMPLETED,
      static_cast<MHD_RequestCompletedCallback>(end), core.get(), MHD_OPTION_NOTIFY_CONNECTION,
      static_cast<MHD_NotifyConnectionCallback>(meet), core.get(), MHD_OPTION_CONNECTION_LIMIT,
      options.connection_limit, MHD_OPTION_PER_IP_CONNECTION_LIMIT, each, MHD_OPTION_CONNECTION_TIMEOUT,
      options.timeout_s, MHD_OPTION_CONNECTION_MEMORY_LIMIT, kConnectionMemory, MHD_OPTION_THREAD_POOL_SIZE,
      std::max(options.threads, 2U), MHD_OPTION_LISTENING_ADDRESS_REUSE, 1U, MHD_OPTION_END);
  if (core->daemon == nullptr) {
    return Error{ErrorCode::bad_input, options.address + ":" + std::to_string(options.port),
                 "cannot listen there" + (errno != 0 ? ": " + std::string(std::strerror(errno)) : std::string()) +
                     "; choose another with --port"};
  }
  for (unsigned i = 0; i < std::max(options.long_threads, 1U); ++i) {
    core->workers.emplace_back([raw = core.get()] { raw->work(); });
  }
  return Server(std::move(core));
}

Server::Server(std::unique_ptr<Core> core) : core_(std::move(core)) {}
Server::Server(Server&&) noexcept = default;
Server::~Server() {
  if (core_) core_->stop();
}

int Server::port() const {
  const MHD_DaemonInfo* info = MHD_get_daemon_info(core_->daemon, MHD_DAEMON_INFO_BIND_PORT);
  return info == nullptr ? core_->options.port : info->port;
}

}  // namespace ridge::http
