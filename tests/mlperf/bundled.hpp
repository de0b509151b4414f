// The bundled results, read once.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "ridge/mlperf/mlperf_analysis.hpp"

namespace ridge::mlperf {

inline const Names& names() {
  static const Result<Names> loaded = load_names(RIDGE_DATA_DIR);
  if (!loaded) ADD_FAILURE() << loaded.error().text();
  return *loaded;
}

inline const Results& bundled() {
  static const Result<Results> loaded = load_bundled(RIDGE_DATA_DIR, names());
  if (!loaded) ADD_FAILURE() << loaded.error().text();
  return *loaded;
}

}  // namespace ridge::mlperf
