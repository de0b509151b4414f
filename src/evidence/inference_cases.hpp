// Rows of inference.csv and consumer.csv as questions: what ran, never what was measured.
//
//   AssumedLengths lengths = *read_assumed_lengths(csv, "assumed_lengths.csv");
//   InferenceQuery q = read_inference_query(row, lengths);   // row.refusal() says why not
//
// A closed-loop row's `batch` is an outcome: it is not read. Empty cells stay unknown (the engine's default) except the
// input length, which has to be assumed by data set. Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "evidence/case_row.hpp"
#include "ridge/inference.hpp"
#include "ridge/result.hpp"

namespace ridge::evidence {

/// What a data set's prompts are taken to be like where nobody published it.
struct AssumedLength {
  std::string id_contains;  ///< the first entry whose text occurs in the id of a row holds
  double isl = 0;
  double natural_text = 0;  ///< 1: prompts that people wrote
};
using AssumedLengths = std::vector<AssumedLength>;

/// Columns id_contains, isl, natural_text, source, date, why. Refuses a missing column or a number out of range.
Result<AssumedLengths> read_assumed_lengths(std::string csv, const std::string& name);

[[nodiscard]] InferenceQuery read_inference_query(CaseRow& row, const AssumedLengths& lengths);

}  // namespace ridge::evidence
