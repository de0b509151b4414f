// The connections of a server: who is connected, who owes a request, who has left. Idle ones make room for new ones, so
// that nobody can hold a server by doing nothing.
//
//   Connections connections({.all = 1024, .of_one = 256, .reading = 15s});
//   connections.opened(key, socket, "192.0.2.7");    // may close the longest idle one of that address
//   connections.reads(key);                          // its request is there as a whole
//   connections.works(key, &left);                   // `left` becomes true if the other side hangs up meanwhile
//
// Connections are closed by shutting their socket down; their owner notices and calls closed(). Any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>

namespace ridge::http {

class Connections {
 public:
  using Key = const void*;
  struct Limits {
    std::size_t all = 1024;
    std::size_t of_one = 256;           ///< of one address; 0 = as many as in all
    std::chrono::milliseconds reading;  ///< until a request is there as a whole, however its bytes trickle in
  };

  explicit Connections(Limits limits);
  ~Connections();
  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;

  /// A new one. Beyond the share of its address the longest idle one of that address is closed, or this one if none is
  /// idle; beyond the number in all, the longest idle one of the address that has most.
  void opened(Key key, int socket, const std::string& address);
  /// From now on it owes a request.
  void owes(Key key);
  /// The request is there.
  void reads(Key key);
  /// Long work is done for it; `left` must live until rests().
  void works(Key key, std::atomic<bool>* left);
  void rests(Key key);
  void closed(Key key);

 private:
  using Clock = std::chrono::steady_clock;
  struct One {
    int socket = -1;
    std::string address;
    Clock::time_point since;
    bool owes = true;  ///< idle, or in the middle of a request that is not complete
    bool ending = false;
    std::atomic<bool>* left = nullptr;
  };
  void look();
  void end(One& one);
  /// The one that has waited longest, of the address if it is given.
  One* longest_idle(const std::string* address, Key but_not);

  const Limits limits_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::unordered_map<Key, One> all_;
  std::map<std::string, std::size_t> counts_;  ///< by address, of those that are not ending
  std::size_t count_ = 0;
  bool closing_ = false;
  std::thread thread_;
};

}  // namespace ridge::http
