// Predictions beside measurements: the rows, and what they add up to.
//
//   std::vector<ResultRow> rows = validate(cases, knowledge, {});
//   std::string csv = rows_csv(cases, rows);                       //
//   id,metric,measured,predicted,low,high,error,refusal std::vector<SummaryLine> lines = summary(cases, rows,
//   GroupBy::none, catalogue);
//
// One row for every non-empty target of every case, in the order of the cases. Pure; any thread.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "evidence/cases/case.hpp"
#include "evidence/predict/predict.hpp"
#include "evidence/rows/errors.hpp"
#include "ridge/base/patience.hpp"

namespace ridge::evidence {

struct ResultRow {
  std::size_t case_index = 0;
  Metric metric = Metric::step_time_s;
  double measured = 0;
  Interval predicted;      ///< NaN if refused
  std::string refusal;     ///< "kind: detail", or empty
  double roofline = 0;     ///< what the datasheet alone gives; NaN if it gives nothing or was not asked for
  double in_sample = 0;    ///< cross-validated rows: what the fit to all rows gives; else NaN
  Response response = {};  ///< of the figure to a slower engine

  [[nodiscard]] Comparison comparison() const { return {measured, predicted.mid, predicted.low, predicted.high}; }
  [[nodiscard]] Comparison against(double other) const { return {measured, other, other, other}; }
};

struct ValidateOptions {
  int threads = 0;                  ///< 0 = as many as there are
  bool roofline = true;             ///< also predict from the datasheet alone
  bool simulated = false;           ///< play closed loops request by request
  PublishedSettings settings = {};  ///< for that: how servers were started
  Patience patience = {};           ///< once it is over the rest is left out: the caller refuses the answer
};

[[nodiscard]] std::vector<ResultRow> validate(std::span<const Case> cases, const Knowledge& knowledge,
                                              const ValidateOptions& options = {});

/// The table of `--rows`; `error` is predicted/measured - 1.
[[nodiscard]] std::string rows_csv(std::span<const Case> cases, std::span<const ResultRow> rows);

enum class GroupBy : std::uint8_t { none, model, device, source, engine, precision, mode, model_class, vendor };
/// "model", "device", "source", "engine", "precision", "mode", "class", "vendor"; nothing for other words.
[[nodiscard]] std::optional<GroupBy> parse_group(std::string_view text);

/// "dense" or "moe"; empty for kernels and for models nobody knows.
[[nodiscard]] std::string model_class(const Case& c, const Catalogue& catalogue);

/// What is summarised apart: a metric and, where they are different questions, the mode ("output_tok_s", "offline"),
/// operator class ("seconds", "gemm") or table ("power_w", "diffusion"). Rows that are never fitted stand apart too.
struct Category {
  Metric metric = Metric::step_time_s;
  std::string mode;
  bool fitted = true;

  friend bool operator==(const Category&, const Category&) = default;
  /// "output_tok_s offline", "added: step_time_s".
  [[nodiscard]] std::string label() const;
};
[[nodiscard]] Category category(const Case& c, Metric metric);

struct SummaryLine {
  Category category;
  std::string group;  ///< value of what was grouped by, or empty
  ErrorSummary errors;
  ErrorSummary roofline;
  ErrorSummary in_sample;                             ///< of cross-validated rows
  std::vector<std::pair<std::string, int>> refusals;  ///< kind and count, most frequent first
};

/// One line per category and group, categories in a fixed order, groups by name.
[[nodiscard]] std::vector<SummaryLine> summary(std::span<const Case> cases, std::span<const ResultRow> rows, GroupBy by,
                                               const Catalogue& catalogue);

/// Rows predicted faster than the datasheet allows, beyond rounding: there should be none.
[[nodiscard]] std::vector<std::size_t> faster_than_roofline(std::span<const ResultRow> rows);

}  // namespace ridge::evidence
