// The year a part came out, against the catalogue.
#include <fmt/format.h>

#include <cmath>

#include "claims/kinds/all_kinds.hpp"
#include "claims/reading/collector.hpp"

namespace ridge::claims {

namespace {

Result<Recomputed> recompute_launch(Inputs& inputs) {
  const auto device = inputs.device("of");
  if (!device) return device.error();
  const double year = (*device)->year;
  if (year == 0) return cannot("its year is not in the catalogue");
  const double off = std::abs(inputs.claim().claimed.value - year);
  // Parts are announced in one year and shipped in the next.
  if (off == 1)
    return cannot(fmt::format("announced and shipped lie up to a year apart; the catalogue has {:g}", year));
  Recomputed result;
  result.right = measure_of(year);
  result.right->text = fmt::format("{:g}", year);
  result.formula = "year of " + (*device)->id;
  result.compare = Compare::holds;
  result.holds = off == 0;
  return result;
}

bool is_year(const Token& t) {
  return t.is_number() && t.measure.form == Measure::Form::plain && !t.measure.has_unit() && t.measure.suffix == 0 &&
         t.text.size() == 4 && t.measure.value >= 2000 && t.measure.value <= 2100;
}

/// "the MI300X arrived in 2023", "launched in 2022, the H100 ...": one part, one year, and a verb of coming out.
void recognise_launch(const Passage& passage, Collector& out) {
  if (passage.is_row()) return;
  const Tokens& tokens = passage.tokens;
  const Token *device = nullptr, *year = nullptr;
  for (const Token& t : tokens) {
    if (t.is_name(NameKind::device)) {
      if (device != nullptr) return;
      device = &t;
    }
    if (is_year(t)) {
      if (year != nullptr) return;
      year = &t;
    }
  }
  if (device == nullptr || year == nullptr || out.used(*year)) return;
  const auto at = static_cast<std::size_t>(year - tokens.data());
  const auto part = static_cast<std::size_t>(device - tokens.data());
  if (at == 0 || !any_word(tokens, at > 3 ? at - 3 : 0, at, {"in"})) return;
  const std::size_t from = std::min(at, part), to = std::max(at, part);
  if (to - from > 8) return;
  const bool out_of = any_word(tokens, from, to, {"came", "comes"}) && any_word(tokens, from, to, {"out"});
  const bool verb = any_word(tokens, from > 2 ? from - 2 : 0, to,
                             {"launched", "released", "introduced", "debuted", "arrived", "announced", "unveiled"});
  if (!(verb || out_of)) return;
  // Something on, with or for the part came out, or its price did.
  if (any_word(tokens, {"on", "for", "support", "driver", "instance", "instances", "price", "prices", "with", "not"}))
    return;
  out.add(launch_kind(), *year, fmt::format("{} came out in {}", device->text, year->text), {{"of", device->name->id}});
}

}  // namespace

const Kind& launch_kind() {
  static const Kind kind{
      "launch", "the year a device came out", "year of the catalogue", "of", true, recompute_launch, recognise_launch,
  };
  return kind;
}

}  // namespace ridge::claims
