// One value over another, both given.
#include <fmt/format.h>

#include "claims/kinds/all_kinds.hpp"
#include "claims/reading/collector.hpp"

namespace ridge::claims {

namespace {

Result<Recomputed> recompute_ratio(Inputs& inputs) {
  const auto a = inputs.measure("a");
  if (!a) return a.error();
  const auto b = inputs.measure("b");
  if (!b) return b.error();
  if (b->measure.value == 0) return cannot("nothing can be divided by zero");
  const std::string as = inputs.text("as");
  const auto form = inputs.claim().claimed.form;
  Measure right = a->measure;
  right.form = form;
  for (std::size_t i = 0; i < 9; ++i) {
    right.exponents[i] = static_cast<std::int8_t>(a->measure.exponents[i] - b->measure.exponents[i]);
  }
  const double ratio = a->measure.value / b->measure.value;
  right.value = right.high = as == "more" ? ratio - 1 : as == "less" ? 1 - ratio : ratio;
  right.text = shown(right);
  Recomputed result;
  result.right = right;
  result.formula =
      fmt::format("{}{} / {}{}", as == "less" ? "1 - " : "", a->shown, b->shown, as == "more" ? " - 1" : "");
  if (right.has_unit()) {
    for (const double power : {1e3, 1e-3}) {
      result.readings.push_back({scaled(right, power), Verdict::unit,
                                 fmt::format("the prefix of the unit is wrong: it is {}", right.text), 0.02});
    }
  }
  return result;
}

bool has_value(const Token& t) {
  return t.is_number() && (t.measure.has_unit() || t.measure.form == Measure::Form::plain);
}

/// "2.6x the transistors (208 billion) of the one before (80 billion)".
void recognise_bracketed(const Tokens& tokens, Collector& out) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const bool factor =
        tokens[i].is_number() && tokens[i].measure.form == Measure::Form::factor && !out.used(tokens[i]);
    if (!factor) continue;
    std::vector<const Token*> values;
    for (std::size_t j = i + 1; j + 1 < std::min(i + 24, tokens.size()) && values.size() < 2; ++j) {
      if (tokens[j].is_number() && tokens[j].measure.form != Measure::Form::plain) break;
      const bool bracketed = tokens[j].is_number() && tokens[j - 1].is("(") && tokens[j + 1].is(")");
      if (bracketed) values.push_back(&tokens[j]);
    }
    if (values.size() != 2) continue;
    const Measure &x = values[0]->measure, &y = values[1]->measure;
    if (!same_dimension(x, y) || x.suffix != y.suffix || x.value == 0 || y.value == 0) continue;
    // So many cards, or tokens of context, are what it was done with, not what grew.
    if (is_a<Gpus>(x) || x.suffix == 'k' || x.suffix == 'K' || (!x.has_unit() && x.suffix == 0)) continue;
    if (!any_word(tokens, i, tokens.size(), {"compared", "than", "of", "versus", "vs"})) continue;
    out.use(*values[0]);
    out.use(*values[1]);
    out.add(ratio_kind(), tokens[i],
            fmt::format("{} against {} is {}", values[0]->text, values[1]->text, tokens[i].text),
            {found("a", x.value >= y.value ? x : y), found("b", x.value >= y.value ? y : x)});
  }
}

bool is_factor(const Token& t) {
  return t.is_number() && t.measure.form == Measure::Form::factor;
}

void add_ratio(const Token& a, const Token& b, const Token& factor, Collector& out) {
  out.use(a);
  out.use(b);
  const bool larger = a.measure.value >= b.measure.value;
  out.add(ratio_kind(), factor, fmt::format("{} against {} is {}", a.text, b.text, factor.text),
          {found("a", larger ? a.measure : b.measure), found("b", larger ? b.measure : a.measure)});
}

/// "256 GB is 1.8x 141 GB", "900 GB/s versus 600 GB/s is a 1.5x advantage".
void recognise_plain(const Tokens& tokens, Collector& out) {
  for (std::size_t i = 0; i + 2 < tokens.size(); ++i) {
    if (!tokens[i].is_number() || !tokens[i].measure.has_unit() || tokens[i].measure.is_range()) continue;
    const auto alike = [&](std::size_t j) {
      return j < tokens.size() && tokens[j].is_number() && same_dimension(tokens[j].measure, tokens[i].measure) &&
             tokens[j].measure.value > 0 && tokens[i].measure.value > 0 && !tokens[j].measure.is_range();
    };
    if (any_word(tokens, i + 1, i + 2, {"is", "are", "="}) && is_factor(tokens[i + 2])) {
      const std::size_t b = any_word(tokens, i + 3, i + 4, {"of", "the"}) ? i + 4 : i + 3;
      if (alike(b) && !out.used(tokens[i + 2])) add_ratio(tokens[i], tokens[b], tokens[i + 2], out);
      continue;
    }
    const bool against = any_word(tokens, i + 1, i + 2, {"vs", "versus", "against"}) && alike(i + 2);
    if (!against) continue;
    for (std::size_t j = i + 3; j < std::min(i + 8, tokens.size()); ++j) {
      if (tokens[j].is_number() && !is_factor(tokens[j])) break;
      if (!is_factor(tokens[j]) || out.used(tokens[j])) continue;
      if (any_word(tokens, i + 3, j, {"is", "means", "gives", ":", "="}))
        add_ratio(tokens[i], tokens[i + 2], tokens[j], out);
      break;
    }
  }
}

void recognise_ratio(const Passage& passage, Collector& out) {
  if (passage.is_row()) return;
  const Tokens& tokens = passage.tokens;
  recognise_bracketed(tokens, out);
  recognise_plain(tokens, out);
  for (std::size_t i = 1; i + 1 < tokens.size(); ++i) {
    // "... 2.3x greater ... at 8.8 J/token vs 3.6 J/token"
    const bool versus = tokens[i].is("vs") && has_value(tokens[i - 1]);
    std::size_t b = i + 1;
    if (versus && b < tokens.size() && tokens[b].is(".")) ++b;
    if (!versus || b >= tokens.size() || !has_value(tokens[b])) continue;
    const Measure &x = tokens[i - 1].measure, &y = tokens[b].measure;
    if (!x.has_unit() || !same_dimension(x, y) || y.value == 0) continue;
    for (std::size_t j = i - 1; j-- > 0;) {
      if (!tokens[j].is_number() || tokens[j].measure.form != Measure::Form::factor || out.used(tokens[j])) continue;
      if (!any_stem(tokens, j, std::min(j + 4, tokens.size()), {"great", "higher", "more", "larger", "faster"})) break;
      out.use(tokens[i - 1]);
      out.use(tokens[b]);
      out.add(ratio_kind(), tokens[j],
              fmt::format("{} against {} is {}", tokens[i - 1].text, tokens[b].text, tokens[j].text),
              {found("a", x.value >= y.value ? x : y), found("b", x.value >= y.value ? y : x)});
      break;
    }
  }
}

}  // namespace

const Kind& ratio_kind() {
  static const Kind kind{
      "ratio", "one value over another, both given", "a / b", "a b as?", true, recompute_ratio, recognise_ratio,
  };
  return kind;
}

}  // namespace ridge::claims
