// Ctrl-C during long work: the first asks it to end with what it has, the second ends the program.
//
//   catch_interrupts();                         // before the long work
//   while (!interrupted() && more()) step();
#pragma once

namespace ridge::cli {

/// From now on the first SIGINT or SIGTERM only sets the flag; the next one acts as it always did.
void catch_interrupts();
/// Whether one came. Any thread.
[[nodiscard]] bool interrupted();

}  // namespace ridge::cli
