// From one value to another, as a percentage or a factor.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "claims/kinds/all_kinds.hpp"
#include "claims/reading/collector.hpp"

namespace ridge::claims {

namespace {

Result<Recomputed> recompute_change(Inputs& inputs) {
  const auto from = inputs.measure("from");
  if (!from) return from.error();
  const auto to = inputs.measure("to");
  if (!to) return to.error();
  const Measure &a = from->measure, &b = to->measure;
  if (!same_dimension(a, b) || a.value == 0 || b.value == 0) return cannot("the two values cannot be compared");
  const Measure& claimed = inputs.claim().claimed;
  const bool factor = claimed.form == Measure::Form::factor;
  const bool down = inputs.text("direction") == "down";
  // Ends as rounded as "2.2 to 8.6" leave the change between 282 and 301 %.
  const bool about = a.bound == Measure::Bound::about || b.bound == Measure::Bound::about;
  const double ends = about ? std::max(inputs.slack(), 0.1) : inputs.slack();
  const auto put = [&](double x, double y) {
    const double ratio = y / x;
    if (factor) return measure_of(ratio >= 1 ? ratio : 1 / ratio, Measure::Form::factor);
    const double share = ratio - 1;
    return measure_of(down ? -share : share, Measure::Form::percent);
  };
  Recomputed result;
  result.right = put(a.value, b.value);
  const double moved = std::abs(b.value / a.value - 1);
  if (a.form == Measure::Form::plain)
    result.slack = factor ? ends : moved > 0.05 ? ends * b.value / a.value / moved : 0;
  result.formula = factor ? fmt::format("{} / {}", b.value >= a.value ? to->shown : from->shown,
                                        b.value >= a.value ? from->shown : to->shown)
                   : down ? fmt::format("1 - {} / {}", to->shown, from->shown)
                          : fmt::format("{} / {} - 1", to->shown, from->shown);
  if (b.is_range()) {
    // "from $8 to $1.38-2.89": each end gives its own figure; the whole range has to fit.
    const Measure other = put(a.value, b.high);
    result.readings.push_back(
        {other, Verdict::rounded,
         fmt::format("that holds for one end of the range only; the other gives {}", result.right->text), 0.012});
  }
  if (!factor) {
    // Fewer of what is used up is an efficiency that rose; a fall that is called one is not.
    if (!down && b.value < a.value) {
      result.readings.push_back({measure_of(1 - b.value / a.value, Measure::Form::percent), Verdict::rounded,
                                 fmt::format("that is how much less it is; as a speed it is {} more",
                                             measure_of(a.value / b.value - 1, Measure::Form::percent).text),
                                 0.1});
    }
    if (!down) {
      result.readings.push_back({measure_of(a.value / b.value - 1, Measure::Form::percent), Verdict::right,
                                 "counted as an efficiency: what one does the other needs more of", 0.012});
    }
    if (a.form == Measure::Form::percent) {
      result.readings.push_back({measure_of(std::abs(b.value - a.value), Measure::Form::percent), Verdict::unit,
                                 fmt::format("those are percentage points; the change is {}", result.right->text),
                                 0.012});
    }
  }
  return result;
}

bool is_comparison(const Token& t) {
  return t.is_number() && t.measure.form != Measure::Form::plain;
}

/// "from 38.1%" within a few words.
bool starts_change(const Tokens& tokens, std::size_t at) {
  for (std::size_t i = at; i + 1 < std::min(at + 5, tokens.size()); ++i) {
    if (tokens[i].is("from") && tokens[i + 1].is_number()) return true;
  }
  return false;
}

/// Ready to be ends of a change: same unit, or both percentages.
bool alike(const Measure& a, const Measure& b) {
  if (a.form != b.form || a.form == Measure::Form::factor) return false;
  // "from 40 ms to 25 ms per token" says once what it is per.
  Measure whole = b;
  if (a.exponents[5] == 0 && is_a<Seconds>(a)) whole.exponents[5] = 0;
  return same_dimension(a, whole);
}

bool is_bare(const Measure& m) {
  return m.form == Measure::Form::plain && !m.has_unit() && m.suffix == 0 && !m.is_range();
}

bool is_year(const Measure& m) {
  return is_bare(m) && m.value >= 1900 && m.value <= 2100 && m.value == std::floor(m.value);
}

struct Written {
  double digits = 0;  ///< as they stand, without what the unit makes of them
  double suffix = 1;  ///< what a k, M, B or T, or "million", behind them stands for
};

Written written(const Token& t) {
  std::string digits;
  std::size_t at = 0;
  for (; at < t.text.size(); ++at) {
    const char c = t.text[at];
    if ((c >= '0' && c <= '9') || c == '.') {
      digits += c;
    } else if (c != ',' && !digits.empty()) {
      break;
    }
  }
  const auto bare = scan_measure(digits, 0);
  if (!bare || bare->measure.value == 0) return {};
  Written result{bare->measure.value, 1};
  std::size_t end = t.text.find_first_not_of(' ', at);
  while (end < t.text.size() && std::isalpha(static_cast<unsigned char>(t.text[end])) != 0) ++end;
  const std::string with_word = digits + t.text.substr(at, std::min(end, t.text.size()) - at);
  const auto magnitude = scan_measure(with_word, 0);
  const bool plain = magnitude && magnitude->end == with_word.size() && !magnitude->measure.has_unit() &&
                     magnitude->measure.form == Measure::Form::plain;
  if (plain) result.suffix = magnitude->measure.value / result.digits;
  return result;
}

/// `bare` in the unit of `other`: the 600 of "from 600 to 750 tokens/s". Whether a k or M behind the second is meant of
/// the first too ("from 1.5 to 1.8k", but "from 900 to 1.2k") shows in which way they lie nearer; nothing if neither
/// is much nearer.
std::optional<Measure> with_unit_of(const Measure& bare, const Token& other) {
  const auto [digits, suffix] = written(other);
  if (digits == 0 || bare.value == 0) return std::nullopt;
  const auto apart = [&](double end) { return std::max(bare.value / end, end / bare.value); };
  const double shared = apart(digits), own = apart(digits * suffix);
  constexpr double kMuch = 10;
  if (suffix != 1 && shared < kMuch * own && own < kMuch * shared) return std::nullopt;
  Measure m = bare;
  const double factor = other.measure.value / digits / (own < shared ? suffix : 1);
  m.value *= factor;
  m.high *= factor;
  m.written *= factor;
  m.significant *= factor;
  m.exponents = other.measure.exponents;
  m.text = shown(m);
  return m;
}

void recognise_change(const Passage& passage, Collector& out) {
  if (passage.is_row()) return;
  const Tokens& tokens = passage.tokens;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (!tokens[i].is("from")) continue;
    // "speedups ranging from 8% to 100%" is a range, "from 27% to 100% faster" too.
    if (i > 0 && any_stem(tokens, i - 1, i, {"rang", "and", "vary", "varies"})) continue;
    // "from A ... (down) to B"
    std::size_t a = kNowhere;
    for (std::size_t j = i + 1; j < std::min(i + 4, tokens.size()); ++j) {
      if (tokens[j].is_number()) {
        a = j;
        break;
      }
    }
    if (a == kNowhere) continue;
    std::size_t b = kNowhere;
    Measure first = tokens[a].measure;
    bool to = false;
    for (std::size_t j = a + 1; j < std::min(a + 10, tokens.size()) && b == kNowhere; ++j) {
      if (tokens[j].is("to")) to = true;
      if (!to || !tokens[j].is_number()) continue;
      Measure other = tokens[j].measure;
      // "from 600 to 750 tokens/s" gives the unit once.
      if (other.has_unit() && is_bare(tokens[a].measure)) {
        const auto put = with_unit_of(tokens[a].measure, tokens[j]);
        if (!put) break;
        first = *put;
        b = j;
        break;
      }
      const bool fits = alike(tokens[a].measure, other) ||
                        (is_a<Dollars>(other) && tokens[a].measure.exponents[4] == 1) ||
                        (tokens[a].measure.form == other.form && !other.has_unit() && is_a<Gpus>(tokens[a].measure));
      if (fits) b = j;
    }
    if (b == kNowhere || tokens[b].measure.value == tokens[a].measure.value) continue;
    if (is_comparison(tokens[b]) &&
        any_word(tokens, b + 1, b + 2, {"faster", "slower", "higher", "lower", "more", "less", "better"})) {
      continue;
    }
    if (is_year(tokens[a].measure) && is_year(tokens[b].measure)) continue;
    // "from the 17B to the 64B model" compares two things, not two values of one.
    if (any_word(tokens, b + 1, b + 2, {"model", "version", "variant"})) continue;
    Measure last = tokens[b].measure;
    if (!same_dimension(last, first)) last.exponents = first.exponents;
    if (is_a<Dollars>(tokens[b].measure) && !is_a<Dollars>(tokens[a].measure)) {
      // "from $20 per million tokens to $0.07": the second is per the same.
      const auto [digits, suffix] = written(tokens[a]);
      const double per = digits == 0 ? 1 : tokens[a].measure.value / (digits * suffix);
      last.value *= per;
      last.high *= per;
    }
    // The change itself: a percentage or factor that is neither end, nearest after B, or before "from".
    std::size_t claimed = kNowhere;
    const std::size_t start = i >= 8 ? i - 8 : 0;
    std::size_t before = kNowhere;
    for (std::size_t j = i; before == kNowhere && j-- > start;) {
      // Another number is what changed, and behind a comma something else does.
      const bool apart = tokens[j].is(",") && i - j > 2;  // not "drops by 10%, dropping from"
      if (apart || tokens[j].is("with") || (tokens[j].is_number() && !is_comparison(tokens[j]))) break;
      if (is_comparison(tokens[j]) && !out.used(tokens[j])) before = j;
    }
    // "dropped 64% from ..." stands nearer than anything that follows.
    if (before != kNowhere && i - before <= 4) claimed = before;
    for (std::size_t j = b + 1; claimed == kNowhere && j < std::min(b + 16, tokens.size()); ++j) {
      if (!is_comparison(tokens[j]) || out.used(tokens[j])) continue;
      // A percentage right before the next "from" belongs to that one.
      if (starts_change(tokens, j + 1)) break;
      // "from 40% to 90%, reducing the cost by 50%" goes on to something else; so does another clause, or one with
      // parts and numbers of its own.
      const bool by = any_word(tokens, b + 1, j, {"by"});
      const bool own_parts = std::any_of(tokens.begin() + static_cast<std::ptrdiff_t>(b) + 1,
                                         tokens.begin() + static_cast<std::ptrdiff_t>(j), [](const Token& t) {
                                           const bool part = t.is_number() && !is_a<Seconds>(t.measure);
                                           return part || t.type == Token::Type::name;
                                         });
      const bool other = own_parts || tokens[j - 1].is("from") || tokens[j - 1].is("the") ||
                         any_word(tokens, b + 1, j, {";", ".", "while", "average", "averaging"}) ||
                         (by && any_stem(tokens, b + 1, j,
                                         {"reduc", "cut", "increas", "improv", "lower", "rais", "drop", "boost",
                                          "decreas", "fell", "fall", "grew", "grow"}));
      if (other) break;
      claimed = j;
    }
    if (claimed == kNowhere) claimed = before;
    if (claimed == kNowhere) continue;
    const bool change = any_stem(tokens, std::min(claimed, i) > 3 ? std::min(claimed, i) - 3 : 0,
                                 std::min(std::max(claimed, b) + 5, tokens.size()),
                                 {"improve", "increas", "drop", "reduc", "decreas", "efficien", "lower", "higher",
                                  "rise",    "fall",    "fell", "gain",  "sav",     "fast",     "slow",  "speed",
                                  "cut",     "cheap",   "jump", "boost", "grew",    "growth",   "declin"});
    if (!change) continue;
    // "from 8,000 to 2,000, a 300% efficiency increase": the percentage itself is said to rise.
    const bool rises =
        any_stem(tokens, claimed, std::min(claimed + 4, tokens.size()), {"increas", "efficien", "improve", "gain"});
    const bool down = !rises && last.value < tokens[a].measure.value &&
                      tokens[claimed].measure.form == Measure::Form::percent &&
                      any_stem(tokens, 0, tokens.size(),
                               {"drop", "reduc", "decreas", "lower", "fell", "fall", "sav", "cut", "cheap", "declin"});
    std::vector<Found> inputs = {found("from", first), found("to", last)};
    if (down) inputs.push_back({"direction", "down"});
    out.use(tokens[a]);
    out.use(tokens[b]);
    out.add(change_kind(), tokens[claimed],
            fmt::format("from {} to {} is a change of {}", tokens[a].text, tokens[b].text, tokens[claimed].text),
            std::move(inputs));
  }
}

}  // namespace

const Kind& change_kind() {
  static const Kind kind{
      "change",
      "from one value to another, as a percentage or a factor",
      "to / from - 1",
      "from to direction?",
      true,
      recompute_change,
      recognise_change,
  };
  return kind;
}

}  // namespace ridge::claims
