// Work shared out between devices: two vendors where one may not have all of it; prompts on one device, tokens on
// another.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "base/parallel.hpp"
#include "perf/inference/resolved.hpp"
#include "ridge/base/text.hpp"
#include "ridge/perf/pools.hpp"
#include "ridge/serve/simulation.hpp"
#include "search/buyer/sentences.hpp"
#include "search/problems/serving_problem.hpp"
#include "search/serving/filling.hpp"

namespace ridge::search {

namespace {

constexpr std::size_t kDevicesSplit = 6;
/// Prompts of equal length at random times keep a server busy 60 % of the time with a mean wait of 3/4 of one prompt
/// (M/D/1: u / 2(1 - u)).
constexpr double kPrefillUse = 0.6;
constexpr double kPrefillWait = 1.75;
constexpr int kMostSteps = 16;
constexpr int kFewEngines = 4;    ///< more are not tried at less than half of what the means ask for
constexpr int kMostDecoders = 4;  ///< engines for tokens that are simulated; more of them are as many parts
constexpr int kMostWhole = 12;    ///< pairs of no more engines for tokens are shown as all of them do
constexpr double kFewestOfPools = 2000;

/// The engines of a pair, or so many in nearly the same proportion, and their share of the rate.
struct Part {
  int prefill = 1, decode = 1;
  double share = 1;
};
Part part_of(int prefill, int decode) {
  if (decode <= kMostDecoders) return {prefill, decode, 1};
  Part best;
  double nearest = std::numeric_limits<double>::infinity();
  for (int n = kMostDecoders; n >= 1; --n) {
    const double share = 1.0 * n / decode;
    const int beside = std::max(1, static_cast<int>(std::lround(prefill * share)));
    const double off = std::abs(std::log(beside / (prefill * share)));
    if (off < nearest - 0.01) {
      nearest = off;
      best = {beside, n, share};
    }
  }
  return best;
}

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
    verdict.nearest_goal = {{"vendor_share", "100%"}};
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

/// Engines of one kind for one of the two phases, and what they cost.
struct Pool {
  ServingPool pool;
  double usd_per_gpu_hour = 0;
  double slowness = 1;
  double ttft_slowness = 1;
  double kv_bytes = 0;          ///< of one request
  double link_bytes_per_s = 0;  ///< out of one engine
  double use = 0;               ///< of what its engines can do, by the means
  [[nodiscard]] double usd_per_hour() const { return pool.engines * pool.query.gpus * usd_per_gpu_hour; }
};

/// Of pools that cost the same, the one with most to spare.
void cheaper(std::optional<Pool>& best, Pool pool) {
  const double dollars = pool.usd_per_hour();
  if (!best || dollars < best->usd_per_hour() || (dollars == best->usd_per_hour() && pool.use < best->use)) {
    best = std::move(pool);
  }
}

class Splitter {
 public:
  Splitter(const ServingQuest& quest, const Knowledge& knowledge) : quest_(quest), knowledge_(knowledge) {}

  /// Groups that come earlier win ties.
  void consider(const std::vector<std::size_t>& groups) {
    std::vector<Pairs> found(groups.size());
    parallel_for(groups.size(), 0, [&](std::size_t i) { found[i] = pairs_of(groups[i]); });
    for (Pairs& mine : found) {
      if (const Pair* own = cheapest(mine, false)) own_.push_back(*own);
      // Engines hand caches over between devices of one maker; others have to be asked for.
      for (auto& [format, one] : mine) {
        Pair& pair = pairs_[quest_.goal.mixed_pools ? "" : one.vendor][format];
        if (one.prefill) cheaper(pair.prefill, *std::move(one.prefill));
        if (one.decode) cheaper(pair.decode, *std::move(one.decode));
      }
    }
  }

  /// The cheapest pair, once simulated requests hold the limits.
  std::optional<Alternative> best() {
    std::vector<const Pair*> whole;
    for (const auto& [vendor, pairs] : pairs_) {
      if (const Pair* pair = cheapest(pairs, false)) whole.push_back(pair);
    }
    std::vector<Alternative> found = confirmed(whole);
    if (found.empty()) return {};
    return std::move(found.front());
  }

  /// The same of each device by itself too, cheapest first.
  std::vector<Alternative> all() {
    std::vector<const Pair*> whole;
    for (const Pair& pair : own_) whole.push_back(&pair);
    for (const auto& [vendor, pairs] : pairs_) {
      if (const Pair* pair = cheapest(pairs, true)) whole.push_back(pair);
    }
    return confirmed(whole);
  }

