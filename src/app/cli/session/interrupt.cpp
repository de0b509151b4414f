#include "app/cli/session/interrupt.hpp"

#include <csignal>

namespace ridge::cli {

namespace {

// A signal handler may touch nothing else.
volatile std::sig_atomic_t signalled = 0;

}  // namespace

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = [](int) { signalled = 1; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() {
  return signalled != 0;
}

}  // namespace ridge::cli
