// From one value to another, as a percentage or a factor.
#include <fmt/format.h>

#include <cmath>

#include "claims/all_kinds.hpp"
#include "claims/collector.hpp"

namespace ridge::claims {

namespace {

Result<Recomputed> recompute(Inputs& inputs) {
  const auto from = inputs.measure("from");
  if (!from) return from.error();
  const auto to = inputs.measure("to");
  if (!to) return to.error();
  const Measure &a = from->measure, &b = to->measure;
  if (!same_dimension(a, b) || a.value == 0 || b.value == 0) return cannot("the two values cannot be compared");
  const Measure& claimed = inputs.claim().claimed;
  const bool factor = claimed.form == Measure::Form::factor;
  const bool down = inputs.text("direction") == "down";
  const auto put = [&](double x, double y) {
    const double ratio = y / x;
    if (factor) return measure_of(ratio >= 1 ? ratio : 1 / ratio, Measure::Form::factor);
    const double share = ratio - 1;
    return measure_of(down ? -share : share, Measure::Form::percent);
  };
  Recomputed result;
  result.right = put(a.value, b.value);
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
  return a.form == b.form && a.form != Measure::Form::factor && same_dimension(a, b);
}

void recognise(const Passage& passage, Collector& out) {
  if (passage.is_row()) return;
  const Tokens& tokens = passage.tokens;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (!tokens[i].is("from")) continue;
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
    bool to = false;
    for (std::size_t j = a + 1; j < std::min(a + 10, tokens.size()) && b == kNowhere; ++j) {
      if (tokens[j].is("to")) to = true;
      if (!to || !tokens[j].is_number()) continue;
      Measure other = tokens[j].measure;
      const bool fits = alike(tokens[a].measure, other) ||
                        (is_a<Dollars>(other) && tokens[a].measure.exponents[4] == 1) ||
                        (tokens[a].measure.form == other.form && !other.has_unit() && is_a<Gpus>(tokens[a].measure));
      if (fits) b = j;
    }
    if (b == kNowhere) continue;
    Measure last = tokens[b].measure;
    if (!same_dimension(last, tokens[a].measure)) last.exponents = tokens[a].measure.exponents;
    if (is_a<Dollars>(tokens[b].measure) && !is_a<Dollars>(tokens[a].measure)) {
      // "from $20 per million tokens to $0.07": the second is per the same.
      const double per = tokens[a].measure.value / [&] {
        const auto bare = scan_measure(
            "$" +
                [&] {
                  std::string digits;
                  for (const char c : tokens[a].text) {
                    if ((c >= '0' && c <= '9') || c == '.')
                      digits += c;
                    else if (!digits.empty())
                      break;
                  }
                  return digits;
                }(),
            0);
        return bare ? bare->measure.value : 1;
      }();
      last.value *= per;
      last.high *= per;
    }
    // The change itself: a percentage or factor that is neither end, nearest after B, or before "from".
    std::size_t claimed = kNowhere;
    const std::size_t start = i >= 8 ? i - 8 : 0;
    std::size_t before = kNowhere;
    for (std::size_t j = i; before == kNowhere && j-- > start;) {
      if (is_comparison(tokens[j]) && !out.used(tokens[j])) before = j;
    }
    // "dropped 64% from ..." stands nearer than anything that follows.
    if (before != kNowhere && i - before <= 4) claimed = before;
    for (std::size_t j = b + 1; claimed == kNowhere && j < std::min(b + 16, tokens.size()); ++j) {
      if (!is_comparison(tokens[j]) || out.used(tokens[j])) continue;
      // A percentage right before the next "from" belongs to that one.
      if (starts_change(tokens, j + 1)) break;
      claimed = j;
    }
    if (claimed == kNowhere) claimed = before;
    if (claimed == kNowhere) continue;
    const bool change = any_stem(tokens, std::min(claimed, i) > 3 ? std::min(claimed, i) - 3 : 0,
                                 std::min(std::max(claimed, b) + 5, tokens.size()),
                                 {"improve", "increas", "drop", "reduc", "decreas", "efficien", "lower", "higher",
                                  "rise", "fall", "fell", "gain"});
    if (!change) continue;
    // "from 8,000 to 2,000, a 300% efficiency increase": the percentage itself is said to rise.
    const bool rises =
        any_stem(tokens, claimed, std::min(claimed + 4, tokens.size()), {"increas", "efficien", "improve", "gain"});
    const bool down = !rises && last.value < tokens[a].measure.value &&
                      tokens[claimed].measure.form == Measure::Form::percent &&
                      any_stem(tokens, 0, tokens.size(), {"drop", "reduc", "decreas", "lower", "fell", "fall"});
    std::vector<Found> inputs = {found("from", tokens[a].measure), found("to", last)};
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
      recompute,
      recognise,
  };
  return kind;
}

}  // namespace ridge::claims
