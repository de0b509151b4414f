// Rules against facts, and hosts against each other.
#include "ridge/facility/doctor.hpp"

#include <algorithm>
#include <cstdlib>
#include <set>

namespace ridge {

namespace {

/// What hosts of one fleet have in common.
constexpr std::string_view kAlike[] = {
    "os.id",
    "os.version",
    "kernel.release",
    "gpu.count",
    "gpu.name",
    "gpu.driver",
    "gpu.mig",
    "gpu.ecc",
    "gpu.power.limit_percent",
    "cuda.toolkit",
    "nvlink.active",
    "rdma.ports",
    "rdma.rate",
    "rdma.ofed",
    "container.toolkit",
    "sysctl.kernel.numa_balancing",
    "thp",
    "cpu.governor",
    "iommu",
    "files.shared",
};

bool holds(const HostRule& rule, const std::string& value) {
  if (!rule.one_of.empty()) return std::find(rule.one_of.begin(), rule.one_of.end(), value) != rule.one_of.end();
  if (!rule.none_of.empty()) return std::find(rule.none_of.begin(), rule.none_of.end(), value) == rule.none_of.end();
  if (value == "unlimited") return rule.at_least.has_value();
  const double number = std::strtod(value.c_str(), nullptr);
  return rule.at_least ? number >= *rule.at_least : number <= *rule.at_most;
}

}  // namespace

std::string_view name(HostOutcome outcome) {
  constexpr std::string_view kNames[] = {"fine", "broken", "unseen", "irrelevant"};
  return kNames[static_cast<std::size_t>(outcome)];
}

int HostDiagnosis::count(HostOutcome outcome) const {
  return static_cast<int>(
      std::count_if(findings.begin(), findings.end(), [&](const HostFinding& f) { return f.outcome == outcome; }));
}

int HostDiagnosis::count(Severity severity) const {
  return static_cast<int>(std::count_if(findings.begin(), findings.end(), [&](const HostFinding& f) {
    return f.outcome == HostOutcome::broken && f.rule->severity == severity;
  }));
}

HostDiagnosis diagnose(const HostRecording& recording, const FacilityData& data) {
  HostDiagnosis d;
  d.host = recording.host;
  d.facts = host_facts(recording, data);
  for (const HostRule& rule : data.rules) {
    HostFinding f;
    f.rule = &rule;
    const auto condition = d.facts.find(rule.when);
    const auto fact = d.facts.find(rule.fact);
    if (!rule.when.empty() && (condition == d.facts.end() || condition->second == "no")) {
      f.outcome = HostOutcome::irrelevant;
    } else if (fact == d.facts.end()) {
      f.outcome = HostOutcome::unseen;
    } else {
      f.seen = fact->second;
      f.outcome = holds(rule, fact->second) ? HostOutcome::fine : HostOutcome::broken;
    }
    d.findings.push_back(std::move(f));
  }
  return d;
}

std::vector<FleetDifference> compare_hosts(std::span<const HostDiagnosis> hosts) {
  std::vector<FleetDifference> out;
  for (const std::string_view fact : kAlike) {
    FleetDifference difference;
    difference.fact = fact;
    for (const HostDiagnosis& host : hosts) {
      const auto at = host.facts.find(fact);
      difference.hosts[at == host.facts.end() ? "not seen" : at->second].push_back(host.host);
    }
    if (difference.hosts.size() > 1) out.push_back(std::move(difference));
  }
  return out;
}

}  // namespace ridge
