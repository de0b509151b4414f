// Reads what ridge-measure wrote: a measurement of one device.
//
//   Result<measure::Profile> profile = read_measurement(text, "h200.toml");
//   if (!profile) return profile.error();          // "h200.toml:12:5: ..."
//   profile->facts.name; profile->points.size();
//
// Refuses, with the place: malformed TOML, a file of another kind or of a later format, unknown keys and operators,
// figures that are no positive number, a profile in which nothing was measured. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

#include "measure/profile.hpp"
#include "ridge/base/result.hpp"

namespace ridge::evidence {

Result<measure::Profile> read_measurement(std::string_view text, const std::string& file);

}  // namespace ridge::evidence
