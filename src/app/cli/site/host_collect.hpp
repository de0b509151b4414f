// What this host says of itself. Reads files and runs tools that change nothing and need no root; whatever is missing,
// forbidden, slow or broken is left out.
#pragma once

#include "ridge/facility/doctor.hpp"

namespace ridge::cli {

/// Never fails; a tool gets ten seconds.
[[nodiscard]] HostRecording collect_host();

}  // namespace ridge::cli
