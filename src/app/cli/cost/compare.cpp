// ridge cost compare and devices: ways to pay side by side, and what a dollar buys on each device.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/cli/cost/cost.hpp"
#include "app/cli/cost/plans.hpp"
#include "app/cli/session/progress.hpp"
#include "report/cost/decision_report.hpp"

namespace ridge::cli {

Result<int> cost_compare(Session& session, const CostCommand& command) {
  const Result<const EconomicsData*> data = session.economics();
  if (!data) return data.error();
  const Result<CostWork> work = cost_work(session, command.estimate, command.cost);
  if (!work) return work.error();
  report::CompareCost c;
  c.title = work->title.empty() ? "Ways to pay" : work->title;
  c.deployments = (*data)->deployments;
  struct Way {
    const char* name;
    const char* deployment;
    CostMode mode;
    const char* contract;
    bool spot;
  };
  static constexpr Way kWays[] = {{"own", "own", CostMode::own, "", false},
                                  {"rent, on demand", "rent", CostMode::rent, "", false},
                                  {"rent, 1 year", "rent", CostMode::rent, "1-year", false},
                                  {"rent, 3 years", "rent", CostMode::rent, "3-year", false},
                                  {"rent, spot", "rent", CostMode::rent, "", true},
                                  {"managed", "managed", CostMode::managed, "", false},
                                  {"API", "api", CostMode::api, "", false}};
  for (const Way& way : kWays) {
    CostFlags flags = command.cost;
    if (*way.contract != '\0') flags.set("--contract", way.contract);
    if (way.spot) flags.turn("--spot", true);
    Result<CostAnswer> answer = cost_of(session, **data, *work, flags, way.mode);
    report::CostWay line{way.name, way.deployment, std::nullopt, ""};
    if (answer) {
      line.answer = *std::move(answer);
    } else if (answer.error().code == ErrorCode::refused) {
      line.unknown = answer.error().message + " (" + answer.error().where + ")";
    } else {
      return answer.error();
    }
    c.ways.push_back(std::move(line));
  }
  const Catalogue& catalogue = **session.catalogue();
  return print_cost(
      session, command,
      {report::compare_cost_json(c, catalogue), report::compare_cost_table(c), report::compare_cost_page(c, catalogue),
       command.html.empty() ? std::string() : report::compare_cost_html(c, catalogue)});
}

Result<int> cost_devices(Session& session, const CostCommand& command) {
  const Result<const EconomicsData*> data = session.economics();
  if (!data) return data.error();
  const Result<const Catalogue*> catalogue = session.catalogue();
  if (!catalogue) return catalogue.error();
  CostQuery query;
  if (const Status s = command.cost.fill(query); !s) return s.error();
  DevicePriceQuery wanted{query.provider, session.price_date(), query.exchange};
  report::DevicesCost d;
  d.with_tokens = command.estimate.given("--model");
  d.title = d.with_tokens ? fmt::format("{} on each device", command.estimate.value("--model")) : "Devices by price";
  std::vector<std::string> ids;
  if (command.estimate.given("--device")) {
    Result<std::vector<std::string>> list = split_list("--device", command.estimate.value("--device"));
    if (!list) return list.error();
    ids = *std::move(list);
  } else {
    for (const Device& device : (*catalogue)->devices()) ids.push_back(device.id);
  }
  const bool all = !command.estimate.given("--device");
  std::optional<PlannedWork> planned;
  if (leaves_open(command)) {
    Result<PlannedWork> made =
        planned_work(session, command, **data, Purchase::on_demand, all ? std::vector<std::string>() : ids);
    if (!made) return made.error();
    planned = *std::move(made);
    d.title = planned->question + ", on each device";
    d.assumptions = planned->assumptions;
    d.assumptions.insert(d.assumptions.begin(), "formats and layout of each device as `ridge plan` finds them");
  }
  Progress progress = session.progress("pricing devices");
  for (std::size_t i = 0; i < ids.size(); ++i) {
    progress.show(static_cast<double>(i) / static_cast<double>(ids.size()));
    const Result<Device> device = (*catalogue)->find_device(ids[i]);
    if (!device) return device.error();
    DevicePrice price = device_price(**catalogue, **data, *device, wanted);
    const bool priced = std::isfinite(price.buy_usd) || std::isfinite(price.rent_usd) || std::isfinite(price.spot_usd);
    if (all && !priced) continue;
    // As `ridge cost rent` counts it: use, discounts, and what is lost with spot capacity.
    const auto take = [&](const CostWork& work, const CostFlags& flags) {
      const auto rented = [&](bool spot) {
        CostFlags ways = flags;
        ways.turn("--spot", spot);
        const Result<CostAnswer> answer = cost_of(session, **data, work, ways, CostMode::rent);
        return answer ? answer->out.usd_per_million_tokens : kUnknown;
      };
      price.tokens_per_s = work.tokens_per_s->mid / work.gpus;
      price.usd_per_million_tokens = rented(false);
      price.spot_usd_per_million_tokens = rented(true);
      price.joules_per_token = work.device_power_w / price.tokens_per_s;
    };
    if (planned) {
      const PlannedDevice* one = planned->of(device->id);
      if (one != nullptr) price.note = one->text;
      if (one != nullptr && one->work) {
        take(*one->work, flags_of(command.cost, *one));
        price.tokens_per_s *= one->utilisation;
      }
    } else if (d.with_tokens) {
      EstimateFlags flags = command.estimate;
      flags.set("--device", ids[i]);
      const Result<CostWork> work = cost_work(session, flags, command.cost);
      if (work && work->tokens_per_s) {
        take(*work, command.cost);
        price.note = work->title.substr(work->title.find(" on ") + 4);
        if (d.assumptions.empty()) {
          d.assumptions = {"what is not said of the work is chosen for each device as `ridge estimate` does"};
        }
      } else if (!work) {
        if (work.error().code == ErrorCode::bad_input) return work.error();
        price.note = work.error().message.substr(0, work.error().message.find('\n'));
      }
    }
    d.prices.push_back(std::move(price));
  }
  const auto key = [&](const DevicePrice& p) { return d.with_tokens ? p.usd_per_million_tokens : p.rent_usd; };
  std::stable_sort(d.prices.begin(), d.prices.end(), [&](const DevicePrice& a, const DevicePrice& b) {
    const double x = key(a), y = key(b);
    return std::isnan(y) ? !std::isnan(x) : x < y;
  });
  if (!command.html.empty())
    return Error{ErrorCode::bad_input, "--html", "devices has no picture: use --markdown, --csv or --json"};
  return print_cost(session, command, {report::devices_json(d), report::devices_table(d), report::devices_page(d), ""});
}

}  // namespace ridge::cli
