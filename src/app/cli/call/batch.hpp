// Many plans in one call: columns of numbers in, columns of doubles out.
//
//   Result<std::unique_ptr<Batch>> batch = Batch::open(
//       "infer", R"({"model": "llama3.3-70b", "device": "h200-sxm", "tp": 2})", {"isl", "concurrency"},
//       {"output_tokens_per_s", "reason"}, shared, surroundings);
//   Status done = (*batch)->evaluate(points, inputs, outputs, 1);
//
// A column is named like the flag of `ridge estimate` that it stands for; what is no column is a flag and the same for
// all points. A point that cannot run has a reason (the number of ridge::Reason; 0 = it runs) and NaN everywhere else.
// Each point is what `ridge estimate` says about the same flags, to the last bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/session/session.hpp"

namespace ridge::cli {

enum class ColumnType : std::uint8_t { int32, int64, float64 };

struct BatchColumn {
  ColumnType type = ColumnType::float64;
  const void* values = nullptr;
};

class Batch {
 public:
  virtual ~Batch() = default;

  /// `kind` is "infer" or "train". Refuses what `ridge estimate` refuses (bad_input, not_found), columns that do not
  /// exist, and a question that leaves the layout open: a batch chooses nothing.
  static Result<std::unique_ptr<Batch>> open(std::string_view kind, std::string_view json_flags,
                                             const std::vector<std::string>& inputs,
                                             const std::vector<std::string>& outputs, const SharedData& shared,
                                             const Surroundings& surroundings);

  /// Columns in the order of open(), each with `points` values. Allocates once per call and per distinct layout, never
  /// per point. Any thread; `threads` of them share the work. Refuses (bad_input) a wrong number of columns.
  virtual Status evaluate(std::size_t points, std::span<const BatchColumn> inputs, std::span<double* const> outputs,
                          unsigned threads) const = 0;

  /// What may be asked for.
  static std::vector<std::string> input_names(std::string_view kind);
  static std::vector<std::string> output_names(std::string_view kind);
};

}  // namespace ridge::cli
