// ridge mlperf: the published results, repaired by named rules.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "app/cli/estimate/estimate.hpp"
#include "app/cli/line/value.hpp"
#include "app/cli/record/mlperf.hpp"
#include "app/cli/session/wrong.hpp"
#include "app/cli/verbs.hpp"
#include "report/chart/svg.hpp"
#include "report/record/mlperf_report.hpp"
#include "ridge/base/letters.hpp"
#include "ridge/base/text.hpp"
#include "ridge/catalogue/names.hpp"

namespace ridge::cli {

namespace {

using namespace ridge::mlperf;  // NOLINT(google-build-using-namespace): the verb speaks of nothing else

constexpr std::array<std::string_view, 7> kMlperfWords = {"import",  "table",   "chart", "trend",
                                                          "compare", "explain", "rules"};
constexpr std::array<std::string_view, 5> kQuestions = {"coupling", "generations", "scenarios", "elasticity",
                                                        "virtualised"};

struct MlperfArguments {
  std::vector<std::string> words;
  std::vector<std::string> benchmarks, scenarios, rounds, submitters, accelerators, availability, by;
  std::string division, per, statistic, database, out, suite;
  bool power = false;
  bool power_tuned = false;
  bool published_units = false;
  bool rows = false;
  bool replace = false;
  bool rules = false;
};

std::vector<std::string> split_commas(const std::vector<std::string>& texts) {
  std::vector<std::string> parts;
  for (const std::string& text : texts) {
    for (std::string& part : split_words(text, ',')) parts.push_back(std::move(part));
  }
  return parts;
}

class Question {
 public:
  Question(Session& session, const MlperfArguments& arguments) : session_(session), arguments_(arguments) {}

  Result<int> run() {
    if (arguments_.words.empty())
      return wrong("", "say what to do: import, table, chart, trend, compare, explain or rules");
    const std::string& word = arguments_.words[0];
    rest_.assign(arguments_.words.begin() + 1, arguments_.words.end());
    if (word == "import") {
      if (!session_.files().is_free()) return wrong("", "import reads and writes files: ask on the command line");
      const std::pair<const char*, bool> meaningless[] = {{"--benchmark", !arguments_.benchmarks.empty()},
                                                          {"--scenario", !arguments_.scenarios.empty()},
                                                          {"--accelerator", !arguments_.accelerators.empty()},
                                                          {"--submitter", !arguments_.submitters.empty()},
                                                          {"--availability", !arguments_.availability.empty()}};
      for (const auto& [flag, given] : meaningless) {
        if (given) return wrong(flag, "chooses among results that are there: leave it out to import");
      }
      MlperfImport import{.paths = rest_};
      import.database = arguments_.database;
      if (arguments_.rounds.size() > 1) return wrong("--round", "one round is imported at a time");
      if (!arguments_.rounds.empty()) import.round = arguments_.rounds[0];
      import.system = arguments_.suite;
      import.replace = arguments_.replace;
      import.rules = arguments_.rules;
      return mlperf_import(session_, import);
    }
    if (std::find(kMlperfWords.begin(), kMlperfWords.end(), word) == kMlperfWords.end()) {
      const std::string near = nearest(word, kMlperfWords.data(), kMlperfWords.size());
      return wrong("", quoted(word) + " is nothing that mlperf does; " +
                           (near.empty() ? "there are import, table, chart, trend, compare, explain and rules"
                                         : "did you mean " + near + "?"));
    }
    if (const Status s = understand(); !s) return s.error();
    Result<MlperfRecord> record = mlperf_record(session_, arguments_.database);
    if (!record) return record.error();
    record_ = *std::move(record);
    if (const Status s = everyday_names(selection_.accelerators); !s) return s.error();
    // Names that the record does not know are refused whatever is asked.
    if (const auto known = select(record_.results, selection_, record_.names); !known) return known.error();
    if (word != "compare" && word != "explain" && word != "rules" && !rest_.empty()) {
      return wrong("", "nothing is done with " + quoted(rest_[0]));
    }
    if (word == "table") return table();
    if (word == "chart") return chart();
    if (word == "trend") return trend();
    if (word == "compare") return compare_all();
    if (word == "explain") return explain_rows();
    return list_rules();
  }

