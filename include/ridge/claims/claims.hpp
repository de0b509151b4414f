// Audits claims about AI hardware: what is said, what it ought to be, and why.
//
//   Result<Checker> checker = Checker::load(catalogue, "data");
//   Audit audit = checker->check_text("B200 at $3.39/h and 4000 tok/s costs $0.42 per 1M tokens", "argument");
//   audit.findings[0].verdict;        // Verdict::wrong
//   audit.findings[0].right->text;    // "$0.235/1M tokens"
//   audit.findings[0].formula;        // "rent / token rate = ($3.39/hour) / (4.00 ktok/s)"
//
// A claim is a kind ("cost-per-token"), the inputs that kind needs, and the figure that is claimed. Claims come from a
// TOML or CSV file, or are found in prose and tables; either way they are the same records and are judged by the same
// formulas. No verdict is ever read: it is computed from the inputs, the catalogue and the published record.
//
// A Checker refers to the catalogue it was loaded with, which must outlive it. Checking is pure: any thread may call.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ridge/base/result.hpp"
#include "ridge/catalogue/catalogue.hpp"

namespace ridge {

enum class Verdict : std::uint8_t {
  right,          ///< within 1.5 %, or as near as the digits given can say
  rounded,        ///< within one unit of the last significant digit and 12 %
  wrong,          ///< none of the others explains the difference
  unit,           ///< right but for a unit or for what it is counted per: GB/s for TB/s, eight GPUs for one
  sparse,         ///< the peak with structured sparsity where the dense one is meant, or mixed with dense ones
  contradiction,  ///< the same document says something else about the same thing
  cannot_check,   ///< understood, but an input is not known or nothing can be recomputed
};
inline constexpr std::size_t kVerdicts = 7;
[[nodiscard]] std::string_view name(Verdict verdict);
/// True for wrong, unit, sparse and contradiction: what makes `ridge check` exit with 3.
[[nodiscard]] bool is_error(Verdict verdict);

/// A number as somebody wrote it: with its unit, or as a percentage, a factor or a plain count.
struct Measure {
  enum class Form : std::uint8_t { plain, percent, factor };
  enum class Bound : std::uint8_t { exact, about, at_least, at_most };

  double value = 0;                        ///< base units; the lower end of a range
  double high = 0;                         ///< the upper end; equal to `value` if it is no range
  std::array<std::int8_t, 9> exponents{};  ///< in the order of `Dimension`; all zero without a unit
  Form form = Form::plain;
  Bound bound = Bound::exact;
  double written = 0;      ///< one unit of the last digit written, in base units
  double significant = 0;  ///< the same, zeros at the end of a whole number not counted
  char suffix = 0;         ///< 'k', 'K', 'M', 'B' or 'T' glued to a number without unit
  std::string text;

  [[nodiscard]] bool is_range() const { return high != value; }
  [[nodiscard]] bool has_unit() const { return exponents != std::array<std::int8_t, 9>{}; }
};

/// What a kind of claim wants to know: a measure ("4000 tok/s", "h200-sxm:bandwidth"), or a name ("llama3-70b").
struct ClaimInput {
  std::string text;
  std::optional<Measure> measure = std::nullopt;  ///< where a text front-end has read it already
  std::uint32_t line = 0;                         ///< where it was read, 0 if it stands nowhere
  std::uint32_t column = 0;
};

struct Claim {
  std::string id;
  std::string kind;      ///< one of claim_kinds()
  std::string says;      ///< in words, for people
  std::string document;  ///< file or source it stands in: claims of one document may contradict each other
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  Measure claimed;                           ///< empty text for claims of the form yes or no
  std::map<std::string, ClaimInput> inputs;  ///< by name, as the kind declares them
};

struct Finding {
  struct Input {
    std::string name;    ///< "rent"
    std::string value;   ///< "$3.39/GPU-hour"
    std::string source;  ///< title of the catalogue's source, or "as claimed"
  };

  Claim claim;
  Verdict verdict = Verdict::cannot_check;
  std::optional<Measure> right;  ///< what it ought to be; a bound for claims about speed
  std::string formula;           ///< with the numbers put in
  std::string because;           ///< what explains a difference, or why it cannot be checked; may be empty
  std::vector<Input> inputs;
};

/// A number in a document that no kind of claim took up.
struct NotUnderstood {
  std::string text;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

struct Audit {
  std::string document;
  std::vector<Finding> findings;              ///< in the order of the text
  std::vector<NotUnderstood> not_understood;  ///< only of documents
  [[nodiscard]] bool any_error() const;
  [[nodiscard]] std::array<int, kVerdicts> count() const;
};

/// One kind of claim, for help and documentation.
struct ClaimKindText {
  std::string_view name;
  std::string_view summary;
  std::string_view formula;
  std::vector<std::string_view> inputs;  ///< an ending '?' marks those that may be left out
};
[[nodiscard]] std::vector<ClaimKindText> claim_kinds();

class Checker {
 public:
  static constexpr std::size_t kLargestDocument = 16u << 20;  ///< bytes

  /// Reads `data_directory`/claims/names.toml and facts.toml; the catalogue must outlive the checker.
  static Result<Checker> load(const Catalogue& catalogue, const std::string& data_directory);
  Checker(Checker&&) noexcept;
  Checker& operator=(Checker&&) noexcept;
  ~Checker();

  /// Reads a claim file. Refuses, with file:line:column: malformed TOML or CSV, an unknown kind or input, a missing
  /// one, an id given twice, a figure that is no quantity.
  [[nodiscard]] Result<std::vector<Claim>> read_toml(std::string_view text, std::string_view name) const;
  [[nodiscard]] Result<std::vector<Claim>> read_csv(std::string text, std::string_view name) const;

  /// Judges claims one by one, then against each other where they share a document.
  [[nodiscard]] Audit check(std::vector<Claim> claims, std::string_view name) const;

  /// Finds claims in prose, Markdown and tables and judges them. What is not UTF-8 is skipped; more than
  /// kLargestDocument bytes, or a NUL byte among the first 4,096, is refused (bad_input).
  [[nodiscard]] Result<Audit> check_text(std::string_view text, std::string_view name) const;

 private:
  struct State;
  explicit Checker(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace ridge