 private:
  static constexpr double kStepTokens = 8192;
  static constexpr double kUsualNic = 12.5e9;  ///< bytes/s of a device where nothing is said
  struct Pair {
    std::optional<Pool> prefill, decode;
    std::string vendor;
  };
  /// By the format of the cache, which both pools have to share: one reads what the other writes.
  using Pairs = std::map<Format, Pair>;

  /// Null if there is none; only of two devices if `mixed`.
  [[nodiscard]] static const Pair* cheapest(const Pairs& pairs, bool mixed) {
    const Pair* best = nullptr;
    const auto dollars = [](const Pair& p) { return p.prefill->usd_per_hour() + p.decode->usd_per_hour(); };
    for (const auto& [format, pair] : pairs) {
      if (!pair.prefill || !pair.decode) continue;
      if (mixed && pair.prefill->pool.query.device == pair.decode->pool.query.device) continue;
      if (best == nullptr || dollars(pair) < dollars(*best)) best = &pair;
    }
    return best;
  }

  /// Of one device.
  [[nodiscard]] Pairs pairs_of(std::size_t group) const {
    Pairs pairs;
    const ServingGroupSpec& spec = quest_.problem->spec(group);
    if (std::isnan(spec.usd_per_gpu_hour) || spec.owned_gpus > 0) return pairs;
    const auto device = knowledge_.catalogue.find_device(spec.device);
    if (!device) return pairs;
    const double nic = device->nic_per_direction ? device->nic_per_direction->value.value() : kUsualNic;
    for (const InferenceQuery& query : spec.deployments) {
      if (quest_.goal.patience.over()) return pairs;
      if (query.pp > 1 || query.max_batched_tokens != kStepTokens) continue;
      Pair& pair = pairs[query.kv.value_or(Format::bf16)];
      pair.vendor = device->vendor;
      // One engine alone, which is the least, may cost as much as what was found already.
      const double least = query.gpus * spec.usd_per_gpu_hour;
      const auto may_win = [&](const std::optional<Pool>& best) { return !best || least < best->usd_per_hour(); };
      const bool prompts = query.load.draft_tokens <= 0 && may_win(pair.prefill);
      const bool tokens = may_win(pair.decode);
      if (!prompts && !tokens) continue;
      const auto deployment = resolve(query, knowledge_);
      if (!deployment) continue;
      const Pool start{.pool = {.query = query, .facts = deployment->facts},
                       .usd_per_gpu_hour = spec.usd_per_gpu_hour,
                       .slowness = spec.slowness,
                       .ttft_slowness = spec.ttft_slowness,
                       .kv_bytes = query.tp * perf::kv_bytes(*deployment->resolved, quest_.goal.isl),
                       .link_bytes_per_s = nic * query.gpus};
      if (prompts) prefill(start, *deployment->resolved, pair.prefill);
      if (tokens) decode(start, *deployment->resolved, pair.decode);
    }
    return pairs;
  }

  std::vector<Alternative> confirmed(const std::vector<const Pair*>& whole) const {
    std::vector<std::optional<Alternative>> tried(whole.size());
    parallel_for(whole.size(), 0, [&](std::size_t i) { tried[i] = confirmed(*whole[i]->prefill, *whole[i]->decode); });
    std::vector<Alternative> found;
    for (std::optional<Alternative>& one : tried) {
      if (one) found.push_back(*std::move(one));
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const Alternative& a, const Alternative& b) { return *a.usd_per_hour < *b.usd_per_hour; });
    return found;
  }

