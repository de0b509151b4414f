// Figures that no pattern took up and that are what the catalogue says of a part the sentence names: then it hardly
// matters how the sentence is built. Only what holds is taken; what does not may be something else's figure, and stays
// among what was not understood.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "claims/kinds/all_kinds.hpp"
#include "claims/kinds/finders.hpp"
#include "claims/known/figures.hpp"
#include "claims/reading/collector.hpp"
#include "claims/reading/misreadings.hpp"

namespace ridge::claims {

namespace {

bool is_part(const Token& t) {
  return t.is_name(NameKind::device) || t.is_name(NameKind::system);
}

bool holds(Verdict v) {
  return v == Verdict::right;
}

/// Words in a few tokens around that make a number of bytes one of a program, not of a part.
bool is_of_a_program(const Tokens& tokens, std::size_t at) {
  const std::size_t from = at > 4 ? at - 4 : 0;
  return any_word(tokens, from, std::min(at + 4, tokens.size()),
                  {"kv",      "cache", "weights", "model",      "models",  "usage", "used", "needs", "need", "requires",
                   "require", "takes", "context", "checkpoint", "dataset", "ssd",   "nvme", "disk",  "=",    "total"});
}

std::vector<std::string> figures_by_unit(const Tokens& tokens, std::size_t at) {
  const Measure& m = tokens[at].measure;
  if (is_a<Bytes>(m))
    return is_of_a_program(tokens, at) ? std::vector<std::string>{} : std::vector<std::string>{"memory"};
  if (is_a<BytesPerSecond>(m)) {
    const std::size_t from = at > 6 ? at - 6 : 0;
    const bool link =
        any_word(tokens, from, std::min(at + 6, tokens.size()), {"nvlink", "interconnect"}) ||
        std::any_of(tokens.begin(), tokens.end(), [](const Token& t) { return t.is_name(NameKind::fabric); });
    if (link) return {"nvlink", "bandwidth"};
    return {"bandwidth"};
  }
  if (is_a<Watts>(m)) return {"power"};
  if (!is_a<FlopsPerSecond>(m)) return {};
  // The nearest format first.
  std::vector<std::pair<std::size_t, std::string>> near;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (!tokens[i].is_name(NameKind::format) || !peak_format(tokens[i].name->id)) continue;
    near.emplace_back(i > at ? i - at : at - i, tokens[i].name->id);
  }
  std::sort(near.begin(), near.end());
  std::vector<std::string> formats;
  for (const auto& [distance, id] : near) formats.push_back(id);
  return formats;
}

/// "TB/s" of "3.35 TB/s".
std::string_view unit_of(std::string_view text) {
  const std::size_t at = text.find_last_of("0123456789");
  std::string_view unit = at == std::string_view::npos ? "" : text.substr(at + 1);
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  return unit;
}

bool try_part(const Token& part, const Token& number, const std::string& figure, Collector& out) {
  const std::vector<Found> inputs = {{"of", part.name->id}, {"figure", figure}};
  if (!holds(out.verdict_of(specification_kind(), number.measure, inputs))) return false;
  out.add(specification_kind(), number, fmt::format("{}: {} {}", part.text, figure_words(figure), number.text), inputs);
  return true;
}

void find_figure(const Passage& sentence, std::size_t at, Collector& out) {
  const Tokens& tokens = sentence.tokens;
  const std::vector<std::string> figures = figures_by_unit(tokens, at);
  if (figures.empty()) return;
  for (const Token* part : parts_in_scope(sentence, at)) {
    for (const std::string& figure : figures) {
      if (try_part(*part, tokens[at], figure, out)) return;
    }
  }
}

/// "70B in FP16 (140 GB)", "needs 40 GB at 4-bit": what the weights of a model take, in a format that is named.
void find_weights(const Passage& sentence, std::size_t at, Collector& out) {
  const Tokens& tokens = sentence.tokens;
  const Token& number = tokens[at];
  if (!is_a<Bytes>(number.measure) || any_word(tokens, {"kv", "cache", "optimizer", "adam", "training"})) return;
  std::vector<std::pair<std::size_t, const Token*>> sizes;
  std::vector<std::pair<std::size_t, const Token*>> formats;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token& t = tokens[i];
    const std::size_t distance = i > at ? i - at : at - i;
    const bool count = t.is_number() && !t.measure.has_unit() && !t.measure.is_range() &&
                       t.measure.form == Measure::Form::plain && t.measure.suffix == 'B';
    if (count || t.is_name(NameKind::model)) sizes.emplace_back(distance, &t);
    if (t.is_name(NameKind::format)) formats.emplace_back(distance, &t);
  }
  std::sort(sizes.begin(), sizes.end());
  std::sort(formats.begin(), formats.end());
  for (const auto& [there, size] : sizes) {
    for (const auto& [here, format] : formats) {
      std::vector<Found> inputs = {{"format", format->name->id}};
      inputs.push_back(size->is_number() ? found("parameters", size->measure) : Found{"model", size->name->id});
      if (any_word(tokens, {"needs", "requires", "vram", "run", "running"})) inputs.push_back({"use", "serving"});
      const Verdict v = out.verdict_of(weights_kind(), number.measure, inputs);
      if (v != Verdict::right && v != Verdict::rounded) continue;
      out.add(weights_kind(), number, fmt::format("weights of {} in {}: {}", size->text, format->text, number.text),
              inputs);
      return;
    }
  }
}

