// Evidence tables, whatever their kind: the header tells it.
//
//   Result<std::vector<Case>> cases = read_cases(csv, "mine.csv", workloads);
//   if (!cases) return cases.error();           // not a table of ours: "mine.csv:1:1: ..."
//   for (const Case& c : *cases) if (!c.refusal.empty()) ...   // a row that cannot be read
//
// Columns may stand in any order and others may be there too. A row without an id is called after its line. A row that
// makes no sense is kept as a case with a refusal, a figure that makes none as a target with one. The bundled tables
// are read strictly; those of users as docs/validate.md says: CsvTable::parse_forgiving(), a row of the wrong length is
// a refusal, the mode may be left out, and training's tokens_per_sec_per_gpu is a figure of its own. Pure; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "evidence/cases/case.hpp"
#include "evidence/cases/inference_cases.hpp"
#include "ridge/base/csv.hpp"
#include "ridge/base/result.hpp"

namespace ridge::evidence {

enum class Reading : std::uint8_t { strict, forgiving };

/// Training has step_time_s, diffusion batch_latency_s, inference mode, kernels op, power what; forgiving, training may
/// have tokens_per_sec_per_gpu or global_batch instead, and inference isl or osl. Refuses a header that is none of them
/// or lacks a column every row needs.
Result<CaseKind> kind_of(const CsvTable& table, Reading reading = Reading::strict);

Result<std::vector<Case>> read_cases(std::string csv, const std::string& name, const AssumedWorkloads& workloads,
                                     Reading reading = Reading::strict);

}  // namespace ridge::evidence
