// Every kind of claim; a new one is a file kind_NAME.cpp, a line here and one in kinds.cpp.
#pragma once

#include "claims/kind.hpp"

namespace ridge::claims {

const Kind& calculation_kind();
const Kind& specification_kind();
const Kind& model_kind();
const Kind& launch_kind();
const Kind& comparison_kind();
const Kind& change_kind();
const Kind& ratio_kind();
const Kind& results_kind();
const Kind& division_kind();
const Kind& product_kind();
const Kind& conversion_kind();
const Kind& per_watt_kind();
const Kind& cost_per_token_kind();
const Kind& lease_kind();
const Kind& price_per_kind();
const Kind& price_each_kind();
const Kind& price_gap_kind();
const Kind& kv_cache_kind();
const Kind& weights_kind();
const Kind& fits_kind();
const Kind& largest_model_kind();
const Kind& serving_memory_kind();
const Kind& training_memory_kind();
const Kind& decode_rate_kind();
const Kind& request_rate_kind();
const Kind& training_rate_kind();
const Kind& training_cost_kind();
const Kind& training_time_kind();
const Kind& run_cost_kind();
const Kind& energy_kind();
const Kind& mlperf_kind();
const Kind& mlperf_comparable_kind();
const Kind& statement_kind();
const Kind& agreement_kind();
const Kind& not_computable_kind();

}  // namespace ridge::claims
