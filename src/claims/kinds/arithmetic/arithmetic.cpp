// Products and conversions that a text spells out: "192 GB x 8 = 1.5 TB", "10,791 kWh or 38.8 GJ".
#include <fmt/format.h>

#include <algorithm>

#include "claims/kinds/all_kinds.hpp"
#include "claims/reading/collector.hpp"

namespace ridge::claims {

namespace {

Measure multiplied(const Measure& a, const Measure& b) {
  Measure m = a;
  m.form = Measure::Form::plain;
  for (std::size_t i = 0; i < 9; ++i) {
    // Accelerators count what is counted: eight cards of 192 GB are gigabytes, not gigabyte-cards.
    m.exponents[i] = i == 6 ? 0 : static_cast<std::int8_t>(a.exponents[i] + b.exponents[i]);
  }
  m.value = m.high = a.value * b.value;
  m.text = shown(m);
  return m;
}

Result<Recomputed> recompute_product(Inputs& inputs) {
  const auto each = inputs.measure("each");
  if (!each) return each.error();
  const auto count = inputs.measure("count");
  if (!count) return count.error();
  Recomputed result;
  result.right = multiplied(each->measure, count->measure);
  result.formula = fmt::format("{} x {}", count->shown, each->shown);
  if (inputs.has("plus")) {
    const auto plus = inputs.measure("plus");
    if (!plus) return plus.error();
    if (!same_dimension(plus->measure, *result.right)) return cannot("what is added has another unit");
    result.right->value = result.right->high = result.right->value + plus->measure.value;
    result.right->text = shown(*result.right);
    result.formula += " + " + plus->shown;
  }
  if (is_a<Bytes>(*result.right)) {
    result.readings.push_back(
        {scaled(*result.right, 1 / 1.073741824), Verdict::unit, "that is in GiB, written as GB", 0.004});
  }
  for (const double power : {1e3, 1e-3, 8.0, 0.125}) {
    result.readings.push_back({scaled(*result.right, power), Verdict::unit,
                               fmt::format("the unit is wrong: it is {}", result.right->text), 0.02});
  }
  return result;
}

Result<Recomputed> recompute_conversion(Inputs& inputs) {
  const auto of = inputs.measure("of");
  if (!of) return of.error();
  Recomputed result;
  result.right = of->measure;
  if (!of->measure.has_unit()) return cannot("there is no unit to convert");
  result.formula = of->shown;
  result.readings.push_back({scaled(of->measure, 8), Verdict::unit, "bits and bytes are mixed up", 0.01});
  result.readings.push_back({scaled(of->measure, 0.125), Verdict::unit, "bits and bytes are mixed up", 0.01});
  for (const double power : {1e3, 1e-3, 1e6, 1e-6}) {
    result.readings.push_back({scaled(of->measure, power), Verdict::unit, "the prefix of the unit is wrong", 0.01});
  }
  return result;
}

/// "200 Gb/s (25 GB/s)": only units that differ in writing restate each other, and only near or by a usual slip.
bool is_restatement(double ratio, const Measure& x, const Measure& y) {
  const auto unit = [](const Measure& m) {
    const std::size_t letter = m.text.find_first_not_of("0123456789., ~<>=$");
    return letter == std::string::npos ? std::string() : m.text.substr(letter);
  };
  if (unit(x) == unit(y)) return false;
  // Bits beside bytes always restate each other.
  const auto bits = [](const std::string& u) {
    return u.find('b') != std::string::npos && u.find('B') == std::string::npos;
  };
  if (bits(unit(x)) != bits(unit(y)) && ratio > 0.5 && ratio < 2) return true;
  for (const double slip : {1.0, 8.0, 0.125, 1e3, 1e-3}) {
    if (ratio > 0.93 * slip && ratio < 1.07 * slip) return true;
  }
  return false;
}

/// Tokens times prices per token, over two sentences: "15T tokens ... $1.95 per million tokens. This adds up to $29M".
void recognise_totals(const Passage& passage, Collector& out) {
  if (passage.is_row() || passage.previous == nullptr) return;
  if (!any_word(passage.tokens, {"adds", "add", "totals", "total", "sums", "means"})) return;
  std::vector<const Token*> prices, sums;
  const Token* amount = nullptr;
  const auto is_amount = [](const Tokens& tokens, std::size_t i) {
    const Token& t = tokens[i];
    if (!t.is_number()) return false;
    return is_a<ridge::Tokens>(t.measure) || (t.measure.suffix == 'B' && !t.measure.has_unit() &&
                                              any_word(tokens, i > 5 ? i - 5 : 0, i + 2, {"token", "tokens"}));
  };
  for (std::size_t i = 0; i < passage.previous->tokens.size(); ++i) {
    const Token& t = passage.previous->tokens[i];
    if (t.is_number() && is_a<DollarsPerToken>(t.measure)) prices.push_back(&t);
    if (is_amount(passage.previous->tokens, i)) amount = &t;
  }
  for (std::size_t i = 0; i < passage.tokens.size(); ++i) {
    const Token& t = passage.tokens[i];
    if (t.is_number() && is_a<Dollars>(t.measure)) sums.push_back(&t);
    if (is_amount(passage.tokens, i)) amount = &t;
  }
  if (prices.empty() || amount == nullptr || sums.size() < prices.size()) return;
  out.use(*amount);
  for (std::size_t k = 0; k < prices.size(); ++k) {
    out.use(*prices[k]);
    Measure count = amount->measure;
    count.exponents = {0, 0, 0, 0, 0, 1};
    out.add(product_kind(), *sums[k], fmt::format("{} at {} is {}", amount->text, prices[k]->text, sums[k]->text),
            {found("each", prices[k]->measure), found("count", count)});
  }
}

bool is_times(const Token& t) {
  return t.is("x") || t.is("*");
}

bool joins_on(const Token& t) {
  return t.is("{") || t.is("}") || t.is("$") || t.is("\\");
}

/// The factors at `a` and `b` are part of something longer: "2 * 28672 / 2550", "8192 x 5120 x 2 bytes", "(3F + 2H) *
/// 4".
bool continues(const Tokens& tokens, std::size_t a, std::size_t b) {
  const auto joins = [](const Token& t) {
    return is_times(t) || t.is("times") || t.is("/") || t.is("+") || t.is("-") || t.is("^") || t.is("$") || t.is("{") ||
           t.is("}") || t.is("\\") || (t.is_number() && t.measure.form == Measure::Form::factor);
  };
  if (a >= 1 && (joins(tokens[a - 1]) || tokens[a - 1].is(")") || tokens[a - 1].is("_"))) return true;
  if (a >= 2 && tokens[a - 1].is("(") && (joins(tokens[a - 2]) || tokens[a - 2].is("="))) return true;
  for (std::size_t i = b + 1; i < std::min(b + 4, tokens.size()) && !tokens[i].is("="); ++i) {
    if (joins(tokens[i])) return true;
    if (tokens[i].is(")") && i + 1 < tokens.size() && (joins(tokens[i + 1]) || tokens[i + 1].is("="))) return true;
  }
  return false;
}

void recognise_product(const Passage& passage, Collector& out) {
  const Tokens& tokens = passage.tokens;
  for (std::size_t i = 1; i + 1 < tokens.size(); ++i) {
    const bool factor_before = tokens[i - 1].is_number() && tokens[i - 1].measure.form == Measure::Form::factor;
    const bool times = is_times(tokens[i]) && tokens[i - 1].is_number();
    const std::size_t a = i - 1;
    const std::size_t b = times ? i + 1 : i;
    if ((!times && !factor_before) || !tokens[b].is_number()) continue;
    Measure x = tokens[a].measure, y = tokens[b].measure;
    if (x.form == Measure::Form::percent || y.form == Measure::Form::percent) continue;
    x.form = y.form = Measure::Form::plain;
    if (x.has_unit() && y.has_unit() && !is_a<Gpus>(y) && !is_a<Gpus>(x)) continue;
    if (continues(tokens, a, b)) continue;
    // "= C" behind, or "C (" in front.
    std::size_t c = kNowhere;
    for (std::size_t j = b + 1; j < std::min(b + 4, tokens.size()); ++j) {
      if (tokens[j].is(",") || tokens[j].is("(")) break;
      if (!tokens[j].is("=")) continue;
      if (j + 1 < tokens.size() && tokens[j + 1].is_number()) c = j + 1;
      break;
    }
    // Typeset formulas go on behind the number: "= 38{,}500$".
    if (c != kNowhere && c > b && c + 1 < tokens.size() && joins_on(tokens[c + 1])) continue;
    if (c == kNowhere && a >= 1 && tokens[a - 1].is("(")) {
      // Plain numbers say nothing of each other unless they touch.
      const std::size_t reach = x.has_unit() || y.has_unit() ? 8 : 2;
      for (std::size_t j = a - 1; j-- > (a > reach ? a - reach : 0);) {
        if (tokens[j].is_number() && same_dimension(tokens[j].measure, multiplied(x, y))) {
          c = j;
          break;
        }
      }
    }
    if (c == kNowhere || tokens[c].measure.form == Measure::Form::percent) continue;
    if (!same_dimension(tokens[c].measure, multiplied(x, y))) continue;
    // "4 batches (256 * 4)": a count in front of a bracket is not what the bracket comes to.
    if (c < a && !x.has_unit() && !y.has_unit() && tokens[c].measure.value < std::max(x.value, y.value)) continue;
    out.use(tokens[a]);
    out.use(tokens[b]);
    out.add(product_kind(), tokens[c], fmt::format("{} x {} = {}", tokens[a].text, tokens[b].text, tokens[c].text),
            {found("each", x.has_unit() ? x : y), found("count", x.has_unit() ? y : x)});
  }
  // Tokens times price per token, over two sentences: "... $1.95 per million tokens ... 15T tokens ... adds up to".
  recognise_totals(passage, out);
}

void recognise_conversion(const Passage& passage, Collector& out) {
  const Tokens& tokens = passage.tokens;
  for (std::size_t i = 0; i + 2 < tokens.size(); ++i) {
    if (!tokens[i].is_number() || !tokens[i].measure.has_unit()) continue;
    std::size_t b = kNowhere;
    for (std::size_t j = i + 1; j < std::min(i + 7, tokens.size()) && b == kNowhere; ++j) {
      if (tokens[j].is("or") || tokens[j].is("(")) {
        std::size_t k = j + 1;
        while (k < tokens.size() && (tokens[k].is("approximately") || tokens[k].is("about") || tokens[k].is("roughly")))
          ++k;
        if (k < tokens.size() && tokens[k].is_number()) b = k;
        break;
      }
      if (tokens[j].type == Token::Type::mark || tokens[j].is_number()) break;
    }
    if (b == kNowhere) continue;
    const Measure &x = tokens[i].measure, &y = tokens[b].measure;
    const bool same = y.has_unit() && same_dimension(x, y) && !x.is_range() && !y.is_range();
    // Two amounts of one dimension, of which one restates the other: within a factor of the usual slips.
    const bool paren = !tokens[b - 1].is("(") ? true : b + 1 < tokens.size() && tokens[b + 1].is(")");
    const double ratio = same && x.value != 0 ? y.value / x.value : 0;
    const bool restated = same && paren && is_restatement(ratio, x, y);
    if (!restated) continue;
    out.use(tokens[i]);
    out.add(conversion_kind(), tokens[b], fmt::format("{} is {}", tokens[i].text, tokens[b].text), {found("of", x)});
  }
}

}  // namespace

const Kind& product_kind() {
  static const Kind kind{
      "product", "so many times one amount", "each x count + plus", "each count plus?",
      true,      recompute_product,          recognise_product,
  };
  return kind;
}

const Kind& conversion_kind() {
  static const Kind kind{
      "conversion", "the same amount in another unit", "of", "of", true, recompute_conversion, recognise_conversion,
  };
  return kind;
}

}  // namespace ridge::claims
