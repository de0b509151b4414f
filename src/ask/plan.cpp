// The fields of a goal that a search plans for: the work, the space, the buyer, the run. A new one is a line here.
#include "ask/plan.hpp"

#include <charconv>
#include <cmath>

#include "ask/member.hpp"
#include "ridge/base/text.hpp"
#include "ridge/search/plan.hpp"
#include "ridge/serve/kv_tiers.hpp"

namespace ridge::ask {

namespace {

using Serve = ServingGoal;
using Train = TrainingGoal;

constexpr unsigned kServePlan = kPlanServe | kDescribes;
constexpr unsigned kTrainPlan = kPlanTrain | kDescribes;
constexpr unsigned kBothPlans = kServePlan | kTrainPlan;
constexpr unsigned kEveryPlan = kBothPlans | kPlanRl;
constexpr unsigned kRun = kPlanServe | kPlanTrain;  // how it is searched, not what is asked
constexpr double kMostOfPlan = 1 << 20;
constexpr double kMostGoalSequences = 1 << 24;

/// Of the buyer, in both goals.
template <auto Of>
constexpr AnyMember buyer_of_serving() {
  return in<&Serve::buyer, Of>();
}
template <auto Of>
constexpr AnyMember buyer_of_training() {
  return in<&Train::buyer, Of>();
}

template <class Goal>
Status take_devices(std::string_view text, Goal& goal) {
  if (text != "all") goal.buyer.devices = split_words(text, ',');
  return {};
}
template <class Goal>
std::string write_devices(const Goal& goal) {
  return fmt::format("{}", fmt::join(goal.buyer.devices, ","));
}

template <class Goal>
Status take_fleet(std::string_view text, Goal& goal) {
  for (const std::string& part : split_words(text, ',')) {
    const std::size_t colon = part.find(':');
    const Result<double> number =
        colon == std::string::npos ? Result<double>(Error{}) : parse_count(std::string_view(part).substr(colon + 1));
    if (!number || *number < 1) {
      return Error{ErrorCode::bad_input, "", "write devices and how many there are: h100-sxm:64,a100-sxm-80:32"};
    }
    goal.buyer.fleet.push_back({part.substr(0, colon), static_cast<int>(*number)});
  }
  return {};
}
template <class Goal>
std::string write_fleet(const Goal& goal) {
  std::string out;
  for (const Fleet& f : goal.buyer.fleet) out += fmt::format("{}{}:{}", out.empty() ? "" : ",", f.device, f.gpus);
  return out;
}

template <class Goal>
double is_owned(const Goal& goal) {
  return goal.buyer.purchase == Purchase::own ? 1 : 0;
}
template <class Goal>
void own_it(Goal& goal, double on) {
  if (on != 0) goal.buyer.purchase = Purchase::own;
}
/// Who owns says so by a switch.
template <class Goal>
Status take_purchase(std::string_view text, Goal& goal) {
  const Result<Purchase> purchase = parse_purchase(text);
  if (!purchase) return purchase.error();
  goal.buyer.purchase = *purchase;
  return {};
}
template <class Goal>
std::string write_purchase(const Goal& goal) {
  const Purchase p = goal.buyer.purchase;
  return p == Purchase::own || p == Purchase::on_demand ? std::string() : std::string(name(p));
}

template <class Goal>
Status take_caps(std::string_view text, Goal& goal) {
  if (text == "search") {
    goal.search_caps = true;
    return {};
  }
  for (const std::string& part : split_words(text, ',')) {
    const Result<Watts> cap = part == "none" ? Result<Watts>(Watts(0)) : parse_quantity<Watts>(part);
    if (!cap || (part != "none" && !(cap->value() > 0))) {
      return Error{ErrorCode::bad_input, "", "write watts of a device, none, or search: 500W,600W"};
    }
    if (!(cap->value() <= limits::kPower.most)) return Error{ErrorCode::bad_input, "", limits::beyond(limits::kPower)};
    goal.power_caps.push_back(cap->value());
  }
  return {};
}
template <class Goal>
std::string write_caps(const Goal& goal) {
  if (goal.search_caps) return "search";
  std::string out;
  for (const double cap : goal.power_caps) {
    out += (out.empty() ? "" : ",") + (cap == 0 ? std::string("none") : fmt::format("{}W", cap));
  }
  return out;
}

Status take_peak(std::string_view text, Serve& goal) {
  const Result<double> peak = parse_peak(text);
  if (!peak) return peak.error();
  goal.peak = *peak;
  return {};
}
std::string write_peak(const Serve& goal) {
  return goal.peak == 1 ? std::string() : fmt::format("{}x", goal.peak);
}
Status take_spares(std::string_view text, Serve& goal) {
  const Result<Spares> spares = parse_spares(text);
  if (!spares) return spares.error();
  const int rolling = goal.spares.rolling;
  goal.spares = *spares;
  goal.spares.rolling = rolling;
  return {};
}
std::string write_spares(const Serve& goal) {
  const Spares& s = goal.spares;
  if (s.count == 0) return {};
  return s.unit == Spares::Unit::replica ? fmt::format("N+{}", s.count)
         : s.unit == Spares::Unit::node  ? "node"
                                         : "rack";
}

double load_of(const Serve& goal) {
  return goal.load == goal.load_at_most ? goal.load : kNothing;
}
void take_load(Serve& goal, double share) {
  goal.load = goal.load_at_most = share;
}
double highest_load(const Serve& goal) {
  return goal.load == goal.load_at_most ? kNothing : goal.load_at_most;
}
void take_highest_load(Serve& goal, double share) {
  goal.load_at_most = share;
}

Status take_gpus(std::string_view text, Train& goal) {
  for (const std::string& part : split_words(text, ',')) {
    const Result<double> number = parse_count(part);
    if (!number || *number < 1 || *number > kMostOfPlan || *number != std::floor(*number)) {
      return Error{ErrorCode::bad_input, "", "whole numbers of devices: 512 or 512,1024"};
    }
    goal.gpus.push_back(static_cast<int>(*number));
  }
  return {};
}
std::string write_gpus(const Train& goal) {
  return fmt::format("{}", fmt::join(goal.gpus, ","));
}
/// Serving has one number at most.
Status take_most_gpus(std::string_view text, Serve& goal) {
  const Result<double> number = parse_count(text);
  if (!number) return number.error();
  if (*number < 1 || *number > kMostOfPlan) {
    return Error{ErrorCode::bad_input, "",
                 fmt::format("{} is outside of {} to {}", text, format_number(1, 7), format_number(kMostOfPlan, 7))};
  }
  if (*number != std::floor(*number)) return Error{ErrorCode::bad_input, "", std::string(text) + " is no whole number"};
  goal.buyer.gpus = static_cast<int>(*number);
  return {};
}
std::string write_most_gpus(const Serve& goal) {
  return goal.buyer.gpus == 0 ? std::string() : std::to_string(goal.buyer.gpus);
}

double is_full(const Train& goal) {
  return goal.full_space ? 1 : 0;
}
void take_space(Train& goal, double full) {
  goal.full_space = full != 0;
}

/// Parts of a list, none of them empty.
template <class Check>
Status each_part(std::string_view text, const Check& check) {
  for (std::string_view rest = text;;) {
    const std::size_t comma = rest.find(',');
    const std::string_view part = trimmed(rest.substr(0, comma));
    if (part.empty()) return Error{ErrorCode::bad_input, "", "a part of the list is empty: write a,b,c"};
    if (const Status s = check(part); !s) return s;
    if (comma == std::string_view::npos) return {};
    rest.remove_prefix(comma + 1);
  }
}
Status check_gpus(std::string_view text) {
  Field whole{.key = "gpus", .value_name = "N", .help = "", .takes = Takes::whole, .low = 1, .high = kMostOfPlan};
  return each_part(text, [&](std::string_view part) -> Status {
    const Result<double> one = read_value(whole, part);
    return one ? Status() : Status(one.error());
  });
}
Status check_caps(std::string_view text) {
  Serve unused;
  const Status s = each_part(text, [](std::string_view) { return Status(); });
  return s ? take_caps(text, unused) : s;
}
Status check_threads(std::string_view text) {
  const Result<double> number = parse_count(text);
  if (!number) return number.error();
  if (*number > limits::kThreads.most) return Error{ErrorCode::bad_input, "", limits::beyond(limits::kThreads)};
  return *number >= 1 && *number == std::floor(*number)
             ? Status()
             : Status(Error{ErrorCode::bad_input, "", "a whole number >= 1"});
}
Status check_shard(std::string_view text) {
  int shard = 0;
  int shards = 1;
  return parse_shard(text, shard, shards);
}

constexpr Word kSpaces[] = {{"usual", 0}, {"full", 1}};
constexpr Word kBuyers[] = {{"hyperscaler", 0}, {"enterprise", 1}, {"startup", 2}, {"public-sector", 3}};
constexpr Word kCapWords[] = {{"search", 0}, {"none", 1}};
constexpr Word kRecipes[] = {{"recipes", 0}};
constexpr Word kSpareWords[] = {{"N+1", 0}, {"N+2", 1}, {"node", 2}, {"rack", 3}};
constexpr Word kGoalTasks[] = {{"pretrain", 0}, {"sft", 1}, {"lora", 2}};
constexpr Word kObjectives[] = {{"cost", 0}, {"time", 1}, {"energy", 2}, {"gpus", 3}};
constexpr Word kPurchases[] = {{"on-demand", 0}, {"spot", 1}, {"reserved", 2}, {"own", 3}, {"any", 4}};

// clang-format off
constexpr Field kPlanFields[] = {
    {.key = "model", .value_name = "M", .help = "catalogue id, path of a config.json, or written out: dense:layers=32,...", .verbs = kEveryPlan,
     .takes = Takes::named, .named = Named::models, .own = name_in<&Serve::model>(), .other = name_in<&Train::model>()},
    // the work
    {.key = "request_rate", .value_name = "R", .help = "requests per second, or 5M/day (default with --gpus: as many as they can take)", .verbs = kServePlan,
     .takes = Takes::per_second, .low = 1e-6, .high = 1e9, .own = in<&Serve::request_rate>()},
    {.key = "isl", .value_name = "TOKENS", .help = "input tokens per request (default: 1024)", .verbs = kServePlan,
     .takes = Takes::count, .low = 1, .high = limits::kRequestTokens.most, .own = in<&Serve::isl>()},
    {.key = "osl", .value_name = "TOKENS", .help = "output tokens per request (default: 256)", .verbs = kServePlan,
     .takes = Takes::count, .low = 1, .high = limits::kRequestTokens.most, .own = in<&Serve::osl>()},
    {.key = "workload", .value_name = "W", .help = "workload by name (chat, code, rag, mooncake, agent, ...) or a workload.toml: lengths and gaps as they vary; sessions of several turns (agent) are played, and --kv-tiers sized for them", .verbs = kServePlan,
     .takes = Takes::named, .named = Named::workload},
    {.key = "ttft", .value_name = "TIME", .help = "SLO: p95 time to first token, at most: 1s (default: 2s where no limit is given)", .verbs = kServePlan, .takes = Takes::seconds, .example = "1s", .own = in<&Serve::ttft_s>()},
    {.key = "tpot", .value_name = "TIME", .help = "SLO: p95 time per output token, at most: 40ms (default: 100ms where no limit is given)", .verbs = kServePlan, .takes = Takes::seconds, .example = "1s", .own = in<&Serve::tpot_s>()},
    {.key = "e2e", .value_name = "TIME", .help = "SLO: p95 time of a whole request, at most: 20s", .verbs = kServePlan, .takes = Takes::seconds, .example = "1s", .own = in<&Serve::e2e_s>()},
    {.key = "prefix_hit", .value_name = "SHARE", .help = "share of the input found in the prefix cache (default: 0)", .verbs = kServePlan, .takes = Takes::share, .own = in<&Serve::prefix_hit>()},
    {.key = "kv_tiers", .value_name = "LIST", .help = "memories for the KV cache below the device's: host:1TB:50GB/s,ssd:8TB:12GB/s:100us", .verbs = kPlanServe,
     .takes = Takes::parsed, .check = can<parse_tiers>},
    {.key = "confidence", .value_name = "SHARE", .help = "probability with which rate and limits, or days and budget, hold (default: 80%)", .verbs = kBothPlans,
     .takes = Takes::share, .own = in<&Serve::confidence>(), .other = in<&Train::confidence>()},
    {.key = "load", .value_name = "SHARE", .help = "highest mean load of a replica, as a share of what it can do within the limits (default with --gpus: 80%)", .verbs = kServePlan,
     .takes = Takes::share, .own = number_by<Serve, load_of, take_load>()},
    {.key = "max_load", .value_name = "SHARE", .help = "highest load at the busiest time, all replicas up: 85%", .verbs = kServePlan,
     .takes = Takes::share, .own = number_by<Serve, highest_load, take_highest_load>()},
    {.key = "peak", .value_name = "TIMES", .help = "busiest time over the mean: rate and limits are met at this many times --request-rate: 3x", .verbs = kServePlan,
     .takes = Takes::parsed, .check = can<parse_peak>, .own = text_by<Serve, take_peak, write_peak>()},
    {.key = "spares", .value_name = "WHAT", .help = "what may be down at the busiest time: N+1, N+2, node or rack", .verbs = kServePlan,
     .takes = Takes::parsed, .words = kSpareWords, .check = can<parse_spares>, .own = text_by<Serve, take_spares, write_spares>()},
    {.key = "rolling", .value_name = "N", .help = "replicas that an update restarts at a time, besides --spares; limits are met meanwhile", .verbs = kServePlan,
     .takes = Takes::whole, .low = 1, .high = 1000, .own = in<&Serve::spares, &Spares::rolling>()},
    {.key = "traffic", .value_name = "FILE", .help = "traffic of a day or week as CSV (hour, requests_per_s): the peak, and the bill of a month", .verbs = kServePlan,
     .takes = Takes::named, .named = Named::read_file},
    {.key = "growth", .value_name = "SHARE", .help = "growth of the traffic per month, with --traffic: 10%", .verbs = kServePlan, .takes = Takes::share, .own = in<&Serve::growth>()},
    {.key = "cold_start", .value_name = "T", .help = "time until a started replica serves, with --traffic or --rolling (default: 2min)", .verbs = kServePlan,
     .takes = Takes::seconds, .example = "2min", .own = in<&Serve::cold_start_s>()},
    {.key = "tokens", .value_name = "N", .help = "tokens to train on: 15T", .verbs = kTrainPlan, .takes = Takes::count, .low = 1, .high = 1e18, .own = in<&Train::tokens>()},
    {.key = "days", .value_name = "N", .help = "days that the run may take (default: 30 where --gpus is not given)", .verbs = kTrainPlan, .takes = Takes::count, .low = 1e-3, .high = 1e5, .own = in<&Train::days>()},
    {.key = "seq_length", .value_name = "TOKENS", .help = "tokens per training sequence (default: 8192)", .verbs = kTrainPlan,
     .takes = Takes::whole, .low = 1, .high = kMostGoalSequences, .own = in<&Train::sequence>()},
    {.key = "global_batch", .value_name = "N", .help = "sequences per step (default: by the number of devices)", .verbs = kTrainPlan,
     .takes = Takes::whole, .low = 1, .high = kMostGoalSequences, .own = in<&Train::global_batch>()},
    {.key = "task", .value_name = "T", .help = "pretrain (default), sft or lora", .verbs = kTrainPlan,
     .takes = Takes::parsed, .words = kGoalTasks, .check = can<parse_training_task>, .own = word_in<parse_training_task, &Train::task>()},
    {.key = "goodput", .value_name = "SHARE", .help = "share of the time that is useful work (default: by recorded failures)", .verbs = kTrainPlan, .takes = Takes::share, .own = in<&Train::goodput>()},
    // the space
    {.key = "devices", .value_name = "LIST", .help = "devices to compare: ids, h100-sxm,mi300x, or all (default)", .verbs = kEveryPlan, .takes = Takes::named, .named = Named::devices,
     .own = text_by<Serve, take_devices<Serve>, write_devices<Serve>>(), .other = text_by<Train, take_devices<Train>, write_devices<Train>>()},
    {.key = "gpus", .value_name = "N", .help = "serving: most devices to use; training: how many, or a list: 512,1024", .verbs = kEveryPlan,
     .takes = Takes::parsed, .check = check_gpus, .own = text_by<Serve, take_most_gpus, write_most_gpus>(), .other = text_by<Train, take_gpus, write_gpus>()},
    {.key = "engine", .value_name = "E", .help = "serving: vllm (default), trtllm, sglang, ...; training: megatron (default), hf-peft (default of sft and lora), nemo, fsdp, ...", .verbs = kEveryPlan, .takes = Takes::engine,
     .own = name_in<&Serve::engine>(), .other = name_in<&Train::engine>()},
    {.key = "precision", .value_name = "LIST", .help = "serving: precisions of the weights to search: bf16,fp8; training: precisions to search: bf16,fp8", .verbs = kEveryPlan, .takes = Takes::formats,
     .own = formats_in<&Serve::precisions>(), .other = formats_in<&Train::precisions>()},
    {.key = "kv_precision", .value_name = "LIST", .help = "precisions of the KV cache to search: bf16,fp8", .verbs = kServePlan, .takes = Takes::formats, .own = formats_in<&Serve::kv>()},
    {.key = "tp", .value_name = "N", .help = "fix tensor parallelism (default: searched)", .verbs = kEveryPlan, .takes = Takes::whole, .low = 1, .high = 1024, .own = in<&Serve::tp>(), .other = in<&Train::tp>()},
    {.key = "pp", .value_name = "N", .help = "fix the pipeline stages (default: searched)", .verbs = kEveryPlan, .takes = Takes::whole, .low = 1, .high = 1024, .own = in<&Serve::pp>(), .other = in<&Train::pp>()},
    {.key = "power_cap", .value_name = "LIST", .help = "power limits to search: 500W,600W; or search: none, and 90 to 40 % of the limit of the board", .verbs = kBothPlans,
     .takes = Takes::parsed, .words = kCapWords, .check = check_caps, .own = text_by<Serve, take_caps<Serve>, write_caps<Serve>>(), .other = text_by<Train, take_caps<Train>, write_caps<Train>>()},
    {.key = "dp", .value_name = "N", .help = "fix the attention ranks around the experts of a mixture of experts (default: searched)", .verbs = kServePlan, .takes = Takes::whole, .low = 1, .high = 1024, .own = in<&Serve::dp>()},
    {.key = "disaggregate", .value_name = "", .help = "prompts and tokens on pools of their own: the cheapest pair of each device", .verbs = kServePlan, .takes = Takes::on, .own = in<&Serve::disaggregate>()},
    {.key = "mixed_pools", .value_name = "", .help = "prefill and decode may run on devices of different vendors", .verbs = kServePlan, .takes = Takes::on, .own = in<&Serve::mixed_pools>()},
    {.key = "no_speculation", .value_name = "", .help = "turn speculative decoding off where the model brings it", .verbs = kServePlan, .takes = Takes::on, .own = not_in<&Serve::speculate>()},
    {.key = "vp", .value_name = "N", .help = "fix the virtual pipeline stages", .verbs = kTrainPlan, .takes = Takes::whole, .low = 1, .high = 1024, .own = in<&Train::vp>()},
    {.key = "cp", .value_name = "N", .help = "fix context parallelism", .verbs = kTrainPlan | kPlanRl, .takes = Takes::whole, .low = 1, .high = 1024, .own = in<&Train::cp>()},
    {.key = "ep", .value_name = "N", .help = "fix expert parallelism", .verbs = kEveryPlan, .takes = Takes::whole, .low = 1, .high = 1024, .own = in<&Serve::ep>(), .other = in<&Train::ep>()},
    {.key = "micro_batch", .value_name = "N", .help = "fix the sequences of a micro-batch", .verbs = kTrainPlan | kPlanRl, .takes = Takes::whole, .low = 1, .high = 65536, .own = in<&Train::micro_batch>()},
    {.key = "sharding", .value_name = "S", .help = "fix the sharding: none, zero1, zero2, zero3 or hsdp", .verbs = kTrainPlan | kPlanRl,
     .takes = Takes::parsed, .check = can<parse_sharding>, .own = word_in<parse_sharding, &Train::sharding>()},
    {.key = "space", .value_name = "usual|full", .help = "what engines do by themselves, or every schedule, sharding and offload", .verbs = kTrainPlan,
     .takes = Takes::word, .words = kSpaces, .own = number_by<Train, is_full, take_space>()},
    // the buyer
    {.key = "objective", .value_name = "O", .help = "what to minimise: cost (default), time, energy or gpus", .verbs = kBothPlans, .takes = Takes::parsed, .words = kObjectives, .check = can<parse_objective>,
     .own = word_in<parse_objective, &Serve::objective>(), .other = word_in<parse_objective, &Train::objective>()},
    {.key = "budget", .value_name = "$", .help = "serving: cost, at most: $60k/month, or $2M a year; training: cost of the run, at most: $2M", .verbs = kBothPlans, .takes = Takes::money, .example = "$2M",
     .own = buyer_of_serving<&Buyer::budget_usd>(), .other = buyer_of_training<&Buyer::budget_usd>()},
    {.key = "power", .value_name = "W", .help = "power of all devices and hosts, at most: 500kW (default: no limit)", .verbs = kBothPlans, .takes = Takes::watts, .example = "40kW", .most = limits::kPower,
     .own = buyer_of_serving<&Buyer::power_w>(), .other = buyer_of_training<&Buyer::power_w>()},
    {.key = "max_rack", .value_name = "W", .help = "power that one rack can supply and cool: 40kW", .verbs = kBothPlans, .takes = Takes::watts, .example = "40kW", .most = limits::kPower,
     .own = buyer_of_serving<&Buyer::rack_w>(), .other = buyer_of_training<&Buyer::rack_w>()},
    {.key = "air_cooled", .value_name = "", .help = "no liquid cooling: devices that need it are left out", .verbs = kBothPlans, .takes = Takes::on,
     .own = buyer_of_serving<&Buyer::air_cooled>(), .other = buyer_of_training<&Buyer::air_cooled>()},
    {.key = "rent", .value_name = "", .help = "hardware is rented by the hour (default)", .verbs = kBothPlans, .takes = Takes::on},
    {.key = "own", .value_name = "", .help = "hardware is bought and housed", .verbs = kBothPlans, .takes = Takes::on,
     .own = number_by<Serve, is_owned<Serve>, own_it<Serve>>(), .other = number_by<Train, is_owned<Train>, own_it<Train>>()},
    {.key = "purchase", .value_name = "P", .help = "on-demand (default), spot, reserved, own, or any: the cheapest that has a price", .verbs = kBothPlans,
     .takes = Takes::parsed, .words = kPurchases, .check = can<parse_purchase>,
     .own = text_by<Serve, take_purchase<Serve>, write_purchase<Serve>>(), .other = text_by<Train, take_purchase<Train>, write_purchase<Train>>()},
    {.key = "region", .value_name = "R", .help = "use prices of this region or provider only", .verbs = kEveryPlan, .takes = Takes::named, .named = Named::region_or_place,
     .own = name_in<&Serve::buyer, &Buyer::region>(), .other = name_in<&Train::buyer, &Buyer::region>()},
    {.key = "price_spread", .value_name = "", .help = "count the spread of quotes as uncertainty of the price", .verbs = kBothPlans, .takes = Takes::on,
     .own = buyer_of_serving<&Buyer::price_spread>(), .other = buyer_of_training<&Buyer::price_spread>()},
    {.key = "vendors", .value_name = "LIST", .help = "only devices of these vendors: AMD,NVIDIA", .verbs = kBothPlans, .takes = Takes::named, .named = Named::vendors,
     .own = names_in<&Serve::buyer, &Buyer::vendors>(), .other = names_in<&Train::buyer, &Buyer::vendors>()},
    {.key = "avoid_vendors", .value_name = "LIST", .help = "no devices of these vendors", .verbs = kBothPlans, .takes = Takes::named, .named = Named::vendors,
     .own = names_in<&Serve::buyer, &Buyer::avoid_vendors>(), .other = names_in<&Train::buyer, &Buyer::avoid_vendors>()},
    {.key = "origin", .value_name = "LIST", .help = "vendors of these countries only: CN", .verbs = kBothPlans, .takes = Takes::named, .named = Named::countries},
    {.key = "destination", .value_name = "C", .help = "country of use: devices that need an export licence for it are left out", .verbs = kBothPlans,
     .takes = Takes::named, .named = Named::destination},
    {.key = "vendor_share", .value_name = "SHARE", .help = "share of the work on one vendor, at most: 60%", .verbs = kServePlan, .takes = Takes::share, .own = buyer_of_serving<&Buyer::vendor_share>()},
    {.key = "fleet", .value_name = "LIST", .help = "devices you have already: h100-sxm:64", .verbs = kBothPlans, .takes = Takes::named, .named = Named::fleet,
     .own = text_by<Serve, take_fleet<Serve>, write_fleet<Serve>>(), .other = text_by<Train, take_fleet<Train>, write_fleet<Train>>()},
    {.key = "measured", .value_name = "", .help = "only devices with published measurements (software maturity)", .verbs = kBothPlans, .takes = Takes::on,
     .own = buyer_of_serving<&Buyer::measured>(), .other = buyer_of_training<&Buyer::measured>()},
    {.key = "announced", .value_name = "", .help = "include devices that are not on sale yet", .verbs = kBothPlans, .takes = Takes::on,
     .own = buyer_of_serving<&Buyer::announced>(), .other = buyer_of_training<&Buyer::announced>()},
    {.key = "profile", .value_name = "P", .help = "what such buyers usually ask: hyperscaler, enterprise, startup or public-sector", .verbs = kBothPlans,
     .takes = Takes::word, .words = kBuyers},
    // the run
    {.key = "against", .value_name = "recipes", .help = "published training recipes beside the plan that is found for each, and why they differ", .verbs = kTrainPlan,
     .takes = Takes::word, .words = kRecipes},
    {.key = "top", .value_name = "N", .help = "devices to list (default: 10)", .verbs = kRun | kPlanRl, .takes = Takes::whole, .low = 1, .high = 1e6},
    {.key = "explain", .value_name = "N", .help = "show the plan of rank N in full", .verbs = kRun, .takes = Takes::whole, .low = 1, .high = 1e6},
    {.key = "why", .value_name = "", .help = "list each device that is left out, and how it could come in", .verbs = kRun, .takes = Takes::on},
    {.key = "exhaustive", .value_name = "", .help = "evaluate every candidate, leave none out by bounds", .verbs = kRun, .takes = Takes::on},
    {.key = "threads", .value_name = "N", .help = "CPU threads to use (default: all)", .verbs = kRun, .takes = Takes::parsed, .check = check_threads},
    {.key = "results", .value_name = "FILE", .help = "keep what is found: FILE.sqlite (checkpoint every second), or FILE.csv at the end", .verbs = kRun, .takes = Takes::file},
    {.key = "resume", .value_name = "", .help = "go on where --results FILE.sqlite stopped", .verbs = kRun, .takes = Takes::on},
    {.key = "shard", .value_name = "I/N", .help = "search part I of N (from 0) and keep it in --results; then ridge plan merge", .verbs = kRun, .takes = Takes::parsed, .check = check_shard},
    {.key = "html", .value_name = "FILE", .help = "write a page with the front and the intervals of the best plans", .verbs = kRun, .takes = Takes::file},
    {.key = "save", .value_name = "DIR", .help = "write the plans as plan files: DIR/1.toml, ...", .verbs = kRun, .takes = Takes::named, .named = Named::made_folder},
};
// clang-format on

}  // namespace

Status parse_shard(std::string_view text, int& shard, int& shards) {
  const char* end = text.data() + text.size();
  const auto part = std::from_chars(text.data(), end, shard);
  const bool slash = part.ec == std::errc() && part.ptr != end && *part.ptr == '/';
  const auto parts = slash ? std::from_chars(part.ptr + 1, end, shards) : part;
  if (!slash || parts.ec != std::errc() || parts.ptr != end || shards < 1 || shard < 0 || shard >= shards) {
    return Error{ErrorCode::bad_input, "shard", "write which part of how many, from 0: 2/8"};
  }
  return {};
}

std::span<const Field> plan_fields() {
  return kPlanFields;
}

}  // namespace ridge::ask
