#pragma once
// Work on several threads, where each piece writes to a place of its own:
//
//   std::vector<Looked> looked(plans.size());
//   parallel_for(plans.size(), 0, [&](std::size_t i) { looked[i] = look(plans[i]); });
//
// Which thread takes which piece is left open, so a result may depend on `i` alone; then it is the same on any number
// of threads. Whoever wants to stop early lets the pieces that are left return at once (ridge/base/patience.hpp).
#include <cstddef>
#include <functional>

namespace ridge {

/// Cores that this process may run on, at least one.
[[nodiscard]] int usable_cores();

/// Calls body(0) to body(count - 1), each once, on this thread and up to `threads` - 1 others, and returns when all
/// have returned. With `threads` of 0 as many as there are cores, where all calls of the process share them: of two
/// searches at once the second one has fewer, at worst this thread alone. If a body throws, pieces that nobody has
/// begun are left out and one of the exceptions is thrown here. Any thread may call it, a body too. Where the system
/// gives no more threads, those that there are do the work.
void parallel_for(std::size_t count, int threads, const std::function<void(std::size_t)>& body);

}  // namespace ridge
