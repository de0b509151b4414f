// estate.toml to numbers, every refusal with its line and column.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "catalogue/table_reader.hpp"
#include "economics/cost_case.hpp"
#include "fleet/money.hpp"
#include "perf/power.hpp"
#include "ridge/cost.hpp"
#include "ridge/fleet.hpp"
#include "ridge/text.hpp"
#include "search/buyer.hpp"
#include "search/policy.hpp"

namespace ridge::fleet {

namespace {

constexpr double kMostGpus = 1e7;
constexpr double kMostRate = 1e9;
constexpr double kExportLimit = 4800;  ///< ECCN 3A090.a; src/search/buyer.cpp
constexpr double kSecondsInHour = 3600;
using DollarsPerGpu = Quantity<Dimension<0, 0, 0, 0, 1, 0, -1>>;

/// Shares of the busiest hour by hour of the day.
struct NamedShape {
  std::string_view name;
  std::array<double, kHours> share;
};
/// Office: what a service asked from desks sees; chat: what people ask around the clock of one time zone; batch: by
/// night.
constexpr NamedShape kShapes[] = {
    {"flat", {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}},
    {"office",
     {.08, .06, .05, .05, .06, .1, .2, .4, .7, .9, 1, .98, .85, .9, 1, .98, .9, .75, .5, .35, .25, .2, .15, .1}},
    {"chat",
     {.35, .25, .2, .17, .17, .2, .28, .4, .55, .68, .78, .82, .82, .85, .88, .9, .92, .93, .95, 1, 1, .92, .75, .52}},
    {"night", {1, 1, 1, 1, 1, .8, .4, .1, .05, .05, .05, .05, .05, .05, .05, .05, .05, .05, .1, .2, .4, .7, .9, 1}},
};

class EstateReader {
 public:
  EstateReader(const TomlNode& root, const std::string& file, const Knowledge& knowledge,
               const EconomicsData& economics, const search::Policy& policy, const std::string& as_of)
      : root_(root),
        file_(file),
        knowledge_(knowledge),
        economics_(economics),
        policy_(policy),
        as_of_(as_of),
        exchange_(economics, as_of),
        layers_{{{&root, file}}},
        entry_("estate", layers_, sources_) {}

  Result<Estate> read() {
    estate_.file = file_;
    estate_.date = as_of_;
    TableReader t = entry_.root();
    general(t.table("estate"));
    exchange(t);
    each(t, "site", [&](TableReader s, const TomlNode& node) { site(s, node); });
    TableReader rules = t.table("policy");
    policy_rules(rules);
    each(t, "owned", [&](TableReader s, const TomlNode& node) { owned(s, node); });
    each(t, "offer", [&](TableReader s, const TomlNode& node) { offer(s, node); });
    each(t, "service", [&](TableReader s, const TomlNode& node) { service(s, node); });
    each(t, "api", [&](TableReader s, const TomlNode& node) { api(s, node); });
    each(t, "training", [&](TableReader s, const TomlNode& node) { job(s, node); });
    each(t, "budget", [&](TableReader s, const TomlNode& node) { budget(s, node); });
    if (const Status s = entry_.finish(); !s) return s.error();
    Problem& p = estate_.problem;
    if (p.services.empty() && p.jobs.empty())
      return nothing("service", "say what to serve or train: [[service]] or [[training]]");
    if (p.stocks.empty() && p.apis.empty())
      return nothing("offer", "say what there is to run it on: [[owned]] or [[offer]]");
    for (const std::string& used : exchange_.used()) p.assumptions.push_back(used);
    return std::move(estate_);
  }