  /// The fewest engines of a pair with which simulated requests hold the limits: more until they do, then fewer of
  /// each.
  std::optional<Alternative> confirmed(Pool prefill, Pool decode) const {
    const ServingGoal& goal = quest_.goal;
    SimulationQuery q;
    q.deployment = decode.pool.query;
    q.deployment.max_sequences = std::ceil(decode.pool.concurrency / std::max(1, q.deployment.dp));
    q.workload = goal.requests();
    q.load.kind = OfferedKind::rate;
    // As slow as either may be with the probability asked for (src/search/serving/confirm.cpp).
    const double slowness = std::max(prefill.slowness, decode.slowness);
    q.policies.disaggregation = Disaggregation{};
    q.policies.disaggregation->prefill = prefill.pool.query;
    q.policies.disaggregation->link_bytes_per_s = prefill.link_bytes_per_s;
    const auto played = [&](const Part& part, double slower) {
      q.replicas = part.decode;
      q.policies.disaggregation->prefill_engines = part.prefill;
      q.load.rate = goal.peak_rate() * slower * part.share;
      q.requests = requests_to_fill(part.decode * decode.pool.concurrency, kFewestOfPools);
      q.limits = {goal.ttft_s / slower, goal.tpot_s / slower, goal.e2e_s / slower, 0.95};
      PatientObserver observer(goal.patience);
      return simulate(q, knowledge_, &observer);
    };
    const auto broken_in = [&](const Result<SimulationResult>& r) -> std::string {
      return !r || goal.patience.over() ? "time" : r->overloaded ? "overload" : broken_limit(*r, q.limits);
    };
    const auto broken_with = [&](int prompts, int tokens) {
      return broken_in(played(part_of(prompts, tokens), slowness));
    };
    int& prompts = prefill.pool.engines;
    int& tokens = decode.pool.engines;
    std::string broken;
    const auto grow = [&] {
      if (broken != "tpot") prompts += 1 + prompts / 8;
      if (broken != "ttft") tokens += 1 + tokens / 8;
    };
    for (int step = 0; step < kMostSteps; ++step) {
      if (!affordable(prefill, decode)) return {};  // more engines never cost less
      broken = broken_with(prompts, tokens);
      if (broken.empty() || broken == "time") break;
      grow();
    }
    if (!broken.empty()) return {};
    const auto fewer = [&](int& engines, const auto& holds) {
      for (int low = engines > kFewEngines ? engines / 2 : 0; engines - low > 1 + engines / 16;) {
        const int between = low + (engines - low) / 2;
        if (holds(between)) {
          engines = between;
        } else {
          low = between;
        }
      }
    };
    fewer(tokens, [&](int n) { return broken_with(prompts, n).empty(); });
    fewer(prompts, [&](int n) { return broken_with(n, tokens).empty(); });
    // As it is shown: as `ridge simulate` plays it where there are not too many engines.
    for (int step = 0; step < kMostSteps && affordable(prefill, decode); ++step) {
      const Part shown = tokens <= kMostWhole ? Part{prompts, tokens, 1} : part_of(prompts, tokens);
      const auto predicted = played(shown, 1);
      broken = broken_in(predicted);
      if (broken == "time") return {};
      if (broken.empty() || slowness < 1) {
        return alternative(prefill, decode, *predicted, std::round(q.requests / shown.share));
      }
      grow();
    }
    return {};
  }

  /// Within the devices and the money that there are.
  [[nodiscard]] bool affordable(const Pool& prefill, const Pool& decode) const {
    constexpr double kHoursOfAYear = 8760;
    const Buyer& buyer = quest_.goal.buyer;
    const int gpus = prefill.pool.engines * prefill.pool.query.gpus + decode.pool.engines * decode.pool.query.gpus;
    if (buyer.gpus > 0 && gpus > buyer.gpus) return false;
    return buyer.budget_usd <= 0 ||
           (prefill.usd_per_hour() + decode.usd_per_hour()) * kHoursOfAYear <= buyer.budget_usd;
  }

  /// An engine of data-parallel ranks takes a prompt on each of them at once.
  void prefill(Pool pool, const ResolvedInference& resolved, std::optional<Pool>& best) const {
    const ServingGoal& goal = quest_.goal;
    InferenceLoad load = quest_.problem->load();
    load.mode = LoadMode::prefill;
    load.batch = pool.pool.concurrency = std::max(1, pool.pool.query.dp);
    const InferenceOutcome o = evaluate(resolved, load);
    if (o.reason != Reason::none) return;
    const double moved = pool.kv_bytes / pool.link_bytes_per_s;
    if (goal.ttft_s > 0 && o.estimate.prefill_s.mid * pool.ttft_slowness * kPrefillWait + moved > goal.ttft_s) return;
    // Caches leave while the next prompts are worked on.
    const double each = std::max(queued_prompt_s(resolved, load, o.estimate.prefill_s.mid) * pool.slowness, moved);
    const double busy = goal.peak_rate() * each / kPrefillUse;
    pool.pool.engines = static_cast<int>(std::ceil(busy));
    pool.use = busy / pool.pool.engines;
    cheaper(best, std::move(pool));
  }