 private:
  Status understand() {
    selection_.benchmarks = split_commas(arguments_.benchmarks);
    selection_.scenarios = split_commas(arguments_.scenarios);
    selection_.rounds = split_commas(arguments_.rounds);
    selection_.submitters = split_commas(arguments_.submitters);
    selection_.accelerators = arguments_.accelerators;
    selection_.availability = split_commas(arguments_.availability);
    if (!arguments_.division.empty()) selection_.division = arguments_.division;
    selection_.measured_power = arguments_.power;
    selection_.power_tuned = arguments_.power_tuned;
    if (arguments_.suite == "training") {
      selection_.suite = Suite::training;
    } else if (arguments_.suite == "inference") {
      selection_.suite = Suite::inference;
    } else if (!arguments_.suite.empty()) {
      return wrong("--suite", "write inference or training");
    }
    if (!arguments_.per.empty()) {
      const Result<Per> per = parse_per(arguments_.per);
      if (!per) return per.error();
      summary_.per = *per;
    }
    if (!arguments_.statistic.empty()) {
      const Result<Statistic> statistic = parse_statistic(arguments_.statistic);
      if (!statistic) return statistic.error();
      summary_.statistic = *statistic;
    }
    if (const std::vector<std::string> by = split_commas(arguments_.by); !by.empty()) {
      summary_.keys.clear();
      for (const std::string& word : by) {
        const Result<Key> key = parse_key(word);
        if (!key) return key.error();
        summary_.keys.push_back(*key);
      }
    }
    // Systems tuned for efficiency are what per-watt figures are about.
    if (summary_.per == Per::watt) selection_.power_tuned = selection_.measured_power = true;
    summary_.published_units = arguments_.published_units;
    return {};
  }

  Result<RowList> selected() {
    if (summary_.per == Per::dollar) {
      const Result<const Catalogue*> catalogue = session_.catalogue();
      if (!catalogue) return catalogue.error();
      rents_ = rents(**catalogue);
      summary_.rents = &rents_;
    }
    Result<RowList> rows = select(record_.results, selection_, record_.names);
    if (rows && rows->empty()) {
      return Error{ErrorCode::not_found, "", "no result is left by these filters; leave one out"};
    }
    return rows;
  }

  Result<Summaries> summaries() {
    const Result<RowList> rows = selected();
    if (!rows) return rows.error();
    int tuned = 0;
    if (!selection_.power_tuned) {
      Selection all = selection_;
      all.power_tuned = true;
      if (const auto more = select(record_.results, all, record_.names))
        tuned = static_cast<int>(more->size() - rows->size());
    }
    Result<Summaries> found = summarise(*rows, summary_);
    if (!found) return found;
    if (found->groups.empty()) {
      return Error{ErrorCode::refused, "", found->remarks.empty() ? "nothing can be said" : found->remarks.front()};
    }
    if (tuned > 0) {
      found->remarks.push_back(fmt::format("{} power-tuned (MaxQ) {} left out; --power-tuned takes them in.", tuned,
                                           tuned == 1 ? "result is" : "results are"));
    }
    if (summary_.per == Per::dollar) {
      std::string used = "Prices are the medians of the catalogue's on-demand prices in $/GPU-hour:";
      std::set<std::string> devices;
      for (const mlperf::Group& g : found->groups) {
        for (const mlperf::Row* row : g.rows) devices.insert(row->device);
      }
      for (const std::string& device : devices) {
        if (const auto rent = rents_.find(device); rent != rents_.end())
          used += fmt::format(" {} {:.2f},", device, rent->second);
      }
      used.back() = '.';
      found->remarks.push_back(std::move(used));
    }
    note_partial(*found);
    return found;
  }

  void note_partial(Summaries& found) const {
    std::set<std::string> rounds;
    for (const mlperf::Group& g : found.groups) {
      for (const mlperf::Row* row : g.rows) {
        if (row->suite == Suite::inference) rounds.insert(row->published.round);
      }
    }
    for (const std::string& id : rounds) {
      const Round* const round = record_.names.round(Suite::inference, id);
      if (round != nullptr && round->coverage.starts_with("partial")) {
        found.remarks.push_back(id + " is " + round->coverage + ".");
      }
    }
  }

  int print(std::string_view command, const Table& table, const std::vector<std::string>& remarks) {
    return print_mlperf(session_, command, table, remarks);
  }

  Result<int> table() {
    if (arguments_.rows) {
      const Result<RowList> rows = selected();
      if (!rows) return rows.error();
      return print("table", report::mlperf_row_table(*rows, summary_), {});
    }
    const Result<Summaries> found = summaries();
    if (!found) return found.error();
    return print("table", report::mlperf_group_table(found->groups, summary_), found->remarks);
  }

