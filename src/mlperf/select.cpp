// Which rows, and what may be averaged of them.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <numeric>
#include <set>
#include <unordered_set>

#include "mlperf/rules.hpp"
#include "ridge/base/text.hpp"
#include "ridge/mlperf/mlperf_analysis.hpp"

namespace ridge::mlperf {

namespace {

template <class T>
bool holds(const std::vector<T>& list, const T& item) {
  return list.empty() || std::find(list.begin(), list.end(), item) != list.end();
}

Error unknown(std::string_view flag, std::string_view what, std::string_view word,
              const std::set<std::string_view>& candidates) {
  const std::vector<std::string_view> list(candidates.begin(), candidates.end());
  const std::string near = nearest(word, list.data(), list.size());
  if (!near.empty()) {
    return {ErrorCode::not_found, std::string(flag),
            fmt::format("no result has the {} {}; did you mean {}?", what, quoted(word), near)};
  }
  // Nothing is alike: the shortest names are those that people use.
  std::vector<std::string_view> known = list;
  std::erase(known, "N/A");
  std::stable_sort(known.begin(), known.end(),
                   [](std::string_view a, std::string_view b) { return a.size() < b.size(); });
  constexpr std::size_t kShown = 8;
  std::string some;
  for (std::size_t i = 0; i < std::min(kShown, known.size()); ++i) some += (i == 0 ? "" : ", ") + std::string(known[i]);
  return {ErrorCode::not_found, std::string(flag),
          fmt::format("no result has the {} {}; there {} {}{}", what, quoted(word), known.size() == 1 ? "is" : "are",
                      some, known.size() > kShown ? fmt::format(" and {} others", known.size() - kShown) : "")};
}

/// The distinct values of a field, if anybody asks for them: most selections name few.
template <class Get>
std::set<std::string_view> distinct(const Results& results, bool asked, const Get& get) {
  std::unordered_set<std::string_view> seen;
  if (asked) {
    for (const Row& row : results.rows) seen.insert(get(row));
  }
  return {seen.begin(), seen.end()};
}

/// The ids that a word stands for: itself, or its strictest variant.
std::optional<std::string> benchmark_id(const std::set<std::string_view>& known, const Names& names,
                                        const std::string& word) {
  for (const std::string& candidate : {word, word + "-99.9", word + "-99"}) {
    if (known.contains(candidate)) return candidate;
  }
  for (const auto* table : {&names.inference_benchmarks, &names.training_benchmarks}) {
    if (const auto alias = table->find(word); alias != table->end() && known.contains(alias->second)) {
      return alias->second;
    }
  }
  return std::nullopt;
}

Result<std::vector<std::string>> expand_rounds(const Results& results, const std::vector<std::string>& words) {
  const auto known = distinct(results, true, [](const Row& row) -> const std::string& { return row.published.round; });
  std::vector<std::string> rounds;
  for (const std::string& word : words) {
    const auto full = [](std::string_view text) {
      return text.starts_with("v") ? std::string(text) : fmt::format("v{}", text);
    };
    const std::size_t dots = word.find("..");
    const std::string first = full(std::string_view(word).substr(0, dots));
    const std::string last = dots == std::string::npos ? first : full(std::string_view(word).substr(dots + 2));
    for (const std::string& end : {first, last}) {
      if (!known.contains(end)) return unknown("⟦round⟧", "round", end, known);
    }
    for (const std::string_view round : known) {
      if (round >= first && round <= last) rounds.emplace_back(round);
    }
  }
  return rounds;
}

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

std::string key_text(const Row& row, Key key) {
  switch (key) {
    case Key::accelerator:
      return row.accelerator;
    case Key::name:
      return row.published.accelerator;
    case Key::round:
      return row.published.round;
    case Key::submitter:
      return row.published.submitter;
    case Key::size:
      return fmt::format("{}", row.accelerators);
    case Key::weights:
      return row.weights.empty() ? "unknown" : row.weights;
    case Key::availability:
      return row.availability;
    case Key::row:
      return row.id;
  }
  return "";
}

std::string unit_per(std::string_view unit, Per per) {
  switch (per) {
    case Per::accelerator:
      return fmt::format("{} per accelerator", unit);
    case Per::system:
      return std::string(unit);
    case Per::node:
      return fmt::format("{} per node", unit);
    case Per::watt:
      return fmt::format("{} per W", unit);
    case Per::dollar:
      return fmt::format("{} per $", unit.substr(0, unit.find('/')));
  }
  return "";
}

}  // namespace

std::string_view name(Per per) {
  constexpr std::string_view names[] = {"accelerator", "system", "node", "watt", "dollar"};
  return names[static_cast<std::size_t>(per)];
}

std::string_view name(Statistic statistic) {
  constexpr std::string_view names[] = {"mean", "median", "best"};
  return names[static_cast<std::size_t>(statistic)];
}

std::string_view name(Key key) {
  constexpr std::string_view names[] = {"accelerator", "name",    "round",        "submitter",
                                        "size",        "weights", "availability", "row"};
  return names[static_cast<std::size_t>(key)];
}

namespace {
template <class Enum>
Result<Enum> parse_word(std::string_view text, int count, std::string_view flag) {
  std::string all;
  for (int i = 0; i < count; ++i) {
    const auto value = static_cast<Enum>(i);
    if (name(value) == text) return value;
    all += (i == 0 ? "" : i + 1 == count ? " or " : ", ") + std::string(name(value));
  }
  return Error{ErrorCode::bad_input, std::string(flag), quoted(text) + " is not known; choose " + all};
}
}  // namespace

Result<Per> parse_per(std::string_view text) {
  return parse_word<Per>(text, 5, "⟦per⟧");
}
Result<Statistic> parse_statistic(std::string_view text) {
  return parse_word<Statistic>(text, 3, "⟦stat⟧");
}
Result<Key> parse_key(std::string_view text) {
  return parse_word<Key>(text, 8, "⟦by⟧");
}

namespace {

bool same_letters(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y));
  });
}

