// Reading calibration files: what ridge/catalogue/calibration.hpp promises, for any list of parameters that have to be
// there.
//
//   Result<Calibration> c = read_calibration("data/calibration", {}, program_parameters());
//
// Refuses what load_calibration() refuses. Any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "ridge/catalogue/calibration.hpp"

namespace ridge {

/// A parameter that the program asks for by name, and the file it came from when the program was built.
struct RequiredParameter {
  std::string_view name;
  std::string_view file;
};

/// All that this program reads.
[[nodiscard]] std::span<const RequiredParameter> program_parameters();

/// A folder without one of `required` is older than the program: refused (bad_input), with the name, the file it
/// belongs to and what to do.
Result<Calibration> read_calibration(const std::string& directory, std::span<const std::string> overlays,
                                     std::span<const RequiredParameter> required);

}  // namespace ridge
