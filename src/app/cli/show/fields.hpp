// How the sheets are made: a table of fields, each with the function that reads it from an entry.
//
//   const FieldReader<Device> kFields[] = {
//       {text_field("vendor", "vendor"), [](const Device& d, const SheetContext&) { return known(d.vendor); }}, ...
//   fill<Device>(sheet, devices, kFields, context);
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "app/cli/show/sheet.hpp"
#include "ridge/catalogue/catalogue.hpp"

namespace ridge::cli {

template <class T>
struct FieldReader {
  Field field;
  Value (*read)(const T& entry, const SheetContext& context);
};

inline constexpr bool kListed = true;

/// Text that heads its column by its label.
[[nodiscard]] constexpr Field text_field(std::string_view key, std::string_view label, std::string_view section = {},
                                         bool listed = false) {
  return {key, "", label, label, section, ColumnKind::text, listed};
}
[[nodiscard]] constexpr Field number_field(std::string_view key, std::string_view unit, std::string_view heading,
                                           std::string_view label, std::string_view section, bool listed = false) {
  return {key, unit, heading, label, section, ColumnKind::number, listed};
}
/// A number made of other figures, or that most entries do not have.
[[nodiscard]] constexpr Field quiet_field(std::string_view key, std::string_view unit, std::string_view heading,
                                          std::string_view label, std::string_view section, bool listed = false) {
  Field field = number_field(key, unit, heading, label, section, listed);
  field.quiet = true;
  return field;
}

[[nodiscard]] inline SourceId source_of(const Model& model) {
  return {model.source};
}
[[nodiscard]] inline Place place_of(const Model& model) {
  return {model.file, model.line};
}
template <class T>
[[nodiscard]] SourceId source_of(const T& entry) {
  return entry.source;
}
template <class T>
[[nodiscard]] const Place& place_of(const T& entry) {
  return entry.place;
}

/// Text, unknown if empty.
[[nodiscard]] inline Value known(std::string_view text) {
  return {text.empty() ? Cell() : Cell(text), {}};
}
/// A count, unknown if 0.
[[nodiscard]] inline Value known(int count) {
  return {count == 0 ? Cell() : Cell(count), {}};
}
template <class T>
[[nodiscard]] Value known(const Figure<T>& figure) {
  if (!figure) return {};
  return {Cell(figure->value), figure->source};
}
/// What the entry itself says, from its own source.
template <class T>
[[nodiscard]] Value stated(const T& entry, int count) {
  if (count == 0) return {};
  return {Cell(count), source_of(entry)};
}
/// "devices/h200-sxm.toml:1": below the data directory, or the path of a user's file.
[[nodiscard]] std::string place_text(const Place& place, const SheetContext& context);

/// Fields and rows of the entries, and at their end what every entry has: its source and its place in the files.
template <class T>
void fill(Sheet& sheet, std::span<const T> entries, std::span<const FieldReader<T>> readers,
          const SheetContext& context) {
  for (const FieldReader<T>& reader : readers) sheet.fields.push_back(reader.field);
  sheet.fields.push_back(text_field("source", "source"));
  sheet.fields.push_back(text_field("place", "place"));
  for (const T& entry : entries) {
    Row& row = sheet.rows.emplace_back();
    row.id = entry.id;
    row.entry = sheet.rows.size() - 1;
    for (const FieldReader<T>& reader : readers) row.values.push_back(reader.read(entry, context));
    row.values.push_back(known(context.catalogue.source(source_of(entry)).id));
    row.values.push_back(known(place_text(place_of(entry), context)));
  }
}

/// Prices of a device, newest first, at most `limit`; a table without rows if there are none.
[[nodiscard]] Table newest_prices(std::string_view device, const SheetContext& context, std::size_t limit,
                                  References& references);

/// A heading and ids or names in one paragraph: "Systems: dgx-h200, aws-p5en". Nothing if there are none.
void add_list(Document& page, std::string_view heading, const std::vector<std::string>& names);

}  // namespace ridge::cli
