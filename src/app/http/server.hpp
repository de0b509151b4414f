// A small HTTP/1.1 server: whole requests in, whole responses out. It knows sockets and limits, nothing of verbs.
//
//   Server::Options options{.address = "127.0.0.1", .port = 8080};
//   auto server = Server::start(options, handler, log);
//   ...                                        // until it is told to stop; the destructor lets running requests end
//
// The handler is called on several threads at once. It either answers, or defers: then it runs again on a thread of its
// own, so that long work never holds up other connections. Short and heavy work have threads apart, and within each
// the clients take turns; what was taken for short and is not, the handler defers once more, as heavy. Limits: body
// size, header size, connections in all and from one address, seconds without progress, seconds until an answer. What
// exceeds them gets a 4xx, a closed connection or a 503; the server goes on.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ridge/base/limits.hpp"
#include "ridge/base/result.hpp"

namespace ridge::http {

/// What a deferred request takes: well below a second, or more.
enum class Weight : std::uint8_t { light, heavy };

struct Request {
  std::string method;  ///< "GET", "HEAD" (answered as GET, without its body), "POST", "DELETE"
  std::string path;    ///< decoded, without the query
  std::vector<std::pair<std::string, std::string>> query;
  std::map<std::string, std::string, std::less<>> headers;  ///< names in lower case
  std::string body;
  std::string address;  ///< of the other side: "192.0.2.7"; of IPv6 the network, "2001:db8:1:2::/64"
  std::chrono::steady_clock::time_point arrived = std::chrono::steady_clock::now();
  const std::atomic<bool>* left = nullptr;  ///< true once nobody waits for the answer any more; null = nobody looks
  Weight taken_for = Weight::heavy;         ///< where it was deferred to: a light one should not take long

  [[nodiscard]] std::string_view header(std::string_view name) const;
};

struct Response {
  int status = 200;
  std::string type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
  bool defer = false;  ///< not an answer: call the handler again where it may take its time
  Weight weight = Weight::light;
  std::string client = {};  ///< in whose line a deferred request waits

  static Response json(int status, std::string body) {
    return {status, "application/json", std::move(body), {}, false};
  }
  /// {"error": {"message": ...}}
  static Response error(int status, std::string_view message, std::string_view where = "");
  static Response later(Weight weight, std::string client) {
    return {200, "", "", {}, true, weight, std::move(client)};
  }
};

/// What `work` answers, or 500 if it throws: the standard library does, out of memory and the like. For threads, which
/// an exception would end together with the program.
[[nodiscard]] Response guarded(const std::function<Response()>& work) noexcept;

/// From now on the calling thread works where the others of the program leave time, however they themselves stand.
void stand_back();

/// `may_take_long` is false on the first call.
using Handler = std::function<Response(const Request&, bool may_take_long)>;
/// One line per request: method, path, status, bytes, milliseconds.
using Log = std::function<void(std::string_view line)>;

class Server {
 public:
  struct Options {
    std::string address = "127.0.0.1";
    int port = 8080;  ///< 0: any that is free
    std::size_t body_limit = static_cast<std::size_t>(limits::kBody.most);
    std::size_t key_limit = static_cast<std::size_t>(limits::kKeys.most);  ///< in the query
    unsigned connection_limit = static_cast<unsigned>(limits::kConnections.most);
    /// One more closes the longest idle one of that address; 0: as many as in all.
    unsigned connections_per_address = static_cast<unsigned>(limits::kConnectionsOfOne.most);
    unsigned timeout_s = 10;  ///< without progress on a connection
    unsigned reading_s = 15;  ///< until a request is there as a whole, however its bytes trickle in
    unsigned sending_s = 60;  ///< until an answer is taken, however its bytes trickle out
    unsigned threads = 2;
    unsigned light_threads = 2;  ///< of deferred requests, of which one client has at most half, too
    unsigned heavy_threads = 2;  ///< of which one client has at most half
    std::size_t waiting_of_one = static_cast<std::size_t>(limits::kWaiting.most);  ///< more are answered 503
    std::size_t waiting_of_all = static_cast<std::size_t>(limits::kWaitingOfAll.most);
    double waiting_s = limits::kServedSeconds.most;  ///< that a deferred request waits for its turn, then 503
    /// Until a deferred request is answered, 503 if need be, whatever its work is doing: that should have ended itself.
    double answering_s = limits::kServedSeconds.most + 0.5;
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
