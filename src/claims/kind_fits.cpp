// Whether a model fits.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "claims/all_kinds.hpp"
#include "claims/collector.hpp"
#include "claims/memory_parts.hpp"
#include "ridge/text.hpp"

namespace ridge::claims {

namespace {

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
  result.formula =
      fmt::format("{} x {:g} B = {} against {:g} x {} = {}", size->shown, bytes_each, ridge::format(Bytes(needed), 4),
                  *gpus, memory->measure.text, ridge::format(Bytes(there), 4));
  result.because = fits ? (said_yes ? "" : fmt::format("{} fit", training ? "its states" : "its weights"))
                        : fmt::format("it takes at least {:g} of them{}", std::ceil(needed / memory->measure.value),
                                      said_yes ? "" : ", as is said");
  return result;
}

// --- finding it in text ------------------------------------------------------------------------------------------

bool denied(const Tokens& tokens) {
  return any_word(tokens, {"not", "cannot", "never"});
}

void recognise_fits_clause(const Passage& passage, const Tokens& tokens, Collector& out) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    // "fits on", "can meet the inference requirements of", "enables single-card inference of", "for training"
    const bool fit = tokens[i].is("fit") || tokens[i].is("fits");
    const bool holds = tokens[i].is("hold") || tokens[i].is("holds");
    const bool support =
        holds || tokens[i].is("support") || tokens[i].is("supports") || tokens[i].is("enables") || tokens[i].is("meet");
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
    const bool inference = holds || any_word(tokens, {"inference", "single", "fit", "fits"});
    const bool training = any_word(tokens, i, to, {"training", "train"});
    if (!inference && !training) continue;
    double gpus = 1;
    bool counted = any_word(tokens, {"single", "one"}) || fit || holds;
    for (std::size_t j = 0; j < tokens.size(); ++j) {
      if (!tokens[j].is_number()) continue;
      const Measure& m = tokens[j].measure;
      const bool cards =
          is_a<Gpus>(m) ||
          (m.form != Measure::Form::percent && !m.has_unit() && m.suffix == 0 && &tokens[j] + 1 == subject) ||
          (j + 2 < tokens.size() && tokens[j + 1].is("-") && tokens[j + 2].is("card"));
      const bool near = j < i + 8 && j + 12 > i;
      if (cards && near && !any_word(tokens, {"single"})) {
        gpus = m.value;
        counted = true;
      }
    }
    if (!counted) continue;
    Measure claimed;
    claimed.text = denied(tokens) && (fit || holds) ? "no" : "yes";
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

}  // namespace ridge::claims