 private:
  [[nodiscard]] Error nothing(const char* what, const char* message) const {
    return Error{ErrorCode::bad_input, file_ + ":1:1", fmt::format("there is no [[{}]]: {}", what, message)};
  }
  [[nodiscard]] std::string where(const TomlNode& node, std::string_view key = {}) const {
    const TomlMember* member = key.empty() ? nullptr : node.find(key);
    return member != nullptr ? place_text(file_, member->line, member->column)
                             : place_text(file_, node.line, node.column);
  }
  template <class Take>
  void each(TableReader& t, std::string_view key, const Take& take) {
    std::vector<TableReader> tables = t.tables(key);
    const TomlMember* member = root_.find(key);
    for (std::size_t i = 0; i < tables.size() && member != nullptr && i < member->value.items.size(); ++i) {
      if (entry_.root().failed()) return;
      take(tables[i], member->value.items[i]);
    }
  }
  int rule(RuleKind kind, int index, std::string text, std::string place, double amount, std::string unit) {
    estate_.problem.rules.push_back({kind, index, std::move(text), std::move(place), amount, std::move(unit)});
    return static_cast<int>(estate_.problem.rules.size()) - 1;
  }
  template <class Q>
  double money(TableReader& t, std::string_view key, double otherwise = 0) {
    if (!t.has(key)) return otherwise;
    const Result<double> value = exchange_.amount<Q>(t.text(key));
    if (!value) {
      t.refuse(key, value.error().message);
      return otherwise;
    }
    if (*value < 0) t.refuse(key, "an amount of money is not negative");
    return *value;
  }
  double share(TableReader& t, std::string_view key, double otherwise) {
    if (!t.has(key)) return otherwise;
    const Result<double> value = parse_share(t.text(key));
    if (!value) t.refuse(key, value.error().message);
    return value ? *value : otherwise;
  }
  double count(TableReader& t, std::string_view key, double otherwise, double high) {
    return t.optional_count(key, 0, high).value_or(otherwise);
  }
  /// A month of the plan, counted from its start; may lie outside.
  int month(TableReader& t, std::string_view key, int otherwise) {
    if (!t.has(key)) return otherwise;
    const std::string date = t.date(key);
    if (date.size() < 7) {
      t.refuse(key, "write year and month, for example \"2027-03\"");
      return otherwise;
    }
    return months_of(date) - months_of(estate_.problem.start);
  }
  static int months_of(const std::string& date) {
    return 12 * std::stoi(date.substr(0, 4)) + std::stoi(date.substr(5, 2)) - 1;
  }

  void general(TableReader t) {
    Problem& p = estate_.problem;
    p.start = t.date("start");
    if (t.failed()) return;
    if (p.start.size() < 7) return t.refuse("start", "write year and month, for example \"2026-12\"");
    p.months = t.optional_integer("months", 12, 1, kMostMonths);
    p.confidence = share(t, "confidence", 0.8);
    if (!(p.confidence >= 0.05 && p.confidence <= 0.99))
      t.refuse("confidence", "a probability between 5 % and 99 %, for example \"80%\"");
    owner_ = t.optional_text("owner").empty() ? "small-neocloud" : t.optional_text("owner");
    if (const auto owner = economics_.profile(owner_); !owner) t.refuse("owner", owner.error().message);
    (void)t.optional_text("name");
  }

  void exchange(TableReader& t) {
    TableReader table = t.table("exchange");
    const TomlMember* member = root_.find("exchange");
    if (member == nullptr) return;
    for (const TomlMember& rate : member->value.members) {
      const Result<Dollars> usd = parse_quantity<Dollars>(table.text(rate.key));
      if (!usd || !(usd->value() > 0))
        return table.refuse(rate.key, "write what one unit is worth, for example \"$0.14\"");
      exchange_.set(rate.key, usd->value());
    }
  }

  void site(TableReader& t, const TomlNode& node) {
    Problem& p = estate_.problem;
    Site s;
    s.id = t.id();
    for (const Site& other : p.sites) {
      if (other.id == s.id) return t.refuse("id", "there is a site " + quoted(s.id) + " already");
    }
    const std::string country = t.text("country");
    const Result<search::Destination> to = policy_.destination(country);
    if (!to && !t.failed()) return t.refuse("country", to.error().message);
    if (!to) return;
    s.country = to->code;
    s.region = t.optional_text("region");
    licence_.push_back(to->export_licence ? where(node, "country") : std::string());
    country_name_.push_back(to->name);
    const int index = static_cast<int>(p.sites.size());
    if (t.has("power")) {
      s.power_w = t.quantity<Watts>("power", watts(1), watts(1e12)).value();
      s.power_rule = rule(RuleKind::power, index, fmt::format("{} has {}", s.id, format(Watts(s.power_w))),
                          where(node, "power"), s.power_w / 1000, "kW");
    }
    rack_w_.push_back(t.has("rack_power") ? t.quantity<Watts>("rack_power", watts(100), watts(1e7)).value() : 0);
    rack_where_.push_back(where(node, "rack_power"));
    if (t.has("racks")) {
      s.racks = t.number("racks", 1, 1e7);
      if (rack_w_.back() == 0) t.refuse("racks", "say by rack_power what one of them can supply and cool");
      s.racks_rule = rule(RuleKind::racks, index, fmt::format("{} has {:g} racks", s.id, s.racks), where(node, "racks"),
                          s.racks, "racks");
    }
    const std::string cooling = t.optional_text("cooling");
    if (!cooling.empty() && cooling != "air" && cooling != "liquid") t.refuse("cooling", "air or liquid");
    air_where_.push_back(cooling == "air" ? where(node, "cooling") : std::string());
    s.pue = t.optional_number("pue", 1, 3).value_or(1.3);
    s.energy_paid = !t.flag("energy_included");
    electricity(t, node, s);
    p.sites.push_back(std::move(s));
  }

