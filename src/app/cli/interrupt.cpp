#include "app/cli/interrupt.hpp"

#include <csignal>

namespace ridge::cli {

namespace {

volatile std::sig_atomic_t asked_to_end = 0;

void on_interrupt(int signal) {
  asked_to_end = 1;
  std::signal(signal, SIG_DFL);
}

}  // namespace

Interrupt::Interrupt() {
  asked_to_end = 0;
  before_ = std::signal(SIGINT, on_interrupt);
}

Interrupt::~Interrupt() {
  std::signal(SIGINT, before_ == SIG_ERR ? SIG_DFL : before_);
}

bool Interrupt::asked() const {
  return asked_to_end != 0;
}

}  // namespace ridge::cli