  void decode(Pool pool, const ResolvedInference& resolved, std::optional<Pool>& best) const {
    const ServingGoal& goal = quest_.goal;
    InferenceLoad load = quest_.problem->load_of(pool.pool.query);
    load.prefix_hit = 1 - 1 / std::max(2.0, goal.isl);  // the cache comes filled: one token is left of the prompt
    const std::vector<double>& all = ServingProblem::concurrencies();
    const auto at = [&](std::size_t i) {
      load.concurrency = all[i];
      return evaluate(resolved, load);
    };
    const auto holds = [&](const InferenceOutcome& o) {
      return o.reason == Reason::none && (goal.tpot_s <= 0 || o.estimate.tpot_s.mid * pool.slowness <= goal.tpot_s);
    };
    if (!holds(at(0))) return;
    std::size_t low = 0;
    std::size_t high = all.size();
    while (high - low > 1) {
      const std::size_t middle = low + (high - low) / 2;
      (holds(at(middle)) ? low : high) = middle;
    }
    const double rate = at(low).estimate.output_tokens_per_s.mid / goal.osl / pool.slowness;
    pool.pool.concurrency = all[low];
    const double busy = goal.peak_rate() / (goal.load * rate);
    pool.pool.engines = static_cast<int>(std::ceil(busy));
    pool.use = busy / pool.pool.engines;
    cheaper(best, std::move(pool));
  }

  Alternative alternative(const Pool& prefill, const Pool& decode, const SimulationResult& seen,
                          double requests) const {
    const double ttft = seen.ttft.p95();
    const double tpot = seen.tpot.p95();
    Alternative a;
    a.usd_per_hour = prefill.usd_per_hour() + decode.usd_per_hour();
    a.usd_per_million = usd_per_million_out(quest_, *a.usd_per_hour, quest_.goal.request_rate);
    a.pools = PoolPair{prefill.pool, decode.pool, prefill.kv_bytes, prefill.link_bytes_per_s, ttft, tpot, requests};
    a.text = fmt::format("prefill on {}, decode on {}: ${}/1M, TTFT {} and TPOT {} at p95", pool_text(prefill.pool),
                         pool_text(decode.pool), format_number(*a.usd_per_million), format(Seconds(ttft), 2),
                         format(Seconds(tpot), 2));
    return a;
  }

  const ServingQuest& quest_;
  const Knowledge& knowledge_;
  std::map<std::string, Pairs> pairs_;  ///< by vendor, or one for all
  std::vector<Pair> own_;               ///< of one device each
};

/// Pairs of pools on every device that has a plan or, where none has, on all: what was asked for.
void offer_pools(const ServingQuest& quest, ServingVerdict& verdict, const Knowledge& knowledge) {
  std::vector<std::size_t> groups;
  for (std::size_t g = 0; g < quest.problem->groups(); ++g) {
    const std::string& device = quest.problem->spec(g).device;
    const auto is_it = [&](const ServingPlan& p) { return p.query.device == device; };
    if (verdict.plans.empty() || std::any_of(verdict.plans.begin(), verdict.plans.end(), is_it)) groups.push_back(g);
  }
  Splitter splitter(quest, knowledge);
  splitter.consider(groups);
  for (Alternative& pair : splitter.all()) verdict.alternatives.push_back(std::move(pair));
}

}  // namespace

void share_out(const ServingQuest& quest, ServingVerdict& verdict, const Knowledge& knowledge) {
  if (quest.goal.request_rate <= 0) return;
  if (quest.goal.buyer.vendor_share < 1) mix_vendors(quest, verdict, knowledge);
  if (quest.goal.disaggregate) return offer_pools(quest, verdict, knowledge);
  if (verdict.plans.empty() || !verdict.plans.front().usd_per_hour || quest.goal.prefix_hit > 0) return;
  if (quest.goal.spares.any()) return;  // two pools have spares of their own each, which nobody has sized
  std::vector<std::size_t> groups;
  for (std::size_t i = 0; i < std::min(kDevicesSplit, verdict.plans.size()); ++i) {
    for (std::size_t g = 0; g < quest.problem->groups(); ++g) {
      if (quest.problem->spec(g).device == verdict.plans[i].query.device) groups.push_back(g);
    }
  }
  Splitter splitter(quest, knowledge);
  splitter.consider(groups);
  auto split = splitter.best();
  const double now = *verdict.plans.front().usd_per_hour;
  if (!split || !(now > 0)) return;  // beside a fleet that is there already, every other pool is dearer
  split->text += *split->usd_per_hour < now
                     ? fmt::format(", {:.0f} % cheaper than rank 1", 100 * (1 - *split->usd_per_hour / now))
                     : fmt::format(", {:.0f} % more expensive than rank 1", 100 * (*split->usd_per_hour / now - 1));
  verdict.alternatives.push_back(*std::move(split));
}

}  // namespace ridge::search
