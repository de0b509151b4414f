// Weights, KV caches, what fits, and what training keeps.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "claims/all_kinds.hpp"
#include "claims/collector.hpp"
#include "claims/figures.hpp"
#include "claims/memory_parts.hpp"
#include "ridge/text.hpp"

namespace ridge::claims {

double nominal_bytes(Format format) {
  switch (format) {
    case Format::fp32:
      return 4;
    case Format::bf16:
    case Format::fp16:
      return 2;
    case Format::fp8:
    case Format::mxfp8:
    case Format::int8:
      return 1;
    default:
      return 0.5;
  }
}

Result<Size> size_of(Inputs& inputs) {
  if (inputs.has("model")) {
    const auto model = inputs.model();
    if (!model) return model.error();
    const double parameters = count_parameters(**model).total;
    return Size{parameters, fmt::format("{} parameters", format_number(parameters / 1e9, 4) + "B"), *model};
  }
  const auto count = inputs.count("parameters");
  if (!count) return count.error();
  return Size{*count, fmt::format("{}B parameters", format_number(*count / 1e9, 4)), nullptr};
}

namespace {

// A gibibyte is 1.0737 gigabytes: what a tool prints as "GB" is often the former.
void add_binary(Recomputed& result) {
  result.readings.push_back(
      {scaled(*result.right, 1 / 1.073741824), Verdict::unit, "that is in GiB, written as GB", 0.012});
}

Result<Recomputed> recompute_weights(Inputs& inputs) {
  const auto size = size_of(inputs);
  if (!size) return size.error();
  const auto format = inputs.format("format", Format::bf16);
  if (!format) return format.error();
  Recomputed result;
  result.right = measure_of(Bytes(size->parameters * nominal_bytes(*format)));
  result.formula = fmt::format("{} x {:g} B", size->shown, nominal_bytes(*format));
  add_binary(result);
  for (const double wrong : {0.5, 1.0, 2.0, 4.0}) {
    if (wrong == nominal_bytes(*format)) continue;
    result.readings.push_back({measure_of(Bytes(size->parameters * wrong)), Verdict::wrong,
                               fmt::format("that is at {:g} bytes a parameter", wrong), 0.03});
  }
  return result;
}

Result<Bytes> kv_of(Inputs& inputs, const Model& model, std::string& formula) {
  const auto context = inputs.count("context", std::nullopt, true);
  if (!context) return context.error();
  const auto batch = inputs.count("batch", 1.0);
  if (!batch) return batch.error();
  const auto format = inputs.format("kv-format", Format::bf16);
  if (!format) return format.error();
  if (*context > 1e9 || *batch > 1e9) return cannot("a context or batch of this size makes no sense");
  const double each = nominal_bytes(*format);
  const Bytes all = kv_bytes_per_sequence(model, each, static_cast<int>(*context)) * *batch;
  formula =
      fmt::format("{} of {} x {:g} tokens{}", format_number(kv_bytes_per_token(model, each, 0).value(), 6) + " B/token",
                  model.id, *context, *batch == 1 ? "" : fmt::format(" x {:g}", *batch));
  return all;
}

Result<Recomputed> recompute_kv(Inputs& inputs) {
  const auto model = inputs.model();
  if (!model) return model.error();
  Recomputed result;
  const auto bytes = kv_of(inputs, **model, result.formula);
  if (!bytes) return bytes.error();
  result.right = measure_of(*bytes);
  add_binary(result);
  // Counting every query head as if it had its own keys and values.
  const Mixer& mixer = (*model)->groups.empty() ? Mixer{} : (*model)->groups[0].mixer;
  if (mixer.kv_heads > 0 && mixer.heads > mixer.kv_heads) {
    result.readings.push_back(
        {scaled(*result.right, static_cast<double>(mixer.heads) / mixer.kv_heads), Verdict::wrong,
         fmt::format("that counts all {} heads; keys and values have {}", mixer.heads, mixer.kv_heads), 0.03});
  }
  return result;
}

Result<Recomputed> recompute_serving(Inputs& inputs) {
  const auto model = inputs.model();
  if (!model) return model.error();
  const auto format = inputs.format("format", Format::bf16);
  if (!format) return format.error();
  std::string kv_formula;
  const auto kv = kv_of(inputs, **model, kv_formula);
  if (!kv) return kv.error();
  Bytes extra(0);
  if (inputs.has("activations")) {
    const auto activations = inputs.measure("activations");
    if (!activations) return activations.error();
    extra = Bytes(activations->measure.value);
  }
  const Bytes weights(count_parameters(**model).total * nominal_bytes(*format));
  Recomputed result;
  result.right = measure_of(weights + *kv + extra);
  result.formula = fmt::format("weights {} + KV {} ({}) + activations {}", ridge::format(weights), ridge::format(*kv),
                               kv_formula, ridge::format(extra));
  add_binary(result);
  return result;
}

Result<Recomputed> recompute_largest(Inputs& inputs) {
  const Context& context = inputs.context();
  const auto format = inputs.format("format", Format::bf16);
  if (!format) return format.error();
  const auto memory = inputs.has("memory") ? inputs.measure("memory") : [&]() -> Result<Looked> {
    const auto device = inputs.device();
    if (!device) return device.error();
    return look_up(context, (*device)->id + ":memory");
  }();
  if (!memory) return memory.error();
  if (!is_a<Bytes>(memory->measure)) return cannot("the memory is no amount of data");
  Recomputed result;
  result.right = measure_of(memory->measure.value / nominal_bytes(*format));
  result.right->text = format_number(result.right->value / 1e9, 3) + "B parameters";
  result.formula = fmt::format("{} / {:g} B a parameter", memory->shown, nominal_bytes(*format));
  for (const double wrong : {0.5, 1.0, 2.0, 4.0, 8.0}) {
    if (wrong == nominal_bytes(*format)) continue;
    result.readings.push_back({measure_of(memory->measure.value / wrong), Verdict::wrong,
                               fmt::format("that is at {:g} bytes a parameter", wrong), 0.04});
  }
  return result;
}

Result<Recomputed> recompute_fits(Inputs& inputs) {
  const auto size = size_of(inputs);
  if (!size) return size.error();
  const auto format = inputs.format("format", Format::bf16);
  if (!format) return format.error();
  const auto device = inputs.device();
  if (!device) return device.error();
  const auto gpus = inputs.count("gpus", 1.0);
  if (!gpus) return gpus.error();
  const auto memory =
      inputs.has("memory") ? inputs.measure("memory") : look_up(inputs.context(), (*device)->id + ":memory");
  if (!memory) return memory.error();
  const bool training = inputs.text("use") == "training";
  // Mixed-precision Adam keeps 2 + 2 + 4 + 4 + 4 bytes a parameter; serving the weights at least.
  const double bytes_each = training ? 16 : nominal_bytes(*format);
  const double needed = size->parameters * bytes_each;
  const double there = memory->measure.value * *gpus;
  const bool fits = needed <= there;
  Recomputed result;
  result.right = measure_of(Bytes(needed));
  result.compare = Compare::holds;
  const bool said_yes = inputs.claim().claimed.text != "no";
  result.holds = fits == said_yes;
  result.formula = fmt::format("{} x {:g} B = {} against {:g} x {} = {}", size->shown, bytes_each, result.right->text,
                               *gpus, memory->measure.text, measure_of(Bytes(there)).text);
  result.because = fits ? (said_yes ? "" : fmt::format("{} fit", training ? "its states" : "its weights"))
                        : fmt::format("it takes at least {:g} of them{}", std::ceil(needed / memory->measure.value),
                                      said_yes ? "" : ", as is said");
  return result;
}

Result<Recomputed> recompute_training(Inputs& inputs) {
  const auto size = size_of(inputs);
  if (!size) return size.error();
  const auto shards = inputs.count("shards", 1.0);
  if (!shards) return shards.error();
  const std::string part = inputs.text("part");
  // Mixed-precision Adam (Rajbhandari et al. 2020, ZeRO, section 3.1): 2 B weights, 2 B gradients, 4 B master weights,
  // 4 B each for two moments.
  const double each = part == "weights" || part == "gradients" ? 2 : part == "optimizer" ? 12 : 16;
  double activations = 0;
  if (inputs.has("activations")) {
    const auto given = inputs.measure("activations");
    if (!given) return given.error();
    activations = given->measure.value;
  }
  Recomputed result;
  result.right = measure_of(Bytes((size->parameters * each + activations) / *shards));
  result.formula = fmt::format("({} x {:g} B{}){}", size->shown, each,
                               activations > 0 ? " + " + measure_of(Bytes(activations)).text : "",
                               *shards == 1 ? "" : fmt::format(" / {:g}", *shards));
  result.readings.push_back({measure_of(Bytes(size->parameters * 8 / *shards)), Verdict::wrong,
                             "that leaves out master weights and counts the moments at two bytes", 0.12});
  return result;
}

// --- finding them in text ----------------------------------------------------------------------------------------

/// The model a piece of text is about: its name, or "70B" in a document that has named Llama.
const Name* model_in(const Tokens& tokens, const Collector& out) {
  if (const Token* named = first_name(tokens, NameKind::model)) return named->name;
  const Model* family = out.memory.model.empty() ? nullptr : out.context().catalogue.model(out.memory.model);
  for (const Token& t : tokens) {
    const bool count = t.is_number() && t.measure.suffix == 'B' && !t.measure.has_unit();
    if (!count || family == nullptr) continue;
    // The sibling of the model last named: same stem, this size.
    const std::string stem = out.memory.model.substr(0, out.memory.model.find('-'));
    for (const Model& m : out.context().catalogue.models()) {
      const bool sibling = std::string_view(m.id).starts_with(stem + "-");
      const double total = count_parameters(m).total;
      if (sibling && std::abs(total / t.measure.value - 1) < 0.03) return out.context().names.of_id(m.id);
    }
  }
  return nullptr;
}

std::string format_in(const Tokens& tokens) {
  const Token* format = first_name(tokens, NameKind::format);
  return format == nullptr ? "" : format->name->id;
}

/// "4K", "128K context", "1M": a length of context, as text for the input.
std::string context_in(const Tokens& tokens) {
  for (const Token& t : tokens) {
    if (!t.is_number() || t.measure.has_unit() || t.measure.form != Measure::Form::plain) continue;
    const bool suffix = t.measure.suffix == 'k' || t.measure.suffix == 'K' || t.measure.suffix == 'M';
    if (suffix || (t.measure.value >= 512 && any_word(tokens, {"context", "ctx", "tokens"}))) return t.text;
  }
  return "";
}

void recognise_kv_row(const Passage& row, Collector& out) {
  for (std::size_t i = 1; i < row.cells.size(); ++i) {
    const Cell& cell = row.cells[i];
    const auto m = cell_measure(cell);
    if (!m || !is_a<Bytes>(*m)) continue;
    const Tokens& first = row.cells[0].tokens;
    const bool kv = (any_word(first, {"kv"}) || header_has(cell, {"kv"}));
    const Name* model = model_in(cell.header_tokens, out);
    const std::string context = context_in(first);
    if (!kv || model == nullptr || context.empty()) continue;
    std::vector<Found> inputs = {{"model", model->id}, {"context", context}};
    const std::string format = format_in(cell.header_tokens);
    if (!format.empty()) inputs.push_back({"kv-format", format});
    const Token& number = *first_number(cell.tokens);
    out.add(kv_cache_kind(), number, fmt::format("KV cache of {} at {}: {}", model->id, context, number.text),
            std::move(inputs));
  }
}

void recognise_kv_sentence(const Passage& sentence, Collector& out) {
  const Tokens& tokens = sentence.tokens;
  if (!any_word(tokens, {"kv"})) return;
  const Name* model = model_in(tokens, out);
  const std::string context = context_in(tokens);
  if (model == nullptr || context.empty()) return;
  for (const Token& t : tokens) {
    if (!t.is_number() || !is_a<Bytes>(t.measure) || out.used(t)) continue;
    std::vector<Found> inputs = {{"model", model->id}, {"context", context}};
    const std::string format = format_in(tokens);
    if (!format.empty()) inputs.push_back({"kv-format", format});
    out.add(kv_cache_kind(), t, fmt::format("KV cache of {} at {}: {}", model->id, context, t.text), std::move(inputs));
    return;
  }
}

void recognise_kv(const Passage& passage, Collector& out) {
  if (passage.is_row()) {
    recognise_kv_row(passage, out);
  } else {
    recognise_kv_sentence(passage, out);
  }
}

bool is_training_table(const Passage& row) {
  return any_word(row.heading, {"training"}) && !any_word(row.heading, {"inference"});
}

void recognise_weights(const Passage& passage, Collector& out) {
  const Tokens& tokens = passage.tokens;
  if (passage.is_row()) {
    const Tokens& first = passage.cells[0].tokens;
    if (!any_word(first, {"weights"})) return;
    for (std::size_t i = 1; i < passage.cells.size(); ++i) {
      const Cell& cell = passage.cells[i];
      const auto m = cell_measure(cell);
      const Name* model = model_in(cell.header_tokens, out);
      if (!m || !is_a<Bytes>(*m) || model == nullptr) continue;
      std::vector<Found> inputs = {{"model", model->id}};
      const std::string format = format_in(cell.header_tokens);
      if (!format.empty()) inputs.push_back({"format", format});
      const Token& number = *first_number(cell.tokens);
      out.add(weights_kind(), number, fmt::format("weights of {}: {}", model->id, number.text), std::move(inputs));
    }
    return;
  }
  // "INT8 (170 GB -> 2x H100)" after a sentence about a model, or "its weights take 140 GB".
  const Name* model = model_in(tokens, out);
  const bool weights = any_word(tokens, {"weights"});
  const bool sizes = passage.previous != nullptr && any_word(passage.previous->tokens, {"fit", "fits"}) &&
                     any_word(tokens, {"required", "requires", "needs"});
  if (model == nullptr && sizes) model = model_in(passage.previous->tokens, out);
  if (model == nullptr || !(weights || sizes)) return;
  for (std::size_t i = 1; i < tokens.size(); ++i) {
    const Token& t = tokens[i];
    if (!t.is_number() || !is_a<Bytes>(t.measure) || out.used(t)) continue;
    const std::size_t format = name_before(tokens, i, NameKind::format);
    const bool near = format != kNowhere && i - format <= (sizes ? 2u : 8u);
    if (sizes && !near) continue;
    std::vector<Found> inputs = {{"model", model->id}};
    if (near) inputs.push_back({"format", tokens[format].name->id});
    out.add(weights_kind(), t,
            fmt::format("weights of {}{}: {}", model->id, near ? " in " + tokens[format].text : "", t.text),
            std::move(inputs));
  }
}

void recognise_serving(const Passage& row, Collector& out) {
  if (!row.is_row()) return;
  const Tokens& first = row.cells[0].tokens;
  const bool activations = any_word(first, {"activations"});
  const bool total = any_word(first, {"total"}) && !is_training_table(row);
  if (!activations && !total) return;
  for (std::size_t i = 1; i < row.cells.size(); ++i) {
    const Cell& cell = row.cells[i];
    const auto m = cell_measure(cell);
    const Name* model = model_in(cell.header_tokens, out);
    if (!m || !is_a<Bytes>(*m) || model == nullptr) continue;
    const Token& number = *first_number(cell.tokens);
    if (activations) {
      out.memory.activations[{row.table, i}] = *m;
      out.use(number);
      continue;
    }
    const std::string context = context_in(first);
    if (context.empty()) continue;
    std::vector<Found> inputs = {{"model", model->id}, {"context", context}};
    const std::string format = format_in(cell.header_tokens);
    if (!format.empty()) inputs.push_back({"format", format});
    const auto kept = out.memory.activations.find({row.table, i});
    if (kept != out.memory.activations.end()) inputs.push_back(found("activations", kept->second));
    out.add(serving_memory_kind(), number, fmt::format("{} in all at {}: {}", model->id, context, number.text),
            std::move(inputs));
  }
}

void recognise_training(const Passage& row, Collector& out) {
  if (!row.is_row() || !is_training_table(row)) return;
  const Tokens& first = row.cells[0].tokens;
  const bool total = any_word(first, {"total"});
  const bool optimizer = any_word(first, {"optimizer", "adam"});
  const bool gradients = any_word(first, {"gradients"});
  if (!total && !optimizer && !gradients) return;
  double shards = 1;
  for (const Token& t : first) {
    if (t.is_number() && t.measure.form == Measure::Form::plain &&
        any_word(first, {"fsdp", "shard", "zero", "sharded"})) {
      shards = t.measure.value;
    }
  }
  for (std::size_t i = 1; i < row.cells.size(); ++i) {
    const Cell& cell = row.cells[i];
    const auto m = cell_measure(cell);
    const Name* model = model_in(cell.header_tokens, out);
    if (!m || !is_a<Bytes>(*m) || model == nullptr) continue;
    const Token& number = *first_number(cell.tokens);
    std::vector<Found> inputs = {{"model", model->id}};
    if (optimizer) inputs.push_back({"part", "optimizer"});
    if (gradients) inputs.push_back({"part", "gradients"});
    const auto kept = out.memory.activations.find({row.table, i});
    if (total && kept != out.memory.activations.end()) inputs.push_back(found("activations", kept->second));
    if (shards != 1) inputs.push_back({"shards", fmt::format("{}", shards)});
    out.add(training_memory_kind(), number,
            fmt::format("training {} keeps {}{}", model->id, number.text,
                        shards == 1 ? "" : fmt::format(" on each of {:g}", shards)),
            std::move(inputs));
  }
}

void recognise_largest(const Passage& row, Collector& out) {
  if (!row.is_row() || !any_stem(row.heading, 0, row.heading.size(), {"size", "fit", "maximum", "largest"})) return;
  const Token* subject = first_name(row.cells[0].tokens, NameKind::device);
  if (subject == nullptr) return;
  std::optional<Measure> memory;
  for (std::size_t i = 1; i < row.cells.size(); ++i) {
    const Cell& cell = row.cells[i];
    const Token* number = first_number(cell.tokens);
    if (number == nullptr) continue;
    if (is_a<Bytes>(number->measure)) memory = number->measure;
    const std::string format = format_in(cell.header_tokens);
    const bool parameters = number->measure.suffix == 'B' && !number->measure.has_unit();
    if (format.empty() || !parameters || !memory || cell.tokens.size() > 2) continue;
    out.add(largest_model_kind(), *number,
            fmt::format("{} in {}: up to {} parameters", subject->text, format, number->text),
            {found("memory", *memory), {"format", format}});
  }
}

bool denied(const Tokens& tokens) {
  return any_word(tokens, {"not", "cannot", "never"});
}

void recognise_fits_clause(const Passage& passage, const Tokens& tokens, Collector& out) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    // "fits on", "can meet the inference requirements of", "enables single-card inference of", "for training"
    const bool fit = tokens[i].is("fit") || tokens[i].is("fits");
    const bool support =
        tokens[i].is("support") || tokens[i].is("supports") || tokens[i].is("enables") || tokens[i].is("meet");
    if (!fit && !support) continue;
    // What: a model, or so many parameters.
    const Token* what = nullptr;
    const std::size_t from = fit ? 0 : i;
    const std::size_t to = fit ? tokens.size() : std::min(i + 16, tokens.size());
    for (std::size_t j = from; j < to && what == nullptr; ++j) {
      if (tokens[j].is_name(NameKind::model)) what = &tokens[j];
      const bool parameters = tokens[j].is_number() && tokens[j].measure.suffix == 'B' &&
                              !tokens[j].measure.has_unit() &&
                              any_stem(tokens, j, std::min(j + 4, tokens.size()), {"parameter"});
      if (parameters && !tokens[j].measure.is_range()) what = &tokens[j];
    }
    std::size_t device = fit ? name_after(tokens, i, NameKind::device) : name_before(tokens, i, NameKind::device);
    while (!fit && device != kNowhere && device > 0 && is_partner(tokens, device)) {
      device = name_before(tokens, device, NameKind::device);
    }
    if (device == kNowhere && fit) device = name_before(tokens, i, NameKind::device);
    const Token* subject = device == kNowhere ? nullptr : &tokens[device];
    if (subject == nullptr && passage.previous != nullptr)
      subject = first_name(passage.previous->tokens, NameKind::device);
    if (what == nullptr || subject == nullptr) continue;
    const bool inference = any_word(tokens, {"inference", "single", "fit", "fits"});
    const bool training = any_word(tokens, i, to, {"training", "train"});
    if (!inference && !training) continue;
    double gpus = 1;
    bool counted = any_word(tokens, {"single", "one"}) || fit;
    for (std::size_t j = 0; j < tokens.size(); ++j) {
      if (!tokens[j].is_number()) continue;
      const Measure& m = tokens[j].measure;
      const bool cards = is_a<Gpus>(m) || (m.form == Measure::Form::factor && &tokens[j] + 1 == subject) ||
                         (j + 2 < tokens.size() && tokens[j + 1].is("-") && tokens[j + 2].is("card"));
      const bool near = j < i + 8 && j + 12 > i;
      if (cards && near && !any_word(tokens, {"single"})) {
        gpus = m.value;
        counted = true;
      }
    }
    if (!counted) continue;
    Measure claimed;
    claimed.text = denied(tokens) && fit ? "no" : "yes";
    claimed.value = claimed.high = claimed.text == "yes" ? 1 : 0;
    std::vector<Found> inputs = {{"device", subject->name->id}, {"gpus", fmt::format("{}", gpus)}};
    if (what->type == Token::Type::name) {
      inputs.push_back({"model", what->name->id});
    } else {
      inputs.push_back(found("parameters", what->measure));
    }
    const std::string format = format_in(tokens);
    // Without a format the smallest is granted: what does not fit in four bits fits in none.
    inputs.push_back({"format", format.empty() ? "fp4" : format});
    if (training && !any_word(tokens, {"single"})) inputs.push_back({"use", "training"});
    out.add(fits_kind(), *what, claimed,
            fmt::format("{} {} on {:g} x {}", what->text, claimed.text == "yes" ? "fits" : "does not fit", gpus,
                        subject->text),
            std::move(inputs));
  }
}

