// The text sides of kinds whose formula and pattern would not fit into one file.
#pragma once

#include "claims/collector.hpp"

namespace ridge::claims {

void find_calculations(const Passage& passage, Collector& out);
void find_specifications(const Passage& passage, Collector& out);
void find_training_times(const Passage& passage, Collector& out);
void find_training_rates(const Passage& passage, Collector& out);
void find_training_costs(const Passage& passage, Collector& out);
void find_run_costs(const Passage& passage, Collector& out);

}  // namespace ridge::claims
