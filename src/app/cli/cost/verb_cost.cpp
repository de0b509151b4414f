// ridge cost: what an hour, a token, a month and a run cost, each way to pay; what to choose.
#include <fmt/format.h>

#include <algorithm>

#include "app/cli/cost/cost.hpp"
#include "app/cli/verbs.hpp"
#include "report/cost/assumptions.hpp"
#include "report/cost/report.hpp"
#include "ridge/base/text.hpp"

namespace ridge::cli {

namespace {

constexpr std::size_t kAssumptionsShown = 5;

using Run = Result<int> (*)(Session&, const CostCommand&);

template <CostMode mode>
Result<int> one(Session& session, const CostCommand& command) {
  return cost_one(session, command, mode);
}

struct Word {
  std::string_view name;
  Run run;
};
constexpr Word kCostWords[] = {
    {"own", one<CostMode::own>},     {"rent", one<CostMode::rent>}, {"managed", one<CostMode::managed>},
    {"api", one<CostMode::api>},     {"compare", cost_compare},     {"devices", cost_devices},
    {"break-even", cost_break_even}, {"decide", cost_decide},       {"risk", cost_risk},
    {"power-cap", cost_power_cap},
};

std::string all_words() {
  std::string text;
  for (const Word& word : kCostWords) text += (text.empty() ? "" : ", ") + std::string(word.name);
  return text;
}

/// "risk own": how it is paid, for words that are about all ways.
Result<std::optional<CostMode>> mode_of(const std::vector<std::string>& words) {
  if (words.size() < 2) return std::optional<CostMode>();
  const bool takes_one = words[0] == "risk" || words[0] == "power-cap";
  for (const CostMode mode : {CostMode::own, CostMode::rent, CostMode::managed, CostMode::api}) {
    if (takes_one && words.size() == 2 && words[1] == name(mode)) return std::optional<CostMode>(mode);
  }
  return Error{ErrorCode::bad_input, "", "nothing is done with " + ridge::quoted(words[words.size() > 2 ? 2 : 1])};
}

Result<Run> cost_word_of(const std::vector<std::string>& words) {
  if (words.empty()) return Error{ErrorCode::bad_input, "", "say how it is paid or what to compute: " + all_words()};
  std::vector<std::string_view> names;
  for (const Word& word : kCostWords) {
    if (word.name == words[0]) return word.run;
    names.push_back(word.name);
  }
  const std::string near = nearest(words[0], names.data(), names.size());
  return Error{ErrorCode::bad_input, "",
               fmt::format("{} is nothing to compute a cost of; {}", ridge::quoted(words[0]),
                           near.empty() ? "there are " + all_words() : "did you mean " + near + "?")};
}

Action declare_cost(Options& options) {
  struct Arguments {
    std::vector<std::string> words;
    CostCommand command;
  };
  auto arguments = std::make_shared<Arguments>();
  options.words("own|rent|managed|api|compare|devices|break-even|decide|risk|power-cap", arguments->words,
                "how it is paid, or what to compute", [](Session&, const std::vector<std::string>& before) {
                  std::vector<std::string> offers;
                  if (before.empty()) {
                    for (const Word& word : kCostWords) offers.emplace_back(word.name);
                  }
                  return offers;
                });
  options.flag("--assumptions", arguments->command.assumptions,
               "list every assumption, not only the five that move the result most");
  arguments->command.cost.declare(options);
  arguments->command.estimate.declare(options, kInfer | kTrain | kDiffusion | kFit | kTechniques | kCompare);
  return [arguments](Session& session) -> Result<int> {
    std::vector<std::string>& words = arguments->words;
    const EstimateFlags& said = arguments->command.estimate;
    // `ridge cost --plan P`: every way to pay for it.
    if (words.empty() && (said.given("--model") || said.given("--device") || said.given("--system"))) {
      words.emplace_back("compare");
    }
    const Result<Run> run = cost_word_of(words);
    if (!run) return run.error();
    if (const Status s = said.valid(session, words[0] == "compare" || words[0] == "devices"); !s) return s.error();
    const Result<std::optional<CostMode>> mode = mode_of(arguments->words);
    if (!mode) return mode.error();
    CostCommand& command = arguments->command;
    command.mode = *mode;
    // A page of costs, not the one of `estimate compare`.
    command.html = command.estimate.value("--html");
    command.estimate.set("--html", "");
    Result<WhatIfSubjects> subjects = what_if_subjects(command.estimate);
    if (!subjects) return subjects.error();
    session.about(*std::move(subjects));
    return (*run)(session, command);
  };
}

}  // namespace

Table without_bars(Table table) {
  for (std::size_t i = table.columns.size(); i-- > 0;) {
    if (table.columns[i].key != "bar") continue;
    table.columns.erase(table.columns.begin() + static_cast<std::ptrdiff_t>(i));
    for (std::vector<Cell>& row : table.rows) {
      if (i < row.size()) row.erase(row.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  return table;
}

Result<int> print_cost(const Session& session, const CostCommand& command, const Printed& printed) {
  if (!command.html.empty()) {
    if (const Status s = session.files().write(command.html, printed.html); !s) return s.error();
  }
  switch (session.form()) {
    case Form::json:
      session.print(printed.json.text());
      break;
    case Form::csv:
      session.print(to_csv(without_bars(printed.csv)));
      break;
    default: {
      Document page = printed.page;
      if (!command.assumptions) report::shorten_assumptions(page, kAssumptionsShown);
      session.print(page);
    }
  }
  return kFine;
}

Result<int> cost_one(Session& session, const CostCommand& command, CostMode mode) {
  const Result<const EconomicsData*> data = session.economics();
  if (!data) return data.error();
  const Result<CostWork> work = cost_work(session, command.estimate, command.cost);
  if (!work) return work.error();
  const Result<CostAnswer> answer = cost_of(session, **data, *work, command.cost, mode);
  if (!answer) return answer.error();
  const Catalogue& catalogue = **session.catalogue();
  return print_cost(
      session, command,
      {report::cost_json(*answer, catalogue), report::waterfall_table(*answer), report::cost_page(*answer, catalogue),
       command.html.empty() ? std::string() : report::cost_html(*answer, catalogue)});
}

Verb cost_verb() {
  return {
      "cost", "what an hour, a token, a month and a run cost, and what to choose",
      "`own` counts server, network, storage, installation, capital, colocation, electricity, maintenance and "
      "staff; `rent` takes an hourly price, a lease, spot or a contract; `managed` adds a platform, `api` pays by "
      "the token.\n\n"
      "`compare`, also meant if nothing is said, puts the ways side by side, `devices` what a dollar buys on each; "
      "`break-even` and `decide` say what "
      "to choose; `risk` draws from what is not known; `power-cap` sweeps the limit of the devices. --html writes a "
      "page with pictures.\n\n"
      "With --model and --device the flags of `ridge estimate` say the work; --throughput or --mfu say it "
      "directly. What is not said is taken from the catalogue and listed under 'Assumed'; a price that nobody "
      "published is refused as unknown, never taken as zero.",
      "ridge cost rent --lease-month '$9200' --gpus 8\n"
      "ridge cost own --model llama3.3-70b --device h200-sxm --gpus 2 --precision fp8 --isl 1000 --osl 250 "
      "--concurrency 64 --utilization 60%\n"
      "ridge cost rent --price '$1.42' --model gpt3-175b --device h100-sxm --precision fp8 --mfu 39.5% "
      "--seq-length 2048 --gpus 128 --tokens 300B\n"
      "ridge cost decide --device gb200-nvl72 --against h100-sxm\n"
      "ridge cost power-cap --model llama3.3-70b --device h100-sxm --gpus 4 --precision fp8 --concurrency 64",
      declare_cost};
}

}  // namespace ridge::cli
