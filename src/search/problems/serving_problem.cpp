#include "search/problems/serving_problem.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "base/parallel.hpp"

namespace ridge::search {

namespace {

constexpr double kTieBreak = 1e-6;  // dollars
constexpr double kRounding = 1e-6;  // the fixed point of evaluate() is found to 1e-7
constexpr double kInfinity = std::numeric_limits<double>::infinity();

int gpus_of(const InferenceQuery& query) {
  return std::max(1, query.tp) * std::max(1, query.pp) * std::max(1, query.dp);
}

}  // namespace

const std::vector<double>& ServingProblem::concurrencies() {
  static const std::vector<double> all = [] {
    std::vector<double> values;
    double step = 1;
    for (double c = 1; c <= 32768; c += step) {
      values.push_back(c);
      if (c >= 64) step = std::floor(c / 32);
    }
    return values;
  }();
  return all;
}

const std::vector<std::uint32_t>& ServingProblem::spans() {
  static const std::vector<std::uint32_t> starts = [] {
    constexpr double kGrowth = 1.5;
    std::vector<std::uint32_t> out = {0};
    const std::vector<double>& all = concurrencies();
    for (std::uint32_t i = 1; i < all.size(); ++i) {
      if (all[i] >= kGrowth * all[out.back()]) out.push_back(i);
    }
    out.push_back(static_cast<std::uint32_t>(all.size()));
    return out;
  }();
  return starts;
}

ServingProblem::ServingProblem(std::vector<ServingGroupSpec> groups, const Knowledge& knowledge,
                               const InferenceLoad& load, const ServingNeed& need, ServingObjective objective,
                               int threads, const Patience& patience)
    : knowledge_(knowledge), load_(load), need_(need), objective_(objective) {
  load_.mode = LoadMode::closed_loop;
  std::uint64_t start = 0;
  for (ServingGroupSpec& spec : groups) {
    Group group;
    group.begin = start;
    group.floors.resize(spec.deployments.size() * (spans().size() - 1));
    start += spec.deployments.size() * concurrencies().size();
    group.spec = std::move(spec);
    groups_.push_back(std::move(group));
  }
  // To keep all deployments resolved would take gigabytes.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> all;
  for (std::uint32_t g = 0; g < groups_.size(); ++g) {
    for (std::uint32_t d = 0; d < groups_[g].spec.deployments.size(); ++d) all.emplace_back(g, d);
  }
  std::atomic<std::uint64_t> evaluations{0};
  parallel_for(all.size(), threads, [&](std::size_t i) {
    if (patience.over()) return;  // a floor of zero is a floor
    std::uint64_t mine = 0;
    set_floors(groups_[all[i].first], all[i].second, mine);
    evaluations += mine;
  });
  setup_evaluations_ = evaluations;
}

void ServingProblem::set_floors(Group& group, std::size_t deployment, std::uint64_t& evaluations) const {
  const InferenceQuery& query = group.spec.deployments[deployment];
  const std::size_t count = spans().size() - 1;
  Floor* floors = &group.floors[deployment * count];
  const auto rest = [&](std::size_t from, double violation) {
    for (std::size_t i = from; i < count; ++i) floors[i].violation = violation;
  };
  const auto resolved = resolve(query, knowledge_);
  if (!resolved) return rest(0, kInfinity);
  // Every second span is looked at; the one behind it is bounded from the same place, a little lower.
  for (std::size_t i = 0; i < count; i += 2) {
    const std::size_t first = spans()[i];
    const InferenceOutcome low = outcome(*resolved->resolved, query, first);
    ++evaluations;
    // Memory and heads do not depend on the load.
    if (low.reason != Reason::none) return rest(i, scored(group, query, 0, low).violation);
    for (std::size_t j = i; j < std::min(i + 2, count); ++j) {
      const double most = concurrencies()[spans()[j + 1] - 1];
      floors[j] = corner(group, query, concurrencies()[first], low, most);
    }
    ServingScore slow = score(group.spec, gpus_of(query), low.estimate);
    slow.gpus = slow.usd_per_hour = slow.watts = 0;
    // Too slow already: it will not become faster.
    if (const double late = violation(group.spec, slow); late > 0) return rest(i + 1, late * (1 - kRounding));
  }
}

InferenceLoad ServingProblem::load_of(const InferenceQuery& query) const {
  InferenceLoad load = load_;
  load.draft_tokens = query.load.draft_tokens;
  load.acceptance = query.load.acceptance;
  return load;
}

InferenceOutcome ServingProblem::outcome(const ResolvedInference& resolved, const InferenceQuery& query,
                                         std::size_t step) const noexcept {
  InferenceLoad load = load_of(query);
  load.concurrency = concurrencies()[step];
  return evaluate(resolved, load);
}

Range ServingProblem::range(std::size_t group) const {
  const Group& g = groups_[group];
  return {g.begin, g.begin + g.spec.deployments.size() * concurrencies().size()};
}

Range ServingProblem::range(std::size_t group, std::size_t block) const {
  const std::size_t count = spans().size() - 1;
  const std::uint64_t begin = groups_[group].begin + block / count * concurrencies().size();
  return {begin + spans()[block % count], begin + spans()[block % count + 1]};
}

Floor ServingProblem::floor(std::size_t group, std::size_t block) const noexcept {
  return groups_[group].floors[block];
}

ServingScore ServingProblem::score(const ServingGroupSpec& group, double gpus_per_replica,
                                   const InferenceEstimate& estimate) const noexcept {
  ServingScore s;
  s.requests_per_s = estimate.output_tokens_per_s.mid / std::max(1.0, load_.osl * 0.5 * (1 + load_.length_low));
  s.ttft_s = estimate.ttft_s.mid;
  s.tpot_s = estimate.tpot_s.mid;
  s.e2e_s = estimate.e2e_s.mid;
  const auto each = static_cast<int>(gpus_per_replica);
  s.spares = need_.spares.replicas(each, group.gpus_per_node, group.gpus_per_rack);
  if (need_.request_rate > 0) {
    const double busiest = need_.request_rate * need_.peak;
    s.replicas = std::ceil(busiest * group.slowness / (need_.load * s.requests_per_s) * (1 - kRounding)) + s.spares;
    s.rate = need_.request_rate;
  } else {
    s.replicas = std::floor(need_.gpus / gpus_per_replica);
    s.rate = std::max(0.0, s.replicas - s.spares) * need_.load * s.requests_per_s / (group.slowness * need_.peak);
  }
  const double unit = group.gpus_per_unit;
  s.gpus = std::ceil(std::max(1.0, s.replicas) * gpus_per_replica / unit) * unit;
  const double paid = std::max(0.0, s.gpus - group.owned_gpus);
  s.usd_per_hour = paid > 0 ? paid * group.usd_per_gpu_hour : 0;  // a fleet that is there needs no price
  s.watts = s.replicas * estimate.power_w.mid;
  return s;
}

double ServingProblem::violation(const ServingGroupSpec& group, const ServingScore& s) const noexcept {
  double worst = 0;
  const auto limit = [&](double value, double most) {
    if (most > 0) worst = std::max(worst, value / most - 1);
  };
  limit(s.ttft_s * group.ttft_slowness, need_.ttft_s);
  limit(s.tpot_s * group.slowness, need_.tpot_s);
  limit(s.e2e_s * group.slowness, need_.e2e_s);
  limit(s.watts + s.gpus * group.host_watts, group.most_watts);
  limit(s.gpus, need_.gpus);
  limit(s.gpus, kMostDevices);
  if (!std::isnan(s.usd_per_hour)) limit(s.usd_per_hour, group.most_usd_per_hour);
  return worst;
}

double ServingProblem::objective(const ServingScore& s) const noexcept {
  switch (objective_) {
    case ServingObjective::cost:
      // Of plans that cost the same (a fleet that is there), the one of fewer devices.
      return std::isnan(s.usd_per_hour) ? s.gpus : s.usd_per_hour + kTieBreak * s.gpus;
    case ServingObjective::gpus:
      return s.gpus;
    case ServingObjective::energy:
      return s.watts;
    case ServingObjective::rate:
      return -s.rate;
  }
  return s.gpus;
}

Scored ServingProblem::scored(const Group& group, const InferenceQuery& query, std::uint64_t index,
                              const InferenceOutcome& outcome) const noexcept {
  Scored scored;
  scored.index = index;
  if (outcome.reason != Reason::none) {
    scored.violation =
        outcome.reason == Reason::out_of_memory ? kDoesNotFit + outcome.short_by / kShortUnit : kInfinity;
    return scored;
  }
  const ServingScore s = score(group.spec, gpus_of(query), outcome.estimate);
  scored.violation = violation(group.spec, s);
  scored.criteria = {objective(s), s.e2e_s, 0};
  return scored;
}

Floor ServingProblem::corner(const Group& group, const InferenceQuery& query, double at, const InferenceOutcome& low,
                             double most) const noexcept {
  InferenceEstimate best = low.estimate;
  best.output_tokens_per_s.mid *= most / at * (1 + kRounding);
  best.ttft_s.mid *= 1 - kRounding;
  best.tpot_s.mid *= 1 - kRounding;
  best.e2e_s.mid *= 1 - kRounding;
  ServingScore least = score(group.spec, gpus_of(query), best);
  least.watts = least.replicas * gpus_of(query) * group.spec.idle_watts;
  Floor floor;
  floor.violation = violation(group.spec, least);
  floor.criteria = {objective(least), least.e2e_s, 0};
  return floor;
}

void ServingProblem::halve(const Group& group, const InferenceQuery& query, const ResolvedInference& resolved,
                           std::uint64_t begin, Range part, std::size_t top, Harvest& into,
                           Count& count) const noexcept {
  const std::vector<double>& all = concurrencies();
  /// What lies above `low`, up to `last`.
  struct Span {
    std::uint64_t low, last;
    InferenceOutcome outcome;
  };
  std::array<Span, 16> stack;  // a span is halved at most fifteen times
  std::size_t depth = 0;
  const auto look = [&](std::uint64_t step, std::uint64_t last) {
    ++count.evaluated;
    Span span{step, last, outcome(resolved, query, static_cast<std::size_t>(step))};
    into.add(scored(group, query, begin + step, span.outcome), top);
    if (last > step) stack[depth++] = span;
  };
  look(part.begin - begin, part.end - 1 - begin);
  while (depth > 0) {
    const Span span = stack[--depth];
    const bool runs = span.outcome.reason == Reason::none;  // memory and heads do not depend on the load
    if (!runs || hopeless(corner(group, query, all[span.low], span.outcome, all[span.last]), into, top)) {
      count.pruned += span.last - span.low;
      continue;
    }
    const std::uint64_t middle = span.low + (span.last - span.low + 1) / 2;
    look(middle, span.last);
    if (middle - 1 > span.low) stack[depth++] = {span.low, middle - 1, span.outcome};
  }
}

void ServingProblem::walk(std::size_t group, std::size_t block, Range part, bool prune, std::size_t top, Harvest& into,
                          Count& count) const noexcept {
  const Group& g = groups_[group];
  const std::size_t position = block / (spans().size() - 1);
  const InferenceQuery& query = g.spec.deployments[position];
  const std::uint64_t begin = g.begin + position * concurrencies().size();
  const auto deployment = resolve(query, knowledge_);
  if (!deployment) {
    count.evaluated += part.size();
    return;
  }
  if (prune) {
    halve(g, query, *deployment->resolved, begin, part, top, into, count);
    return;
  }
  count.evaluated += part.size();
  for (std::uint64_t i = part.begin; i < part.end; ++i) {
    into.add(scored(g, query, i, outcome(*deployment->resolved, query, static_cast<std::size_t>(i - begin))), top);
  }
}

std::optional<Scored> ServingProblem::best_of_ranks(std::size_t group, int least, int most) const {
  const Group& g = groups_[group];
  const std::size_t spans_each = spans().size() - 1;
  std::vector<std::uint32_t> mine;
  for (std::uint32_t b = 0; b < g.floors.size(); ++b) {
    const int dp = g.spec.deployments[b / spans_each].dp;
    if (dp >= least && dp <= most) mine.push_back(b);
  }
  std::sort(mine.begin(), mine.end(), [&](std::uint32_t a, std::uint32_t b) {
    const Floor& x = g.floors[a];
    const Floor& y = g.floors[b];
    if (x.violation != y.violation) return x.violation < y.violation;
    return x.criteria[0] != y.criteria[0] ? x.criteria[0] < y.criteria[0] : a < b;
  });
  Harvest harvest;
  Count count;
  for (const std::uint32_t b : mine) {
    if (!hopeless(g.floors[b], harvest, 1)) walk(group, b, range(group, b), true, 1, harvest, count);
  }
  return harvest.best.empty() ? std::nullopt : std::optional(harvest.best.front());
}

ServingPoint ServingProblem::point(std::size_t group, std::uint64_t index) const {
  const Group& g = groups_[group];
  const std::uint64_t each = concurrencies().size();
  return {&g.spec.deployments[(index - g.begin) / each], concurrencies()[(index - g.begin) % each]};
}

}  // namespace ridge::search
