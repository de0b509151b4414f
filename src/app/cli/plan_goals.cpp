// From the flags of `ridge plan` to goals.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "app/cli/estimate_flags.hpp"
#include "app/cli/plan_flags.hpp"
#include "catalogue/toml_document.hpp"
#include "ridge/file.hpp"
#include "ridge/text.hpp"

namespace ridge::cli {

namespace {

constexpr double kUsualTtft = 2;  ///< seconds: what a chat needs
constexpr double kUsualTpot = 0.1;

Error wrong(std::string_view flag, std::string message) {
  return {ErrorCode::bad_input, std::string(flag), std::move(message)};
}

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    std::string part(text.substr(0, comma));
    part.erase(0, part.find_first_not_of(' '));
    part.erase(part.find_last_not_of(' ') + 1);
    if (!part.empty()) parts.push_back(std::move(part));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return parts;
}

/// Reads flags into fields; the first thing wrong is kept.
class Reader {
 public:
  explicit Reader(const PlanFlags& flags) : flags_(flags) {}

  void count(std::string_view flag, double& into, double low, double high) {
    if (!flags_.given(flag)) return;
    const Result<double> number = parse_count(flags_.value(flag));
    if (!number) return fail(flag, number.error().message);
    if (*number < low || *number > high) {
      return fail(flag, fmt::format("{} is outside of {} to {}", flags_.value(flag), format_number(low, 7),
                                    format_number(high, 7)));
    }
    into = *number;
  }
  void whole(std::string_view flag, int& into, int low, int high) {
    double number = into;
    count(flag, number, low, high);
    if (number != std::floor(number)) return fail(flag, flags_.value(flag) + " is no whole number");
    into = static_cast<int>(number);
  }
  void share(std::string_view flag, double& into) {
    if (!flags_.given(flag)) return;
    const Result<double> number = parse_share(flags_.value(flag));
    if (!number) return fail(flag, number.error().message);
    into = *number;
  }
  template <class Q>
  void quantity(std::string_view flag, double& into) {
    if (!flags_.given(flag)) return;
    const Result<Q> value = parse_quantity<Q>(flags_.value(flag));
    if (!value) return fail(flag, value.error().message);
    if (!(value->value() > 0)) return fail(flag, "write an amount above 0");
    into = value->value();
  }
  void text(std::string_view flag, std::string& into) {
    if (flags_.given(flag)) into = flags_.value(flag);
  }
  void list(std::string_view flag, std::vector<std::string>& into) {
    if (flags_.given(flag)) into = split(flags_.value(flag));
  }
  void formats(std::string_view flag, std::vector<Format>& into) {
    for (const std::string& part : split(flags_.value(flag))) {
      const Result<Format> format = parse_format(part);
      if (!format) return fail(flag, format.error().message);
      into.push_back(*format);
    }
  }
  template <class T, class Parse>
  void word(std::string_view flag, T& into, Parse parse) {
    if (!flags_.given(flag)) return;
    const auto value = parse(flags_.value(flag));
    if (!value) return fail(flag, value.error().message);
    into = *value;
  }
  void fail(std::string_view flag, std::string message) {
    if (status_.ok()) status_ = wrong(flag, std::move(message));
  }
  [[nodiscard]] const Status& status() const { return status_; }
  [[nodiscard]] const PlanFlags& flags() const { return flags_; }

 private:
  const PlanFlags& flags_;
  Status status_;
};

/// Vendors whose country is listed, from data/policy/vendors.toml.
Result<std::vector<std::string>> vendors_from(const std::vector<std::string>& countries, const PlanContext& context) {
  const std::string path = context.data_directory + "/policy/vendors.toml";
  const Result<std::string> text = read_file(path, 1'000'000);
  if (!text) return text.error();
  const Result<TomlNode> root = parse_toml(*text, path);
  if (!root) return root.error();
  std::vector<std::string> found;
  std::vector<std::string> known;
  if (const TomlMember* vendors = root->find("vendor"); vendors != nullptr) {
    for (const TomlNode& vendor : vendors->value.items) {
      const TomlMember* name = vendor.find("name");
      const TomlMember* country = vendor.find("country");
      if (name == nullptr || country == nullptr) continue;
      known.push_back(country->value.text);
      if (std::find(countries.begin(), countries.end(), country->value.text) != countries.end()) {
        found.push_back(name->value.text);
      }
    }
  }
  if (!found.empty()) return found;
  std::sort(known.begin(), known.end());
  known.erase(std::unique(known.begin(), known.end()), known.end());
  std::string all;
  for (const std::string& country : known) all += (all.empty() ? "" : ", ") + country;
  return wrong("--origin", "no vendor of the catalogue is from there; there are " + all);
}

Result<Buyer> buyer_of(Reader& reader, const PlanContext& context) {
  const PlanFlags& flags = reader.flags();
  Buyer buyer;
  buyer.date = context.as_of;
  if (flags.value("--devices") != "all") reader.list("--devices", buyer.devices);
  reader.list("--vendors", buyer.vendors);
  reader.list("--avoid-vendors", buyer.avoid_vendors);
  reader.text("--destination", buyer.destination);
  reader.text("--region", buyer.region);
  reader.quantity<Dollars>("--budget", buyer.budget_usd);
  reader.quantity<Watts>("--power", buyer.power_w);
  reader.quantity<Watts>("--max-rack", buyer.rack_w);
  reader.share("--vendor-share", buyer.vendor_share);
  reader.word("--purchase", buyer.purchase, parse_purchase);
  buyer.air_cooled = flags.given("--air-cooled");
  buyer.measured = flags.given("--measured");
  buyer.announced = flags.given("--announced");
  if (flags.given("--own")) {
    if (flags.given("--rent")) reader.fail("--own", "say either --own or --rent");
    buyer.purchase = Purchase::own;
  }
  for (const std::string& part : split(flags.value("--fleet"))) {
    const std::size_t colon = part.find(':');
    const Result<double> number =
        colon == std::string::npos ? Result<double>(Error{}) : parse_count(std::string_view(part).substr(colon + 1));
    if (!number || *number < 1) {
      reader.fail("--fleet", "write devices and how many there are: h100-sxm:64,a100-sxm-80:32");
      break;
    }
    buyer.fleet.push_back({part.substr(0, colon), static_cast<int>(*number)});
  }
  if (flags.given("--origin")) {
    const auto vendors = vendors_from(split(flags.value("--origin")), context);
    if (!vendors) return vendors.error();
    buyer.vendors.insert(buyer.vendors.end(), vendors->begin(), vendors->end());
  }
  return buyer;
}

}  // namespace

