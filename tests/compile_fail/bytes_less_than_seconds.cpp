// Amounts of different things do not compare.
// refused with: operator<|invalid operands
#include "ridge/base/quantity.hpp"

using namespace ridge;

#ifdef SHOULD_FAIL
bool less = bytes(1) < seconds(1);
#else
bool less = bytes(1) < bytes(2);
#endif