  void electricity(TableReader& t, const TomlNode& node, Site& s) {
    s.usd_per_kwh.assign(kHours, 0.0);
    const TomlMember* member = node.find("electricity");
    const auto per_kwh = [](double per_joule) { return per_joule * 3.6e6; };
    const EnergyRegion* region = nullptr;
    for (const std::string& word : {s.region, slug(country_name_.back())}) {
      if (region != nullptr || word.empty()) continue;
      if (const auto found = economics_.region(word)) region = *found;
    }
    if (member != nullptr && member->value.kind == TomlNode::Kind::array) {
      const std::vector<std::string> hours = t.texts("electricity");
      if (hours.size() != kHours)
        return t.refuse("electricity", fmt::format("{} prices; a day has 24 hours", hours.size()));
      for (std::size_t h = 0; h < hours.size(); ++h) {
        const Result<double> usd = exchange_.amount<DollarsPerJoule>(hours[h]);
        if (!usd) return t.refuse("electricity", usd.error().message);
        s.usd_per_kwh[h] = per_kwh(*usd);
      }
    } else if (member != nullptr) {
      s.usd_per_kwh.assign(kHours, per_kwh(money<DollarsPerJoule>(t, "electricity")));
    } else if (s.energy_paid) {
      if (region == nullptr || !region->electricity_usd_per_kwh) {
        return t.refuse("id", fmt::format("what electricity costs in {} is not known here: say it, electricity = "
                                          "\"$0.10/kWh\", or energy_included = true",
                                          s.region.empty() ? country_name_.back() : s.region));
      }
      s.usd_per_kwh.assign(kHours, *region->electricity_usd_per_kwh);
      estate_.problem.assumptions.push_back(
          fmt::format("electricity of {}: ${:.3f}/kWh, {}", s.id, s.usd_per_kwh[0], region->name));
    }
    if (t.has("carbon")) {
      s.co2_kg_per_kwh = t.quantity<Quantity<Dimension<0, 0, 0, -1, 0, 0, 0, 1>>>(
                              "carbon", Quantity<Dimension<0, 0, 0, -1, 0, 0, 0, 1>>(0),
                              Quantity<Dimension<0, 0, 0, -1, 0, 0, 0, 1>>(2 / 3.6e6))
                             .value() *
                         3.6e6;
    } else if (region != nullptr && region->co2_kg_per_kwh) {
      s.co2_kg_per_kwh = *region->co2_kg_per_kwh;
    }
  }

  void policy_rules(TableReader& t) {
    Problem& p = estate_.problem;
    const TomlMember* member = root_.find("policy");
    const TomlNode node = member != nullptr ? member->value : TomlNode{};
    if (t.has("vendor_share")) {
      p.vendor_share = share(t, "vendor_share", 1);
      if (!(p.vendor_share > 0)) t.refuse("vendor_share", "a share above 0");
      p.vendor_share_rule = rule(RuleKind::vendor_share, 0,
                                 fmt::format("{:.0f} % of the devices of one vendor at most", 100 * p.vendor_share),
                                 where(node, "vendor_share"), 100 * p.vendor_share, "%");
    }
    const std::vector<std::string> origin = t.texts("origin");
    if (!origin.empty()) {
      const auto vendors = policy_.vendors_from(origin);
      if (!vendors) return t.refuse("origin", vendors.error().message);
      allowed_vendors_ = *vendors;
      std::string all;
      for (const std::string& one : origin) all += (all.empty() ? "" : ", ") + one;
      origin_rule_ = rule(RuleKind::forbidden, 0, "only vendors from " + all, where(node, "origin"), 0, "");
    }
    avoid_ = t.texts("avoid_vendors");
    std::vector<std::string_view> vendors;
    for (const Device& device : knowledge_.catalogue.devices()) vendors.push_back(device.vendor);
    if (const Status s = search::check_vendors("avoid_vendors", avoid_, vendors); !s)
      return t.refuse("avoid_vendors", s.error().message);
    if (!avoid_.empty())
      avoid_rule_ = rule(RuleKind::forbidden, 0, "vendors ruled out", where(node, "avoid_vendors"), 0, "");
    licences_ = t.texts("export_licences");
    residency_ = t.texts("residency");
    residency_where_ = where(node, "residency");
  }

