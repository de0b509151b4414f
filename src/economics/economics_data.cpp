#include "economics/economics_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "catalogue/files/table_reader.hpp"
#include "catalogue/files/toml_document.hpp"
#include "ridge/base/file.hpp"
#include "ridge/base/folder.hpp"
#include "ridge/base/text.hpp"
#include "ridge/catalogue/engine.hpp"

namespace ridge {

namespace {

constexpr double kSecondsOfYear = 31'536'000;
using KilogramsPerJoule = Quantity<Dimension<0, 0, 0, -1, 0, 0, 0, 1>>;

double usd_per_kwh(DollarsPerJoule q) {
  return q.value() * 3.6e6;
}
double usd_per_gpu_year(GpuRent q) {
  return q.value() * kSecondsOfYear;
}

OwnerProfile read_profile(TableReader t) {
  OwnerProfile p;
  p.id = t.id();
  p.name = t.text("name");
  p.notes = t.optional_text("notes");
  p.source = t.source();
  p.server_price = t.number("server_price", 0.3, 5);
  p.cost_of_capital = t.number("cost_of_capital", 0, 1);
  p.life_years =
      t.quantity<Seconds>("life", Seconds(kSecondsOfYear / 4), Seconds(30 * kSecondsOfYear)).value() / kSecondsOfYear;
  p.residual_share = t.number("residual", 0, 0.95);
  // A kilowatt for a month is an amount of energy: 730 kWh.
  if (const auto colocation =
          t.figure<DollarsPerJoule>("colocation", DollarsPerJoule(1 / 2.628e9), DollarsPerJoule(5000 / 2.628e9))) {
    p.colocation_usd_per_kw_month = usd_per_kwh(colocation->value) * kHoursPerMonth;
  }
  t.require("colocation");
  p.maintenance_share = t.number("maintenance", 0, 1);
  p.staff_usd_per_year = usd_per_gpu_year(t.quantity<GpuRent>("staff", GpuRent(0), GpuRent(1)));
  p.pue_air = t.number("pue_air", 1, 4);
  p.pue_liquid = t.number("pue_liquid", 1, 4);
  p.network_power_share = t.number("network_power", 0, 5);
  TableReader split = t.table("split");
  p.split_network = split.number("network", 0, 1);
  p.split_storage = split.number("storage", 0, 1);
  p.split_installation = split.number("installation", 0, 1);
  if (!t.failed() && std::abs(p.split_network + p.split_storage + p.split_installation - 1) > 1e-6) {
    t.refuse("split", "the shares have to add up to 1");
  }
  return p;
}

EnergyRegion read_region(TableReader t) {
  EnergyRegion r;
  r.id = t.id();
  r.name = t.text("name");
  r.source = t.source();
  if (const auto price =
          t.figure<DollarsPerJoule>("electricity", DollarsPerJoule(0.001 / 3.6e6), DollarsPerJoule(2 / 3.6e6))) {
    r.electricity_usd_per_kwh = usd_per_kwh(price->value);
  }
  const auto per_kwh = [&](std::string_view key, double high) -> std::optional<double> {
    const auto figure = t.figure<KilogramsPerJoule>(key, KilogramsPerJoule(0), KilogramsPerJoule(high / 3.6e6));
    if (!figure) return std::nullopt;
    return figure->value.value() * 3.6e6;
  };
  r.co2_kg_per_kwh = per_kwh("co2", 2);
  r.site_water_l_per_kwh = per_kwh("site_water", 50);
  r.power_water_l_per_kwh = per_kwh("power_water", 100);
  return r;
}

ServerPrice read_server(TableReader t) {
  ServerPrice s;
  s.id = t.id();
  s.device = t.text("device");
  s.system = t.optional_text("system");
  s.gpus = t.integer("gpus", 1, 100'000);
  s.server_usd = t.quantity<Dollars>("server", Dollars(100), Dollars(1e9)).value();
  s.all_in_usd = t.quantity<Dollars>("all_in", Dollars(100), Dollars(1e9)).value();
  s.date = t.date("date");
  s.source = t.source();
  static_cast<void>(t.optional_text("notes"));
  if (!t.failed() && s.all_in_usd < s.server_usd) t.refuse("all_in", "all in cannot be less than the server alone");
  return s;
}

struct RawRecord {
  FailureRecord record;
  std::string shares_of;
  std::optional<double> total;
};

RawRecord read_record(TableReader t) {
  RawRecord raw;
  FailureRecord& r = raw.record;
  r.id = t.id();
  r.name = t.text("name");
  r.notes = t.optional_text("notes");
  r.source = t.source();
  r.gpus = t.integer("gpus", 1, 10'000'000);
  r.hours = t.quantity<Seconds>("duration", Seconds(3600), Seconds(100 * kSecondsOfYear)).value() / 3600;
  r.goodput_at_least = t.optional_number("goodput_at_least", 0, 1);
  raw.total = t.optional_number("total", 1, 1e9);
  raw.shares_of = t.optional_text("shares_of");
  TableReader counts = t.table("interruptions");
  static constexpr std::string_view kKeys[kFailureCauses] = {"gpu",     "hbm",  "scale_up", "nic",
                                                             "network", "node", "software"};
  for (std::size_t i = 0; i < kFailureCauses; ++i) {
    r.interruptions[i] = counts.optional_number(kKeys[i], 0, 1e9).value_or(0);
  }
  if (!t.failed() && !raw.total && r.total() <= 0) t.refuse("interruptions", "says no count: write gpu = 12");
  if (!t.failed() && raw.total && raw.shares_of.empty()) t.refuse("total", "needs shares_of = another record");
  return raw;
}

RestartPractice read_practice(TableReader t) {
  RestartPractice p;
  p.id = t.id();
  p.name = t.text("name");
  p.notes = t.optional_text("notes");
  p.source = t.source();
  const auto seconds_of = [&](std::string_view key) {
    t.require(key);
    const auto figure = t.figure<Seconds>(key, Seconds(0), Seconds(1e8));
    return figure ? figure->value.value() : 0;
  };
  p.detection_s = seconds_of("detection");
  p.restart_s = seconds_of("restart");
  p.repair_s = seconds_of("repair");
  p.engineer_hours = t.number("engineer_hours", 0, 1000);
  return p;
}

StorageTier read_tier(TableReader t) {
  StorageTier s;
  s.id = t.id();
  s.name = t.text("name");
  s.notes = t.optional_text("notes");
  s.source = t.source();
  s.per_node = t.choice<bool>("per", {{"cluster", false}, {"node", true}});
  s.bytes_per_s = t.quantity<BytesPerSecond>("bandwidth", BytesPerSecond(1e7), BytesPerSecond(1e15)).value();
  return s;
}

ApiOffer read_offer(TableReader t) {
  ApiOffer o;
  o.id = t.id();
  o.provider = t.text("provider");
  o.serves = t.text("serves");
  o.model = t.optional_text("model");
  o.date = t.date("date");
  o.source = t.source();
  o.place = t.place();
  const auto price = [&](std::string_view key) {
    return t.quantity<DollarsPerToken>(key, DollarsPerToken(0), DollarsPerToken(0.1)).value() * 1e6;
  };
  o.input_usd_per_million = price("input");
  o.output_usd_per_million = price("output");
  if (t.has("cached_input")) o.cached_usd_per_million = price("cached_input");
  if (t.has("context")) o.context = t.integer("context", 1, 1'000'000'000);
  if (t.has("longest_output")) o.longest_output = t.integer("longest_output", 1, 1'000'000'000);
  return o;
}

DeploymentKind read_deployment(TableReader t) {
  return {t.id(),
          t.text("name"),
          t.text("latency"),
          t.text("model_size"),
          t.text("rate_limit"),
          t.text("context"),
          t.text("cold_start"),
          t.text("customisation"),
          t.text("privacy"),
          (static_cast<void>(t.optional_text("notes")), t.source())};
}

/// "2024-01 $4.69/GPU-hour".
RentHistory read_history(TableReader t) {
  RentHistory h;
  h.id = t.id();
  h.provider = t.text("provider");
  h.item = t.text("item");
  h.source = t.source();
  for (const std::string& text : t.texts("quotes")) {
    const std::size_t space = text.find(' ');
    const std::string month = text.substr(0, space);
    const bool whole = space == 7 && month[4] == '-' && year_of(month) > 0;
    const Result<GpuRent> rent = parse_quantity<GpuRent>(whole ? text.substr(space + 1) : std::string());
    if (!whole || !rent || !(rent->value() > 0)) {
      t.refuse("quotes", fmt::format("{} is no month and rent: write \"2024-01 $4.69/GPU-hour\"", ridge::quoted(text)));
      return h;
    }
    const int at = static_cast<int>(std::lround(12 * year_of(month) - 0.5));
    if (!h.quotes.empty() && at <= h.quotes.back().first) {
      t.refuse("quotes", fmt::format("{} stands after a later month: oldest first", month));
      return h;
    }
    h.quotes.emplace_back(at, rent->value() * 3600);
  }
  if (!t.failed() && h.quotes.size() < 2) t.refuse("quotes", "two months at least");
  return h;
}

ExchangeRate read_exchange(TableReader t) {
  ExchangeRate e;
  e.id = t.id();
  e.currency = t.text("currency");
  e.usd = t.quantity<Dollars>("worth", Dollars(1e-6), Dollars(1e3)).value();
  e.date = t.date("date");
  e.source = t.source();
  return e;
}

Contract read_contract(TableReader t) {
  Contract c;
  c.id = t.id();
  c.name = t.text("name");
  c.notes = t.optional_text("notes");
  c.source = t.source();
  c.discount = t.number("discount", 0, 0.99);
  c.years = t.integer("years", 0, 20);
  return c;
}

SpotHabit read_spot(TableReader t) {
  static_cast<void>(t.id());
  static_cast<void>(t.text("name"));
  static_cast<void>(t.optional_text("notes"));
  return {t.source(), t.number("preemptions_per_hour", 0, 100), t.number("low", 0, 100), t.number("high", 0, 100),
          t.number("loss_hours", 0, 100)};
}

class EconomicsLoader {
 public:
  explicit EconomicsLoader(const Catalogue& catalogue) {
    for (std::uint32_t i = 0; i < catalogue.sources().size(); ++i) sources_.add(catalogue.sources()[i].id, {i});
  }

  Result<EconomicsData> load(const std::string& directory) {
    const Result<std::vector<std::string>> files = files_in(directory, ".toml");
    if (!files) return files.error();
    for (const std::string& file : *files) {
      if (Status s = add_file(file); !s) return s.error();
    }
    if (Status s = settle_records(); !s) return s.error();
    return std::move(data_);
  }

 private:
  Status add_file(const std::string& file) {
    const Result<std::string> text = read_file(file, kTomlSizeLimit);
    if (!text) return text.error();
    const Result<TomlNode> root = parse_toml(*text, file);
    if (!root) return root.error();
    for (const TomlMember& member : root->members) {
      if (Status s = add_kind(member, file); !s) return s;
    }
    return {};
  }

  /// Every entry of one kind through `read`, refused if its id is there already.
  template <class T, class Read>
  Status read_all(const TomlMember& member, const std::string& file, std::vector<T>& into, Read read) {
    for (const TomlNode& table : member.value.items) {
      const EntryLayer layer{&table, file};
      EntryReader entry(member.key, {&layer, 1}, sources_);
      T value = read(entry.root());
      if (Status s = entry.finish(); !s) return s;
      if constexpr (requires { value.id; }) {
        const auto same = [&](const T& other) { return other.id == value.id; };
        if (std::any_of(into.begin(), into.end(), same)) {
          return Error{ErrorCode::bad_input, place_text(file, table.line, table.column),
                       fmt::format("there is already a {} {}", member.key, ridge::quoted(value.id))};
        }
      }
      into.push_back(std::move(value));
    }
    return {};
  }

  Status add_kind(const TomlMember& m, const std::string& file) {
    EconomicsData& d = data_;
    const bool list = m.value.kind == TomlNode::Kind::array;
    if (list && m.key == "profile") return read_all(m, file, d.profiles, read_profile);
    if (list && m.key == "region") return read_all(m, file, d.regions, read_region);
    if (list && m.key == "server") return read_all(m, file, d.servers, read_server);
    if (list && m.key == "record") return read_all(m, file, records_, read_record);
    if (list && m.key == "practice") return read_all(m, file, d.practices, read_practice);
    if (list && m.key == "tier") return read_all(m, file, d.tiers, read_tier);
    if (list && m.key == "offer") return read_all(m, file, d.offers, read_offer);
    if (list && m.key == "deployment") return read_all(m, file, d.deployments, read_deployment);
    if (list && m.key == "history") return read_all(m, file, d.histories, read_history);
    if (list && m.key == "exchange") return read_all(m, file, d.exchange, read_exchange);
    if (list && m.key == "contract") return read_all(m, file, d.contracts, read_contract);
    if (list && m.key == "spot") {
      std::vector<SpotHabit> habits;
      Status s = read_all(m, file, habits, read_spot);
      if (s && !habits.empty()) d.spot = habits.back();
      return s;
    }
    if (list && m.key == "platform") {
      std::vector<std::pair<double, SourceId>> platforms;
      Status s = read_all(m, file, platforms, [](TableReader t) {
        static_cast<void>(t.id());
        static_cast<void>(t.text("name"));
        return std::pair{t.number("share", 0, 10), t.source()};
      });
      if (s && !platforms.empty()) std::tie(d.platform_share, d.platform_source) = platforms.back();
      return s;
    }
    static constexpr std::string_view kTables[] = {"profile",  "region", "server",     "record",  "practice",
                                                   "tier",     "offer",  "deployment", "history", "exchange",
                                                   "contract", "spot",   "platform"};
    const std::string near = nearest(m.key, kTables, std::size(kTables));
    return Error{
        ErrorCode::bad_input, place_text(file, m.line, m.column),
        fmt::format("unknown table {}{}", ridge::quoted(m.key), near.empty() ? "" : "; did you mean " + near + "?")};
  }

  /// Totals without causes take the causes of the record they name.
  Status settle_records() {
    for (RawRecord& raw : records_) {
      if (raw.total) {
        const auto of = std::find_if(records_.begin(), records_.end(),
                                     [&](const RawRecord& other) { return other.record.id == raw.shares_of; });
        if (of == records_.end() || of->total) {
          return Error{ErrorCode::bad_input, raw.record.id,
                       fmt::format("shares_of names {}, which is no record with counts", ridge::quoted(raw.shares_of))};
        }
        const double scale = *raw.total / of->record.total();
        for (std::size_t i = 0; i < kFailureCauses; ++i)
          raw.record.interruptions[i] = of->record.interruptions[i] * scale;
      }
    }
    for (RawRecord& raw : records_) data_.records.push_back(std::move(raw.record));
    return {};
  }

  SourceIndex sources_;
  std::vector<RawRecord> records_;
  EconomicsData data_;
};

template <class T>
Result<const T*> find(const std::vector<T>& all, std::string_view id, std::string_view kind) {
  std::vector<std::string_view> ids;
  for (const T& one : all) {
    if (one.id == id) return &one;
    ids.push_back(one.id);
  }
  const std::string near = nearest(id, ids.data(), ids.size());
  std::string known;
  if (near.empty()) {
    for (const std::string_view one : ids) known += (known.empty() ? "" : ", ") + std::string(one);
  }
  return Error{ErrorCode::not_found, "",
               fmt::format("there is no {} {}; {}", kind, ridge::quoted(id),
                           near.empty() ? "there are " + known : "did you mean " + near + "?")};
}

}  // namespace

double FailureRecord::total() const {
  return std::accumulate(interruptions.begin(), interruptions.end(), 0.0);
}

std::array<double, kFailureCauses> FailureRecord::per_gpu_hour() const {
  std::array<double, kFailureCauses> rates{};
  for (std::size_t i = 0; i < kFailureCauses; ++i) rates[i] = interruptions[i] / (gpus * hours);
  return rates;
}

Result<const OwnerProfile*> EconomicsData::profile(std::string_view id) const {
  return find(profiles, id, "profile");
}
Result<const EnergyRegion*> EconomicsData::region(std::string_view id) const {
  return find(regions, id, "region");
}
Result<const FailureRecord*> EconomicsData::record(std::string_view id) const {
  return find(records, id, "failure record");
}
Result<const RestartPractice*> EconomicsData::practice(std::string_view id) const {
  return find(practices, id, "practice");
}
Result<const StorageTier*> EconomicsData::tier(std::string_view id) const {
  return find(tiers, id, "storage tier");
}
Result<const ApiOffer*> EconomicsData::offer(std::string_view id) const {
  return find(offers, id, "offer");
}
Result<const Contract*> EconomicsData::contract(std::string_view id) const {
  return find(contracts, id, "contract");
}

Result<EconomicsData> load_economics(const std::string& directory, const Catalogue& catalogue) {
  return EconomicsLoader(catalogue).load(directory);
}

}  // namespace ridge
