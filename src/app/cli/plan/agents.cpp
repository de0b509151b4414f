#include "app/cli/plan/agents.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "app/cli/estimate/estimate.hpp"
#include "app/cli/session/wrong.hpp"
#include "report/plan/agent_plan_report.hpp"
#include "ridge/base/text.hpp"
#include "ridge/perf/usual.hpp"
#include "ridge/search/plan.hpp"
#include "ridge/serve/agent_plan.hpp"
#include "search/buyer/sentences.hpp"

namespace ridge::cli {

namespace {

constexpr int kUsualAgentRows = 12;
constexpr int kTensorDegrees[] = {1, 2, 4, 8};
constexpr std::string_view kOfSessions[] = {"--model", "--devices",  "--request-rate", "--ttft", "--tpot",
                                            "--e2e",   "--engine",   "--precision",    "--tp",   "--kv-precision",
                                            "--top",   "--workload", "--kv-tiers",     "--gpus", "--confidence"};

Status time_of(const PlanFlags& flags, std::string_view flag, double& into) {
  if (!flags.given(flag)) return {};
  const Result<Seconds> time = parse_quantity<Seconds>(flags.value(flag));
  if (!time) return wrong(flag, time.error().message);
  into = time->value();
  return {};
}

Result<AgentGoal> agent_goal(Session& session, const PlanFlags& flags) {
  for (const std::string_view flag : flags.names()) {
    const bool known = std::find(std::begin(kOfSessions), std::end(kOfSessions), flag) != std::end(kOfSessions);
    if (!known && flags.given(flag)) return wrong(flag, "is not asked where --workload is played: leave it out");
  }
  if (!flags.given("--model")) return wrong("--model", "name a model, for example --model llama3.1-70b");
  if (!flags.given("--devices") || flags.value("--devices") == "all") {
    return wrong("--devices", "name devices, for example --devices h100-sxm,h200-sxm");
  }
  if (!flags.given("--request-rate"))
    return wrong("--request-rate", "say how many turns come a second, of all sessions");
  AgentGoal goal;
  SimulationQuery& q = goal.base;
  const Result<std::string> data = session.data_directory();
  if (!data) return data.error();
  Result<Workload> workload = named_workload(flags.value("--workload"), *data, session.files());
  if (!workload) return workload.error();
  q.workload = *std::move(workload);
  q.load.kind = OfferedKind::rate;
  const Result<double> rate = flags.number("--request-rate", 0);
  if (!rate) return rate.error();
  if (*rate > 1e6) return wrong("--request-rate", "is more turns a second than are played: at most a million");
  q.load.rate = *rate;
  if (const Status s = time_of(flags, "--ttft", q.limits.ttft); !s) return s.error();
  if (const Status s = time_of(flags, "--tpot", q.limits.tpot); !s) return s.error();
  if (const Status s = time_of(flags, "--e2e", q.limits.e2e); !s) return s.error();
  if (!flags.given("--ttft") && !flags.given("--tpot") && !flags.given("--e2e")) {
    q.limits.ttft = usual::kTtft;  // as where single requests are planned
    q.limits.tpot = usual::kTpot;
  }
  q.policies.router = RouterPolicy::session_sticky;
  if (flags.given("--kv-tiers")) {
    Result<std::vector<KvTier>> tiers = parse_tiers(flags.value("--kv-tiers"));
    if (!tiers) return wrong("--kv-tiers", tiers.error().message);
    q.policies.tiers = *std::move(tiers);
  }
  InferenceQuery& d = q.deployment;
  d.model = flags.value("--model");
  d.date = session.software_date();
  if (flags.given("--engine")) d.engine = flags.value("--engine");
  for (const auto& [flag, into] : {std::pair{"--precision", &d.weights}, std::pair{"--kv-precision", &d.kv}}) {
    if (!flags.given(flag)) continue;
    const Result<Format> format = parse_format(flags.value(flag));
    if (!format) return wrong(flag, format.error().message + ": name one where --workload is played");
    *into = *format;
  }
  if (flags.given("--gpus")) {
    const Result<int> most = read_whole("--gpus", flags.value("--gpus"), 256, 1, 100'000);
    if (!most) return most.error();
    goal.most_replicas = *most;
  }
  return goal;
}

Result<double> confidence_of(const PlanFlags& flags) {
  const Result<double> share = flags.share("--confidence", ServingGoal{}.confidence);
  if (share && !(*share >= 0.05 && *share <= 0.99)) {
    return wrong("--confidence", "a probability between 5 % and 99 %, for example 80%");
  }
  return share;
}

/// How much slower than predicted the plan has to hold, as where single requests are planned.
void take_slowness(AgentGoal& goal, double confidence, const Knowledge& knowledge) {
  goal.slowness = goal.ttft_slowness = 1;
  InferenceQuery alone = goal.base.deployment;
  alone.load = {.mode = LoadMode::closed_loop,
                .isl = std::max(1.0, goal.base.workload.mean_input()),
                .osl = std::max(1.0, goal.base.workload.mean_output()),
                .concurrency = 1};
  const Result<InferenceAnswer> a = answer(alone, knowledge, {.explain = false});
  if (!a || a->refusal) return;  // said where it is planned
  ErrorSubject about = search::subject_of(knowledge, alone.device, alone.engine, alone.model);
  about.sure = a->facts.sure;
  goal.slowness = time_error(inverse(a->outcome.estimate.output_tokens_per_s), about).factor(confidence);
  goal.ttft_slowness = std::max(goal.slowness, time_error(a->outcome.estimate.ttft_s, about).factor(confidence));
}

struct AgentFormats {
  std::optional<Format> weights, kv;
};

/// What was asked for; else what single requests are planned with, narrowest first, each with a cache as narrow as the
/// device reads where the weights are narrow.
std::vector<AgentFormats> formats_for(const InferenceQuery& asked, const std::string& device,
                                      const Knowledge& knowledge) {
  if (asked.weights) return {{asked.weights, asked.kv}};
  const Result<Device> found = knowledge.catalogue.find_device(device);
  const Result<Model> model = knowledge.catalogue.find_model(asked.model);
  if (!found || !model) return {{asked.weights, asked.kv}};
  std::vector<Format> weights = usual_formats(*found, *model);
  const Format eight = eight_bit_cache(*found, knowledge.catalogue);
  if (eight != Format::fp8) std::replace(weights.begin(), weights.end(), Format::fp8, eight);
  std::stable_sort(weights.begin(), weights.end(),
                   [](Format a, Format b) { return bytes_per_weight(a) < bytes_per_weight(b); });
  std::vector<AgentFormats> all;
  for (const Format w : weights) {
    const bool narrow = bytes_per_weight(w) < bytes_per_weight(Format::bf16);
    all.push_back({w, asked.kv ? asked.kv : narrow ? std::optional(eight) : std::nullopt});
  }
  return all;
}

/// On one device, in the layout and the formats that take the fewest of it.
Result<std::vector<AgentPlan>> on_device(AgentGoal goal, const std::string& device, const PlanFlags& flags,
                                         const Knowledge& knowledge) {
  InferenceQuery& deployment = goal.base.deployment;
  deployment.device = device;
  const Result<double> confidence = confidence_of(flags);
  if (!confidence) return confidence.error();
  const int most = goal.most_replicas;
  std::vector<AgentPlan> best;
  std::optional<Error> refused;
  std::optional<AgentGoal> short_of;  // the first that runs and does not hold
  for (const AgentFormats& formats : formats_for(deployment, device, knowledge)) {
    deployment.weights = formats.weights;
    deployment.kv = formats.kv;
    for (const int tp : kTensorDegrees) {
      if (flags.given("--tp") && flags.value("--tp") != std::to_string(tp)) continue;
      // What takes as many devices as the best so far is no better.
      const int room = best.empty() ? std::max(tp, most) : best.front().gpus - 1;
      if (room < tp) break;
      deployment.tp = deployment.gpus = tp;
      goal.most_replicas = room / tp;
      take_slowness(goal, *confidence, knowledge);
      Result<std::vector<AgentPlan>> plans = plan_agents(goal, knowledge);
      if (!plans && plans.error().code != ErrorCode::infeasible) return plans;
      if (!plans) {
        if (!short_of) refused = plans.error();
      } else if (!plans->empty()) {
        best = *std::move(plans);
      } else if (best.empty() && !short_of) {
        short_of = goal;
      }
    }
  }
  if (!best.empty()) return best;
  if (short_of) {
    std::string why = fmt::format("no {} replicas of {} hold the limits with {:.0f} %", short_of->most_replicas,
                                  short_of->base.deployment.tp, 100 * *confidence);
    short_of->slowness = short_of->ttft_slowness = 1;
    const Result<std::vector<AgentPlan>> likely = plan_agents(*short_of, knowledge);
    if (likely && !likely->empty()) {
      why += fmt::format("; {} do as predicted: ⟦confidence=50%⟧, or longer limits", likely->front().replicas);
    }
    return Error{ErrorCode::infeasible, device, std::move(why)};
  }
  return refused ? *refused : wrong("--tp", "write 1, 2, 4 or 8 where --workload is played");
}

}  // namespace

Result<int> plan_agents_run(Session& session, const PlanFlags& flags) {
  if (const Status s = flags.valid_all(session); !s) return s.error();
  const Result<AgentGoal> goal = agent_goal(session, flags);
  if (!goal) return goal.error();
  const auto devices = split_list("--devices", flags.value("--devices"));
  if (!devices) return devices.error();
  const Result<int> rows = read_whole("--top", flags.value("--top"), kUsualAgentRows, 1, 1'000'000);
  if (!rows) return rows.error();
  const Result<Knowledge> knowledge = knowledge_of(session);
  if (!knowledge) return knowledge.error();
  std::vector<report::AgentPick> picks;
  std::vector<std::string> assumptions;
  std::optional<Error> refused;
  for (const std::string& device : *devices) {
    Result<std::vector<AgentPlan>> plans = on_device(*goal, device, flags, *knowledge);
    if (!plans && plans.error().code != ErrorCode::infeasible) return plans.error();
    if (!plans) {
      assumptions.push_back(fmt::format("{} is left out: {}", device, plans.error().message));
      if (!refused) refused = plans.error();
      continue;
    }
    Buyer buyer;
    buyer.date = session.price_date();
    std::optional<double> price;
    if (const auto quote = price_of(knowledge->catalogue, device, buyer, nullptr)) {
      price = quote->mid;
      assumptions.push_back(fmt::format("${} an hour of {}, the {}", format_number(quote->mid), device, quote->basis));
    }
    for (AgentPlan& p : *plans) picks.push_back({std::move(p), price});
    if (const Status s = session.in_time(); !s) return s.error();
  }
  if (picks.empty()) return *refused;
  const bool priced =
      std::all_of(picks.begin(), picks.end(), [](const auto& p) { return p.usd_per_gpu_hour.has_value(); });
  std::stable_sort(picks.begin(), picks.end(), [&](const report::AgentPick& a, const report::AgentPick& b) {
    const double x = priced ? *a.usd_per_hour() : a.plan.gpus;
    const double y = priced ? *b.usd_per_hour() : b.plan.gpus;
    return x != y ? x < y : a.plan.bytes() < b.plan.bytes();
  });
  assumptions.push_back(fmt::format(
      "{:.0f} % of the requests keep every limit with a probability of {:.0f} %; what is shown is predicted",
      100 * goal->within, 100 * *confidence_of(flags)));
  assumptions.emplace_back("a session stays with one replica; memory below the device has no price here");
  if (session.form() == Form::json) {
    session.print(report::agent_plan_json(picks, assumptions).text());
  } else if (session.form() == Form::csv) {
    session.print(to_csv(report::agent_plan_table(picks)));
  } else {
    session.print(report::agent_plan_page(picks, goal->base, assumptions, static_cast<std::size_t>(*rows)));
  }
  return kFine;
}

}  // namespace ridge::cli