/// The accelerator that a word stands for: its id, a published name, or the id of its device in the catalogue.
Result<std::string> accelerator_id(const std::set<std::string_view>& known, const Names& names,
                                   const std::string& word) {
  if (known.contains(word)) return word;
  // People write MI355X where the id is mi355x, and the other way round. Ids come before names as published.
  for (const auto& [published, is] : names.accelerators) {
    if (same_letters(is.accelerator, word) && known.contains(is.accelerator)) return is.accelerator;
  }
  const auto same =
      std::find_if(known.begin(), known.end(), [&](std::string_view id) { return same_letters(id, word); });
  if (same != known.end()) return std::string(*same);
  for (const auto& [published, is] : names.accelerators) {
    const bool whole = is.bare_metal.empty() && is.usual;
    if (whole && same_letters(is.device, word) && known.contains(is.accelerator)) return is.accelerator;
  }
  return unknown("⟦accelerator⟧", "accelerator", word, known);
}

std::set<std::string_view> accelerators_of(const Results& results, bool asked) {
  auto known = distinct(results, asked, [](const Row& row) -> const std::string& { return row.accelerator; });
  known.merge(distinct(results, asked, [](const Row& row) -> const std::string& { return row.published.accelerator; }));
  known.erase("");
  return known;
}

/// Words to ids and whole names; refuses those that do not occur.
Status normalise(const Results& results, const Names& names, Selection& s) {
  const auto benchmarks = distinct(results, !s.benchmarks.empty(), [&](const Row& row) {
    return !s.suite || row.suite == *s.suite ? std::string_view(row.benchmark) : std::string_view();
  });
  for (std::string& word : s.benchmarks) {
    const auto id = benchmark_id(benchmarks, names, word);
    if (!id) return unknown("⟦benchmark⟧", "benchmark", word, benchmarks);
    word = *id;
  }
  const auto accelerators = accelerators_of(results, !s.accelerators.empty());
  for (std::string& word : s.accelerators) {
    Result<std::string> id = accelerator_id(accelerators, names, word);
    if (!id) return id.error();
    word = *std::move(id);
  }
  const auto submitters = distinct(results, !s.submitters.empty(),
                                   [](const Row& row) -> const std::string& { return row.published.submitter; });
  for (const std::string& word : s.submitters) {
    if (!submitters.contains(word)) return unknown("⟦submitter⟧", "submitter", word, submitters);
  }
  const auto scenarios =
      distinct(results, !s.scenarios.empty(), [](const Row& row) -> const std::string& { return row.scenario; });
  for (std::string& word : s.scenarios) {
    if (const std::string known = scenario_of(word); !known.empty()) word = known;
    if (!scenarios.contains(word)) return unknown("⟦scenario⟧", "scenario", word, scenarios);
  }
  if (!s.rounds.empty()) {
    Result<std::vector<std::string>> rounds = expand_rounds(results, s.rounds);
    if (!rounds) return rounds.error();
    s.rounds = *std::move(rounds);
  }
  const std::set<std::string_view> divisions = {"closed", "open", "network", "all"};
  if (!divisions.contains(s.division)) return unknown("⟦division⟧", "division", s.division, divisions);
  const std::set<std::string_view> states = {"available", "preview", "rdi", "unknown"};
  for (const std::string& word : s.availability) {
    if (!states.contains(word)) return unknown("⟦availability⟧", "availability", word, states);
  }
  if (!s.suite && s.benchmarks.empty()) s.suite = Suite::inference;
  return {};
}

}  // namespace

