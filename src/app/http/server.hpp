// A small HTTP/1.1 server: whole requests in, whole responses out. It knows sockets and limits, nothing of verbs.
//
//   Server::Options options{.address = "127.0.0.1", .port = 8080};
//   auto server = Server::start(options, handler, log);
//   ...                                        // until it is told to stop; the destructor lets running requests end
//
// The handler is called on several threads at once. It either answers, or defers: then it runs again on a thread of its
// own, so that long work never holds up other connections. Limits: body size, header size, connections in all and from
// one address, seconds without progress. What exceeds them gets a 4xx or a closed connection; the server goes on.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ridge/result.hpp"

namespace ridge::http {

struct Request {
  std::string method;  ///< "GET", "HEAD" (answered as GET, without its body), "POST", "DELETE"
  std::string path;    ///< decoded, without the query
  std::vector<std::pair<std::string, std::string>> query;
  std::map<std::string, std::string, std::less<>> headers;  ///< names in lower case
  std::string body;

  [[nodiscard]] std::string_view header(std::string_view name) const;
  [[nodiscard]] std::string_view parameter(std::string_view name) const;
};

struct Response {
  int status = 200;
  std::string type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
  bool defer = false;  ///< not an answer: call the handler again where it may take its time

  static Response json(int status, std::string body) {
    return {status, "application/json", std::move(body), {}, false};
  }
  /// {"error": {"message": ...}}
  static Response error(int status, std::string_view message, std::string_view where = "");
  static Response later() { return {200, "", "", {}, true}; }
};

/// What `work` answers, or 500 if it throws: the standard library does, out of memory and the like. For threads, which
/// an exception would end together with the program.
[[nodiscard]] Response guarded(const std::function<Response()>& work) noexcept;

/// `may_take_long` is false on the first call.
using Handler = std::function<Response(const Request&, bool may_take_long)>;
/// One line per request: method, path, status, bytes, milliseconds.
using Log = std::function<void(std::string_view line)>;

class Server {
 public:
  struct Options {
    std::string address = "127.0.0.1";
    int port = 8080;  ///< 0: any that is free
    std::size_t body_limit = 1 << 20;
    unsigned connection_limit = 1024;
    unsigned connections_per_address = 256;  ///< one more is closed at once; 0: as many as in all
    unsigned timeout_s = 10;                 ///< without progress on a connection
    unsigned reading_s = 15;                 ///< until a request is there as a whole, however its bytes trickle in
    unsigned threads = 2;
    unsigned long_threads = 2;
    std::size_t waiting_limit = 32;  ///< deferred requests that wait for a thread; more are answered 503
  };

  /// Refuses (bad_input) an address that cannot be bound, naming it and why.
  static Result<Server> start(const Options& options, Handler handler, Log log = {});
  Server(Server&&) noexcept;
  Server& operator=(Server&&) = delete;
  ~Server();

  [[nodiscard]] int port() const;

 private:
  struct Core;
  explicit Server(std::unique_ptr<Core> core);
  std::unique_ptr<Core> core_;
};

}  // namespace ridge::http
