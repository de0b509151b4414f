// [[price]] and [[alias]].
#include "catalogue/files/words.hpp"
#include "catalogue/tables/price_terms.hpp"
#include "catalogue/tables/tables.hpp"

namespace ridge {

namespace {

/// The terms stand in three keys that have to fit together; each problem is told at its own.
void read_terms(TableReader& t, Price& price) {
  price.unit = t.text("unit");
  const int stated = t.optional_integer("devices", 0, 1, 100'000);
  const std::string amount_text = t.text("amount");
  if (t.failed()) return;

  const Result<PriceUnit> unit = parse_unit(price.unit);
  if (!unit) return t.refuse("unit", unit.error().message);
  const Result<int> devices = devices_of_unit(*unit, price.unit, stated);
  if (!devices) return t.refuse(t.has("devices") ? "devices" : "unit", devices.error().message);
  price.devices = *devices;
  const Result<Amount> amount = parse_amount(amount_text);
  if (!amount) return t.refuse("amount", amount.error().message);
  set_amount(price, *amount);
  if (const Status rent = set_rent(price, *unit); !rent) t.refuse("amount", rent.error().message);
}

}  // namespace

Price read_price(TableReader t) {
  Price price;
  price.id = t.id();
  price.item = t.text("item");
  price.kind = enumerator<PriceKind>(t, "kind", kPriceKinds);
  price.provider = t.optional_text("provider");
  price.region = t.optional_text("region");
  price.device = t.reference("device", "device");
  price.date = t.date("date");
  price.notes = t.optional_text("notes");
  price.source = t.source();
  price.place = t.place();
  read_terms(t, price);
  return price;
}

PriceAlias read_alias(TableReader t) {
  PriceAlias alias;
  alias.id = t.id();
  t.require("device");
  alias.device = t.reference("device", "device");
  t.require("names");
  alias.names = t.texts("names");
  alias.providers = t.texts("providers");
  alias.instances = t.texts("instances");
  alias.number_per_device = t.optional_integer("number_per_device", 1, 1, 1000);
  return alias;
}

}  // namespace ridge
