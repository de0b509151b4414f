#include "claims/reading/collector.hpp"

#include "claims/reading/judge.hpp"

namespace ridge::claims {

Found found(std::string name, const Measure& measure) {
  return {std::move(name), faithful(measure), measure};
}

void Collector::add(const Kind& kind, const Token& at, const Measure& claimed, std::string says,
                    std::vector<Found> inputs) {
  Claim claim;
  claim.kind = std::string(kind.name);
  claim.says = std::move(says);
  claim.document = document_;
  const Text::Place place = text_.place(at.offset);
  claim.line = place.line;
  claim.column = place.column;
  claim.claimed = claimed;
  // Claims in words ("slower than") have no figure.
  if (claim.claimed.text.empty() && claim.claimed.value != 0) claim.claimed.text = shown(claim.claimed);
  for (Found& input : inputs) claim.inputs[input.name] = {std::move(input.text), std::move(input.measure), 0, 0};
  const bool first = places_.emplace(claim.line, claim.column, kind.name).second;
  use(at);
  if (first) claims_.push_back(std::move(claim));
}

Verdict Collector::verdict_of(const Kind& kind, const Measure& claimed, const std::vector<Found>& inputs) const {
  Claim claim;
  claim.kind = std::string(kind.name);
  claim.claimed = claimed;
  for (const Found& input : inputs) claim.inputs[input.name] = {input.text, input.measure, 0, 0};
  return judge(claim, context_).verdict;
}

void Collector::use(const Token& token) {
  used_[token.offset] = token.end;
}

bool Collector::used(const Token& token) const {
  return used_.contains(token.offset);
}

}  // namespace ridge::claims
