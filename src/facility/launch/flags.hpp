// Which flag of which runner says what of a plan. Writing and reading share these tables, so that they cannot drift
// apart. Internal to src/facility.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "ridge/facility/launch.hpp"

namespace ridge::launch {

/// A whole number of the plan; not written where it has its usual value.
struct NumberFlag {
  std::string_view flag;
  int LaunchPlan::*field;
  int usual;
};
[[nodiscard]] std::span<const NumberFlag> number_flags(LaunchTarget runner);

struct ShapeFlag {
  std::string_view flag;
  int ModelShape::*field;
  int usual;
};
[[nodiscard]] std::span<const ShapeFlag> shape_flags();

/// A number with a fraction; not written where it is 0.
struct NumberOfShape {
  std::string_view flag;
  double ModelShape::*field;
};
[[nodiscard]] std::span<const NumberOfShape> shape_numbers();

/// A format and the flag that asks for it; an empty value is a switch, an empty flag needs none.
struct FormatFlag {
  Format format;
  std::string_view flag;
  std::string_view value;
};
[[nodiscard]] std::span<const FormatFlag> weight_flags(LaunchTarget runner);
[[nodiscard]] std::span<const FormatFlag> kv_flags(LaunchTarget runner);
[[nodiscard]] const FormatFlag* find_format(std::span<const FormatFlag> all, Format format);

/// Flags that take no value, of all runners: what a reader has to know to tell a flag's value from the next flag.
[[nodiscard]] bool is_switch(std::string_view flag);

}  // namespace ridge::launch
