// What a host says of itself, and what is wrong with it.
//
//   Result<HostRecording> r = parse_recording(text, "node-17.facts.toml");      // written by `ridge doctor --collect`
//   HostDiagnosis d = diagnose(*r, data);
//   for (const HostFinding& f : d.findings) f.rule->title, f.outcome, f.seen;
//   compare_hosts(diagnoses);                               // what differs between hosts of one fleet
//
// A recording holds what files and tools said, word for word; judging it needs neither the host nor its hardware. What
// was not there to be seen is `unseen`, never an error. Pure; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ridge/base/result.hpp"
#include "ridge/facility/facility.hpp"

namespace ridge {

struct ToolOutput {
  std::string text;
  int status = 0;  ///< exit status; -1 = it could not be started or ran too long
};

struct HostRecording {
  std::string host;
  std::string collected;                     ///< ISO date
  std::map<std::string, std::string> files;  ///< path → content
  std::map<std::string, ToolOutput> tools;   ///< command line → what it printed
};

/// Paths to record; '*' stands for any name of one folder.
[[nodiscard]] std::span<const std::string_view> recorded_files();
/// Commands to record: none needs root, none changes anything. {rdma} stands for each network device with RDMA.
[[nodiscard]] std::span<const std::string_view> recorded_commands();

/// Refuses (file:line:column): malformed TOML, another schema, unknown tables.
Result<HostRecording> parse_recording(std::string_view text, const std::string& file);
[[nodiscard]] std::string recording_text(const HostRecording& recording);

/// Named facts, e.g. "gpu.count" → "8", "sysctl.kernel.numa_balancing" → "0"; what could not be seen is absent. The
/// names are in docs/doctor.md.
using HostFacts = std::map<std::string, std::string, std::less<>>;
[[nodiscard]] HostFacts host_facts(const HostRecording& recording, const FacilityData& data);

enum class HostOutcome : std::uint8_t {
  fine,
  broken,      ///< the rule's severity says how bad that is
  unseen,      ///< the fact is not in the recording
  irrelevant,  ///< the host has not what the rule is about
};
[[nodiscard]] std::string_view name(HostOutcome outcome);

struct HostFinding {
  const HostRule* rule = nullptr;
  HostOutcome outcome = HostOutcome::unseen;
  std::string seen;  ///< the fact
};

struct HostDiagnosis {
  std::string host;
  HostFacts facts;
  std::vector<HostFinding> findings;  ///< in the order of the rules
  [[nodiscard]] int count(HostOutcome outcome) const;
  [[nodiscard]] int count(Severity severity) const;  ///< broken rules of it
};
[[nodiscard]] HostDiagnosis diagnose(const HostRecording& recording, const FacilityData& data);

/// A fact in which hosts differ that should be alike, and who has which value.
struct FleetDifference {
  std::string fact;
  std::map<std::string, std::vector<std::string>> hosts;  ///< value → hosts
};
[[nodiscard]] std::vector<FleetDifference> compare_hosts(std::span<const HostDiagnosis> hosts);

}  // namespace ridge
