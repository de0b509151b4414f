// Amounts of different things do not add.
// refused with: operator\+|invalid operands
#include "ridge/base/quantity.hpp"

using namespace ridge;

#ifdef SHOULD_FAIL
auto sum = bytes(1) + seconds(1);
#else
auto sum = bytes(1) + bytes(1);
#endif
