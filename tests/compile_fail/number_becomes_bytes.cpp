// A bare number is not a quantity.
// refused with: conversion from|no viable conversion
#include "ridge/base/quantity.hpp"

using namespace ridge;

#ifdef SHOULD_FAIL
Bytes size = 141e9;
#else
Bytes size = Bytes(141e9);
#endif
