// Arithmetic in a short sentence. What is combined with what follows from the units: every amount of the sentence is
// taken up, once, above or below the line, and only one way to do so gives the unit of what is claimed.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "claims/kinds/all_kinds.hpp"
#include "claims/kinds/finders.hpp"
#include "claims/reading/collector.hpp"
#include "claims/reading/judge.hpp"
#include "claims/reading/misreadings.hpp"

namespace ridge::claims {

namespace {

// Longer sentences state more than one thing; more amounts can be combined in more than one way.
constexpr std::size_t kLongest = 32;
constexpr std::size_t kMostOperands = 4;
constexpr std::size_t kFarthestResult = 9;
// Beyond this a sentence was misread, not miscalculated; slips of a prefix are known by their factor.
constexpr double kFarthestSlip = 60;

using Exponents = std::array<std::int8_t, 9>;

struct Operand {
  enum class Role : std::uint8_t { amount, count, share, overhead, constant };
  Role role = Role::amount;
  std::size_t at = 0;  ///< the token it was read from
  Measure measure;
  std::string text;  ///< for people, or a reference into the catalogue
  bool reference = false;
};

bool is_hardware(const Token& t) {
  return t.is_name(NameKind::device) || t.is_name(NameKind::system);
}

/// "is", "costs", "works out to": what follows is the outcome of what came before.
bool marks_result(const Token& t) {
  constexpr std::array<std::string_view, 57> kMarks = {
      "is",       "are",     "equals",   "equal",   "=",        "costs",   "cost",  "comes",  "come",     "works",
      "work",     "takes",   "take",     "adds",    "add",      "gives",   "give",  "means",  "mean",     "or",
      "so",       "uses",    "use",      "burns",   "burn",     "draws",   "draw",  "pay",    "pays",     "total",
      "totals",   "makes",   "make",     ":",       "caps",     "cap",     "needs", "need",   "leaves",   "leave",
      "yields",   "yield",   "moves",    "move",    "runs",     "run",     "spend", "spends", "consumes", "consume",
      "sustains", "sustain", "delivers", "deliver", "requires", "require", "gets"};
  return std::any_of(kMarks.begin(), kMarks.end(), [&](std::string_view mark) { return t.is(mark); });
}

bool any_mark(const Tokens& tokens, std::size_t from, std::size_t to) {
  return std::any_of(tokens.begin() + static_cast<std::ptrdiff_t>(from),
                     tokens.begin() + static_cast<std::ptrdiff_t>(to), marks_result);
}

/// "per GPU" or "each" right behind the number at `at`.
bool per_device(const Tokens& tokens, std::size_t at) {
  if (tokens[at].measure.exponents[6] == -1) return true;
  return any_word(tokens, at + 1, at + 3, {"each"}) ||
         (any_word(tokens, at + 1, at + 2, {"per", "a"}) &&
          any_word(tokens, at + 2, at + 3, {"gpu", "card", "chip", "accelerator"}));
}

class Reader {
 public:
  explicit Reader(const Tokens& tokens) : tokens_(tokens) {}

  /// All amounts of the sentence; false if there is a number that is none.
  bool read() {
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (!tokens_[i].is_number()) {
        take_time(i);
        continue;
      }
      if (!take_number(i)) return false;
    }
    return operands_.size() >= 2 && operands_.size() <= kMostOperands + 1;
  }
  [[nodiscard]] const std::vector<Operand>& operands() const { return operands_; }

 private:
  bool take_number(std::size_t i) {
    const Measure& m = tokens_[i].measure;
    if (m.is_range() || !(m.value > 0)) return false;
    Operand operand{Operand::Role::amount, i, m, tokens_[i].text, false};
    if (m.form == Measure::Form::percent) {
      if (!any_word(tokens_, i > 2 ? i - 2 : 0, i + 3, {"mfu"})) return false;
      operand.role = Operand::Role::share;
    } else if (m.form == Measure::Form::factor) {
      const bool counts = i + 1 < tokens_.size() && is_hardware(tokens_[i + 1]);
      if (!counts) return false;
      operand.role = Operand::Role::count;
      operand.measure.form = Measure::Form::plain;
    } else if (is_a<Gpus>(m)) {
      operand.role = Operand::Role::count;
    } else if (!m.has_unit()) {
      return take_plain(operand);
    } else if (is_a<Dollars>(m) && any_word(tokens_, i + 1, i + 2, {"per"}) &&
               any_word(tokens_, i + 2, i + 3, {"million", "m"})) {
      // "$0.50 per million" where the sentence speaks of tokens.
      operand.measure = scaled(m, 1e-6);
      operand.measure.exponents[5] = -1;
      operand.text = tokens_[i].text + " per million tokens";
    } else if (is_a<Bytes>(m) && any_word(tokens_, i + 1, i + 3, {"parameter"})) {
      operand.text = tokens_[i].text + " per parameter";
    }
    operands_.push_back(std::move(operand));
    return true;
  }