  Result<int> chart() {
    const Result<Summaries> found = summaries();
    if (!found) return found.error();
    std::vector<std::string> figures;
    const std::vector<report::Bars> bars = report::mlperf_bars(found->groups, summary_);
    if (arguments_.out.empty()) {
      for (const report::Bars& b : bars) session_.print(b.title + ", " + b.axis + "\n\n" + report::bars_text(b) + "\n");
      return kFine;
    }
    for (const report::Bars& b : bars) figures.push_back(report::bars_svg(b));
    return write(figures, "chart");
  }

  Result<int> trend() {
    if (arguments_.by.empty()) summary_.keys = {Key::accelerator, Key::round};
    if (summary_.keys.size() != 2 || summary_.keys[1] != Key::round) {
      return wrong("--by", "a trend is by one key and the round: --by accelerator,round or --by submitter,round");
    }
    const Result<Summaries> found = summaries();
    if (!found) return found.error();
    if (!arguments_.out.empty()) {
      std::vector<std::string> figures;
      for (const report::Trend& t : report::mlperf_trends(found->groups, summary_))
        figures.push_back(report::trend_svg(t));
      return write(figures, "trend");
    }
    return print("trend", report::mlperf_trend_table(found->groups, found->groups[0].unit), found->remarks);
  }

  /// All figures below each other in one file.
  Result<int> write(const std::vector<std::string>& figures, std::string_view what) {
    if (!arguments_.out.ends_with(".svg")) return wrong("-o", "a chart is written as .svg");
    const std::string svg = figures.size() == 1 ? figures[0] : report::stacked(figures);
    if (const Status written = session_.files().write(arguments_.out, svg); !written) return written.error();
    session_.print(fmt::format("{}: {} {}{}\n", arguments_.out, figures.size(), what, figures.size() == 1 ? "" : "s"));
    return kFine;
  }

  /// "H100" is what the catalogue takes it for, where no result has the word itself; "h100,h200" are two.
  Status everyday_names(std::vector<std::string>& words) {
    std::vector<std::string> understood;
    for (const std::string& given : words) {
      const bool whole =
          given.find(',') == std::string::npos || mlperf::accelerator_named(record_.results, record_.names, given).ok();
      for (std::string& word : whole ? std::vector<std::string>{given} : split_commas({given})) {
        understood.push_back(std::move(word));
      }
    }
    for (std::string& word : understood) {
      if (mlperf::accelerator_named(record_.results, record_.names, word)) continue;
      const Result<const Catalogue*> catalogue = session_.catalogue();
      if (!catalogue) return catalogue.error();
      const Result<const Device*> device = device_named(**catalogue, word);
      if (device && mlperf::accelerator_named(record_.results, record_.names, (*device)->id)) word = (*device)->id;
    }
    words = std::move(understood);
    return {};
  }

  Result<int> compare_all() {
    const std::string all = "coupling, generations, scenarios, elasticity, virtualised, or two accelerators";
    if (rest_.empty()) return wrong("", "say what to compare: " + all);
    if (rest_.size() == 2) {
      if (const Status s = everyday_names(rest_); !s) return s.error();
      const auto ratios = mlperf::compare(record_.results, record_.names, rest_[0], rest_[1], selection_);
      if (!ratios) return ratios.error();
      if (ratios->empty()) {
        return Error{ErrorCode::refused, "",
                     rest_[0] + " and " + rest_[1] + " have no benchmark, scenario and round in common"};
      }
      const std::string remark =
          "Only results of the same benchmark, scenario and round are compared; software and submitters still differ.";
      if (session_.form() == Form::json || session_.form() == Form::csv) {
        return print("compare", report::mlperf_ratio_table(*ratios), {remark});
      }
      Document page = report::mlperf_compared_page(*ratios);
      page.blocks.emplace_back(Paragraph{remark, Emphasis::faint});
      session_.print(page);
      return kFine;
    }
    if (rest_.size() > 2) return wrong("", "nothing is done with " + quoted(rest_[2]));
    return answer(rest_[0], all);
  }

