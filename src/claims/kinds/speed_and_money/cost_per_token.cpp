// What a million tokens cost at a rent and a rate.
#include <fmt/format.h>

#include "claims/kinds/all_kinds.hpp"
#include "claims/reading/collector.hpp"

namespace ridge::claims {

namespace {

Result<Recomputed> recompute_cost_per_token(Inputs& inputs) {
  const auto rent = inputs.measure("rent");
  if (!rent) return rent.error();
  const auto rate = inputs.measure("rate");
  if (!rate) return rate.error();
  const auto gpus = inputs.count("gpus", 1.0);
  if (!gpus) return gpus.error();
  if (!is_a<DollarsPerSecond>(rent->measure)) return cannot("the rent is no price per hour");
  if (!is_a<TokensPerSecond>(rate->measure) || rate->measure.value <= 0)
    return cannot("the rate is not in tokens per second");
  Recomputed result;
  result.right = measure_of(DollarsPerToken(rent->measure.value * *gpus / rate->measure.value));
  result.formula = *gpus == 1 ? fmt::format("{} / {}", rent->shown, rate->shown)
                              : fmt::format("{:g} x {} / {}", *gpus, rent->shown, rate->shown);
  const Measure& claimed = inputs.claim().claimed;
  if (claimed.value > 0) {
    result.because = fmt::format("{} would take {} or {}", claimed.text,
                                 measure_of(TokensPerSecond(rent->measure.value * *gpus / claimed.value)).text,
                                 measure_of(DollarsPerSecond(claimed.value * rate->measure.value / *gpus)).text);
  }
  result.readings.push_back(
      {scaled(*result.right, 1e3), Verdict::unit, "per thousand and per million are mixed up", 0.02});
  result.readings.push_back(
      {scaled(*result.right, 1e-3), Verdict::unit, "per thousand and per million are mixed up", 0.02});
  result.readings.push_back({scaled(*result.right, 8), Verdict::unit, "that is what eight accelerators cost", 0.02});
  return result;
}

struct Parts {
  const Token *rent = nullptr, *rate = nullptr, *cost = nullptr;
  Measure rent_measure, rate_measure, cost_measure;
};

void take(const Token& token, const Measure& m, Parts& parts) {
  if (is_a<DollarsPerSecond>(m) && parts.rent == nullptr) {
    parts.rent = &token;
    parts.rent_measure = m;
  } else if (is_a<TokensPerSecond>(m) && parts.rate == nullptr) {
    parts.rate = &token;
    parts.rate_measure = m;
  } else if (is_a<DollarsPerToken>(m) && parts.cost == nullptr) {
    parts.cost = &token;
    parts.cost_measure = m;
  }
}

void recognise_cost_per_token(const Passage& passage, Collector& out) {
  Parts parts;
  if (passage.is_row()) {
    for (const TableCell& cell : passage.cells) {
      if (const auto m = cell_measure(cell)) take(*first_number(cell.tokens), *m, parts);
    }
  } else {
    for (const Token& token : passage.tokens) {
      if (token.is_number()) take(token, token.measure, parts);
    }
  }
  if (parts.rent == nullptr || parts.rate == nullptr || parts.cost == nullptr) return;
  // "10M tokens a day at $0.60 per 1M tokens is $6 a day" claims what is spent, not the price.
  const bool spent = parts.rent->offset > parts.cost->offset && parts.rent->text.find('h') == std::string::npos;
  if (spent && !passage.is_row()) return;
  const Token* subject = first_hardware(passage.tokens);
  parts.cost_measure.text = faithful(parts.cost_measure);
  out.use(*parts.rent);
  out.use(*parts.rate);
  if (passage.is_row() && subject != nullptr && subject->name->kind == NameKind::device) {
    out.memory.rates.push_back({subject->name->id, *parts.rate, parts.rate_measure, passage.end});
  }
  out.add(cost_per_token_kind(), *parts.cost, parts.cost_measure,
          fmt::format("{}{} at {} costs {}", subject == nullptr ? "" : subject->text + " for ", parts.rent->text,
                      parts.rate->text, parts.cost->text),
          {found("rent", parts.rent_measure), found("rate", parts.rate_measure)});
}

}  // namespace

const Kind& cost_per_token_kind() {
  static const Kind kind{
      "cost-per-token",
      "what tokens cost at a rent and a rate",
      "rent x gpus / token rate",
      "rent rate gpus?",
      true,
      recompute_cost_per_token,
      recognise_cost_per_token,
  };
  return kind;
}

}  // namespace ridge::claims
