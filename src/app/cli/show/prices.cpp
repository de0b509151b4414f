#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "app/cli/session/dates.hpp"
#include "app/cli/show/fields.hpp"
#include "ridge/base/text.hpp"

namespace ridge::cli {

namespace {

constexpr double kSecondsPerHour = 3600;

using P = const Price&;
using C = const SheetContext&;

/// Two decimals, as rents are quoted; three digits below a dollar.
Value per_gpu_hour(const Price& price, const SheetContext&) {
  if (!price.per_gpu_hour) return {};
  const double dollars_per_hour = price.per_gpu_hour->value() * kSecondsPerHour;
  const Cell cell(dollars_per_hour);
  if (dollars_per_hour < 1) return {cell, {}};
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, dollars_per_hour, std::chars_format::fixed, 2);
  return {cell.shown_as({text, end.ptr}), {}};
}

Cell date_cell(const Price& price, const SheetContext& context) {
  if (price.date.empty()) return {};
  const Cell cell(price.date);
  return is_stale(price.date, context.as_of) ? Cell(price.date).shown_as(price.date + " !").with(Emphasis::warning)
                                             : cell;
}

/// Every digit that was published: "7.912", "250,000".
std::string money(double amount) {
  return amount == std::floor(amount) ? format_number(amount) : fmt::format("{:.10g}", amount);
}

std::string amount_text(const Price& price) {
  return price.low == price.high ? money(price.amount) : money(price.low) + "–" + money(price.high);
}

const FieldReader<Price> kPriceFields[] = {
    {text_field("id", "id", "", kListed), [](P p, C) { return known(p.id); }},
    {text_field("item", "item", "Price"), [](P p, C) { return known(p.item); }},
    {text_field("kind", "kind", "Price", kListed), [](P p, C) { return known(name(p.kind)); }},
    {text_field("provider", "provider", "Price", kListed), [](P p, C) { return known(p.provider); }},
    {text_field("region", "region", "Price"), [](P p, C) { return known(p.region); }},
    {text_field("device", "device", "Price", kListed), [](P p, C) { return known(p.device); }},
    {quiet_field("price", "usd_per_gpu_hour", "$/GPU-hour", "US dollars per GPU-hour", "Price", kListed), per_gpu_hour},
    {text_field("date", "date", "Price", kListed),
     [](P p, C c) {
       return Value{date_cell(p, c), {}};
     }},
    {number_field("amount", "", "amount", "amount", "Price", kListed),
     [](P p, C) {
       return Value{Cell(p.amount).shown_as(amount_text(p)), p.source};
     }},
    {number_field("amount_low", "", "low", "lowest", ""),
     [](P p, C) {
       return Value{Cell(p.low), {}};
     }},
    {number_field("amount_high", "", "high", "highest", ""),
     [](P p, C) {
       return Value{Cell(p.high), {}};
     }},
    {text_field("currency", "currency", "Price", kListed), [](P p, C) { return known(p.currency); }},
    {text_field("unit", "per", "Price", kListed), [](P p, C) { return known(p.unit); }},
    {number_field("devices", "", "devices", "devices in one unit", "Price"), [](P p, C) { return known(p.devices); }},
    {text_field("stale", "stale"),
     [](P p, C c) {
       return Value{Cell(is_stale(p.date, c.as_of)), {}};
     }},
    {text_field("notes", "notes"), [](P p, C) { return known(p.notes); }},
};

}  // namespace

Sheet price_sheet(std::span<const Price> prices, const SheetContext& context) {
  Sheet sheet;
  sheet.plural = "prices";
  sheet.singular = "price";
  fill<Price>(sheet, prices, kPriceFields, context);
  std::size_t row = 0;
  std::erase_if(sheet.rows, [&](const Row&) {
    const std::string& date = prices[row++].date;
    return !context.as_of.empty() && !date.empty() && is_later(date, context.as_of);
  });
  return sheet;
}

Table newest_prices(std::string_view device, const SheetContext& context, std::size_t limit, References& references) {
  std::vector<const Price*> prices;
  for (const Price& price : context.catalogue.prices()) {
    const bool too_late = !context.as_of.empty() && !price.date.empty() && is_later(price.date, context.as_of);
    if (price.device == device && !too_late) prices.push_back(&price);
  }
  std::stable_sort(prices.begin(), prices.end(), [](const Price* a, const Price* b) { return a->date > b->date; });
  if (prices.size() > limit) prices.resize(limit);
  Table table;
  table.title = "Newest prices";
  table.columns = {{.key = "date", .heading = "date"},
                   {.key = "kind", .heading = "kind"},
                   {.key = "provider", .heading = "provider", .overflow = Overflow::truncate},
                   {.key = "amount", .heading = "amount", .kind = ColumnKind::number},
                   {.key = "currency", .heading = ""},
                   {.key = "unit", .heading = "per"},
                   {.key = "price", .unit = "usd_per_gpu_hour", .heading = "$/GPU-hour", .kind = ColumnKind::number},
                   {.key = "source", .heading = ""}};
  for (const Price* price : prices) {
    table.rows.push_back({date_cell(*price, context), Cell(name(price->kind)), known(price->provider).cell,
                          Cell(price->amount).shown_as(amount_text(*price)), Cell(price->currency), Cell(price->unit),
                          per_gpu_hour(*price, context).cell,
                          Cell(references.mark(price->source)).with(Emphasis::faint)});
  }
  return table;
}

}  // namespace ridge::cli
