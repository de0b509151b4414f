#include "app/cli/plan/rl.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "app/cli/estimate/estimate.hpp"
#include "app/cli/rl/question.hpp"
#include "app/cli/session/wrong.hpp"
#include "report/rl/report.hpp"
#include "ridge/search/plan.hpp"

namespace ridge::cli {

namespace {

constexpr int kUsualRlRows = 10;
constexpr std::size_t kMostRlQuestions = 64;  ///< devices times sizes

/// Names that both kinds of flags have; devices and their number are taken apart here.
constexpr std::string_view kSharedWithPlans[] = {"--model", "--engine", "--precision",   "--tp",      "--pp",
                                                 "--cp",    "--ep",     "--micro-batch", "--sharding"};

/// Where nobody names devices: those on sale that have a rent, kernels that were timed, and memory for training.
std::vector<std::string> trained_on(const Knowledge& knowledge, const std::string& date) {
  constexpr Bytes kEnough{40e9};
  Buyer buyer;
  buyer.date = date;
  std::vector<std::string> out;
  for (const Device& d : knowledge.catalogue.devices()) {
    const bool large = d.memory_capacity && d.memory_capacity->value >= kEnough;
    if (!large || d.status != Sale::shipping || !knowledge.calibration.knows_kernels_of(d.architecture)) continue;
    if (price_of(knowledge.catalogue, d.id, buyer, nullptr)) out.push_back(d.id);
  }
  return out;
}

}  // namespace

Result<int> plan_rl_run(Session& session, const PlanFlags& flags, EstimateFlags rl) {
  if (const Status s = flags.check(PlanKind::rl); !s) return s.error();
  for (const std::string_view flag : kSharedWithPlans) rl.set(flag, flags.value(flag));
  if (!flags.given("--model")) return wrong("--model", "name a model, for example --model qwen2.5-7b");
  if (!flags.given("--gpus")) return wrong("--gpus", "say how many devices, or a list: 32,64");
  const bool all = !flags.given("--devices") || flags.value("--devices") == "all";
  Result<std::vector<std::string>> devices = std::vector<std::string>{};
  const Result<Knowledge> knowledge = knowledge_of(session);
  if (!knowledge) return knowledge.error();
  if (all) {
    devices = trained_on(*knowledge, session.price_date());
  } else {
    devices = split_list("--devices", flags.value("--devices"));
  }
  if (!devices) return devices.error();
  const auto sizes = split_list("--gpus", flags.value("--gpus"));
  if (!sizes) return sizes.error();
  if (devices->size() * sizes->size() > kMostRlQuestions) {
    return wrong("--devices", fmt::format("at most {} devices and sizes together", kMostRlQuestions));
  }
  const Result<int> rows = read_whole("--top", flags.value("--top"), kUsualRlRows, 1, 1'000'000);
  if (!rows) return rows.error();
  std::vector<report::RlPick> picks;
  std::optional<Error> refused;
  for (const std::string& device : *devices) {
    std::optional<double> price;
    Buyer buyer;
    buyer.date = session.price_date();
    if (const auto quote = price_of(knowledge->catalogue, device, buyer, nullptr)) price = quote->mid;
    for (const std::string& gpus : *sizes) {
      rl.set("--device", device);
      rl.set("--gpus", gpus);
      if (const Status s = rl.valid(session); !s) return s.error();
      const Result<RlQuery> question = rl_question(rl, session.software_date());
      if (!question) return question.error();
      Result<std::vector<RlAnswer>> found = plan_rl(*question, *knowledge, session.patience());
      if (const Status s = session.in_time(); !s) return s.error();
      if (!found && found.error().code != ErrorCode::infeasible) return of_rl_flag(found.error());
      if (!found) {
        if (!refused) refused = found.error();
        continue;
      }
      for (RlAnswer& a : *found) picks.push_back({std::move(a), price});
    }
  }
  if (picks.empty()) return *refused;
  // By cost where everything has a price and sizes differ, else by the step.
  const bool priced =
      std::all_of(picks.begin(), picks.end(), [](const auto& p) { return p.usd_per_step().has_value(); });
  std::stable_sort(picks.begin(), picks.end(), [&](const report::RlPick& a, const report::RlPick& b) {
    return priced ? *a.usd_per_step() < *b.usd_per_step() : a.answer.estimate.step_s.mid < b.answer.estimate.step_s.mid;
  });
  if (session.form() == Form::json) {
    session.print(report::rl_plan_json(picks).text());
  } else if (session.form() == Form::csv) {
    session.print(to_csv(report::rl_plan_table(picks)));
  } else {
    session.print(report::rl_plan_page(picks, static_cast<std::size_t>(*rows)));
  }
  return kFine;
}

}  // namespace ridge::cli
