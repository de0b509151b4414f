#include "app/http/server.hpp"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <optional>
#include <thread>

#include "app/http/connections.hpp"
#include "app/http/fair_queue.hpp"
#include "report/table/unicode.hpp"
#include "ridge/base/letters.hpp"
#include "ridge/report/report.hpp"

namespace ridge::http {

namespace {

constexpr std::size_t kConnectionMemory = 32 * 1024;  // request line and headers must fit
constexpr std::size_t kMostDiscarded = 4u << 20;      // of a body that is too large, before its connection is cut
constexpr std::string_view kClosing = "the server is shutting down";
constexpr std::chrono::milliseconds kBetweenLooks{250};  ///< for those that waited too long
constexpr const char* kWaitedTooLong = "it waited too long for its turn: try again later";
constexpr const char* kTookTooLong = "its time is over, and its work did not end by itself";
constexpr const char* kTooMany = "too many questions wait already: try again later";
using Clock = std::chrono::steady_clock;

}  // namespace

std::string_view Request::header(std::string_view name) const {
  const auto at = headers.find(name);
  return at == headers.end() ? std::string_view() : std::string_view(at->second);
}

Response Response::error(int status, std::string_view message, std::string_view where) {
  Json inner = Json::object();
  inner.set("message", message);
  if (!where.empty()) inner.set("where", where);
  return json(status, Json::object().set("error", std::move(inner)).text() + "\n");
}

void stand_back() {
  constexpr int kNiceness = 10;
  constexpr int kNicest = 19;
  const auto me = static_cast<id_t>(syscall(SYS_gettid));
  setpriority(PRIO_PROCESS, me, std::min(kNicest, getpriority(PRIO_PROCESS, me) + kNiceness));
}

Response guarded(const std::function<Response()>& work) noexcept {
  try {
    return work();
  } catch (const std::exception& failure) {
    return Response::error(500, failure.what());
  } catch (...) {  // the solver's own are none of the standard library's
    return Response::error(500, "this could not be done");
  }
}

enum class Stage { reading, ready, deferred, answered };

/// One request while it is read and answered. Its worker keeps it, too: the answer may leave before the work has ended.
struct Exchange {
  Request request;
  Response response;
  Stage stage = Stage::reading;
  bool too_large = false;
  bool zero_byte = false;     ///< in the address, of which the library hands on what stands before
  bool blank_name = false;    ///< of a header: what a proxy before this server may have read as another
  int hosts = 0;              ///< Host headers
  std::size_t discarded = 0;  ///< bytes of a body that is too large
  std::size_t keys = 0;
  MHD_Connection* connection = nullptr;
  std::atomic<bool> left = false;
  Clock::time_point start = Clock::now();
};

using Shared = std::shared_ptr<Exchange>;

/// Deferred requests of one weight and the threads that take them.
struct Pool {
  explicit Pool(FairQueue<Shared>::Limits limits) : waiting(limits) {}
  FairQueue<Shared> waiting;
  std::vector<Shared> running;
  std::vector<std::thread> threads;
};

struct Server::Core {
  explicit Core(const Options& wanted)
      : options(wanted),
        connections({wanted.connection_limit, wanted.connections_per_address, std::chrono::seconds(wanted.reading_s),
                     std::chrono::seconds(wanted.sending_s)}),
        light({wanted.waiting_of_one, wanted.waiting_of_all, std::max(1U, wanted.light_threads / 2)}),
        heavy({wanted.waiting_of_one, wanted.waiting_of_all, std::max(1U, wanted.heavy_threads / 2)}) {}
  Options options;
  Connections connections;
  Handler handler;
  Log log;
  MHD_Daemon* daemon = nullptr;
  std::mutex log_mutex;

  // Requests that take long: taken by threads of their own while their connection sleeps.
  std::mutex mutex;
  std::condition_variable wake;
  Pool light, heavy;
  std::thread looks;  ///< runs expire()
  bool closing = false;

  [[nodiscard]] Pool& pool(Weight weight) { return weight == Weight::heavy ? heavy : light; }

  void work(Weight weight) {
    // Short questions, and those that are answered at once, come before heavy ones wherever the system has to choose.
    if (weight == Weight::heavy) stand_back();
    Pool& mine = pool(weight);
    std::unique_lock lock(mutex);
    while (true) {
      std::optional<FairQueue<Shared>::Item> next;
      wake.wait(lock, [&] { return closing || (next = mine.waiting.pop()).has_value(); });
      if (!next) return;
      const Shared exchange = next->value;
      mine.running.push_back(exchange);
      lock.unlock();
      Response response;
      if (exchange->left) {
        response = Response::error(503, "the client has left");
      } else if (age(*exchange) > options.waiting_s) {
        response = Response::error(503, kWaitedTooLong);
      } else {
        exchange->request.taken_for = weight;
        response = call(exchange->request, true);
      }
      lock.lock();
      std::erase(mine.running, exchange);
      mine.waiting.done(next->client);
      if (!response.defer) {
        finish(*exchange, std::move(response));
      } else if (closing) {
        finish(*exchange, Response::error(503, kClosing));
      } else if (exchange->stage == Stage::deferred && !pool(response.weight).waiting.push(next->client, exchange)) {
        finish(*exchange, Response::error(503, kTooMany));
      }
      wake.notify_all();
    }
  }

