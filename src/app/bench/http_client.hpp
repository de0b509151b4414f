// Many HTTP requests at once over libcurl's multi interface, with the time at which bytes came.
//
//   HttpClient client({.url = "http://127.0.0.1:8000", .key = key});
//   client.post(slot, "/v1/completions", body, listener);
//   client.pump(until);                        // calls listeners; returns at `until` or when something ended
//
// Bytes are stamped by the kernel when they come (SO_TIMESTAMPNS), however late they are read; where it does not stamp,
// by when it was first asked after they came. How late they are read is counted: see delay().
// Nothing is sent to another host: redirects are not followed, proxies of the environment are not used. The key travels
// in a header alone. One thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "ridge/base/result.hpp"
#include "ridge/serve/simulation.hpp"

namespace ridge::bench {

using Clock = std::chrono::steady_clock;

inline double seconds(Clock::duration d) {
  return std::chrono::duration<double>(d).count();
}

struct Endpoint {
  std::string root;  ///< "http://host:port/prefix", without /v1
  std::string host;
};
/// Refuses (bad_input) what is no http or https URL and one with a password in it.
Result<Endpoint> read_url(const std::string& url);

enum class Trouble : std::uint8_t { none, connect, tls, reset, stall, timeout, other };
[[nodiscard]] std::string_view name(Trouble trouble);

class Listener {
 public:
  virtual ~Listener() = default;
  /// False ends the request.
  virtual bool bytes(std::string_view text, int status, Clock::time_point when) = 0;
  /// The request is over; `status` is 0 if no answer came. `location` is where a redirect points.
  virtual void ended(Trouble trouble, int status, const std::string& detail, const std::string& location,
                     Clock::time_point when) = 0;
};

class HttpClient {
 public:
  struct Options {
    std::string root;
    std::string key;
    std::string ca_file;  ///< certificates to trust instead of the system's; empty = the system's
    double connect_seconds = 10;
    double stall_seconds = 120;    ///< without a byte
    double request_seconds = 900;  ///< in all
  };
  explicit HttpClient(const Options& options);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  /// Slots are small numbers; one request each at a time. The listener lives until its request has ended.
  void post(std::size_t slot, std::string_view path, std::string body, Listener& listener);
  void get(std::size_t slot, std::string_view path, Listener& listener);
  /// Ends without a word to the listener.
  void abort(std::size_t slot);
  /// Serves sockets until the time, or until a request has ended.
  void pump(Clock::time_point until);
  /// From the bytes being there to their being read: what a closed loop sends its next request late by.
  [[nodiscard]] const LatencyDistribution& delay() const;
  /// Of those, how many the kernel gave no time for.
  [[nodiscard]] std::uint64_t unstamped() const;

 private:
  struct Core;
  std::unique_ptr<Core> core_;
};

}  // namespace ridge::bench
