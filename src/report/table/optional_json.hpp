// A figure that may be missing: null then.
#pragma once

#include <optional>

#include "ridge/report/report.hpp"

namespace ridge::report {

[[nodiscard]] inline Json optional_json(const std::optional<double>& value) {
  return value ? Json(*value) : Json();
}

}  // namespace ridge::report
