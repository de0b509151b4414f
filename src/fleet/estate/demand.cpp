// Services, APIs, training and budgets.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fleet/estate/read.hpp"
#include "ridge/base/text.hpp"
#include "ridge/catalogue/names.hpp"

namespace ridge::fleet {

namespace {

constexpr double kMostRate = 1e9;
constexpr double kLeastRate = 1e-5;  ///< about one request a day: a share of a device that no solver tells from none

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

}  // namespace

std::vector<bool> EstateReader::sites_in(TableReader& t, std::string_view key, const std::vector<std::string>& words) {
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

Status EstateReader::known(std::string& model) const {
  if (may_name_files_ || model.starts_with("dense:") || model.starts_with("moe:")) {
    const Result<Model> found = knowledge_.catalogue.find_model(model);
    return found ? Status() : Status(found.error());
  }
  const Result<const Model*> found = model_named(knowledge_.catalogue, model);
  if (!found) return found.error();
  model = (*found)->id;
  return {};
}

void EstateReader::service(TableReader& t, const TomlNode& node) {
  Problem& p = estate_.problem;
  Service s;
  AskedService asked;
  s.id = t.id();
  s.model = t.text("model");
  asked.where = where(node);
  if (t.failed()) return;
  if (const Status is = known(s.model); !is) return t.refuse("model", is.error().message);
  asked.isl = count(t, "isl", asked.isl, kMostRequestTokensHere);
  asked.osl = count(t, "osl", asked.osl, kMostRequestTokensHere);
  asked.ttft_s = t.has("ttft") ? t.quantity<Seconds>("ttft", seconds(1e-4), seconds(1e5)).value() : 0;
  asked.tpot_s = t.has("tpot") ? t.quantity<Seconds>("tpot", seconds(1e-5), seconds(1e4)).value() : 0;
  asked.prefix_hit = share(t, "prefix_hit", 0);
  if (!t.optional_text("engine").empty()) asked.engine = t.optional_text("engine");
  asked.devices = names(t, "devices");
  s.output_tokens = asked.osl;
  s.spare = t.optional_integer("spare", 0, 0, 100);
  s.spot = t.flag("spot");
  if (t.has("value")) s.value = money<Dollars>(t, "value");
  const double rate = t.number("rate", 0, kMostRate);
  if (rate > 0 && rate < kLeastRate) return t.refuse("rate", "is less than a request a day: write 0 for none");
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
  for (double& each : s.demand) each = each < kLeastRate ? 0 : each;
  const int index = static_cast<int>(p.services.size());
  const auto busiest = std::max_element(s.demand.begin(), s.demand.end());
  const double peak = *busiest;
  if (peak > kMostRate) return t.refuse("growth", "makes more than a billion requests a second of it");
  const auto in_month = static_cast<int>(busiest - s.demand.begin()) / kHours;
  s.demand_rule = rule(RuleKind::demand, index,
                       fmt::format("{} gets {} requests/s{}", s.id, format_number(peak),
                                   growth != 0 ? " in " + p.month_name(in_month) : std::string()),
                       where(node, "rate"), peak, "requests/s");
  if (s.spare > 0)
    s.spare_rule = rule(RuleKind::spare, index,
                        fmt::format("{} survives the loss of {} replica{}", s.id, s.spare, s.spare > 1 ? "s" : ""),
                        where(node, "spare"), s.spare, "replicas");
  std::vector<std::string> places = names(t, "residency");
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
double EstateReader::growth_of(TableReader& t) {
  if (!t.has("growth")) return 0;
  const Result<double> value = parse_share(t.text("growth"));
  if (!value || *value > 1) t.refuse("growth", "a share by which the rate grows each month: \"5%\"");
  return value ? *value : 0;
}

void EstateReader::api(TableReader& t, const TomlNode& /*node*/) {
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

void EstateReader::job(TableReader& t, const TomlNode& node) {
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
  const std::vector<std::string> places = names(t, "residency");
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
        "id", "say the model and how many tokens to train on, or the work by device: gpu_hours = { h100-sxm = 20000 }");
  }
  if (asked.gpu_hours.empty()) {
    if (const Status is = known(asked.model); !is) return t.refuse("model", is.error().message);
  }
  const int index = static_cast<int>(p.jobs.size());
  j.rule = rule(RuleKind::deadline, index, fmt::format("{} is done by the end of {}", j.id, p.month_name(j.last)),
                where(node, t.has("deadline") ? "deadline" : "id"), 100, "% of the work");
  p.jobs.push_back(std::move(j));
  estate_.jobs.push_back(std::move(asked));
}

void EstateReader::budget(TableReader& t, const TomlNode& node) {
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
  b.rule = rule(RuleKind::budget, static_cast<int>(p.budgets.size()),
                fmt::format("cash of {} to {} is {} at most", p.month_name(b.first), p.month_name(b.last),
                            format(Dollars(b.usd))),
                where(node, "most"), b.usd, "$");
  p.budgets.push_back(b);
}

}  // namespace ridge::fleet
