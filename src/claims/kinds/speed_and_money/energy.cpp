// Energy per token over many tokens: in joules, in households, or in tokens that a budget buys.
#include <fmt/format.h>

#include "claims/kinds/all_kinds.hpp"
#include "claims/reading/collector.hpp"

namespace ridge::claims {

namespace {

Result<Recomputed> recompute_energy(Inputs& inputs) {
  const auto each = inputs.measure("per-token");
  if (!each) return each.error();
  if (!is_a<JoulesPerToken>(each->measure) || each->measure.value <= 0) return cannot("the energy is not per token");
  Recomputed result;
  if (!inputs.has("tokens")) {
    const auto budget = inputs.measure("budget");
    if (!budget) return budget.error();
    const double count = budget->measure.value / each->measure.value;
    // "15.8B tokens" and "15.8B" are the same here.
    result.right = inputs.claim().claimed.has_unit() ? measure_of(ridge::Tokens(count)) : measure_of(count);
    result.formula = fmt::format("{} / {}", budget->shown, each->shown);
    return result;
  }
  const auto tokens = inputs.count("tokens");
  if (!tokens) return tokens.error();
  const double joules = each->measure.value * *tokens;
  if (inputs.has("budget")) {
    const auto budget = inputs.measure("budget");
    if (!budget) return budget.error();
    result.right = measure_of(joules / budget->measure.value);
    result.formula = fmt::format("{} x {} / {}", each->shown, inputs.text("tokens"), budget->shown);
  } else {
    result.right = measure_of(Joules(joules));
    result.formula = fmt::format("{} x {}", each->shown, inputs.text("tokens"));
  }
  return result;
}

bool is_tokens(const Measure& m) {
  return is_a<ridge::Tokens>(m);
}

void recognise_energy(const Passage& passage, Collector& out) {
  if (passage.is_row()) return;
  const Tokens& tokens = passage.tokens;
  Memory& memory = out.memory;
  const bool households = any_word(tokens, {"household", "households"});
  // "300B tokens at 2.46 J/token take 205 MWh"
  const Token *said = nullptr, *count = nullptr, *sum = nullptr;
  for (const Token& t : tokens) {
    if (!t.is_number()) continue;
    if (is_a<JoulesPerToken>(t.measure)) said = &t;
    if (is_tokens(t.measure)) count = &t;
    if (is_a<Joules>(t.measure)) sum = &t;
  }
  if (said != nullptr && count != nullptr && sum != nullptr && !households) {
    out.use(*said);
    out.use(*count);
    out.add(energy_kind(), *sum, fmt::format("{} at {} take {}", count->text, said->text, sum->text),
            {found("per-token", said->measure), found("tokens", count->measure)});
  }
  // What a household takes, and what a token takes.
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token& t = tokens[i];
    if (!t.is_number()) continue;
    if (households && is_a<Joules>(t.measure) && !memory.household) memory.household = t.measure;
    const bool per_token =
        is_a<JoulesPerToken>(t.measure) || (is_a<Joules>(t.measure) && any_word(tokens, {"token"}) && !households &&
                                            any_stem(tokens, 0, tokens.size(), {"consum", "train"}));
    if (!per_token) continue;
    Measure m = t.measure;
    m.exponents[5] = -1;
    std::size_t format = name_after(tokens, i, NameKind::format);
    const bool near = format != kNowhere && format <= i + 3;
    const Token* about = first_name(tokens, NameKind::model);
    const std::string model = about == nullptr ? memory.model : about->name->id;
    if (model != memory.energy_model) memory.energy_per_token.clear();
    memory.energy_model = model;
    memory.energy_per_token[near ? tokens[format].name->id : ""] = m;
    memory.energy_per_token.try_emplace("", m);
    if (!near) {
      // "8.8 Joules per token vs 3.6": the first is what the sentence is about.
      for (std::size_t j = 0; j < i; ++j) {
        if (tokens[j].is_number() && is_a<JoulesPerToken>(tokens[j].measure)) {
          memory.energy_per_token[""] = tokens[j].measure;
          break;
        }
      }
      for (const char* f : {"fp8", "bf16", "fp16"}) memory.energy_per_token.erase(f);
    }
  }
  if (!memory.household) return;
  // A figure of another model says nothing here.
  const Token* about = first_name(tokens, NameKind::model);
  if (about != nullptr && about->name->id != memory.energy_model) return;
  const auto energy_for = [&](std::size_t at, std::size_t reach) -> const Measure* {
    std::size_t format = name_after(tokens, at, NameKind::format);
    if (format == kNowhere || format > at + reach) format = name_before(tokens, at, NameKind::format);
    const std::string id = format == kNowhere ? "" : tokens[format].name->id;
    auto found_at = memory.energy_per_token.find(id);
    if (found_at == memory.energy_per_token.end()) found_at = memory.energy_per_token.find("");
    return found_at == memory.energy_per_token.end() ? nullptr : &found_at->second;
  };
  const bool budget = households && any_word(tokens, {"budget", "energy"}) && any_word(tokens, {"could", "can"});
  const Token* amount = nullptr;
  for (const Token& t : tokens) {
    if (t.is_number() && is_tokens(t.measure)) amount = &t;
  }
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token& t = tokens[i];
    if (!t.is_number() || out.used(t)) continue;
    const bool counted = t.measure.form == Measure::Form::plain && !t.measure.has_unit() && t.measure.suffix == 0;
    const bool of_households = counted && any_word(tokens, i + 1, i + 5, {"households", "household"});
    if (of_households && amount != nullptr && any_stem(tokens, 0, i, {"train", "converge"})) {
      const Measure* each = energy_for(i, 9);
      if (each == nullptr) continue;
      out.add(energy_kind(), t, fmt::format("{} take the energy of {} households", amount->text, t.text),
              {found("per-token", *each), found("tokens", amount->measure), found("budget", *memory.household)});
      out.use(*amount);
      continue;
    }
    const bool bought = budget && any_stem(tokens, i > 3 ? i - 3 : 0, i, {"train"}) &&
                        (is_tokens(t.measure) || (t.measure.suffix == 'B' && !t.measure.has_unit()));
    if (bought) {
      const Measure* each = energy_for(i, 2);
      if (each == nullptr) continue;
      out.add(energy_kind(), t, fmt::format("the energy of one household trains {}", t.text),
              {found("per-token", *each), found("budget", *memory.household)});
    }
  }
}

}  // namespace

const Kind& energy_kind() {
  static const Kind kind{"energy",
                         "energy per token over many tokens",
                         "per token x tokens, over a budget; or budget / per token",
                         "per-token tokens? budget?",
                         true,
                         recompute_energy,
                         recognise_energy};
  return kind;
}

}  // namespace ridge::claims
