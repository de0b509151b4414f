// prepare() and judge() for training.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "economics/cost_case.hpp"
#include "perf/training/resolved.hpp"
#include "ridge/base/text.hpp"
#include "ridge/perf/capacity.hpp"
#include "ridge/perf/training_answer.hpp"
#include "ridge/perf/usual.hpp"
#include "ridge/search/plan.hpp"
#include "search/buyer/buyer.hpp"
#include "search/buyer/sentences.hpp"
#include "search/problems/training_problem.hpp"

namespace ridge {

using search::TrainingGroupSpec;
using search::TrainingProblem;
using search::TrainingShape;

namespace {

constexpr double kSecondsADay = 86400;
constexpr double kSecondsAnHour = 3600;
constexpr int kMostGpus = 262144;
constexpr double kBestUse = 0.75;     ///< of the peak: no training run has reached more
constexpr double kPlentyOfTime = 12;  ///< more devices than that times the fewest are not tried

/// What the numbers of devices that are asked for have in common with the batch; they are to be compared at one batch.
long shares_of(const TrainingGoal& goal) {
  long shares = 1;
  for (const int gpus : goal.gpus) {
    const long both = std::lcm(shares, static_cast<long>(gpus));
    if (both <= kMostGpus) shares = both;
  }
  return shares * std::max(1, goal.micro_batch);
}

/// Devices that the batch is chosen for: the most that are asked for, or what the deadline takes of chips of 10^15
/// operations a second.
int devices_of(const TrainingGoal& goal, const Model& model) {
  if (!goal.gpus.empty()) return *std::max_element(goal.gpus.begin(), goal.gpus.end());
  if (goal.buyer.gpus > 0) return goal.buyer.gpus;
  if (!(goal.days > 0)) return 1;
  const double flops = goal.tokens * training_flops_per_token(model, goal.sequence);
  return static_cast<int>(std::min(1.0 * kMostGpus, flops / (0.4e15 * goal.days * kSecondsADay)));
}

/// 1, 2, 3, 4, 6, 8, 12, ...: what divides batches, from `least` to `most`, whole nodes beyond one.
std::vector<int> round_counts(double least, double most, int node) {
  std::vector<int> out;
  for (int power = 1; power <= kMostGpus; power *= 2) {
    for (const int count : {power, power + power / 2}) {
      if (count < least || count > most || (count > node && count % node != 0)) continue;
      if (out.empty() || out.back() < count) out.push_back(count);
    }
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

TrainingShape shape_of(const TrainingGoal& goal, const ResolvedTraining& job) {
  TrainingShape shape;
  shape.layers = static_cast<int>(job.layers);
  for (int i = 0; i < job.group_count; ++i) {
    const double heads = job.groups[static_cast<std::size_t>(i)].heads;
    if (heads > 0) shape.heads.push_back(static_cast<int>(heads));
  }
  shape.experts = job.moe ? static_cast<int>(job.experts_all) : 0;
  shape.sequence = goal.sequence;
  shape.global_batch = goal.global_batch;
  shape.inside = std::max(job.node_size, std::min(job.domain, 16));
  shape.breadth = goal.full_space ? search::Breadth::full : search::Breadth::usual;
  shape.usual_sharding = job.traits.sharding;
  shape.tp = goal.tp;
  shape.pp = goal.pp;
  shape.vp = goal.vp;
  shape.cp = goal.cp;
  shape.ep = goal.ep;
  shape.micro_batch = goal.micro_batch;
  shape.sharding = goal.sharding;
  return shape;
}

Status check(const TrainingGoal& goal) {
  const auto wrong = [](const char* flag, const char* message) { return Error{ErrorCode::bad_input, flag, message}; };
  if (goal.gpus.empty() && (goal.days <= 0 || goal.tokens <= 0) && goal.buyer.gpus <= 0) {
    return wrong("⟦gpus⟧", "say on how many devices, or by ⟦tokens⟧ how much is trained");
  }
  if (goal.days > 0 && goal.tokens <= 0) return wrong("⟦days⟧", "say by ⟦tokens⟧ how much is to be trained");
  if (!(goal.confidence >= 0.05 && goal.confidence <= 0.99)) {
    return wrong("⟦confidence⟧", "a probability between 5 % and 99 %, for example 80%");
  }
  if (!(goal.goodput >= 0 && goal.goodput <= 1)) return wrong("⟦goodput⟧", "a share between 0 and 1, for example 0.9");
  return {};
}

double host_of(const TrainingQuest& quest, const Device& device, const Knowledge& knowledge) {
  if (quest.economics == nullptr) return 0;
  return host_watts(knowledge.catalogue, *quest.economics, device, quest.goal.buyer.date);
}

/// Of the time of a run: its steps and what failures cost; `failures` is the relative deviation of the latter.
LogError error_of(const TrainingGoal& goal, const TrainingJob& job, const std::string& device, double failures,
                  const Knowledge& knowledge) {
  const TrainingCoefficients& c = job.resolved->coefficients;
  ErrorSubject about = search::subject_of(knowledge, device, goal.engine, goal.model);
  about.sure = job.sure;
  about.metric = "step_time_s";
  LogError error = time_error({c.low, 1, c.high}, about);
  if (failures > 0) error.effects.push_back({"failures:" + device, failures});
  return error;
}

/// The same of the money.
LogError money_error(LogError error, const std::string& device, const std::optional<PriceQuote>& quote) {
  if (quote && quote->sigma > 0) error.effects.push_back({"price:" + device, quote->sigma});
  return error;
}

/// The evidence that the interval of a step comes from.
IntervalClass resembles(const TrainingJob& job, const Calibration& calibration) {
  const TrainingCoefficients& c = job.resolved->coefficients;
  if (const EffectRest* rest = job.sure.rest("step_time_s")) {
    const char* what = job.sure.device_rows == 0     ? "new device"
                       : job.sure.software_rows == 0 ? "new software"
                       : job.resolved->moe           ? "moe"
                                                     : "dense";
    return {"step_time_s",      what,           c.low, c.high, std::min(job.sure.device_rows, job.sure.software_rows),
            rest->median_error, rest->p90_error};
  }
  for (const IntervalClass& known : calibration.intervals()) {
    if (known.metric == "step_time_s" && known.low == c.low && known.high == c.high) return known;
  }
  return {};
}

struct Money {
  double usd_per_s = 0;  ///< of all devices of the group
  bool known = false;
};

Money money_of(const TrainingQuest& quest, std::size_t group, const std::optional<PriceQuote>& price) {
  const TrainingGoal& goal = quest.goal;
  const int gpus = quest.problem->spec(group).gpus;
  double owned = 0;
  for (const Fleet& fleet : goal.buyer.fleet) {
    if (fleet.device == quest.devices[group]) owned = fleet.gpus;
  }
  if (!price) return {0, owned >= gpus};
  return {std::max(0.0, gpus - owned) * price->mid / kSecondsAnHour, true};
}

/// Of the group's devices, or of those that draw what the estimate says: an owner pays for electricity.
std::optional<PriceQuote> price_for(const TrainingQuest& quest, std::size_t group, const TrainingEstimate& estimate,
                                    const Knowledge& knowledge) {
  const Buyer& buyer = quest.goal.buyer;
  if (buyer.purchase != Purchase::own || !(estimate.power_w.mid > 0)) return quest.prices[group];
  DeviceUse use;
  use.busy_w = estimate.power_w.mid / quest.problem->spec(group).gpus;
  return price_of(knowledge.catalogue, quest.devices[group], buyer, quest.economics, use);
}

}  // namespace

Result<TrainingQuest> prepare(const TrainingGoal& asked, const Knowledge& knowledge, const EconomicsData* economics) {
  TrainingQuest quest;
  quest.goal = asked;
  quest.economics = economics;
  TrainingGoal& goal = quest.goal;
  // Who asks what a run costs says how much is trained, not by when.
  constexpr double kUsualDays = 30;
  if (goal.tokens > 0 && goal.days <= 0 && goal.gpus.empty() && goal.buyer.gpus <= 0) {
    goal.days = kUsualDays;
    quest.assumptions.push_back(fmt::format("the run ends within {:g} days (⟦days⟧)", kUsualDays));
  }
  if (const Status s = check(goal); !s) return s.error();
  const auto model = knowledge.catalogue.find_model(goal.model);
  if (!model) return model.error();
  if (knowledge.catalogue.model(model->id) != nullptr) goal.model = model->id;  // looked up again for every candidate
  auto& a = quest.assumptions;
  if (goal.sequence == 0) {
    goal.sequence = usual_sequence(*model);
    a.push_back(fmt::format("sequences of {} tokens", format_number(goal.sequence, 7)));
  }
  if (goal.global_batch == 0) {
    constexpr double kManyTokens = 1e10;  // who tunes on more trains, with batches to match
    const TrainingTask like = goal.tokens > kManyTokens ? TrainingTask::pretrain : goal.task;
    goal.global_batch = usual_batch(goal.sequence, shares_of(goal), devices_of(goal, *model), like);
    a.push_back(fmt::format("a batch of {} sequences, {} tokens", format_number(goal.global_batch, 7),
                            format_number(static_cast<double>(goal.global_batch) * goal.sequence, 9)));
  }
  if (goal.tokens > 0 && goal.task == TrainingTask::pretrain) {
    const double critical = critical_batch_tokens(count_parameters(*model).active, goal.tokens);
    const double batch = static_cast<double>(goal.global_batch) * goal.sequence;
    a.push_back(
        fmt::format("{} the critical batch of such a run, about {} M tokens, beyond which a larger one learns "
                    "little more a step",
                    batch > critical ? "that is beyond" : "that is below", format_number(critical / 1e6, 2)));
  }
  auto devices = search::candidates(goal.buyer, goal.objective, knowledge);
  if (!devices) return devices.error();
  quest.excluded = std::move(devices->excluded);
  const double steps = goal.tokens / (static_cast<double>(goal.global_batch) * goal.sequence);
  std::vector<TrainingGroupSpec> groups;
  for (const Device& device : devices->devices) {
    const auto price = price_of(knowledge.catalogue, device.id, goal.buyer, economics);
    std::vector<std::pair<Format, double>> jobs;  // and the cap of a device
    const std::vector<Format> formats = goal.precisions.empty() ? usual_training_formats(device) : goal.precisions;
    for (const Format precision : formats) {
      for (const double cap : search::power_caps(goal.power_caps, goal.search_caps, device)) {
        jobs.emplace_back(precision, cap);
      }
    }
    bool any = false;
    std::string why = "it does not compute in the format asked for";
    for (const auto& [precision, cap] : jobs) {
      TrainingQuery query;
      query.model = goal.model;
      query.device = device.id;
      query.engine = goal.engine;
      query.date = goal.buyer.software_date;
      query.task = goal.task;
      query.precision = precision;
      query.power_cap = cap;
      query.plan.sequence = goal.sequence;
      query.plan.global_batch = goal.global_batch;
      auto resolved = resolve(query, knowledge);
      if (!resolved) {
        if (resolved.error().code == ErrorCode::refused && resolved.error().where == goal.model) {
          return resolved.error();
        }
        why = resolved.error().message;
        continue;
      }
      const auto job = std::make_shared<const TrainingJob>(std::move(*resolved));
      if (!job->resolved->format_supported) continue;
      std::vector<int> counts = goal.gpus;
      if (counts.empty()) {
        double least = 1;
        if (goal.days > 0) {
          const double flops = goal.tokens * training_flops_per_token(*model, goal.sequence);
          least = flops / (kBestUse * job->resolved->peak * goal.days * kSecondsADay);
        }
        double most = std::max(64.0, least * kPlentyOfTime);
        if (goal.buyer.gpus > 0) {
          most = goal.buyer.gpus;
          least = std::min(least, most);
          if (goal.days <= 0) least = most / 2;
        }
        counts = round_counts(least, most, job->resolved->node_size);
        if (counts.empty()) why = fmt::format("needs more than {} devices", format_number(most, 7));
      }
      for (const int gpus : counts) {
        TrainingGroupSpec spec;
        spec.job = job;
        spec.gpus = gpus;
        spec.shape = shape_of(goal, *job->resolved);
        const search::RunGoodput run =
            search::goodput_of(quest, device.id, gpus, count_parameters(*model).total, knowledge);
        const double goodput = kept_share(goal.buyer, economics) * run.share;
        LogError error = error_of(goal, *job, device.id, run.deviation, knowledge);
        if (goal.days > 0) {
          spec.limits.seconds = goal.days * kSecondsADay * goodput / steps / error.factor(goal.confidence);
        }
        if (goal.buyer.budget_usd > 0 && price && goal.tokens > 0) {
          double have = 0;
          for (const Fleet& fleet : goal.buyer.fleet) have += fleet.device == device.id ? fleet.gpus : 0;
          const double hour = std::max(0.0, gpus - have) * price->mid;
          if (hour > 0) {
            const double most = goal.buyer.budget_usd / hour * kSecondsAnHour * goodput / steps /
                                money_error(error, device.id, price).factor(goal.confidence);
            spec.limits.seconds = spec.limits.seconds > 0 ? std::min(spec.limits.seconds, most) : most;
          }
        }
        if (goal.buyer.power_w > 0) {
          spec.limits.watts = goal.buyer.power_w;
          spec.limits.host_watts = gpus * host_of(quest, device, knowledge);
        }
        groups.push_back(std::move(spec));
        quest.devices.push_back(device.id);
        quest.precisions.push_back(precision);
        quest.caps.push_back(cap);
        quest.prices.push_back(price);
        quest.goodput.push_back(goodput);
        quest.errors.push_back(std::move(error));
        any = true;
      }
    }
    if (!any) quest.excluded.push_back({device.id, why, "figures", 0, false});
  }
  if (groups.empty()) {
    return Error{ErrorCode::infeasible, "", "no device is left:" + search::list_of(quest.excluded)};
  }
  quest.problem = std::make_shared<const TrainingProblem>(std::move(groups), goal.objective == Objective::energy);
  a.push_back(fmt::format("framework {}{}", goal.engine, goal.full_space ? "" : ", in the layouts it uses by itself"));
  if (goal.objective == Objective::cost) {
    a.push_back(search::price_assumption(goal.buyer, economics));
  }
  if (!devices->by_letter.empty()) a.push_back(search::letter_text(devices->by_letter));
  if (goal.days > 0 || goal.buyer.budget_usd > 0) {
    a.push_back(fmt::format("days and budget hold with {:.0f} %", 100 * goal.confidence));
  }
  if (goal.goodput > 0) {
    a.push_back(fmt::format("{:.0f} % of the time count", 100 * goal.goodput));
  } else if (economics == nullptr || goal.tokens <= 0) {
    a.emplace_back("no time is lost to failures");
  } else {
    a.emplace_back("failures as recorded for such devices, checkpoints at Daly's interval (ridge goodput)");
  }
  return quest;
}

namespace search {

TrainingPick training_pick(const TrainingQuest& quest, std::size_t group, const Scored& scored,
                           const Knowledge& knowledge) {
  TrainingPick pick;
  pick.device = quest.devices[group];
  pick.precision = quest.precisions[group];
  pick.power_cap = quest.caps[group];
  pick.index = scored.index;
  pick.plan = quest.problem->plan(group, scored.index);
  const TrainingOutcome outcome = evaluate(*quest.problem->spec(group).job->resolved, pick.plan);
  pick.estimate = outcome.estimate;
  pick.dp = pick.plan.gpus / (pick.plan.tp * pick.plan.pp * pick.plan.cp);
  if (outcome.reason != Reason::none) return pick;
  const TrainingGoal& goal = quest.goal;
  const Interval& rate = pick.estimate.tokens_per_s;
  const double tokens = goal.tokens > 0 ? goal.tokens : 1e9;
  pick.goodput = quest.goodput[group];
  const auto seconds = [&](double per_s) { return tokens / (per_s * pick.goodput); };
  if (goal.tokens > 0) {
    pick.days =
        Interval{seconds(rate.high) / kSecondsADay, seconds(rate.mid) / kSecondsADay, seconds(rate.low) / kSecondsADay};
  }
  pick.error = quest.errors[group];
  pick.resembles = resembles(*quest.problem->spec(group).job, knowledge.calibration);
  pick.quote = price_for(quest, group, pick.estimate, knowledge);
  if (pick.days) {
    pick.days_sure = pick.days->mid * pick.error.factor(goal.confidence);
    if (goal.days > 0) pick.holds_days = pick.error.probability(goal.days / pick.days->mid);
  }
  const Money money = money_of(quest, group, pick.quote);
  if (money.known) {
    pick.usd_per_hour = money.usd_per_s * kSecondsAnHour;
    pick.usd = Interval{seconds(rate.high) * money.usd_per_s, seconds(rate.mid) * money.usd_per_s,
                        seconds(rate.low) * money.usd_per_s};
    const LogError error = money_error(pick.error, pick.device, pick.quote);
    pick.usd_sure = pick.usd->mid * error.factor(goal.confidence);
    if (goal.buyer.budget_usd > 0 && goal.tokens > 0 && pick.usd->mid > 0) {
      pick.holds_budget = error.probability(goal.buyer.budget_usd / pick.usd->mid);
    }
  }
  pick.joules_per_token = rate.mid > 0 ? pick.estimate.power_w.mid / rate.mid : 0;
  return pick;
}

namespace {

double key_of(const TrainingPick& pick, Objective objective) {
  switch (objective) {
    case Objective::cost:
      return pick.usd ? pick.usd->mid : std::numeric_limits<double>::infinity();
    case Objective::time:
      return 1 / pick.estimate.tokens_per_s.mid;
    case Objective::energy:
      return pick.joules_per_token;
    case Objective::gpus:
      return pick.plan.gpus;
  }
  return 0;
}

bool before(const TrainingPick& a, const TrainingPick& b, Objective objective) {
  const double x = key_of(a, objective);
  const double y = key_of(b, objective);
  if (x != y) return x < y;
  if (a.estimate.tokens_per_s.mid != b.estimate.tokens_per_s.mid) {
    return a.estimate.tokens_per_s.mid > b.estimate.tokens_per_s.mid;
  }
  return a.index < b.index;
}

Runner runner_of(const TrainingPick& pick, Objective objective) {
  Runner runner{std::max(key_of(pick, objective), 1e-12), pick.error, {}};
  if (objective == Objective::cost && pick.quote) runner.price.effects = {{"price:" + pick.device, pick.quote->sigma}};
  return runner;
}

void rank(TrainingVerdict& verdict, Objective objective) {
  std::vector<Runner> runners;
  for (const TrainingPick& pick : verdict.plans) runners.push_back(runner_of(pick, objective));
  verdict.ranks = rank_race(runners);
  const Race race = run_race(runners);
  verdict.regret = race.regret;
  for (std::size_t i = 0; i < verdict.plans.size(); ++i) verdict.plans[i].best = race.best[i];
}

Miss training_miss(const TrainingQuest& quest, const TrainingPick& pick, double host_watts) {
  const TrainingGoal& goal = quest.goal;
  Miss worst;
  Changes all;
  const auto consider = [&](const char* limit, double value, double most, const std::string& text,
                            const Change& feasible) {
    if (most <= 0 || value <= most) return;
    all.push_back(feasible);
    if (value / most - 1 > worst.by) worst = {limit, text, {}, value / most - 1};
  };
  const std::string sure = goal.confidence == 0.5 ? "" : fmt::format(" with {:.0f} %", 100 * goal.confidence);
  if (pick.days_sure) {
    consider("days", *pick.days_sure, goal.days,
             fmt::format("takes {} days{} at best on {} devices, limit {}", format_number(*pick.days_sure), sure,
                         pick.plan.gpus, format_number(goal.days)),
             {"days", format_number(std::ceil(*pick.days_sure), 7)});
  }
  if (pick.usd_sure && goal.tokens > 0) {
    consider("budget", *pick.usd_sure, goal.buyer.budget_usd,
             fmt::format("costs {}{} at least, budget {}", format(Dollars(*pick.usd_sure)), sure,
                         format(Dollars(goal.buyer.budget_usd))),
             {"budget", format(Dollars(*pick.usd_sure * 1.005))});
  }
  const double watts = pick.estimate.power_w.mid + pick.plan.gpus * host_watts;
  consider("power", watts, goal.buyer.power_w,
           fmt::format("draws {} with its hosts, limit {}", format(Watts(watts)), format(Watts(goal.buyer.power_w))),
           {"power", compact(Watts(watts * 1.005))});
  worst.feasible = all;
  return worst;
}

/// Time, cost and energy: nothing else is better in all.
std::vector<TrainingPick> front_of(std::vector<TrainingPick> picks) {
  const auto values = [](const TrainingPick& p) {
    return std::array{1 / p.estimate.tokens_per_s.mid, p.usd ? p.usd->mid : 0.0,
                      p.joules_per_token > 0 ? p.joules_per_token : std::numeric_limits<double>::infinity()};
  };
  std::sort(picks.begin(), picks.end(), [&](const TrainingPick& a, const TrainingPick& b) {
    return values(a) != values(b) ? values(a) < values(b) : a.index < b.index;
  });
  std::vector<TrainingPick> front;
  for (TrainingPick& pick : picks) {
    const auto mine = values(pick);
    const bool beaten = std::any_of(front.begin(), front.end(), [&](const TrainingPick& other) {
      const auto theirs = values(other);
      return theirs[0] <= mine[0] && theirs[1] <= mine[1] && theirs[2] <= mine[2];
    });
    if (!beaten) front.push_back(std::move(pick));
  }
  return front;
}

}  // namespace

}  // namespace search

TrainingVerdict judge(const TrainingQuest& quest, const Findings& findings, const Knowledge& knowledge,
                      std::size_t finalists) {
  TrainingVerdict verdict;
  verdict.assumptions = quest.assumptions;
  const Objective objective = quest.goal.objective;
  std::vector<TrainingPick> all;
  struct Closest {
    std::string device;
    double violation = std::numeric_limits<double>::infinity();
    std::size_t group = 0;
    const Scored* scored = nullptr;
    std::optional<TrainingPick> best;
    bool unpriced = false;  ///< a plan meets the goal, but nobody publishes a price
  };
  std::vector<Closest> devices;
  for (std::size_t g = 0; g < findings.groups.size(); ++g) {
    if (devices.empty() || devices.back().device != quest.devices[g]) {
      devices.push_back({quest.devices[g], std::numeric_limits<double>::infinity(), 0, nullptr, {}, false});
    }
    Closest& device = devices.back();
    const Harvest& harvest = findings.groups[g];
    if (harvest.best.empty()) continue;
    const Scored& best = harvest.best.front();
    if (!money_of(quest, g, quest.prices[g]).known &&
        (objective == Objective::cost || quest.goal.buyer.budget_usd > 0)) {
      device.unpriced = true;
      continue;
    }
    if (best.violation < device.violation) {
      device.violation = best.violation;
      device.group = g;
      device.scored = &best;
    }
    if (best.violation > 0) continue;
    TrainingPick pick = search::training_pick(quest, g, best, knowledge);
    if (!device.best || search::before(pick, *device.best, objective)) device.best = pick;
    for (const Scored& s : harvest.front) all.push_back(search::training_pick(quest, g, s, knowledge));
  }
  std::vector<std::pair<double, TrainingPick>> nearest;
  std::vector<search::Miss> misses;
  for (Closest& device : devices) {
    if (device.best) {
      verdict.plans.push_back(*std::move(device.best));
      continue;
    }
    if (device.unpriced) {
      verdict.losers.push_back(
          {device.device, fmt::format("no {} price is published", name(quest.goal.buyer.purchase)), "price", 0, true});
    } else if (device.scored == nullptr) {
      verdict.losers.push_back(
          {device.device, "the devices cannot be laid out for this batch and model", "layout", 0, true});
    } else if (device.violation >= search::kDoesNotFit) {
      const double missing = (device.violation - search::kDoesNotFit) * search::kShortUnit;
      verdict.losers.push_back({device.device,
                                fmt::format("does not fit: {} short on each device at best", format(Bytes(missing))),
                                "memory", 0, true});
    } else {
      TrainingPick pick = search::training_pick(quest, device.group, *device.scored, knowledge);
      const auto found = knowledge.catalogue.find_device(device.device);
      const double hosts = found ? host_of(quest, *found, knowledge) : 0;
      const search::Miss miss = search::training_miss(quest, pick, hosts);
      verdict.losers.push_back({device.device, miss.text, miss.limit, miss.by, true});
      if (nearest.empty() || device.violation < nearest.front().first) {
        verdict.fails_first =
            fmt::format("{}: {} ({:.0f} % over) on {}", miss.limit, miss.text, 100 * miss.by, device.device);
        if (pick.holds_days) {
          verdict.fails_first +=
              fmt::format("; {} days hold with {:.0f} %", format_number(quest.goal.days), 100 * *pick.holds_days);
        }
        if (pick.holds_budget)
          verdict.fails_first += fmt::format("; the budget with {:.0f} %", 100 * *pick.holds_budget);
        verdict.nearest_goal = miss.feasible;
        nearest.insert(nearest.begin(), {device.violation, std::move(pick)});
      } else {
        nearest.emplace_back(device.violation, std::move(pick));
      }
    }
  }
  for (auto& [violation, pick] : nearest) verdict.nearest.push_back(std::move(pick));
  if (!verdict.plans.empty()) {
    verdict.fails_first.clear();
    verdict.nearest_goal.clear();
  }
  std::sort(verdict.plans.begin(), verdict.plans.end(),
            [&](const TrainingPick& x, const TrainingPick& y) { return search::before(x, y, objective); });
  search::confirm(quest, verdict, finalists, knowledge);
  search::rank(verdict, objective);
  verdict.front = search::front_of(std::move(all));
  verdict.losers.insert(verdict.losers.end(), quest.excluded.begin(), quest.excluded.end());
  if (!verdict.plans.empty()) {
    verdict.rationale = search::rationale(quest, verdict);
    const std::string low = search::low_use_text(quest, verdict.plans.front(), knowledge);
    if (!low.empty()) verdict.rationale.push_back(low);
  }
  return verdict;
}

}  // namespace ridge
