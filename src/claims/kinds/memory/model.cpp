// Figures of models: parameters, active parameters, layers, heads, experts, and the GPU-hours its publisher states.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "claims/kinds/all_kinds.hpp"
#include "claims/reading/collector.hpp"
#include "ridge/base/text.hpp"

namespace ridge::claims {

namespace {

struct Counted {
  std::string_view figure;
  std::string_view title;
};
constexpr std::array kCounted = {Counted{"layers", "layers"}, Counted{"heads", "attention heads"},
                                 Counted{"kv-heads", "KV heads"}, Counted{"experts", "experts"}};

/// The same in every layer that has it, or 0: hybrids have no single answer.
int common(const Model& model, int (*value)(const LayerGroup&)) {
  int only = 0;
  for (const LayerGroup& group : model.groups) {
    const int here = value(group);
    if (here == 0) continue;
    if (only != 0 && here != only) return 0;
    only = here;
  }
  return only;
}

int count_in(const Model& model, std::string_view figure) {
  if (figure == "layers") return model.layers();
  if (figure == "heads") return common(model, [](const LayerGroup& g) { return g.mixer.heads; });
  if (figure == "experts") return common(model, [](const LayerGroup& g) { return g.ffn.experts; });
  // Latent attention keeps no heads of keys and values.
  return common(model, [](const LayerGroup& g) { return g.mixer.kv_lora_rank > 0 ? 0 : g.mixer.kv_heads; });
}

Result<Recomputed> recompute_model(Inputs& inputs) {
  const auto model = inputs.model("of");
  if (!model) return model.error();
  const std::string figure = inputs.text("figure");
  Recomputed result;
  if (figure == "gpu-hours") {
    const PublishedRun* run = inputs.context().facts.run((*model)->id);
    if (run == nullptr || run->gpu_hours <= 0) return cannot("its publisher states no GPU-hours");
    Measure hours = measure_of(run->gpu_hours);
    hours.text = format_number(run->gpu_hours / 1e6, 4) + "M GPU-hours";
    result.right = hours;
    result.formula = "published GPU-hours of " + (*model)->id;
    inputs.note("gpu-hours", hours.text, run->source);
    return result;
  }
  if (figure == "parameters" || figure == "active") {
    const bool active = figure == "active";
    const Parameters parameters = count_parameters(**model);
    const auto put = [](double count) {
      Measure m = measure_of(count);
      m.text = format_number(count / 1e9, 4) + "B parameters";
      return m;
    };
    result.right = put(active ? parameters.active : parameters.total);
    result.formula = fmt::format("{}parameters of {}", active ? "active " : "", (*model)->id);
    const std::optional<double>& published = active ? (*model)->published.active : (*model)->published.total;
    if (published) result.readings.push_back({put(*published), Verdict::right, "as its publisher counts", 0.015});
    const double other = active ? parameters.total : parameters.active;
    if (std::abs(other / result.right->value - 1) > 0.05) {
      result.readings.push_back(
          {put(other), Verdict::wrong, active ? "that is all of them" : "those are the active ones", 0.03});
    }
    return result;
  }
  const auto* known =
      std::find_if(kCounted.begin(), kCounted.end(), [&](const Counted& c) { return c.figure == figure; });
  if (known == kCounted.end()) {
    return cannot(quoted(figure) +
                  " is no figure of a model: use parameters, active, layers, heads, kv-heads, experts "
                  "or gpu-hours");
  }
  const int count = count_in(**model, figure);
  if (count == 0) return cannot(fmt::format("{} has no single number of {}", (*model)->id, known->title));
  result.right = measure_of(count);
  result.right->text = fmt::format("{} {}", count, known->title);
  result.formula = fmt::format("{} of {}", known->title, (*model)->id);
  result.compare = Compare::holds;  // a count is exact
  result.holds = inputs.claim().claimed.value == count;
  return result;
}

// --- finding it in text ------------------------------------------------------------------------------------------

bool is_bare(const Token& t) {
  return t.is_number() && t.measure.form == Measure::Form::plain && !t.measure.has_unit() && !t.measure.is_range();
}

/// "37B of its 671B", "37B of DeepSeek-V3's 671B", "37B parameters out of 671B": the number at `at` is the whole.
bool is_whole(const Tokens& tokens, std::size_t at) {
  constexpr std::size_t kReach = 4;
  for (std::size_t i = at; i-- > 1 && at - i <= kReach && !tokens[i].is_number();) {
    if (tokens[i].is("of")) return tokens[i - 1].is_number() || tokens[i - 1].is("out");
  }
  return false;
}

/// What is counted by the number at `at`, by the words behind it.
std::string counted_by(const Tokens& tokens, std::size_t at) {
  std::size_t next = at + 1;
  if (next < tokens.size() && tokens[next].is("-")) ++next;
  const auto word = [&](std::size_t i, std::initializer_list<std::string_view> words) {
    return any_word(tokens, i, i + 1, words);
  };
  const bool large =
      tokens[at].measure.suffix == 'B' || tokens[at].measure.suffix == 'T' || tokens[at].measure.suffix == 'M';
  if (large) {
    if (word(next, {"active", "activated"})) return "active";
    const bool parameters = word(next, {"parameters", "parameter", "params"}) ||
                            (word(next, {"total"}) && !word(next + 1, {"tokens", "token"}));
    // "37B of its 671B parameters are active"
    const bool share = word(next, {"of"}) && any_word(tokens, at, tokens.size(), {"parameters", "params"}) &&
                       any_word(tokens, {"active", "activated", "activates", "uses"});
    if (share) return "active";
    if (!parameters) {
      // "30.8 million H100 hours", "2.788M GPU-hours"
      const std::size_t unit = next < tokens.size() && tokens[next].type == Token::Type::name ? next + 1 : next;
      const std::size_t after = unit < tokens.size() && tokens[unit].is("-") ? unit + 1 : unit;
      return unit > next && word(after, {"hours", "hour"}) ? "gpu-hours" : "";
    }
    if (word(next, {"total"})) return "parameters";
    // "17B parameters active", "17B parameters per token", not "400B parameters (17B active)"
    bool behind =
        any_word(tokens, next + 1, next + 2, {"per", "for"}) && any_word(tokens, next + 2, next + 4, {"token"});
    for (std::size_t i = next; i < std::min(next + 4, tokens.size()) && !tokens[i].is_number(); ++i) {
      behind = behind || tokens[i].is("active") || tokens[i].is("activated");
    }
    const bool activates =
        behind || any_word(tokens, at > 4 ? at - 4 : 0, at, {"activates", "activating", "activate", "active"});
    return activates && !is_whole(tokens, at) ? "active" : "parameters";
  }
  if (tokens[at].measure.suffix != 0) return "";
  if (word(next, {"layers"})) return "layers";
  if (word(next, {"experts"})) return "experts";
  if (word(next, {"kv"}) && word(next + 1, {"heads"})) return "kv-heads";
  if (word(next, {"query", "attention"}) && word(next + 1, {"heads"})) return "heads";
  return "";
}

/// The number at `at` is said of the model at `subject`: it follows, and nothing but other figures of it lies between;
/// or it is so many "of" that model's.
bool is_said_of(const Tokens& tokens, std::size_t subject, std::size_t at) {
  constexpr std::size_t kReach = 10;
  if (at < subject) return subject - at <= 3 && any_word(tokens, at + 1, subject, {"of"});
  if (at - subject > kReach) return false;
  for (std::size_t i = subject + 1; i < at; ++i) {
    const Token& t = tokens[i];
    if (t.is("(") || t.is(";") || t.is_name(NameKind::device)) return false;
    const bool listed = any_word(tokens, i > 0 ? i - 1 : 0, i, {"parameters", "params", "active", "total", "layers"});
    if (t.is(",") && !listed) return false;
  }
  return true;
}

void recognise_model(const Passage& passage, Collector& out) {
  if (passage.is_row()) return;
  const Tokens& tokens = passage.tokens;
  const Token* subject = nullptr;
  for (const Token& t : tokens) {
    if (!t.is_name(NameKind::model)) continue;
    if (subject != nullptr && subject->name->id != t.name->id) return;  // whose figure it is would be a guess
    subject = &t;
  }
  if (subject == nullptr) return;
  // Parts of a model and other models have figures of their own; so have hours of something else than the run.
  if (any_word(tokens, {"draft",     "distilled", "distill",   "smaller",   "larger", "bigger", "than",
                        "adapter",   "lora",      "embedding", "encoder",   "vision", "like",   "similar",
                        "shared",    "routed",    "chosen",    "per-layer", "first",  "last",   "offload",
                        "offloaded", "frozen",    "trainable", "other",     "each",   "dense",  "reduced",
                        "truncated", "pruned",    "shrunk",    "random",    "dummy"})) {
    return;
  }
  if (any_stem(tokens, 0, tokens.size(), {"distil"})) return;
  // "GPT-2" names a family: which size is meant is not said.
  const std::span<const Model> models = out.context().catalogue.models();
  const bool family = std::any_of(models.begin(), models.end(), [&](const Model& m) {
    return std::string_view(m.id).starts_with(subject->name->id + "-");
  });
  if (family) return;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token& number = tokens[i];
    const bool hours =
        number.is_number() && number.measure.exponents == std::array<std::int8_t, 9>{0, 1, 0, 0, 0, 0, 1};
    if (out.used(number) || !(is_bare(number) || hours)) continue;
    const std::string figure = hours ? "gpu-hours" : counted_by(tokens, i);
    const auto subject_at = static_cast<std::size_t>(subject - tokens.data());
    if (figure.empty() || !is_said_of(tokens, subject_at, i)) continue;
    if (figure == "experts" && any_word(tokens, {"active", "activates", "per", "token", "top", "selects", "uses"}))
      continue;
    Measure claimed = number.measure;
    if (figure == "gpu-hours") {
      if (!any_stem(tokens, 0, tokens.size(), {"train", "took", "pretrain", "cost"})) continue;
      // Post-training and single stages have their own count.
      if (any_stem(tokens, 0, tokens.size(), {"fine", "post", "stage", "rl", "extension", "context"})) continue;
      if (hours) {
        claimed = scaled(claimed, 1 / 3600.0);
        claimed.written /= 3600;
        claimed.significant /= 3600;
        claimed.exponents = {};
        claimed.text = number.text;
      }
    }
    out.add(model_kind(), number, claimed, fmt::format("{}: {} {}", subject->text, figure, number.text),
            {{"of", subject->name->id}, {"figure", figure}});
  }
}

}  // namespace

const Kind& model_kind() {
  static const Kind kind{
      "model",
      "a figure of a model against the catalogue",
      "parameters, active, layers, heads, kv-heads, experts or gpu-hours of the model",
      "of figure",
      true,
      recompute_model,
      recognise_model,
  };
  return kind;
}

}  // namespace ridge::claims
