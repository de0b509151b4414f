// From the flags of `ridge plan` to goals.
#include <algorithm>
#include <cctype>

#include "app/cli/plan/flags.hpp"
#include "app/cli/session/wrong.hpp"
#include "ridge/base/letters.hpp"
#include "ridge/perf/usual.hpp"
#include "ridge/serve/workload.hpp"
#include "search/buyer/policy.hpp"

namespace ridge::cli {

namespace {

constexpr std::size_t kTrafficLimit = 1'000'000;  ///< bytes

bool holds(const std::vector<std::string>& list, std::string_view word) {
  const auto same = [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); };
  return std::any_of(list.begin(), list.end(), [&](const std::string& one) {
    return std::equal(one.begin(), one.end(), word.begin(), word.end(), same);
  });
}

/// What flags alone cannot say: dates, and what the policies of countries make of names.
Status complete_buyer(const PlanFlags& flags, const PlanContext& context, Buyer& buyer) {
  buyer.date = context.prices_as_of;
  buyer.software_date = context.software_as_of;
  if (flags.given("--own")) {
    if (flags.given("--rent")) return wrong("--own", "say either --own or --rent");
    buyer.purchase = Purchase::own;
  }
  if (!flags.given("--origin") && !flags.given("--destination")) return {};
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
    buyer.dies = policy->dies();
    buyer.elsewhere = policy->rented_elsewhere(*to);
  }
  return {};
}

/// Single requests: a plan is sized for a rate of them.
Result<Workload> workload_of(const std::string& name, const PlanContext& context) {
  Result<Workload> workload = named_workload(name, context.data_directory, context.files);
  if (workload && workload->mean_turns() > 1) {
    return wrong("--workload", "is of conversations: `ridge simulate` plays them; a plan takes single requests");
  }
  return workload;
}

/// A workload says how long requests are, which flags then must not.
Status take_workload(const PlanFlags& flags, const PlanContext& context, ServingGoal& goal) {
  for (const char* other : {"--isl", "--osl", "--prefix-hit"}) {
    if (flags.given(other)) return wrong(other, "--workload says how long requests are: leave out one of the two");
  }
  Result<Workload> workload = workload_of(flags.value("--workload"), context);
  if (!workload) return workload.error();
  goal.isl = workload->mean_input();
  goal.osl = std::max(1.0, workload->mean_output());
  goal.workload = *std::move(workload);
  return {};
}

/// A day or a week of traffic has its own peak and, where the file says so, rate.
Status take_traffic(const PlanFlags& flags, const PlanContext& context, ServingGoal& goal) {
  if (flags.given("--peak")) return wrong("--peak", "--traffic has its own");
  Result<std::string> text = context.files.read(flags.value("--traffic"), kTrafficLimit);
  if (!text) return text.error();
  Result<TrafficShape> shape = parse_traffic(*std::move(text), flags.value("--traffic"));
  if (!shape) return shape.error();
  goal.peak = shape->peak();
  if (!flags.given("--request-rate") && shape->mean_rate > 0) goal.request_rate = shape->mean_rate;
  goal.traffic = *std::move(shape);
  return {};
}

}  // namespace

Result<Workload> named_workload(const std::string& name, const std::string& data_directory, const FileAccess& files) {
  if (name.ends_with(".csv") || name.ends_with(".jsonl")) {
    return wrong("--workload",
                 "is a trace, which `ridge simulate` plays: a plan takes the name or the TOML file of a workload");
  }
  if (name.ends_with(".toml") || name.find('/') != std::string::npos) {
    if (const Status s = files.may_read(name); !s) return s.error();
  }
  return find_workload(data_directory + "/workloads", name);
}

Result<ServingGoal> serving_goal(const PlanFlags& flags, const PlanContext& context) {
  ServingGoal goal;
  if (!flags.given("--model")) return wrong("--model", "say what to serve, for example --model llama3.3-70b");
  if (flags.given("--max-load") && flags.given("--load")) {
    return wrong("--max-load", "say either --load or --max-load");
  }
  goal.request_rate = 0;
  goal.isl = usual::kInputTokens;
  goal.osl = usual::kOutputTokens;
  if (const Status s = flags.read_into(goal); !s) return s.error();
  if (flags.given("--workload")) {
    if (const Status s = take_workload(flags, context, goal); !s) return s.error();
  }
  if (flags.given("--traffic")) {
    if (const Status s = take_traffic(flags, context, goal); !s) return s.error();
  } else if (flags.given("--growth")) {
    return wrong("--growth", "goes with --traffic FILE");
  } else if (flags.given("--cold-start") && !flags.given("--rolling")) {
    return wrong("--cold-start", "goes with --traffic FILE or --rolling N");
  }
  if (const Status s = complete_buyer(flags, context, goal.buyer); !s) return s.error();
  if (goal.ttft_s == 0 && goal.tpot_s == 0 && goal.e2e_s == 0) {
    // Without any limit the cheapest plan lets requests wait for minutes, which nobody means.
    goal.ttft_s = usual::kTtft;
    goal.tpot_s = usual::kTpot;
    goal.assumed_limits = true;
  }
  return goal;
}

Result<TrainingGoal> training_goal(const PlanFlags& flags, const PlanContext& context) {
  TrainingGoal goal;
  if (!flags.given("--model")) return wrong("--model", "say what to train, for example --model llama3.1-70b");
  if (flags.value("--budget").find('/') != std::string::npos) {
    return wrong("--budget", "is of the whole run: write an amount such as $2M");
  }
  if (const Status s = flags.read_into(goal); !s) return s.error();
  if (!flags.given("--engine")) goal.engine = usual_training_engine(goal.task);
  if (!flags.given("--objective")) goal.objective = goal.tokens > 0 ? Objective::cost : Objective::time;
  if (const Status s = complete_buyer(flags, context, goal.buyer); !s) return s.error();
  return goal;
}

}  // namespace ridge::cli
