// A bandwidth is not an amount of data.
// refused with: conversion from|no viable conversion
#include "ridge/base/quantity.hpp"

using namespace ridge;

#ifdef SHOULD_FAIL
Bytes moved = gigabytes(4800) / seconds(1);
#else
Bytes moved = gigabytes(4800) / seconds(1) * seconds(1);
#endif
