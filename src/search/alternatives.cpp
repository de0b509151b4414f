// Work shared out between devices: two vendors where one may not have all of it; prompts on one device, tokens on
// another.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ridge/simulation.hpp"
#include "ridge/text.hpp"
#include "search/sentences.hpp"
#include "search/serving_problem.hpp"

namespace ridge::search {

namespace {

constexpr std::size_t kDevicesSplit = 6;
/// Prompts of equal length at random times keep a server busy 60 % of the time with a mean wait of 3/4 of one prompt
/// (M/D/1: u / 2(1 - u)).
constexpr double kPrefillUse = 0.6;
constexpr double kPrefillWait = 1.75;
constexpr int kMostSteps = 16;

std::string vendor_of(const Knowledge& knowledge, const std::string& device) {
  const auto found = knowledge.catalogue.find_device(device);
  return found ? found->vendor : "";
}

void mix_vendors(const ServingQuest& quest, ServingVerdict& verdict, const Knowledge& knowledge) {
  const ServingGoal& goal = quest.goal;
  const ServingPlan& first = verdict.plans.front();
  const std::string vendor = vendor_of(knowledge, first.query.device);
  const auto second = std::find_if(verdict.plans.begin(), verdict.plans.end(), [&](const ServingPlan& p) {
    return vendor_of(knowledge, p.query.device) != vendor;
  });
  if (second == verdict.plans.end()) {
    verdict.fails_first = fmt::format("vendor-share: only devices of {} meet the limits, and it may have {:.0f} %",
                                      vendor, 100 * goal.buyer.vendor_share);
    verdict.nearest_goal = "--vendor-share 100%";
    verdict.nearest = {first};
    verdict.plans.clear();
    verdict.ranks.clear();
    verdict.front.clear();
    return;
  }
  const double share = std::max(goal.buyer.vendor_share, 0.5);
  const auto part = [](const ServingPlan& plan, double of) { return std::ceil(plan.replicas * of - 1e-9); };
  const double here = part(first, share);
  const double there = part(*second, 1 - share);
  Alternative mix;
  mix.text = fmt::format("{:.0f} % of the requests on {:.0f} {} and the rest on {:.0f} {}, so that no vendor has more",
                         100 * share, here * first.query.gpus, first.query.device, there * second->query.gpus,
                         second->query.device);
  if (first.usd_per_hour && second->usd_per_hour && first.replicas > 0 && second->replicas > 0) {
    mix.usd_per_hour = *first.usd_per_hour / first.replicas * here + *second->usd_per_hour / second->replicas * there;
    mix.usd_per_million = usd_per_million_out(quest, *mix.usd_per_hour, goal.request_rate);
    mix.text += fmt::format(": ${}/1M", format_number(*mix.usd_per_million));
  }
  verdict.alternatives.push_back(std::move(mix));
}

/// Engines of one kind for one of the two phases.
struct Pool {
  InferenceQuery query;
  double usd_per_gpu_hour = 0;
  double slowness = 1;
  double concurrency = 1;
  int engines = 0;
  [[nodiscard]] double usd_per_hour() const { return engines * query.gpus * usd_per_gpu_hour; }
};

void cheaper(std::optional<Pool>& best, Pool pool) {
  if (!best || pool.usd_per_hour() < best->usd_per_hour()) best = std::move(pool);
}

class Splitter {
 public:
  Splitter(const ServingQuest& quest, const Knowledge& knowledge) : quest_(quest), knowledge_(knowledge) {}

  void consider(std::size_t group) {
    const ServingGroupSpec& spec = quest_.problem->spec(group);
    if (std::isnan(spec.usd_per_gpu_hour) || spec.owned_gpus > 0) return;
    for (const InferenceQuery& query : spec.deployments) {
      if (quest_.goal.patience.over()) return;
      if (query.pp > 1 || query.max_batched_tokens != kStepTokens) continue;
      const auto deployment = resolve(query, knowledge_);
      if (!deployment) continue;
      prefill(query, *deployment->resolved, spec);
      decode(query, *deployment->resolved, spec);
    }
  }

  /// The cheapest pair, once simulated requests hold the limits.
  std::optional<Alternative> best() {
    if (!prefill_ || !decode_) return {};
    const ServingGoal& goal = quest_.goal;
    SimulationQuery q;
    q.deployment = decode_->query;
    q.deployment.max_sequences = decode_->concurrency;
    q.workload = fixed_workload(goal.isl, goal.osl);
    q.load.kind = OfferedKind::rate;
    // As slow as either may be with the probability asked for (src/search/confirm.cpp).
    const double slowness = std::max(prefill_->slowness, decode_->slowness);
    q.load.rate = goal.request_rate * slowness;
    q.requests = 2000;
    q.limits = {goal.ttft_s / slowness, goal.tpot_s / slowness, goal.e2e_s / slowness, 0.95};
    q.policies.disaggregation = Disaggregation{};
    q.policies.disaggregation->prefill = prefill_->query;
    for (int step = 0; step < kMostSteps; ++step) {
      q.replicas = decode_->engines;
      q.policies.disaggregation->prefill_engines = prefill_->engines;
      PatientObserver observer(goal.patience);
      const auto result = simulate(q, knowledge_, &observer);
      if (!result || goal.patience.over()) return {};
      const std::string broken = result->overloaded ? "overload" : broken_limit(*result, q.limits);
      if (broken.empty()) {
        q.load.rate = goal.request_rate;
        const auto predicted = simulate(q, knowledge_);
        if (!predicted) return {};
        return alternative(predicted->ttft.p95(), predicted->tpot.p95());
      }
      if (broken != "tpot") prefill_->engines += 1 + prefill_->engines / 8;
      if (broken != "ttft") decode_->engines += 1 + decode_->engines / 8;
    }
    return {};
  }