  static double age(const Exchange& exchange) {
    return std::chrono::duration<double>(Clock::now() - exchange.start).count();
  }

  /// Those whose time is over while every worker is busy are told so then, not when one is free again; and those whose
  /// work goes on although it should have ended. It is told that nobody waits for it, and what it answers is dropped.
  void expire() {
    std::unique_lock lock(mutex);
    while (!wake.wait_for(lock, kBetweenLooks, [&] { return closing; })) {
      for (Pool* each : {&light, &heavy}) {
        const auto late =
            each->waiting.take_if([&](const Shared& exchange) { return age(*exchange) > options.waiting_s; });
        for (const Shared& exchange : late) finish(*exchange, Response::error(503, kWaitedTooLong));
        for (const Shared& exchange : each->running) {
          if (exchange->stage != Stage::deferred || age(*exchange) <= options.answering_s) continue;
          finish(*exchange, Response::error(503, kTookTooLong));
          exchange->left = true;
        }
      }
    }
  }

  /// The answer of a deferred request, unless it has one. With the lock held.
  void finish(Exchange& exchange, Response response) {
    if (exchange.stage != Stage::deferred) return;
    exchange.response = std::move(response);
    exchange.stage = Stage::answered;
    connections.rests(exchange.connection);
    MHD_resume_connection(exchange.connection);
  }

  Response call(const Request& request, bool may_take_long) {
    return guarded([&] { return handler(request, may_take_long); });
  }

