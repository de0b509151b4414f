// Training runs in sentences and tables: how long, how fast, at what cost.
#include <fmt/format.h>

#include <algorithm>

#include "claims/kinds/all_kinds.hpp"
#include "claims/kinds/finders.hpp"
#include "claims/reading/collector.hpp"

namespace ridge::claims {

namespace {

/// Rows such as "Llama 3 8B | 64 | H100 | BF16 | 3 days | $5 000".
struct Row {
  const Token *model = nullptr, *device = nullptr, *gpus = nullptr, *time = nullptr, *cost = nullptr;
  std::string format;
};

Row read_row(const Passage& passage) {
  Row row;
  for (const TableCell& cell : passage.cells) {
    if (row.model == nullptr) row.model = first_name(cell.tokens, NameKind::model);
    if (row.device == nullptr) row.device = first_name(cell.tokens, NameKind::device);
    if (const Token* format = first_name(cell.tokens, NameKind::format)) row.format = format->name->id;
    const Token* number = first_number(cell.tokens);
    if (number == nullptr) continue;
    if (is_a<Seconds>(number->measure)) row.time = number;
    if (is_a<Dollars>(number->measure)) row.cost = number;
    const bool plain = !number->measure.has_unit() && number->measure.form == Measure::Form::plain;
    if (header_has(cell, {"count", "gpus"}) && plain) row.gpus = number;
  }
  return row;
}

/// What a sentence says of a training run: model, how many of which device, for how long, at what MFU.
struct Run {
  const Token *model = nullptr, *device = nullptr, *gpus = nullptr, *time = nullptr, *mfu = nullptr, *rate = nullptr,
              *cost = nullptr, *tokens = nullptr;
  std::string format;
};

Run read_run(const Tokens& tokens) {
  Run run;
  run.model = first_name(tokens, NameKind::model);
  run.device = first_name(tokens, NameKind::device);
  if (const Token* format = first_name(tokens, NameKind::format)) run.format = format->name->id;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token& t = tokens[i];
    if (!t.is_number()) continue;
    const Measure& m = t.measure;
    const bool plain = !m.has_unit() && m.form != Measure::Form::percent;
    // "512 H100s", "8x H100", "512 GPUs"
    if ((plain && i + 1 < tokens.size() && &tokens[i + 1] == run.device) || is_a<Gpus>(m)) run.gpus = &t;
    if (is_a<Seconds>(m) && run.time == nullptr) run.time = &t;
    if (is_a<TokensPerSecond>(m) && run.rate == nullptr) run.rate = &t;
    if (is_a<ridge::Tokens>(m) && run.tokens == nullptr) run.tokens = &t;
    if (is_a<Dollars>(m) && run.cost == nullptr) run.cost = &t;
    const bool utilisation = m.form == Measure::Form::percent && any_word(tokens, i > 3 ? i - 3 : 0, i + 3, {"mfu"});
    if (utilisation && run.mfu == nullptr) run.mfu = &t;
  }
  return run;
}

std::vector<Found> run_inputs(const Run& run, Collector& out) {
  std::vector<Found> inputs = {{"model", run.model->name->id}, {"device", run.device->name->id}};
  if (!run.format.empty()) inputs.push_back({"format", run.format});
  if (run.mfu != nullptr) {
    inputs.push_back(found("mfu", run.mfu->measure));
    out.use(*run.mfu);
  }
  return inputs;
}

/// "Training Llama 3 70B on 512 H100s takes 14 days".
void recognise_time_sentence(const Passage& sentence, Collector& out) {
  const Tokens& tokens = sentence.tokens;
  if (!any_stem(tokens, 0, tokens.size(), {"train", "pretrain"})) return;
  const Run run = read_run(tokens);
  if (run.model == nullptr || run.device == nullptr || run.gpus == nullptr || run.time == nullptr) return;
  if (out.used(*run.time)) return;
  std::vector<Found> inputs = run_inputs(run, out);
  inputs.push_back(found("gpus", run.gpus->measure));
  if (run.tokens != nullptr) inputs.push_back(found("tokens", run.tokens->measure));
  out.use(*run.gpus);
  out.add(
      training_time_kind(), *run.time,
      fmt::format("training {} on {} {} takes {}", run.model->text, run.gpus->text, run.device->text, run.time->text),
      std::move(inputs));
}

/// "512 H100 for 14 days cost $100k".
void recognise_run_sentence(const Passage& sentence, Collector& out) {
  const Run run = read_run(sentence.tokens);
  if (run.device == nullptr || run.gpus == nullptr || run.time == nullptr || run.cost == nullptr) return;
  if (!any_stem(sentence.tokens, 0, sentence.tokens.size(), {"cost", "rent", "bill"})) return;
  std::vector<Found> inputs = {
      {"device", run.device->name->id}, found("gpus", run.gpus->measure), found("time", run.time->measure)};
  for (const Token& t : sentence.tokens) {
    if (t.is_number() && is_a<DollarsPerSecond>(t.measure)) inputs.push_back(found("rent", t.measure));
  }
  out.add(run_cost_kind(), *run.cost,
          fmt::format("{} {} for {} cost {}", run.gpus->text, run.device->text, run.time->text, run.cost->text),
          std::move(inputs));
}

}  // namespace

