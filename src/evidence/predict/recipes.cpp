#include "evidence/predict/recipes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "perf/training/resolved.hpp"
#include "ridge/base/text.hpp"
#include "search/problems/training_problem.hpp"

namespace ridge::evidence {

namespace {

std::string question_of(const TrainingQuery& q) {
  return fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{}|{}", q.model, q.device, q.engine, static_cast<int>(q.task),
                     q.precision ? name(*q.precision) : "", q.plan.gpus, q.plan.sequence, q.plan.global_batch, q.date,
                     q.scale_up_domain) +
         fmt::format("|{}|{}|{}|{}|{}|{}", q.plan.tp, q.plan.pp, q.plan.cp, q.plan.ep, q.plan.micro_batch, q.plan.vp);
}

std::string difference(const TrainingPlan& chosen, const TrainingPlan& found, const TrainingEstimate& as_chosen) {
  std::string out;
  const auto add = [&](const char* what, int theirs, int ours) {
    if (theirs != ours) out += fmt::format("{}{} {} instead of {}", out.empty() ? "" : ", ", what, ours, theirs);
  };
  add("tp", chosen.tp, found.tp);
  add("pp", chosen.pp, found.pp);
  add("vp", as_chosen.vp, found.vp);
  add("cp", chosen.cp, found.cp);
  add("ep", chosen.ep, found.ep);
  add("micro-batch", chosen.micro_batch, found.micro_batch);
  if (as_chosen.sharding != found.sharding) {
    out += fmt::format("{}{} instead of {}", out.empty() ? "" : ", ", name(found.sharding), name(as_chosen.sharding));
  }
  return out;
}

/// The parts of a step that the found plan changes by more than a hundredth of it, the largest first.
std::string phases_changed(const TrainingEstimate& chosen, const TrainingEstimate& found) {
  std::vector<std::pair<double, TrainingPhase>> changes;
  for (std::size_t i = 0; i < chosen.phases_s.size(); ++i) {
    const double change = found.phases_s[i] - chosen.phases_s[i];
    if (std::abs(change) > 0.01 * chosen.step_time_s.mid) changes.emplace_back(change, static_cast<TrainingPhase>(i));
  }
  std::sort(changes.begin(), changes.end(),
            [](const auto& a, const auto& b) { return std::abs(a.first) > std::abs(b.first); });
  std::string out;
  for (const auto& [change, phase] : changes) {
    std::string words(name(phase));
    std::replace(words.begin(), words.end(), '_', ' ');
    out += fmt::format("{}{} {}{}", out.empty() ? "" : ", ", words, change < 0 ? "-" : "+",
                       format(Seconds(std::abs(change))));
  }
  return out;
}

}  // namespace

std::vector<Recipe> compare_recipes(std::span<const Case> cases, std::span<const std::string_view> sources,
                                    const Knowledge& knowledge) {
  std::vector<Recipe> recipes;
  std::set<std::string> seen;
  for (const Case& c : cases) {
    const auto* query = std::get_if<TrainingQuery>(&c.input);
    if (query == nullptr || !c.refusal.empty()) continue;
    if (!sources.empty() && std::find(sources.begin(), sources.end(), c.source) == sources.end()) continue;
    if (!seen.insert(question_of(*query)).second) continue;
    auto resolved = resolve(*query, knowledge);
    if (!resolved) continue;
    search::TrainingGroupSpec spec;
    spec.job = std::make_shared<const TrainingJob>(std::move(*resolved));
    const ResolvedTraining& job = *spec.job->resolved;
    spec.gpus = query->plan.gpus;
    search::TrainingShape& shape = spec.shape;
    shape.layers = static_cast<int>(job.layers);
    for (int i = 0; i < job.group_count; ++i) {
      const double heads = job.groups[static_cast<std::size_t>(i)].heads;
      if (heads > 0) shape.heads.push_back(static_cast<int>(heads));
    }
    shape.experts = job.moe ? static_cast<int>(job.experts_all) : 0;
    shape.sequence = query->plan.sequence;
    shape.global_batch = query->plan.global_batch;
    // Distributed optimizer or FSDP is what the software is, not a choice among layouts.
    shape.sharding = query->plan.sharding != Sharding::unknown ? query->plan.sharding : job.traits.sharding;
    shape.inside = std::max(job.node_size, std::min(job.domain, 64));

    Recipe recipe;
    recipe.id = c.id;
    recipe.source = c.source;
    recipe.model = query->model;
    recipe.device = query->device;
    recipe.gpus = query->plan.gpus;
    recipe.proxy = c.id.find("proxy") != std::string::npos;
    recipe.precision = job.precision;
    recipe.chosen = query->plan;
    TrainingOutcome chosen = evaluate(job, recipe.chosen);
    if (chosen.reason == Reason::out_of_memory && recipe.chosen.recompute != Recompute::unknown) {
      // The recipe ran; where the memory model disagrees, it is given the recompute it needs.
      recipe.chosen.recompute = Recompute::unknown;
      chosen = evaluate(job, recipe.chosen);
    }
    recipe.refused = chosen.reason;
    recipe.short_by = chosen.short_by;
    if (chosen.reason == Reason::none) recipe.chosen_s = chosen.estimate.step_time_s.mid;
    const search::TrainingProblem problem({spec}, false);
    search::SearchOptions options;
    options.top = 1;
    options.threads = 1;
    const Findings found = search::search(problem, options).findings;
    if (!found.groups[0].best.empty() && found.groups[0].best[0].violation == 0) {
      recipe.found_s = found.groups[0].best[0].criteria[0];
      recipe.found = problem.plan(0, found.groups[0].best[0].index);
    }
    if (recipe.chosen_s > 0 && recipe.found_s > 0) {
      recipe.differs = difference(recipe.chosen, recipe.found, chosen.estimate);
      recipe.because = phases_changed(chosen.estimate, evaluate(job, recipe.found).estimate);
    }
    recipes.push_back(std::move(recipe));
  }
  return recipes;
}

}  // namespace ridge::evidence
