#include "rl/variants.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace ridge {

namespace {

constexpr double kWorthSaying = 0.03;  ///< of a gain
constexpr std::size_t kMostSaid = 3;
constexpr double kMoreJudges = 4;  ///< times as many sandboxes

struct RlVariant {
  Changes changes;
  RlQuery query;
};

/// The same question with the choices that were made for it, so that one change changes one thing.
std::vector<RlVariant> variants_of(const RlQuery& query, const RlAnswer& a) {
  std::vector<RlVariant> out;
  const auto add = [&](Changes changes, auto&& change_query) {
    RlQuery q = query;
    change_query(q);
    out.push_back({std::move(changes), std::move(q)});
  };
  const bool apart = query.placement != RlPlacement::colocated;
  const int balanced = a.estimate.balanced_generators;
  if (apart && balanced != a.generators) {
    add({{"generators", std::to_string(balanced)}}, [&](RlQuery& q) { q.generators = balanced; });
  }
  if (apart) {
    add({{"placement", "colocated"}}, [](RlQuery& q) {
      q.placement = RlPlacement::colocated;
      q.generators = 0;
    });
  }
  if (query.placement != RlPlacement::asynchronous && query.gpus - query.critic_gpus > 1) {
    add({{"placement", "async"}, {"staleness", "1"}, {"partial_rollouts", "true"}}, [](RlQuery& q) {
      q.placement = RlPlacement::asynchronous;
      q.staleness = 1;
      q.partial = true;
    });
  }
  if (query.placement == RlPlacement::asynchronous && !query.partial) {
    add({{"partial_rollouts", "true"}}, [](RlQuery& q) { q.partial = true; });
  }
  const int tp = a.query.generation.tp;
  for (const int other : {tp / 2, tp * 2}) {
    if (other < 1 || other > a.generators) continue;
    add({{"gen_tp", std::to_string(other)}}, [&](RlQuery& q) { q.generation.tp = other; });
  }
  if (a.generation.weights == Format::bf16) {
    add({{"gen_precision", "fp8"}}, [](RlQuery& q) { q.generation.weights = q.generation.activations = Format::fp8; });
  }
  const Verifier& judge = query.verifier;
  if (judge.seconds > 0 && judge.parallel > 0) {
    add({{"verifier_parallel", fmt::format("{:.0f}", kMoreJudges * judge.parallel)}},
        [](RlQuery& q) { q.verifier.parallel *= kMoreJudges; });
  }
  for (const int other : {query.critic_gpus / 2, query.critic_gpus * 2}) {
    if (other < 1 || other >= query.gpus) continue;
    add({{"critic_gpus", std::to_string(other)}}, [&](RlQuery& q) { q.critic_gpus = other; });
  }
  if (!query.packing) add({{"packing", "on"}}, [](RlQuery& q) { q.packing = true; });
  if (query.old_log_probs) add({{"engine_log_probs", "true"}}, [](RlQuery& q) { q.old_log_probs = false; });
  if (query.mini_batch > 0 && query.mini_batch < query.prompts) {
    add({{"mini_batch", fmt::format("{:.0f}", query.prompts)}}, [](RlQuery& q) { q.mini_batch = q.prompts; });
  }
  return out;
}

}  // namespace

namespace rl {

std::vector<Suggestion> suggestions(const RlQuery& query, const RlAnswer& answered, const Knowledge& knowledge,
                                    const Patience& patience) {
  std::vector<Suggestion> out;
  for (const RlVariant& v : variants_of(query, answered)) {
    if (patience.over()) break;
    const Result<RlAnswer> other = answer(v.query, knowledge, {.suggest = false, .patience = patience});
    if (!other || other->refusal) continue;
    const double gain = answered.estimate.step_s.mid / other->estimate.step_s.mid - 1;
    if (gain > kWorthSaying) out.push_back({marked(v.changes), gain, v.changes});
  }
  std::stable_sort(out.begin(), out.end(), [](const Suggestion& a, const Suggestion& b) { return a.gain > b.gain; });
  if (out.size() > kMostSaid) out.resize(kMostSaid);
  return out;
}

}  // namespace rl

Result<std::vector<RlAnswer>> plan_rl(const RlQuery& query, const Knowledge& knowledge, const Patience& patience) {
  std::vector<RlAnswer> found;
  std::optional<Refusal> refused;
  const auto consider = [&](const RlQuery& q) -> Result<int> {
    Result<RlAnswer> a = answer(q, knowledge, {.suggest = false, .patience = patience});
    if (!a) return a.error();
    if (a->refusal) {
      if (!refused) refused = a->refusal;
      return 0;
    }
    found.push_back(*std::move(a));
    return found.back().estimate.balanced_generators;
  };
  RlQuery q = query;
  q.placement = RlPlacement::colocated;
  q.generators = 0;
  if (const Result<int> s = consider(q); !s) return s.error();
  const int policy = query.gpus - query.critic_gpus;
  for (const RlPlacement placement : {RlPlacement::one_step_off, RlPlacement::asynchronous}) {
    if (policy < 2) break;
    q.placement = placement;
    q.partial = placement == RlPlacement::asynchronous;
    std::set<int> tried;
    // The split that is asked for, or quarters; then what balances the one tried last, until it stays.
    std::vector<int> splits = query.generators > 0 ? std::vector<int>{query.generators}
                                                   : std::vector<int>{policy / 4, policy / 2, policy * 3 / 4};
    for (std::size_t i = 0; i < splits.size() && i < 6; ++i) {
      if (splits[i] < 1 || splits[i] >= policy || !tried.insert(splits[i]).second) continue;
      q.generators = splits[i];
      const Result<int> balanced = consider(q);
      if (!balanced) return balanced.error();
      if (query.generators == 0 && *balanced > 0) splits.push_back(*balanced);
    }
  }
  if (found.empty() && refused) {
    return Error{
        ErrorCode::infeasible, "",
        fmt::format("{} cannot be trained on {} x {}: {}", query.model, query.gpus, query.device, refused->why)};
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const RlAnswer& a, const RlAnswer& b) { return a.estimate.step_s.mid < b.estimate.step_s.mid; });
  return found;
}

}  // namespace ridge
