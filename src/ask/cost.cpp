// The fields that only questions about cost have: money, site, use. A new one is a line here.
#include "ridge/economics/cost.hpp"

#include <cctype>

#include "ask/member.hpp"
#include "economics/cost_case.hpp"
#include "ridge/base/text.hpp"

namespace ridge::ask {

namespace {

/// "CNY=0.14".
Status take_exchange(std::string_view text, CostQuery& q) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const bool coded =
      text.size() > 4 && text[3] == '=' && is_letter(text[0]) && is_letter(text[1]) && is_letter(text[2]);
  const Result<double> worth = coded ? parse_count(text.substr(4)) : Result<double>(Error{});
  if (!worth || !(*worth > 0)) {
    return Error{ErrorCode::bad_input, "", "write what one is worth in dollars: CNY=0.14"};
  }
  std::string code(text.substr(0, 3));
  for (char& c : code) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  q.exchange.emplace_back(code, *worth);
  return {};
}
std::string write_exchange(const CostQuery& q) {
  return q.exchange.empty() ? std::string() : fmt::format("{}={}", q.exchange[0].first, q.exchange[0].second);
}
Status can_exchange(std::string_view text) {
  CostQuery unused;
  return take_exchange(text, unused);
}

double is_spot(const CostQuery& q) {
  return q.rent_kind == PriceKind::spot ? 1 : 0;
}
void take_spot(CostQuery& q, double on) {
  if (on != 0) q.rent_kind = PriceKind::spot;
}

template <auto Of>
constexpr AnyMember site() {
  return in<&CostInputs::power, Of>();
}

constexpr Word kContracts[] = {{"1-year", 1}, {"2-year", 2}, {"3-year", 3}};
constexpr Word kBillings[] = {{"reserved", 1}, {"used", 0}};
constexpr Word kProfiles[] = {{"hyperscaler", 0}, {"large-neocloud", 1}, {"small-neocloud", 2}};

// clang-format off
constexpr Field kCostFields[] = {
    {.key = "price", .value_name = "RENT", .help = "price of a GPU-hour: $3.39 (default: median of the market)", .verbs = kCost,
     .takes = Takes::rent, .own = in<&CostInputs::rent_usd_per_gpu_hour>(), .foreign = true},
    {.key = "lease_month", .value_name = "USD", .help = "lease of all GPUs together for a month: $9200, or 60000 CNY", .verbs = kCost, .takes = Takes::dollars_per_month, .foreign = true},
    {.key = "provider", .value_name = "P", .help = "only prices of this provider or region", .verbs = kCost,
     .takes = Takes::named, .named = Named::price_place, .own = name_in<&CostQuery::provider>()},
    {.key = "spot", .value_name = "", .help = "use spot capacity, with preemptions", .verbs = kCost, .takes = Takes::on, .own = number_by<CostQuery, is_spot, take_spot>()},
    {.key = "contract", .value_name = "C", .help = "commitment: 1-year, 2-year or 3-year", .verbs = kCost,
     .takes = Takes::word, .words = kContracts, .own = name_in<&CostQuery::contract>()},
    {.key = "discount", .value_name = "SHARE", .help = "discount on the price for a commitment: 20%", .verbs = kCost, .takes = Takes::share, .own = in<&CostInputs::rent_discount>()},
    {.key = "preemptions", .value_name = "N", .help = "preemptions of the deployment per hour", .verbs = kCost, .takes = Takes::amount, .own = in<&CostInputs::preemptions_per_hour>()},
    {.key = "preemption_loss", .value_name = "TIME", .help = "time lost per preemption: 15min", .verbs = kCost, .takes = Takes::hours, .own = in<&CostInputs::preemption_loss_hours>()},
    {.key = "billing", .value_name = "B", .help = "reserved: idle hours are paid; used: they are not", .verbs = kCost,
     .takes = Takes::word, .words = kBillings, .own = in<&CostInputs::idle_is_paid>()},
    {.key = "platform", .value_name = "SHARE", .help = "what a managed platform takes on top of the rent: 15%", .verbs = kCost, .takes = Takes::share, .own = in<&CostInputs::platform_share>()},
    {.key = "profile", .value_name = "P", .help = "who owns the hardware: hyperscaler (default), large-neocloud, small-neocloud", .verbs = kCost,
     .takes = Takes::word, .words = kProfiles, .own = name_in<&CostQuery::profile>()},
    {.key = "region", .value_name = "R", .help = "region of electricity, carbon and water: us (default), us-texas, europe, sweden, ...", .verbs = kCost,
     .takes = Takes::named, .named = Named::energy_region, .own = name_in<&CostQuery::region>()},
    {.key = "server_price", .value_name = "USD", .help = "price of the server, per GPU", .verbs = kCost, .takes = Takes::dollars, .own = in<&CostInputs::server_usd>()},
    {.key = "network_price", .value_name = "USD", .help = "price of the network, per GPU", .verbs = kCost, .takes = Takes::dollars, .own = in<&CostInputs::network_usd>()},
    {.key = "storage_price", .value_name = "USD", .help = "price of storage, per GPU", .verbs = kCost, .takes = Takes::dollars, .own = in<&CostInputs::storage_usd>()},
    {.key = "installation_price", .value_name = "USD", .help = "price of installation, per GPU", .verbs = kCost, .takes = Takes::dollars, .own = in<&CostInputs::installation_usd>()},
    {.key = "cost_of_capital", .value_name = "SHARE", .help = "cost of capital per year: 8%", .verbs = kCost, .takes = Takes::share, .own = in<&CostInputs::cost_of_capital>()},
    {.key = "life", .value_name = "TIME", .help = "life of the hardware: '4 years'", .verbs = kCost, .takes = Takes::years, .own = in<&CostInputs::life_years>()},
    {.key = "residual", .value_name = "SHARE", .help = "share of the price that is left at the end of its life", .verbs = kCost, .takes = Takes::share, .own = in<&CostInputs::residual_share>()},
    {.key = "colocation", .value_name = "RATE", .help = "colocation: $130/kW-month", .verbs = kCost, .takes = Takes::dollars_per_kw_month, .own = in<&CostInputs::colocation_usd_per_kw_month>()},
    {.key = "electricity", .value_name = "RATE", .help = "price of electricity: $0.08/kWh", .verbs = kCost, .takes = Takes::dollars_per_kwh, .own = in<&CostInputs::electricity_usd_per_kwh>()},
    {.key = "maintenance", .value_name = "SHARE", .help = "maintenance per year, as a share of the hardware's price", .verbs = kCost, .takes = Takes::share, .own = in<&CostInputs::maintenance_share>()},
    {.key = "staff", .value_name = "USD", .help = "staff, per GPU and year", .verbs = kCost, .takes = Takes::dollars_per_year, .own = in<&CostInputs::staff_usd_per_year>()},
    {.key = "software", .value_name = "USD", .help = "software, per GPU and year", .verbs = kCost, .takes = Takes::dollars_per_year, .own = in<&CostInputs::software_usd_per_year>()},
    {.key = "device_power", .value_name = "W", .help = "power of a busy GPU (default: the estimate's)", .verbs = kCost, .takes = Takes::power, .own = site<&SitePower::device_busy_w>()},
    {.key = "idle_power", .value_name = "W", .help = "power of an idle GPU", .verbs = kCost, .takes = Takes::power, .own = site<&SitePower::device_idle_w>()},
    {.key = "host_power", .value_name = "W", .help = "power of the rest of the server, per GPU", .verbs = kCost, .takes = Takes::power, .own = site<&SitePower::host_w>()},
    {.key = "network_power", .value_name = "SHARE", .help = "power of network and storage, as a share of the servers'", .verbs = kCost, .takes = Takes::share, .own = site<&SitePower::network_storage_share>()},
    {.key = "pue", .value_name = "N", .help = "PUE: power at the meter over power at the racks", .verbs = kCost,
     .takes = Takes::count, .low = 1, .high = limits::kPue.most, .own = site<&SitePower::pue>()},
    {.key = "utilization", .value_name = "SHARE", .help = "share of the time in which there is work (default: 100%)", .verbs = kCost, .takes = Takes::share, .own = in<&CostInputs::utilisation>()},
    {.key = "goodput", .value_name = "SHARE", .help = "share of the working time that counts: see `ridge goodput`", .verbs = kCost, .takes = Takes::share, .own = in<&CostInputs::goodput>()},
    {.key = "throughput", .value_name = "TOK/S", .help = "output of the whole deployment, instead of an estimate: 5000", .verbs = kCost,
     .takes = Takes::tokens_per_s, .own = in<&CostInputs::output_tokens_per_s>()},
    {.key = "input_throughput", .value_name = "TOK/S", .help = "input of the whole deployment, with --throughput", .verbs = kCost,
     .takes = Takes::tokens_per_s, .own = in<&CostInputs::input_tokens_per_s>()},
    {.key = "mfu", .value_name = "SHARE", .help = "training throughput by model FLOPs utilisation, instead of an estimate: 40%", .verbs = kCost, .takes = Takes::share},
    {.key = "offer", .value_name = "ID", .help = "offer of an API (default: the cheapest of the model)", .verbs = kCost,
     .takes = Takes::named, .named = Named::api_offer, .own = name_in<&CostQuery::offer>()},
    {.key = "api_input", .value_name = "USD", .help = "price per million input tokens", .verbs = kCost,
     .takes = Takes::dollars_per_million, .own = in<&CostInputs::api_input_usd_per_million>()},
    {.key = "api_output", .value_name = "USD", .help = "price per million output tokens", .verbs = kCost,
     .takes = Takes::dollars_per_million, .own = in<&CostInputs::api_output_usd_per_million>()},
    {.key = "exchange", .value_name = "CUR=USD", .help = "exchange rate of a currency: CNY=0.14", .verbs = kCost,
     .takes = Takes::parsed, .check = can_exchange, .own = text_by<CostQuery, take_exchange, write_exchange>()},
    {.key = "request_rate", .value_name = "R", .help = "devices, decide: requests per second that each kind of device has to serve, or 5M/day (default: 100)", .verbs = kCost,
     .takes = Takes::per_second, .low = 1e-6, .high = 1e9},
    {.key = "ttft", .value_name = "TIME", .help = "devices, decide: time to first token, at most: 1s", .verbs = kCost, .takes = Takes::seconds, .example = "1s"},
    {.key = "tpot", .value_name = "TIME", .help = "devices, decide: time per output token, at most: 40ms", .verbs = kCost, .takes = Takes::seconds, .example = "40ms"},
    {.key = "e2e", .value_name = "TIME", .help = "devices, decide: time of a whole request, at most: 10s", .verbs = kCost, .takes = Takes::seconds, .example = "10s"},
    {.key = "confidence", .value_name = "SHARE", .help = "devices, decide: probability that rate and limits are met (default: 80%)", .verbs = kCost, .takes = Takes::share},
    {.key = "against", .value_name = "D", .help = "decide: the device to compare with", .verbs = kCost, .takes = Takes::named, .named = Named::device},
    {.key = "speedup", .value_name = "N", .help = "decide: how many times as fast as the other device (default: estimated)", .verbs = kCost, .takes = Takes::amount},
    {.key = "slower", .value_name = "SHARE", .help = "decide: how much slower a cloud runs, for its fair price: 10%", .verbs = kCost, .takes = Takes::share},
    {.key = "price_decline", .value_name = "SHARE", .help = "decide: how much prices fall in a year: 20%", .verbs = kCost, .takes = Takes::share},
    {.key = "horizon", .value_name = "TIME", .help = "decide: time for which the capacity is needed: '3 years'", .verbs = kCost, .takes = Takes::years},
    {.key = "draws", .value_name = "N", .help = "risk: number of Monte-Carlo draws", .verbs = kCost, .takes = Takes::whole, .low = 1, .high = limits::kDraws.most},
    {.key = "seed", .value_name = "N", .help = "risk: seed of the random draws", .verbs = kCost, .takes = Takes::tally},
};
// clang-format on

}  // namespace

std::span<const Field> cost_fields() {
  return kCostFields;
}

}  // namespace ridge::ask
