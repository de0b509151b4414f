#include "app/http/connections.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <vector>

namespace ridge::http {

Connections::Connections(Limits limits) : limits_(limits), thread_([this] { look(); }) {}

Connections::~Connections() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void Connections::forget_if_none(const std::string& address) {
  const auto at = counts_.find(address);
  if (at != counts_.end() && at->second.connections == 0 && at->second.unsent == 0) counts_.erase(at);
}

void Connections::taken(One& one) {
  unsent_ -= one.unsent;
  counts_[one.address].unsent -= one.unsent;
  one.unsent = 0;
}

void Connections::end(One& one) {
  if (one.ending) return;
  one.ending = true;
  --count_;
  --counts_[one.address].connections;
  forget_if_none(one.address);
  // Until its owner has called closed() the socket is this connection's.
  shutdown(one.socket, SHUT_RDWR);
}

Connections::One* Connections::longest_idle(const std::string* address, Key but_not) {
  constexpr std::chrono::seconds kFair{1};  // that taking an answer may last before it counts as doing nothing
  const Clock::time_point now = Clock::now();
  One* found = nullptr;
  for (auto& [key, one] : all_) {
    if (key == but_not || one.ending || (address != nullptr && one.address != *address)) continue;
    if (one.state == One::State::works || (one.state == One::State::sends && now - one.since < kFair)) continue;
    if (found == nullptr || one.since < found->since) found = &one;
  }
  return found;
}

void Connections::opened(Key key, int socket, const std::string& address) {
  const std::lock_guard lock(mutex_);
  One& mine = all_[key];
  mine = {socket, address, Clock::now()};
  ++count_;
  const std::size_t ours = ++counts_[address].connections;
  const std::size_t share = limits_.of_one > 0 ? limits_.of_one : limits_.all;
  if (ours > share) {
    One* idle = longest_idle(&address, key);
    end(idle != nullptr ? *idle : mine);
  } else if (count_ > limits_.all) {
    const auto most = std::max_element(counts_.begin(), counts_.end(), [](const auto& a, const auto& b) {
      return a.second.connections < b.second.connections;
    });
    One* idle = longest_idle(&most->first, key);
    if (idle == nullptr) idle = longest_idle(nullptr, key);
    end(idle != nullptr ? *idle : mine);
  }
}

void Connections::owes(Key key) {
  const std::lock_guard lock(mutex_);
  const auto at = all_.find(key);
  if (at == all_.end()) return;
  taken(at->second);
  at->second.state = One::State::owes;
  at->second.since = Clock::now();
}

void Connections::reads(Key key) {
  const std::lock_guard lock(mutex_);
  if (const auto at = all_.find(key); at != all_.end()) at->second.state = One::State::works;
}

bool Connections::sends(Key key, std::size_t bytes) {
  constexpr std::size_t kShort = 64 << 10;
  const std::lock_guard lock(mutex_);
  const auto at = all_.find(key);
  if (at == all_.end()) return true;
  One& one = at->second;
  OfOne& ours = counts_[one.address];
  const std::size_t share = limits_.of_one > 0 ? limits_.unsent_of_one : limits_.unsent;
  if (bytes > kShort && (ours.unsent + bytes > share || unsent_ + bytes > limits_.unsent)) return false;
  one.state = One::State::sends;
  one.since = Clock::now();
  one.unsent += bytes;
  ours.unsent += bytes;
  unsent_ += bytes;
  return true;
}

void Connections::works(Key key, std::atomic<bool>* left) {
  const std::lock_guard lock(mutex_);
  if (const auto at = all_.find(key); at != all_.end()) at->second.left = left;
}

void Connections::rests(Key key) {
  works(key, nullptr);
}

void Connections::closed(Key key) {
  const std::lock_guard lock(mutex_);
  const auto at = all_.find(key);
  if (at == all_.end()) return;
  taken(at->second);
  if (!at->second.ending) {
    --count_;
    --counts_[at->second.address].connections;
  }
  forget_if_none(at->second.address);
  all_.erase(at);
}

void Connections::look() {
  constexpr std::chrono::milliseconds kBetween{250};
  std::vector<pollfd> sockets;
  std::vector<std::atomic<bool>*> flags;
  std::unique_lock lock(mutex_);
  while (!closing_) {
    wake_.wait_for(lock, kBetween);
    const Clock::time_point now = Clock::now();
    sockets.clear();
    flags.clear();
    for (auto& [key, one] : all_) {
      if (one.state == One::State::owes && now - one.since > limits_.reading) end(one);
      if (one.state == One::State::sends && now - one.since > limits_.sending) end(one);
      if (one.left == nullptr || *one.left) continue;
      sockets.push_back({one.socket, POLLRDHUP, 0});
      flags.push_back(one.left);
    }
    if (sockets.empty() || poll(sockets.data(), sockets.size(), 0) <= 0) continue;
    for (std::size_t i = 0; i < sockets.size(); ++i) {
      if ((sockets[i].revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL)) != 0) *flags[i] = true;
    }
  }
}

}  // namespace ridge::http