  MHD_Result send(Exchange& exchange) {
    if (!connections.sends(exchange.connection, exchange.response.body.size())) {
      exchange.response =
          Response::error(503, limits::beyond(limits::kUnsentOfOne) + ": take them, or try again later");
      exchange.response.headers.emplace_back("Retry-After", "5");
      (void)connections.sends(exchange.connection, exchange.response.body.size());
    }
    Response& r = exchange.response;
    const std::size_t size = r.body.size();
    // The exchange lives until the last byte is sent.
    MHD_Response* out = MHD_create_response_from_buffer(size, r.body.data(), MHD_RESPMEM_PERSISTENT);
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

  /// Refuses a request that is wrong in itself; whatever follows on its connection could be anything.
  MHD_Result refuse(Exchange& exchange, int status, std::string_view message) {
    exchange.stage = Stage::ready;
    connections.reads(exchange.connection);
    exchange.response = Response::error(status, message);
    exchange.response.headers.emplace_back("Connection", "close");
    return send(exchange);
  }

  /// Called by MHD once the headers are there.
  MHD_Result headers_are_there(MHD_Connection* connection, Exchange& exchange) {
    exchange.connection = connection;
    if (exchange.blank_name) return refuse(exchange, 400, "the name of a header has no blanks");
    // Of a length that is said twice another reader, a proxy before this one, might take the other.
    const std::string_view length = exchange.request.header("content-length");
    const std::string_view coding = exchange.request.header("transfer-encoding");
    const bool chunked = !coding.empty();
    if (chunked && lower(coding) != "chunked")
      return refuse(exchange, 400, "a body comes in chunks or with its length");
    if ((chunked && !length.empty()) || length.find(',') != std::string_view::npos) {
      return refuse(exchange, 400, "the length of the body is said in two ways");
    }
    std::size_t bytes = 0;
    const std::errc code =
        length.empty() ? std::errc() : std::from_chars(length.data(), length.data() + length.size(), bytes).ec;
    // Who asks first, or would send for long, hears it now. Others would rather be heard out: they do not read before.
    const bool asks = !exchange.request.header("expect").empty();
    if (code != std::errc() || bytes > options.body_limit + (asks ? 0 : kMostDiscarded)) {
      return refuse(exchange, 413, too_large());
    }
    return MHD_YES;
  }

  [[nodiscard]] std::string too_large() const {
    return "the body is larger than " + std::to_string(options.body_limit) + " bytes";
  }

  /// Called by MHD for each piece of a request.
  MHD_Result step(MHD_Connection* connection, const char* data, std::size_t* size, const Shared& shared) {
    Exchange& exchange = *shared;
    exchange.connection = connection;
    if (*size > 0) {
      if (exchange.too_large || exchange.request.body.size() + *size > options.body_limit) {
        exchange.too_large = true;
        exchange.discarded += *size;
        if (exchange.discarded > kMostDiscarded) return MHD_NO;  // it has no length, and no end either
      } else {
        exchange.request.body.append(data, *size);
      }
      *size = 0;
      return MHD_YES;
    }
    if (exchange.stage == Stage::answered) return send(exchange);
    if (exchange.stage != Stage::reading) return MHD_YES;
    exchange.stage = Stage::ready;
    connections.reads(connection);
    if (exchange.zero_byte) return refuse(exchange, 400, "there is a zero byte in the address");
    if (exchange.hosts > 1) return refuse(exchange, 400, "there are several Host headers");
    if (!exchange.request.path.starts_with('/')) return refuse(exchange, 400, "the path of an address begins with /");
    if (exchange.keys > options.key_limit) {
      exchange.response = Response::error(400, limits::beyond(limits::kKeys));
      return send(exchange);
    }
    if (exchange.too_large) return refuse(exchange, 413, too_large());
    exchange.response = call(exchange.request, false);
    if (!exchange.response.defer) return send(exchange);
    {
      const std::lock_guard lock(mutex);
      const std::string& client =
          exchange.response.client.empty() ? exchange.request.address : exchange.response.client;
      if (closing || !pool(exchange.response.weight).waiting.push(client, shared)) {
        exchange.response = Response::error(503, closing ? kClosing : kTooMany);
        exchange.response.headers.emplace_back("Retry-After", "5");
        return send(exchange);
      }
      exchange.stage = Stage::deferred;
      connections.works(connection, &exchange.left);
      MHD_suspend_connection(connection);
    }
    wake.notify_all();
    return MHD_YES;
  }

  void stop() {
    if (daemon == nullptr) return;
    const MHD_socket listening = MHD_quiesce_daemon(daemon);
    {
      // Those that nobody has begun are answered at once; those that run end first.
      const std::lock_guard lock(mutex);
      closing = true;
      for (Pool* each : {&light, &heavy}) {
        for (const Shared& exchange : each->waiting.clear()) finish(*exchange, Response::error(503, kClosing));
      }
    }
    wake.notify_all();
    for (Pool* each : {&light, &heavy}) {
      for (std::thread& worker : each->threads) worker.join();
    }
    if (looks.joinable()) looks.join();
    MHD_stop_daemon(daemon);
    if (listening != MHD_INVALID_SOCKET) close(listening);
    daemon = nullptr;
  }
};

namespace {

MHD_Result take_query(void* into, MHD_ValueKind /*kind*/, const char* key, const char* value) {
  auto& exchange = *static_cast<Exchange*>(into);
  exchange.request.query.emplace_back(key, value == nullptr ? "" : value);
  return MHD_YES;
}
MHD_Result take_header(void* into, MHD_ValueKind /*kind*/, const char* key, const char* value) {
  auto& exchange = *static_cast<Exchange*>(into);
  const std::string name = lower(key);
  if (name == "host") ++exchange.hosts;
  if (name.empty() || name.find_first_of(" \t") != std::string::npos) exchange.blank_name = true;
  std::string& known = exchange.request.headers[name];
  // Several of one name are one list (RFC 9110, 5.2): the last does not hide the others.
  known += (known.empty() ? "" : ", ") + std::string(value == nullptr ? "" : value);
  return MHD_YES;
}

/// The other side of a connection. Of IPv6 the network, as one host has more addresses than anybody could count.
std::string address_of(MHD_Connection* connection) {
  const MHD_ConnectionInfo* info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
  if (info == nullptr || info->client_addr == nullptr) return {};
  char text[INET6_ADDRSTRLEN] = {};
  if (info->client_addr->sa_family == AF_INET) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(info->client_addr);
    inet_ntop(AF_INET, &v4->sin_addr, text, sizeof text);
    return text;
  }
  in6_addr network = reinterpret_cast<const sockaddr_in6*>(info->client_addr)->sin6_addr;
  std::fill(network.s6_addr + 8, network.s6_addr + 16, std::uint8_t{0});
  inet_ntop(AF_INET6, &network, text, sizeof text);
  return std::string(text) + "/64";
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
    return Error{ErrorCode::bad_input, "⟦host⟧", "'" + options.address + "' is no address; write 127.0.0.1 or ::1"};
  }
  const auto* address = is_v4 ? reinterpret_cast<const sockaddr*>(&v4) : reinterpret_cast<const sockaddr*>(&v6);