  std::optional<int> site_named(TableReader& t, std::string_view key) {
    const std::string id = t.text(key);
    const Problem& p = estate_.problem;
    std::vector<std::string_view> known;
    for (std::size_t i = 0; i < p.sites.size(); ++i) {
      if (p.sites[i].id == id) return static_cast<int>(i);
      known.push_back(p.sites[i].id);
    }
    if (t.failed()) return {};
    const std::string near = nearest(id, known.data(), known.size());
    t.refuse(key, "there is no site " + quoted(id) + (near.empty() ? "" : "; did you mean " + near + "?"));
    return {};
  }

  /// Devices of this kind on this site; what stands against them becomes a rule.
  int pool_of(const Device& device, int site, bool owned) {
    Problem& p = estate_.problem;
    for (std::size_t i = 0; i < p.pools.size(); ++i) {
      if (p.pools[i].device == device.id && p.pools[i].site == site) return static_cast<int>(i);
    }
    Pool pool;
    pool.device = device.id;
    pool.vendor = device.vendor;
    pool.site = site;
    const double tdp = device.tdp ? device.tdp->value.value() : 0;
    const double host = host_watts(knowledge_.catalogue, economics_, device, as_of_);
    pool.watts = tdp + host;
    pool.idle_watts = tdp * perf::power_coefficients(knowledge_.calibration, device.architecture).idle + host;
    const auto s = static_cast<std::size_t>(site);
    const double node = device.node_size ? device.node_size->value : 1;
    const auto forbid = [&](int by) {
      if (!owned && pool.forbidden < 0) pool.forbidden = by;
    };
    if (rack_w_[s] > 0) {
      const double servers = std::floor(rack_w_[s] / (node * pool.watts) + 1e-9);
      pool.racks = servers >= 1 ? 1 / (servers * node) : 1;
      if (servers < 1) {
        forbid(rule(RuleKind::forbidden, 0,
                    fmt::format("one server of {} takes {}, a rack of {} has {}", device.id,
                                format(Watts(node * pool.watts)), p.sites[s].id, format(Watts(rack_w_[s]))),
                    rack_where_[s], 0, ""));
      }
    }
    const System* system = search::smallest_system(knowledge_.catalogue, device.id);
    if (!air_where_[s].empty() && system != nullptr && system->cooling == "liquid") {
      forbid(rule(RuleKind::forbidden, 0, fmt::format("{} is cooled by air, {} by liquid", p.sites[s].id, system->name),
                  air_where_[s], 0, ""));
    }
    const bool home = is_from(device.vendor, p.sites[s].country);
    const double tpp = search::total_processing_performance(device);
    const bool licensed = std::find(licences_.begin(), licences_.end(), device.id) != licences_.end();
    if (!licence_[s].empty() && !home && tpp >= kExportLimit && !licensed) {
      forbid(rule(RuleKind::forbidden, 0,
                  fmt::format("{} needs an export licence for {}: processing performance {} of at most {}", device.id,
                              country_name_[s], format_number(tpp), format_number(kExportLimit)),
                  licence_[s], 0, ""));
    }
    const auto has = [&](const std::vector<std::string>& list) {
      return std::any_of(list.begin(), list.end(),
                         [&](const std::string& v) { return slug(v) == slug(device.vendor); });
    };
    if (origin_rule_ >= 0 && !has(allowed_vendors_)) forbid(origin_rule_);
    if (avoid_rule_ >= 0 && has(avoid_)) forbid(avoid_rule_);
    p.pools.push_back(std::move(pool));
    return static_cast<int>(p.pools.size()) - 1;
  }
  [[nodiscard]] bool is_from(const std::string& vendor, const std::string& country) const {
    const auto vendors = policy_.vendors_from({country});
    return vendors && std::find(vendors->begin(), vendors->end(), vendor) != vendors->end();
  }
  std::optional<Device> device_named(TableReader& t, std::string_view key) {
    const std::string id = t.text(key);
    if (t.failed()) return {};
    Result<Device> device = knowledge_.catalogue.find_device(id);
    if (!device) {
      t.refuse(key, device.error().message);
      return {};
    }
    if (t.has("device_power")) {
      device->tdp = Sourced<Watts>{t.quantity<Watts>("device_power", watts(1), watts(1e5)), {}};
    }
    if (!device->tdp) {
      t.refuse(key, "the power of " + device->id + " is not published: say it, device_power = \"600 W\"");
      return {};
    }
    return *std::move(device);
  }

