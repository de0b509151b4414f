// Whether a model fits.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "claims/kinds/all_kinds.hpp"
#include "claims/reading/collector.hpp"
#include "claims/reading/memory_parts.hpp"
#include "ridge/base/text.hpp"

namespace ridge::claims {

namespace {

// Of the memory: what is left serves keys and values, activations and the runtime.
constexpr double kRoomForWeights = 0.85;

Result<Recomputed> recompute_fits(Inputs& inputs) {
  const auto size = size_of(inputs);
  if (!size) return size.error();
  const bool smallest = inputs.text("granted") == "smallest";
  const bool training = inputs.text("use") == "training";
  // What training keeps of a parameter does not depend on the format that weights are served in.
  const auto format = training && !inputs.has("format")
                          ? Result<Format>(Format::bf16)
                          : inputs.format("format", smallest                 ? Format::int4
                                                    : size->model == nullptr ? Format::bf16
                                                                             : released_format(*size->model));
  if (!format) return format.error();
  const auto device = inputs.device();
  if (!device) return device.error();
  const auto gpus = inputs.count("gpus", 1.0);
  if (!gpus) return gpus.error();
  const auto memory =
      inputs.has("memory") ? inputs.measure("memory") : look_up(inputs.context(), (*device)->id + ":memory");
  if (!memory) return memory.error();
  // Mixed-precision Adam keeps 2 + 2 + 4 + 4 + 4 bytes a parameter; serving the weights at least.
  const double bytes_each = training ? 16 : nominal_bytes(*format);
  const double needed = size->parameters * bytes_each;
  const double there = memory->measure.value * *gpus;
  const bool fits = needed <= there;
  Recomputed result;
  result.right = measure_of(Bytes(needed));
  result.compare = Compare::holds;
  const bool said_yes = inputs.claim().claimed.text != "no";
  result.formula =
      fmt::format("{} x {:g} B = {} against {:g} x {} = {}", size->shown, bytes_each, ridge::format(Bytes(needed), 4),
                  *gpus, memory->measure.text, ridge::format(Bytes(there), 4));
  const double least = std::ceil(needed / memory->measure.value);
  const std::string_view what = training ? "its states" : "its weights";
  if (inputs.text("as") == "needed") {
    const double fewer = memory->measure.value * (*gpus - 1);
    if (said_yes && needed <= kRoomForWeights * fewer) {
      return cannot(fmt::format("{} fit on {:g}; whether more are needed depends on context and batch", what, least));
    }
    result.holds = said_yes ? fits : needed <= fewer;
    result.because = fits ? "" : fmt::format("it takes at least {:g} of them", least);
    return result;
  }
  // Weights that leave no room for anything else fit on paper only.
  const bool crammed = needed > kRoomForWeights * there;
  result.holds = said_yes ? fits : !fits || crammed;
  result.because = fits ? (said_yes ? "" : fmt::format("{} fit", what))
                        : fmt::format("it takes at least {:g} of them{}", least, said_yes ? "" : ", as is said");
  return result;
}

// --- finding it in text ------------------------------------------------------------------------------------------

/// "not", "cannot", "can't", "won't", "doesn't".
bool denied(const Tokens& tokens) {
  if (any_word(tokens, {"not", "cannot", "never", "neither"})) return true;
  for (std::size_t i = 1; i + 1 < tokens.size(); ++i) {
    if (tokens[i].is("'") && tokens[i + 1].is("t")) return true;
  }
  return false;
}

/// "Llama runs on one H100", "run Llama on a single card": about room unless a rate, a price or a time is told.
bool runs_on(const Tokens& tokens, std::size_t at) {
  if (!tokens[at].is("runs") && !tokens[at].is("run")) return false;
  const bool told = std::any_of(tokens.begin(), tokens.end(), [](const Token& t) {
    return t.is_number() &&
           (t.measure.exponents[1] != 0 || t.measure.exponents[4] != 0 || t.measure.form == Measure::Form::percent);
  });
  // "Llama runs on", "run Llama on": a run of something is a noun.
  const std::size_t before = name_before(tokens, at, NameKind::model), after = name_after(tokens, at, NameKind::model);
  const bool subject = before != kNowhere && at - before <= 3;
  const bool object = tokens[at].is("run") && after != kNowhere && after - at <= 3;
  const std::size_t device = name_after(tokens, subject ? at : after, NameKind::device);
  if (told || !(subject || object) || device == kNowhere) return false;
  // "on Trn2" leaves open how many; "on a single", "on one", "on 8x" do not.
  const bool counted = any_word(tokens, device > 3 ? device - 3 : 0, device, {"single", "one", "a", "an"}) ||
                       tokens[device - 1].is_number();
  return counted && any_word(tokens, at, device, {"on"}) &&
         !any_word(tokens, {"slow", "slowly", "fast", "faster", "slower", "better", "training", "train"});
}

/// "needs two H100s", "needs at least 4 H100s": fewer would not do.
bool needs_devices(const Tokens& tokens, std::size_t at) {
  if (!tokens[at].is("needs") && !tokens[at].is("need") && !tokens[at].is("requires")) return false;
  const std::size_t device = name_after(tokens, at, NameKind::device);
  return device != kNowhere && device > at + 1 && device <= at + 5 && tokens[device - 1].is_number() &&
         !tokens[device - 1].measure.has_unit() && tokens[device - 1].measure.suffix == 0 &&
         !any_word(tokens, device + 1, device + 4, {"hours", "hour"});
}

/// "cannot", "can not" and "can't", but not "did not" or "doesn't", which tell what somebody does.
bool cannot_before(const Tokens& tokens, std::size_t at) {
  if (at >= 1 && tokens[at - 1].is("cannot")) return true;
  if (at >= 2 && tokens[at - 1].is("not") && tokens[at - 2].is("can")) return true;
  return at >= 3 && tokens[at - 1].is("t") && tokens[at - 2].is("'") && tokens[at - 3].is("can");
}

/// "cannot run Llama": about room unless a rate, a price, a time or a share is told.
bool denies_room(const Tokens& tokens) {
  if (any_stem(tokens, 0, tokens.size(),
               {"request", "token", "user", "latency", "throughput", "fast", "quick", "econom"}))
    return false;
  return denied(tokens) && std::none_of(tokens.begin(), tokens.end(), [](const Token& t) {
           if (!t.is_number()) return false;
           const Measure& m = t.measure;
           return (m.has_unit() && !is_a<Bytes>(m) && !is_a<Gpus>(m)) || m.form == Measure::Form::percent;
         });
}

void recognise_fits_clause(const Passage& passage, const Tokens& tokens, Collector& out) {
  // A format that nobody here knows ("FP6", "Q3") is not the released one.
  const bool unknown = std::any_of(tokens.begin(), tokens.end(), [](const Token& t) {
    const std::string_view word = t.text;
    return t.type == Token::Type::word && word.size() <= 5 && word.size() >= 2 && word.back() >= '0' &&
           word.back() <= '9' &&
           (word.starts_with("fp") || word.starts_with("int") || word.starts_with("q") || word.starts_with("nf"));
  });
  if (unknown) return;
  // What is streamed in or kept elsewhere need not fit.
  if (any_stem(tokens, 0, tokens.size(), {"offload", "optimizer", "stream", "adapter", "lora", "qlora", "distil"}))
    return;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    // "fits on", "can meet the inference requirements of", "enables single-card inference of", "for training"
    const bool needed = needs_devices(tokens, i);
    const bool fit = tokens[i].is("fit") || tokens[i].is("fits") || runs_on(tokens, i) || needed;
    const bool holds = tokens[i].is("hold") || tokens[i].is("holds");
    // "a single B200 can serve 405B"; "eight H100s can host DeepSeek-R1"; "one H100 cannot run it".
    const bool verb = tokens[i].is("serve") || tokens[i].is("host") || tokens[i].is("run") || tokens[i].is("train");
    const bool cannot_serve = verb && cannot_before(tokens, i);
    const bool serves = verb && i > 0 && (tokens[i - 1].is("can") || cannot_serve);
    if (cannot_serve && !denies_room(tokens)) continue;
    const bool support = holds || serves || tokens[i].is("support") || tokens[i].is("supports") ||
                         tokens[i].is("enables") || tokens[i].is("meet");
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
      const bool bare = serves && !cannot_serve && j <= i + 2 && tokens[j].is_number() &&
                        tokens[j].measure.suffix == 'B' && !tokens[j].measure.has_unit();
      if ((parameters || bare) && !tokens[j].measure.is_range()) what = &tokens[j];
    }
    std::size_t device = fit ? name_after(tokens, i, NameKind::device) : name_before(tokens, i, NameKind::device);
    while (!fit && device != kNowhere && device > 0 && is_partner(tokens, device)) {
      device = name_before(tokens, device, NameKind::device);
    }
    if (device == kNowhere && fit) device = name_after(tokens, i, NameKind::system);
    if (device == kNowhere && fit) device = name_before(tokens, i, NameKind::device);
    const Token* subject = device == kNowhere ? nullptr : &tokens[device];
    if (subject == nullptr && passage.previous != nullptr)
      subject = first_name(passage.previous->tokens, NameKind::device);
    if (what == nullptr || subject == nullptr) continue;
    // "on a TPU v5e 2x2": the slice says how many.
    const bool followed = device != kNowhere && device + 1 < tokens.size() && tokens[device + 1].is_number() &&
                          !tokens[device + 1].measure.has_unit();
    if (followed) continue;
    const bool inference = holds || serves || fit || any_word(tokens, {"inference", "single"});
    const bool training = any_word(tokens, i, to, {"training", "train"});
    if (!inference && !training) continue;
    double gpus = 1;
    const Token* count = nullptr;
    bool counted = any_word(tokens, {"single", "one"}) || fit || holds;
    // "an H100 cannot run Llama", but not "an H100 server".
    if (serves && device != kNowhere && device > 0) {
      counted = counted || (any_word(tokens, device - 1, device, {"a", "an"}) &&
                            !any_stem(tokens, device + 1, std::min(device + 2, tokens.size()),
                                      {"node", "server", "box", "machine", "system", "cluster", "rack", "pod"}));
    }
    for (std::size_t j = 0; j < tokens.size(); ++j) {
      if (!tokens[j].is_number()) continue;
      const Measure& m = tokens[j].measure;
      const bool cards =
          is_a<Gpus>(m) ||
          (m.form != Measure::Form::percent && !m.has_unit() && m.suffix == 0 && &tokens[j] + 1 == subject) ||
          (j + 2 < tokens.size() && tokens[j + 1].is("-") && tokens[j + 2].is("card"));
      const bool near = j < i + 8 && j + 12 > i;
      // "a single card", but "a single node with 4 H100s".
      const bool one =
          any_word(tokens, {"single"}) && !any_word(tokens, {"node", "server", "box", "machine", "system"});
      if (cards && near && !one) {
        gpus = m.value;
        count = &tokens[j];
        counted = true;
      }
    }
    if (subject->name->kind == NameKind::system && gpus == 1) {
      gpus = out.context().catalogue.system(subject->name->id)->devices();
    }
    if (!counted) continue;
    Measure claimed;
    claimed.text = denied(tokens) && (fit || holds || cannot_serve) ? "no" : "yes";
    claimed.value = claimed.high = claimed.text == "yes" ? 1 : 0;
    std::vector<Found> inputs = {{"device", subject->name->id}, {"gpus", fmt::format("{}", gpus)}};
    if (what->type == Token::Type::name) {
      inputs.push_back({"model", what->name->id});
    } else {
      inputs.push_back(found("parameters", what->measure));
    }
    const std::string format = format_in(tokens);
    // Without a format a model is meant as it was released; of a bare count the smallest is granted, as what does not
    // fit in four bits fits in none.
    if (!format.empty()) inputs.push_back({"format", format});
    if (format.empty() && what->type != Token::Type::name) inputs.push_back({"granted", "smallest"});
    if (training && !any_word(tokens, {"single"})) inputs.push_back({"use", "training"});
    if (needed) inputs.push_back({"as", "needed"});
    const bool yes = claimed.text == "yes";
    const std::string_view said = needed ? (yes ? "needs" : "does not need") : yes ? "fits on" : "does not fit on";
    const bool trains = training && !needed && !fit && !any_word(tokens, {"single"});
    out.add(fits_kind(), *what, claimed,
            fmt::format("{} {} {:g} x {}{}", what->text, said, gpus, subject->text, trains ? ", in training" : ""),
            std::move(inputs));
    if (count != nullptr) out.use(*count);
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
                         "model? parameters? format? device gpus? memory? use? as? granted?",
                         true,
                         recompute_fits,
                         recognise_fits};
  return kind;
}

}  // namespace ridge::claims