void find_training_times(const Passage& passage, Collector& out) {
  if (!passage.is_row()) {
    recognise_time_sentence(passage, out);
    return;
  }
  const Row row = read_row(passage);
  if (row.model == nullptr || row.device == nullptr || row.gpus == nullptr || row.time == nullptr) return;
  std::vector<Found> inputs = {
      {"model", row.model->name->id}, {"device", row.device->name->id}, {"gpus", row.gpus->text}};
  inputs.back() = found("gpus", row.gpus->measure);
  if (!row.format.empty()) inputs.push_back({"format", row.format});
  out.use(*row.gpus);
  out.add(training_time_kind(), *row.time,
          fmt::format("{} on {} x {} takes {}", row.model->text, row.gpus->text, row.device->text, row.time->text),
          std::move(inputs));
}

void find_run_costs(const Passage& passage, Collector& out) {
  if (!passage.is_row()) {
    recognise_run_sentence(passage, out);
    return;
  }
  const Row row = read_row(passage);
  if (row.device == nullptr || row.gpus == nullptr || row.time == nullptr || row.cost == nullptr) return;
  out.add(run_cost_kind(), *row.cost,
          fmt::format("{} x {} for {} cost {}", row.gpus->text, row.device->text, row.time->text, row.cost->text),
          {{"device", row.device->name->id}, found("gpus", row.gpus->measure), found("time", row.time->measure)});
}

/// "At 54% MFU an H100 trains Llama 3.1 405B at 202 tok/s".
void find_training_rates(const Passage& passage, Collector& out) {
  if (passage.is_row() || !any_stem(passage.tokens, 0, passage.tokens.size(), {"train", "pretrain"})) return;
  const Run run = read_run(passage.tokens);
  if (run.model == nullptr || run.device == nullptr || run.mfu == nullptr || run.rate == nullptr) return;
  if (out.used(*run.rate)) return;
  std::vector<Found> inputs = run_inputs(run, out);
  Measure each = run.rate->measure;
  // A cluster's rate is shared out; one that is said per GPU is not.
  const bool per_gpu = each.exponents[6] == -1 || any_word(passage.tokens, {"per", "each", "one"});
  if (run.gpus != nullptr && !per_gpu) {
    each = scaled(each, 1 / run.gpus->measure.value);
    each.written /= run.gpus->measure.value;
    each.significant /= run.gpus->measure.value;
    out.use(*run.gpus);
  }
  out.add(training_rate_kind(), *run.rate, each,
          fmt::format("{} at {} MFU on {}: {}", run.model->text, run.mfu->text, run.device->text, run.rate->text),
          std::move(inputs));
}

/// "went from 72 cents per 1M tokens ... to 54.2 cents per million tokens" after MFUs of the same format.
void find_training_costs(const Passage& passage, Collector& out) {
  if (passage.is_row()) return;
  const Tokens& tokens = passage.tokens;
  Memory& memory = out.memory;
  const Token* named = first_name(tokens, NameKind::format);
  std::string format = named == nullptr ? "" : named->name->id;
  std::vector<const Token*> shares, costs;
  std::vector<std::string> formats;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token& t = tokens[i];
    if (t.is_name(NameKind::format)) formats.push_back(t.name->id);
    if (!t.is_number()) continue;
    const bool utilisation =
        t.measure.form == Measure::Form::percent && i + 1 < tokens.size() && tokens[i + 1].is("mfu");
    if (utilisation) shares.push_back(&t);
    if (is_a<DollarsPerToken>(t.measure)) costs.push_back(&t);
    if (is_a<DollarsPerSecond>(t.measure) && t.measure.exponents[6] == -1) memory.rent = t.measure;
  }
  if (shares.size() >= 2 && formats.size() >= 2 && any_word(tokens, {"respectively"})) {
    for (std::size_t k = 0; k < 2; ++k) memory.utilisation[formats[k]] = {shares[k]->measure};
  } else if (!shares.empty() && !format.empty()) {
    std::vector<Measure>& said = memory.utilisation[format];
    said.clear();
    for (const Token* t : shares) said.push_back(t->measure);
  }
  if (costs.empty() || !memory.rent || format.empty() || memory.model.empty()) return;
  const Token* device = nullptr;
  const std::size_t before = name_before(tokens, tokens.size(), NameKind::device);
  if (before != kNowhere) device = &tokens[before];
  const auto said = memory.utilisation.find(format);
  if (said == memory.utilisation.end() || said->second.size() < costs.size()) return;
  if (!any_stem(tokens, 0, tokens.size(), {"train"})) return;
  for (std::size_t k = 0; k < costs.size(); ++k) {
    out.add(training_cost_kind(), *costs[k],
            fmt::format("training {} in {} at {} costs {}", memory.model, format, said->second[k].text, costs[k]->text),
            {{"model", memory.model},
             {"device", device == nullptr ? memory.device : device->name->id},
             {"format", format},
             found("mfu", said->second[k]),
             found("rent", *memory.rent)});
  }
}

}  // namespace ridge::claims
