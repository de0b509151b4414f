// A bare number does not add to a quantity.
// refused with: operator\+|invalid operands
#include "ridge/base/quantity.hpp"

using namespace ridge;

#ifdef SHOULD_FAIL
auto sum = 1.0 + bytes(1);
#else
auto sum = bytes(1.0) + bytes(1);
#endif
