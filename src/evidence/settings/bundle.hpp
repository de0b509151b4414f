// The measurements that come with the program, and users' own.
//
//   Result<Bundle> bundle = load_bundle("share/ridgeline");      // its evidence/ folder
//   Result<std::vector<Case>> mine = load_cases(paths, bundle->workloads);
//
// Refuses files that cannot be read or are no evidence, with their place. Rows of evidence/added are marked as never
// fitted. Blocks while reading; any thread.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "evidence/cases/case.hpp"
#include "evidence/cases/inference_cases.hpp"
#include "ridge/base/result.hpp"

namespace ridge::evidence {

struct Bundle {
  AssumedWorkloads workloads;
  std::vector<Case> cases;  ///< in the order of the tables and of their rows
};

/// The tables of `data_directory`/evidence and whatever is in evidence/added.
Result<Bundle> load_bundle(const std::string& data_directory);
/// What is assumed about unpublished workloads, from the same place.
Result<AssumedWorkloads> load_assumed_workloads(const std::string& data_directory);
Result<std::vector<Case>> load_cases(std::span<const std::string> paths, const AssumedWorkloads& workloads);

}  // namespace ridge::evidence
