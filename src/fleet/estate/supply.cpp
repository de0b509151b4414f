// Sites, policy, what is owned and what is on offer.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "economics/cost_case.hpp"
#include "fleet/estate/read.hpp"
#include "perf/operators/power.hpp"
#include "ridge/base/text.hpp"
#include "ridge/economics/cost.hpp"
#include "search/buyer/buyer.hpp"

namespace ridge::fleet {

namespace {

constexpr double kSecondsInHour = 3600;
using DollarsPerGpu = Quantity<Dimension<0, 0, 0, 0, 1, 0, -1>>;

}  // namespace

void EstateReader::site(TableReader& t, const TomlNode& node) {
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

/// By its id, or by what people call it: "us-virginia", "Virginia". A country may have the name of a state.
const EnergyRegion* EstateReader::region_of(const std::string& word, const std::string& country) const {
  if (word.empty()) return nullptr;
  const std::string id = slug(word);
  const EnergyRegion* found = nullptr;
  for (const EnergyRegion& region : economics_.regions) {
    const bool is_state = region.id.starts_with("us-");
    if (is_state && country != "US") continue;
    if (is_state && region.id == "us-" + id) return &region;
    if (region.id == id && found == nullptr) found = &region;
  }
  return found;
}

void EstateReader::electricity(TableReader& t, const TomlNode& node, Site& s) {
  s.usd_per_kwh.assign(kHours, 0.0);
  const TomlMember* member = t.has("electricity") ? node.find("electricity") : nullptr;
  const auto per_kwh = [](double per_joule) { return per_joule * 3.6e6; };
  const EnergyRegion* region = region_of(s.region, s.country);
  if (region == nullptr) region = region_of(country_name_.back(), s.country);
  if (region == nullptr) region = region_of(s.country, s.country);
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
    const bool is_wider = !s.region.empty() && region != region_of(s.region, s.country);
    estate_.problem.assumptions.push_back(fmt::format(
        "electricity of {}: ${:.3f}/kWh, {}{}", s.id, s.usd_per_kwh[0], region->name,
        is_wider ? fmt::format(" (no price is known for {} alone: say yours by electricity)", s.region) : ""));
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

void EstateReader::policy_rules(TableReader& t) {
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
  const std::vector<std::string> origin = names(t, "origin");
  if (!origin.empty()) {
    const auto vendors = policy_.vendors_from(origin);
    if (!vendors) return t.refuse("origin", vendors.error().message);
    allowed_vendors_ = *vendors;
    std::string all;
    for (const std::string& one : origin) all += (all.empty() ? "" : ", ") + one;
    origin_rule_ =
        rule(RuleKind::forbidden, 0, "only vendors from " + all + " are allowed", where(node, "origin"), 0, "");
  }
  avoid_ = names(t, "avoid_vendors");
  std::vector<std::string_view> vendors;
  for (const Device& device : knowledge_.catalogue.devices()) vendors.push_back(device.vendor);
  if (const Status s = search::check_vendors("avoid_vendors", avoid_, vendors); !s)
    return t.refuse("avoid_vendors", s.error().message);
  std::string avoided;
  for (const std::string& one : avoid_) avoided += (avoided.empty() ? "" : ", ") + one;
  if (!avoid_.empty())
    avoid_rule_ =
        rule(RuleKind::forbidden, 0, "devices of " + avoided + " are ruled out", where(node, "avoid_vendors"), 0, "");
  licences_ = names(t, "export_licences");
  residency_ = names(t, "residency");
  residency_where_ = where(node, "residency");
}

std::optional<int> EstateReader::site_named(TableReader& t, std::string_view key) {
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

int EstateReader::pool_of(const Device& device, int site, bool owned) {
  Problem& p = estate_.problem;
  // What is owned stands where it stands, whatever forbids more of it.
  for (std::size_t i = 0; i < p.pools.size(); ++i) {
    const bool other = owned ? p.pools[i].forbidden >= 0 : excepted_[i];
    if (p.pools[i].device == device.id && p.pools[i].site == site && !other) return static_cast<int>(i);
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
  bool excepted = false;
  const auto forbid_by = [&](int by) {
    excepted = excepted || owned;
    if (owned) return;
    if (pool.forbidden < 0) {
      pool.forbidden = by;
    } else {
      pool.forbidden_too.push_back(by);
    }
  };
  const auto forbid = [&](std::string text, const std::string& place) {
    forbid_by(owned ? -1 : rule(RuleKind::forbidden, 0, std::move(text), place, 0, ""));
  };
  if (rack_w_[s] > 0) {
    const double servers = std::floor(rack_w_[s] / (node * pool.watts) + 1e-9);
    pool.racks = servers >= 1 ? 1 / (servers * node) : 1;
    if (servers < 1) {
      forbid(fmt::format("one server of {} takes {}, a rack of {} has {}", device.id, format(Watts(node * pool.watts)),
                         p.sites[s].id, format(Watts(rack_w_[s]))),
             rack_where_[s]);
    }
  }
  const System* system = search::smallest_system(knowledge_.catalogue, device.id);
  if (!air_where_[s].empty() && system != nullptr && system->cooling == Cooling::liquid) {
    forbid(fmt::format("{} is cooled by air, {} by liquid", p.sites[s].id, system->name), air_where_[s]);
  }
  const bool home = is_from(device.vendor, p.sites[s].country);
  std::string letter;
  const bool licensed = std::find(licences_.begin(), licences_.end(), device.id) != licences_.end();
  if (!licence_[s].empty() && !home && !licensed) {
    const std::vector<std::string> none;
    const search::ExportRules rules{none, policy_.dies()};
    const std::string of_class = search::export_class(device, rules);
    if (!of_class.empty()) {
      forbid(fmt::format("{} needs an export licence for {} ({})", device.id, country_name_[s], of_class), licence_[s]);
    }
    if (!owned && search::licensed_by_letter(device, rules)) letter = search::letter_text({device.id});
  }
  const auto has = [&](const std::vector<std::string>& list) {
    return std::any_of(list.begin(), list.end(), [&](const std::string& v) { return slug(v) == slug(device.vendor); });
  };
  if (origin_rule_ >= 0 && !has(allowed_vendors_)) forbid_by(origin_rule_);
  if (avoid_rule_ >= 0 && has(avoid_)) forbid_by(avoid_rule_);
  const bool said = std::find(p.assumptions.begin(), p.assumptions.end(), letter) != p.assumptions.end();
  if (pool.forbidden < 0 && !letter.empty() && !said) p.assumptions.push_back(letter);
  p.pools.push_back(std::move(pool));
  excepted_.push_back(excepted);
  return static_cast<int>(p.pools.size()) - 1;
}
bool EstateReader::is_from(const std::string& vendor, const std::string& country) const {
  const auto vendors = policy_.vendors_from({country});
  return vendors && std::find(vendors->begin(), vendors->end(), vendor) != vendors->end();
}
std::optional<Device> EstateReader::device_named(TableReader& t, std::string_view key) {
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

void EstateReader::owned(TableReader& t, const TomlNode& node) {
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
  s.rule = rule(RuleKind::count, index,
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

void EstateReader::offer(TableReader& t, const TomlNode& node) {
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

void EstateReader::buy(TableReader& t, const Device& device, Stock& s, std::string& basis) {
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

double EstateReader::trend(TableReader& t) {
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

}  // namespace ridge::fleet