  Result<int> answer(const std::string& question, const std::string& all) {
    if (question == "coupling") {
      const auto knowledge = knowledge_of(session_);
      if (!knowledge) return knowledge.error();
      const auto couplings = mlperf::predicted_coupling(record_.results, record_.names, *knowledge);
      std::vector<std::string> notes = {
          "Racks of 72 against nodes of 8 of one generation. Near 1 per accelerator, the rack is worth as much "
          "as its accelerators."};
      for (std::string& sentence : report::mlperf_coupling_sentences(couplings)) notes.push_back(std::move(sentence));
      return print("compare", report::mlperf_coupling_table(couplings), notes);
    }
    if (question == "scenarios") {
      return print("compare", report::mlperf_share_table(keep(scenario_shares(record_.results, record_.names))),
                   {"The same system, benchmark and round in both scenarios."});
    }
    if (question == "virtualised") {
      return print("compare", report::mlperf_ratio_table(mlperf::virtualised(record_.results, record_.names)), {});
    }
    if (question == "generations" || question == "elasticity") {
      const Result<const Catalogue*> catalogue = session_.catalogue();
      if (!catalogue) return catalogue.error();
      if (question == "generations") {
        auto found = generations(record_.results, record_.names, **catalogue);
        std::erase_if(found, [&](const Generation& g) { return !asked_for(g.ratio.benchmark, g.ratio.scenario); });
        return print("compare", report::mlperf_generation_table(found),
                     {"Mean per accelerator in the newest round that has both; peaks are dense."});
      }
      auto found = elasticities(record_.results, record_.names, **catalogue);
      std::erase_if(found, [&](const Elasticity& e) { return !asked_for(e.benchmark, e.scenario); });
      return print(
          "compare", report::mlperf_elasticity_table(found),
          {"Percent of throughput per percent of the resource, least squares of logarithms with one constant per "
           "round, over the means of each accelerator and round; ± is one standard error.",
           "Where bandwidth and compute are correlated, the two coefficients trade off against each other; "
           "accelerators differ in software and number formats too."});
    }
    const std::string near = nearest(question, kQuestions.data(), kQuestions.size());
    return wrong("", quoted(question) + " is not a question; " +
                         (near.empty() ? "compare " + all : "did you mean " + near + "?"));
  }

  [[nodiscard]] bool asked_for(const std::string& benchmark, const std::string& scenario) const {
    const auto fits = [](const std::vector<std::string>& list, const std::string& item) {
      return list.empty() || std::any_of(list.begin(), list.end(), [&](const std::string& word) {
               return item == word || item == word + "-99.9" || item == word + "-99";
             });
    };
    return fits(selection_.benchmarks, benchmark) && fits(selection_.scenarios, scenario);
  }

  [[nodiscard]] std::vector<ScenarioShare> keep(std::vector<ScenarioShare> shares) const {
    std::erase_if(shares, [&](const ScenarioShare& s) {
      const bool detailed = !selection_.benchmarks.empty();
      return !asked_for(s.benchmark, s.scenario) || (!detailed && !s.accelerator.empty());
    });
    return shares;
  }

  Result<int> explain_rows() {
    if (rest_.empty() && !selection_.benchmarks.empty()) {
      const Result<RowList> rows = selected();
      if (!rows) return rows.error();
      return mlperf_explain(session_, record_, *rows);
    }
    if (rest_.size() != 1) {
      return wrong("", "say which row, as `ridge mlperf table --rows` names it: i5.1-17; or which --benchmark");
    }
    const mlperf::Row* const row = record_.results.find(rest_[0]);
    const auto& all = record_.results.rows;
    const bool benchmark =
        std::any_of(all.begin(), all.end(), [&](const mlperf::Row& r) { return r.benchmark == rest_[0]; });
    if (row == nullptr && benchmark) {
      selection_.benchmarks = {rest_[0]};
      rest_.clear();
      return explain_rows();
    }
    if (row == nullptr) {
      return Error{ErrorCode::not_found, "",
                   "there is no row " + quoted(rest_[0]) + "; `ridge mlperf table --rows` names them"};
    }
    return mlperf_explain(session_, record_, *row);
  }

  Result<int> list_rules() {
    if (rest_.empty()) return print("rules", report::mlperf_rule_table(record_.results), {});
    for (std::size_t i = 0; i < mlperf::rules().size(); ++i) {
      if (mlperf::rules()[i].name == rest_[0])
        return print("rules", report::mlperf_repair_table(record_.results, i), {});
    }
    std::vector<std::string_view> names;
    for (const RuleText& rule : mlperf::rules()) names.push_back(rule.name);
    const std::string near = nearest(rest_[0], names.data(), names.size());
    return Error{ErrorCode::not_found, "",
                 "there is no rule " + quoted(rest_[0]) + (near.empty() ? "" : "; did you mean " + near + "?")};
  }

