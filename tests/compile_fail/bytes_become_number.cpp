// A quantity becomes a number only by value().
// refused with: cannot convert|no viable conversion
#include "ridge/base/quantity.hpp"

using namespace ridge;

#ifdef SHOULD_FAIL
double size = bytes(1);
#else
double size = bytes(1).value();
#endif
