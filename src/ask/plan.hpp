// Values of a search that are more than a number or a word.
#pragma once

#include <string_view>

#include "ridge/base/result.hpp"

namespace ridge::ask {

/// "2/8" → 2 of 8. Refuses others.
[[nodiscard]] Status parse_shard(std::string_view text, int& shard, int& shards);

}  // namespace ridge::ask
