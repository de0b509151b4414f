#include "app/cli/cost_flags.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cctype>
#include <cmath>

#include "app/cli/offers.hpp"
#include "app/cli/value.hpp"
#include "app/cli/wrong.hpp"
#include "ridge/limits.hpp"
#include "ridge/text.hpp"

namespace ridge::cli {

namespace {

constexpr double kSecondsOfYear = 31'536'000;

/// A quantity of Q, or of another dimension whose base unit is worth `scale` of Q's.
template <class Q, class Other = Q>
Result<double> either(std::string_view text, double scale, double other_scale) {
  const Result<Q> first = parse_quantity<Q>(text);
  if (first) return first->value() * scale;
  const Result<Other> second = parse_quantity<Other>(text);
  if (second) return second->value() * other_scale;
  return first.error();
}

/// "CNY=0.14".
Status check_exchange(std::string_view text) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const bool coded =
      text.size() > 4 && text[3] == '=' && is_letter(text[0]) && is_letter(text[1]) && is_letter(text[2]);
  const Result<double> worth = coded ? parse_count(text.substr(4)) : Result<double>(Error{});
  if (worth && *worth > 0) return {};
  return wrong("", "write what one is worth in dollars: CNY=0.14");
}

}  // namespace

CostFlags::CostFlags() {
  const auto text = [&](const char* name, const char* value, const char* help, Takes takes) {
    flags_.push_back({.name = name, .value_name = value, .help = help, .takes = std::move(takes)});
  };
  const auto number = [&](const char* name, const char* value, const char* help, Kind kind, double CostInputs::*input) {
    flags_.push_back({.name = name, .value_name = value, .help = help, .kind = kind, .input = input});
  };
  const auto watts = [&](const char* name, const char* value, const char* help, Kind kind, double SitePower::*power) {
    flags_.push_back({.name = name, .value_name = value, .help = help, .kind = kind, .power = power});
  };
  const auto choice = [&](const char* name, const char* value, const char* help, std::vector<std::string> words) {
    flags_.push_back({.name = name, .value_name = value, .help = help, .takes = value::one_of(std::move(words))});
  };
  const auto typed = [&](const char* name, const char* value, const char* help, Kind kind) {
    flags_.push_back({.name = name, .value_name = value, .help = help, .kind = kind});
  };
  number("--price", "RENT", "of a GPU-hour: $3.39; otherwise the median of the market", Kind::rent,
         &CostInputs::rent_usd_per_gpu_hour);
  typed("--lease-month", "USD", "of all GPUs together: $9200", Kind::dollars_per_month);
  text("--provider", "P", "only prices of this provider or region", value::price_place());
  flags_.push_back(
      {.name = "--spot", .value_name = "", .help = "spot capacity, with preemptions", .kind = Kind::toggle});
  choice("--contract", "C", "a commitment: 1-year, 2-year, 3-year", {"1-year", "2-year", "3-year"});
  number("--discount", "SHARE", "off the price, for a commitment", Kind::share, &CostInputs::rent_discount);
  number("--preemptions", "N", "of the deployment in an hour", Kind::per_hour, &CostInputs::preemptions_per_hour);
  number("--preemption-loss", "TIME", "that each costs: 15min", Kind::hours, &CostInputs::preemption_loss_hours);
  choice("--billing", "B", "reserved: idle hours are paid; used: they are not", {"reserved", "used"});
  number("--platform", "SHARE", "what a managed platform takes on top of the rent", Kind::share,
         &CostInputs::platform_share);
  choice("--profile", "P", "who owns the hardware: hyperscaler, large-neocloud, small-neocloud",
         {"hyperscaler", "large-neocloud", "small-neocloud"});
  text("--region", "R", "of the electricity, carbon and water: us, us-texas, europe, sweden, ...",
       value::one_of(offer_energy_regions, "region"));
  number("--server-price", "USD", "of the server, per GPU", Kind::dollars, &CostInputs::server_usd);
  number("--network-price", "USD", "of the network, per GPU", Kind::dollars, &CostInputs::network_usd);
  number("--storage-price", "USD", "of storage, per GPU", Kind::dollars, &CostInputs::storage_usd);
  number("--installation-price", "USD", "of installation, per GPU", Kind::dollars, &CostInputs::installation_usd);
  number("--cost-of-capital", "SHARE", "per year: 8%", Kind::share, &CostInputs::cost_of_capital);
  number("--life", "TIME", "of the hardware: '4 years'", Kind::years, &CostInputs::life_years);
  number("--residual", "SHARE", "of the price that is left at its end", Kind::share, &CostInputs::residual_share);
  number("--colocation", "RATE", "$130/kW-month", Kind::dollars_per_kw_month, &CostInputs::colocation_usd_per_kw_month);
  number("--electricity", "RATE", "$0.08/kWh", Kind::dollars_per_kwh, &CostInputs::electricity_usd_per_kwh);
  number("--maintenance", "SHARE", "of the hardware's price, per year", Kind::share, &CostInputs::maintenance_share);
  number("--staff", "USD", "per GPU and year", Kind::dollars_per_year, &CostInputs::staff_usd_per_year);
  number("--software", "USD", "per GPU and year", Kind::dollars_per_year, &CostInputs::software_usd_per_year);
  watts("--device-power", "W", "of a busy GPU, instead of the estimate's", Kind::watts, &SitePower::device_busy_w);
  watts("--idle-power", "W", "of an idle GPU", Kind::watts, &SitePower::device_idle_w);
  watts("--host-power", "W", "of the rest of the server, per GPU", Kind::watts, &SitePower::host_w);
  watts("--network-power", "SHARE", "of network and storage, over the servers'", Kind::share,
        &SitePower::network_storage_share);
  watts("--pue", "N", "power at the meter over power at the racks", Kind::plain, &SitePower::pue);
  number("--utilization", "SHARE", "of the time in which there is work", Kind::share, &CostInputs::utilisation);
  number("--goodput", "SHARE", "of the working time that counts; see `ridge goodput`", Kind::share,
         &CostInputs::goodput);
  number("--throughput", "TOK/S", "output of the whole deployment, instead of an estimate", Kind::tokens_per_s,
         &CostInputs::output_tokens_per_s);
  number("--input-throughput", "TOK/S", "input of the whole deployment", Kind::tokens_per_s,
         &CostInputs::input_tokens_per_s);
  typed("--mfu", "SHARE", "trained tokens from model FLOPs utilisation, instead of an estimate", Kind::share);
  text("--offer", "ID", "of an API; otherwise the cheapest of the model", value::one_of(offer_api_offers, "offer"));
  number("--api-input", "USD", "per million input tokens", Kind::dollars_per_million,
         &CostInputs::api_input_usd_per_million);
  number("--api-output", "USD", "per million output tokens", Kind::dollars_per_million,
         &CostInputs::api_output_usd_per_million);
  text("--exchange", "CUR=USD", "what a currency is worth: CNY=0.14", value::parsed(check_exchange));
  text("--request-rate", "R", "devices, decide: requests a second that a device of each kind has to serve; usual: 100",
       value::number(1e-6, 1e9));
  text("--ttft", "TIME", "devices, decide: time to first token, at most: 1s", value::quantity<Seconds>("1s"));
  text("--tpot", "TIME", "devices, decide: time per output token, at most: 40ms", value::quantity<Seconds>("40ms"));
  text("--e2e", "TIME", "devices, decide: time of a whole request, at most", value::quantity<Seconds>("10s"));
  text("--confidence", "SHARE", "devices, decide: probability with which these hold; usual: 80%", value::share());
  text("--against", "D", "decide: the device to compare with", value::device());
  typed("--speedup", "N", "decide: how many times as fast as the other, instead of an estimate", Kind::plain);
  typed("--slower", "SHARE", "decide: by which a cloud runs slower, for its fair price", Kind::share);
  typed("--price-decline", "SHARE", "decide: by which prices fall in a year", Kind::share);
  typed("--horizon", "TIME", "decide: how long the capacity is needed: '3 years'", Kind::years);
  typed("--draws", "N", "risk: of the Monte-Carlo", Kind::whole);
  typed("--seed", "N", "risk: of the random numbers", Kind::whole);
}

