// The verbs of the program. A new one is a file verb_NAME.cpp that says what it understands and does, a line here and
// one in verbs.cpp.
#pragma once

#include <span>

#include "app/cli/options.hpp"

namespace ridge::cli {

Verb plan_verb();
Verb estimate_verb();
Verb simulate_verb();
Verb cost_verb();
Verb goodput_verb();
Verb facility_verb();
Verb emit_verb();
Verb doctor_verb();
Verb mlperf_verb();
Verb check_verb();
Verb report_verb();
Verb show_verb();
Verb catalogue_verb();
Verb validate_verb();
Verb calibrate_verb();
Verb measure_verb();
Verb serve_verb();
Verb bench_verb();
Verb emulate_verb();
Verb completion_verb();

/// In the order of `ridge help`.
[[nodiscard]] std::span<const Verb> verbs();

}  // namespace ridge::cli
