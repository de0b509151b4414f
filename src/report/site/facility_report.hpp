// A site for people and for programs, and its racks as a drawing.
//
//   print(to_terminal(facility_page(*answer), style));
//   write(elevation_svg(*answer, data));
//
// Pure; any thread.
#pragma once

#include <string>

#include "ridge/facility/facility_answer.hpp"
#include "ridge/report/report.hpp"

namespace ridge::report {

inline constexpr std::string_view kFacilitySchema = "ridge.facility/1";

[[nodiscard]] Document facility_page(const FacilityAnswer& answer, const FacilityData& data);
[[nodiscard]] Json facility_json(const FacilityAnswer& answer);
/// One row for each figure: section, what, unit, value.
[[nodiscard]] Table facility_table(const FacilityAnswer& answer);
[[nodiscard]] Table checklist_table(const std::vector<ChecklistLine>& lines);
/// The front of a rack with devices and of one with switches, unit by unit.
[[nodiscard]] std::string elevation_svg(const FacilityAnswer& answer, const FacilityData& data);

}  // namespace ridge::report
