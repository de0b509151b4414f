// Energy is not power.
// refused with: conversion from|no viable conversion
#include "ridge/base/quantity.hpp"

using namespace ridge;

#ifdef SHOULD_FAIL
Watts power = watts(700) * seconds(1);
#else
Watts power = watts(700) * seconds(1) / seconds(1);
#endif
