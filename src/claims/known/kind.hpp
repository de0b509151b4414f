// What a kind of claim is: how it is recognised, which inputs it has, how the right value is computed.
//
// Each kind is one file below kinds/ that defines one `Kind` and has a line in kinds/all_kinds.hpp. `recompute` never
// looks at the claimed figure except to explain a difference; judge.cpp compares.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "claims/known/facts.hpp"
#include "claims/known/mlperf_record.hpp"
#include "claims/text/names.hpp"
#include "claims/text/written_number.hpp"
#include "ridge/claims/claims.hpp"
#include "ridge/perf/perf.hpp"

namespace ridge::claims {

struct Context {
  const Catalogue& catalogue;
  const Names& names;
  const Facts& facts;
  const Record& record;
};

/// Another value the figure may stand for, and the verdict if it does.
struct Reading {
  Measure value;
  Verdict verdict = Verdict::wrong;
  std::string because;
  double tolerance = 0.03;
};

enum class Compare : std::uint8_t {
  equal,
  at_most,  ///< the value is a bound: at or below it the claim is possible
  holds,    ///< yes or no: Recomputed::holds decides
};

struct Recomputed {
  std::optional<Measure> right;
  std::string formula;
  std::string because;
  std::vector<Finding::Input> inputs;
  std::vector<Reading> readings;  ///< tried in order where the claim is not right or rounded
  Compare compare = Compare::equal;
  bool holds = false;
  Verdict otherwise = Verdict::wrong;  ///< where nothing explains the difference
  double slack = 0;  ///< share by which rounded inputs may move the value: as much is rounded, not wrong
};

class Inputs;
class Passage;
class Collector;

struct Kind {
  std::string_view name;
  std::string_view summary;
  std::string_view formula;
  std::string_view inputs;  ///< names parted by spaces; an ending '?' marks those that may be left out
  bool claimed = true;      ///< a figure is claimed (otherwise yes or no, or nothing)
  Result<Recomputed> (*recompute)(Inputs& inputs) = nullptr;  ///< an error is why it cannot be checked
  void (*recognise)(const Passage& passage, Collector& out) = nullptr;
};

[[nodiscard]] std::span<const Kind* const> kinds();
[[nodiscard]] const Kind* find_kind(std::string_view name);

/// A measure and where it comes from.
struct Looked {
  Measure measure;
  std::string shown;   ///< "h200-sxm memory bandwidth 4.80 TB/s" or the text as claimed
  std::string source;  ///< "as claimed" or the title of a source
};

/// "141 GB" as it stands, or a reference into the catalogue: "h200-sxm:bandwidth", "b200-sxm-180:fp8-sparse",
/// "dgx-h100:power", "llama3-70b:parameters". Refuses (not_found) unknown names and figures nobody published.
Result<Looked> look_up(const Context& context, std::string_view text);

/// The inputs of one claim; what is asked for is remembered for the report.
class Inputs {
 public:
  Inputs(const Claim& claim, const Context& context) : claim_(claim), context_(context) {}

  [[nodiscard]] const Claim& claim() const { return claim_; }
  [[nodiscard]] const Context& context() const { return context_; }
  [[nodiscard]] bool has(std::string_view name) const { return find(name) != nullptr; }
  /// The text of an input, or empty.
  [[nodiscard]] std::string text(std::string_view name) const;

  Result<Looked> measure(std::string_view name);
  /// A plain count: "8", "15T", "128K" (1024 for context lengths if `binary`).
  Result<double> count(std::string_view name, std::optional<double> otherwise = std::nullopt, bool binary = false);
  Result<const Device*> device(std::string_view name = "device");
  Result<const Model*> model(std::string_view name = "model");
  Result<Format> format(std::string_view name, Format otherwise);

  /// Half a unit of the last digit of each input that was claimed, as shares of them, added up; at most 5 %.
  [[nodiscard]] double slack() const { return slack_ < 0.05 ? slack_ : 0.05; }

  /// Remembers an input that was looked up by other means.
  void note(std::string name, std::string value, std::string source);
  [[nodiscard]] std::vector<Finding::Input> taken() && { return std::move(taken_); }

 private:
  [[nodiscard]] const ClaimInput* find(std::string_view name) const;
  const Claim& claim_;
  const Context& context_;
  std::vector<Finding::Input> taken_;
  double slack_ = 0;
};

[[nodiscard]] Error cannot(std::string reason);

}  // namespace ridge::claims
