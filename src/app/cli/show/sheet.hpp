// All that is known of one kind of entries, as one sheet: a row for each entry, a field for each thing known of it.
// Listings, pages, CSV, JSON, filters and sorting all read the same sheet.
//
//   Sheet sheet = device_sheet(catalogue, context);
//   sheet.rows[0].values[*sheet.find_field("memory_bandwidth")].cell.text();   // "4.80 TB/s"
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ridge/catalogue/catalogue.hpp"
#include "ridge/facility/facility.hpp"
#include "ridge/report/report.hpp"
#include "search/buyer/policy.hpp"

namespace ridge {
struct EconomicsData;
}

namespace ridge::cli {

/// One thing known of each entry. Keys with a dot ("peak_dense.bf16") stand together in one JSON object.
struct Field {
  std::string_view key;
  std::string_view unit;     ///< base unit as the end of the JSON name: "bytes_per_s"; empty for text and plain numbers
  std::string_view heading;  ///< of its column in a listing
  std::string_view label;    ///< on its page, under `section`
  std::string_view section;  ///< of the page; empty: the page shows it in its own way, or not at all
  ColumnKind kind = ColumnKind::text;
  bool listed = false;  ///< in the listing unless --columns says otherwise
  bool quiet = false;   ///< the page says nothing if it is missing: it is made of other figures, or most have none

  /// "memory_bandwidth_bytes_per_s", "peak_dense_flops_per_s.bf16": the name in CSV; the dot is a level in JSON.
  [[nodiscard]] std::string name() const;
};

/// What is known, and where from. Text that every entry has, and what is computed, has no source of its own.
struct Value {
  Cell cell;
  std::optional<SourceId> source;
};

struct Row {
  std::string id;
  std::vector<Value> values;  ///< in the order of Sheet::fields
  std::size_t entry = 0;      ///< which one it was before rows were left out or sorted
};

/// The sources a page refers to, numbered in the order in which they are met.
class References {
 public:
  /// "[2]".
  [[nodiscard]] std::string mark(SourceId source);
  [[nodiscard]] const std::vector<SourceId>& sources() const { return sources_; }

 private:
  std::vector<SourceId> sources_;
};

struct Sheet {
  std::string_view plural;    ///< "devices": the word on the command line and the key in JSON
  std::string_view singular;  ///< "device"
  std::vector<Field> fields;
  std::vector<Row> rows;
  /// Adds to the JSON of a row what no single field can hold (layer groups, partitions).
  std::function<void(std::size_t entry, Json& object)> add_json = [](std::size_t, Json&) {};
  /// Adds to the page of a row what stands elsewhere in the catalogue (systems with this device, its prices).
  std::function<void(std::size_t entry, Document& page, References& references)> add_blocks = [](std::size_t, Document&,
                                                                                                 References&) {};

  /// By key ("memory_bandwidth"), by its name in CSV, or by what stands after the dot ("bf16"), where the first one
  /// counts.
  [[nodiscard]] std::optional<std::size_t> find_field(std::string_view key) const;
};

/// What the sheets need besides the catalogue.
struct SheetContext {
  const Catalogue& catalogue;
  std::string data_directory;              ///< left out of the places that are printed
  std::string as_of;                       ///< prices after it are left out; older ones by six months are marked
  const FacilityData* facility = nullptr;  ///< nullptr if the data directory has none
  std::vector<Price> prices;               ///< the catalogue's, and what APIs charge (data/economics)
};

[[nodiscard]] Sheet device_sheet(std::span<const Device> devices, const SheetContext& context);
[[nodiscard]] Sheet system_sheet(std::span<const System> systems, const SheetContext& context);
[[nodiscard]] Sheet fabric_sheet(std::span<const Fabric> fabrics, const SheetContext& context);
[[nodiscard]] Sheet model_sheet(std::span<const Model> models, const SheetContext& context);
[[nodiscard]] Sheet price_sheet(std::span<const Price> prices, const SheetContext& context);
/// Devices on sale, and which figures and prices each lacks.
[[nodiscard]] Table missing_table(const Catalogue& catalogue);
/// Of devices on sale, or of the one named: cheapest, median and dearest rent by kind of seller, with the number of
/// quotes; an estimate where nobody quotes one.
[[nodiscard]] Table rents_table(const Catalogue& catalogue, const search::Policy& policy,
                                const EconomicsData& economics, std::string_view as_of, std::string_view only);
[[nodiscard]] Sheet source_sheet(const SheetContext& context);
[[nodiscard]] Sheet architecture_sheet(const SheetContext& context);
[[nodiscard]] Sheet os_sheet(const SheetContext& context);

}  // namespace ridge::cli