  const auto begin = [](void* closure, const char* uri, MHD_Connection* /*connection*/) -> void* {
    auto* shared = new Shared(std::make_shared<Exchange>());
    const Shared& exchange = *shared;
    const std::string_view raw(uri);
    const std::size_t query = raw.find('?');
    exchange->zero_byte = raw.find("%00") != std::string_view::npos;
    if (query == std::string_view::npos) return shared;
    exchange->keys =
        1 + static_cast<std::size_t>(std::count(raw.begin() + static_cast<std::ptrdiff_t>(query), raw.end(), '&'));
    // So many keys would use up the memory that the library answers with, and nobody would ever hear: it must not see
    // that there are any. The text is the library's own, in a buffer that it writes to itself.
    if (exchange->keys > static_cast<Core*>(closure)->options.key_limit) const_cast<char*>(uri)[query + 1] = '\0';
    return shared;
  };
  const auto step = [](void* closure, MHD_Connection* connection, const char* url, const char* method,
                       const char* /*version*/, const char* data, std::size_t* size, void** state) -> MHD_Result {
    const Shared& shared = *static_cast<Shared*>(*state);
    Exchange& exchange = *shared;
    if (exchange.request.method.empty()) {  // headers are here, the body is not
      exchange.request.method = method;
      exchange.request.path = url;
      exchange.request.address = address_of(connection);
      exchange.request.left = &exchange.left;
      MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, take_query, &exchange);
      MHD_get_connection_values(connection, MHD_HEADER_KIND, take_header, &exchange);
      return static_cast<Core*>(closure)->headers_are_there(connection, exchange);
    }
    return static_cast<Core*>(closure)->step(connection, data, size, shared);
  };
  const auto end = [](void* closure, MHD_Connection* connection, void** state, MHD_RequestTerminationCode why) {
    delete static_cast<Shared*>(*state);
    *state = nullptr;
    if (why == MHD_REQUEST_TERMINATED_COMPLETED_OK) static_cast<Core*>(closure)->connections.owes(connection);
  };
  const auto meet = [](void* closure, MHD_Connection* connection, void** /*context*/,
                       MHD_ConnectionNotificationCode what) {
    Connections& connections = static_cast<Core*>(closure)->connections;
    if (what != MHD_CONNECTION_NOTIFY_STARTED) return connections.closed(connection);
    const MHD_ConnectionInfo* info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (info != nullptr) connections.opened(connection, info->connect_fd, address_of(connection));
  };
  const auto quiet = [](void*, const char*, va_list) {};

  const unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG |
                         (is_v6 ? MHD_USE_IPv6 : MHD_NO_FLAG);
  // Those that are about to be closed still count for the library: it gets room for as many again.
  const unsigned most = 2 * options.connection_limit;
  errno = 0;
  core->daemon = MHD_start_daemon(
      flags, static_cast<std::uint16_t>(options.port), nullptr, nullptr, static_cast<MHD_AccessHandlerCallback>(step),
      core.get(), MHD_OPTION_EXTERNAL_LOGGER, static_cast<void (*)(void*, const char*, va_list)>(quiet), nullptr,
      MHD_OPTION_SOCK_ADDR, address, MHD_OPTION_URI_LOG_CALLBACK,
      static_cast<void* (*)(void*, const char*, MHD_Connection*)>(begin), core.get(), MHD_OPTION_NOTIFY_COMPLETED,
      static_cast<MHD_RequestCompletedCallback>(end), core.get(), MHD_OPTION_NOTIFY_CONNECTION,
      static_cast<MHD_NotifyConnectionCallback>(meet), core.get(), MHD_OPTION_CONNECTION_LIMIT, most,
      MHD_OPTION_CONNECTION_TIMEOUT, options.timeout_s, MHD_OPTION_CONNECTION_MEMORY_LIMIT, kConnectionMemory,
      MHD_OPTION_THREAD_POOL_SIZE, std::max(options.threads, 2U), MHD_OPTION_LISTENING_ADDRESS_REUSE, 1U,
      MHD_OPTION_END);
  if (core->daemon == nullptr) {
    return Error{ErrorCode::bad_input, options.address + ":" + std::to_string(options.port),
                 "cannot listen there" + (errno != 0 ? ": " + std::string(std::strerror(errno)) : std::string()) +
                     "; choose another with ⟦port⟧"};
  }
  for (const auto& [weight, count] :
       {std::pair(Weight::light, options.light_threads), {Weight::heavy, options.heavy_threads}}) {
    for (unsigned i = 0; i < std::max(count, 1U); ++i) {
      core->pool(weight).threads.emplace_back([raw = core.get(), of = weight] { raw->work(of); });
    }
  }
  core->looks = std::thread([raw = core.get()] { raw->expire(); });
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