  /// A number without unit: so many devices or parameters, a PUE, or the outcome per device.
  bool take_plain(Operand operand) {
    const std::size_t i = operand.at;
    const bool hyphened = i + 2 < tokens_.size() && tokens_[i + 1].is("-");
    const std::size_t next = hyphened ? i + 2 : i + 1;
    // "four 80 GB cards" says of each what it has.
    const bool described = next < tokens_.size() && tokens_[next].is_number() && tokens_[next].measure.has_unit();
    const std::size_t noun = described ? next + 1 : next;
    const bool devices = noun < tokens_.size() && (is_hardware(tokens_[noun]) ||
                                                   any_word(tokens_, noun, noun + 1, {"gpu", "gpus", "card", "cards"}));
    const bool large = operand.measure.suffix == 'B' || operand.measure.suffix == 'T' || operand.measure.suffix == 'M';
    const bool parameters = large && any_word(tokens_, next, next + 1, {"parameters", "parameter", "params", "model"});
    if (any_word(tokens_, i > 3 ? i - 3 : 0, i, {"pue"})) {
      operand.role = Operand::Role::overhead;
    } else if (devices || parameters) {
      operand.role = Operand::Role::count;
    } else if (large && any_word(tokens_, next, next + 1, {"tokens"})) {
      operand.measure.exponents[5] = 1;
    } else if (per_device(tokens_, i) && !operands_.empty()) {
      // "6,000 tokens/s on 4 GPUs, or 1,500 per GPU" leaves the unit out.
      const auto total = std::find_if(operands_.begin(), operands_.end(),
                                      [](const Operand& o) { return o.role == Operand::Role::amount; });
      if (total == operands_.end()) return false;
      operand.measure.exponents = total->measure.exponents;
      operand.measure.exponents[6] = -1;
    } else {
      return false;
    }
    operands_.push_back(std::move(operand));
    return true;
  }

  /// "over a month", "run a full day": a time that stands by no number.
  void take_time(std::size_t i) {
    const bool span = i >= 1 && any_word(tokens_, i - 1, i, {"a", "one", "all", "full", "whole"}) && i >= 2 &&
                      any_word(tokens_, i - 2, i, {"for", "over", "running", "all", "run", "full"});
    if (!span) return;
    const auto scanned = scan_measure("1 " + tokens_[i].text, 0);
    if (!scanned || !is_a<Seconds>(scanned->measure) || scanned->end != tokens_[i].text.size() + 2) return;
    operands_.push_back({Operand::Role::amount, i, scanned->measure, "1 " + tokens_[i].text, false});
  }