 private:
  static constexpr double kStepTokens = 8192;

  void prefill(const InferenceQuery& query, const ResolvedInference& resolved, const ServingGroupSpec& spec) {
    const ServingGoal& goal = quest_.goal;
    InferenceLoad load = quest_.problem->load();
    load.mode = LoadMode::prefill;
    load.batch = 1;
    const InferenceOutcome o = evaluate(resolved, load);
    if (o.reason != Reason::none) return;
    const double seconds = o.estimate.prefill_s.mid * spec.slowness;
    if (goal.ttft_s > 0 && o.estimate.prefill_s.mid * spec.ttft_slowness * kPrefillWait > goal.ttft_s) return;
    Pool pool{query, spec.usd_per_gpu_hour, spec.slowness, 1,
              static_cast<int>(std::ceil(goal.request_rate * seconds / kPrefillUse))};
    cheaper(prefill_, std::move(pool));
  }

  void decode(const InferenceQuery& query, const ResolvedInference& resolved, const ServingGroupSpec& spec) {
    const ServingGoal& goal = quest_.goal;
    InferenceLoad load = quest_.problem->load();
    load.prefix_hit = 1 - 1 / std::max(2.0, goal.isl);  // the cache comes filled: one token is left of the prompt
    const std::vector<double>& all = ServingProblem::concurrencies();
    const auto at = [&](std::size_t i) {
      load.concurrency = all[i];
      return evaluate(resolved, load);
    };
    const auto holds = [&](const InferenceOutcome& o) {
      return o.reason == Reason::none && (goal.tpot_s <= 0 || o.estimate.tpot_s.mid * spec.slowness <= goal.tpot_s);
    };
    if (!holds(at(0))) return;
    std::size_t low = 0;
    std::size_t high = all.size();
    while (high - low > 1) {
      const std::size_t middle = low + (high - low) / 2;
      (holds(at(middle)) ? low : high) = middle;
    }
    const double rate = at(low).estimate.output_tokens_per_s.mid / goal.osl / spec.slowness;
    Pool pool{query, spec.usd_per_gpu_hour, spec.slowness, all[low],
              static_cast<int>(std::ceil(goal.request_rate / (goal.load * rate)))};
    cheaper(decode_, std::move(pool));
  }

  Alternative alternative(double ttft, double tpot) const {
    Alternative a;
    a.usd_per_hour = prefill_->usd_per_hour() + decode_->usd_per_hour();
    a.usd_per_million = usd_per_million_out(quest_, *a.usd_per_hour, quest_.goal.request_rate);
    const auto pool = [](const Pool& p) {
      return fmt::format("{} × TP{} of {} ({})", p.engines, p.query.tp, p.query.device,
                         name(p.query.weights.value_or(Format::bf16)));
    };
    a.text =
        fmt::format("prefill on {}, decode on {}: ${}/1M, TTFT {} and TPOT {} at p95", pool(*prefill_), pool(*decode_),
                    format_number(*a.usd_per_million), format(Seconds(ttft), 2), format(Seconds(tpot), 2));
    return a;
  }

  const ServingQuest& quest_;
  const Knowledge& knowledge_;
  std::optional<Pool> prefill_;
  std::optional<Pool> decode_;
};

}  // namespace

void share_out(const ServingQuest& quest, ServingVerdict& verdict, const Knowledge& knowledge) {
  if (quest.goal.request_rate <= 0) return;
  if (quest.goal.buyer.vendor_share < 1) mix_vendors(quest, verdict, knowledge);
  if (verdict.plans.empty() || !verdict.plans.front().usd_per_hour || quest.goal.prefix_hit > 0) return;
  Splitter splitter(quest, knowledge);
  for (std::size_t i = 0; i < std::min(kDevicesSplit, verdict.plans.size()); ++i) {
    for (std::size_t g = 0; g < quest.problem->groups(); ++g) {
      if (quest.problem->spec(g).device == verdict.plans[i].query.device) splitter.consider(g);
    }
  }
  auto split = splitter.best();
  const double now = *verdict.plans.front().usd_per_hour;
  if (!split || !(now > 0)) return;  // beside a fleet that is there already, every other pool is dearer
  split->text += *split->usd_per_hour < now
                     ? fmt::format(", {:.0f} % cheaper than one pool", 100 * (1 - *split->usd_per_hour / now))
                     : fmt::format(", {:.0f} % dearer than one pool", 100 * (*split->usd_per_hour / now - 1));
  verdict.alternatives.push_back(*std::move(split));
}

}  // namespace ridge::search