  void owned(TableReader& t, const TomlNode& node) {
    Problem& p = estate_.problem;
    const std::optional<Device> device = device_named(t, "device");
    const std::optional<int> site = site_named(t, "site");
    Stock s;
    s.way = Way::owned;
    s.most = t.integer("gpus", 1, static_cast<int>(kMostGpus));
    s.unit = t.optional_integer("unit", 1, 1, 100000);
    s.last = std::min(p.months - 1, month(t, "until", p.months - 1));
    s.usd_month = money<GpuRent>(t, "upkeep") * kSecondsInHour * kHoursPerMonth;
    const double extend = money<GpuRent>(t, "extend", -1);
    if (t.has("since")) (void)t.date("since");
    if (t.failed() || !device || !site) return;
    if (s.last < 0) return t.refuse("until", "is before the plan begins");
    s.pool = pool_of(*device, *site, true);
    s.name = "owned";
    const int index = static_cast<int>(p.stocks.size());
    s.rule =
        rule(RuleKind::count, index,
             fmt::format("{:g} {} are owned in {}", s.most, device->id, p.sites[static_cast<std::size_t>(*site)].id),
             where(node, "gpus"), s.most, "GPUs");
    p.stocks.push_back(s);
    if (extend >= 0 && s.last < p.months - 1) {
      Stock more = s;
      more.way = Way::extend;
      more.name = "extended";
      more.first = s.last + 1;
      more.last = p.months - 1;
      more.usd_month = extend * kSecondsInHour * kHoursPerMonth;
      more.follows = index;
      more.rule = -1;
      p.stocks.push_back(more);
    } else if (extend >= 0) {
      t.refuse("extend", "nothing ends within the plan: say by until when the contract does");
    }
  }

  void offer(TableReader& t, const TomlNode& node) {
    Problem& p = estate_.problem;
    const auto way = t.choice<Way>("kind", {{"buy", Way::buy},
                                            {"lease", Way::lease},
                                            {"reserved", Way::reserved},
                                            {"on_demand", Way::on_demand},
                                            {"spot", Way::spot}});
    const std::optional<Device> device = device_named(t, "device");
    const std::optional<int> site = site_named(t, "site");
    if (t.failed() || !device || !site) return;
    Stock s;
    s.way = way;
    const bool by_hour = way == Way::on_demand || way == Way::spot;
    s.unit = t.optional_integer("unit", by_hour || !device->node_size ? 1 : device->node_size->value, 1, 100000);
    const bool limited = t.has("most");
    s.most = limited ? t.integer("most", 1, static_cast<int>(kMostGpus)) : kMostGpus;
    s.first = std::max(0, month(t, "from", 0));
    s.last = std::min(p.months - 1, month(t, "until", p.months - 1));
    s.trend = trend(t);
    const std::string provider = t.optional_text("provider");
    if (way == Way::lease || way == Way::reserved) s.term = t.integer("term", 1, kMostMonths);
    std::string basis;
    const auto listed = [&](Purchase purchase) -> double {  // dollars an hour
      Buyer buyer;
      buyer.purchase = purchase;
      buyer.region = provider;
      buyer.date = as_of_;
      const auto quote = price_of(knowledge_.catalogue, device->id, buyer, &economics_);
      if (!quote) {
        t.refuse("device", fmt::format("nobody lists a price of {} ({}): say it, price = \"$2/GPU-hour\"", device->id,
                                       name(purchase)));
        return 0;
      }
      basis = quote->basis;
      return quote->mid;
    };
    const double upkeep = money<GpuRent>(t, "upkeep") * kSecondsInHour * kHoursPerMonth;
    if (way == Way::buy) {
      buy(t, *device, s, basis);
      s.usd_month = upkeep;
    } else {
      const double hour = t.has("price") ? money<GpuRent>(t, "price") * kSecondsInHour
                          : by_hour      ? listed(way == Way::spot ? Purchase::spot : Purchase::on_demand)
                                         : listed(Purchase::reserved);
      if (by_hour) {
        s.usd_hour = hour;
        s.kept = way == Way::spot ? kept_share(economics_.spot.preemptions_per_hour, economics_.spot.loss_hours) : 1;
      } else {
        s.usd_month = hour * kHoursPerMonth + upkeep;
      }
    }
    if (t.failed()) return;
    const std::string what =
        s.term > 0 ? fmt::format("{} {} months", fleet::name(way), s.term) : std::string(fleet::name(way));
    s.name = provider.empty() ? what : what + ", " + provider;
    s.pool = pool_of(*device, *site, false);
    if (!basis.empty()) {
      p.assumptions.push_back(fmt::format(
          "{} of {}: {}, {}", what, device->id,
          way == Way::buy ? format(Dollars(s.usd_once), 4) + " each"
                          : fmt::format("${:.2f}/GPU-hour", by_hour ? s.usd_hour : s.usd_month / kHoursPerMonth),
          basis));
    }
    const int index = static_cast<int>(p.stocks.size());
    if (limited) {
      s.rule = rule(RuleKind::count, index, fmt::format("{:g} {} at most: {}", s.most, device->id, s.name),
                    where(node, "most"), s.most, "GPUs");
    }
    p.stocks.push_back(std::move(s));
  }

