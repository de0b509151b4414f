// A queue in which everybody waits in a line of their own, and the lines take turns: whoever brings a hundred questions
// waits for a hundred, whoever brings one for one.
//
//   FairQueue<Exchange*> queue({.of_one = 32, .of_all = 512, .running_of_one = 1});
//   queue.push("192.0.2.7", exchange);       // false: too many of this client, or of all, wait already
//   auto next = queue.pop();                 // of the client whose turn it is and who may have one more running
//   queue.done(next->client);
//
// Not for sharing between threads: who shares it locks.
#pragma once

#include <algorithm>
#include <deque>
#include <list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ridge::http {

template <class T>
class FairQueue {
 public:
  struct Limits {
    std::size_t of_one = 32;           ///< of one client that wait
    std::size_t of_all = 512;          ///< that wait
    std::size_t running_of_one = ~0u;  ///< of one client that run at once
  };
  struct Item {
    std::string client;
    T value;
  };

  explicit FairQueue(Limits limits) : limits_(limits) {}

  [[nodiscard]] bool push(const std::string& client, T value) {
    const auto at = line_of(client);
    if (waiting_ >= limits_.of_all || (at != lines_.end() && at->waiting.size() >= limits_.of_one)) return false;
    Line& line = at != lines_.end() ? *at : lines_.emplace_back(Line{client, {}, 0});
    line.waiting.push_back(std::move(value));
    ++waiting_;
    return true;
  }

  /// The next one whose client may have one more running; nothing if there is none.
  std::optional<Item> pop() {
    for (auto line = lines_.begin(); line != lines_.end(); ++line) {
      if (line->waiting.empty() || line->running >= limits_.running_of_one) continue;
      Item item{line->client, std::move(line->waiting.front())};
      line->waiting.pop_front();
      ++line->running;
      --waiting_;
      lines_.splice(lines_.end(), lines_, line);  // the others come first now
      return item;
    }
    return {};
  }

  /// One that was popped has ended.
  void done(const std::string& client) {
    const auto line = line_of(client);
    if (line == lines_.end()) return;
    if (line->running > 0) --line->running;
    if (line->running == 0 && line->waiting.empty()) lines_.erase(line);
  }

  /// All that wait, which wait no longer.
  std::vector<T> clear() {
    std::vector<T> all;
    for (Line& line : lines_) {
      std::move(line.waiting.begin(), line.waiting.end(), std::back_inserter(all));
      line.waiting.clear();
    }
    waiting_ = 0;
    lines_.remove_if([](const Line& line) { return line.running == 0; });
    return all;
  }

  /// Takes out those that `which` says; returns them.
  template <class Which>
  std::vector<T> take_if(const Which& which) {
    std::vector<T> out;
    for (Line& line : lines_) {
      const auto gone = std::stable_partition(line.waiting.begin(), line.waiting.end(),
                                              [&](const T& value) { return !which(value); });
      std::move(gone, line.waiting.end(), std::back_inserter(out));
      line.waiting.erase(gone, line.waiting.end());
    }
    waiting_ -= out.size();
    lines_.remove_if([](const Line& line) { return line.running == 0 && line.waiting.empty(); });
    return out;
  }

  [[nodiscard]] std::size_t waiting() const { return waiting_; }

 private:
  struct Line {
    std::string client;
    std::deque<T> waiting;
    std::size_t running = 0;
  };
  typename std::list<Line>::iterator line_of(const std::string& client) {
    return std::find_if(lines_.begin(), lines_.end(), [&](const Line& line) { return line.client == client; });
  }

  Limits limits_;
  std::list<Line> lines_;  ///< in the order of their turns
  std::size_t waiting_ = 0;
};

}  // namespace ridge::http
