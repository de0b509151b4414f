// Results that are said to be MLPerf's, against the published record: value, per what, and unit.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "claims/kinds/all_kinds.hpp"
#include "claims/known/mlperf_record.hpp"
#include "claims/reading/collector.hpp"
#include "ridge/base/letters.hpp"
#include "ridge/base/text.hpp"

namespace ridge::claims {

namespace {

/// By id, or the strictest benchmark of a catalogue model.
std::string benchmark_id(const Record::Book& book, const std::string& text) {
  std::string found;
  for (const mlperf::Benchmark& b : book.names.benchmarks) {
    if (b.suite != mlperf::Suite::inference) continue;
    if (b.id == text) return b.id;
    if (b.model == text && (found.empty() || b.id.ends_with("99.9"))) found = b.id;
  }
  return found;
}

std::vector<const mlperf::Row*> rows_of(const Record::Book& book, Inputs& inputs, const std::string& benchmark) {
  const std::string scenario = lower(inputs.text("scenario"));
  const std::string round = inputs.text("round");
  const std::string submitter = lower(inputs.text("submitter"));
  std::vector<const mlperf::Row*> rows;
  std::string device = inputs.text("device");
  const Name* named = inputs.context().names.of_id(device);
  if (named == nullptr) named = inputs.context().names.find(device);
  if (named != nullptr) device = named->id;
  for (const mlperf::Row& row : book.results.rows) {
    const bool fits =
        row.suite == mlperf::Suite::inference && row.benchmark == benchmark && !row.copied && !row.power_tuned &&
        row.published.division == "closed" && (device.empty() || row.device == device) &&
        (scenario.empty() || lower(row.scenario) == scenario) && (round.empty() || row.published.round == round) &&
        (submitter.empty() || lower(row.published.submitter) == submitter);
    if (fits) rows.push_back(&row);
  }
  return rows;
}

std::string row_text(const mlperf::Row& row) {
  return fmt::format("{} {} {}, {} x {} ({})", row.published.round, row.published.submitter, row.id, row.accelerators,
                     row.device.empty() ? row.accelerator : row.device, row.scenario);
}

Measure rate_of(double value, const Measure& like) {
  return is_a<TokensPerSecond>(like) ? measure_of(TokensPerSecond(value)) : measure_of(value);
}

Result<Recomputed> recompute_mlperf(Inputs& inputs) {
  const Record& record = inputs.context().record;
  const Record::Book* book = record.book();
  if (book == nullptr) return cannot("the MLPerf tables cannot be read: " + record.problem());
  const std::string benchmark = benchmark_id(*book, inputs.text("benchmark"));
  if (benchmark.empty()) return cannot(quoted(inputs.text("benchmark")) + " is no MLPerf inference benchmark");
  const auto rows = rows_of(*book, inputs, benchmark);
  if (rows.empty()) return cannot("no closed MLPerf result fits this description");
  const Measure& claimed = inputs.claim().claimed;
  if (!(claimed.value > 0) && inputs.text("unit").empty()) return cannot("a result is above zero");
  const bool system = inputs.text("per") == "system";
  const auto value = [&](const mlperf::Row& row) { return system ? row.value : row.value / row.accelerators; };
  const auto distance = [&](const mlperf::Row& row) { return std::abs(std::log(value(row) / claimed.value)); };
  Recomputed result;
  if (claimed.value > 0) {
    const mlperf::Row& nearest = **std::min_element(
        rows.begin(), rows.end(), [&](const auto* a, const auto* b) { return distance(*a) < distance(*b); });
    result.right = rate_of(value(nearest), claimed);
    result.formula =
        system ? fmt::format("the nearest of {} published results", rows.size())
               : fmt::format("{} {} / {} accelerators, the nearest of {} published results",
                             format_number(nearest.value, 6), nearest.unit, nearest.accelerators, rows.size());
    inputs.note("result", row_text(nearest), "MLCommons, MLPerf Inference " + nearest.published.round);
    for (const mlperf::Row* row : rows) {
      if (system) {
        result.readings.push_back({rate_of(row->value / row->accelerators, claimed), Verdict::unit,
                                   "that is the result of one accelerator: " + row_text(*row), 0.012});
        continue;
      }
      if (row->accelerators > 1) {
        result.readings.push_back({rate_of(row->value, claimed), Verdict::unit,
                                   fmt::format("that is the result of all {}: {}", row->accelerators, row_text(*row)),
                                   0.012});
      }
      const int per_node = row->published.accelerators_per_node;
      if (per_node > 0 && per_node != row->accelerators) {
        result.readings.push_back({rate_of(row->value / per_node, claimed), Verdict::wrong,
                                   fmt::format("divided by the {} of one node: {}", per_node, row_text(*row)), 0.012});
      }
    }
  }
  // A unit that is named has to be the record's.
  const std::string unit = lower(inputs.text("unit"));
  if (!unit.empty()) {
    const std::string published = rows[0]->unit;
    if (unit != published) {
      result.compare = Compare::holds;
      result.holds = false;
      result.otherwise = Verdict::unit;
      result.readings.clear();
      result.because = fmt::format("MLPerf counts {} in {}, not {}", benchmark, published, unit);
    } else if (claimed.value <= 0 || claimed.text.empty()) {
      result.compare = Compare::holds;
      result.holds = true;
    }
    if (result.formula.empty()) result.formula = fmt::format("unit of {} in the published record", benchmark);
  }
  return result;
}

Result<Recomputed> recompute_comparable(Inputs& inputs) {
  const Record& record = inputs.context().record;
  const Record::Book* book = record.book();
  if (book == nullptr) return cannot("the MLPerf tables cannot be read: " + record.problem());
  const std::string benchmark = benchmark_id(*book, inputs.text("benchmark"));
  const std::string rounds = inputs.text("rounds");
  std::set<std::string> units;
  for (const mlperf::Row& row : book->results.rows) {
    const bool fits = row.suite == mlperf::Suite::inference && row.benchmark == benchmark &&
                      row.scenario == "Offline" &&
                      (" | " + rounds + " | ").find(" | " + row.published.round + " | ") != std::string::npos;
    if (fits) units.insert(lower(row.published.unit));
  }
  if (units.empty()) return cannot("no MLPerf result fits this description");
  Recomputed result;
  result.formula = fmt::format("units of {} in {}", benchmark, rounds);
  result.compare = Compare::holds;
  result.holds = units.size() == 1;
  result.otherwise = Verdict::unit;
  if (!result.holds) {
    for (const std::string& unit : units) result.because += (result.because.empty() ? "published in " : " and ") + unit;
    result.because += ": not to be compared or averaged";
  }
  return result;
}

// --- finding it in text ------------------------------------------------------------------------------------------

/// The unit in a header of a column of totals: "samples/s", "tokens/s".
std::string unit_in(const std::string& header) {
  const std::string low = lower(header);
  for (const char* unit : {"samples/s", "tokens/s", "queries/s"}) {
    if (low.find(unit) != std::string::npos) return unit;
  }
  return "";
}

void recognise_mlperf_row(const Passage& row, Collector& out) {
  const Token* model = first_name(*row.heading, NameKind::model);
  const Token* device = first_name(row.tokens, NameKind::device);
  if (model == nullptr || device == nullptr || out.memory.unit_tables.contains(row.table)) return;
  for (const TableCell& cell : row.cells) {
    const std::string unit = unit_in(cell.header->text);
    if (unit.empty() || !header_has(cell, {"total"}) || cell.tokens.empty()) continue;
    out.memory.unit_tables.insert(row.table);
    Measure claimed;
    claimed.text = unit;
    out.add(mlperf_kind(), cell.tokens[0], claimed, fmt::format("results of {} are in {}", model->text, unit),
            {{"benchmark", model->name->id}, {"unit", unit}});
    return;
  }
}

/// "v5.1", or empty.
std::string round_in(const Tokens& tokens) {
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    const std::string& word = tokens[i].text;
    const bool version =
        tokens[i].type == Token::Type::word && word.size() == 2 && word[0] == 'v' && word[1] >= '0' && word[1] <= '9';
    // "v5" and ".1": the point starts a number.
    if (version && tokens[i + 1].is_number() && tokens[i + 1].text.starts_with('.')) {
      return word + tokens[i + 1].text.substr(0, 2);
    }
  }
  return "";
}

/// "In Llama-70B offline inference its throughput reaches 23,512 tokens/second".
void recognise_mlperf_sentence(const Passage& sentence, Collector& out) {
  const Tokens& tokens = sentence.tokens;
  const bool offline = any_word(tokens, {"offline"});
  const bool named = any_word(tokens, {"mlperf"});
  const bool server = any_word(tokens, {"server"});
  if (!offline && !(named && server)) return;
  const Token* model = first_name(tokens, NameKind::model);
  if (model == nullptr) return;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token& t = tokens[i];
    if (!t.is_number() || !is_a<TokensPerSecond>(t.measure) || out.used(t)) continue;
    const Token* part = nullptr;
    for (std::size_t j = i; part == nullptr && j-- > 0;) {
      if (tokens[j].is_name(NameKind::device) || tokens[j].is_name(NameKind::system)) part = &tokens[j];
    }
    if (part == nullptr && sentence.previous != nullptr) part = first_hardware(sentence.previous->tokens);
    if (part == nullptr) continue;
    const bool rack = part->name->kind == NameKind::system;
    const std::string device = rack ? out.context().catalogue.system(part->name->id)->device : part->name->id;
    std::vector<Found> inputs = {
        {"benchmark", model->name->id}, {"device", device}, {"scenario", offline ? "Offline" : "Server"}};
    const std::string round = round_in(tokens);
    if (!round.empty()) inputs.push_back({"round", round});
    // "an 8-card system", "the NVL72": the whole system is meant, unless it says per GPU.
    bool system = rack;
    for (std::size_t j = 0; j < i; ++j) {
      const bool times = j + 1 < i && tokens[j + 1].is_name(NameKind::device) && !tokens[j].measure.has_unit() &&
                         tokens[j].measure.form != Measure::Form::percent;
      const bool cards = j + 2 < i && tokens[j + 1].is("-") && (tokens[j + 2].is("card") || tokens[j + 2].is("gpu"));
      system = system || (tokens[j].is_number() && tokens[j].measure.value > 1 &&
                          (is_a<Gpus>(tokens[j].measure) || cards || times));
    }
    if (system && t.measure.exponents[6] == 0) inputs.push_back({"per", "system"});
    out.add(mlperf_kind(), t, fmt::format("{} on {}: {}", part->text, model->text, t.text), std::move(inputs));
  }
}

void recognise_mlperf(const Passage& passage, Collector& out) {
  if (passage.is_row()) {
    recognise_mlperf_row(passage, out);
  } else {
    recognise_mlperf_sentence(passage, out);
  }
}

}  // namespace

const Kind& mlperf_kind() {
  static const Kind kind{"mlperf",
                         "a result against the published MLPerf record",
                         "published result / accelerators, in the record's unit",
                         "benchmark device? scenario? round? submitter? per? unit?",
                         false,
                         recompute_mlperf,
                         recognise_mlperf};
  return kind;
}

const Kind& mlperf_comparable_kind() {
  static const Kind kind{"mlperf-comparable",
                         "whether results of several rounds may be compared",
                         "units of the rounds are the same",
                         "benchmark rounds",
                         false,
                         recompute_comparable,
                         nullptr};
  return kind;
}

}  // namespace ridge::claims
