// Every kind of claim; a new one is a file NAME.cpp in the folder of its subject that defines NAME_kind(), and a line
// here.
#pragma once

#include "claims/known/kind.hpp"

namespace ridge::claims {

// In this order they look at a text. Calculations come early: an amount that is calculated with is no figure of a part.
// clang-format off
#define RIDGE_CLAIM_KINDS(KIND) \
  KIND(cost_per_token) \
  KIND(energy) \
  KIND(calculation) \
  KIND(specification) \
  KIND(model) \
  KIND(launch) \
  KIND(comparison) \
  KIND(change) \
  KIND(ratio) \
  KIND(results) \
  KIND(division) \
  KIND(product) \
  KIND(conversion) \
  KIND(per_watt) \
  KIND(lease) \
  KIND(price_per) \
  KIND(price_each) \
  KIND(price_gap) \
  KIND(kv_cache) \
  KIND(weights) \
  KIND(fits) \
  KIND(largest_model) \
  KIND(serving_memory) \
  KIND(training_memory) \
  KIND(decode_rate) \
  KIND(request_rate) \
  KIND(training_rate) \
  KIND(training_cost) \
  KIND(training_time) \
  KIND(run_cost) \
  KIND(rent) \
  KIND(mlperf) \
  KIND(mlperf_comparable) \
  KIND(statement) \
  KIND(agreement) \
  KIND(not_computable)
// clang-format on

#define RIDGE_DECLARE_KIND(name) const Kind& name##_kind();
RIDGE_CLAIM_KINDS(RIDGE_DECLARE_KIND)
#undef RIDGE_DECLARE_KIND

}  // namespace ridge::claims
