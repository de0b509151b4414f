#include "app/cli/plan/recipes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "app/cli/estimate/estimate.hpp"
#include "app/cli/session/wrong.hpp"
#include "evidence/predict/recipes.hpp"
#include "evidence/settings/bundle.hpp"
#include "report/page/page.hpp"
#include "ridge/base/limits.hpp"
#include "ridge/base/text.hpp"

namespace ridge::cli {

namespace {

using evidence::Recipe;

std::string recipe_layout(const TrainingPlan& p) {
  std::string out = fmt::format("TP{} PP{}", p.tp, p.pp);
  if (p.cp > 1) out += fmt::format(" CP{}", p.cp);
  if (p.ep > 1) out += fmt::format(" EP{}", p.ep);
  return out + fmt::format(", mbs {}", p.micro_batch);
}

bool recipe_listed(std::string_view list, std::string_view item) {
  if (list.empty() || list == "all") return true;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    if (list.substr(0, end) == item) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

Table recipes_table(const std::vector<Recipe>& recipes) {
  Table table;
  table.title = "Published recipes beside the plan that is found for the same question, both predicted";
  table.columns = {{.key = "model", .heading = "model"},
                   {.key = "device", .heading = "device"},
                   {.key = "gpus", .heading = "GPUs", .kind = ColumnKind::number},
                   {.key = "precision", .heading = "precision", .spare = 3},
                   {.key = "recipe", .heading = "recipe"},
                   {.key = "recipe_step", .unit = "s", .heading = "step", .kind = ColumnKind::number},
                   {.key = "found", .heading = "found"},
                   {.key = "found_step", .unit = "s", .heading = "step", .kind = ColumnKind::number},
                   {.key = "recipe_over_found", .heading = "ratio", .kind = ColumnKind::number},
                   {.key = "why", .heading = "why", .overflow = Overflow::wrap},
                   {.key = "source", .heading = "published by"}};
  for (const Recipe& r : recipes) {
    const bool ran = r.chosen_s > 0;
    const double over = ran && r.found_s > 0 ? r.chosen_s / r.found_s - 1 : 0;
    std::string why = !ran ? fmt::format("by the memory model the recipe lacks {}", format(Bytes(r.short_by)))
                      : r.differs.empty() ? "the same"
                      : r.because.empty() ? r.differs
                                          : r.differs + ": " + r.because;
    if (r.proxy) why += "; a shortened model with the layout of the whole one";
    table.rows.push_back({Cell(r.model), Cell(r.device), Cell(static_cast<double>(r.gpus), 7), Cell(name(r.precision)),
                          Cell(recipe_layout(r.chosen)), ran ? Cell(Seconds(r.chosen_s)) : Cell(),
                          r.found_s > 0 ? Cell(recipe_layout(r.found)) : Cell(),
                          r.found_s > 0 ? Cell(Seconds(r.found_s)) : Cell(), ran ? Cell(1 + over) : Cell(), Cell(why),
                          Cell(r.source)});
  }
  return table;
}

/// What differs is a sentence for each row: beside ten other columns nobody could read it. Numbers the rows of the
/// table, and takes the sentences and who published the recipe out of it.
Table reasons_apart(Table& table) {
  Table reasons;
  reasons.title = "What differs, what that changes, and who published the recipe";
  reasons.columns = {{.key = "number", .heading = "#", .kind = ColumnKind::number},
                     {.key = "why", .heading = "found instead", .overflow = Overflow::wrap},
                     {.key = "source", .heading = "published by", .overflow = Overflow::wrap}};
  const auto at = [&](std::string_view key) {
    return std::find_if(table.columns.begin(), table.columns.end(), [&](const Column& c) { return c.key == key; }) -
           table.columns.begin();
  };
  const std::ptrdiff_t why = at("why");
  int number = 0;
  for (auto& row : table.rows) {
    reasons.rows.push_back(
        {Cell(++number), row[static_cast<std::size_t>(why)], row[static_cast<std::size_t>(why) + 1]});
    row.erase(row.begin() + why, row.begin() + why + 2);
    row.insert(row.begin(), Cell(number));
  }
  table.columns.erase(table.columns.begin() + why, table.columns.begin() + why + 2);
  table.columns.insert(table.columns.begin(), {.key = "number", .heading = "#", .kind = ColumnKind::number});
  return reasons;
}

}  // namespace

Result<int> plan_recipes(Session& session, const PlanFlags& flags) {
  if (flags.value("--against") != "recipes") return wrong("--against", "is 'recipes'");
  for (const std::string_view flag : flags.names()) {
    const bool taken =
        flag == "--against" || flag == "--model" || flag == "--devices" || flag == "--gpus" || flag == "--top";
    if (!taken && flags.given(flag)) {
      return Error{ErrorCode::bad_input, std::string(flag), "nothing is done with it beside --against recipes"};
    }
  }
  const Result<Knowledge> knowledge = knowledge_of(session);
  if (!knowledge) return knowledge.error();
  const Result<std::string> data = session.data_directory();
  if (!data) return data.error();
  auto bundle = evidence::load_bundle(*data);
  if (!bundle) return bundle.error();
  std::vector<evidence::Case> cases;
  for (evidence::Case& c : bundle->cases) {
    const auto* q = std::get_if<TrainingQuery>(&c.input);
    if (q == nullptr || !recipe_listed(flags.value("--devices"), q->device)) continue;
    if (flags.given("--model") && q->model != flags.value("--model")) continue;
    if (!recipe_listed(flags.value("--gpus"), fmt::format("{}", q->plan.gpus))) continue;
    cases.push_back(std::move(c));
  }
  std::vector<Recipe> recipes = evidence::compare_recipes(cases, evidence::kVendorRecipes, *knowledge);
  if (recipes.empty()) {
    return Error{ErrorCode::infeasible, "",
                 "no published recipe is about that: leave out --gpus or --devices, or --model for all of them"};
  }
  const auto near = std::count_if(recipes.begin(), recipes.end(), [](const Recipe& r) {
    return r.chosen_s > 0 && r.found_s > 0 && r.chosen_s <= 1.1 * r.found_s;
  });
  const auto compared =
      std::count_if(recipes.begin(), recipes.end(), [](const Recipe& r) { return r.chosen_s > 0 && r.found_s > 0; });
  std::stable_sort(recipes.begin(), recipes.end(), [](const Recipe& a, const Recipe& b) {
    return a.chosen_s * b.found_s > b.chosen_s * a.found_s;  // the farthest off first
  });
  Table table = recipes_table(recipes);
  if (session.form() == Form::csv) {
    session.print(to_csv(table));
    return kFine;
  }
  if (session.form() == Form::json) {
    Json json = Json::object().set("schema", "ridge.plan-recipes/1").set("recipes", to_json(table));
    session.print(
        json.set("within_tenth", static_cast<double>(near)).set("compared", static_cast<double>(compared)).text());
    return kFine;
  }
  const std::size_t most =
      flags.given("--top") ? static_cast<std::size_t>(std::atoi(flags.value("--top").c_str())) : 20;
  const std::size_t all = table.rows.size();
  if (all > most) table.rows.resize(most);
  Table reasons = reasons_apart(table);
  Document page;
  page.blocks.emplace_back(std::move(table));
  page.blocks.emplace_back(std::move(reasons));
  std::string note = fmt::format("{} of {} recipes are within 10 % of the found plan.", near, compared);
  if (all > most) note += fmt::format(" {} more: --top {}.", all - most, all);
  page.blocks.emplace_back(Paragraph{note});
  page.blocks.emplace_back(
      Paragraph{"Both times are predictions of the same model, so that the choice is compared and not the model's "
                "error. Recipes keep "
                "room for what the model takes as even or does not know (imbalance of experts, fragmented memory), and "
                "often one layout "
                "for many sizes."});
  session.print(page);
  return kFine;
}

}  // namespace ridge::cli
