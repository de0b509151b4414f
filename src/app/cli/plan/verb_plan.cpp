// ridge plan: from a goal to a ranked, explained, priced plan.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <filesystem>

#include "app/cli/estimate/estimate.hpp"
#include "app/cli/line/plan_file.hpp"
#include "app/cli/plan/agents.hpp"
#include "app/cli/plan/flags.hpp"
#include "app/cli/plan/fleet.hpp"
#include "app/cli/plan/recipes.hpp"
#include "app/cli/plan/rl.hpp"
#include "app/cli/plan/save.hpp"
#include "app/cli/search/ranks.hpp"
#include "app/cli/session/basis.hpp"
#include "app/cli/session/progress.hpp"
#include "app/cli/session/report_file.hpp"
#include "app/cli/session/wrong.hpp"
#include "app/cli/verbs.hpp"
#include "ask/plan.hpp"
#include "economics/economics_data.hpp"
#include "report/plan/report.hpp"
#include "ridge/base/limits.hpp"
#include "ridge/base/text.hpp"
#include "ridge/serve/workload.hpp"
#include "search/problems/serving_problem.hpp"
#include "search/problems/training_problem.hpp"
#include "search/run.hpp"
#include "search/store.hpp"

namespace ridge::cli {

namespace {

/// Whether a bundled workload is of sessions with several turns, which are played instead of searched for.
bool has_turns(Session& session, const std::string& workload) {
  const Result<std::string> data = session.data_directory();
  const Result<Workload> found = data ? named_workload(workload, *data, session.files()) : Result<Workload>(Error{});
  return found && found->mean_turns() > 1;
}

constexpr std::size_t kQuestionLimit = 1'000'000;
constexpr std::size_t kUsualRows = 10;

struct PlanArguments {
  std::vector<std::string> words;
  PlanFlags flags;
  EstimateFlags rl;  ///< what only `ridge plan rl` asks
};

/// What the question says of the flags that all verbs share.
std::string shared_flags(const Session& session) {
  std::string out;
  for (const std::string& setting : session.options().settings) out += "\n--set=" + setting;
  return out + "\n--software-as-of=" + session.software_date() + "\n--prices-as-of=" + session.price_date();
}

/// "serve", "train" or a file.
struct Asked {
  PlanKind kind = PlanKind::serve;
  std::string again;  ///< the words that ask it again
  Places places;      ///< of what a file says
};

Result<PlanFile> take_file(const Session& session, const std::string& path, PlanFlags& flags) {
  const Result<std::string> text = session.files().read(path, kQuestionLimit);
  if (!text) return text.error();
  Result<PlanFile> plan = parse_plan_file(*text, path, flags.names());
  if (!plan) return plan.error();
  for (const auto& [flag, value] : plan->flags) {
    if (flags.given(flag)) plan->places.erase(flag);
    flags.fill(flag, value);
  }
  return plan;
}

Result<Asked> asked_of(const Session& session, PlanArguments& arguments) {
  const std::vector<std::string>& words = arguments.words;
  if (words.empty()) {
    return Error{ErrorCode::bad_input, "",
                 "say what to plan: serve, train, rl, fleet, or the file of a question. For example:\n"
                 "  ridge plan serve --model llama3.3-70b --request-rate 50 --devices h100-sxm,mi300x\n"
                 "  ridge plan train --model llama3.1-8b --tokens 100B --days 30 --devices h100-sxm,h200-sxm\n"
                 "  ridge plan examples/chat-70b.toml"};
  }
  if (words.size() > 1) return Error{ErrorCode::bad_input, "", "nothing is done with " + ridge::quoted(words[1])};
  Asked asked;
  asked.again = "ridge plan " + words[0];
  if (words[0] == "serve" || words[0] == "train") {
    asked.kind = words[0] == "serve" ? PlanKind::serve : PlanKind::train;
    asked.again += " …";
    return asked;
  }
  if (!words[0].ends_with(".toml")) {
    static constexpr std::array<std::string_view, 5> kKinds = {"serve", "train", "rl", "fleet", "merge"};
    const std::string near = nearest(words[0], kKinds.data(), kKinds.size());
    return Error{ErrorCode::bad_input, "",
                 ridge::quoted(words[0]) + " is neither serve, train, rl, fleet nor merge, nor a question in TOML" +
                     (near.empty() ? "" : "; did you mean " + near + "?")};
  }
  const Result<PlanFile> file = take_file(session, words[0], arguments.flags);
  if (!file) return file.error();
  asked.kind = file->kind == "serve" ? PlanKind::serve : PlanKind::train;
  asked.places = file->places;
  return asked;
}

struct Shown {
  report::PlanReportOptions options;
  std::string results;
  std::string save;
  std::string model;  ///< as it was given
  std::string html;
};

std::vector<std::string> devices_of(const ServingVerdict& verdict) {
  std::vector<std::string> out;
  for (const ServingPlan& p : verdict.plans) out.push_back(p.query.device);
  return out;
}
std::vector<std::string> devices_of(const TrainingVerdict& verdict) {
  std::vector<std::string> out;
  for (const TrainingPick& p : verdict.plans) out.push_back(p.device);
  return out;
}

/// Pools that were asked for are the answer, where there are any.
Table table_of(const ServingQuest& quest, const ServingVerdict& verdict) {
  return quest.goal.disaggregate ? report::plan_pools_table(verdict) : report::plan_table(verdict);
}
Table table_of(const TrainingQuest&, const TrainingVerdict& verdict) {
  return report::plan_table(verdict);
}
bool is_met(const ServingQuest& quest, const ServingVerdict& verdict) {
  return quest.goal.disaggregate ? !report::plan_pools_table(verdict).rows.empty() : !verdict.plans.empty();
}
bool is_met(const TrainingQuest&, const TrainingVerdict& verdict) {
  return !verdict.plans.empty();
}

template <class Quest, class Verdict>
Result<int> show(Session& session, const Quest& quest, const Verdict& verdict, const Shown& shown,
                 const Knowledge& knowledge) {
  if (shown.results.ends_with(".csv")) {
    const Status s = session.files().write(shown.results, to_csv(report::plan_table(verdict)));
    if (!s) return s.error();
  }
  if (!shown.save.empty()) {
    const Result<int> saved = save_plans(session.files(), shown.save, quest, verdict, shown.model, knowledge);
    if (!saved) return saved.error();
  }
  if (!shown.html.empty()) {
    const Result<const Catalogue*> catalogue = session.catalogue();
    if (!catalogue) return catalogue.error();
    const report::Provenance provenance{report::sources_of(**catalogue, {quest.goal.model}, devices_of(verdict)),
                                        command_text(session)};
    const Status s = session.files().write(shown.html, report::plan_html(quest, verdict, shown.options, provenance));
    if (!s) return s.error();
  }
  if (session.form() == Form::json) {
    session.print(report::plan_json(quest, verdict, shown.options).text());
  } else if (session.form() == Form::csv) {
    session.print(to_csv(table_of(quest, verdict)));
  } else {
    session.print(report::plan_page(quest, verdict, shown.options));
  }
  return is_met(quest, verdict) ? kFine : kRefused;
}

/// The answer's lines in the file of results, for people with SQL.
Status keep_table(const std::string& path, const Table& table) {
  Result<search::Store> store = search::Store::open(path);
  if (!store) return store.error();
  std::vector<std::string> columns;
  for (const ridge::Column& column : table.columns) columns.push_back(column.name());
  std::vector<std::vector<std::string>> rows;
  for (const auto& row : table.rows) {
    std::vector<std::string>& cells = rows.emplace_back();
    for (const Cell& cell : row) cells.push_back(cell.plain());
  }
  return store->write_table("answer", columns, rows);
}

/// A bar on the terminal, and Ctrl-C.
class PlanWatcher final : public search::Watcher {
 public:
  explicit PlanWatcher(const Session& session) : session_(session), progress_(session.progress("searching")) {}
  void show(double share, double plans) override { progress_.show(share, plans, "plans"); }
  [[nodiscard]] bool stopped() const override { return session_.stopped(); }

