// What a document says about its own tables of results: "B200 offers 3x the performance of H200", "slower than".
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "claims/kinds/all_kinds.hpp"
#include "claims/reading/collector.hpp"

namespace ridge::claims {

namespace {

Result<Recomputed> recompute_results(Inputs& inputs) {
  const auto a = inputs.measure("a");
  if (!a) return a.error();
  const auto b = inputs.measure("b");
  if (!b) return b.error();
  if (a->measure.value <= 0 || b->measure.value <= 0) return cannot("there is no result to compare");
  const double ratio = a->measure.value / b->measure.value;
  const std::string relation = inputs.text("relation");
  Recomputed result;
  result.right = measure_of(ratio, Measure::Form::factor);
  result.formula = fmt::format("{} / {}, per accelerator", a->shown, b->shown);
  const auto holds = [&](bool yes) {
    result.compare = Compare::holds;
    result.holds = yes;
  };
  const auto printed = [&]() -> double {
    const auto pa = inputs.has("printed-a") ? inputs.measure("printed-a") : a;
    const auto pb = inputs.has("printed-b") ? inputs.measure("printed-b") : b;
    return pa && pb && pb->measure.value > 0 ? pa->measure.value / pb->measure.value : ratio;
  };
  if (relation == "same") {
    holds(std::abs(ratio - 1) < 0.05);
  } else if (relation == "faster") {
    // Where the table prints the opposite, text and table contradict each other, whichever is right.
    holds(ratio > 1 && printed() > 1);
    if (printed() < 1) result.otherwise = Verdict::contradiction;
  } else if (relation == "far-faster") {
    holds(ratio > 1.25);
  } else if (relation == "slower") {
    holds(ratio < 1);
  }
  if (!result.holds && result.compare == Compare::holds) {
    result.because = fmt::format("the table's totals and accelerators give {}, what it prints {:.2f}x",
                                 result.right->text, printed());
  }
  const double before = printed();
  if (relation.empty() && std::abs(before / ratio - 1) > 0.05) {
    result.because = fmt::format("the printed figures per accelerator give {}x, but they are wrong themselves",
                                 std::round(before * 100) / 100);
  }
  return result;
}

// --- finding it in text ------------------------------------------------------------------------------------------

/// A row of the last table about `device`, of this section's model if it names one; `scenario` "" = offline.
const ResultRow* row_of(const Memory& memory, const std::string& device, const std::string& model,
                        const std::string& scenario, bool virtualised) {
  const auto at = memory.results.find({device, model, scenario, virtualised});
  return at == memory.results.end() ? nullptr : &at->second;
}

std::string device_named(const Token& token, const Catalogue& catalogue) {
  if (token.name->kind == NameKind::device) return token.name->id;
  return catalogue.system(token.name->id)->device;
}

struct Pair {
  const ResultRow* a = nullptr;
  const ResultRow* b = nullptr;
};

Pair pair_of(const Token& a, const Token& b, const std::string& model, Collector& out) {
  const std::string first = device_named(a, out.context().catalogue);
  const std::string second = device_named(b, out.context().catalogue);
  return {row_of(out.memory, first, model, "offline", false), row_of(out.memory, second, model, "offline", false)};
}

void add(const Pair& pair, const Token& at, const Measure& claimed, const std::string& says,
         const std::string& relation, Collector& out) {
  if (pair.a == nullptr || pair.b == nullptr || pair.a == pair.b) return;
  std::vector<Found> inputs = {found("a", measure_of(pair.a->total / pair.a->accelerators)),
                               found("b", measure_of(pair.b->total / pair.b->accelerators)),
                               found("printed-a", measure_of(pair.a->stated)),
                               found("printed-b", measure_of(pair.b->stated))};
  if (!relation.empty()) inputs.push_back({"relation", relation});
  out.add(results_kind(), at, claimed, says, std::move(inputs));
}

std::vector<const Token*> hardware(const Tokens& tokens) {
  std::vector<const Token*> all;
  for (const Token& t : tokens) {
    if (t.is_name(NameKind::device) || t.is_name(NameKind::system)) all.push_back(&t);
  }
  return all;
}

/// Comparisons in words: better, slower, far higher, nearly identical.
void compare_words(const Passage& passage, const std::string& model, Collector& out) {
  const Tokens& tokens = passage.tokens;
  const auto parts = hardware(tokens);
  if (any_stem(tokens, 0, tokens.size(), {"virtualiz", "virtualis"}) && !parts.empty() &&
      any_word(tokens, {"identical", "same", "minimal", "physical"})) {
    const std::string device = device_named(*parts[0], out.context().catalogue);
    const Pair pair{row_of(out.memory, device, model, "offline", true),
                    row_of(out.memory, device, model, "offline", false)};
    add(pair, *parts[0], {}, fmt::format("virtualised {} is about as fast as physical", parts[0]->text), "same", out);
    return;
  }
  if (parts.size() < 2) return;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const bool than = tokens[i].is("than");
    if (!than) continue;
    const Token *a = nullptr, *b = nullptr;
    for (const Token* p : parts) {
      if (p->offset < tokens[i].offset) a = p;
      if (p->offset > tokens[i].offset && b == nullptr) b = p;
    }
    if (a == nullptr || b == nullptr) continue;
    const std::size_t from = i > 10 ? i - 10 : 0;
    if (!any_stem(tokens, from, i, {"perform", "result", "throughput", "faster", "slower"})) continue;
    const bool lower = any_word(tokens, from, i, {"lower", "slower", "worse"});
    const bool higher = any_word(tokens, from, i, {"higher", "better", "faster"});
    if (lower == higher) continue;
    const bool far = any_word(tokens, from, i, {"far", "massively", "vastly"});
    add(pair_of(*a, *b, model, out), *b, {},
        fmt::format("{} is {} than {}", a->text,
                    lower ? "slower"
                    : far ? "far faster"
                          : "faster",
                    b->text),
        lower ? "slower"
        : far ? "far-faster"
              : "faster",
        out);
  }
}

/// "B200 offers 3x the performance of H200", "the gap for R1 is nearly tenfold".
void compare_factors(const Passage& passage, const std::string& model, Collector& out) {
  const Tokens& tokens = passage.tokens;
  const auto parts = hardware(tokens);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token& number = tokens[i];
    if (!number.is_number() || number.measure.form != Measure::Form::factor || out.used(number)) continue;
    if (!any_stem(tokens, i > 14 ? i - 14 : 0, i + 6, {"perform", "gap", "leap", "boost", "faster", "throughput"}))
      continue;
    if (any_word(tokens, i > 6 ? i - 6 : 0, i + 6, {"theoretically", "flops", "bandwidth", "return"})) continue;
    const Token *a = nullptr, *b = nullptr;
    for (const Token* p : parts) {
      if (p->offset < number.offset && a == nullptr) a = p;
      if (p->offset > number.offset && b == nullptr && p != a) b = p;
    }
    // "comparing X and Y, the gap ... is 5x": both in front.
    if (b == nullptr) {
      std::vector<const Token*> before;
      for (const Token* p : parts) {
        if (p->offset < number.offset) before.push_back(p);
      }
      if (before.size() >= 2) {
        a = before[0];
        b = before[1];
      }
    }
    if (a == nullptr && passage.heading->empty()) continue;
    if (a == nullptr) {  // "Per-accelerator performance is 2x that of H100": of the bullet's own part
      const Token* subject = first_hardware(*passage.heading);
      a = subject;
    }
    if (a == nullptr || b == nullptr) continue;
    const std::size_t named = name_before(tokens, i, NameKind::model);
    const std::string about = named == kNowhere ? model : tokens[named].name->id;
    add(pair_of(*a, *b, about, out), number, number.measure,
        fmt::format("{} is {} as fast as {}{}", a->text, number.text, b->text, about.empty() ? "" : " on " + about), "",
        out);
  }
}

void recognise_results(const Passage& passage, Collector& out) {
  if (passage.is_row() || out.memory.results.empty()) return;
  const Token* model = first_name(*passage.heading, NameKind::model);
  const std::string id = model == nullptr ? "" : model->name->id;
  compare_words(passage, id, out);
  compare_factors(passage, id, out);
}

}  // namespace

const Kind& results_kind() {
  static const Kind kind{"results",
                         "what a document says of its own table of results",
                         "total / accelerators of one over that of the other",
                         "a b relation? printed-a? printed-b?",
                         false,
                         recompute_results,
                         recognise_results};
  return kind;
}

}  // namespace ridge::claims
