#include <algorithm>
#include <array>
#include <cmath>

#include "claims/text/passage.hpp"
#include "ridge/base/letters.hpp"

namespace ridge::claims {

namespace {

struct NumberWord {
  std::string_view word;
  double factor;
};
constexpr std::array kFactors = {NumberWord{"twice", 2},    NumberWord{"tenfold", 10}, NumberWord{"threefold", 3},
                                 NumberWord{"fivefold", 5}, NumberWord{"twofold", 2},  NumberWord{"fourfold", 4}};

constexpr std::array kCounts = {NumberWord{"two", 2},     NumberWord{"three", 3},   NumberWord{"four", 4},
                                NumberWord{"five", 5},    NumberWord{"six", 6},     NumberWord{"seven", 7},
                                NumberWord{"eight", 8},   NumberWord{"nine", 9},    NumberWord{"ten", 10},
                                NumberWord{"twelve", 12}, NumberWord{"sixteen", 16}};

/// "three days", "eight GPUs", "four H200s", "two 100 GB files", "a billion tokens": a number in words, where what
/// follows is counted. `word` is in lower case and ends at `end`.
std::optional<Scanned> number_in_words(std::string_view text, std::string_view word, std::size_t start, std::size_t end,
                                       const Names& names, bool grouped) {
  // "ten times": a factor.
  const std::size_t after = std::min(text.find_first_not_of(" -", end), text.size());
  if (const auto* times =
          std::find_if(kCounts.begin(), kCounts.end(), [&](const NumberWord& n) { return n.word == word; });
      times != kCounts.end() && (text.substr(after).starts_with("times ") || text.substr(after).starts_with("fold"))) {
    Scanned factor;
    factor.measure = measure_of(times->factor, Measure::Form::factor);
    factor.end = after + (text[after] == 't' ? 5 : 4);
    factor.measure.text = std::string(text.substr(start, factor.end - start));
    factor.measure.written = factor.measure.significant = times->factor == 10 ? 10 : 1;
    return factor;
  }
  const bool magnitude = word == "million" || word == "billion" || word == "trillion";
  const auto* count = std::find_if(kCounts.begin(), kCounts.end(), [&](const NumberWord& n) { return n.word == word; });
  if (!magnitude && count == kCounts.end()) return std::nullopt;
  const std::size_t next = std::min(text.find_first_not_of(" -", end), text.size());
  // A number that follows stands for itself: those files do not have 2,100 GB.
  const bool number = next < text.size() && is_digit(text[next]);
  const std::string_view rest = text.substr(end, number ? 0 : std::min<std::size_t>(text.size() - end, 60));
  const std::string digits = magnitude ? "1 " + std::string(word) : std::to_string(static_cast<int>(count->factor));
  auto found = scan_measure(digits + std::string(rest), 0, grouped);
  if (!found || found->end < digits.size()) return std::nullopt;
  Measure& m = found->measure;
  const bool hardware = [&] {
    const auto hit = next < text.size() ? names.match(text, next) : std::nullopt;
    return hit && (hit->name->kind == NameKind::device || hit->name->kind == NameKind::system);
  }();
  if (magnitude ? !is_a<ridge::Tokens>(m) : !(is_a<Seconds>(m) || is_a<Gpus>(m) || hardware || number)) {
    return std::nullopt;
  }
  found->end = end + (found->end - digits.size());
  m.text = std::string(text.substr(start, found->end - start));
  return found;
}

// Two and more figures with the same form and "to" between them are a range, unless "from" says it is a change.
void join_ranges(Tokens& tokens) {
  for (std::size_t i = 0; i + 2 < tokens.size(); ++i) {
    Token& low = tokens[i];
    const Token& high = tokens[i + 2];
    if (!low.is_number() || !tokens[i + 1].is("to") || !high.is_number()) continue;
    const bool same = low.measure.form == high.measure.form && same_dimension(low.measure, high.measure) &&
                      (low.measure.form != Measure::Form::plain || low.measure.has_unit());
    const bool change = i > 0 && (tokens[i - 1].is("from") || tokens[i - 1].is("peak"));
    if (!same || change || high.measure.value <= low.measure.value) continue;
    low.measure.high = high.measure.value;
    low.measure.text += " to " + high.measure.text;
    low.end = high.end;
    tokens.erase(tokens.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                 tokens.begin() + static_cast<std::ptrdiff_t>(i) + 3);
  }
}

/// "1,300 FP16 tensor TFLOPS", "15 FP4 PFLOPS": the unit stands behind the format.
void join_rates(Tokens& tokens) {
  for (std::size_t i = 0; i + 2 < tokens.size(); ++i) {
    Measure& m = tokens[i].measure;
    if (!tokens[i].is_number() || m.has_unit() || m.form != Measure::Form::plain || m.suffix != 0) continue;
    std::size_t unit = i + 1;
    bool format = false;
    while (unit < std::min(i + 5, tokens.size())) {
      const Token& t = tokens[unit];
      const bool word = t.is("tensor") || t.is("core") || t.is("dense") || t.is("sparse") || t.is("/");
      if (!t.is_name(NameKind::format) && !word) break;
      format = format || t.is_name(NameKind::format);
      ++unit;
    }
    if (!format || unit >= tokens.size() || tokens[unit].type != Token::Type::word) continue;
    const std::string& word = tokens[unit].text;
    const std::string_view spelled = word == "tflops" || word == "tflop"   ? "1 TFLOPS"
                                     : word == "pflops" || word == "pflop" ? "1 PFLOPS"
                                     : word == "tops"                      ? "1 TOPS"
                                     : word == "teraflops"                 ? "1 TFLOPS"
                                     : word == "petaflops"                 ? "1 PFLOPS"
                                                                           : "1";
    const auto found = scan_measure(spelled, 0);
    if (!found || !is_a<FlopsPerSecond>(found->measure)) continue;
    const double factor = found->measure.value;
    m = [&] {
      Measure rate = m;
      rate.value *= factor;
      rate.high *= factor;
      rate.written *= factor;
      rate.significant *= factor;
      rate.exponents = found->measure.exponents;
      return rate;
    }();
  }
}

void note_bounds(Tokens& tokens) {
  for (std::size_t i = 1; i < tokens.size(); ++i) {
    Token& token = tokens[i];
    if (!token.is_number() || token.measure.bound != Measure::Bound::exact) continue;
    const Token& before = tokens[i - 1];
    if (before.is("over") || before.is("exceeding") || before.is("exceeds") || before.is("exceeded") ||
        (before.is("than") && i > 1 && tokens[i - 2].is("more"))) {
      token.measure.bound = Measure::Bound::at_least;
    } else if (before.is("under") ||
               (before.is("than") && i > 1 && (tokens[i - 2].is("less") || tokens[i - 2].is("fewer")))) {
      token.measure.bound = Measure::Bound::at_most;
    } else if (before.is("a") && i > 2 && tokens[i - 2].is("than") && tokens[i - 3].is("less")) {
      token.measure.bound = Measure::Bound::at_most;
    } else if (before.is("about") || before.is("approximately") || before.is("roughly") || before.is("around") ||
               before.is("nearly") || before.is("almost")) {
      token.measure.bound = Measure::Bound::about;
    }
  }
}

}  // namespace

Tokens tokenize(std::string_view text, std::size_t from, std::size_t to, const Names& names, bool grouped) {
  Tokens tokens;
  const std::string_view view = text.substr(0, to);
  std::size_t at = from;
  while (at < to) {
    const char c = view[at];
    if (c == ' ' || c == '\n' || c == '\x02') {
      ++at;
      continue;
    }
    Token token;
    token.offset = at;
    const bool word_start = is_letter(c) || is_digit(c);
    if (word_start) {
      if (const auto hit = names.match(view, at)) {
        token.type = Token::Type::name;
        token.name = hit->name;
        token.end = hit->end;
        token.text = std::string(view.substr(at, hit->end - at));
        at = hit->end;
        if (view.substr(at).starts_with("'s")) at += 2;
        tokens.push_back(std::move(token));
        continue;
      }
    }
    const char next = at + 1 < to ? view[at + 1] : '\0';
    const bool sign =
        (c == '~' || c == '<' || c == '>') && (is_digit(next) || next == ' ' || next == '$' || next == '=');
    const bool money = c == '$' && (is_digit(next) || next == ' ');
    // "draws -5 W": a minus stands apart from what is before it and sticks to its number.
    if (c == '-' && is_digit(next) && at > from && (view[at - 1] == ' ' || view[at - 1] == '(')) {
      auto found = scan_measure(view, at + 1, grouped);
      if (found && found->measure.has_unit() && found->measure.form == Measure::Form::plain) {
        token.type = Token::Type::number;
        token.end = found->end;
        token.measure = negated(std::move(found->measure));
        token.measure.text = std::string(view.substr(at, found->end - at));
        token.text = token.measure.text;
        at = found->end;
        tokens.push_back(std::move(token));
        continue;
      }
    }
    if (is_digit(c) || sign || money || (c == '.' && is_digit(next))) {
      if (auto found = scan_measure(view, at, grouped)) {
        token.type = Token::Type::number;
        token.end = found->end;
        token.measure = std::move(found->measure);
        std::replace(token.measure.text.begin(), token.measure.text.end(), '\n', ' ');
        token.text = token.measure.text;
        at = found->end;
        tokens.push_back(std::move(token));
        continue;
      }
    }
    if (is_letter(c) || is_digit(c)) {
      while (at < to && (is_letter(view[at]) || is_digit(view[at]))) ++at;
      token.text = lower(view.substr(token.offset, at - token.offset));
      if (auto found = number_in_words(view, token.text, token.offset, at, names, grouped)) {
        token.type = Token::Type::number;
        token.end = at = found->end;
        token.measure = std::move(found->measure);
        token.text = token.measure.text;
        tokens.push_back(std::move(token));
        continue;
      }
      if (view.substr(at).starts_with("'s")) at += 2;
      const auto* factor =
          std::find_if(kFactors.begin(), kFactors.end(), [&](const NumberWord& n) { return n.word == token.text; });
      if (factor != kFactors.end()) {
        token.type = Token::Type::number;
        token.measure = measure_of(factor->factor, Measure::Form::factor);
        token.measure.text = token.text;
        token.measure.written = token.measure.significant = 1;
      }
    } else {
      token.type = Token::Type::mark;
      token.text = std::string(1, c);
      ++at;
    }
    token.end = at;
    tokens.push_back(std::move(token));
  }
  join_rates(tokens);
  join_ranges(tokens);
  note_bounds(tokens);
  return tokens;
}

bool any_word(const Tokens& tokens, std::initializer_list<std::string_view> words) {
  return any_word(tokens, 0, tokens.size(), words);
}

bool any_word(const Tokens& tokens, std::size_t from, std::size_t to, std::initializer_list<std::string_view> words) {
  for (std::size_t i = from; i < std::min(to, tokens.size()); ++i) {
    for (const std::string_view word : words) {
      if (tokens[i].is(word)) return true;
    }
  }
  return false;
}

bool any_stem(const Tokens& tokens, std::size_t from, std::size_t to, std::initializer_list<std::string_view> stems) {
  for (std::size_t i = from; i < std::min(to, tokens.size()); ++i) {
    if (tokens[i].type != Token::Type::word) continue;
    for (const std::string_view stem : stems) {
      if (std::string_view(tokens[i].text).starts_with(stem)) return true;
    }
  }
  return false;
}

std::size_t name_before(const Tokens& tokens, std::size_t at, NameKind kind) {
  for (std::size_t i = std::min(at, tokens.size()); i-- > 0;) {
    if (tokens[i].is_name(kind)) return i;
  }
  return kNowhere;
}

std::size_t name_after(const Tokens& tokens, std::size_t at, NameKind kind) {
  for (std::size_t i = at; i < tokens.size(); ++i) {
    if (tokens[i].is_name(kind)) return i;
  }
  return kNowhere;
}

const Token* first_number(const Tokens& tokens) {
  const auto at = std::find_if(tokens.begin(), tokens.end(), [](const Token& t) { return t.is_number(); });
  return at == tokens.end() ? nullptr : &*at;
}

const Token* first_name(const Tokens& tokens, NameKind kind) {
  const auto at = std::find_if(tokens.begin(), tokens.end(), [&](const Token& t) { return t.is_name(kind); });
  return at == tokens.end() ? nullptr : &*at;
}

const Token* first_hardware(const Tokens& tokens) {
  const auto at = std::find_if(tokens.begin(), tokens.end(), [](const Token& t) {
    return t.is_name(NameKind::device) || t.is_name(NameKind::system);
  });
  return at == tokens.end() ? nullptr : &*at;
}

const Token* meant_by_its(const Tokens& tokens, std::size_t at) {
  constexpr std::size_t kReach = 10;
  const auto hardware = [](const Token& t) { return t.is_name(NameKind::device) || t.is_name(NameKind::system); };
  std::size_t its = kNowhere;
  for (std::size_t i = at; i-- > (at > kReach ? at - kReach : 0);) {
    // A part that is named after the pronoun takes over.
    if (hardware(tokens[i])) return nullptr;
    if (!tokens[i].is("its")) continue;
    its = i;
    break;
  }
  if (its == kNowhere) return nullptr;
  for (std::size_t i = its; i-- > 0;) {
    if (!hardware(tokens[i]) || is_partner(tokens, i)) continue;
    // "the compute of the H100" is about the compute.
    const std::size_t before = i >= 1 && tokens[i - 1].is("the") ? i - 1 : i;
    if (before >= 1 && tokens[before - 1].is("of")) continue;
    return &tokens[i];
  }
  return nullptr;
}

bool is_partner(const Tokens& tokens, std::size_t at) {
  if (at + 1 < tokens.size() && tokens[at + 1].is_number()) return false;
  const std::size_t from = at > 6 ? at - 6 : 0;
  for (std::size_t i = at; i-- > from;) {
    const Token& t = tokens[i];
    if (t.is("than") || t.is("compared") || t.is("over") || t.is("vs") || t.is("versus")) return true;
    // "3x the performance of H200", "26% that of the B200"
    if (t.is("of")) {
      for (std::size_t j = i; j-- > (i > 5 ? i - 5 : 0);) {
        if (tokens[j].is_number() && tokens[j].measure.form != Measure::Form::plain) return true;
      }
    }
    if (t.is_number() || t.is(",")) return false;
  }
  return false;
}

namespace {

/// One of the unit a header names: "Bandwidth (GB/s)", "$/M tok", "Est. tok/s".
std::optional<Measure> header_unit(const std::string& header) {
  for (std::size_t i = 0; i < header.size(); ++i) {
    const bool start = i == 0 || header[i - 1] == ' ' || header[i - 1] == '(';
    if (!start) continue;
    const bool money = header[i] == '$';
    if (!money && !is_letter(header[i])) continue;
    const std::string trial = money ? "$1" + header.substr(i + 1) : "1 " + header.substr(i);
    auto found = scan_measure(trial, 0);
    if (!found || !found->measure.has_unit()) continue;
    const bool duration = is_a<Seconds>(found->measure) || is_a<Gpus>(found->measure);
    if (duration) continue;  // "3 days": cells carry their own; "GPU" in a header is a word
    return found->measure;
  }
  return std::nullopt;
}

}  // namespace

std::shared_ptr<const Header> make_header(std::string text, Tokens tokens) {
  auto unit = header_unit(text);
  return std::make_shared<Header>(Header{std::move(text), std::move(tokens), std::move(unit)});
}

std::optional<Measure> cell_measure(const TableCell& cell) {
  const Token* number = first_number(cell.tokens);
  if (number == nullptr) return std::nullopt;
  Measure m = number->measure;
  const bool money_only = is_a<Dollars>(m);
  if ((m.has_unit() && !money_only) || m.form != Measure::Form::plain) return m;
  const std::optional<Measure>& unit = cell.header->unit;
  const auto with = [&](double factor, const std::array<std::int8_t, 9>& exponents) {
    m.value *= factor;
    m.high *= factor;
    m.written *= factor;
    m.significant *= factor;
    m.exponents = exponents;
  };
  if (unit && (!money_only || unit->exponents[4] == 1)) {
    with(unit->value, unit->exponents);
  } else if (money_only &&
             (cell.header->text.find("/hr") != std::string::npos || cell.header->text.find("/h") != std::string::npos ||
              cell.header->text.find("per hour") != std::string::npos)) {
    with(1 / 3600.0, {0, -1, 0, 0, 1});
  }
  return m;
}

bool header_has(const TableCell& cell, std::initializer_list<std::string_view> words) {
  return any_word(cell.header->tokens, words);
}

}  // namespace ridge::claims