 private:
  const Session& session_;
  Progress progress_;
};

Result<search::RunOutcome> search_all(const Session& session, const search::Problem& problem, const search::Run& run) {
  const Result<std::unique_ptr<MpiRanks>> ranks = MpiRanks::join();
  if (!ranks) return ranks.error();
  PlanWatcher watcher(session);
  Result<search::RunOutcome> outcome = search::run_search(problem, run, watcher, ranks->get());
  if (!outcome && outcome.error().where == "shard")
    return Error{ErrorCode::bad_input, "--shard", outcome.error().message};
  return outcome;
}

/// Searches or takes what was found, and shows it.
template <class Quest>
Result<int> answer_with(Session& session, const Quest& quest, const search::Run& run, Shown shown, std::uint64_t setup,
                        const Knowledge& knowledge, const search::StoredSearch* stored) {
  search::RunOutcome outcome;
  report::PlanStatistics& statistics = shown.options.statistics;
  if (stored != nullptr) {
    if (const Status s = search::check_stored(*stored, "what is merged", *quest.problem, run); !s) return s.error();
    outcome.found.findings = stored->findings;
    statistics.size = stored->size;
    std::uint64_t done = 0;
    for (const Range& range : stored->done) done += range.size();
    statistics.complete = done == stored->size;
    if (!statistics.complete) {
      statistics.stopped = fmt::format("{:.1f} % of the space is in these files.",
                                       100.0 * static_cast<double>(done) / static_cast<double>(stored->size));
    }
  } else {
    Result<search::RunOutcome> searched = search_all(session, *quest.problem, run);
    if (!searched) return searched.error();
    outcome = *std::move(searched);
    static_cast<search::RunStatistics&>(statistics) = outcome.statistics;
    statistics.evaluated += setup;
    if (!statistics.complete) {
      statistics.stopped =
          fmt::format("interrupted after {:.0f} % of the space; this is the best so far{}", 100 * statistics.done_share,
                      run.results.empty() ? "." : ", and --resume goes on.");
    }
  }
  if (!outcome.speaks) return kFine;
  const auto verdict = judge(quest, outcome.found.findings, knowledge);
  if (run.results.ends_with(".sqlite")) {
    if (const Status s = keep_table(run.results, report::plan_table(verdict)); !s) return s.error();
  }
  return show(session, quest, verdict, shown, knowledge);
}

/// Refuses (not_found) an engine that nothing is known of: what would be planned for is another one.
Status check_engine(const std::string& asked, EngineWork work, const Engines& engines) {
  if (asked.empty()) return {};
  std::string word = asked;
  std::transform(word.begin(), word.end(), word.begin(),
                 [](unsigned char c) { return c == '_' ? '-' : static_cast<char>(std::tolower(c)); });
  std::vector<std::string_view> known;
  for (const Engine& engine : engines.all()) {
    if (engine.work != work) continue;
    if (word.starts_with(engine.id)) return {};  // "vllm-rocm" is a vLLM
    known.push_back(engine.id);
    known.insert(known.end(), engine.aliases.begin(), engine.aliases.end());
  }
  if (std::find(known.begin(), known.end(), word) != known.end()) return {};
  const std::string near = nearest(word, known.data(), known.size());
  return Error{ErrorCode::not_found, "--engine",
               "there is no engine " + ridge::quoted(asked) + (near.empty() ? "" : "; did you mean " + near + "?")};
}

/// Rents of a place nobody knows are none; to own, its energy has a price only where it is known.
Status check_region(const Buyer& buyer, const EconomicsData& economics) {
  if (buyer.purchase != Purchase::own || buyer.region.empty()) return {};
  const auto region = economics.region(buyer.region);
  return region ? Status{} : Status{region.error()};
}

Result<int> plan(Session& session, PlanFlags& flags, const Asked& asked, const search::StoredSearch* stored) {
  if (flags.given("--profile")) {
    const Result<std::string> data = session.data_directory();
    if (!data) return data.error();
    if (const Status s = take_profile(*data, flags.value("--profile"), flags, asked.kind); !s) return s.error();
  }
  if (const Status s = flags.check(asked.kind); !s) return s.error();
  if (const Status s = flags.valid_all(session); !s) return s.error();  // a question file or profile filled some in
  search::Run run;
  session.catch_interrupts();
  run.question = flags.question(asked.kind);
  run.question += shared_flags(session);
  run.results = flags.value("--results");
  if (run.results.ends_with(".sqlite") || stored != nullptr) {
    Result<std::vector<search::Basis>> basis = plan_basis(session, flags.value("--model"));
    if (!basis) return basis.error();
    run.basis = *std::move(basis);
  }
  if (!run.results.empty() && !run.results.ends_with(".sqlite") && !run.results.ends_with(".csv")) {
    return Error{ErrorCode::bad_input, "--results", "the name ends in .sqlite or .csv"};
  }
  Shown shown;
  shown.results = run.results;
  shown.save = flags.value("--save");
  shown.model = flags.value("--model");
  shown.html = flags.value("--html");
  if (run.results.ends_with(".csv")) run.results.clear();
  run.resume = flags.given("--resume");
  run.exhaustive = flags.given("--exhaustive");
  if (run.resume && run.results.empty()) {
    return Error{ErrorCode::bad_input, "--resume", "say by --results FILE.sqlite what to go on with"};
  }
  if (flags.given("--shard")) {
    if (const Status s = ask::parse_shard(flags.value("--shard"), run.shard, run.shards); !s) return s.error();
    if (run.results.empty()) {
      return Error{ErrorCode::bad_input, "--shard", "say by --results FILE.sqlite where to keep the part"};
    }
  }
  const auto number = [&](std::string_view flag, int otherwise) -> Result<int> {
    if (!flags.given(flag)) return otherwise;
    const Result<double> value = parse_count(flags.value(flag));
    if (!value || *value < 1 || *value > 1e6 || *value != std::floor(*value))
      return Error{ErrorCode::bad_input, std::string(flag), "a whole number >= 1"};
    return static_cast<int>(*value);
  };
  const Result<int> threads = number("--threads", 0);
  if (!threads) return threads.error();
  const Result<int> top = number("--top", static_cast<int>(kUsualRows));
  if (!top) return top.error();
  const Result<int> explained = number("--explain", 1'000'000);
  if (!explained) return explained.error();
  run.threads = *threads;
  shown.options.rows = static_cast<std::size_t>(*top);
  shown.options.rows_said = flags.given("--top");
  shown.options.explain = flags.given("--explain") ? *explained : 0;
  shown.options.why = flags.given("--why");
  shown.options.again = asked.again;

  const Result<Knowledge> knowledge = knowledge_of(session);
  if (!knowledge) return knowledge.error();
  const EngineWork work = asked.kind == PlanKind::serve ? EngineWork::inference : EngineWork::training;
  if (const Status s = check_engine(flags.value("--engine"), work, knowledge->engines); !s) return s.error();
  const Result<std::string> data = session.data_directory();
  if (!data) return data.error();
  const PlanContext context{session.price_date(), session.software_date(), *data, session.files()};
  const Result<const EconomicsData*> economics = session.economics();
  if (!economics) return economics.error();
  if (asked.kind == PlanKind::serve) {
    Result<ServingGoal> goal = serving_goal(flags, context);
    if (!goal) return goal.error();
    goal->patience = session.patience();
    if (const Status s = check_region(goal->buyer, **economics); !s) return s.error();
    if (goal->model == "largest") {
      Progress progress = session.progress("trying models");
      const auto found = largest_model(*goal, *knowledge, *economics, [&](double share) {
        progress.show(share);
        return !session.stopped();
      });
      if (const Status s = session.in_time(); !found && !s) return s.error();
      if (!found)
        return Error{ErrorCode::infeasible, "", "no model of the catalogue can be served within these limits"};
      goal->model = *found;
    }
    const auto model = knowledge->catalogue.find_model(goal->model);
    const bool embeds = model && model->embeds;
    if (embeds) {
      if (flags.given("--osl") && goal->osl > 1) {
        return wrong("--osl", goal->model + " gives a vector or a score and writes no answer: leave it out");
      }
      goal->osl = 1;
      goal->tpot_s = 0;
    }
    const bool hears = model && model->cross_tokens() > 0;  // a request is a clip
    if (hears && !flags.given("--isl")) goal->isl = usual::kSpeechPrompt;
    if (hears && !flags.given("--osl")) goal->osl = usual::kSpeechTokens;
    if (embeds && !flags.given("--isl") && model->context > 0 && goal->isl > model->context) goal->isl = model->context;
    Result<ServingQuest> quest = prepare(*goal, *knowledge, *economics);
    if (!quest) return quest.error();
    if (hears) {
      quest->assumptions.push_back(fmt::format("a request is a clip of at most {:.0f} s", model->encoder.clip_s));
    }
    if (!flags.given("--isl")) quest->assumptions.push_back(fmt::format("{:.0f} tokens in", goal->isl));
    if (embeds) {
      quest->assumptions.emplace_back("texts are read, none is written: a vector or a score counts as one token out");
    } else if (!flags.given("--osl")) {
      quest->assumptions.push_back(fmt::format("{:.0f} tokens out", goal->osl));
    }
    return answer_with(session, *quest, run, shown, quest->problem->setup_evaluations(), *knowledge, stored);
  }
  Result<TrainingGoal> goal = training_goal(flags, context);
  if (!goal) return goal.error();
  goal->patience = session.patience();
  if (const Status s = check_region(goal->buyer, **economics); !s) return s.error();
  const Result<TrainingQuest> quest = prepare(*goal, *knowledge, *economics);
  if (!quest) return quest.error();
  return answer_with(session, *quest, run, shown, 0, *knowledge, stored);
}

Result<int> plan_merge(Session& session, PlanArguments& arguments) {
  const std::vector<std::string> files(arguments.words.begin() + 1, arguments.words.end());
  if (files.empty()) return Error{ErrorCode::bad_input, "", "say which files to merge: ridge plan merge part-*.sqlite"};
  std::vector<search::StoredSearch> parts;
  for (const std::string& file : files) {
    if (const Status s = session.files().may_read(file); !s) return s.error();
    const Result<search::Store> store = search::Store::open_existing(file);
    if (!store) return store.error();
    Result<search::StoredSearch> part = store->read();
    if (!part) return part.error();
    parts.push_back(*std::move(part));
  }
  const Result<search::StoredSearch> all = search::merge(parts, files);
  if (!all) return all.error();
  // Flags of the verb come from the files; those that all verbs share were used before this line was read.
  const std::string& question = all->question;
  std::string said =
      question.substr(std::min({question.find("\n--set="), question.find("\n--software-as-of="), question.size()}));
  if (said != shared_flags(session)) {
    std::replace(said.begin(), said.end(), '\n', ' ');
    return Error{ErrorCode::bad_input, files.front(), "was asked with" + said + ": say the same again"};
  }
  arguments.flags.restore(all->question);
  Asked asked;
  asked.kind = all->question.starts_with("train") ? PlanKind::train : PlanKind::serve;
  asked.again = fmt::format("ridge plan {} …", name(asked.kind));
  return plan(session, arguments.flags, asked, &*all);
}

std::vector<std::string> complete_plan_words(Session& session, const std::vector<std::string>& before) {
  if (!before.empty() && before[0] != "merge" && before[0] != "fleet") return {};
  std::vector<std::string> offers = complete_files(session, before);
  if (before.empty()) offers.insert(offers.begin(), {"serve", "train", "rl", "fleet", "merge"});
  return offers;
}

Result<int> answer_arguments(Session& session, PlanArguments& arguments);

Action declare_plan(Options& options) {
  auto arguments = std::make_shared<PlanArguments>();
  options.words("serve|train|rl|FILE.toml|fleet ESTATE.toml|merge FILE...", arguments->words, "what to plan",
                complete_plan_words);
  arguments->flags.declare(options);
  arguments->rl.declare_beside(options, kRl, arguments->flags.names());
  return [arguments](Session& session) -> Result<int> {
    const Result<int> done = answer_arguments(session, *arguments);
    // What is wrong with the question is wrong on every rank: one of them says it.
    if (!done && !is_first_rank()) return exit_code(done.error().code);
    return done;
  };
}

Result<int> answer_arguments(Session& session, PlanArguments& arguments) {
  if (!arguments.words.empty() && arguments.words[0] == "merge") return plan_merge(session, arguments);
  if (!arguments.words.empty() && arguments.words[0] == "fleet") {
    return plan_fleet(session, arguments.words, arguments.flags);
  }
  if (!arguments.words.empty() && arguments.words[0] == "rl") {
    if (arguments.words.size() > 1) {
      return Error{ErrorCode::bad_input, "", "nothing is done with " + ridge::quoted(arguments.words[1])};
    }
    return plan_rl_run(session, arguments.flags, arguments.rl);
  }
  if (arguments.rl.given("--device")) {
    return wrong("--device", "is of plan rl: serve and train compare what --devices names");
  }
  if (const Status s = arguments.rl.none_given("plan rl"); !s) return s.error();
  if (arguments.flags.given("--against")) {
    if (arguments.words.size() != 1 || arguments.words[0] != "train") {
      return Error{ErrorCode::bad_input, "--against", "is for training: ridge plan train --against recipes"};
    }
    return plan_recipes(session, arguments.flags);
  }
  if (arguments.flags.given("--kv-tiers") && !arguments.flags.given("--workload")) {
    return Error{ErrorCode::bad_input, "--kv-tiers", "are sized for sessions: add --workload agent"};
  }
  if (arguments.flags.given("--workload")) {
    if (arguments.words.size() == 1 && arguments.words[0] != "serve") {
      return Error{ErrorCode::bad_input, "--workload", "is for serving: ridge plan serve --workload agent"};
    }
    if (arguments.flags.given("--kv-tiers") || has_turns(session, arguments.flags.value("--workload"))) {
      return plan_agents_run(session, arguments.flags);
    }
  }
  const Result<Asked> asked = asked_of(session, arguments);
  if (!asked) return asked.error();
  WhatIfSubjects subjects;
  if (arguments.flags.given("--model")) subjects.models = {arguments.flags.value("--model")};
  session.about(std::move(subjects));
  Result<int> done = plan(session, arguments.flags, *asked, nullptr);
  return done ? done : located(done.error(), asked->places);
}

}  // namespace

/// By what a goal of the kind refuses; flags of reinforcement learning are no part of other goals.
template <PlanKind kind>
static bool plan_takes(const OptionText& option) {
  PlanFlags flags;
  if (!flags.fill(option.name, "true")) return kind == PlanKind::rl;
  return static_cast<bool>(flags.check(kind));
}

static constexpr VerbKind kPlanKinds[] = {
    {"serve", plan_takes<PlanKind::serve>, "the cheapest hardware that serves a model within your limits",
     "--model --request-rate --gpus --devices",
     "ridge plan serve --model llama3.3-70b --request-rate 50 --devices h100-sxm,mi300x\n"
     "ridge plan serve --model llama3.3-70b --request-rate 50 --isl 1000 --osl 250 --ttft 1s --tpot 40ms\n"
     "ridge plan serve --model deepseek-v3 --devices h200-sxm --gpus 16 --tpot 50ms"},
    {"train", plan_takes<PlanKind::train>, "the cheapest hardware and layout for a training run",
     "--model --tokens --days --gpus --devices",
     "ridge plan train --model llama2-13b --tokens 1T --days 30 --devices h100-sxm,h200-sxm\n"
     "ridge plan train --model llama3.1-70b --tokens 15T --days 60 --devices h100-sxm,b200-sxm-180"},
    {"rl", plan_takes<PlanKind::rl>, "places and splits the devices of reinforcement learning",
     "--model --devices --gpus --prompts --answer-tokens",
     "ridge plan rl --model qwen2.5-7b --devices h100-sxm --gpus 32 --prompts 512 --answer-tokens 2000"},
};

Verb plan_verb() {
  return {
      "plan",
      "what to rent or buy for a goal: ranked, explained, priced",
      "Searches devices, layouts, formats and loads for the goal, and answers with the best plan of each device, "
      "ties where predictions cannot tell them apart, the front of cost against speed, and why the others lost.\n\n"
      "The goal is given by flags or in a file (examples/*.toml). A goal that nothing meets ends with exit code 2, "
      "the constraint that fails first and by how much, and the nearest goal that works.\n\n"
      "`fleet` plans a whole estate (docs/fleet.md): many models and jobs on devices of many kinds, owned, bought, "
      "leased "
      "or rented, month by month and hour by hour, within power, budgets and policy.",
      "ridge plan serve --model llama3.3-70b --request-rate 50 --isl 1000 --osl 250 --ttft 1s --tpot 40ms\n"
      "ridge plan train --model llama3.1-70b --tokens 15T --days 60 --devices h100-sxm,b200-sxm-180\n"
      "ridge plan rl --model qwen2.5-7b --devices h100-sxm --gpus 32 --prompts 512 --answer-tokens 2000 --answer-most "
      "20k\n"
      "ridge plan examples/chat-70b.toml --explain 1\n"
      "ridge plan fleet examples/fleet/domestic.toml",
      declare_plan,
      kPlanKinds};
}

}  // namespace ridge::cli