void recognise_fits(const Passage& passage, Collector& out) {
  if (passage.is_row()) return;
  Tokens clause;
  for (const Token& t : passage.tokens) {
    if (t.is(";")) {
      recognise_fits_clause(passage, clause, out);
      clause.clear();
    } else {
      clause.push_back(t);
    }
  }
  recognise_fits_clause(passage, clause, out);
}

}  // namespace

const Kind& weights_kind() {
  static const Kind kind{"weights",
                         "memory that a model's weights take",
                         "parameters x bytes of the format",
                         "model? parameters? format?",
                         true,
                         recompute_weights,
                         recognise_weights};
  return kind;
}
const Kind& kv_cache_kind() {
  static const Kind kind{"kv-cache",
                         "memory that keys and values take",
                         "2 x layers x KV heads x head size x bytes x tokens (latent attention: as it caches)",
                         "model context batch? kv-format?",
                         true,
                         recompute_kv,
                         recognise_kv};
  return kind;
}
const Kind& serving_memory_kind() {
  static const Kind kind{"serving-memory",
                         "weights, KV cache and activations together",
                         "weights + KV + activations",
                         "model context format? batch? kv-format? activations?",
                         true,
                         recompute_serving,
                         recognise_serving};
  return kind;
}
const Kind& largest_model_kind() {
  static const Kind kind{"largest-model",
                         "how many parameters a memory holds",
                         "memory / bytes of the format",
                         "device? memory? format",
                         true,
                         recompute_largest,
                         recognise_largest};
  return kind;
}
const Kind& fits_kind() {
  static const Kind kind{"fits",
                         "whether a model fits on so many devices",
                         "parameters x bytes (training: 16 B) against devices x memory",
                         "model? parameters? format? device gpus? memory? use?",
                         true,
                         recompute_fits,
                         recognise_fits};
  return kind;
}
const Kind& training_memory_kind() {
  static const Kind kind{"training-memory",
                         "what training keeps in memory",
                         "(parameters x 16 B + activations) / shards: mixed-precision Adam",
                         "model? parameters? shards? part? activations?",
                         true,
                         recompute_training,
                         recognise_training};
  return kind;
}

}  // namespace ridge::claims
