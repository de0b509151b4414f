// Ctrl-C as a question: long work asks whether it should end, and then says what it knows.
//
//   Interrupt interrupt;                       // from here on Ctrl-C does not end the program
//   while (!interrupt.asked()) ...
//
// A second Ctrl-C ends the program as usual. One object at a time.
#pragma once

namespace ridge::cli {

class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  [[nodiscard]] bool asked() const;

 private:
  void (*before_)(int);
};

}  // namespace ridge::cli