Result<std::string> accelerator_named(const Results& results, const Names& names, const std::string& word) {
  return accelerator_id(accelerators_of(results, true), names, word);
}

Result<RowList> select(const Results& results, const Selection& selection, const Names& names) {
  Selection s = selection;
  if (const Status fine = normalise(results, names, s); !fine) return fine.error();
  RowList rows;
  for (const Row& row : results.rows) {
    const bool network = row.published.category == "network";
    const bool division =
        s.division == "all" || (s.division == "network" ? network : !network && row.published.division == s.division);
    const bool accelerator = s.accelerators.empty() || holds(s.accelerators, row.accelerator) ||
                             holds(s.accelerators, row.published.accelerator);
    if (division && accelerator && (!s.suite || row.suite == *s.suite) && holds(s.benchmarks, row.benchmark) &&
        holds(s.scenarios, row.scenario) && holds(s.rounds, row.published.round) &&
        holds(s.submitters, row.published.submitter) && holds(s.availability, row.availability) &&
        (!s.measured_power || row.published.power_w) && (s.power_tuned || !row.power_tuned)) {
      rows.push_back(&row);
    }
  }
  return rows;
}

Rents rents(const Catalogue& catalogue) {
  std::map<std::string, std::vector<double>, std::less<>> asked;
  for (const Price& price : catalogue.prices()) {
    if (price.kind == PriceKind::on_demand && price.per_gpu_hour && !price.device.empty()) {
      asked[price.device].push_back(3600 * price.per_gpu_hour->value());
    }
  }
  Rents result;
  for (auto& [device, values] : asked) result.emplace(device, median_of(std::move(values)));
  return result;
}

std::optional<RowFigure> figure(const Row& row, const Summary& summary) {
  const bool as_published =
      summary.published_units && row.suite == Suite::inference && row.benchmark.starts_with("gptj");
  const double value = as_published ? row.published.result : row.value;
  const std::string unit = as_published ? unit_of(row.published.unit) : row.unit;
  const double accelerators = row.accelerators;
  double rent = 0;
  if (summary.per == Per::dollar && summary.rents != nullptr) {
    if (const auto known = summary.rents->find(row.device); known != summary.rents->end()) rent = known->second;
  }
  if (row.suite == Suite::training) {
    const double hours = value / 60;
    switch (summary.per) {
      case Per::system:
        return RowFigure{value, "minutes to train"};
      case Per::accelerator:
        if (accelerators == 0) return std::nullopt;
        return RowFigure{hours * accelerators, "accelerator-hours to train"};
      case Per::node:
        return RowFigure{hours * row.nodes, "node-hours to train"};
      case Per::dollar:
        if (rent == 0 || accelerators == 0) return std::nullopt;
        return RowFigure{hours * accelerators * rent, "$ to train"};
      case Per::watt:
        return std::nullopt;
    }
  }
  if (unit == "ms" || unit == "s") {  // a latency is not shared between accelerators
    if (summary.per != Per::system) return std::nullopt;
    return RowFigure{value, unit};
  }
  double divisor = 0;
  switch (summary.per) {
    case Per::system:
      divisor = 1;
      break;
    case Per::accelerator:
      divisor = accelerators;
      break;
    case Per::node:
      divisor = row.nodes;
      break;
    case Per::watt:
      divisor = row.published.power_w.value_or(0);
      break;
    case Per::dollar:
      divisor = rent * accelerators / 3600;
      break;
  }
  if (!(divisor > 0)) return std::nullopt;
  return RowFigure{value / divisor, unit_per(unit, summary.per)};
}

