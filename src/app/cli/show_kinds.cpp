#include "app/cli/show_kinds.hpp"

#include <algorithm>
#include <iterator>

#include "app/cli/dates.hpp"

namespace ridge::cli {

namespace {

constexpr Kind kKinds[] = {
    {"devices", "device", [](const SheetContext& c) { return device_sheet(c.catalogue.devices(), c); }},
    {"systems", "system", [](const SheetContext& c) { return system_sheet(c.catalogue.systems(), c); }},
    {"fabrics", "fabric", [](const SheetContext& c) { return fabric_sheet(c.catalogue.fabrics(), c); }},
    {"models", "model", [](const SheetContext& c) { return model_sheet(c.catalogue.models(), c); }},
    {"prices", "price", [](const SheetContext& c) { return price_sheet(c.catalogue.prices(), c); }},
    {"architectures", "architecture", architecture_sheet},
    {"os", "os", os_sheet},
    {"sources", "source", source_sheet},
};

/// The sheet of the kind that the words name.
std::optional<Sheet> sheet_of(const SheetContext& context, const std::vector<std::string>& words) {
  const Kind* kind = words.empty() ? nullptr : find_kind(words[0]);
  if (kind == nullptr) return {};
  return kind->sheet(context);
}

}  // namespace

std::span<const Kind> kinds() {
  return kKinds;
}

const Kind* find_kind(std::string_view word) {
  const auto at = std::find_if(std::begin(kKinds), std::end(kKinds),
                               [&](const Kind& kind) { return kind.plural == word || kind.singular == word; });
  return at == std::end(kKinds) ? nullptr : at;
}

Result<SheetContext> sheet_context(Session& session) {
  const Result<const Catalogue*> catalogue = session.catalogue();
  if (!catalogue) return catalogue.error();
  std::string as_of = session.options().as_of;
  if (const Status s = check_as_of(as_of); !s) return s.error();
  if (as_of.empty()) {
    for (const Price& price : (*catalogue)->prices()) as_of = std::max(as_of, price.date);
  }
  const Result<const FacilityData*> facility = session.facility();
  // A directory of the user's own may hold no sites; one that holds them has to be readable.
  if (!facility && facility.error().code != ErrorCode::not_found) return facility.error();
  return SheetContext{**catalogue, *session.data_directory(), as_of, facility ? *facility : nullptr};
}

std::vector<std::string> complete_entries(Session& session, const std::vector<std::string>& words) {
  std::vector<std::string> offers;
  if (words.empty()) {
    for (const Kind& kind : kKinds) offers.emplace_back(kind.plural);
  }
  const Result<SheetContext> context = sheet_context(session);
  if (!context) return offers;
  const bool any_kind = words.empty() || find_kind(words[0]) == nullptr;
  for (const Kind& kind : kKinds) {
    if (!any_kind && find_kind(words[0]) != &kind) continue;
    for (const Row& row : kind.sheet(*context).rows) offers.push_back(row.id);
  }
  return offers;
}

std::vector<std::string> complete_keys(Session& session, const std::vector<std::string>& words) {
  std::vector<std::string> offers;
  if (const Result<SheetContext> context = sheet_context(session)) {
    if (const auto sheet = sheet_of(*context, words)) {
      for (const Field& field : sheet->fields) offers.emplace_back(field.key);
    }
  }
  return offers;
}

Completer complete_values(std::string_view key) {
  return [key](Session& session, const std::vector<std::string>& words) {
    std::vector<std::string> offers;
    const Result<SheetContext> context = sheet_context(session);
    const auto sheet = context ? sheet_of(*context, words) : std::nullopt;
    const auto field = sheet ? sheet->find_field(key) : std::nullopt;
    if (!field) return offers;
    for (const Row& row : sheet->rows) {
      if (!row.values[*field].cell.empty()) offers.push_back(row.values[*field].cell.plain());
    }
    return offers;
  };
}

}  // namespace ridge::cli