  /// Parts of a purchase: its price, and what a month bears of it.
  void buy(TableReader& t, const Device& device, Stock& s, std::string& basis) {
    const auto owner = economics_.profile(owner_);
    if (t.has("price")) {
      s.usd_once = money<DollarsPerGpu>(t, "price");
    } else {
      CostQuery query;
      query.mode = CostMode::own;
      query.device = device.id;
      query.profile = owner_;
      query.as_of = as_of_;
      const auto priced = cost_case(query, knowledge_.catalogue, economics_);
      if (!priced || !check(priced->inputs)) {
        return t.refuse("device",
                        fmt::format("nobody lists what {} costs to buy: say it, price = \"$30000/GPU\"", device.id));
      }
      s.usd_once = hourly_rate(priced->inputs).capex_usd;
      basis = fmt::format("server, network and installation as a {} pays", owner_);
    }
    const double life = t.optional_number("life_years", 0.5, 20).value_or((*owner)->life_years);
    const double residual = share(t, "residual", (*owner)->residual_share);
    const double capital = share(t, "cost_of_capital", (*owner)->cost_of_capital);
    s.charge_month = s.usd_once * capital_per_hour(capital, life, residual) * kHoursPerMonth;
  }

  double trend(TableReader& t) {
    if (!t.has("trend")) return 0;
    std::string text = t.text("trend");
    const bool falls = !text.empty() && text.front() == '-';
    if (falls || (!text.empty() && text.front() == '+')) text.erase(0, 1);
    const Result<double> value = parse_share(text);
    if (!value || *value > 0.5) {
      t.refuse("trend", "a share by which prices change each month: \"-2%\"");
      return 0;
    }
    return falls ? -*value : *value;
  }

  /// Sites in these countries, regions or sites by name.
  std::vector<bool> sites_in(TableReader& t, std::string_view key, const std::vector<std::string>& words) {
    const Problem& p = estate_.problem;
    std::vector<bool> allowed(p.sites.size(), words.empty());
    for (const std::string& word : words) {
      bool any = false;
      const Result<search::Destination> country = policy_.destination(word);
      for (std::size_t i = 0; i < p.sites.size(); ++i) {
        if (p.sites[i].id != word && p.sites[i].region != word && !(country && country->code == p.sites[i].country))
          continue;
        allowed[i] = any = true;
      }
      if (!any && !country) t.refuse(key, quoted(word) + " is no country, and no site or region of this file");
    }
    return allowed;
  }

