// From the flags of `ridge plan` to goals.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "app/cli/estimate_flags.hpp"
#include "app/cli/plan_flags.hpp"
#include "app/cli/wrong.hpp"
#include "ridge/letters.hpp"
#include "ridge/limits.hpp"
#include "ridge/text.hpp"
#include "ridge/usual.hpp"
#include "search/policy.hpp"

namespace ridge::cli {

namespace {

constexpr std::size_t kTrafficLimit = 1'000'000;  ///< bytes

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
    if (flags_.given(flag)) into = split_words(flags_.value(flag), ',');
  }
  void formats(std::string_view flag, std::vector<Format>& into) {
    for (const std::string& part : split_words(flags_.value(flag), ',')) {
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
  /// --power-cap: "500W,600W", "none", "search".
  void caps(std::vector<double>& watts, bool& search) {
    search = flags_.value("--power-cap") == "search";
    if (search) return;
    for (const std::string& part : split_words(flags_.value("--power-cap"), ',')) {
      const Result<Watts> cap = part == "none" ? Result<Watts>(Watts(0)) : parse_quantity<Watts>(part);
      if (!cap || (part != "none" && !(cap->value() > 0))) {
        return fail("--power-cap", "write watts of a device, none, or search: 500W,600W");
      }
      watts.push_back(cap->value());
    }
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

bool holds(const std::vector<std::string>& list, std::string_view word) {
  const auto same = [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); };
  return std::any_of(list.begin(), list.end(), [&](const std::string& one) {
    return std::equal(one.begin(), one.end(), word.begin(), word.end(), same);
  });
}

Result<Buyer> buyer_of(Reader& reader, const PlanContext& context) {
  const PlanFlags& flags = reader.flags();
  Buyer buyer;
  buyer.date = context.prices_as_of;
  buyer.software_date = context.software_as_of;
  if (flags.value("--devices") != "all") reader.list("--devices", buyer.devices);
  reader.list("--vendors", buyer.vendors);
  reader.list("--avoid-vendors", buyer.avoid_vendors);
  reader.text("--region", buyer.region);
  reader.quantity<Dollars>("--budget", buyer.budget_usd);
  reader.quantity<Watts>("--power", buyer.power_w);
  reader.quantity<Watts>("--max-rack", buyer.rack_w);
  reader.share("--vendor-share", buyer.vendor_share);
  reader.word("--purchase", buyer.purchase, parse_purchase);
  buyer.air_cooled = flags.given("--air-cooled");
  buyer.price_spread = flags.given("--price-spread");
  buyer.measured = flags.given("--measured");
  buyer.announced = flags.given("--announced");
  if (flags.given("--own")) {
    if (flags.given("--rent")) reader.fail("--own", "say either --own or --rent");
    buyer.purchase = Purchase::own;
  }
  for (const std::string& part : split_words(flags.value("--fleet"), ',')) {
    const std::size_t colon = part.find(':');
    const Result<double> number =
        colon == std::string::npos ? Result<double>(Error{}) : parse_count(std::string_view(part).substr(colon + 1));
    if (!number || *number < 1) {
      reader.fail("--fleet", "write devices and how many there are: h100-sxm:64,a100-sxm-80:32");
      break;
    }
    buyer.fleet.push_back({part.substr(0, colon), static_cast<int>(*number)});
  }
  if (!flags.given("--origin") && !flags.given("--destination")) return buyer;
  const Result<search::Policy> policy = search::load_policy(context.data_directory + "/policy");
  if (!policy) return policy.error();
  if (flags.given("--origin")) {
    const auto vendors = policy->vendors_from(split_words(flags.value("--origin"), ','));
    if (!vendors) return vendors.error();
    // Both lists must allow a vendor.
    if (buyer.vendors.empty()) {
      buyer.vendors = *vendors;
    } else {
      std::erase_if(buyer.vendors, [&](const std::string& one) { return !holds(*vendors, one); });
      if (buyer.vendors.empty()) return wrong("--origin", "none of --vendors is from there");
    }
  }
  if (flags.given("--destination")) {
    const Result<search::Destination> to = policy->destination(flags.value("--destination"));
    if (!to) return to.error();
    buyer.destination = to->name;
    buyer.export_licence = to->export_licence;
    buyer.licence_free = policy->licence_free_vendors();
  }
  return buyer;
}

/// Single requests: a plan is sized for a rate of them.
Result<Workload> workload_of(const std::string& name, const PlanContext& context) {
  Result<Workload> workload = Error{};
  if (name.ends_with(".toml")) {
    const Result<std::string> text = context.files.read(name, kTrafficLimit);
    if (!text) return text.error();
    workload = parse_workload(*text, name);
  } else {
    workload = find_workload(context.data_directory + "/workloads", name);
  }
  if (workload && workload->mean_turns() > 1) {
    return wrong("--workload", "is of conversations: `ridge simulate` plays them; a plan takes single requests");
  }
  return workload;
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
  goal.isl = usual::kInputTokens;
  goal.osl = usual::kOutputTokens;
  reader.count("--isl", goal.isl, 1, limits::kRequestTokens.most);
  reader.count("--osl", goal.osl, 1, limits::kRequestTokens.most);
  if (flags.given("--workload")) {
    for (const char* other : {"--isl", "--osl", "--prefix-hit"}) {
      if (flags.given(other)) return wrong(other, "--workload says how long requests are: leave out one of the two");
    }
    Result<Workload> workload = workload_of(flags.value("--workload"), context);
    if (!workload) return workload.error();
    goal.isl = workload->mean_input();
    goal.osl = std::max(1.0, workload->mean_output());
    goal.workload = *std::move(workload);
  }
  reader.share("--prefix-hit", goal.prefix_hit);
  reader.share("--confidence", goal.confidence);
  if (flags.given("--load")) {
    reader.share("--load", goal.load);
    goal.load_at_most = goal.load;
  }
  if (flags.given("--max-load")) {
    if (flags.given("--load")) return wrong("--max-load", "say either --load or --max-load");
    reader.share("--max-load", goal.load_at_most);
  }
  reader.word("--peak", goal.peak, parse_peak);
  reader.word("--spares", goal.spares, parse_spares);
  reader.whole("--rolling", goal.spares.rolling, 1, 1000);
  reader.quantity<Seconds>("--cold-start", goal.cold_start_s);
  if (flags.given("--traffic")) {
    if (flags.given("--peak")) return wrong("--peak", "--traffic has its own");
    Result<std::string> text = context.files.read(flags.value("--traffic"), kTrafficLimit);
    if (!text) return text.error();
    Result<TrafficShape> shape = parse_traffic(*std::move(text), flags.value("--traffic"));
    if (!shape) return shape.error();
    goal.peak = shape->peak();
    if (!flags.given("--request-rate") && shape->mean_rate > 0) goal.request_rate = shape->mean_rate;
    goal.traffic = *std::move(shape);
    reader.share("--growth", goal.growth);
  } else if (flags.given("--growth")) {
    return wrong("--growth", "goes with --traffic FILE");
  } else if (flags.given("--cold-start") && !flags.given("--rolling")) {
    return wrong("--cold-start", "goes with --traffic FILE or --rolling N");
  }
  reader.quantity<Seconds>("--ttft", goal.ttft_s);
  reader.quantity<Seconds>("--tpot", goal.tpot_s);
  reader.quantity<Seconds>("--e2e", goal.e2e_s);
  reader.formats("--precision", goal.precisions);
  reader.formats("--kv-precision", goal.kv);
  reader.whole("--tp", goal.tp, 1, 1024);
  reader.whole("--pp", goal.pp, 1, 1024);
  reader.caps(goal.power_caps, goal.search_caps);
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
    goal.ttft_s = usual::kTtft;
    goal.tpot_s = usual::kTpot;
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
  reader.share("--confidence", goal.confidence);
  reader.formats("--precision", goal.precisions);
  reader.whole("--tp", goal.tp, 1, 1024);
  reader.whole("--pp", goal.pp, 1, 1024);
  reader.whole("--vp", goal.vp, 1, 1024);
  reader.whole("--cp", goal.cp, 1, 1024);
  reader.whole("--ep", goal.ep, 1, 1024);
  reader.whole("--micro-batch", goal.micro_batch, 1, 65536);
  reader.word("--sharding", goal.sharding, parse_sharding);
  reader.caps(goal.power_caps, goal.search_caps);
  if (flags.given("--space")) {
    if (flags.value("--space") != "usual" && flags.value("--space") != "full") {
      return wrong("--space", "usual or full");
    }
    goal.full_space = flags.value("--space") == "full";
  }
  goal.objective = goal.tokens > 0 ? Objective::cost : Objective::time;
  reader.word("--objective", goal.objective, parse_objective);
  for (const std::string& part : split_words(flags.value("--gpus"), ',')) {
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