  const Tokens& tokens_;
  std::vector<Operand> operands_;
};

/// Which of the amounts is the outcome: the last if a verb leads to it, or else the first: "80 s to write 800 GB at
/// ...".
std::optional<std::size_t> outcome(const Tokens& tokens, const std::vector<Operand>& operands) {
  const Operand& last = operands.back();
  const Operand& before = operands[operands.size() - 2];
  if (last.at - before.at <= kFarthestResult && any_mark(tokens, before.at + 1, last.at)) {
    // A new clause has its own subject: "at $2/hour and storage costs $200".
    if (any_word(tokens, before.at + 1, last.at, {"and"})) return std::nullopt;
    return operands.size() - 1;
  }
  const Operand& first = operands.front();
  const bool led = first.at >= 1 && any_mark(tokens, first.at - std::min<std::size_t>(first.at, 3), first.at);
  const bool explained = any_word(tokens, first.at + 1, first.at + 4, {"at", "for", "with", "to", "on"}) &&
                         !any_mark(tokens, first.at + 1, last.at);
  if (led && explained && first.role == Operand::Role::amount) return 0;
  return std::nullopt;
}

struct Solution {
  std::vector<int> powers;
  Measure value;
};

bool same_but_gpus(const Exponents& a, const Exponents& b) {
  for (std::size_t i = 0; i < 9; ++i) {
    if (i != 6 && a[i] != b[i]) return false;
  }
  return true;
}

/// The one way to put the amounts above or below the line that gives `wanted`; nothing if there is none, or several.
/// Counts, shares and overheads have no say in the unit: `fixed` says where they go.
std::optional<Solution> solve(const std::vector<Operand>& parts, const std::vector<int>& fixed,
                              const Exponents& wanted) {
  std::optional<Solution> only;
  for (unsigned bits = 0; bits < (1u << parts.size()); ++bits) {
    Solution trial{{}, measure_of(1.0)};
    bool allowed = true;
    for (std::size_t k = 0; k < parts.size() && allowed; ++k) {
      const int power = (bits >> k & 1u) != 0 ? -1 : 1;
      allowed = fixed[k] == 0 || fixed[k] == power;
      trial.powers.push_back(power);
      trial.value.value *= power > 0 ? parts[k].measure.value : 1 / parts[k].measure.value;
      for (std::size_t i = 0; i < 9; ++i) {
        trial.value.exponents[i] =
            static_cast<std::int8_t>(trial.value.exponents[i] + power * parts[k].measure.exponents[i]);
      }
    }
    if (!allowed || !same_but_gpus(trial.value.exponents, wanted)) continue;
    if (only) return std::nullopt;
    only = std::move(trial);
  }
  return only;
}

/// What the sentence leaves to be known: the peak of the part whose MFU it speaks of, 6 FLOP a parameter and token.
bool add_known(const Tokens& tokens, const Context& context, const Operand& claimed, std::vector<Operand>& parts,
               bool& assumed) {
  const auto has = [&](auto&& fits) { return std::any_of(parts.begin(), parts.end(), fits); };
  const bool share =
      claimed.role == Operand::Role::share || has([](const Operand& o) { return o.role == Operand::Role::share; });
  if (share) {
    const Token* device = first_name(tokens, NameKind::device);
    if (device == nullptr) return false;
    const Token* format = first_name(tokens, NameKind::format);
    assumed = format == nullptr;
    const std::string reference = device->name->id + ":" + (assumed ? "bf16" : format->name->id);
    const auto peak = look_up(context, reference);
    if (!peak) return false;
    parts.push_back({Operand::Role::amount, kNowhere, peak->measure, reference, true});
    return true;
  }
  if (is_a<Flops>(claimed.measure) && has([](const Operand& o) { return is_a<ridge::Tokens>(o.measure); })) {
    Measure six = measure_of(6.0);
    six.exponents = {0, 0, 1, 0, 0, -1};
    parts.push_back({Operand::Role::constant, kNowhere, six, "6", false});
  }
  return true;
}

/// The text without its number, and without the k, M or B that belongs to the number.
std::string unit_of(const Operand& operand) {
  const std::string& text = operand.text;
  const std::size_t letter = text.find_first_not_of("0123456789., ~<>=$");
  if (letter == std::string::npos) return "";
  const bool magnitude = (text[letter] == 'k' || text[letter] == 'M' || text[letter] == 'B') &&
                         (letter + 1 == text.size() || text[letter + 1] == ' ' || text[letter + 1] == '/');
  const std::size_t from = magnitude ? text.find_first_not_of(' ', letter + 1) : letter;
  return from == std::string::npos ? "" : text.substr(from);
}

/// "8 GPUs take 20 ms per token, or 50 tokens per second": says the amount before it once more, as its reciprocal or,
/// behind "or", in another unit. How many devices there are has no part in that.
bool says_again(const Tokens& tokens, const Operand& of, const Operand& claimed, const Exponents& wanted) {
  if (of.role != Operand::Role::amount || of.at == kNowhere || of.at >= claimed.at) return false;
  const auto alone = solve({of}, {0}, wanted);
  if (!alone) return false;
  const bool put_otherwise = any_word(tokens, of.at + 1, claimed.at, {"or"}) && unit_of(of) != unit_of(claimed) &&
                             compare(claimed.measure, alone->value) != Verdict::wrong;
  return alone->powers[0] < 0 || put_otherwise;
}

/// True if units alone say that one is the other, and only a usual slip or none lies between; or if they are rates over
/// different times ("$98/hour comes to $71,540 a month").
/// `value` is `of` or its reciprocal.
bool restates(const Operand& of, double value, const Operand& claimed) {
  if (unit_of(of) == unit_of(claimed)) return false;
  constexpr std::array<std::string_view, 4> kTimes = {"day", "month", "year", "week"};
  const bool over_time = std::any_of(kTimes.begin(), kTimes.end(), [&](std::string_view word) {
    return claimed.text.find(word) != std::string::npos && of.text.find(word) == std::string::npos;
  });
  if (over_time && claimed.measure.exponents[1] == -1) return true;
  const double ratio = claimed.measure.value / value;
  for (const double slip : {1.0, 8.0, 0.125, 1e3, 1e-3, 1 / 1.073741824}) {
    if (ratio > 0.93 * slip && ratio < 1.07 * slip) return true;
  }
  return false;
}

bool near(double ratio) {
  if (ratio < kFarthestSlip && ratio > 1 / kFarthestSlip) return true;
  for (const double slip : {1e3, 1e-3, 1e6, 1e-6, 1e9, 1e-9}) {
    if (std::abs(ratio / slip - 1) < 0.03) return true;
  }
  return false;
}

}  // namespace