Takes CostFlags::of_kind(const Flag& flag) {
  if (flag.name == "--pue") return value::number(1, limits::kPue.most);
  if (flag.name == "--draws") return value::whole(1, limits::kDraws.most);
  return value::parsed([kind = flag.kind](std::string_view text) -> Status {
    const Result<double> value = read(kind, text);
    if (!value) return value.error();
    if (*value < 0) return wrong("", fmt::format("{} is below 0", text));
    if (kind == Kind::whole && *value != std::floor(*value))
      return wrong("", fmt::format("{} is no whole number", text));
    if (!(*value <= limits::kNumber.most)) return wrong("", limits::beyond(limits::kNumber));
    return {};
  });
}

Takes CostFlags::rent() {
  return of_kind({.name = "--price", .value_name = "", .help = "", .kind = Kind::rent});
}

void CostFlags::declare(Options& options) {
  for (Flag& flag : flags_) {
    if (flag.kind == Kind::toggle) {
      options.flag(flag.name, flag.on, flag.help);
    } else {
      options.text(flag.name, flag.value_name, flag.value, flag.help, flag.takes.check ? flag.takes : of_kind(flag));
    }
  }
}

const CostFlags::Flag& CostFlags::find(std::string_view flag) const {
  const auto at = std::find_if(flags_.begin(), flags_.end(), [&](const Flag& f) { return f.name == flag; });
  assert(at != flags_.end());
  return *at;
}

const std::string& CostFlags::value(std::string_view flag) const {
  return find(flag).value;
}
bool CostFlags::is_on(std::string_view flag) const {
  return find(flag).on;
}
void CostFlags::set(std::string_view flag, std::string value) {
  const_cast<Flag&>(find(flag)).value = std::move(value);
}

void CostFlags::turn(std::string_view flag, bool on) {
  const_cast<Flag&>(find(flag)).on = on;
}

