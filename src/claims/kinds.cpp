#include <algorithm>
#include <array>

#include "claims/all_kinds.hpp"
#include "claims/kind.hpp"

namespace ridge {

namespace claims {

// In this order they look at a text. Calculations come early: an amount that is calculated with is no figure of a part.
std::span<const Kind* const> kinds() {
  static const std::array all = {
      &cost_per_token_kind(), &energy_kind(),        &calculation_kind(),    &specification_kind(),
      &model_kind(),          &launch_kind(),        &comparison_kind(),     &change_kind(),
      &ratio_kind(),          &results_kind(),       &division_kind(),       &product_kind(),
      &conversion_kind(),     &per_watt_kind(),      &lease_kind(),          &price_per_kind(),
      &price_each_kind(),     &price_gap_kind(),     &kv_cache_kind(),       &weights_kind(),
      &fits_kind(),           &largest_model_kind(), &serving_memory_kind(), &training_memory_kind(),
      &decode_rate_kind(),    &request_rate_kind(),  &training_rate_kind(),  &training_cost_kind(),
      &training_time_kind(),  &run_cost_kind(),      &mlperf_kind(),         &mlperf_comparable_kind(),
      &statement_kind(),      &agreement_kind(),     &not_computable_kind(),
  };
  return all;
}

const Kind* find_kind(std::string_view name) {
  const auto all = kinds();
  const auto at = std::find_if(all.begin(), all.end(), [&](const Kind* k) { return k->name == name; });
  return at == all.end() ? nullptr : *at;
}

}  // namespace claims

std::vector<ClaimKindText> claim_kinds() {
  std::vector<ClaimKindText> texts;
  for (const claims::Kind* kind : claims::kinds()) {
    ClaimKindText text{kind->name, kind->summary, kind->formula, {}};
    std::string_view rest = kind->inputs;
    while (!rest.empty()) {
      const std::size_t space = std::min(rest.find(' '), rest.size());
      text.inputs.push_back(rest.substr(0, space));
      rest.remove_prefix(std::min(space + 1, rest.size()));
    }
    texts.push_back(std::move(text));
  }
  return texts;
}

}  // namespace ridge
