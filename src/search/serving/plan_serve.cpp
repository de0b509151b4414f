// prepare() and judge() for serving: from a goal to deployments, and from findings to plans.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "economics/cost_answer.hpp"
#include "perf/operators/kernels.hpp"
#include "perf/operators/power.hpp"
#include "ridge/base/text.hpp"
#include "ridge/economics/cost.hpp"
#include "ridge/perf/capacity.hpp"
#include "ridge/perf/usual.hpp"
#include "ridge/search/plan.hpp"
#include "search/buyer/buyer.hpp"
#include "search/buyer/sentences.hpp"
#include "search/problems/serving_problem.hpp"

namespace ridge {

using search::ServingGroupSpec;
using search::ServingNeed;
using search::ServingObjective;
using search::ServingProblem;

namespace {

constexpr int kMostTensor = 64;
constexpr int kMostReplica = 144;  ///< devices of one replica: two racks of 72, or DeepSeek's unit for decoding
constexpr double kHoursAYear = 8760;
constexpr double kMonths = 12;
constexpr double kLeastConfidence = 0.05;
constexpr double kMostConfidence = 0.99;

/// Devices that talk fast enough to share every layer.
int widest(const Device& device) {
  const int domain = device.scale_up_domain ? device.scale_up_domain->value : 1;
  const int node = device.node_size ? device.node_size->value : 1;
  return std::min(kMostTensor, std::max({domain, node, perf::kCardsPerServer}));
}

bool heads_divide(const Model& model, int tp) {
  return std::all_of(model.groups.begin(), model.groups.end(),
                     [&](const LayerGroup& group) { return group.mixer.heads == 0 || group.mixer.heads % tp == 0; });
}

/// Ranks around shared experts: powers of two, and what fills racks of 72.
constexpr std::array kAttentionRanks = {1, 2, 4, 8, 16, 24, 32, 48, 64, 72, 96, 144};
/// What people set where a model predicts tokens ahead.
constexpr std::array kDrafts = {0.0, 1.0, 3.0};
constexpr double kUsualTokens = 8192;

/// Whether ranks around experts may stand in several scale-up domains: a fabric inside them, and kernels between.
bool spans_domains(const Device& device, const EngineMatch& engine) {
  const bool fabric =
      device.scale_up_topology == ScaleUpTopology::switched || device.scale_up_topology == ScaleUpTopology::mesh;
  return fabric && device.design.expert_dispatch && device.nic_per_direction.has_value() && engine.engine != nullptr &&
         engine.serving().dispatch_ranks > 0;
}

std::vector<InferenceQuery> deployments(const ServingGoal& goal, const Device& device, const Model& model,
                                        const Knowledge& knowledge) {
  std::vector<InferenceQuery> all;
  const bool moe = model.is_moe();
  const Format eight = eight_bit_cache(device, knowledge.catalogue);
  std::vector<Format> formats = goal.precisions;
  if (formats.empty()) {  // what is stored in FP8 is made INT8 where no kernel reads FP8
    formats = usual_formats(device, model);
    if (eight != Format::fp8) std::replace(formats.begin(), formats.end(), Format::fp8, eight);
  }
  std::vector<Format> caches = goal.kv;
  if (caches.empty()) caches = {Format::bf16, eight};
  const int most = goal.buyer.gpus > 0 ? std::min(goal.buyer.gpus, kMostReplica) : kMostReplica;
  const bool wide =
      spans_domains(device, knowledge.engines.find(goal.engine, EngineWork::inference, {}, goal.buyer.software_date));
  const double acceptance = knowledge.calibration.value("speculation.acceptance");
  const std::vector<double> caps = search::power_caps(goal.power_caps, goal.search_caps, device);
  const auto add = [&](InferenceQuery q) {
    for (const double drafts : kDrafts) {
      if (drafts > 0 && (!goal.speculate || model.mtp_layers <= 0 || q.pp > 1)) continue;
      if (drafts > 0 && q.max_batched_tokens != kUsualTokens) continue;
      q.load.draft_tokens = drafts;
      q.load.acceptance = drafts > 0 ? acceptance : 0;
      for (const double cap : caps) {
        q.power_cap = cap;
        all.push_back(q);
      }
    }
  };
  for (const Format weights : formats) {
    for (const Format kv : caches) {
      for (int tp = 1; tp <= widest(device); tp *= 2) {
        if (!heads_divide(model, tp) || (goal.tp > 0 && tp != goal.tp)) continue;
        for (const int pp : {1, 2, 4}) {
          if (goal.pp > 0 && pp != goal.pp) continue;
          for (const int dp : kAttentionRanks) {
            if (dp > 1 && !moe) break;
            if (tp * pp * dp > most || pp > model.layers() || (goal.dp > 0 && dp != goal.dp)) continue;
            const bool apart = tp * dp > widest(device);
            if (dp > 1 && apart && (!wide || tp > 1 || pp > 1)) continue;
            for (const bool experts : {false, true}) {
              if (experts ? !moe || tp * dp == 1 : moe && dp > 1) continue;
              if (goal.ep > 0 && (experts ? tp * dp : 1) != goal.ep) continue;
              for (const double tokens : {2048.0, kUsualTokens, 16384.0}) {
                if (apart && dp > 1 && tokens != kUsualTokens) continue;
                InferenceQuery q;
                q.model = goal.model;
                q.device = device.id;
                q.engine = goal.engine;
                q.date = goal.buyer.software_date;
                q.tp = tp;
                q.pp = pp;
                q.dp = dp;
                q.ep = experts ? tp * dp : 1;
                q.gpus = tp * pp * dp;
                q.weights = weights;
                q.kv = kv;
                q.max_batched_tokens = tokens;
                add(std::move(q));
              }
            }
          }
        }
      }
    }
  }
  return all;
}

InferenceLoad load_of(const ServingGoal& goal) {
  InferenceLoad load;
  load.mode = LoadMode::closed_loop;
  load.isl = goal.isl;
  load.osl = goal.osl;
  load.prefix_hit = goal.prefix_hit;
  return load;
}

/// How much slower than predicted steps and first tokens of the group have to be held.
void set_slowness(ServingGroupSpec& spec, const ServingGoal& goal, const Knowledge& knowledge) {
  if (goal.confidence == 0.5) return;
  InferenceLoad load = load_of(goal);
  load.concurrency = 1;
  ErrorSubject about = search::subject_of(knowledge, spec.device, goal.engine, goal.model);
  for (const InferenceQuery& query : spec.deployments) {
    const auto deployment = resolve(query, knowledge);
    if (!deployment) continue;
    const InferenceOutcome o = evaluate(*deployment->resolved, load);
    if (o.reason != Reason::none) continue;
    about.sure = deployment->facts.sure;
    spec.slowness = time_error(inverse(o.estimate.output_tokens_per_s), about).factor(goal.confidence);
    spec.ttft_slowness = std::max(spec.slowness, time_error(o.estimate.ttft_s, about).factor(goal.confidence));
    return;
  }
}

Status check(const ServingGoal& goal) {
  const auto wrong = [](const char* flag, const char* message) { return Error{ErrorCode::bad_input, flag, message}; };
  if (!(goal.isl >= 1) || !(goal.osl >= 1)) return wrong("⟦isl⟧", "lengths are at least one token");
  if (!(goal.request_rate >= 0)) return wrong("⟦request_rate⟧", "write a rate above 0");
  if (goal.request_rate == 0 && goal.buyer.gpus == 0) {
    return wrong("⟦request_rate⟧", "say how many requests per second to serve, or by ⟦gpus⟧ on how many devices");
  }
  if (!(goal.confidence >= kLeastConfidence && goal.confidence <= kMostConfidence)) {
    return wrong("⟦confidence⟧", "a probability between 5 % and 99 %, for example 80%");
  }
  if (!(goal.load > 0 && goal.load <= 1) || !(goal.load_at_most > 0 && goal.load_at_most <= 1))
    return wrong("⟦load⟧", "a share between 0 and 1, for example 0.8");
  if (goal.disaggregate) {
    if (goal.request_rate == 0) return wrong("⟦disaggregate⟧", "sizes pools for a rate: say ⟦request_rate⟧");
    if (goal.spares.any()) return wrong("⟦spares⟧", "are not sized for two pools: leave out ⟦disaggregate⟧");
    if (goal.prefix_hit > 0) return wrong("⟦prefix_hit⟧", "is not played on two pools: leave out ⟦disaggregate⟧");
  }
  if (!(goal.peak >= 1)) return wrong("⟦peak⟧", "the busiest time has at least the mean: write 3x");
  return {};
}

}  // namespace

Workload ServingGoal::requests() const {
  if (workload) return *workload;
  Workload equal = fixed_workload(isl, osl);
  if (prefix_hit > 0) equal.classes.front().shared_prefix = static_cast<std::uint32_t>(prefix_hit * isl);
  return equal;
}

Result<ServingQuest> prepare(const ServingGoal& asked, const Knowledge& knowledge, const EconomicsData* economics) {
  if (const Status s = check(asked); !s) return s.error();
  ServingQuest quest;
  quest.goal = asked;
  ServingGoal& goal = quest.goal;
  const auto model = knowledge.catalogue.find_model(goal.model);
  if (!model) return model.error();
  if (knowledge.catalogue.model(model->id) != nullptr) goal.model = model->id;  // looked up again for every candidate
  if (model->type != ModelType::language) {
    return Error{ErrorCode::refused, goal.model, "only language models are planned for"};
  }
  auto devices = search::candidates(goal.buyer, goal.objective, knowledge);
  if (!devices) return devices.error();
  quest.economics = economics;
  quest.excluded = std::move(devices->excluded);
  std::vector<ServingGroupSpec> groups;
  for (const Device& device : devices->devices) {
    const auto rates = perf::device_rates(device, knowledge.catalogue, knowledge.calibration);
    if (!rates) {
      quest.excluded.push_back({device.id, rates.error().message, "figures", 0, false});
      continue;
    }
    const auto price = price_of(knowledge.catalogue, device.id, goal.buyer, economics);
    ServingGroupSpec spec;
    spec.device = device.id;
    for (const Fleet& fleet : goal.buyer.fleet) {
      if (fleet.device == device.id) spec.owned_gpus = fleet.gpus;
    }
    spec.usd_per_gpu_hour = price ? price->mid : kUnknown;
    spec.most_usd_per_hour = goal.buyer.budget_usd / kHoursAYear;
    spec.most_watts = goal.buyer.power_w;
    if (economics != nullptr) {
      spec.host_watts = host_watts(knowledge.catalogue, *economics, device, goal.buyer.date);
    }
    spec.idle_watts = rates->tdp * perf::power_coefficients(knowledge.calibration, rates->architecture).idle * 0.999;
    spec.gpus_per_node = device.node_size ? device.node_size->value : perf::kCardsPerServer;
    spec.gpus_per_rack = search::rack_gpus(device, knowledge.catalogue);
    spec.deployments = deployments(goal, device, *model, knowledge);
    if (spec.deployments.empty()) {
      quest.excluded.push_back({device.id, "no layout of the model divides its heads", "layout", 0, false});
      continue;
    }
    set_slowness(spec, goal, knowledge);
    groups.push_back(std::move(spec));
    quest.prices.push_back(price);
  }
  if (groups.empty()) {
    return Error{ErrorCode::infeasible, "", "no device is left:" + search::list_of(quest.excluded)};
  }
  ServingNeed need;
  need.request_rate = goal.request_rate;
  need.peak = goal.peak;
  need.spares = goal.spares;
  need.ttft_s = goal.ttft_s;
  need.tpot_s = goal.tpot_s;
  need.e2e_s = goal.e2e_s;
  need.load = goal.load;
  need.gpus = goal.buyer.gpus;
  const ServingObjective objective = goal.request_rate == 0                ? ServingObjective::rate
                                     : goal.objective == Objective::cost   ? ServingObjective::cost
                                     : goal.objective == Objective::energy ? ServingObjective::energy
                                                                           : ServingObjective::gpus;
  quest.problem = std::make_shared<const ServingProblem>(std::move(groups), knowledge, load_of(goal), need, objective,
                                                         0, goal.patience);
  auto& a = quest.assumptions;
  if (goal.request_rate > 0) {
    a.push_back(fmt::format(
        "engine {}; the fewest replicas that meet rate and limits for 95 % of simulated requests with a probability of "
        "{:.0f} %{}",
        goal.engine, 100 * goal.confidence,
        goal.load_at_most < 1 ? fmt::format(", loaded to {:.0f} % at most", 100 * goal.load_at_most) : ""));
  } else {
    a.push_back(
        fmt::format("engine {}; replicas run at {:.0f} % (⟦load⟧) of what they can do within the limits with a "
                    "probability of {:.0f} %",
                    goal.engine, 100 * goal.load, 100 * goal.confidence));
  }
  if (goal.peak > 1 || goal.spares.any()) {
    a.push_back(fmt::format("they hold {}{}{}",
                            goal.peak > 1 ? fmt::format("at {} times the mean rate", format_number(goal.peak)) : "",
                            goal.peak > 1 && goal.spares.any() ? ", and " : "",
                            goal.spares.any() ? fmt::format("with {}", search::spares_text(goal.spares)) : ""));
  }
  if (goal.workload) a.push_back(fmt::format("requests as those of {}, simulated as they vary", goal.workload->name));
  if (goal.spares.rolling > 0) {
    a.push_back(
        fmt::format("a replica that is restarted serves again after {}", format(Seconds(goal.cold_start_s), 2)));
  }
  a.emplace_back("throughput and times per token share one error, that of a step");
  a.emplace_back("power is that of full load");
  a.push_back(search::price_assumption(goal.buyer, economics));
  if (!devices->by_letter.empty()) a.push_back(search::letter_text(devices->by_letter));
  if (goal.precisions.empty())
    a.emplace_back("weights in 16 or 8 bits, or in nvfp4 or mxfp4 where the chip computes in it");
  if (goal.assumed_limits) {
    a.push_back(fmt::format("TTFT of at most {} and TPOT of at most {}, since no limit is given",
                            format(Seconds(goal.ttft_s), 2), format(Seconds(goal.tpot_s), 2)));
  }
  if (goal.prefix_hit <= 0) a.emplace_back("no prompt is found in a prefix cache");
  if (goal.speculate && model->mtp_layers > 0) {
    a.push_back(fmt::format("plans may let the model predict tokens ahead (MTP), of which {:.0f} % are accepted",
                            100 * knowledge.calibration.value("speculation.acceptance")));
  }
  return quest;
}

namespace search {

namespace {

constexpr double kMostCounted = 2e9;  ///< far beyond what any plan has

int counted(double number) {
  return static_cast<int>(std::min(number, kMostCounted));
}

}  // namespace

ServingPlan serving_plan(const ServingQuest& quest, std::size_t group, const Scored& scored,
                         const Knowledge& knowledge) {
  const ServingProblem& problem = *quest.problem;
  const ServingPoint point = problem.point(group, scored.index);
  ServingPlan plan;
  plan.query = *point.query;
  plan.query.load = problem.load_of(*point.query);
  plan.query.load.concurrency = point.concurrency;
  plan.concurrency = point.concurrency;
  plan.index = scored.index;
  const auto deployment = resolve(plan.query, knowledge);
  if (!deployment) return plan;
  plan.facts = deployment->facts;
  plan.resembles = deployment->facts.resembles;
  const InferenceOutcome outcome = evaluate(*deployment->resolved, plan.query.load);
  if (outcome.reason != Reason::none) return plan;
  const InferenceEstimate& e = outcome.estimate;
  const ServingScore s = problem.score(problem.spec(group), plan.query.gpus, e);
  plan.replicas = counted(s.replicas);
  plan.spares = counted(s.spares);
  plan.gpus = counted(s.gpus);
  plan.rate = s.rate;
  ErrorSubject about = subject_of(knowledge, plan.query.device, plan.query.engine, plan.query.model);
  about.sure = plan.facts.sure;
  about.metric = "output_tok_s/closed-loop";
  plan.sure.step = time_error(inverse(e.output_tokens_per_s), about);
  plan.sure.first = beyond(plan.sure.step, e.ttft_s, "ttft:" + about.device + "/" + about.stack + "/" + about.model);
  rate(plan, e);
  price(plan, quest, knowledge);
  return plan;
}

void rate(ServingPlan& plan, const InferenceEstimate& e) {
  const double replicas = plan.replicas;
  plan.requests_per_s = e.output_tokens_per_s.mid / plan.query.load.osl;
  plan.output_tokens_per_s = e.output_tokens_per_s;
  plan.watts = {e.power_w.low * replicas, e.power_w.mid * replicas, e.power_w.high * replicas};
  plan.ttft_s = e.ttft_s;
  plan.tpot_s = e.tpot_s;
  plan.e2e_s = e.e2e_s;
  plan.bound = e.bound;
  plan.bound_text = fmt::format("{}, {}", spoken(e.bound), e.prefill_share > 0.5 ? "prefill" : "decode");
}

ErrorSubject subject_of(const Knowledge& knowledge, const std::string& device, const std::string& engine,
                        const std::string& model) {
  ErrorSubject about{device, "", engine, "dense"};
  if (const auto found = knowledge.catalogue.find_device(device)) about.vendor = found->vendor;
  if (const auto found = knowledge.catalogue.find_model(model)) about.model = found->is_moe() ? "moe" : "dense";
  return about;
}

double chance_by_means(const ServingGoal& goal, const ServingPlan& plan) {
  double slowest = plan.requests_per_s * (plan.replicas - plan.spares) / goal.peak_rate();
  if (goal.tpot_s > 0) slowest = std::min(slowest, goal.tpot_s / plan.tpot_s.mid);
  if (goal.e2e_s > 0) slowest = std::min(slowest, goal.e2e_s / plan.e2e_s.mid);
  const double steps = plan.sure.step.probability(slowest);
  if (goal.ttft_s <= 0) return steps;
  constexpr int kNodes = 24;
  double sum = 0;
  for (int i = 0; i < kNodes; ++i) {
    const double slowness = plan.sure.step.factor(steps * (i + 0.5) / kNodes);
    sum += plan.sure.first.probability(goal.ttft_s / (plan.ttft_s.mid * slowness));
  }
  return steps * sum / kNodes;
}

double usd_per_million_out(const ServingQuest& quest, double usd_per_hour, double request_rate) {
  const double useful = request_rate * quest.goal.osl * kept_share(quest.goal.buyer, quest.economics);
  return usd_per_million(usd_per_hour, 1, useful);
}

void price(ServingPlan& plan, const ServingQuest& quest, const Knowledge& knowledge) {
  const Buyer& buyer = quest.goal.buyer;
  DeviceUse use;
  const auto device = knowledge.catalogue.find_device(plan.query.device);
  if (device && plan.replicas > 0) {
    if (plan.watts.mid > 0) use.busy_w = plan.watts.mid / (1.0 * plan.replicas * plan.query.gpus);
    use.idle_share = perf::power_coefficients(knowledge.calibration, device->architecture).idle;
    use.utilisation = std::min(1.0, plan.load());
  }
  const auto quote = price_of(knowledge.catalogue, plan.query.device, buyer, quest.economics, use);
  double paid = plan.gpus;
  for (const Fleet& fleet : buyer.fleet) paid -= fleet.device == plan.query.device ? fleet.gpus : 0;
  paid = std::max(0.0, paid);
  plan.usd_per_gpu_hour = quote ? std::optional(quote->mid) : std::nullopt;
  plan.quote = quote;
  plan.usd_per_hour.reset();
  plan.usd_per_million.reset();
  if (!quote && paid > 0) return;
  plan.usd_per_hour = paid > 0 ? paid * quote->mid : 0;
  const double each = plan.rate > 0 ? usd_per_million_out(quest, *plan.usd_per_hour, plan.rate) : 0;
  const bool estimated = paid > 0 && quote->quotes == 0;
  plan.usd_per_million =
      usd_interval(each, plan.output_tokens_per_s,
                   estimated ? std::optional(Interval{quote->low, quote->mid, quote->high}) : std::nullopt);
}

Miss worst_miss(const ServingQuest& quest, const ServingPlan& plan, const Knowledge& knowledge) {
  const ServingGoal& goal = quest.goal;
  Miss worst;
  Changes all;
  const auto consider = [&](const char* limit, double value, double most, const std::string& text,
                            const Change& feasible) {
    if (most <= 0 || value <= most) return;
    all.push_back(feasible);
    if (value / most - 1 > worst.by) worst = {limit, text, {}, value / most - 1};
  };
  const auto time = [](double s) { return format(Seconds(s)); };
  double slow = 1;
  double slow_first = 1;
  for (std::size_t g = 0; g < quest.problem->groups(); ++g) {
    const ServingGroupSpec& spec = quest.problem->spec(g);
    if (spec.device != plan.query.device) continue;
    slow = spec.slowness;
    slow_first = spec.ttft_slowness;
  }
  const std::string sure = goal.confidence == 0.5 ? "" : fmt::format(" with {:.0f} %", 100 * goal.confidence);
  const auto limit = [&](const char* which, const char* what, double mid, double times, double most) {
    const double value = mid * times;
    consider(which, value, most, fmt::format("{} {} at best{}, limit {}", what, time(value), sure, time(most)),
             {which, compact(Seconds(value * 1.005))});
  };
  limit("ttft", "TTFT", plan.ttft_s.mid, slow_first, goal.ttft_s);
  limit("tpot", "TPOT", plan.tpot_s.mid, slow, goal.tpot_s);
  limit("e2e", "a request takes", plan.e2e_s.mid, slow, goal.e2e_s);
  if (plan.usd_per_hour) {
    const double year = *plan.usd_per_hour * kHoursAYear;
    consider("budget", year, goal.buyer.budget_usd,
             fmt::format("costs {} a year ({} a month) at least, budget {}", format(Dollars(year)),
                         format(Dollars(year / kMonths)), format(Dollars(goal.buyer.budget_usd))),
             {"budget", format(Dollars(year * 1.005)) + "/year"});
  }
  const auto device = knowledge.catalogue.find_device(plan.query.device);
  double watts = plan.watts.mid;
  if (device && quest.economics != nullptr) {
    watts += plan.gpus * host_watts(knowledge.catalogue, *quest.economics, *device, goal.buyer.date);
  }
  consider("power", watts, goal.buyer.power_w,
           fmt::format("draws {} with its hosts, limit {}", format(Watts(watts)), format(Watts(goal.buyer.power_w))),
           {"power", compact(Watts(watts * 1.005))});
  consider("gpus", plan.gpus, goal.buyer.gpus, fmt::format("needs {} devices, limit {}", plan.gpus, goal.buyer.gpus),
           {"gpus", std::to_string(plan.gpus)});
  const double gpus = plan.gpus < kMostCounted
                          ? plan.gpus
                          : goal.peak_rate() * slow / (goal.load * plan.requests_per_s) * plan.query.gpus;
  consider("devices", gpus, kMostDevices,
           fmt::format("needs {} devices; plans have {} at most", format_number(gpus), format_number(kMostDevices, 9)),
           {"request_rate", fmt::format("{:.0f}", 0.995 * goal.request_rate * kMostDevices / gpus)});
  worst.feasible = all;
  return worst;
}

namespace {

double price_key(const ServingPlan& plan, const ServingGoal& goal) {
  if (goal.request_rate == 0) return -plan.requests_per_s * plan.replicas;
  switch (goal.objective) {
    case Objective::cost:
      return plan.usd_per_hour.value_or(std::numeric_limits<double>::infinity());
    case Objective::energy:
      return plan.watts.mid;
    case Objective::time:
    case Objective::gpus:
      return plan.gpus;
  }
  return plan.gpus;
}

/// The first of each device, which then has not lost.
void keep_one_of_each_device(ServingVerdict& verdict) {
  std::set<std::string> devices;
  std::vector<ServingPlan> kept;
  for (ServingPlan& plan : verdict.plans) {
    if (devices.insert(plan.query.device).second) kept.push_back(std::move(plan));
  }
  verdict.plans = std::move(kept);
  std::erase_if(verdict.losers, [&](const Loser& loser) { return loser.searched && devices.contains(loser.device); });
}

/// A device whose plans came with attention ranks around shared experts, and which simulation left without any: prompts
/// that come at random hold up all ranks, which means do not show. The best plan without such ranks, and the best with
/// a few of them, stand in. True if there is one.
bool add_fewer_ranks(const ServingQuest& quest, ServingVerdict& verdict, const std::map<std::size_t, int>& ranks,
                     const Knowledge& knowledge) {
  constexpr std::pair<int, int> kRanks[] = {{1, 1}, {2, 4}, {5, 16}, {17, 32}};
  bool added = false;
  for (const auto& [group, most] : ranks) {
    const std::string& device = quest.problem->spec(group).device;
    const bool left = std::any_of(verdict.plans.begin(), verdict.plans.end(),
                                  [&](const ServingPlan& p) { return p.query.device == device; });
    if (left || quest.goal.patience.over()) continue;
    for (const auto& [least, last] : kRanks) {
      if (least >= most) break;
      const std::optional<Scored> best = quest.problem->best_of_ranks(group, least, std::min(last, most - 1));
      if (!best || best->violation > 0) continue;
      verdict.plans.push_back(serving_plan(quest, group, *best, knowledge));
      added = true;
    }
  }
  return added;
}

/// As the objective counts it: less is better, and a device that turns out slower needs more of it.
Runner runner_of(const ServingPlan& plan, const ServingGoal& goal) {
  const double key = price_key(plan, goal);
  Runner runner{key < 0 ? -1 / key : std::max(key, 1e-9), plan.sure.step, {}};
  if (goal.objective == Objective::cost && goal.request_rate > 0 && plan.quote && key > 0) {
    runner.price.effects = {{"price:" + plan.query.device, plan.quote->sigma}};
  }
  return runner;
}

void rank(ServingVerdict& verdict, const ServingGoal& goal) {
  std::vector<Runner> runners;
  for (const ServingPlan& plan : verdict.plans) runners.push_back(runner_of(plan, goal));
  verdict.ranks = rank_race(runners);
  const Race race = run_race(runners);
  verdict.regret = race.regret;
  for (std::size_t i = 0; i < verdict.plans.size(); ++i) verdict.plans[i].sure.best = race.best[i];
}

}  // namespace

}  // namespace search

ServingVerdict judge(const ServingQuest& quest, const Findings& findings, const Knowledge& knowledge,
                     std::size_t finalists) {
  return search::judged(quest, findings, knowledge, finalists, true);
}

ServingVerdict search::judged(const ServingQuest& quest, const Findings& findings, const Knowledge& knowledge,
                              std::size_t finalists, bool settle) {
  ServingVerdict verdict;
  verdict.assumptions = quest.assumptions;
  std::vector<std::pair<double, ServingPlan>> nearest;
  std::vector<ServingPlan> front, unpriced;
  std::map<std::size_t, int> ranks;  // of groups that have a plan
  for (std::size_t g = 0; g < findings.groups.size(); ++g) {
    const Harvest& harvest = findings.groups[g];
    const std::string& device = quest.problem->spec(g).device;
    if (harvest.best.empty()) {
      verdict.losers.push_back({device, "the model cannot be laid out on it", "layout", 0, true});
      continue;
    }
    const Scored& best = harvest.best.front();
    if (best.violation >= search::kDoesNotFit) {
      const double missing = (best.violation - search::kDoesNotFit) * search::kShortUnit;
      verdict.losers.push_back(
          {device,
           std::isinf(missing) ? "no layout of the model can run on it"
                               : fmt::format("does not fit: {} short on each device at best", format(Bytes(missing))),
           "memory", 0, true});
      continue;
    }
    ServingPlan plan = search::serving_plan(quest, g, best, knowledge);
    const bool priced =
        plan.usd_per_hour || (quest.goal.objective != Objective::cost && quest.goal.buyer.budget_usd <= 0);
    if (best.violation <= 0 && !priced) {
      unpriced.push_back(std::move(plan));
      continue;
    }
    if (best.violation > 0) {
      const search::Miss miss = search::worst_miss(quest, plan, knowledge);
      verdict.losers.push_back({device, miss.text, miss.limit, miss.by, true});
      // Nobody knows whether what has no price would hold a budget.
      const bool unknown = quest.goal.buyer.budget_usd > 0 && !plan.usd_per_hour;
      nearest.emplace_back(unknown ? search::kDoesNotFit : best.violation, std::move(plan));
      continue;
    }
    int& most = ranks[g];
    most = std::max(most, plan.query.dp);
    verdict.plans.push_back(std::move(plan));
    for (const Scored& s : harvest.front) {
      front.push_back(search::serving_plan(quest, g, s, knowledge));
      // As cheap and faster, but perhaps with less to spare: both are tried.
      if (s.criteria[0] == best.criteria[0] && s.index != best.index) verdict.plans.push_back(front.back());
    }
  }
  const auto by_goal = [&](const ServingPlan& a, const ServingPlan& b) {
    const double x = search::price_key(a, quest.goal);
    const double y = search::price_key(b, quest.goal);
    if (x != y) return x < y;
    return a.e2e_s.mid != b.e2e_s.mid ? a.e2e_s.mid < b.e2e_s.mid : a.index < b.index;
  };
  std::sort(verdict.plans.begin(), verdict.plans.end(), by_goal);
  // Simulation makes plans dearer, and others come before them that nobody simulated: their turn is next.
  constexpr int kRounds = 3;
  for (int round = 0; round < kRounds && !quest.goal.patience.over(); ++round) {
    search::confirm(quest, verdict, finalists, knowledge);
    std::sort(verdict.plans.begin(), verdict.plans.end(), by_goal);
  }
  std::erase_if(ranks, [](const auto& of) { return of.second <= 1; });
  if (finalists > 0 && search::add_fewer_ranks(quest, verdict, ranks, knowledge)) {
    std::sort(verdict.plans.begin(), verdict.plans.end(), by_goal);
    search::confirm(quest, verdict, finalists, knowledge);
    std::sort(verdict.plans.begin(), verdict.plans.end(), by_goal);
  }
  search::keep_one_of_each_device(verdict);
  for (ServingPlan& plan : verdict.plans) {
    if (!plan.sure.holds && quest.goal.request_rate > 0) plan.sure.holds = search::chance_by_means(quest.goal, plan);
  }
  search::rank_unpriced(quest, std::move(unpriced), finalists, verdict, knowledge);
  if (finalists > 0) search::climb(quest, verdict, knowledge);
  search::rank(verdict, quest.goal);

  // Cheapest first, a plan stays on the front if it answers faster than all before it.
  std::sort(front.begin(), front.end(), by_goal);
  double fastest = std::numeric_limits<double>::infinity();
  for (ServingPlan& plan : front) {
    if (plan.e2e_s.mid >= fastest) continue;
    fastest = plan.e2e_s.mid;
    verdict.front.push_back(std::move(plan));
  }

  std::stable_sort(nearest.begin(), nearest.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto& [violation, plan] : nearest) verdict.nearest.push_back(std::move(plan));
  if (verdict.plans.empty() && verdict.fails_first.empty() && !verdict.nearest.empty()) {
    const ServingPlan& closest = verdict.nearest.front();
    const search::Miss miss = search::worst_miss(quest, closest, knowledge);
    verdict.fails_first = fmt::format("{}: {} ({:.0f} % over)", closest.query.device, miss.text, 100 * miss.by);
    verdict.nearest_goal = miss.feasible;
    if (settle && finalists > 0) {
      const Changes met = search::met_goal(quest, closest, knowledge, finalists);
      if (!met.empty()) verdict.nearest_goal = met;
      verdict.holds_with = search::met_confidence(quest, verdict.nearest, knowledge, finalists);
      const HeldWith& held = *verdict.holds_with;
      if (held.confidence > 0) {
        verdict.fails_first += fmt::format("; the goal as asked is met with a probability of {:.0f} % at most, on {}",
                                           100 * held.confidence, held.device);
      } else if (quest.goal.request_rate > 0 && !quest.goal.patience.over()) {
        verdict.fails_first += "; the goal as asked is met with a probability below 5 %";
      }
    }
  }
  verdict.losers.insert(verdict.losers.end(), quest.excluded.begin(), quest.excluded.end());
  const bool pools_asked = quest.goal.disaggregate && !quest.goal.patience.over();
  if ((!verdict.plans.empty() || pools_asked) && finalists > 0) search::share_out(quest, verdict, knowledge);
  if (!verdict.plans.empty()) {
    if (finalists > 0) verdict.month = search::bill_of(quest, verdict.plans.front(), knowledge);
    verdict.change = search::cheapest_change(quest, verdict.plans.front(), knowledge);
    verdict.rationale = search::rationale(quest, verdict);
    if (finalists > 0) search::add_sensitivity(quest, verdict, knowledge);
  }
  return verdict;
}

std::optional<std::string> largest_model(const ServingGoal& goal, const Knowledge& knowledge,
                                         const EconomicsData* economics, const std::function<bool(double)>& go_on) {
  std::vector<std::pair<double, std::string>> models;
  for (const Model& model : knowledge.catalogue.models()) {
    if (model.type == ModelType::language) models.emplace_back(count_parameters(model).total, model.id);
  }
  std::sort(models.begin(), models.end(),
            [](const auto& a, const auto& b) { return a.first != b.first ? a.first > b.first : a.second < b.second; });
  for (std::size_t i = 0; i < models.size(); ++i) {
    if (!go_on(static_cast<double>(i) / static_cast<double>(models.size()))) return {};
    ServingGoal tried = goal;
    tried.model = models[i].second;
    const auto quest = prepare(tried, knowledge, economics);
    if (!quest) continue;
    search::SearchOptions options;
    options.observe = [&](const search::SearchState&) { return !goal.patience.over(); };
    const Findings found = search::search(*quest->problem, options).findings;
    if (goal.patience.over()) return {};
    for (std::size_t g = 0; g < found.groups.size(); ++g) {
      const auto& best = found.groups[g].best;
      const bool priced = quest->prices[g] || goal.objective != Objective::cost;
      if (!best.empty() && best.front().violation == 0 && priced) return tried.model;
    }
  }
  return {};
}

}  // namespace ridge
