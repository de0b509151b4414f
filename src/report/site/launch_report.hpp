// What a launch file says, for people and programs. Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "ridge/facility/launch.hpp"
#include "ridge/report/report.hpp"

namespace ridge::report {

inline constexpr std::string_view kEmitSchema = "ridge.emit/1";

[[nodiscard]] Table launch_table(const LaunchPlan& plan);
[[nodiscard]] Document launch_page(const LaunchCheck& check, const std::string& file,
                                   const std::vector<std::string>& differing, bool compared);
[[nodiscard]] Json launch_json(const LaunchCheck& check, const std::vector<std::string>& differing, bool compared);

}  // namespace ridge::report
