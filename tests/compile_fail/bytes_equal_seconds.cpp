// Nor are they equal or unequal.
// refused with: operator==|invalid operands
#include "ridge/base/quantity.hpp"

using namespace ridge;

#ifdef SHOULD_FAIL
bool same = bytes(1) == seconds(1);
#else
bool same = bytes(1) == bytes(1);
#endif
