// What an answer costs, month by month.
#pragma once

#include "ridge/fleet/fleet.hpp"

namespace ridge::fleet {

/// Replicas take no more requests than there are, jobs no more devices at once than they need; then `months`, `usd` and
/// `commitments` are of what stands in the answer.
void settle(const Problem& problem, Answer& answer);

}  // namespace ridge::fleet
