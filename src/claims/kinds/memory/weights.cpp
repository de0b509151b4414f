// Memory that weights take, and how many parameters a memory holds.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "claims/kinds/all_kinds.hpp"
#include "claims/reading/collector.hpp"
#include "claims/reading/memory_parts.hpp"
#include "ridge/base/text.hpp"

namespace ridge::claims {

namespace {

Result<Recomputed> recompute_weights(Inputs& inputs) {
  const auto size = size_of(inputs);
  if (!size) return size.error();
  const auto format = inputs.format("format", size->model == nullptr ? Format::bf16 : released_format(*size->model));
  if (!format) return format.error();
  Recomputed result;
  result.right = measure_of(Bytes(size->parameters * nominal_bytes(*format)));
  result.formula = fmt::format("{} x {:g} B", size->shown, nominal_bytes(*format));
  result.slack = 0.05;  // "70B" is said of 70.6 billion
  add_binary(result);
  if (nominal_bytes(*format) == 0.5) {
    result.readings.push_back({scaled(*result.right, 1.12), Verdict::rounded,
                               "with the scales of four-bit formats and what is kept in more bits", 0.1});
  }
  // What it takes to run a model is more than its weights.
  if (inputs.text("use") == "serving") {
    result.readings.push_back(
        {scaled(*result.right, 1.2), Verdict::rounded, "with what serving keeps beside the weights", 0.17});
  }
  for (const double other : {0.5, 1.0}) {
    if (inputs.has("format") || other >= nominal_bytes(*format)) continue;
    result.readings.push_back({measure_of(Bytes(size->parameters * other)), Verdict::rounded,
                               fmt::format("that is at {:g} bytes a parameter", other), 0.1});
  }
  for (const double wrong : {0.5, 1.0, 2.0, 4.0}) {
    if (wrong == nominal_bytes(*format)) continue;
    result.readings.push_back({measure_of(Bytes(size->parameters * wrong)), Verdict::wrong,
                               fmt::format("that is at {:g} bytes a parameter", wrong), 0.03});
  }
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

// --- finding it in text ------------------------------------------------------------------------------------------

double format_bytes(const Token& format) {
  const auto parsed = parse_format(format.name->id);
  return parsed ? nominal_bytes(*parsed) : 2;
}

/// "three 70B models", "two Llama 3.1 70B": the model at `subject` is there several times.
bool is_one_of_several(const Tokens& tokens, std::size_t subject) {
  if (subject == 0) return false;
  const Token& before = tokens[subject - 1];
  return (before.is_number() && !before.measure.has_unit() && before.measure.form != Measure::Form::percent) ||
         any_word(tokens, subject - 1, subject, {"two", "three", "four", "five", "six", "eight", "ten", "both"});
}

/// Whether a sentence speaks of what it takes to run the model rather than of the weights themselves.
bool speaks_of_serving(const Tokens& tokens) {
  return !any_word(tokens, {"weights", "weight", "checkpoint"}) &&
         any_word(tokens, {"run", "runs", "running", "serve", "serves", "serving", "need", "needs", "needed", "require",
                           "requires", "required", "deploy", "host", "inference"});
}

/// "Llama 3.1 405B is 810 GB in BF16", "a 7B model in FP16 takes 28 GB", "the DeepSeek-V3 checkpoint is 1.3 TB in
/// BF16": a verb of being or needing leads straight to the size.
bool recognise_plain_weights(const Tokens& tokens, Collector& out) {
  if (any_word(tokens, {"kv", "cache", "training", "train", "context", "total", "optimizer", "adam", "state", "states",
                        "gradients", "tune", "tuning", "lora", "activations", "per", "batch", "disk", "download"})) {
    return false;
  }
  const Token* model = first_name(tokens, NameKind::model);
  const Token* parameters = parameters_in(tokens);
  const Token* format = first_name(tokens, NameKind::format);
  if (model == nullptr ? parameters == nullptr || format == nullptr : parameters != nullptr) return false;
  // Without a format only what speaks of the checkpoint itself is meant.
  if (format == nullptr && !any_word(tokens, {"weights", "checkpoint"})) return false;
  const auto subject = static_cast<std::size_t>((model != nullptr ? model : parameters) - tokens.data());
  if (is_one_of_several(tokens, subject)) return false;
  for (std::size_t i = subject + 1; i < tokens.size(); ++i) {
    const Token& t = tokens[i];
    if (!t.is_number() || !is_a<Bytes>(t.measure)) continue;
    std::size_t verb = i;
    while (verb > subject + 1 && any_word(tokens, verb - 1, verb,
                                          {"about", "roughly", "just", "only", "still", "nearly", "around", "at",
                                           "least", "up", "to", "a", "over", "approximately", "almost", "some"})) {
      --verb;
    }
    const bool leads = any_word(tokens, verb - 1, verb,
                                {"is", "are", "needs", "takes", "requires", "occupies", "weighs", "need", "take",
                                 "require", "eats", "weigh", ":"});
    if (!leads || out.used(t)) return false;
    // The model is the subject: only how it is stored may stand between it and the verb.
    for (std::size_t j = subject + 1; j + 1 < verb; ++j) {
      const bool storage =
          tokens[j].is_name(NameKind::format) ||
          any_word(tokens, j, j + 1,
                   {"in",         "at",     "with", "weights", "checkpoint", "model", "models",    "alone",
                    "itself",     "still",  "the",  "-",       "quantized",  "to",    "precision", "parameter",
                    "parameters", "params", "s",    "'",       "just",       "file",  "llm"});
      if (!storage) return false;
    }
    // A device between them is what it needs to fit on.
    if (name_after(tokens, subject, NameKind::device) < i) return false;
    std::vector<Found> inputs;
    if (model != nullptr) {
      inputs.push_back({"model", model->name->id});
    } else {
      inputs.push_back(found("parameters", parameters->measure));
    }
    if (format != nullptr) inputs.push_back({"format", format->name->id});
    if (speaks_of_serving(tokens)) inputs.push_back({"use", "serving"});
    out.add(weights_kind(), t,
            fmt::format("weights of {}{}: {}", tokens[subject].text, format == nullptr ? "" : " in " + format->text,
                        t.text),
            std::move(inputs));
    return true;
  }
  return false;
}

void recognise_weights(const Passage& passage, Collector& out) {
  const Tokens& tokens = passage.tokens;
  if (passage.is_row()) {
    const Tokens& first = passage.cells[0].tokens;
    if (!any_word(first, {"weights"})) return;
    for (std::size_t i = 1; i < passage.cells.size(); ++i) {
      const TableCell& cell = passage.cells[i];
      const auto m = cell_measure(cell);
      const Name* model = model_in(cell.header->tokens, out);
      if (!m || !is_a<Bytes>(*m) || model == nullptr) continue;
      std::vector<Found> inputs = {{"model", model->id}};
      const std::string format = format_in(cell.header->tokens);
      if (!format.empty()) inputs.push_back({"format", format});
      const Token& number = *first_number(cell.tokens);
      out.add(weights_kind(), number, fmt::format("weights of {}: {}", model->id, number.text), std::move(inputs));
    }
    return;
  }
  // "INT8 (170 GB -> 2x H100)" after a sentence about a model, or "its weights take 140 GB".
  const Token* named = first_name(tokens, NameKind::model);
  if (named != nullptr && is_one_of_several(tokens, static_cast<std::size_t>(named - tokens.data()))) return;
  const Name* model = model_in(tokens, out);
  const bool needs = any_word(tokens, {"needs", "takes", "requires", "occupies"}) &&
                     !any_word(tokens, {"kv", "cache", "training", "train", "context", "total"}) &&
                     first_name(tokens, NameKind::format) != nullptr;
  const bool weights = any_word(tokens, {"weights"}) || needs;
  const bool sizes = passage.previous != nullptr && any_word(passage.previous->tokens, {"fit", "fits"}) &&
                     any_word(tokens, {"required", "requires", "needs"});
  if (model == nullptr && sizes) model = model_in(passage.previous->tokens, out);
  // What else such a sentence counts in bytes is what the weights are held against: "more than the 80 GB of an H100".
  if (!sizes && recognise_plain_weights(tokens, out)) return;
  if (model == nullptr || !(weights || sizes)) return;
  for (std::size_t i = 1; i < tokens.size(); ++i) {
    const Token& t = tokens[i];
    if (!t.is_number() || !is_a<Bytes>(t.measure) || out.used(t)) continue;
    std::size_t format = name_before(tokens, i, NameKind::format);
    bool near = format != kNowhere && i - format <= (sizes ? 2u : 8u);
    if (sizes && !near) continue;
    // "8xA100 80GB", "H100 (80 GB)", "80 GB capacity" are the memory of a card; the optimizer has its own.
    const std::size_t device = name_before(tokens, i, NameKind::device);
    const bool of_card = (device != kNowhere && i - device <= 3) || name_after(tokens, i, NameKind::device) <= i + 2 ||
                         any_word(tokens, i + 1, i + 4, {"capacity", "hbm", "total"});
    const bool of_optimizer = any_word(tokens, i + 1, i + 5, {"optimizer", "adam", "state", "states"});
    if (!sizes && (of_card || of_optimizer)) continue;
    if (!near && !sizes) {
      // The only format of the sentence is meant wherever it stands; of several none is.
      const auto formats =
          std::count_if(tokens.begin(), tokens.end(), [](const Token& f) { return f.is_name(NameKind::format); });
      if (formats > 1) continue;
      format = name_after(tokens, 0, NameKind::format);
      near = format != kNowhere;
    }
    const Model* meant = out.context().catalogue.model(model->id);
    const double stored = count_parameters(*meant).total * (near ? format_bytes(tokens[format]) : 2);
    // Far from it, or of an image model's pipeline: something else takes the memory.
    if (!sizes &&
        (meant->type != ModelType::language || t.measure.value < 0.15 * stored || t.measure.value > 6 * stored))
      continue;
    std::vector<Found> inputs = {{"model", model->id}};
    if (near) inputs.push_back({"format", tokens[format].name->id});
    if (speaks_of_serving(tokens)) inputs.push_back({"use", "serving"});
    out.add(weights_kind(), t,
            fmt::format("weights of {}{}: {}", model->id, near ? " in " + tokens[format].text : "", t.text),
            std::move(inputs));
  }
}

void recognise_largest(const Passage& row, Collector& out) {
  if (!row.is_row() || !any_stem(*row.heading, 0, row.heading->size(), {"size", "fit", "maximum", "largest"})) return;
  const Token* subject = first_name(row.cells[0].tokens, NameKind::device);
  if (subject == nullptr) return;
  std::optional<Measure> memory;
  for (std::size_t i = 1; i < row.cells.size(); ++i) {
    const TableCell& cell = row.cells[i];
    const Token* number = first_number(cell.tokens);
    if (number == nullptr) continue;
    if (is_a<Bytes>(number->measure)) memory = number->measure;
    const std::string format = format_in(cell.header->tokens);
    const bool parameters = number->measure.suffix == 'B' && !number->measure.has_unit();
    if (format.empty() || !parameters || !memory || cell.tokens.size() > 2) continue;
    out.add(largest_model_kind(), *number,
            fmt::format("{} in {}: up to {} parameters", subject->text, format, number->text),
            {found("memory", *memory), {"format", format}});
  }
}

}  // namespace

const Kind& weights_kind() {
  static const Kind kind{"weights",
                         "memory that a model's weights take",
                         "parameters x bytes of the format",
                         "model? parameters? format? use?",
                         true,
                         recompute_weights,
                         recognise_weights};
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

}  // namespace ridge::claims