  Session& session_;
  const MlperfArguments& arguments_;
  std::vector<std::string> rest_;
  Selection selection_;
  Summary summary_;
  Rents rents_;
  MlperfRecord record_;
};

std::vector<std::string> complete_mlperf_words(Session&, const std::vector<std::string>& before) {
  if (before.empty()) return {kMlperfWords.begin(), kMlperfWords.end()};
  if (before.size() == 1 && before[0] == "compare") return {kQuestions.begin(), kQuestions.end()};
  std::vector<std::string> offers;
  if (before.size() == 1 && before[0] == "rules") {
    for (const RuleText& rule : mlperf::rules()) offers.emplace_back(rule.name);
  }
  return offers;
}

Action declare_mlperf(Options& options) {
  auto a = std::make_shared<MlperfArguments>();
  options.words("import|table|chart|trend|compare|explain|rules", a->words, "what to do, and with what",
                complete_mlperf_words);
  options.list("--benchmark", "NAME", a->benchmarks, "llama2-70b-99.9, deepseek-r1, ...; a list is allowed",
               value::parts(value::name("._-+/ ")));
  options.list("--scenario", "NAME", a->scenarios, "Offline, Server, Interactive", value::parts(value::name("._- ")));
  options.list("--round", "ROUND", a->rounds, "v5.1, or v3.1..v5.1; import: the round of files that do not say",
               value::parts(value::name("._-")));
  options.list("--accelerator", "NAME", a->accelerators, "h200-sxm-141gb, or as published; may be repeated",
               value::line());
  options.list("--submitter", "NAME", a->submitters, "only these", value::parts(value::line()));
  options.list("--availability", "STATE", a->availability, "available, preview, rdi, unknown",
               value::parts(value::name("._- ")));
  options.text("--division", "NAME", a->division, "closed (default), open, network, all",
               value::one_of({"closed", "open", "network", "all"}));
  options.text("--suite", "NAME", a->suite, "inference or training; import: datacenter or edge",
               value::one_of({"inference", "training", "datacenter", "edge"}));
  options.text("--per", "WHAT", a->per, "accelerator (default), system, node, watt, dollar", value::parsed(parse_per));
  options.text("--stat", "WHAT", a->statistic, "mean (default), median, best", value::parsed(parse_statistic));
  options.list("--by", "KEYS", a->by, "accelerator, name, round, submitter, size, weights, availability, row",
               value::parts(value::parsed(parse_key)));
  options.flag("--power", a->power, "only results with measured power");
  options.flag("--power-tuned", a->power_tuned, "also systems tuned for efficiency (MaxQ)");
  options.flag("--published-units", a->published_units, "GPT-J as each round counted it");
  options.flag("--rows", a->rows, "table: one line per result, with the ids that explain takes");
  options.text("--db", "FILE", a->database, "import: keep the rows here; otherwise: read them from here",
               value::written());
  options.flag("--replace", a->replace, "import: replace rounds that are there already");
  options.flag("--rules", a->rules, "import: list every rule with the rows it touched");
  options.text("-o,--out", "FILE", a->out, "chart and trend: write an SVG", value::written());
  return [a](Session& session) { return Question(session, *a).run(); };
}

}  // namespace

Verb mlperf_verb() {
  return {
      "mlperf", "published MLPerf results per accelerator, with documented repairs",
      "Datacenter inference v3.0 to v6.1 and training v3.0 to v5.1 come with the program; `import` reads "
      "summary_results.json, the older JSON and CSV summaries and logs of submissions, all or nothing. What is wrong "
      "in "
      "the sources is repaired by named rules: `rules` lists them, `rules NAME` every row one touched.\n\n"
      "Figures are per accelerator of the whole system (a rack of 72 is 72), and only what counts the same thing is "
      "averaged. `compare` answers coupling (racks against nodes, experts against dense models), generations, "
      "scenarios (Server over Offline), elasticity (to bandwidth and compute) and virtualised, or takes two "
      "accelerators. `explain ROW` predicts a submission and says what bound it; with --benchmark and other filters "
      "instead of "
      "a row, all of them side by side.",
      "ridge mlperf table --benchmark deepseek-r1 --round v5.1\n"
      "ridge mlperf chart --benchmark llama2-70b --scenario Offline --round v5.1\n"
      "ridge mlperf compare coupling\n"
      "ridge mlperf compare b200-sxm-180gb h200-sxm-141gb --scenario Offline\n"
      "ridge mlperf explain i5.1-390\n"
      "ridge mlperf rules nodes-times-per-node",
      declare_mlperf};
}

}  // namespace ridge::cli
