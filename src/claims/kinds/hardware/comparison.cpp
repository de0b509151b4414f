// One part's figure against another's: "2.5x that of the H100", "+43 %", and one model's size against another's.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "claims/kinds/all_kinds.hpp"
#include "claims/kinds/finders.hpp"
#include "claims/known/figures.hpp"
#include "claims/reading/collector.hpp"
#include "ridge/base/text.hpp"

namespace ridge::claims {

namespace {

/// The comparison as the claim puts it: a factor, "more by", "less by", or a share.
double as_claimed(const std::string& as, double ratio) {
  if (as == "more") return ratio - 1;
  if (as == "less") return 1 - ratio;
  return ratio;
}

/// What data sheets say of a factor that names no work: bandwidth, peaks in the same precision, the lowest of each.
std::string speeds_by_data_sheet(const Context& context, const std::string& of, const std::string& to) {
  std::string text;
  const auto add = [&](std::string_view what, double ratio) {
    text += fmt::format("{}{} {}x", text.empty() ? "" : ", ", what, format_number(ratio, 2));
  };
  for (const std::string_view figure : {"bandwidth", "bf16", "fp8"}) {
    const auto a = look_up(context, fmt::format("{}:{}", of, figure));
    const auto b = look_up(context, fmt::format("{}:{}", to, figure));
    if (a && b && b->measure.value != 0) add(figure_title(figure), a->measure.value / b->measure.value);
  }
  const auto lowest = [&](const std::string& id) {
    for (const std::string_view figure : {"fp4", "fp8", "bf16"}) {
      if (const auto peak = look_up(context, fmt::format("{}:{}", id, figure)))
        return std::pair(figure, peak->measure.value);
    }
    return std::pair(std::string_view(), 0.0);
  };
  const auto [in_a, a] = lowest(of);
  const auto [in_b, b] = lowest(to);
  if (b > 0 && in_a != in_b) add(fmt::format("{} against {}", figure_title(in_a), figure_title(in_b)), a / b);
  return text;
}

/// A claim of compute that names no format is that of the format whose dense peaks give it; none is guessed.
std::string format_that_gives(const Context& context, const std::string& of, const std::string& to, double ratio) {
  constexpr double kGives = 0.06;
  std::string nearest;
  double least = kGives;
  for (const std::string_view format : {"bf16", "fp8", "fp4", "int8", "tf32", "fp32", "fp64"}) {
    const auto a = look_up(context, fmt::format("{}:{}", of, format));
    const auto b = look_up(context, fmt::format("{}:{}", to, format));
    if (!a || !b || b->measure.value == 0 || ratio <= 0) continue;
    const double off = std::abs(std::log(a->measure.value / b->measure.value / ratio));
    if (off >= least) continue;
    least = off;
    nearest = format;
  }
  return nearest;
}

Result<Recomputed> recompute_comparison(Inputs& inputs) {
  const Context& context = inputs.context();
  std::string figure = inputs.text("figure");
  if (figure == "speed" || figure == "compute") {
    const Measure& claimed = inputs.claim().claimed;
    const std::string given = inputs.text("as");
    const double ratio = given == "more" ? claimed.value + 1 : given == "less" ? 1 - claimed.value : claimed.value;
    const std::string format =
        figure == "compute" ? format_that_gives(context, inputs.text("of"), inputs.text("to"), ratio) : "";
    if (format.empty()) {
      const std::string sheets = speeds_by_data_sheet(context, inputs.text("of"), inputs.text("to"));
      return cannot(std::string("it does not say ") + (figure == "speed" ? "at which work" : "in which format") +
                    (sheets.empty() ? "" : "; by data sheet: " + sheets));
    }
    figure = format;
  }
  const std::string to_figure = inputs.has("to-figure") ? inputs.text("to-figure") : figure;
  const std::string as = inputs.text("as");
  const std::string of = inputs.text("of");
  const std::string to = inputs.text("to");
  auto a = inputs.has("value") ? inputs.measure("value") : look_up(context, of + ":" + figure);
  if (!a) return a.error();
  std::string basis;
  if (inputs.has("value") && !of.empty()) {
    // A figure with sparsity is compared with others by its dense half.
    const Device* part = context.catalogue.device(of);
    const auto dense = look_up(context, of + ":" + figure);
    const double gain = part == nullptr ? 1 : sparsity_gain(*part, figure);
    if (dense && gain != 1 && std::abs(a->measure.value / (dense->measure.value * gain) - 1) < 0.12) {
      a->measure = scaled(a->measure, 1 / gain);
      a->shown = fmt::format("{} without sparsity", shown(a->measure));
      basis = "both dense: the figure that is given is with structured sparsity";
    }
  }
  if (peak_format(figure) && figure != to_figure && basis.empty()) basis = "both dense";
  if (inputs.text("figure") == "compute") basis = "no format is named: these are the dense peaks that give it";
  const auto b = look_up(context, to + ":" + to_figure);
  if (!b) {
    const Device* partner = context.catalogue.device(to);
    if (partner == nullptr || !peak_format(to_figure) || !partner->peak(PeakFormat::bf16)) return b.error();
    Recomputed none;
    none.compare = Compare::holds;
    none.formula = fmt::format("{} / {} of {}", a->shown, figure_title(to_figure), to);
    none.because = fmt::format("{} has no {} units to compare with", to, to_figure);
    return none;
  }
  if (!same_dimension(a->measure, b->measure) || b->measure.value == 0) {
    return cannot(fmt::format("{} and {} cannot be compared", a->shown, b->shown));
  }
  if (!inputs.has("value")) inputs.note("of", a->shown, a->source);
  inputs.note("to", b->shown, b->source);
  const auto form = inputs.claim().claimed.form;
  const auto value = [&](double ratio) { return measure_of(as_claimed(as, ratio), form); };
  Recomputed result;
  const double ratio = a->measure.value / b->measure.value;
  result.right = value(ratio);
  const std::string tail = as == "more" ? " - 1" : "";
  result.formula = fmt::format("{}{} / {}{}", as == "less" ? "1 - " : "", a->shown, b->shown, tail);
  const auto also = [&](const std::string& id, const std::string& which, bool upper) {
    const Name* name = context.names.of_id(id);
    if (name == nullptr) return;
    for (const std::string& other : name->also) {
      const auto there = look_up(context, other + ":" + which);
      if (!there) continue;
      const double r = upper ? there->measure.value / b->measure.value : a->measure.value / there->measure.value;
      result.readings.push_back({value(r), Verdict::right, "that is against " + there->shown, 0.012});
    }
  };
  result.because = basis;
  if (figure == "devices") {
    result.because = "counted in accelerators, as nothing else is named";
    for (const std::string_view other : {"memory", "bandwidth", "bf16", "fp8"}) {
      const auto x = look_up(context, fmt::format("{}:{}", of, other));
      const auto y = look_up(context, fmt::format("{}:{}", to, other));
      if (x && y && y->measure.value != 0) {
        result.because +=
            fmt::format("; by {} {}x", figure_title(other), format_number(x->measure.value / y->measure.value, 2));
      }
    }
  }
  if (!inputs.has("value")) also(of, figure, true);
  also(to, to_figure, false);
  const Device* da = context.catalogue.device(of);
  const Device* db = context.catalogue.device(to);
  const double gain_a = da == nullptr ? 1 : sparsity_gain(*da, figure);
  const double gain_b = db == nullptr ? 1 : sparsity_gain(*db, to_figure);
  // The faster part of the same design is taken for this one.
  if (da != nullptr && peak_format(figure) && !inputs.has("value")) {
    for (const Device& sibling : context.catalogue.devices()) {
      if (sibling.architecture != da->architecture || sibling.id == da->id) continue;
      const auto there = device_figure(sibling, figure);
      if (!there) continue;
      const double other = there->measure.value / b->measure.value;
      result.readings.push_back({value(other), Verdict::rounded,
                                 fmt::format("that is {}; {} has {}", sibling.id, of, result.right->text), 0.02});
      if (gain_b != 1) {
        result.readings.push_back({value(other / gain_b), Verdict::sparse,
                                   fmt::format("that is {} dense against {} with structured sparsity", sibling.id, to),
                                   0.012});
      }
    }
  }
  if (gain_b != 1) {
    result.readings.push_back(
        {value(ratio / gain_b), Verdict::sparse, fmt::format("that is against {} with structured sparsity", to)});
  }
  if (gain_a != 1 && !inputs.has("value")) {
    result.readings.push_back(
        {value(ratio * gain_a), Verdict::sparse, fmt::format("that takes {} with structured sparsity", of)});
  }
  return result;
}

// --- finding it in text ------------------------------------------------------------------------------------------

struct Partner {
  const Token* token = nullptr;  // what is compared with
  std::string as;
  std::size_t at = 0;
};

/// Who is compared with may be named first: "compared to the A100 it has 67 % more", and in Chinese order "is H100's
/// 2.4x", "compared to A100 increase 68 %".
Partner partner_before(const Tokens& tokens, std::size_t at, Partner partner) {
  const auto is_part = [&](std::size_t i) {
    return tokens[i].is_name(NameKind::device) || tokens[i].is_name(NameKind::system);
  };
  const auto take = [&](std::size_t i) {
    partner.token = &tokens[i];
    partner.at = i;
  };
  std::size_t before = at;
  while (before > 0 && (tokens[before - 1].is("about") || tokens[before - 1].is("s"))) --before;
  if (before >= 2 && is_part(before - 1) &&
      (tokens[before - 2].is("is") || tokens[before - 2].is("reaches") || tokens[before - 2].is("only"))) {
    take(before - 1);
    return partner;
  }
  for (std::size_t i = at; i-- > (at > 10 ? at - 10 : 0);) {
    if (tokens[i].is(";") || (tokens[i].is_number() && tokens[i].measure.form != Measure::Form::plain)) break;
    if (!tokens[i].is("compared")) continue;
    for (std::size_t j = i + 1; j < std::min(i + 4, at); ++j) {
      if (!is_part(j)) continue;
      const bool more = any_stem(tokens, j, at, {"increas", "higher", "more", "faster", "improve"});
      const bool less = any_stem(tokens, j, at, {"lower", "less", "reduc", "decreas"});
      if (tokens[at].measure.form == Measure::Form::percent && (more || less)) partner.as = more ? "more" : "less";
      take(j);
      return partner;
    }
  }
  return partner;
}

/// "... that of the X", "compared to the X", "higher than X": what a figure of comparison at `at` is measured against.
Partner partner_of(const Tokens& tokens, std::size_t at) {
  const Measure& m = tokens[at].measure;
  const std::size_t limit = std::min(at + 12, tokens.size());
  std::size_t than = kNowhere;
  for (std::size_t i = at + 1; i < limit; ++i) {
    if (tokens[i].is("that") || tokens[i].is("than") || tokens[i].is("compared") || tokens[i].is("over") ||
        tokens[i].is("of") || tokens[i].is("vs") ||
        (i == at + 1 && (tokens[i].is("the") || tokens[i].is("a") || tokens[i].is("an")))) {
      than = i;
      break;
    }
    if (tokens[i].is(",") || tokens[i].is(";") || tokens[i].is(")")) break;
  }
  Partner partner;
  const std::size_t words = than == kNowhere ? std::min(at + 5, tokens.size()) : std::min(than + 1, tokens.size());
  const bool more = any_stem(tokens, at, words, {"increas", "higher", "more", "faster", "improve", "larger", "above"});
  const bool less = any_stem(tokens, at, words, {"lower", "less", "reduc", "decreas", "slower", "below"});
  if (m.form == Measure::Form::percent) partner.as = less ? "less" : more ? "more" : "share";
  if (than == kNowhere) return partner_before(tokens, at, std::move(partner));
  for (std::size_t i = than; i < limit; ++i) {
    if (tokens[i].is_name(NameKind::device) || tokens[i].is_name(NameKind::model) ||
        tokens[i].is_name(NameKind::system)) {
      partner.token = &tokens[i];
      partner.at = i;
      return partner;
    }
    if (tokens[i].is_number() || tokens[i].is(",") || tokens[i].is(";") || tokens[i].is("while")) break;
  }
  return partner_before(tokens, at, std::move(partner));
}

std::string compared_figure(const Tokens& tokens, std::size_t from, std::size_t to) {
  const bool power =
      any_word(tokens, from, to, {"watt", "cost", "price", "latency", "energy", "stacks", "utilization"});
  if (power) return "";
  if (any_word(tokens, from, to, {"bandwidth"})) {
    for (std::size_t i = from; i < to; ++i) {
      if (tokens[i].is_name(NameKind::fabric) || tokens[i].is("nvlink")) return "nvlink";
    }
    return "bandwidth";
  }
  const std::size_t format = name_before(tokens, to, NameKind::format);
  const bool compute = any_word(tokens, from, to, {"computing", "compute", "flops", "tflops", "pflops", "performance"});
  if (format != kNowhere && format >= from && compute) return tokens[format].name->id;
  if (any_word(tokens, from, to, {"memory", "capacity", "vram"})) return "memory";
  if (any_word(tokens, from, to, {"power", "tdp"}) && !compute) return "power";
  return "";
}

/// Words of rates, prices and runs: what is compared then is no figure of a data sheet.
bool is_of_a_run(const Tokens& tokens, std::size_t at) {
  return any_stem(tokens, at > 5 ? at - 5 : 0, std::min(at + 7, tokens.size()),
                  {"throughput", "latency", "token", "training", "train", "inference", "speedup", "price", "cost",
                   "efficien", "cheaper", "dollar", "transistor", "utiliz", "output", "reliab", "premium"});
}

/// The figure that the words beside the number at `at` name: behind it up to the next number, else before it.
std::string figure_beside(const Tokens& tokens, std::size_t at) {
  if (is_of_a_run(tokens, at)) return "";
  std::size_t to = at + 1;
  while (to < tokens.size() && to < at + 8 && !tokens[to].is_number() && !tokens[to].is(";")) ++to;
  std::string figure = compared_figure(tokens, at, to);
  std::size_t from = at;
  while (from > 0 && at - from < 8 && !tokens[from - 1].is(";") &&
         !(tokens[from - 1].is_number() && tokens[from - 1].measure.form != Measure::Form::plain)) {
    --from;
  }
  return figure.empty() ? compared_figure(tokens, from, at) : figure;
}

std::string direction(const Tokens& tokens, std::size_t at) {
  if (tokens[at].measure.form != Measure::Form::percent) return "";
  const std::size_t from = at > 2 ? at - 2 : 0;
  const std::size_t to = std::min(at + 5, tokens.size());
  if (any_stem(tokens, from, to, {"lower", "less", "reduc", "decreas", "fewer"})) return "less";
  return any_stem(tokens, from, to,
                  {"increas", "higher", "more", "improve", "leap", "jump", "faster", "larger", "gain"})
             ? "more"
             : "share";
}

/// "NVL72 is about ten times an HGX node": systems compared without saying by what are counted in devices.
bool compare_systems(const Passage& sentence, std::size_t at, const Partner& partner, Collector& out) {
  const Tokens& tokens = sentence.tokens;
  if (partner.token == nullptr || partner.token->name->kind != NameKind::system) return false;
  if (tokens[at].measure.form != Measure::Form::factor || partner.at != at + 2) return false;
  std::size_t own = at;
  while (own > 0 && any_word(tokens, own - 1, own, {"is", "equals", "about", "roughly", "nearly", "around", "worth"})) {
    --own;
  }
  if (own == 0 || !tokens[own - 1].is_name(NameKind::system)) return false;
  const Token& system = tokens[own - 1];
  out.add(comparison_kind(), tokens[at], fmt::format("{}: {} {}", system.text, tokens[at].text, partner.token->text),
          {{"of", system.name->id}, {"to", partner.token->name->id}, {"figure", "devices"}, {"as", ""}});
  return true;
}

/// "B200 FP4 is 5x H100 FP8": each side names its format.
bool compare_formats(const Passage& sentence, std::size_t at, Collector& out) {
  const Tokens& tokens = sentence.tokens;
  if (tokens[at].measure.form != Measure::Form::factor || is_of_a_run(tokens, at)) return false;
  const auto side = [&](std::size_t from, std::size_t to) {
    std::pair<const Token*, const Token*> found = {nullptr, nullptr};
    for (std::size_t i = from; i < std::min(to, tokens.size()); ++i) {
      if (tokens[i].is_number()) break;
      if (tokens[i].is_name(NameKind::device) || tokens[i].is_name(NameKind::system)) {
        if (found.first == nullptr) found.first = &tokens[i];
      } else if (tokens[i].is_name(NameKind::format) && found.second == nullptr && peak_format(tokens[i].name->id)) {
        found.second = &tokens[i];
      }
    }
    return found;
  };
  std::size_t from = at > 9 ? at - 9 : 0;
  auto [of, figure] = side(from, at);
  auto [to, to_figure] = side(at + 1, at + 8);
  if (to == nullptr) {  // in Chinese order: "B200's FP4 is H100 FP8's 5x"; of one device: "H100's FP8 is its BF16's 2x"
    std::size_t verb = at;
    while (verb > from && !any_word(tokens, verb - 1, verb, {"is", "equals", "reaches"})) --verb;
    if (verb > from) {
      std::tie(of, figure) = side(from, verb - 1);
      const auto [other, format] = side(verb, at);
      if (format != nullptr) std::tie(to, to_figure) = std::pair(other != nullptr ? other : of, format);
    }
  }
  if (of == nullptr || figure == nullptr || to == nullptr || to_figure == nullptr) return false;
  if (of->name->id == to->name->id && figure->name->id == to_figure->name->id) return false;
  out.add(comparison_kind(), tokens[at],
          fmt::format("{} {}: {} of {} {}", of->text, figure->text, tokens[at].text, to->text, to_figure->text),
          {{"of", of->name->id},
           {"to", to->name->id},
           {"figure", figure->name->id},
           {"to-figure", to_figure->name->id},
           {"as", ""}});
  return true;
}

void compare_models(const Passage& sentence, std::size_t at, const Partner& partner, Collector& out) {
  const Tokens& tokens = sentence.tokens;
  const std::size_t own = name_before(tokens, at, NameKind::model);
  if (own == kNowhere || tokens[own].name->id == partner.token->name->id) return;
  if (!any_stem(tokens, at, partner.at, {"larger", "bigger", "smaller"})) return;
  out.add(
      comparison_kind(), tokens[at],
      fmt::format("{} has {} the parameters of {}", tokens[own].text, tokens[at].text, partner.token->text),
      {{"of", tokens[own].name->id}, {"to", partner.token->name->id}, {"figure", "parameters"}, {"as", partner.as}});
}

/// "36% and 10.4% higher than the H200's": one figure for each, in the order they were named.
bool compare_respectively(const Passage& sentence, std::size_t at, Collector& out) {
  const Tokens& tokens = sentence.tokens;
  const bool pair = at + 2 < tokens.size() && tokens[at + 1].is("and") && tokens[at + 2].is_number() &&
                    tokens[at + 2].measure.form == tokens[at].measure.form;
  if (!pair || !any_word(tokens, at, tokens.size(), {"respectively"})) return false;
  const Partner partner = partner_of(tokens, at + 2);
  const std::size_t own = name_before(tokens, at, NameKind::device);
  if (partner.token == nullptr || own == kNowhere) return false;
  std::vector<std::string> figures;
  for (std::size_t i = own; i < at; ++i) {
    if (!tokens[i].is_number()) continue;
    if (is_a<Bytes>(tokens[i].measure)) figures.emplace_back("memory");
    if (is_a<BytesPerSecond>(tokens[i].measure)) figures.emplace_back("bandwidth");
  }
  if (figures.size() < 2) return false;
  for (std::size_t k = 0; k < 2; ++k) {
    const Token& number = tokens[at + 2 * k];
    const std::string& figure = figures[figures.size() - 2 + k];
    out.add(comparison_kind(), number,
            fmt::format("{}: {} {} {} than {}", tokens[own].text, figure_words(figure), number.text, partner.as,
                        partner.token->text),
            {{"of", tokens[own].name->id}, {"to", partner.token->name->id}, {"figure", figure}, {"as", partner.as}});
  }
  return true;
}

/// "72 PFLOPS, 125% more than the H200's 32 PFLOPS": both values are given, so the sentence is checked by itself.
bool compare_given(const Passage& sentence, std::size_t at, const Partner& partner, Collector& out) {
  const Tokens& tokens = sentence.tokens;
  const Token* b = nullptr;
  for (std::size_t i = partner.at + 1; i < std::min(partner.at + 3, tokens.size()) && b == nullptr; ++i) {
    if (tokens[i].is_number()) b = &tokens[i];
  }
  if (b == nullptr || !b->measure.has_unit()) return false;
  const Token* a = nullptr;
  for (std::size_t i = at; i-- > (at > 10 ? at - 10 : 0) && a == nullptr;) {
    if (tokens[i].is_number() && same_dimension(tokens[i].measure, b->measure)) a = &tokens[i];
  }
  if (a == nullptr || b->measure.value == 0) return false;
  std::vector<Found> inputs = {found("a", a->measure), found("b", b->measure)};
  if (partner.as == "more" || partner.as == "less") inputs.push_back({"as", partner.as});
  // Two figures that do not give it may belong to others: "2.1x that of X (1,555 GB/s) and 1.6x that of Y (2,039
  // GB/s)".
  if (is_error(out.verdict_of(ratio_kind(), tokens[at].measure, inputs))) {
    const std::string figure = figure_beside(tokens, at);
    if (!figure.empty() && find_pair(sentence, at, figure, direction(tokens, at), out)) return true;
  }
  out.add(ratio_kind(), tokens[at],
          fmt::format("{} is {} {} {}", a->text, tokens[at].text, partner.as == "share" ? "of" : partner.as + " than",
                      b->text),
          std::move(inputs));
  return true;
}

/// "B200 is 3x faster than H100", all that is said: no work, no figure.
bool compare_speed(const Passage& sentence, std::size_t at, const Partner& partner, Collector& out) {
  const Tokens& tokens = sentence.tokens;
  const bool alone = sentence.previous == nullptr && partner.token != nullptr && partner.at > at &&
                     partner.token->name->kind == NameKind::device;
  if (!alone ||
      !any_stem(tokens, at, partner.at, {"fast", "speed", "perform", "inference", "training", "throughput"})) {
    return false;
  }
  const std::size_t own = name_before(tokens, at, NameKind::device);
  if (own == kNowhere || tokens[own].name->id == partner.token->name->id) return false;
  // "in FP8" right behind says by which peaks.
  const std::size_t behind = partner.at + 1;
  const bool named = behind + 1 < tokens.size() && any_word(tokens, behind, behind + 1, {"in", "at"}) &&
                     tokens[behind + 1].is_name(NameKind::format) && peak_format(tokens[behind + 1].name->id) &&
                     !any_stem(tokens, behind + 2, tokens.size(), {"inference", "training", "throughput", "model"});
  const std::string figure = named ? tokens[behind + 1].name->id : "speed";
  out.add(comparison_kind(), tokens[at],
          fmt::format("{} is {} as fast as {}", tokens[own].text, tokens[at].text, partner.token->text),
          {{"of", tokens[own].name->id}, {"to", partner.token->name->id}, {"figure", figure}, {"as", partner.as}});
  return true;
}

/// The format that stands alone between a number and whom it is compared with: "50% more FP4 than GB200".
std::string format_alone(const Tokens& tokens, std::size_t at, std::size_t partner) {
  std::string format;
  for (std::size_t i = at + 1; i < partner; ++i) {
    if (tokens[i].is_name(NameKind::format) && format.empty() && peak_format(tokens[i].name->id)) {
      format = tokens[i].name->id;
    } else if (!any_word(
                   tokens, i, i + 1,
                   {"more", "less", "higher", "lower", "the", "peak", "dense", "of", "than", "that", "as", "much"})) {
      return "";
    }
  }
  return format;
}

/// "GB200 is 5x H100", "GB200 is 5 times as fast as H100 in FP4", in Chinese order "GB200 is H100's 5x": all that the
/// sentence says. A format that is named decides; systems are counted in devices; else it does not say at what.
bool compare_plain(const Passage& sentence, std::size_t at, Collector& out) {
  const Tokens& tokens = sentence.tokens;
  if (sentence.previous != nullptr || tokens[at].measure.form != Measure::Form::factor) return false;
  const auto part = [&](std::size_t i) {
    return i < tokens.size() && (tokens[i].is_name(NameKind::device) || tokens[i].is_name(NameKind::system));
  };
  const auto back = [&](std::size_t i, std::initializer_list<std::string_view> words) {
    while (i > 0 && any_word(tokens, i - 1, i, words)) --i;
    return i;
  };
  std::size_t before = back(at, {"s", "about", "node", "nodes", "roughly", "nearly", "around", "only", "almost"});
  std::size_t partner = kNowhere;
  std::size_t after = at + 1;
  const bool fast = any_word(tokens, at, std::min(at + 4, tokens.size()), {"fast", "faster"});
  if (before >= 2 && part(before - 1) &&
      any_word(tokens, before - 2, before - 1, {"is", "equals", "about", "nearly", "only"})) {
    partner = before - 1;
    before = partner;
  } else {
    while (after < tokens.size() &&
           any_word(tokens, after, after + 1, {"the", "a", "an", "of", "that", "as", "fast", "faster", "than"})) {
      ++after;
    }
    if (!part(after)) return false;
    partner = after++;
  }
  const std::size_t verb = back(before, {"is", "equals", "about", "roughly", "nearly", "around", "only", "almost"});
  if (verb == before || verb == 0) return false;
  const bool computing = any_word(tokens, verb - 1, verb, {"compute", "computing", "flops"});
  const std::size_t first = computing ? back(verb, {"compute", "computing", "flops", "s", "total"}) : verb;
  if (first == 0 || !part(first - 1)) return false;
  const Token& own = tokens[first - 1];
  const Token& other = tokens[partner];
  for (std::size_t i = 0; i + 1 < first; ++i) {
    if (!any_word(tokens, i, i + 1, {"a", "an", "the", "one", "single"})) return false;
  }
  if (own.name->id == other.name->id || own.name->kind != other.name->kind) return false;
  std::string figure = computing ? "compute" : own.name->kind == NameKind::system ? "devices" : "speed";
  if (after + 1 < tokens.size() && any_word(tokens, after, after + 1, {"in", "at", "with", "for"}) &&
      tokens[after + 1].is_name(NameKind::format) && peak_format(tokens[after + 1].name->id)) {
    figure = tokens[after + 1].name->id;
    after += 2;
  }
  // "for training": still not of which model.
  while (figure == "speed" && after < tokens.size() &&
         any_word(tokens, after, after + 1, {"for", "in", "at", "training", "inference", "serving"})) {
    ++after;
  }
  // What the other part does not compute in cannot be compared with by itself.
  const Device* lacks = other.name->kind == NameKind::device ? out.context().catalogue.device(other.name->id) : nullptr;
  if (lacks != nullptr && peak_format(figure) && !device_figure(*lacks, figure)) figure = "speed";
  while (after < tokens.size() &&
         any_word(tokens, after, after + 1, {".", "!", "node", "nodes", "server", "servers"})) {
    ++after;
  }
  if (after < tokens.size()) return false;
  out.add(comparison_kind(), tokens[at],
          figure == "speed"
              ? fmt::format("{} is {}{} {}", own.text, tokens[at].text, fast ? " as fast as" : "", other.text)
              : fmt::format("{}: {} {} of {}", own.text, figure_words(figure), tokens[at].text, other.text),
          {{"of", own.name->id}, {"to", other.name->id}, {"figure", figure}, {"as", ""}});
  return true;
}

/// "H200 compared to H100 2x" with "faster" before the number, as Chinese says it (H200 比 H100 快 2 倍): at what it
/// does not say.
bool compare_speed_before_number(const Passage& sentence, std::size_t at, Collector& out) {
  const Tokens& tokens = sentence.tokens;
  if (sentence.previous != nullptr || tokens[at].measure.form != Measure::Form::factor || at != 5) return false;
  const bool ends = at + 1 == tokens.size() || (at + 2 == tokens.size() && tokens[at + 1].is("."));
  const Token& own = tokens[0];
  const Token& other = tokens[3];
  if (!ends || !own.is_name(NameKind::device) || !tokens[1].is("compared") || !tokens[2].is("to") ||
      !other.is_name(NameKind::device) || !tokens[4].is("faster") || own.name->id == other.name->id) {
    return false;
  }
  out.add(comparison_kind(), tokens[at], fmt::format("{} is {} as fast as {}", own.text, tokens[at].text, other.text),
          {{"of", own.name->id}, {"to", other.name->id}, {"figure", "speed"}, {"as", ""}});
  return true;
}

/// Of the part against its partner, or against the generation before it.
Verdict verdict_between(const Token& own, const Partner& partner, const std::string& figure, const Measure& claimed,
                        const Collector& out) {
  const std::string to = partner.token != nullptr ? partner.token->name->id : own.name->previous;
  return out.verdict_of(comparison_kind(), claimed,
                        {{"of", own.name->id}, {"to", to}, {"figure", figure}, {"as", partner.as}});
}

void recognise_comparison(const Passage& passage, Collector& out) {
  if (passage.is_row()) return;
  const Tokens& tokens = passage.tokens;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token& number = tokens[i];
    if (!number.is_number() || number.measure.form == Measure::Form::plain || out.used(number)) continue;
    if (compare_respectively(passage, i, out)) {
      i += 2;
      continue;
    }
    Partner partner = partner_of(tokens, i);
    if (compare_systems(passage, i, partner, out) || compare_formats(passage, i, out) ||
        compare_plain(passage, i, out) || compare_speed_before_number(passage, i, out)) {
      continue;
    }
    const std::string beside = figure_beside(tokens, i);
    // What holds between two parts that are named is that, whatever order the words are in.
    const auto known = [&] { return !beside.empty() && find_pair(passage, i, beside, direction(tokens, i), out); };
    if (partner.token != nullptr && partner.token->name->kind == NameKind::model) {
      compare_models(passage, i, partner, out);
      continue;
    }
    // Prices and anything else with both values need no figure of the catalogue.
    if (partner.token != nullptr && partner.token->name->kind == NameKind::device &&
        number.measure.form == Measure::Form::percent && any_word(tokens, i, partner.at + 4, {"(", "$"}) &&
        compare_given(passage, i, partner, out)) {
      continue;
    }
    // Words about the figure: in the clause before, and up to the partner.
    std::size_t from = i;
    while (from > 0 && i - from < 12 && !tokens[from - 1].is(";") && !tokens[from - 1].is(":")) {
      const Token& t = tokens[from - 1];
      const bool other = t.is_number() && t.measure.form != Measure::Form::plain;
      if (other) break;
      --from;
    }
    const std::size_t to = partner.token == nullptr || partner.at < i ? std::min(i + 8, tokens.size()) : partner.at;
    const bool more = any_stem(tokens, i, to, {"increas", "higher", "more", "improve"});
    const bool against = partner.token != nullptr;
    if (!against && !more) {
      known();
      continue;
    }
    // "80% of peak bandwidth", "10% higher throughput" are of something else.
    if (!against && any_word(tokens, i + 1, i + 4, {"of", "throughput", "latency", "speed"})) continue;
    if (any_word(tokens, i + 1, i + 4, {"number"}) && any_word(tokens, i + 2, i + 6, {"nodes", "gpus"}))
      continue;  // "twice the number of nodes"
    // The words right behind the number decide before those in front of it.
    std::size_t next = i + 1;
    while (next < to && !tokens[next].is_number()) ++next;
    std::string figure = compared_figure(tokens, i, next);
    if (figure.empty()) figure = compared_figure(tokens, i, to);
    if (figure.empty() && !is_of_a_run(tokens, i)) figure = compared_figure(tokens, from, i);
    if (figure.empty() && against && any_word(tokens, partner.at + 1, partner.at + 3, {"in"})) {
      figure = compared_figure(tokens, partner.at, std::min(partner.at + 5, tokens.size()));
    }
    if (figure.empty() && against && partner.at > i) figure = format_alone(tokens, i, partner.at);
    const bool computing = any_word(tokens, from, to, {"compute", "computing", "flops"});
    if (figure.empty() && against && computing && !is_of_a_run(tokens, i)) figure = "compute";
    if (figure.empty()) {
      (void)compare_speed(passage, i, partner, out);
      continue;
    }
    // Power is compared with somebody's; "10% more power" alone may be anything's.
    if (figure == "power" && !(against && any_word(tokens, i, partner.at, {"power", "tdp"}))) continue;
    const Token* own = meant_by_its(tokens, i);
    const bool usable =
        own != nullptr && own->name->kind == NameKind::device && (!against || own->name->id != partner.token->name->id);
    if (!usable) own = nullptr;
    for (std::size_t j = i; own == nullptr && j-- > 0;) {
      if (tokens[j].is_name(NameKind::device) && !is_partner(tokens, j) &&
          (!against || tokens[j].name->id != partner.token->name->id)) {
        own = &tokens[j];
        break;
      }
    }
    if (own == nullptr) {  // "The 67% increase in the B200's memory bandwidth"
      const std::size_t after = name_after(tokens, i, NameKind::device);
      if (!against && after != kNowhere && after < i + 6) own = &tokens[after];
    }
    if (own == nullptr && against && passage.previous != nullptr) {
      const Token* subject = first_name(passage.previous->tokens, NameKind::device);
      if (subject != nullptr && (!against || subject->name->id != partner.token->name->id)) own = subject;
    }
    if (own == nullptr || is_error(verdict_between(*own, partner, figure, number.measure, out))) {
      if (known()) continue;
    }
    if (own == nullptr) continue;
    const std::string previous = own->name->previous;
    // Against the generation before only where nobody else is named.
    const bool others = std::any_of(tokens.begin() + static_cast<std::ptrdiff_t>(i), tokens.end(), [&](const Token& t) {
      return t.is_name(NameKind::device) && t.name->id != own->name->id && t.name->id != previous;
    });
    if (!against && others) continue;
    const std::string to_id = against ? partner.token->name->id : previous;
    if (to_id.empty() || to_id == own->name->id) continue;
    if (against && compare_given(passage, i, partner, out)) continue;
    std::vector<Found> inputs = {{"of", own->name->id}, {"to", to_id}, {"figure", figure}, {"as", partner.as}};
    // "20 PFLOPS at FP4 - 5x the FP8 rate of the H200": the figure of one side is given.
    for (std::size_t j = i; j-- > from;) {
      const bool given = tokens[j].is_number() && is_a<FlopsPerSecond>(tokens[j].measure) && peak_format(figure) &&
                         any_word(tokens, j, i, {"figure", "this"});
      if (given) inputs.push_back(found("value", tokens[j].measure));
    }
    out.add(comparison_kind(), number,
            fmt::format("{}: {} {}{} {}", own->text, figure_words(figure), number.text,
                        partner.as.empty() || partner.as == "share" ? " of" : " " + partner.as + " than", to_id),
            std::move(inputs));
  }
}

}  // namespace

const Kind& comparison_kind() {
  static const Kind kind{
      "comparison",
      "one part's figure against another's, or one model's size against another's",
      "figure of one / figure of the other",
      "of? to figure to-figure? as? value?",
      true,
      recompute_comparison,
      recognise_comparison,
  };
  return kind;
}

}  // namespace ridge::claims
