// A Result that nobody looks at is an error that nobody sees.
// refused with: ignoring return|ignoring returned value
#include "ridge/base/text.hpp"

using namespace ridge;

void read() {
#ifdef SHOULD_FAIL
  parse_quantity<Bytes>("141 GB");
#else
  (void)parse_quantity<Bytes>("141 GB").ok();
#endif
}