  void service(TableReader& t, const TomlNode& node) {
    Problem& p = estate_.problem;
    Service s;
    AskedService asked;
    s.id = t.id();
    s.model = t.text("model");
    asked.where = where(node);
    if (t.failed()) return;
    if (const auto model = knowledge_.catalogue.find_model(s.model); !model)
      return t.refuse("model", model.error().message);
    asked.isl = count(t, "isl", asked.isl, kMostRequestTokensHere);
    asked.osl = count(t, "osl", asked.osl, kMostRequestTokensHere);
    asked.ttft_s = t.has("ttft") ? t.quantity<Seconds>("ttft", seconds(1e-4), seconds(1e5)).value() : 0;
    asked.tpot_s = t.has("tpot") ? t.quantity<Seconds>("tpot", seconds(1e-5), seconds(1e4)).value() : 0;
    asked.prefix_hit = share(t, "prefix_hit", 0);
    if (!t.optional_text("engine").empty()) asked.engine = t.optional_text("engine");
    asked.devices = t.texts("devices");
    s.output_tokens = asked.osl;
    s.spare = t.optional_integer("spare", 0, 0, 100);
    s.spot = t.flag("spot");
    if (t.has("value")) s.value = money<Dollars>(t, "value");
    const double rate = t.number("rate", 0, kMostRate);
    std::array<double, kHours> shape = kShapes[0].share;
    const TomlMember* hours = node.find("hours");
    if (hours != nullptr && hours->value.kind == TomlNode::Kind::array) {
      const auto& items = hours->value.items;
      const auto number = [](const TomlNode& n) {
        return n.kind == TomlNode::Kind::integer ? static_cast<double>(n.integer) : n.number;
      };
      const bool fine = items.size() == kHours && std::all_of(items.begin(), items.end(), [&](const TomlNode& n) {
                          return (n.kind == TomlNode::Kind::integer || n.kind == TomlNode::Kind::number) &&
                                 number(n) >= 0 && number(n) <= 1;
                        });
      if (!fine) return t.refuse("hours", "24 shares of the rate, from 0 to 1, or one of flat, office, chat, night");
      for (std::size_t h = 0; h < items.size(); ++h) shape[h] = number(items[h]);
      t.require("hours");
    } else if (t.has("hours")) {
      const std::string name = t.text("hours");
      const auto* found =
          std::find_if(std::begin(kShapes), std::end(kShapes), [&](const NamedShape& n) { return n.name == name; });
      if (found == std::end(kShapes))
        return t.refuse("hours", quoted(name) + " is none of flat, office, chat, night, nor 24 shares");
      shape = found->share;
    }
    const double growth = growth_of(t);
    for (int m = 0; m < p.months; ++m) {
      for (int h = 0; h < kHours; ++h)
        s.demand.push_back(rate * shape[static_cast<std::size_t>(h)] * std::pow(1 + growth, m));
    }
    const int index = static_cast<int>(p.services.size());
    const double peak = *std::max_element(s.demand.begin(), s.demand.end());
    s.demand_rule = rule(RuleKind::demand, index, fmt::format("{} gets {:.4g} requests/s", s.id, peak),
                         where(node, "rate"), peak, "requests/s");
    if (s.spare > 0)
      s.spare_rule = rule(RuleKind::spare, index,
                          fmt::format("{} survives the loss of {} replica{}", s.id, s.spare, s.spare > 1 ? "s" : ""),
                          where(node, "spare"), s.spare, "replicas");
    std::vector<std::string> places = t.texts("residency");
    const bool own = !places.empty();
    if (!own) places = residency_;
    s.allowed = sites_in(t, "residency", places);
    if (!places.empty()) {
      std::string all;
      for (const std::string& one : places) all += (all.empty() ? "" : ", ") + one;
      s.residency_rule = rule(RuleKind::residency, index, fmt::format("{} stays in {}", s.id, all),
                              own ? where(node, "residency") : residency_where_, 0, "");
    }
    residency_of_.push_back(places);
    p.services.push_back(std::move(s));
    estate_.services.push_back(std::move(asked));
  }
  double growth_of(TableReader& t) {
    if (!t.has("growth")) return 0;
    const Result<double> value = parse_share(t.text("growth"));
    if (!value || *value > 1) t.refuse("growth", "a share by which the rate grows each month: \"5%\"");
    return value ? *value : 0;
  }

  void api(TableReader& t, const TomlNode& /*node*/) {
    Problem& p = estate_.problem;
    const std::string id = t.text("service");
    const auto found = std::find_if(p.services.begin(), p.services.end(), [&](const Service& s) { return s.id == id; });
    if (t.failed()) return;
    if (found == p.services.end()) return t.refuse("service", "there is no service " + quoted(id));
    const auto index = static_cast<std::size_t>(found - p.services.begin());
    Api api;
    api.service = static_cast<int>(index);
    api.name = t.optional_text("provider");
    double in = money<DollarsPerToken>(t, "input", -1);
    double out = money<DollarsPerToken>(t, "output", -1);
    if (t.has("offer")) {
      const auto offer = economics_.offer(t.text("offer"));
      if (!offer) return t.refuse("offer", offer.error().message);
      if (in < 0) in = (*offer)->input_usd_per_million * 1e-6;
      if (out < 0) out = (*offer)->output_usd_per_million * 1e-6;
      if (api.name.empty()) api.name = (*offer)->provider;
    }
    if (in < 0 || out < 0)
      return t.refuse(
          "service",
          "say what tokens cost: input = \"$0.5/1M tokens\" and output, or offer = an id of ridge show prices");
    if (api.name.empty()) api.name = "API";
    const AskedService& asked = estate_.services[index];
    api.usd_per_request = in * asked.isl + out * asked.osl;
    api.most = count(t, "most", 0, kMostRate);
    const std::string country = t.optional_text("country");
    const std::vector<std::string>& places = residency_of_[index];
    if (!places.empty()) {
      api.allowed = std::any_of(places.begin(), places.end(), [&](const std::string& place) {
        const auto a = policy_.destination(place);
        const auto b = policy_.destination(country);
        return a && b && a->code == b->code;
      });
    }
    p.apis.push_back(std::move(api));
  }

