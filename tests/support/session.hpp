// The program's surroundings and data as tests of verbs see them.
#pragma once

#include "app/cli/call.hpp"

namespace ridge::cli::testing_support {

inline const Surroundings& here() {
  static const Surroundings found{.program = "", .data_variable = RIDGE_DATA_DIR};
  return found;
}

inline const SharedData& shared() {
  static const SharedData data = *Session({}, here()).share();
  return data;
}

}  // namespace ridge::cli::testing_support
