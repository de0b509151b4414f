// Rent is per GPU; a running cost needs the number of GPUs.
// refused with: conversion from|no viable conversion
#include "ridge/base/quantity.hpp"

using namespace ridge;

#ifdef SHOULD_FAIL
DollarsPerSecond cost = GpuRent(2.3);
#else
DollarsPerSecond cost = GpuRent(2.3) * Gpus(8);
#endif
