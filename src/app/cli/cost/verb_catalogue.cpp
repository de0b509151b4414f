// ridge catalogue: how old the data is, and price lists of others beside it before they are taken.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "app/cli/cost/cost.hpp"
#include "app/cli/line/value.hpp"
#include "app/cli/session/dates.hpp"
#include "app/cli/session/session.hpp"
#include "app/cli/session/wrong.hpp"
#include "app/cli/verbs.hpp"
#include "economics/price/api_import.hpp"
#include "economics/price/price_diff.hpp"
#include "ridge/base/csv.hpp"
#include "ridge/base/text.hpp"
#include "ridge/catalogue/engine.hpp"

namespace ridge::cli {

namespace {

constexpr std::string_view kSchema = "ridge.catalogue/1";
constexpr std::size_t kLargestList = 64'000'000;
constexpr std::string_view kForms[] = {"skypilot", "gpuhunt", "litellm", "openrouter"};

struct CatalogueArguments {
  std::vector<std::string> words;
  std::string take;
  std::string date;
  std::vector<std::string> without;
  bool all = false;
};

Result<int> print(Session& session, Table table, Json json, std::vector<std::string> notes) {
  if (session.form() == Form::json) {
    session.print(json.text());
    return kFine;
  }
  if (session.form() == Form::csv) {
    session.print(to_csv(table));
    return kFine;
  }
  Document page;
  page.blocks.emplace_back(std::move(table));
  for (std::string& note : notes) page.blocks.emplace_back(Paragraph{std::move(note), Emphasis::faint});
  session.print(page);
  return kFine;
}

// ---- import

std::string dollars(double usd) {
  return usd > 0 ? fmt::format("{:.4g}", usd) : std::string("–");
}

double hour(const Price* price) {
  return price != nullptr && price->per_gpu_hour ? price->per_gpu_hour->value() * 3600 : 0;
}

std::string movement(double before, double after) {
  if (!(before > 0)) return "new";
  if (!(after > 0)) return "not in the list";
  return before == after ? "=" : fmt::format("{:+.1f} %", 100 * (after / before - 1));
}

/// The columns have to be those of the form that was said: a file of another project is not read by guess.
Status check_columns(std::string_view form, const std::string& text, const std::string& file) {
  const std::string header = text.substr(0, text.find('\n'));
  const std::string_view column = form == "skypilot" ? "AcceleratorName" : "gpu_name";
  if (header.find(column) != std::string::npos) return {};
  return Error{ErrorCode::bad_input, file + ":1",
               fmt::format("no list of {}: its first line names the column {}", form, column)};
}

Status take(const Session& session, const CatalogueArguments& a, const std::string& text,
            std::vector<std::string>& notes, std::string_view how) {
  if (a.take.empty()) {
    notes.emplace_back("Nothing is taken. --take FILE.toml --date DAY writes it down.");
    return {};
  }
  if (const Status s = session.files().write(a.take, text); !s) return s.error();
  notes.push_back(fmt::format("Written to {}. {}", a.take, how));
  return {};
}

Result<int> import_rents(Session& session, const CatalogueArguments& a, const std::string& form,
                         const std::string& file) {
  const Result<std::string> text = session.files().read(file, kLargestList);
  if (!text) return text.error();
  if (const Status s = check_columns(form, *text, file); !s) return s.error();
  const Result<std::string> data = session.data_directory();
  if (!data) return data.error();
  const Result<Catalogue> catalogue =
      Catalogue::load({.data_directory = *data, .overlays = session.options().overlays, .price_lists = {file}});
  if (!catalogue) return catalogue.error();
  const std::vector<PriceChange> changes = price_changes(*catalogue, file);
  if (changes.empty()) return wrong(file, "no price in it is tied to a device of the catalogue");
  Table table;
  table.title = fmt::format("{} beside the catalogue: the cheapest hour of one device, in dollars", file);
  table.columns = {{.key = "provider", .heading = "provider"},
                   {.key = "device", .heading = "device"},
                   {.key = "kind", .heading = "kind"},
                   {.key = "before_usd", .heading = "before", .kind = ColumnKind::number},
                   {.key = "before_date", .heading = "of"},
                   {.key = "after_usd", .heading = "after", .kind = ColumnKind::number},
                   {.key = "change", .heading = "change", .kind = ColumnKind::number},
                   {.key = "offers", .heading = "offers", .kind = ColumnKind::number},
                   {.key = "median_usd", .heading = "median", .kind = ColumnKind::number},
                   {.key = "highest_usd", .heading = "dearest", .kind = ColumnKind::number}};
  std::size_t same = 0;
  for (const PriceChange& c : changes) {
    const double before = hour(c.before), after = hour(c.after);
    if (before == after && !a.all) {
      ++same;
      continue;
    }
    table.rows.push_back({Cell(c.provider), Cell(c.device), Cell(name(c.kind)), Cell(before).shown_as(dollars(before)),
                          Cell(c.before != nullptr ? c.before->date : ""), Cell(after).shown_as(dollars(after)),
                          Cell(c.change()).shown_as(movement(before, after)), Cell(c.offers),
                          Cell(c.median_usd).shown_as(dollars(c.median_usd)),
                          Cell(c.highest_usd).shown_as(dollars(c.highest_usd))});
  }
  std::vector<std::string> notes(catalogue->remarks().begin(), catalogue->remarks().end());
  if (same > 0) notes.push_back(fmt::format("As before: {} (--all shows them).", same));
  const Status s = take(session, a, a.take.empty() ? std::string() : overlay_of(changes, file, form, a.date), notes,
                        fmt::format("Use it with --catalogue {}.", a.take));
  if (!s) return s.error();
  Json json = Json::object().set("schema", kSchema).set("kind", "import").set("form", form).set("file", file);
  json.set("changes", to_json(table)).set("unchanged", static_cast<double>(same));
  json.set("taken", a.take.empty() ? Json() : Json(a.take));
  return print(session, std::move(table), std::move(json), std::move(notes));
}

Result<int> import_offers(Session& session, const CatalogueArguments& a, const std::string& form,
                          const std::string& file) {
  const Result<std::string> text = session.files().read(file, kLargestList);
  if (!text) return text.error();
  const Result<const Catalogue*> catalogue = session.catalogue();
  if (!catalogue) return catalogue.error();
  const Result<const EconomicsData*> data = session.economics();
  if (!data) return data.error();
  const ApiForm which = form == "litellm" ? ApiForm::litellm : ApiForm::openrouter;
  const Result<ApiList> list = read_api_list(which, *text, file, **catalogue, a.without);
  if (!list) return list.error();
  Table table;
  table.title = fmt::format("{} beside the catalogue: dollars for a million tokens", file);
  table.columns = {{.key = "provider", .heading = "provider"},
                   {.key = "model", .heading = "model"},
                   {.key = "before_input_usd", .heading = "input before", .kind = ColumnKind::number},
                   {.key = "input_usd", .heading = "after", .kind = ColumnKind::number},
                   {.key = "cached_usd", .heading = "cached", .kind = ColumnKind::number},
                   {.key = "before_output_usd", .heading = "output before", .kind = ColumnKind::number},
                   {.key = "output_usd", .heading = "after", .kind = ColumnKind::number},
                   {.key = "change", .heading = "change"}};
  const std::vector<ApiChange> changes = api_changes(list->offers, (*data)->offers);
  for (const ApiChange& c : changes) {
    const ApiOffer& any = c.after != nullptr ? *c.after : *c.before;
    const auto money = [](const ApiOffer* o, double ApiOffer::*field) {
      return o != nullptr ? Cell(o->*field).shown_as(dollars(o->*field)) : Cell();
    };
    const double before = c.before != nullptr ? c.before->output_usd_per_million : 0;
    const double after = c.after != nullptr ? c.after->output_usd_per_million : 0;
    table.rows.push_back({Cell(any.provider), Cell(any.model), money(c.before, &ApiOffer::input_usd_per_million),
                          money(c.after, &ApiOffer::input_usd_per_million),
                          any.cached_usd_per_million ? Cell(*any.cached_usd_per_million) : Cell(),
                          money(c.before, &ApiOffer::output_usd_per_million),
                          money(c.after, &ApiOffer::output_usd_per_million), Cell(movement(before, after))});
  }
  std::vector<std::string> notes;
  notes.push_back(
      fmt::format("{} of {} entries are offers of models of the catalogue; {} are of other models, {} free.",
                  list->offers.size(), list->listed, list->untied, list->free_of_charge));
  if (list->set_aside > 0) {
    notes.push_back(fmt::format("Left out: {} entries of {}.", list->set_aside, fmt::join(a.without, ", ")));
  }
  const Status s = take(session, a, a.take.empty() ? std::string() : offers_toml(list->offers, form, a.date), notes,
                        "It takes the place of the file of that name in data/economics (--data).");
  if (!s) return s.error();
  Json json = Json::object().set("schema", kSchema).set("kind", "import").set("form", form).set("file", file);
  json.set("changes", to_json(table)).set("unchanged", static_cast<double>(list->offers.size() - changes.size()));
  json.set("taken", a.take.empty() ? Json() : Json(a.take));
  return print(session, std::move(table), std::move(json), std::move(notes));
}

// ---- age

struct Ages {
  std::vector<std::string> dates;
  void add(const std::string& date) { dates.push_back(date); }
};

void add_age(Table& table, std::string_view what, Ages ages, const std::string& as_of) {
  std::erase_if(ages.dates, [](const std::string& date) { return year_of(date) == 0; });
  if (ages.dates.empty()) return;
  std::sort(ages.dates.begin(), ages.dates.end(),
            [](const std::string& a, const std::string& b) { return year_of(a) < year_of(b); });
  const auto stale = std::count_if(ages.dates.begin(), ages.dates.end(),
                                   [&](const std::string& date) { return is_stale(date, as_of); });
  const std::string& middle = ages.dates[ages.dates.size() / 2];
  const double months = std::max(0.0, 12 * (year_of(as_of) - year_of(middle)));
  table.rows.push_back({Cell(what), Cell(static_cast<int>(ages.dates.size())), Cell(ages.dates.front()), Cell(middle),
                        Cell(ages.dates.back()), Cell(months).shown_as(fmt::format("{:.0f} months", months)),
                        Cell(static_cast<int>(stale))});
}

Result<int> age(Session& session) {
  const Result<const Catalogue*> loaded = session.catalogue();
  if (!loaded) return loaded.error();
  const Catalogue& catalogue = **loaded;
  const Result<const EconomicsData*> data = session.economics();
  if (!data) return data.error();
  const Result<const Engines*> engines = session.engines();
  if (!engines) return engines.error();
  std::string as_of = session.price_date();
  std::map<std::string, Ages> providers;
  Ages rents, spot, purchases, other, offers, devices, models, systems, eras, electricity, exchange;
  for (const Price& price : catalogue.prices()) {
    Ages& ages = price.kind == PriceKind::on_demand ? rents
                 : price.kind == PriceKind::spot    ? spot
                 : price.kind == PriceKind::capex   ? purchases
                                                    : other;
    ages.add(price.date);
    if (price.kind == PriceKind::on_demand && !price.provider.empty()) providers[price.provider].add(price.date);
    if (session.price_date().empty() && year_of(price.date) > year_of(as_of)) as_of = price.date;
  }
  const auto date_of = [&](SourceId source) { return catalogue.source(source).date; };
  for (const Device& device : catalogue.devices()) devices.add(date_of(device.source));
  for (const Model& model : catalogue.models()) models.add(date_of(SourceId{model.source}));
  for (const System& system : catalogue.systems()) systems.add(date_of(system.source));
  for (const ApiOffer& offer : (*data)->offers) offers.add(offer.date);
  for (const EnergyRegion& region : (*data)->regions) electricity.add(date_of(region.source));
  for (const ExchangeRate& rate : (*data)->exchange) exchange.add(rate.date);
  for (const Engine& engine : (*engines)->all()) {
    if (!engine.eras.empty()) eras.add(engine.eras.back().since);
  }
  Table table;
  table.title = "How old the data is, as of " + as_of;
  table.columns = {{.key = "what", .heading = "what"},
                   {.key = "entries", .heading = "entries", .kind = ColumnKind::number},
                   {.key = "oldest", .heading = "oldest"},
                   {.key = "median", .heading = "median"},
                   {.key = "newest", .heading = "newest"},
                   {.key = "median_age_months", .heading = "median age", .kind = ColumnKind::number},
                   {.key = "older_than_six_months", .heading = "over six months", .kind = ColumnKind::number}};
  add_age(table, "rents on demand", rents, as_of);
  add_age(table, "spot rents", spot, as_of);
  add_age(table, "purchase prices", purchases, as_of);
  add_age(table, "leases and other prices", other, as_of);
  add_age(table, "API prices", offers, as_of);
  add_age(table, "electricity", electricity, as_of);
  add_age(table, "exchange rates", exchange, as_of);
  add_age(table, "devices", devices, as_of);
  add_age(table, "systems", systems, as_of);
  add_age(table, "models", models, as_of);
  add_age(table, "newest era of each engine", eras, as_of);
  for (auto& [provider, ages] : providers) add_age(table, "  " + provider, std::move(ages), as_of);
  Json json = Json::object().set("schema", kSchema).set("kind", "age").set("as_of", as_of).set("ages", to_json(table));
  return print(session, std::move(table), std::move(json),
               {"Below: rents on demand by provider. `ridge catalogue import` refreshes prices from what SkyPilot, "
                "gpuhunt, LiteLLM and OpenRouter publish."});
}

Result<int> run(Session& session, const CatalogueArguments& a) {
  if (a.words.empty()) return wrong("", "say `age`, or `import skypilot|gpuhunt|litellm|openrouter FILE`");
  if (a.words[0] == "age") {
    if (a.words.size() > 1) return wrong("", "`age` takes no more words");
    return age(session);
  }
  if (a.words[0] != "import") {
    static constexpr std::string_view kWords[] = {"age", "import"};
    const std::string near = nearest(a.words[0], kWords, std::size(kWords));
    return wrong("", fmt::format("{} is neither age nor import{}", quoted(a.words[0]),
                                 near.empty() ? "" : "; did you mean " + near + "?"));
  }
  if (a.words.size() != 3)
    return wrong("", "write `ridge catalogue import skypilot vms.csv`: whose list, and the file");
  const std::string& form = a.words[1];
  if (std::find(std::begin(kForms), std::end(kForms), form) == std::end(kForms)) {
    const std::string near = nearest(form, kForms, std::size(kForms));
    return wrong("", fmt::format("{} publishes no list that is known here{}; there are skypilot, gpuhunt, litellm and "
                                 "openrouter",
                                 quoted(form), near.empty() ? "" : " (did you mean " + near + "?)"));
  }
  CatalogueArguments dated = a;
  if (dated.date.empty()) dated.date = session.price_date();
  if (!a.take.empty()) {
    if (dated.date.empty()) return wrong("--date", "say of when the list is: --date 2026-11-15");
    if (const auto date = parse_date(dated.date); !date) return wrong("--date", date.error().message);
  }
  const bool rents = form == "skypilot" || form == "gpuhunt";
  if (!a.without.empty() && form != "litellm") {
    return wrong("--without", "only LiteLLM's list names providers of its entries");
  }
  return rents ? import_rents(session, dated, form, a.words[2]) : import_offers(session, dated, form, a.words[2]);
}

}  // namespace

static Action declare_catalogue(Options& options) {
  auto a = std::make_shared<CatalogueArguments>();
  options.words("age | import FORM FILE", a->words,
                "how old everything is; or the price list FILE that FORM publishes (skypilot: vms.csv; gpuhunt: a "
                "provider's CSV; litellm: model_prices_and_context_window.json; openrouter: the answer of its models "
                "list), beside what the catalogue holds",
                complete_files);
  options.text("--take", "FILE.toml", a->take, "write the new prices there", value::written());
  options.text("--date", "DAY", a->date, "date of the list; needed for --take", value::date());
  options.list("--without", "PROVIDER", a->without, "leave out all entries of a provider of LiteLLM's list",
               value::line());
  options.flag("--all", a->all, "also prices that are as before");
  return [a](Session& session) { return run(session, *a); };
}

Verb catalogue_verb() {
  return {"catalogue", "how old the data is; price lists of others, compared with it",
          "Nothing is taken without --take, and nothing in part: a list that is broken anywhere is refused with its "
          "place, and the prices stay as they are.",
          "ridge catalogue age\n"
          "ridge catalogue import skypilot examples/nebius.csv",
          declare_catalogue};
}

}  // namespace ridge::cli