namespace {

/// Offline first: it is what the others are read against.
int scenario_rank(std::string_view scenario) {
  return scenario == "Offline" ? 0 : scenario == "Server" ? 1 : scenario == "Interactive" ? 2 : 3;
}

struct Divided {
  const Row* row;
  RowFigure figure;
};

Status check_group(const std::vector<Divided>& rows, const Group& group, const Summary& summary) {
  const auto where = [&] {
    std::string text = group.benchmark + " " + group.scenario;
    for (const std::string& key : group.keys) text += ", " + key;
    return text;
  };
  for (const Divided& d : rows) {
    if (d.figure.unit == rows[0].figure.unit) continue;
    std::map<std::string, std::set<std::string>> by_unit;
    for (const Divided& each : rows) by_unit[each.figure.unit].insert(each.row->published.round);
    std::string units;
    for (const auto& [unit, rounds] : by_unit) {
      units += fmt::format("{}{} in {}", units.empty() ? "" : ", ", unit, fmt::join(rounds, " "));
    }
    return Error{
        ErrorCode::refused, "",
        fmt::format("{}: rows of different units cannot be averaged ({}); take one ⟦round⟧, {}", where(), units,
                    summary.published_units ? "leave out ⟦published_units⟧, or split with ⟦by=round⟧"
                                            : "or split with ⟦by=round⟧")};
  }
  const bool training = rows[0].row->suite == Suite::training;
  if (training && (summary.per == Per::system) && summary.statistic != Statistic::best) {
    for (const Divided& d : rows) {
      if (d.row->accelerators == rows[0].row->accelerators) continue;
      return Error{
          ErrorCode::refused, "",
          fmt::format("{}: times to train on {} and {} accelerators cannot be averaged; take ⟦per=accelerator⟧, "
                      "or split with ⟦by=accelerator,size⟧",
                      where(), rows[0].row->accelerators, d.row->accelerators)};
    }
  }
  return {};
}

Group summarise_group(const std::vector<Divided>& rows, Group group, const Summary& summary) {
  group.unit = rows[0].figure.unit;
  group.lower_is_better = rows[0].row->suite == Suite::training || group.unit == "ms" || group.unit == "s";
  std::vector<double> values;
  double total = 0;
  double accelerators = 0;
  for (const Divided& d : rows) {
    values.push_back(d.figure.value);
    total += summary.published_units && d.row->benchmark.starts_with("gptj") ? d.row->published.result : d.row->value;
    accelerators += d.row->accelerators;
    group.rows.push_back(d.row);
  }
  const auto n = static_cast<double>(rows.size());
  group.mean_total = total / n;
  group.mean_accelerators = accelerators / n;
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  group.low = *low;
  group.high = *high;
  switch (summary.statistic) {
    case Statistic::mean:
      group.value = std::accumulate(values.begin(), values.end(), 0.0) / n;
      break;
    case Statistic::median:
      group.value = median_of(values);
      break;
    case Statistic::best:
      group.value = group.lower_is_better ? group.low : group.high;
      break;
  }
  return group;
}

}  // namespace

Result<Summaries> summarise(const RowList& rows, const Summary& summary) {
  Summaries result;
  std::map<std::vector<std::string>, std::vector<Divided>> grouped;
  std::map<std::string, int> left_out;
  std::set<std::string> old_rounds;
  std::set<std::string> new_rounds;
  for (const Row* row : rows) {
    auto figure = mlperf::figure(*row, summary);
    if (!figure) {
      const bool latency = row->unit == "ms" || row->unit == "s";
      std::string why = latency ? "are latencies, which are not shared: take ⟦per=system⟧" : "";
      if (why.empty() && summary.per == Per::watt) why = "have no measured power";
      if (why.empty() && row->accelerators == 0) why = "have no accelerator";
      if (why.empty()) why = "are of accelerators without an on-demand price in the catalogue";
      ++left_out[why];
      continue;
    }
    if (row->scenario == "Server" && row->unit != "tokens/s") {
      (row->published.round <= "v4.0" ? old_rounds : new_rounds).insert(row->published.round);
    }
    std::vector<std::string> key = {row->benchmark, row->scenario};
    for (const Key k : summary.keys) key.push_back(key_text(*row, k));
    grouped[std::move(key)].push_back({row, *std::move(figure)});
  }
  for (const auto& [key, divided] : grouped) {
    Group group;
    group.benchmark = key[0];
    group.scenario = key[1];
    group.keys.assign(key.begin() + 2, key.end());
    if (const Status fine = check_group(divided, group, summary); !fine) return fine.error();
    result.groups.push_back(summarise_group(divided, std::move(group), summary));
  }
  std::stable_sort(result.groups.begin(), result.groups.end(), [](const Group& a, const Group& b) {
    if (a.benchmark != b.benchmark) return a.benchmark < b.benchmark;
    if (a.scenario != b.scenario) {
      return std::pair(scenario_rank(a.scenario), a.scenario) < std::pair(scenario_rank(b.scenario), b.scenario);
    }
    return a.lower_is_better ? a.value < b.value : a.value > b.value;
  });
  for (const auto& [why, count] : left_out) {
    result.remarks.push_back(fmt::format("{} {} left out: {} {}", count, count == 1 ? "row is" : "rows are",
                                         count == 1 ? "it" : "they", why));
  }
  if (!old_rounds.empty() && !new_rounds.empty()) {
    result.remarks.emplace_back(
        "Server results up to v4.0 count scheduled samples, later ones completed samples (1 to 3 % apart).");
  }
  return result;
}

}  // namespace ridge::mlperf