std::vector<std::string> CostFlags::given_names() const {
  std::vector<std::string> names;
  for (const Flag& flag : flags_) {
    if (flag.value.empty() && !flag.on) continue;
    std::string key(flag.name.substr(2));  // "--device-power" → "device_power"
    std::replace(key.begin(), key.end(), '-', '_');
    names.push_back(std::move(key));
  }
  return names;
}

Result<double> CostFlags::read(Kind kind, std::string_view text) {
  switch (kind) {
    case Kind::rent: {
      const Result<double> rent = either<GpuRent, DollarsPerSecond>(text, 3600, 3600);
      return rent ? rent : either<GpuRent, Dollars>(text, 3600, 1);
    }
    case Kind::dollars: {
      using DollarsPerGpu = Quantity<Dimension<0, 0, 0, 0, 1, 0, -1>>;
      return either<Dollars, DollarsPerGpu>(text, 1, 1);
    }
    case Kind::dollars_per_kwh:
      return either<DollarsPerJoule>(text, 3.6e6, 0);
    case Kind::dollars_per_kw_month:
      return either<DollarsPerJoule>(text, 3.6e6 * kHoursPerMonth, 0);
    case Kind::dollars_per_year:
      return either<Dollars, GpuRent>(text, 1, kSecondsOfYear);
    case Kind::years:
      return either<Seconds>(text, 1 / kSecondsOfYear, 0);
    case Kind::hours:
      return either<Seconds>(text, 1 / 3600.0, 0);
    case Kind::watts:
      return either<Watts>(text, 1, 0);
    case Kind::share:
      return parse_share(text);
    case Kind::tokens_per_s: {
      const Result<double> bare = parse_count(text);
      return bare ? bare : either<TokensPerSecond>(text, 1, 0);
    }
    case Kind::dollars_per_million:
      return either<Dollars, DollarsPerToken>(text, 1, 1e6);
    case Kind::dollars_per_month:
      return either<Dollars, DollarsPerSecond>(text, 1, 2'628'000);
    case Kind::per_hour:
    case Kind::plain:
    case Kind::whole:
      return parse_count(text);
    case Kind::text:
    case Kind::toggle:
      break;
  }
  return kUnknown;
}

Status CostFlags::apply(CostInputs& in) const {
  for (const Flag& flag : flags_) {
    if (flag.value.empty() || (flag.input == nullptr && flag.power == nullptr)) continue;
    const Result<double> value = read(flag.kind, flag.value);
    if (!value) return wrong(flag.name, value.error().message);
    (flag.input != nullptr ? in.*flag.input : in.power.*flag.power) = *value;
  }
  if (given("--lease-month")) {
    if (given("--price")) return wrong("--lease-month", "is another price than --price: leave one out");
    const Result<double> month = read(Kind::dollars_per_month, value("--lease-month"));
    if (!month) return wrong("--lease-month", month.error().message);
    if (!(*month > 0)) return wrong("--lease-month", "write a price above 0, for example $9200");
    in.rent_usd_per_gpu_hour = lease_per_gpu_hour(*month, in.gpus);
  }
  if (given("--billing")) {
    const std::string& billing = value("--billing");
    if (billing != "reserved" && billing != "used") return wrong("--billing", "write reserved or used");
    in.idle_is_paid = billing == "reserved";
  }
  return {};
}

Status CostFlags::apply(CostCase& c) const {
  std::erase_if(c.assumptions, [said = given_names()](const Assumption& a) {
    return std::find(said.begin(), said.end(), a.field) != said.end();
  });
  return apply(c.inputs);
}

Status CostFlags::fill(CostQuery& query) const {
  query.given = given_names();
  const std::pair<const char*, std::string*> names[] = {{"--profile", &query.profile},
                                                        {"--region", &query.region},
                                                        {"--provider", &query.provider},
                                                        {"--contract", &query.contract},
                                                        {"--offer", &query.offer}};
  for (const auto& [flag, into] : names) {
    if (given(flag)) *into = value(flag);
  }
  if (is_on("--spot")) query.rent_kind = PriceKind::spot;
  if (given("--exchange")) {
    const std::string& text = value("--exchange");
    if (const Status s = check_exchange(text); !s) return wrong("--exchange", s.error().message);
    std::string code = text.substr(0, 3);
    for (char& c : code) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    query.exchange.emplace_back(code, *parse_count(std::string_view(text).substr(4)));
  }
  return {};
}

Result<double> CostFlags::share(std::string_view flag, double otherwise) const {
  if (!given(flag)) return otherwise;
  const Result<double> number = parse_share(value(flag));
  if (!number) return wrong(flag, number.error().message);
  return number;
}

Result<double> CostFlags::count(std::string_view flag, double otherwise, double low, double high) const {
  if (!given(flag)) return otherwise;
  const Result<double> number = parse_count(value(flag));
  if (!number) return wrong(flag, number.error().message);
  if (*number < low || *number > high) {
    return wrong(flag, fmt::format("{} is outside of {} to {}", value(flag), format_number(low), format_number(high)));
  }
  return number;
}

}  // namespace ridge::cli