Result<ServingGoal> serving_goal(const PlanFlags& flags, const PlanContext& context) {
  Reader reader(flags);
  ServingGoal goal;
  if (!flags.given("--model")) return wrong("--model", "say what to serve, for example --model llama3.3-70b");
  reader.text("--model", goal.model);
  reader.text("--engine", goal.engine);
  goal.request_rate = 0;
  reader.count("--request-rate", goal.request_rate, 1e-6, 1e9);
  goal.isl = kUsualIsl;
  goal.osl = kUsualOsl;
  reader.count("--isl", goal.isl, 1, 1e8);
  reader.count("--osl", goal.osl, 1, 1e8);
  reader.share("--prefix-hit", goal.prefix_hit);
  reader.share("--load", goal.load);
  reader.quantity<Seconds>("--ttft", goal.ttft_s);
  reader.quantity<Seconds>("--tpot", goal.tpot_s);
  reader.quantity<Seconds>("--e2e", goal.e2e_s);
  reader.formats("--precision", goal.precisions);
  reader.formats("--kv-precision", goal.kv);
  reader.whole("--tp", goal.tp, 1, 1024);
  reader.whole("--pp", goal.pp, 1, 1024);
  goal.mixed_pools = flags.given("--mixed-pools");
  goal.speculate = !flags.given("--no-speculation");
  reader.word("--objective", goal.objective, parse_objective);
  Result<Buyer> buyer = buyer_of(reader, context);
  if (!buyer) return buyer.error();
  goal.buyer = *std::move(buyer);
  reader.whole("--gpus", goal.buyer.gpus, 1, 1 << 20);
  if (!reader.status()) return reader.status().error();
  if (goal.ttft_s == 0 && goal.tpot_s == 0 && goal.e2e_s == 0) {
    // Without any limit the cheapest plan lets requests wait for minutes, which nobody means.
    goal.ttft_s = kUsualTtft;
    goal.tpot_s = kUsualTpot;
    goal.assumed_limits = true;
  }
  return goal;
}

Result<TrainingGoal> training_goal(const PlanFlags& flags, const PlanContext& context) {
  Reader reader(flags);
  TrainingGoal goal;
  if (!flags.given("--model")) return wrong("--model", "say what to train, for example --model llama3.1-70b");
  reader.text("--model", goal.model);
  reader.text("--engine", goal.engine);
  reader.count("--tokens", goal.tokens, 1, 1e18);
  reader.count("--days", goal.days, 1e-3, 1e5);
  reader.whole("--seq-length", goal.sequence, 1, 1 << 24);
  reader.whole("--global-batch", goal.global_batch, 1, 1 << 24);
  reader.word("--task", goal.task, parse_training_task);
  reader.share("--goodput", goal.goodput);
  reader.formats("--precision", goal.precisions);
  reader.whole("--tp", goal.tp, 1, 1024);
  reader.whole("--pp", goal.pp, 1, 1024);
  reader.whole("--vp", goal.vp, 1, 1024);
  reader.whole("--cp", goal.cp, 1, 1024);
  reader.whole("--ep", goal.ep, 1, 1024);
  reader.whole("--micro-batch", goal.micro_batch, 1, 65536);
  reader.word("--sharding", goal.sharding, parse_sharding);
  if (flags.given("--space")) {
    if (flags.value("--space") != "usual" && flags.value("--space") != "full") {
      return wrong("--space", "usual or full");
    }
    goal.full_space = flags.value("--space") == "full";
  }
  goal.objective = goal.tokens > 0 ? Objective::cost : Objective::time;
  reader.word("--objective", goal.objective, parse_objective);
  for (const std::string& part : split(flags.value("--gpus"))) {
    const Result<double> number = parse_count(part);
    if (!number || *number < 1 || *number > 1 << 20 || *number != std::floor(*number)) {
      return wrong("--gpus", "whole numbers of devices: 512 or 512,1024");
    }
    goal.gpus.push_back(static_cast<int>(*number));
  }
  Result<Buyer> buyer = buyer_of(reader, context);
  if (!buyer) return buyer.error();
  goal.buyer = *std::move(buyer);
  if (!reader.status()) return reader.status().error();
  return goal;
}

}  // namespace ridge::cli
