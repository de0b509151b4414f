#include "search/buyer/sentences.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ridge/base/text.hpp"
#include "ridge/perf/usual.hpp"
#include "search/problems/serving_problem.hpp"

namespace ridge::search {

namespace {

constexpr double kUsualDraft = 3;
constexpr double kUsualHit = 0.5;

const ServingGroupSpec& spec_of(const ServingQuest& quest, const std::string& device) {
  for (std::size_t g = 0; g + 1 < quest.problem->groups(); ++g) {
    if (quest.problem->spec(g).device == device) return quest.problem->spec(g);
  }
  return quest.problem->spec(quest.problem->groups() - 1);
}

}  // namespace

double best_cost(const ServingQuest& quest, const InferenceQuery& query, const InferenceLoad& changed, double tpot_s,
                 double usd_per_gpu_hour, const Knowledge& knowledge) {
  double best = std::numeric_limits<double>::infinity();
  const auto deployment = resolve(query, knowledge);
  if (!deployment) return best;
  const ServingGoal& goal = quest.goal;
  const ServingGroupSpec& spec = spec_of(quest, query.device);
  for (const double concurrency : ServingProblem::concurrencies()) {
    InferenceLoad load = changed;
    load.concurrency = concurrency;
    const InferenceOutcome o = evaluate(*deployment->resolved, load);
    if (o.reason != Reason::none) continue;
    const auto late = [](double seconds, double times, double most) { return most > 0 && seconds * times > most; };
    if (late(o.estimate.ttft_s.mid, spec.ttft_slowness, goal.ttft_s) ||
        late(o.estimate.tpot_s.mid, spec.slowness, tpot_s) || late(o.estimate.e2e_s.mid, spec.slowness, goal.e2e_s)) {
      continue;
    }
    const double rate = o.estimate.output_tokens_per_s.mid / load.osl;
    const double replicas = goal.peak_rate() * spec.slowness / (goal.load * rate) +
                            goal.spares.replicas(query.gpus, spec.gpus_per_node, spec.gpus_per_rack);
    const double hour = std::max(1.0, replicas) * query.gpus * usd_per_gpu_hour;
    best = std::min(best, usd_per_million_out(quest, hour, goal.request_rate));
  }
  return best;
}

std::string spoken(Bound bound) {
  switch (bound) {
    case Bound::compute:
      return "compute";
    case Bound::memory_bandwidth:
      return "memory bandwidth";
    case Bound::scale_up:
      return "scale-up links";
    case Bound::scale_out:
      return "network";
    case Bound::latency:
      return "latency";
    case Bound::host:
      return "host time";
    case Bound::capacity:
      return "memory capacity";
  }
  return "";
}

std::string spares_text(const Spares& spares) {
  const auto replicas = [](int n) { return n == 1 ? std::string("one replica") : fmt::format("{} replicas", n); };
  std::string text;
  if (spares.count > 0) {
    text = (spares.unit == Spares::Unit::replica ? replicas(spares.count) : spares.text()) + " down";
  }
  if (spares.rolling > 0) text += (text.empty() ? "" : " and ") + replicas(spares.rolling) + " being updated";
  return text;
}

std::string degrees_text(const InferenceQuery& q, const DeploymentFacts& facts) {
  std::string text = fmt::format("TP{}", q.tp);
  if (q.pp > 1) text += fmt::format(" PP{}", q.pp);
  if (q.dp > 1) text += fmt::format(" DP{}", q.dp);
  if (q.ep > 1) text += fmt::format(" EP{}", q.ep);
  if (facts.redundant_experts > 0) text += fmt::format(" +{} experts", facts.redundant_experts);
  if (q.load.draft_tokens > 0) text += fmt::format(", MTP {:.0f}", q.load.draft_tokens);
  if (q.power_cap > 0) text += fmt::format(" at {:.0f} W", q.power_cap);
  return text;
}

std::string pool_text(const ServingPool& pool) {
  return fmt::format("{} × {} of {} ({})", pool.engines, degrees_text(pool.query, pool.facts), pool.query.device,
                     name(pool.facts.weights));
}

std::string list_of(const std::vector<Loser>& losers) {
  std::vector<std::pair<std::string, std::string>> by_reason;  // in the order of first appearance
  for (const Loser& loser : losers) {
    const auto at =
        std::find_if(by_reason.begin(), by_reason.end(), [&](const auto& r) { return r.first == loser.why; });
    if (at == by_reason.end()) {
      by_reason.emplace_back(loser.why, loser.device);
    } else {
      at->second += ", " + loser.device;
    }
  }
  std::string out;
  for (const auto& [why, devices] : by_reason) out += fmt::format("\n  {}: {}", why, devices);
  return out;
}

std::string price_assumption(const Buyer& buyer, const EconomicsData* economics) {
  if (buyer.purchase == Purchase::own) {
    return fmt::format("an hour costs what a {} pays to buy, house and run it", buyer.owner);
  }
  if (buyer.purchase == Purchase::any) {
    return fmt::format(
        "an hour costs the least of renting on demand, reserving or leasing, and owning as a {}: "
        "⟦explain⟧ says which",
        buyer.owner);
  }
  std::string text = fmt::format("rents are medians of the {} quotes of each device{}", name(buyer.purchase),
                                 buyer.region.empty() ? "" : " in " + buyer.region);
  const double kept = kept_share(buyer, economics);
  if (kept < 1) {
    text += fmt::format(", and {:.1f} % of the hours are lost to preemptions", 100 * (1 - kept));
  }
  return text;
}

std::string other_purchases(const ServingQuest& quest, const std::string& device, const Knowledge& knowledge) {
  std::string kinds;
  for (const Purchase purchase : {Purchase::on_demand, Purchase::reserved, Purchase::own}) {
    Buyer other = quest.goal.buyer;
    if (purchase == other.purchase) continue;
    other.purchase = purchase;
    if (price_of(knowledge.catalogue, device, other, quest.economics)) {
      kinds += fmt::format("{}{}", kinds.empty() ? "" : " or ", name(purchase));
    }
  }
  return kinds.empty() ? "" : fmt::format("; ⟦purchase⟧ {} has one", kinds);
}

template <class Dim>
std::string compact(Quantity<Dim> quantity) {
  std::string text = format(quantity);
  std::erase(text, ' ');
  return text;
}
template std::string compact(Seconds);
template std::string compact(Watts);

std::optional<CheapestChange> cheapest_change(const ServingQuest& quest, const ServingPlan& best,
                                              const Knowledge& knowledge) {
  const ServingGoal& goal = quest.goal;
  if (!best.usd_per_million || !best.usd_per_hour || goal.request_rate == 0 || best.gpus == 0) return {};
  const double now = best.usd_per_million->mid;
  if (!(now > 0)) return {};  // a fleet that is there already: nothing is cheaper than nothing
  if (!best.usd_per_gpu_hour) return {};
  const double rent = *best.usd_per_gpu_hour;
  std::optional<CheapestChange> found;
  const InferenceLoad& load = best.query.load;
  // By the means, with and without the change; what is shown is the share of the simulated plan's dollars.
  const double by_means = best_cost(quest, best.query, load, goal.tpot_s, rent, knowledge);
  const auto consider = [&](double cost, const std::string& text) {
    const double less = std::isfinite(by_means) ? now * (1 - cost / by_means) : now - cost;
    if (!(less > 0.01 * now) || (found && less <= found->usd_per_million)) return;
    found = CheapestChange{text, less};
  };
  if (goal.prefix_hit <= 0) {
    InferenceLoad changed = load;
    changed.prefix_hit = kUsualHit;
    consider(best_cost(quest, best.query, changed, goal.tpot_s, rent, knowledge),
             "half of the prompts' tokens found in a prefix cache");
  }
  if (load.draft_tokens <= 0) {
    InferenceLoad drafted = load;
    drafted.draft_tokens = kUsualDraft;
    drafted.acceptance = usual::kAcceptance;
    consider(best_cost(quest, best.query, drafted, goal.tpot_s, rent, knowledge),
             fmt::format("speculative decoding, {:.0f} tokens of which {:.0f} % are accepted", kUsualDraft,
                         100 * usual::kAcceptance));
  }
  if (goal.tpot_s > 0) {
    consider(best_cost(quest, best.query, load, 1.5 * goal.tpot_s, rent, knowledge),
             fmt::format("a TPOT limit of {}", format(Seconds(1.5 * goal.tpot_s))));
  }
  if (goal.buyer.purchase == Purchase::on_demand) {
    Buyer other = goal.buyer;
    other.purchase = Purchase::spot;
    if (const auto price = price_of(knowledge.catalogue, best.query.device, other, quest.economics)) {
      consider((std::isfinite(by_means) ? by_means : now) * price->mid / rent / kept_share(other, quest.economics),
               "spot capacity, if the service stands interruptions");
    }
  }
  return found;
}

namespace {

std::string superlative(const ServingGoal& goal) {
  if (goal.request_rate == 0) return "the fastest";
  return goal.objective == Objective::cost     ? "the cheapest"
         : goal.objective == Objective::energy ? "the thriftiest"
                                               : "the smallest";
}

/// "gb200-nvl72 is the cheapest with a probability of 41 %. Choosing it costs 6 % more, on average, than ..."
std::string regret_text(const std::string& device, double best, double regret, const std::string& word,
                        const std::string& costs) {
  return fmt::format(
      "{} is {} with a probability of {:.0f} %. Choosing it {} {} % more, on average, than the one that turns out "
      "best.",
      device, word, 100 * best, costs, format_number(100 * regret, 2));
}

}  // namespace

std::vector<std::string> rationale(const ServingQuest& quest, const ServingVerdict& verdict) {
  std::vector<std::string> out;
  const ServingPlan& best = verdict.plans.front();
  out.push_back(
      fmt::format("{} needs {} device{} ({} × {}): one replica takes {} requests/s within the limits, bound by {}.",
                  best.query.device, best.gpus, best.gpus == 1 ? "" : "s", best.replicas,
                  search::degrees_text(best.query, best.facts), format_number(best.requests_per_s), best.bound_text));
  if (verdict.plans.size() > 1 && best.usd_per_million) {
    const ServingPlan& second = verdict.plans[1];
    if (second.usd_per_million && best.usd_per_million->mid > 0) {
      const double more = second.usd_per_million->mid / best.usd_per_million->mid - 1;
      std::string how = second.gpus == best.gpus ? std::string("as many devices")
                                                 : fmt::format("{} device{} instead of {}", second.gpus,
                                                               second.gpus == 1 ? "" : "s", best.gpus);
      if (second.usd_per_gpu_hour && best.usd_per_gpu_hour) {
        how += fmt::format(" at {} an hour instead of {}", format(Dollars(*second.usd_per_gpu_hour)),
                           format(Dollars(*best.usd_per_gpu_hour)));
      }
      out.push_back(fmt::format("{} costs {:.0f} % more ({}).", second.query.device, 100 * more, how));
    }
  }
  if (verdict.plans.size() > 1) {
    out.push_back(regret_text(best.query.device, best.sure.best, verdict.regret, superlative(quest.goal),
                              quest.goal.objective == Objective::cost ? "costs" : "takes"));
  }
  int unmet = 0;
  for (const Loser& loser : verdict.losers) {
    // One layout of a device may fail where another of it is ranked.
    const bool ranked = std::any_of(verdict.plans.begin(), verdict.plans.end(),
                                    [&](const ServingPlan& p) { return p.query.device == loser.device; });
    unmet += loser.searched && loser.limit != "price" && !ranked ? 1 : 0;
  }
  if (unmet > 0) {
    out.push_back(fmt::format("{} of {} devices searched cannot meet the limits.", unmet,
                              unmet + static_cast<int>(verdict.plans.size())));
  }
  return out;
}

std::vector<std::string> rationale(const TrainingQuest& quest, const TrainingVerdict& verdict) {
  std::vector<std::string> out;
  const TrainingPick& best = verdict.plans.front();
  if (quest.goal.tokens <= 0 && quest.goal.buyer.budget_usd > 0 && best.usd && best.usd->mid > 0) {
    const double tokens = quest.goal.buyer.budget_usd / best.usd->mid * 1e9;
    out.push_back(fmt::format("{} buy {} billion tokens: {} days.", format(Dollars(quest.goal.buyer.budget_usd)),
                              format_number(tokens / 1e9),
                              format_number(tokens / best.estimate.tokens_per_s.mid / best.goodput / 86400)));
  }
  out.push_back(fmt::format("{} {} reach {} tokens/s at {:.0f} % MFU, bound by {}.", best.plan.gpus, best.device,
                            format_number(best.estimate.tokens_per_s.mid), 100 * best.estimate.mfu.mid,
                            spoken(best.estimate.bound)));
  if (verdict.plans.size() > 1) {
    const TrainingPick& second = verdict.plans[1];
    const bool by_cost = quest.goal.objective == Objective::cost;
    if (by_cost && second.usd && best.usd && best.usd->mid > 0) {
      out.push_back(fmt::format("{} {} cost {:.0f} % more.", second.plan.gpus, second.device,
                                100 * (second.usd->mid / best.usd->mid - 1)));
    } else {
      out.push_back(fmt::format("{} {} are {:.0f} % slower.", second.plan.gpus, second.device,
                                100 * (best.estimate.tokens_per_s.mid / second.estimate.tokens_per_s.mid - 1)));
    }
    out.push_back(regret_text(best.device, best.best, verdict.regret,
                              by_cost                                     ? "the cheapest"
                              : quest.goal.objective == Objective::energy ? "the thriftiest"
                              : quest.goal.objective == Objective::gpus   ? "the smallest"
                                                                          : "the fastest",
                              by_cost ? "costs" : "takes"));
  }
  return out;
}

}  // namespace ridge::search
