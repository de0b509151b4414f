// Choosing rows and columns of a sheet.
//
//   keep_where(sheet, "memory_bandwidth >= 3 TB/s");
//   keep_where(sheet, "vendor=nvidia");
//   sort_rows(sheet, "-memory");             // largest first
//   choose_fields(sheet, "id,memory,bf16");
//
// All refuse (bad_input) an unknown key, naming the nearest, and a value of another kind or unit; the caller adds the
// option it came from.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "app/cli/show/sheet.hpp"
#include "ridge/base/result.hpp"

namespace ridge::cli {

/// `key op value`, op one of = != < <= > >= ~ (contains). Numbers carry the unit of their field; text and dates compare
/// without regard to case. An unknown figure meets no condition but `key=unknown`.
Status keep_where(Sheet& sheet, std::string_view condition);

/// Ascending, with `-` in front descending; unknown last, equal ones in the order they had.
Status sort_rows(Sheet& sheet, std::string_view key);

/// Positions in Sheet::fields of the keys between commas.
Result<std::vector<std::size_t>> choose_fields(const Sheet& sheet, std::string_view keys);

/// Of those that a listing has on its own.
[[nodiscard]] std::vector<std::size_t> listed_fields(const Sheet& sheet);

}  // namespace ridge::cli
