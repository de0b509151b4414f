// Arguments in the wrong order do not compile.
// refused with: could not convert|cannot convert|no matching function|no viable conversion
#include "ridge/base/quantity.hpp"

using namespace ridge;

BytesPerSecond bandwidth(Bytes moved, Seconds time) {
  return moved / time;
}

#ifdef SHOULD_FAIL
auto rate = bandwidth(seconds(1), bytes(1));
#else
auto rate = bandwidth(bytes(1), seconds(1));
#endif
