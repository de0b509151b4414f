// A sheet as a listing, as JSON, and one of its rows as a page that names the source of each figure.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "app/cli/show/sheet.hpp"
#include "ridge/report/report.hpp"

namespace ridge::cli {

/// The rows with these fields, for people and for CSV.
[[nodiscard]] Table listing(const Sheet& sheet, const std::vector<std::size_t>& fields);

/// A list of objects, one for each row, with every field; docs/schema/show.json describes them.
[[nodiscard]] Json objects(const Sheet& sheet, const Catalogue& catalogue);

/// Everything known of one row.
[[nodiscard]] Document explain(const Sheet& sheet, const Row& row, const Catalogue& catalogue);

/// What --where, --sort and --columns accept.
[[nodiscard]] Table keys_table(const Sheet& sheet);

}  // namespace ridge::cli
