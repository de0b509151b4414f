// The connections of a server: who is connected, who owes a request, who has left, who does not take what was asked
// for. Idle ones make room for new ones, so that nobody can hold a server by doing nothing.
//
//   Connections connections({.all = 1024, .of_one = 256, .reading = 15s});
//   connections.opened(key, socket, "192.0.2.7");    // may close the longest idle one of that address
//   connections.reads(key);                          // its request is there as a whole
//   connections.works(key, &left);                   // `left` becomes true if the other side hangs up meanwhile
//   connections.sends(key, body.size());             // false: it, or all, have too much that they have not taken
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

#include "ridge/base/limits.hpp"

namespace ridge::http {

class Connections {
 public:
  using Key = const void*;
  struct Limits {
    std::size_t all = 1024;
    std::size_t of_one = 256;           ///< of one address; 0 = as many as in all
    std::chrono::milliseconds reading;  ///< until a request is there as a whole, however its bytes trickle in
    std::chrono::milliseconds sending = std::chrono::minutes(1);  ///< until an answer is taken as a whole
    std::size_t unsent_of_one = static_cast<std::size_t>(limits::kUnsentOfOne.most);  ///< bytes
    std::size_t unsent = static_cast<std::size_t>(limits::kUnsent.most);
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
  /// An answer of so many bytes leaves. False: it must not, as it is no short one and too much waits to be taken.
  [[nodiscard]] bool sends(Key key, std::size_t bytes);
  void closed(Key key);

 private:
  using Clock = std::chrono::steady_clock;
  struct One {
    int socket = -1;
    std::string address;
    Clock::time_point since;
    enum class State { owes, works, sends } state = State::owes;  ///< owes: idle, or its request is not complete
    bool ending = false;
    std::atomic<bool>* left = nullptr;
    std::size_t unsent = 0;
  };
  struct OfOne {
    std::size_t connections = 0;  ///< that are not ending
    std::size_t unsent = 0;
  };
  void look();
  void end(One& one);
  void taken(One& one);
  void forget_if_none(const std::string& address);
  /// The one that has waited longest for the other side, of the address if it is given.
  One* longest_idle(const std::string* address, Key but_not);

  const Limits limits_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::unordered_map<Key, One> all_;
  std::map<std::string, OfOne> counts_;  ///< by address
  std::size_t count_ = 0;
  std::size_t unsent_ = 0;
  bool closing_ = false;
  std::thread thread_;
};

}  // namespace ridge::http
