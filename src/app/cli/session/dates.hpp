// Dates as the catalogue writes them: 2026-08-03, 2026-08 or 2026.
#pragma once

#include <string_view>

#include "ridge/base/result.hpp"

namespace ridge::cli {

/// The date itself. Refuses (bad_input) what is none.
Result<std::string_view> parse_date(std::string_view text);

/// Both are dates. `a` is later than `b` as far as both say: 2026-08 is not later than 2026-08-03.
[[nodiscard]] bool is_later(std::string_view a, std::string_view b);

/// Older than six months at `as_of`. A date without its day or month is given the benefit of the doubt; an empty one
/// too.
[[nodiscard]] bool is_stale(std::string_view date, std::string_view as_of);

}  // namespace ridge::cli
