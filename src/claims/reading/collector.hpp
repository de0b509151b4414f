// Where recognisers put the claims they find, and what they remember of the document so far.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "claims/known/kind.hpp"
#include "claims/text/passage.hpp"

namespace ridge::claims {

/// An input of a claim that was found in a text.
struct Found {
  std::string name;
  std::string text;
  std::optional<Measure> measure = std::nullopt;
};
[[nodiscard]] Found found(std::string name, const Measure& measure);

/// What a row of a table of results is about.
struct ResultKey {
  std::string device;
  std::string model;     ///< of the section, or empty
  std::string scenario;  ///< "offline", "server", or empty
  bool virtualised = false;
  auto operator<=>(const ResultKey&) const = default;
};
struct ResultRow {
  double total = 0;
  double stated = 0;  ///< per accelerator, as printed
  double accelerators = 0;
};

/// What the document has said so far, for claims that lean on earlier sentences.
/// A token rate of a table, for a footnote that says of what.
struct RateRow {
  std::string device;
  Token token;
  Measure rate;
  std::size_t end = 0;  ///< where the row ends
};

struct Memory {
  std::set<std::size_t> unit_tables;  ///< tables whose unit has been checked
  std::vector<RateRow> rates;
  std::map<ResultKey, ResultRow> results;                              ///< the latest; of any model, under ""
  std::optional<Measure> household;                                    ///< energy a household takes in a year
  std::map<std::string, Measure> energy_per_token;                     ///< by format; "" is the latest
  std::string energy_model;                                            ///< whose tokens those are
  std::map<std::string, Measure> lease;                                ///< by device: $/month
  std::optional<Measure> rent;                                         ///< the latest $/GPU-hour
  std::map<std::string, std::vector<Measure>> utilisation;             ///< MFU by format, as stated one after the other
  std::string model;                                                   ///< the latest named
  std::string device;                                                  ///< the same
  std::map<std::pair<std::size_t, std::size_t>, Measure> activations;  ///< by table and column
};

class Collector {
 public:
  Collector(const Text& text, const Context& context, std::string document)
      : text_(text), context_(context), document_(std::move(document)) {}

  [[nodiscard]] const Context& context() const { return context_; }
  Memory memory;

  /// Adds a claim about `claimed`, which stands at `at`.
  void add(const Kind& kind, const Token& at, const Measure& claimed, std::string says, std::vector<Found> inputs);
  void add(const Kind& kind, const Token& at, std::string says, std::vector<Found> inputs) {
    add(kind, at, at.measure, std::move(says), std::move(inputs));
  }
  /// What a claim would be judged to be, if it were added.
  [[nodiscard]] Verdict verdict_of(const Kind& kind, const Measure& claimed, const std::vector<Found>& inputs) const;
  /// The number has been taken up, as a claim or as an input.
  void use(const Token& token);
  [[nodiscard]] bool used(const Token& token) const;

  [[nodiscard]] std::vector<Claim> claims() && { return std::move(claims_); }

 private:
  const Text& text_;
  const Context& context_;
  std::string document_;
  std::vector<Claim> claims_;
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::string_view>> places_;  // line, column and kind of each claim
  std::map<std::size_t, std::size_t> used_;                                      // offset to end
};

}  // namespace ridge::claims
