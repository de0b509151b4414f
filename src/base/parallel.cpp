#include "base/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace ridge {

namespace {

/// Threads beside their callers that run for calls that named no number.
std::atomic<int> helpers_running{0};

/// Up to `wanted` of the cores that no such thread has.
int borrow_helpers(int wanted) {
  const int most = usable_cores() - 1;
  int running = helpers_running.load(std::memory_order_relaxed);
  for (;;) {
    const int got = std::clamp(most - running, 0, wanted);
    if (got == 0) return 0;
    if (helpers_running.compare_exchange_weak(running, running + got, std::memory_order_relaxed)) return got;
  }
}

class Loan {
 public:
  Loan(int wanted, bool shared) : shared_(shared), count_(shared ? borrow_helpers(wanted) : wanted) {}
  ~Loan() {
    if (shared_) helpers_running.fetch_sub(count_, std::memory_order_relaxed);
  }
  Loan(const Loan&) = delete;
  Loan& operator=(const Loan&) = delete;

  [[nodiscard]] int count() const { return count_; }

 private:
  bool shared_;
  int count_;
};

class Pieces {
 public:
  Pieces(std::size_t count, const std::function<void(std::size_t)>& body) : count_(count), body_(body) {}

  void work() noexcept {
    for (std::size_t i = next_++; i < count_; i = next_++) {
      try {
        body_(i);
      } catch (...) {
        const std::lock_guard lock(mutex_);
        if (!thrown_) thrown_ = std::current_exception();
        next_ = count_;
      }
    }
  }

  /// After all threads are joined.
  void rethrow() const {
    if (thrown_) std::rethrow_exception(thrown_);
  }

 private:
  const std::size_t count_;
  const std::function<void(std::size_t)>& body_;
  std::atomic<std::size_t> next_{0};
  std::mutex mutex_;
  std::exception_ptr thrown_;
};

}  // namespace

int usable_cores() {
  static const int kCores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  return kCores;
}

void parallel_for(std::size_t count, int threads, const std::function<void(std::size_t)>& body) {
  Pieces pieces(count, body);
  const std::size_t most = threads > 0 ? static_cast<std::size_t>(threads) : static_cast<std::size_t>(usable_cores());
  {
    const Loan loan(count > 1 ? static_cast<int>(std::min(count, most)) - 1 : 0, threads <= 0);
    std::vector<std::jthread> helpers;
    helpers.reserve(static_cast<std::size_t>(loan.count()));
    try {
      for (int i = 0; i < loan.count(); ++i) helpers.emplace_back([&pieces] { pieces.work(); });
    } catch (const std::system_error&) {  // no more threads: fewer do it
    }
    pieces.work();
  }
  pieces.rethrow();
}

}  // namespace ridge
