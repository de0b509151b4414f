// Evidence tables, whatever their kind: the header tells it.
//
//   Result<std::vector<Case>> cases = read_cases(csv, "mine.csv", workloads);
//   if (!cases) return cases.error();           // not a table of ours: "mine.csv:1:1: ..."
//   for (const Case& c : *cases) if (!c.refusal.empty()) ...   // a row that cannot be read
//
// Columns may stand in any order and others may be there too; a required one that is missing refuses the file by name.
// A row without an id is called after its line. A row that makes no sense is kept as a case with a refusal. Pure; any
// thread.
#pragma once

#include <string>
#include <vector>

#include "evidence/case.hpp"
#include "evidence/inference_cases.hpp"
#include "ridge/csv.hpp"
#include "ridge/result.hpp"

namespace ridge::evidence {

/// Training has step_time_s, diffusion batch_latency_s, inference mode, kernels op, power what. Refuses a header that
/// is none of them or lacks a column every row needs.
Result<CaseKind> kind_of(const CsvTable& table);

Result<std::vector<Case>> read_cases(std::string csv, const std::string& name, const AssumedWorkloads& workloads);

}  // namespace ridge::evidence
