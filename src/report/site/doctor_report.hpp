// Diagnoses of hosts, for people and programs. Pure; any thread.
#pragma once

#include <span>
#include <vector>

#include "ridge/facility/doctor.hpp"
#include "ridge/report/report.hpp"

namespace ridge::report {

inline constexpr std::string_view kDoctorSchema = "ridge.doctor/1";

/// `all`: also what is fine, unseen or has nothing to do with the host.
[[nodiscard]] Document doctor_page(std::span<const HostDiagnosis> hosts, std::span<const FleetDifference> differences,
                                   bool all);
[[nodiscard]] Json doctor_json(std::span<const HostDiagnosis> hosts, std::span<const FleetDifference> differences);
/// One row for each host and rule.
[[nodiscard]] Table doctor_table(std::span<const HostDiagnosis> hosts);

}  // namespace ridge::report
