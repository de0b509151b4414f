// Keys and values, and what serving keeps in memory altogether.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "claims/kinds/all_kinds.hpp"
#include "claims/reading/collector.hpp"
#include "claims/reading/memory_parts.hpp"
#include "ridge/base/text.hpp"

namespace ridge::claims {

namespace {

struct KvSize {
  Bytes bytes;
  Bytes without_windows;  // as it is often counted: every layer sees the whole context
};

Result<KvSize> kv_of(Inputs& inputs, const Model& model, std::string& formula) {
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
  return KvSize{all, kv_bytes_per_token(model, each, 0) * (*context * *batch)};
}

/// By how much a KB or MB of powers of two exceeds the decimal one that `text` is read as; 1 for any other unit.
double binary_excess(std::string_view text) {
  const auto names = [&](std::initializer_list<std::string_view> units) {
    return std::any_of(units.begin(), units.end(),
                       [&](std::string_view unit) { return text.find(unit) != std::string_view::npos; });
  };
  if (names({"KB", "kB", "kilobyte"})) return 1.024;
  return names({"MB", "megabyte"}) ? 1.048576 : 1;
}

Result<Recomputed> recompute_kv(Inputs& inputs) {
  const auto model = inputs.model();
  if (!model) return model.error();
  Recomputed result;
  const auto kv = kv_of(inputs, **model, result.formula);
  if (!kv) return kv.error();
  result.right = measure_of(kv->bytes);
  // What a token takes is written in KB of 1,024 and MB of 1,048,576 bytes everywhere.
  const double binary = inputs.text("context") == "1" ? binary_excess(inputs.claim().claimed.text) : 1;
  if (binary > 1) {
    result.readings.push_back({scaled(*result.right, 1 / binary), Verdict::right,
                               binary < 1.03 ? "counting 1,024 bytes to the KB" : "counting 1,024 KB to the MB",
                               0.012});
  } else {
    add_binary(result);
  }
  if (kv->without_windows.value() > 1.05 * kv->bytes.value()) {
    result.readings.push_back({measure_of(kv->without_windows), Verdict::rounded,
                               "counting layers with a window as if they saw everything", 0.03});
  }
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
  result.right = measure_of(weights + kv->bytes + extra);
  result.formula = fmt::format("weights {} + KV {} ({}) + activations {}", ridge::format(weights),
                               ridge::format(kv->bytes), kv_formula, ridge::format(extra));
  add_binary(result);
  return result;
}

// --- finding it in text ------------------------------------------------------------------------------------------

void recognise_kv_row(const Passage& row, Collector& out) {
  for (std::size_t i = 1; i < row.cells.size(); ++i) {
    const TableCell& cell = row.cells[i];
    const auto m = cell_measure(cell);
    if (!m || !is_a<Bytes>(*m)) continue;
    const Tokens& first = row.cells[0].tokens;
    const bool kv = (any_word(first, {"kv"}) || header_has(cell, {"kv"}));
    const Name* model = model_in(cell.header->tokens, out);
    const std::string context = context_in(first);
    if (!kv || model == nullptr || context.empty()) continue;
    std::vector<Found> inputs = {{"model", model->id}, {"context", context}};
    const std::string format = format_in(cell.header->tokens);
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
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token& t = tokens[i];
    if (!t.is_number() || !is_a<Bytes>(t.measure) || out.used(t)) continue;
    if (any_word(tokens, i > 2 ? i - 2 : 0, i + 3, {"weights", "weight"})) continue;
    std::vector<Found> inputs = {{"model", model->id}, {"context", context}};
    const std::string format = format_in(tokens);
    if (!format.empty()) inputs.push_back({"kv-format", format});
    if (const double batch = batch_in(tokens); batch > 1) inputs.push_back({"batch", fmt::format("{}", batch)});
    out.add(kv_cache_kind(), t, fmt::format("KV cache of {} at {}: {}", model->id, context, t.text), std::move(inputs));
    return;
  }
}

/// "KV cache for Llama 3.1 70B is 328 KB per token".
void recognise_kv_per_token(const Passage& sentence, Collector& out) {
  const Tokens& tokens = sentence.tokens;
  if (!any_word(tokens, {"kv", "cache"})) return;
  const Token* model = first_name(tokens, NameKind::model);
  if (model == nullptr) return;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token& t = tokens[i];
    if (!t.is_number() || out.used(t)) continue;
    Measure m = t.measure;
    const bool said = m.exponents == std::array<std::int8_t, 9>{1, 0, 0, 0, 0, -1};
    const bool behind = is_a<Bytes>(m) && any_word(tokens, i + 1, i + 6, {"per", "every", "each", "a"}) &&
                        any_word(tokens, i + 2, i + 7, {"token"});
    if (!said && !behind) continue;
    m.exponents = {1};
    std::vector<Found> inputs = {{"model", model->name->id}, {"context", "1"}};
    // The format of keys and values, not of the weights: beside "KV", or behind the figure.
    for (std::size_t j = 0; j < tokens.size(); ++j) {
      if (!tokens[j].is_name(NameKind::format)) continue;
      const bool beside = any_word(tokens, j > 2 ? j - 2 : 0, j + 3, {"kv", "cache"});
      if (beside || j > i) inputs.push_back({"kv-format", tokens[j].name->id});
      break;
    }
    out.add(kv_cache_kind(), t, m, fmt::format("KV cache of {} per token: {}", model->text, t.text), std::move(inputs));
    return;
  }
}

void recognise_kv(const Passage& passage, Collector& out) {
  if (passage.is_row()) {
    recognise_kv_row(passage, out);
  } else {
    recognise_kv_per_token(passage, out);
    recognise_kv_sentence(passage, out);
  }
}

void recognise_serving(const Passage& row, Collector& out) {
  if (!row.is_row()) return;
  const Tokens& first = row.cells[0].tokens;
  const bool activations = any_word(first, {"activations"});
  const bool total = any_word(first, {"total"}) && !is_training_table(row);
  if (!activations && !total) return;
  for (std::size_t i = 1; i < row.cells.size(); ++i) {
    const TableCell& cell = row.cells[i];
    const auto m = cell_measure(cell);
    const Name* model = model_in(cell.header->tokens, out);
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
    const std::string format = format_in(cell.header->tokens);
    if (!format.empty()) inputs.push_back({"format", format});
    const auto kept = out.memory.activations.find({row.table, i});
    if (kept != out.memory.activations.end()) inputs.push_back(found("activations", kept->second));
    out.add(serving_memory_kind(), number, fmt::format("{} in all at {}: {}", model->id, context, number.text),
            std::move(inputs));
  }
}

}  // namespace

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

}  // namespace ridge::claims
