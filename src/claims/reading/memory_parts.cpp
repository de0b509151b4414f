#include "claims/reading/memory_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "claims/reading/collector.hpp"
#include "ridge/base/text.hpp"

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
    case Format::q8_0:
      return 1;
    case Format::q6_k:
      return 0.75;
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

Format released_format(const Model& model) {
  if (model.quantization.empty()) return Format::bf16;
  const auto format = parse_format(model.quantization);
  return format ? *format : Format::bf16;
}

void add_binary(Recomputed& result) {
  result.readings.push_back(
      {scaled(*result.right, 1 / 1.073741824), Verdict::unit, "that is in GiB, written as GB", 0.012});
}

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

const Token* parameters_in(const Tokens& tokens) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token& t = tokens[i];
    if (!t.is_number() || t.measure.has_unit() || t.measure.form != Measure::Form::plain || t.measure.is_range())
      continue;
    if (t.measure.suffix != 'B' && t.measure.suffix != 'T') continue;
    std::size_t next = i + 1;
    while (next < tokens.size() && (tokens[next].is("-") || tokens[next].is_name(NameKind::format))) ++next;
    if (any_word(tokens, next, next + 1, {"model", "models", "llm", "checkpoint", "parameter", "parameters", "params"}))
      return &t;
  }
  return nullptr;
}

std::string format_in(const Tokens& tokens) {
  const Token* format = first_name(tokens, NameKind::format);
  return format == nullptr ? "" : format->name->id;
}

std::string context_in(const Tokens& tokens) {
  for (const Token& t : tokens) {
    if (!t.is_number() || t.measure.has_unit() || t.measure.form != Measure::Form::plain) continue;
    const bool suffix = t.measure.suffix == 'k' || t.measure.suffix == 'K' || t.measure.suffix == 'M';
    if (suffix || (t.measure.value >= 512 && any_word(tokens, {"context", "ctx", "tokens"}))) return t.text;
  }
  return "";
}

double batch_in(const Tokens& tokens) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (!tokens[i].is("batch")) continue;
    for (std::size_t j = i + 1; j < std::min(i + 4, tokens.size()); ++j) {
      if (tokens[j].is_number() && !tokens[j].measure.has_unit()) return tokens[j].measure.value;
    }
  }
  return 0;
}

bool is_training_table(const Passage& row) {
  return any_word(*row.heading, {"training"}) && !any_word(*row.heading, {"inference"});
}

}  // namespace ridge::claims
