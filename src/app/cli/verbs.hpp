// The verbs of the program. A new one is a file verb_NAME.cpp that says what it understands and does, with
// `Verb NAME_verb()`, and a line here.
#pragma once

#include <span>

#include "app/cli/line/options.hpp"

namespace ridge::cli {

// In the order of `ridge help`.
// clang-format off
#define RIDGE_VERBS(VERB) \
  VERB(plan) \
  VERB(estimate) \
  VERB(simulate) \
  VERB(cost) \
  VERB(goodput) \
  VERB(facility) \
  VERB(emit) \
  VERB(doctor) \
  VERB(mlperf) \
  VERB(check) \
  VERB(report) \
  VERB(show) \
  VERB(catalogue) \
  VERB(validate) \
  VERB(calibrate) \
  VERB(measure) \
  VERB(bench) \
  VERB(emulate) \
  VERB(serve) \
  VERB(completion)
// clang-format on

#define RIDGE_DECLARE_VERB(name) Verb name##_verb();
RIDGE_VERBS(RIDGE_DECLARE_VERB)
#undef RIDGE_DECLARE_VERB

[[nodiscard]] std::span<const Verb> verbs();

}  // namespace ridge::cli
