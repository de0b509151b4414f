// What a field of a question (ask/field.hpp) takes, as an option: its number, its words, or a name of the session's
// data (a workload, a region, a rack, a vendor).
//
//   options.text("--rack", "R", rack, field.help, value::of(field));
#pragma once

#include "app/cli/line/options.hpp"
#include "ask/field.hpp"

namespace ridge::cli::value {

/// Of tables whose values may be compared, also a list of them. The field must outlive what is returned.
[[nodiscard]] Takes of(const ask::Field& field);

}  // namespace ridge::cli::value
