// Multiplying where one should divide is found while compiling.
// refused with: conversion from|no viable conversion
#include "ridge/base/quantity.hpp"

using namespace ridge;

#ifdef SHOULD_FAIL
Seconds time = (gigabytes(4800) / seconds(1)) * gigabytes(141);
#else
Seconds time = gigabytes(141) / (gigabytes(4800) / seconds(1));
#endif
