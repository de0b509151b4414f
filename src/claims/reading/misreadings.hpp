// Figures that stand near a part's name and are not the part's: what a pattern has to rule out before it calls one
// wrong. A false alarm costs more than a miss. Pure functions of the tokens of one sentence.
#pragma once

#include <string_view>

#include "claims/text/passage.hpp"

namespace ridge::claims {

/// The sentence tells what somebody measured or supposes, not what a part has.
[[nodiscard]] bool speaks_of_measurement(const Tokens& tokens);

/// Words that set two things side by side, or say that something is not so: nothing is calculated then.
[[nodiscard]] bool sets_apart(const Tokens& tokens);

/// Columns of numbers that a tool printed, not a sentence.
[[nodiscard]] bool is_log(const Tokens& tokens);

/// The number at `at` is the second of "3.35 vs 2.0 TB/s" or of "114 / 58 / 31 PFLOPS": another part's, or another
/// format's.
[[nodiscard]] bool is_listed(const Tokens& tokens, std::size_t at);

/// The words around it give the number at `at`, which would be this figure ("memory", "bandwidth", "power" or a peak),
/// to something else: host memory, a link, a slice of a pod, a whole server, what is free or in use.
[[nodiscard]] bool belongs_elsewhere(const Tokens& tokens, std::size_t at, std::string_view figure);

/// Near enough to the part's figure to be a claim about it: within a factor of ten, or off by a usual slip of units.
[[nodiscard]] bool is_plausible(const Measure& claimed, const Measure& right);

}  // namespace ridge::claims
