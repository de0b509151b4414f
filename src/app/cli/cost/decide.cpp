// ridge cost break-even, decide, risk and power-cap.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/cli/cost/cost.hpp"
#include "app/cli/cost/plans.hpp"
#include "app/cli/session/progress.hpp"
#include "app/cli/session/wrong.hpp"
#include "economics/goodput/case.hpp"
#include "economics/price/rent_trend.hpp"
#include "report/cost/decision_report.hpp"
#include "ridge/base/limits.hpp"
#include "ridge/base/text.hpp"
#include "search/buyer/buyer.hpp"
#include "search/buyer/policy.hpp"

namespace ridge::cli {

namespace {

/// An answer, nothing if a price is unknown, or an error.
Status try_cost(Session& session, const EconomicsData& data, const CostWork& work, const CostFlags& flags,
                CostMode mode, std::optional<CostAnswer>& into) {
  Result<CostAnswer> answer = cost_of(session, data, work, flags, mode);
  if (answer) {
    into = *std::move(answer);
  } else if (answer.error().code != ErrorCode::refused) {
    return answer.error();
  }
  return {};
}

/// Adds what the other ways assume beside.
void add_missing(std::vector<Assumption>& into, const std::vector<Assumption>& from) {
  for (const Assumption& a : from) {
    // Rent is compared hour by hour: what fails is counted where it is owned.
    const auto same = [&](const Assumption& other) {
      return other.text == a.text || (a.text.starts_with("nothing fails") && other.field == a.field);
    };
    if (std::none_of(into.begin(), into.end(), same)) into.push_back(a);
  }
}

/// What is decided about: the devices at work, each with the flags that its cost is counted with.
struct DecidedWork {
  CostWork work;
  CostFlags flags;
  std::string how;  ///< layout and formats, where they were chosen
};

Result<DecidedWork> planned_on(const PlannedWork& planned, const CostCommand& command, const std::string& device) {
  const PlannedDevice* one = planned.of(device);
  if (one == nullptr || !one->work) {
    return Error{ErrorCode::infeasible, device,
                 fmt::format("cannot do it ({}): {}", planned.question, one == nullptr ? "not tried" : one->text)};
  }
  return DecidedWork{*one->work, flags_of(command.cost, *one), one->text};
}

/// The device, and the one it is held against. Where the question leaves open how a model is served or trained, both do
/// it as `ridge plan --own` would have them.
Status decided_works(Session& session, const EconomicsData& data, const CostCommand& command, DecidedWork& first,
                     std::optional<DecidedWork>& other, std::vector<std::string>& assumptions) {
  const std::string& against = command.cost.value("--against");
  if (leaves_open(command) && command.estimate.given("--device")) {
    const Result<const Catalogue*> catalogue = session.catalogue();
    if (!catalogue) return catalogue.error();
    std::vector<std::string> ids;
    for (const std::string& name : {command.estimate.value("--device"), against}) {
      if (name.empty()) continue;
      const Result<Device> device = (*catalogue)->find_device(name);
      if (!device) return device.error();
      ids.push_back(device->id);
    }
    const Result<PlannedWork> planned = planned_work(session, command, data, Purchase::own, ids);
    if (!planned) return planned.error();
    assumptions = planned->assumptions;
    Result<DecidedWork> one = planned_on(*planned, command, ids.front());
    if (!one) return one.error();
    first = *std::move(one);
    if (against.empty()) return {};
    Result<DecidedWork> two = planned_on(*planned, command, ids.back());
    if (!two) return two.error();
    other = *std::move(two);
    return {};
  }
  Result<CostWork> work = cost_work(session, command.estimate, command.cost);
  if (!work) return work.error();
  first = {*std::move(work), command.cost, ""};
  if (against.empty()) return {};
  EstimateFlags flags = command.estimate;
  flags.set("--device", against);
  flags.set("--system", "");
  work = cost_work(session, flags, command.cost);
  if (!work) return work.error();
  other = {*std::move(work), command.cost, ""};
  return {};
}

/// A training run is paid for with what failures, spares and checkpoints take; unless --goodput says it.
Status count_failures(Session& session, const EconomicsData& data, const CostFlags& flags, const CostWork& work,
                      CostAnswer& answer) {
  if (!work.training || work.model.empty() || flags.given("--goodput")) return {};
  const Result<Model> model = (*session.catalogue())->find_model(work.model);
  if (!model) return model.error();
  GoodputQuery q;
  q.gpus = work.gpus;
  q.device = work.device;
  q.parameters = count_parameters(*model).total;
  q.strategy = CheckpointStrategy::async;
  q.useful_s = 30 * 86400.0;
  q.trials = 200;
  q.patience = session.patience();
  const Result<GoodputAnswer> failures = answer_goodput(q, **session.catalogue(), data);
  if (!failures) return failures.error();
  if (const Status s = session.in_time(); !s) return s;
  if (failures->sample.gave_up) {
    return Error{
        ErrorCode::infeasible, "--gpus",
        fmt::format("{:.0f} × {} fail faster than they get on: `ridge goodput` says why", work.gpus, work.device)};
  }
  const GoodputOutputs& o = failures->sample.mean;
  const double useful = q.useful_s / 3600 * q.gpus;
  double lost = 0;
  for (const double hours : o.lost_gpu_hours) lost += hours;
  CostCase& c = answer.cost_case;
  c.inputs.goodput = useful / (useful + lost);
  std::erase_if(c.assumptions, [](const Assumption& a) { return a.field == "goodput"; });
  c.assumptions.push_back(
      {"goodput",
       fmt::format("{}: {:.1f} % of paid GPU-hours are useful, with {} interruptions a month and {} spare GPUs; "
                   "failures as in: {}; asynchronous checkpoints",
                   work.device, 100 * c.inputs.goodput, format_number(std::round(o.interruptions)),
                   format_number(failures->inputs.spare_gpus, 6), failures->record_name)});
  answer = answer_cost(answer.title, c, work.tokens_per_s, work.training, work.run_tokens);
  return {};
}

/// What the first device has to be to beat the other, and what it is.
Result<report::PerfPerTco> against(Session& session, const EconomicsData& data, const CostCommand& command,
                                   const DecidedWork& first, const DecidedWork& second, const CostAnswer& own) {
  const CostWork& work = first.work;
  const CostWork* other_work = &second.work;
  CostFlags flags = second.flags;
  for (const char* flag : {"--server-price", "--network-price", "--storage-price", "--installation-price",
                           "--device-power", "--host-power"}) {
    flags.set(flag, "");  // of the first device
  }
  Result<CostAnswer> b = cost_of(session, data, *other_work, flags, own.cost_case.inputs.mode);
  if (!b) return Error{b.error().code, b.error().where, second.work.device + ": " + b.error().message};
  if (const Status s = count_failures(session, data, second.flags, *other_work, *b); !s) return s.error();
  report::PerfPerTco p{own, *std::move(b), work.device, other_work->device, kUnknown, kUnknown, first.how, second.how};
  p.required = required_speedup(p.a.cost_case.inputs, p.b.cost_case.inputs);
  const Result<double> said = command.cost.count("--speedup", 0, 0.001, 1e6);
  if (!said) return said.error();
  if (*said > 0) {
    p.speedup = *said;
  } else if (work.tokens_per_s && other_work->tokens_per_s) {
    p.speedup = work.tokens_per_s->mid / work.gpus / (other_work->tokens_per_s->mid / other_work->gpus);
  }
  return p;
}

Status fill_liquid(const EconomicsData& data, const CostCommand& command, report::DecideCost& d) {
  const std::string profile = command.cost.given("--profile") ? command.cost.value("--profile") : "hyperscaler";
  const Result<const OwnerProfile*> owner = data.profile(profile);
  if (!owner) return owner.error();
  CostInputs liquid = d.own.cost_case.inputs;
  if (!((*owner)->pue_liquid < liquid.power.pue)) return {};
  liquid.power.pue = (*owner)->pue_liquid;
  d.liquid_pue = liquid.power.pue;
  d.liquid_saving = d.own.out.usd_per_gpu_hour - evaluate(liquid).usd_per_gpu_hour;
  d.liquid_worth = d.liquid_saving / capital_per_hour(liquid.cost_of_capital, liquid.life_years, liquid.residual_share);
  return {};
}

/// "iran", or a part of a country: "china-west".
bool licence_is_needed(const search::Policy& policy, const EnergyRegion& region) {
  for (const std::string& word : {region.name, region.id.substr(0, region.id.find('-'))}) {
    if (const auto country = policy.destination(word)) return country->export_licence;
  }
  return false;
}

Status fill_regions(Session& session, const EconomicsData& data, const CostCommand& command, const CostWork& work,
                    report::DecideCost& d) {
  if (command.cost.given("--electricity")) return {};
  const Result<std::string> folder = session.data_directory();
  if (!folder) return folder.error();
  const Result<search::Policy> policy = search::load_policy(*folder + "/policy");
  if (!policy) return policy.error();
  const auto catalogue = session.catalogue();
  if (!catalogue) return catalogue.error();
  const Device* device = (*catalogue)->device(work.device);
  const std::vector<std::string> licence_free = policy->licence_free_vendors();
  const bool exported = device != nullptr && !search::export_class(*device, {licence_free, policy->dies()}).empty();
  for (const EnergyRegion& region : data.regions) {
    if (!region.electricity_usd_per_kwh) continue;
    if (exported && licence_is_needed(*policy, region)) {
      ++d.forbidden_regions;
      continue;
    }
    CostFlags flags = command.cost;
    flags.set("--region", region.id);
    std::optional<CostAnswer> there;
    if (const Status s = try_cost(session, data, work, flags, CostMode::own, there); !s) return s;
    if (there) d.regions.emplace_back(region.id, there->out.usd_per_gpu_hour);
  }
  std::stable_sort(d.regions.begin(), d.regions.end(),
                   [](const auto& a, const auto& b) { return a.second < b.second; });
  return {};
}

Status fill_acquisitions(const EconomicsData& data, const CostCommand& command, const std::string& as_of,
                         report::DecideCost& d) {
  if (!d.rent) return {};
  AcquisitionQuery q;
  q.own = d.own.cost_case.inputs;
  q.rent = d.rent->cost_case.inputs;
  const Result<double> decline = command.cost.share("--price-decline", 0);
  if (!decline) return decline.error();
  if (*decline >= 1) return wrong("--price-decline", "prices cannot fall by all of it: write less than 100%");
  q.decline = q.decline_low = q.decline_high = *decline;
  if (!command.cost.given("--price-decline")) {
    const RentTrend trend = rent_trend(data.histories, as_of);
    q.decline = -trend.mid;
    q.decline_low = -trend.high;
    q.decline_high = -trend.low;
    if (trend.pairs > 0) {
      d.own.cost_case.assumptions.push_back(
          {"price_decline",
           fmt::format("prices move by {:+.0f} % a year ({:+.0f} to {:+.0f} %), as {} rents of {} listings did over "
                       "twelve months between {} and {}",
                       100 * trend.mid, 100 * trend.low, 100 * trend.high, trend.pairs, trend.series, trend.first,
                       trend.last)});
    }
  }
  d.decline = q.decline;
  d.decline_low = q.decline_low;
  d.decline_high = q.decline_high;
  if (command.cost.given("--horizon")) {
    const Result<Seconds> horizon = parse_quantity<Seconds>(command.cost.value("--horizon"));
    if (!horizon) return wrong("--horizon", horizon.error().message);
    d.horizon_years = horizon->value() / 31'536'000;
    if (d.horizon_years < 1.0 / 12 || d.horizon_years > 20)
      return wrong("--horizon", "write between a month and 20 years");
  } else {
    d.own.cost_case.assumptions.push_back({"horizon", "needed for 3 years"});
  }
  q.horizon_years = d.horizon_years;
  for (const Contract& contract : data.contracts) {
    if (contract.years > 0) q.contracts.emplace_back(contract.years, contract.discount);
  }
  d.ways = acquisitions(q);
  return {};
}

}  // namespace

Result<int> cost_break_even(Session& session, const CostCommand& command) {
  const Result<const EconomicsData*> data = session.economics();
  if (!data) return data.error();
  const Result<CostWork> work = cost_work(session, command.estimate, command.cost);
  if (!work) return work.error();
  Result<CostAnswer> own = cost_of(session, **data, *work, command.cost, CostMode::own);
  if (!own) return own.error();
  Result<CostAnswer> rent = cost_of(session, **data, *work, command.cost, CostMode::rent);
  if (!rent) return rent.error();
  report::BreakEvenCost b{"Own, rent or API: " + (work->title.empty() ? std::string("GPUs") : work->title),
                          *std::move(own), *std::move(rent), std::nullopt};
  if (work->tokens_per_s || command.cost.given("--throughput")) {
    if (const Status s = try_cost(session, **data, *work, command.cost, CostMode::api, b.api); !s) return s.error();
  }
  add_missing(b.own.cost_case.assumptions, b.rent.cost_case.assumptions);
  if (b.api) add_missing(b.own.cost_case.assumptions, b.api->cost_case.assumptions);
  return print_cost(session, command,
                    {report::break_even_json(b), report::break_even_table(b), report::break_even_page(b),
                     command.html.empty() ? std::string() : report::break_even_html(b)});
}

Result<int> cost_decide(Session& session, const CostCommand& command) {
  const Result<const EconomicsData*> data = session.economics();
  if (!data) return data.error();
  if (!command.estimate.given("--device") && !command.estimate.given("--system")) {
    return wrong("--device", "name what to decide about, for example --device gb200-nvl72 --against h100-sxm");
  }
  DecidedWork first;
  std::optional<DecidedWork> second;
  std::vector<std::string> planned;
  if (const Status s = decided_works(session, **data, command, first, second, planned); !s) return s.error();
  const CostWork* work = &first.work;
  Result<CostAnswer> own = cost_of(session, **data, *work, first.flags, CostMode::own);
  if (!own) return own.error();
  for (const std::string& text : planned) own->cost_case.assumptions.push_back({"", text});
  report::DecideCost d;
  d.title = fmt::format("Decide: {}{}", work->device,
                        command.cost.given("--against") ? " or " + command.cost.value("--against") : "");
  d.own = *std::move(own);
  if (const Status s = count_failures(session, **data, first.flags, *work, d.own); !s) return s.error();
  if (const Status s = try_cost(session, **data, *work, first.flags, CostMode::rent, d.rent); !s) return s.error();
  if (second) {
    Result<report::PerfPerTco> p = against(session, **data, command, first, *second, d.own);
    if (!p) return p.error();
    d.against = *std::move(p);
    add_missing(d.own.cost_case.assumptions, d.against->b.cost_case.assumptions);
  }
  if (d.rent) {
    std::vector<double> shares = {0.1, 0.15, 0.2};
    if (command.cost.given("--slower")) {
      const Result<double> slower = command.cost.share("--slower", 0);
      if (!slower) return slower.error();
      shares = {*slower};
    }
    for (const double share : shares) d.fair.emplace_back(share, fair_price(d.rent->out.usd_per_gpu_hour, share));
  }
  if (const Status s = fill_acquisitions(**data, command, session.price_date(), d); !s) return s.error();
  if (const Status s = fill_regions(session, **data, command, *work, d); !s) return s.error();
  if (const Status s = fill_liquid(**data, command, d); !s) return s.error();
  if (d.rent) add_missing(d.own.cost_case.assumptions, d.rent->cost_case.assumptions);
  return print_cost(session, command,
                    {report::decide_json(d), report::decide_table(d), report::decide_page(d),
                     command.html.empty() ? std::string() : report::decide_html(d)});
}

Result<int> cost_risk(Session& session, const CostCommand& command) {
  const Result<const EconomicsData*> data = session.economics();
  if (!data) return data.error();
  const Result<CostWork> work = cost_work(session, command.estimate, command.cost);
  if (!work) return work.error();
  Result<CostAnswer> answer = cost_of(session, **data, *work, command.cost, command.mode.value_or(CostMode::rent));
  if (!answer) return answer.error();
  report::RiskCost r;
  r.title = "Risk: " + answer->title;
  r.scenario.cost = answer->cost_case.inputs;
  r.cost_case = answer->cost_case;
  if (work->training && !work->model.empty() && !command.cost.given("--goodput")) {
    GoodputQuery q;
    q.gpus = work->gpus;
    q.device = work->device;
    const Result<Model> model = (*session.catalogue())->find_model(work->model);
    if (!model) return model.error();
    q.parameters = count_parameters(*model).total;
    q.useful_s = 30 * 86400.0;
    q.trials = 1;
    const Result<GoodputAnswer> failures = answer_goodput(q, **session.catalogue(), **data);
    if (!failures) return failures.error();
    r.scenario.failures = failures->inputs;
    r.scenario.with_failures = true;
    std::erase_if(r.cost_case.assumptions, [](const Assumption& a) { return a.field == "goodput"; });
    for (const std::string& text : failures->assumptions) r.cost_case.assumptions.push_back({"", text});
  }
  const Result<double> draws = command.cost.count("--draws", 100'000, 10, limits::kDraws.most);
  if (!draws) return draws.error();
  const Result<double> seed = command.cost.count("--seed", 1, 0, 9e15);
  if (!seed) return seed.error();
  MarketSpread market{answer->cost_case.rent_low, answer->cost_case.rent_high, {}};
  if (work->tokens_per_s && work->tokens_per_s->low < work->tokens_per_s->high)
    market.tokens_per_s = *work->tokens_per_s;
  const std::vector<InputSpread> spreads = usual_spreads(r.scenario, market);
  r.middle = scenario_cost(r.scenario);
  r.risk =
      monte_carlo(r.scenario, spreads, static_cast<int>(*draws), static_cast<std::uint64_t>(*seed), session.patience());
  if (const Status s = session.in_time(); !s) return s.error();
  r.lines = tornado(r.scenario, spreads);
  return print_cost(session, command,
                    {report::risk_json(r), report::tornado_table(r), report::risk_page(r),
                     command.html.empty() ? std::string() : report::risk_html(r)});
}

Result<int> cost_power_cap(Session& session, const CostCommand& command) {
  const Result<const EconomicsData*> data = session.economics();
  if (!data) return data.error();
  if (!command.estimate.given("--model")) {
    return wrong("--model", "name the work, for example --model llama3.3-70b --device h100-sxm --gpus 4");
  }
  CostCommand base = command;
  base.estimate.set("--power-cap", "");
  const Result<CostWork> work = cost_work(session, base.estimate, base.cost);
  if (!work) return work.error();
  if (!work->inference && !work->training_answer)
    return wrong("--power-cap", "needs an estimate: leave out --throughput and --mfu");
  const Catalogue& catalogue = **session.catalogue();
  const Device device = *catalogue.find_device(work->device);
  if (!device.tdp) return Error{ErrorCode::refused, "--device", fmt::format("the power of {} is unknown", device.id)};
  const double tdp = device.tdp->value.value();
  const CostMode mode = command.mode.value_or(
      command.cost.given("--price") || command.cost.given("--lease-month") ? CostMode::rent : CostMode::own);
  report::PowerCapSweep sweep;
  sweep.title = work->title;
  sweep.gpus = work->gpus;
  Progress progress = session.progress("sweeping the cap");
  // Boards allow no less than about 30 % of their limit (200 of 700 W on an H100).
  constexpr int kSteps = 14;
  for (int i = 0; i <= kSteps; ++i) {
    progress.show(static_cast<double>(i) / kSteps);
    const double cap = std::round(tdp * (0.3 + 0.7 * i / kSteps));
    const Result<CostWork> capped = capped_work(session, *work, cap);  // in the layout without a cap
    if (!capped) return capped.error();
    Result<CostAnswer> answer = cost_of(session, **data, *capped, base.cost, mode);
    if (!answer) return answer.error();
    report::PowerCapPoint p;
    p.cap_w = cap;
    p.tokens_per_s = capped->tokens_per_s->mid;
    p.device_w = capped->device_power_w;
    p.utility_w = answer->out.utility_w_per_gpu;
    p.usd_per_million = answer->out.usd_per_million_tokens;
    p.tokens_per_joule = 1 / answer->out.joules_per_token;
    sweep.points.push_back(p);
    if (i == kSteps) sweep.cost_case = std::move(answer->cost_case);
  }
  return print_cost(session, command,
                    {report::power_cap_json(sweep), report::power_cap_table(sweep), report::power_cap_page(sweep),
                     command.html.empty() ? std::string() : report::power_cap_html(sweep)});
}

}  // namespace ridge::cli