  void job(TableReader& t, const TomlNode& node) {
    Problem& p = estate_.problem;
    Job j;
    AskedJob asked;
    j.id = t.id();
    asked.where = where(node);
    asked.model = t.optional_text("model");
    if (!t.optional_text("task").empty()) asked.task = t.optional_text("task");
    if (!t.optional_text("engine").empty()) asked.engine = t.optional_text("engine");
    asked.tokens = count(t, "tokens", 0, 1e18);
    j.first = std::max(0, month(t, "from", 0));
    j.last = month(t, "deadline", p.months - 1);
    j.most_gpus = count(t, "gpus", 0, kMostGpus);
    if (j.most_gpus > 0) asked.gpus = static_cast<int>(j.most_gpus);
    j.spot = t.flag("spot");
    j.mixed = t.flag("mixed");
    const std::vector<std::string> places = t.texts("residency");
    j.allowed = sites_in(t, "residency", places.empty() ? residency_ : places);
    const TomlMember* stated = node.find("gpu_hours");
    if (stated != nullptr && stated->value.kind == TomlNode::Kind::table) {
      TableReader table = t.table("gpu_hours");
      for (const TomlMember& one : stated->value.members) {
        const auto device = knowledge_.catalogue.find_device(one.key);
        const double hours = table.number(one.key, 1e-3, 1e12);
        if (!device) return table.refuse(one.key, device.error().message);
        asked.gpu_hours.emplace_back(device->id, hours);
      }
    }
    if (t.failed()) return;
    if (j.last < 0 || j.last >= p.months || j.first > j.last)
      return t.refuse(t.has("deadline") ? "deadline" : "from", "is not within the plan");
    if (asked.gpu_hours.empty() && (asked.model.empty() || !(asked.tokens > 0))) {
      return t.refuse(
          "id",
          "say the model and how many tokens to train on, or the work by device: gpu_hours = { h100-sxm = 20000 }");
    }
    if (asked.gpu_hours.empty()) {
      if (const auto model = knowledge_.catalogue.find_model(asked.model); !model)
        return t.refuse("model", model.error().message);
    }
    const int index = static_cast<int>(p.jobs.size());
    j.rule = rule(RuleKind::deadline, index, fmt::format("{} is done by the end of {}", j.id, p.month_name(j.last)),
                  where(node, t.has("deadline") ? "deadline" : "id"), 100, "% of the work");
    p.jobs.push_back(std::move(j));
    estate_.jobs.push_back(std::move(asked));
  }

  void budget(TableReader& t, const TomlNode& node) {
    Problem& p = estate_.problem;
    Budget b;
    b.first = month(t, "from", 0);
    b.last = month(t, "to", p.months - 1);
    const std::string text = t.text("most");
    if (t.failed()) return;
    const Result<double> usd = exchange_.amount<Dollars>(text);
    if (!usd) return t.refuse("most", usd.error().message);
    b.usd = *usd;
    if (b.first < 0 || b.last >= p.months || b.first > b.last)
      return t.refuse(t.has("from") ? "from" : "most", "is not within the plan");
    b.rule = rule(
        RuleKind::budget, static_cast<int>(p.budgets.size()),
        fmt::format("{} to {}: {} at most", p.month_name(b.first), p.month_name(b.last), format(Dollars(b.usd), 4)),
        where(node, "most"), b.usd, "$");
    p.budgets.push_back(b);
  }

  static constexpr double kMostRequestTokensHere = 1e7;

  const TomlNode& root_;
  const std::string& file_;
  const Knowledge& knowledge_;
  const EconomicsData& economics_;
  const search::Policy& policy_;
  const std::string as_of_;
  Exchange exchange_;
  SourceIndex sources_;
  std::array<EntryLayer, 1> layers_;
  EntryReader entry_;
  Estate estate_;
  std::string owner_ = "small-neocloud";
  // By site.
  std::vector<std::string> licence_, country_name_, rack_where_, air_where_;
  std::vector<double> rack_w_;
  // Policy.
  std::vector<std::string> allowed_vendors_, avoid_, licences_, residency_;
  std::string residency_where_;
  int origin_rule_ = -1, avoid_rule_ = -1;
  std::vector<std::vector<std::string>> residency_of_;  ///< by service
};

}  // namespace

Result<Estate> read_estate(const std::string& text, const std::string& file, const Knowledge& knowledge,
                           const EconomicsData& economics, const search::Policy& policy, const std::string& as_of) {
  const Result<TomlNode> root = parse_toml(text, file);
  if (!root) return root.error();
  return EstateReader(*root, file, knowledge, economics, policy, as_of).read();
}

}  // namespace ridge::fleet