void find_calculations(const Passage& passage, Collector& out) {
  const Tokens& tokens = passage.tokens;
  if (passage.is_row() || tokens.size() > kLongest || sets_apart(tokens)) return;
  Reader reader(tokens);
  if (!reader.read()) return;
  const bool taken = std::any_of(reader.operands().begin(), reader.operands().end(),
                                 [&](const Operand& o) { return out.used(tokens[o.at]); });
  if (taken) return;
  const auto chosen = outcome(tokens, reader.operands());
  if (!chosen) return;
  std::vector<Operand> parts = reader.operands();
  Operand claimed = parts[*chosen];
  parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(*chosen));
  if (claimed.role == Operand::Role::count && !is_a<Seconds>(claimed.measure)) return;
  if (!tokens[claimed.at].is_number()) return;
  // "each token costs 2 joules"
  Exponents wanted = claimed.measure.exponents;
  const bool each_token = any_word(tokens, {"token"}) && is_a<Joules>(claimed.measure);
  if (each_token) wanted[5] = -1;
  bool assumed = false;
  if (!add_known(tokens, out.context(), claimed, parts, assumed)) return;
  // One read of all weights makes one token.
  const bool reads = is_a<TokensPerSecond>(claimed.measure) && parts.size() == 2 && !any_word(tokens, {"batch"}) &&
                     std::all_of(parts.begin(), parts.end(), [](const Operand& o) {
                       return is_a<Bytes>(o.measure) || is_a<BytesPerSecond>(o.measure);
                     });
  if (reads) wanted[5] = 0;
  const bool shared_out = per_device(tokens, claimed.at);
  std::vector<int> fixed;
  for (const Operand& part : parts) {
    const bool below =
        (part.role == Operand::Role::count && shared_out) ||
        (part.role == Operand::Role::overhead && any_word(tokens, {"leaves", "leave", "left", "usable"}));
    // More devices and a higher share of peak make a run shorter.
    const bool shortens =
        is_a<Seconds>(claimed.measure) && claimed.measure.exponents[6] == 0 &&
        std::any_of(parts.begin(), parts.end(), [](const Operand& o) { return is_a<Flops>(o.measure); }) &&
        (part.role == Operand::Role::count || part.role == Operand::Role::share);
    // A share is of the peak, never the peak of it.
    const bool whole = part.reference && claimed.role == Operand::Role::share;
    fixed.push_back(below || shortens || whole ? -1 : part.role == Operand::Role::amount ? 0 : 1);
  }
  auto solution = solve(parts, fixed, wanted);
  if (!solution || compare(claimed.measure, solution->value) == Verdict::wrong) {
    const auto again = std::find_if(parts.begin(), parts.end(),
                                    [&](const Operand& part) { return says_again(tokens, part, claimed, wanted); });
    const auto others = std::count_if(parts.begin(), parts.end(),
                                      [](const Operand& part) { return part.role != Operand::Role::count; });
    if (again != parts.end() && others == 1) {
      parts = {Operand(*again)};
      solution = solve(parts, {0}, wanted);
    }
  }
  if (!solution) return;
  const double ratio = claimed.measure.value / solution->value.value;
  if (!near(ratio)) return;
  const bool counted =
      std::any_of(parts.begin(), parts.end(), [](const Operand& o) { return o.role != Operand::Role::amount; });
  if (parts.size() == 1 && !restates(parts[0], solution->value.value, claimed)) return;
  // Several devices and a system around them: the system draws more than they do.
  const bool around =
      is_a<Watts>(claimed.measure) && counted && ratio > 1.03 && ratio < 2.5 && !any_word(tokens, {"pue"});
  if (around) return;
  constexpr std::array<const char*, 4> kTimes = {"a", "b", "c", "d"};
  constexpr std::array<const char*, 3> kOver = {"over", "over-b", "over-c"};
  std::vector<Found> inputs;
  std::size_t times = 0, over = 0;
  std::string says;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const bool above = solution->powers[k] > 0;
    if (above ? times == kTimes.size() : over == kOver.size()) return;
    Found input = found(above ? kTimes[times++] : kOver[over++], parts[k].measure);
    input.text = parts[k].text;
    if (parts[k].reference) input.measure = std::nullopt;
    inputs.push_back(std::move(input));
    if (parts[k].at == kNowhere) continue;
    says += (says.empty() ? "" : ", ") + parts[k].text;
  }
  if (times == 0) inputs.push_back(found(kTimes[0], measure_of(1.0)));  // a reciprocal
  if (assumed) inputs.push_back({"assumed", "format"});
  for (const Operand& part : parts) {
    if (part.at != kNowhere && tokens[part.at].is_number()) out.use(tokens[part.at]);
  }
  out.add(calculation_kind(), tokens[claimed.at], claimed.measure, fmt::format("{}: {}", says, claimed.text),
          std::move(inputs));
}

}  // namespace ridge::claims
