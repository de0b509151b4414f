// Other plans near one: what would make its steps faster.
#pragma once

#include "ridge/rl/rl.hpp"

namespace ridge::rl {

/// At most three, best first; `query` as it was asked, `answered` what it gave. Answers some dozen plans, as far as
/// patience goes.
[[nodiscard]] std::vector<Suggestion> suggestions(const RlQuery& query, const RlAnswer& answered,
                                                  const Knowledge& knowledge, const Patience& patience);

}  // namespace ridge::rl