/// "192 GB vs 80 GB, a 2.4x ratio": what two figures before it give.
void find_ratio(const Passage& sentence, std::size_t at, Collector& out) {
  const Tokens& tokens = sentence.tokens;
  for (std::size_t b = at; b-- > (at > 8 ? at - 8 : 0);) {
    if (!tokens[b].is_number() || !tokens[b].measure.has_unit()) continue;
    for (std::size_t a = b; a-- > (b > 6 ? b - 6 : 0);) {
      Measure first = tokens[a].measure;
      if (!tokens[a].is_number() || !any_word(tokens, a, b, {"vs", "versus", "against", "to"})) continue;
      // "5.3 vs 3.35 TB/s": the unit is said once.
      if (!first.has_unit() && first.form == Measure::Form::plain && first.suffix == 0 &&
          tokens[b].measure.written > 0) {
        const auto scale = scan_measure(fmt::format("1 {}", unit_of(tokens[b].text)), 0);
        if (scale && scale->measure.has_unit()) first = scaled(scale->measure, first.value);
      }
      if (!same_dimension(first, tokens[b].measure)) continue;
      for (const bool swapped : {false, true}) {
        const Measure& over = swapped ? tokens[b].measure : first;
        const Measure& under = swapped ? first : tokens[b].measure;
        std::vector<Found> inputs = {found("a", over), found("b", under)};
        if (tokens[at].measure.form == Measure::Form::percent) inputs.push_back({"as", "more"});
        if (!holds(out.verdict_of(ratio_kind(), tokens[at].measure, inputs))) continue;
        out.add(ratio_kind(), tokens[at], fmt::format("{} is {} {}", over.text, tokens[at].text, under.text), inputs);
        return;
      }
    }
  }
}

}  // namespace

std::vector<const Token*> parts_in_scope(const Passage& sentence, std::size_t at) {
  std::vector<std::pair<std::size_t, const Token*>> near;
  for (std::size_t i = 0; i < sentence.tokens.size(); ++i) {
    if (is_part(sentence.tokens[i])) near.emplace_back(i > at ? i - at : at - i, &sentence.tokens[i]);
  }
  std::sort(near.begin(), near.end());
  std::vector<const Token*> parts;
  for (const auto& [distance, part] : near) parts.push_back(part);
  if (sentence.previous != nullptr) {
    for (const Token& t : sentence.previous->tokens) {
      if (is_part(t)) parts.push_back(&t);
    }
  }
  return parts;
}

bool find_pair(const Passage& sentence, std::size_t at, const std::string& figure, const std::string& as,
               Collector& out) {
  const Token& number = sentence.tokens[at];
  const std::vector<const Token*> parts = parts_in_scope(sentence, at);
  for (const Token* of : parts) {
    for (const Token* to : parts) {
      if (of->name->id == to->name->id || of->name->kind != to->name->kind) continue;
      const std::vector<Found> inputs = {{"of", of->name->id}, {"to", to->name->id}, {"figure", figure}, {"as", as}};
      if (!holds(out.verdict_of(comparison_kind(), number.measure, inputs))) continue;
      out.add(comparison_kind(), number,
              fmt::format("{}: {} {}{} {}", of->text, figure_words(figure), number.text,
                          as.empty() ? " of" : " " + as + " than", to->name->id),
              inputs);
      return true;
    }
  }
  return false;
}

void find_known_figures(const Passage& sentence, Collector& out) {
  if (sentence.is_row() || is_log(sentence.tokens)) return;
  const Tokens& tokens = sentence.tokens;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token& t = tokens[i];
    if (!t.is_number() || out.used(t)) continue;
    if (t.measure.form != Measure::Form::plain) find_ratio(sentence, i, out);
    if (t.measure.form != Measure::Form::plain || !t.measure.has_unit()) continue;
    find_figure(sentence, i, out);
    if (!out.used(t)) find_weights(sentence, i, out);
  }
}

}  // namespace ridge::claims
