// ridge estimate infer --lengths: time to first token against the length of a prompt. And what pictures and sound in
// prompts add to an answer (--images, --audio).
#include <fmt/format.h>

#include <algorithm>

#include "app/cli/estimate/estimate.hpp"
#include "app/cli/session/wrong.hpp"
#include "report/estimate/context_report.hpp"
#include "ridge/base/text.hpp"

namespace ridge::cli {

namespace {

constexpr double kMostImageSide = 65536;
constexpr double kLongestSound = 86400;  // seconds

Result<std::vector<double>> read_lengths(const std::string& text) {
  const Result<std::vector<std::string>> parts = split_list("--lengths", text);
  if (!parts) return parts.error();
  std::vector<double> lengths;
  for (const std::string& part : *parts) {
    const Result<double> tokens = parse_count(part);
    if (!tokens || *tokens < 1) return wrong("--lengths", quoted(part) + " is no length: write 128k,256k,1M");
    lengths.push_back(*tokens);
  }
  return lengths;
}

/// Devices beyond one layout share the prompt where nobody said how many ranks do.
Status share_prompt(const EstimateFlags& flags, int gpus, ContextPlan& plan, report::ContextAnswer& answer) {
  const int layout = std::max(answer.query.tp, 1) * std::max(answer.query.pp, 1);
  if (flags.given("--cp") || !flags.given("--gpus") || layout == gpus) return {};
  if (gpus % layout != 0) {
    return wrong("--gpus", fmt::format("{} devices are no whole number of TP {} × PP {}", gpus, answer.query.tp,
                                       std::max(answer.query.pp, 1)));
  }
  plan.cp = gpus / layout;
  answer.query.gpus = layout;
  return {};
}

/// --gpus are all devices: ranks that share a prompt have the same layout each.
Status ranks_of_prompt(const EstimateFlags& flags, int cp, InferenceQuery& q) {
  if (cp == 1 || !flags.given("--gpus")) return {};
  const int layout = q.tp * q.pp;
  if (layout > 0 && layout * cp != q.gpus) {
    return wrong("--gpus",
                 fmt::format("TP {} × PP {} × CP {} are {} devices, not {}", q.tp, q.pp, cp, layout * cp, q.gpus));
  }
  if (q.gpus % cp != 0) return wrong("--cp", fmt::format("{} ranks do not share {} devices evenly", cp, q.gpus));
  q.gpus /= cp;
  return {};
}

}  // namespace

Result<int> estimate_context(Session& session, const EstimateFlags& flags) {
  for (const char* other : {"--isl", "--osl", "--concurrency", "--batch", "--images", "--audio"}) {
    if (flags.given(other)) return wrong(other, "--lengths is of one prompt alone: leave one of the two out");
  }
  const Result<InferenceQuestion> question = inference_question(flags, session.software_date());
  if (!question) return question.error();
  const Result<std::vector<double>> lengths = read_lengths(flags.value("--lengths"));
  if (!lengths) return lengths.error();
  const Result<Knowledge> knowledge = knowledge_of(session);
  if (!knowledge) return knowledge.error();
  const double longest = *std::max_element(lengths->begin(), lengths->end());
  if (const Result<Model> model = knowledge->catalogue.find_model(question->query.model)) {
    if (model->cross_tokens() > 0) {
      return wrong("--lengths", fmt::format("{} hears clips of {}: say how long the sound is, --audio 10min", model->id,
                                            format(Seconds(model->encoder.clip_s))));
    }
    if (model->embeds && model->context > 0 && longest > model->context) {
      return wrong("--lengths", fmt::format("{} reads at most {} tokens of a text: leave longer ones out", model->id,
                                            format_number(model->context, 7)));
    }
  }
  ContextPlan plan;
  const Result<int> cp = flags.whole("--cp", 1, 1, 4096);
  if (!cp) return cp.error();
  plan.cp = *cp;
  plan.chunk = question->query.max_batched_tokens;
  report::ContextAnswer answer;
  answer.query = question->query;
  const int gpus = answer.query.gpus;
  if (const Status s = ranks_of_prompt(flags, plan.cp, answer.query); !s) return s.error();
  if (answer.query.tp <= 0) {  // the layout that estimate would choose for one such prompt
    InferenceQuery one = answer.query;
    one.load = {.mode = LoadMode::prefill, .isl = longest, .osl = 1, .batch = 1};
    const Result<InferenceAnswer> chosen = ridge::answer(one, *knowledge, {.explain = false});
    if (!chosen) return chosen.error();
    if (chosen->refusal) return refusal_error(*chosen);
    answer.query = chosen->query;
  }
  if (const Status s = share_prompt(flags, gpus, plan, answer); !s) return s.error();
  Result<ContextCurve> curve = context_curve(answer.query, plan, *lengths, *knowledge);
  if (!curve) return curve.error();
  answer.curve = *std::move(curve);
  if (plan.cp > 1 && !flags.given("--cp")) {
    answer.curve.assumptions.push_back(
        fmt::format("{} ranks share the prompt, so that all {} devices work on it (⟦cp⟧)", plan.cp, gpus));
  }
  const auto& points = answer.curve.points;
  if (plan.cp > 1 && plan.chunk == 0 && std::any_of(points.begin(), points.end(), [](const ContextPoint& p) {
        return p.reason == Reason::out_of_memory;
      })) {
    answer.curve.assumptions.emplace_back(
        "smaller pieces need less memory while they pass (⟦max_batched_tokens=65536⟧)");
  }
  if (const Result<Model> model = knowledge->catalogue.find_model(answer.query.model);
      model && model->context > 0 && longest > model->context) {
    answer.curve.assumptions.push_back(
        fmt::format("{} was trained for {} tokens: longer prompts want its positions "
                    "stretched, and answers may be worse",
                    model->id, format_number(model->context, 7)));
  }
  add_changes(session, answer.curve.assumptions);
  std::vector<std::string> distinct;
  for (std::string& text : answer.curve.assumptions) {
    if (std::find(distinct.begin(), distinct.end(), text) == distinct.end()) distinct.push_back(std::move(text));
  }
  answer.curve.assumptions = std::move(distinct);
  bool fits = false;
  for (const ContextPoint& p : answer.curve.points) fits |= p.reason == Reason::none;
  if (session.form() == Form::json) {
    session.print(report::context_json(answer).text());
    return fits ? kFine : kRefused;
  }
  if (!fits) {
    return Error{ErrorCode::infeasible, "", report::context_refusal(answer)};
  }
  if (session.form() == Form::csv) {
    session.print(to_csv(report::context_table(answer)));
    return kFine;
  }
  session.print(report::context_page(answer));
  return kFine;
}

Result<double> sound_of(const EstimateFlags& flags) {
  const Result<Seconds> sound = parse_quantity<Seconds>(flags.value("--audio"));
  if (!sound || !(sound->value() > 0 && sound->value() <= kLongestSound)) {
    return wrong("--audio", "write a time above 0 and of at most a day: 30s");
  }
  return sound->value();
}

Result<MediaLoad> media_question(const EstimateFlags& flags, const Knowledge& knowledge, InferenceQuestion& question) {
  MediaLoad media;
  const Result<double> images = flags.count("--images", 0, 0, 1e5);
  if (!images) return images.error();
  media.images = *images;
  if (flags.given("--audio")) {
    const Result<double> sound = sound_of(flags);
    if (!sound) return sound.error();
    media.audio_s = *sound;
  }
  if (flags.given("--image-size")) {
    if (!(media.images > 0)) return wrong("--image-size", "say how many pictures there are: --images 1");
    const std::string& text = flags.value("--image-size");
    const std::size_t cross = text.find('x');
    const Result<double> width = parse_count(text.substr(0, cross));
    const Result<double> height = cross == std::string::npos ? width : parse_count(text.substr(cross + 1));
    const auto sensible = [](const Result<double>& side) { return side && *side >= 1 && *side <= kMostImageSide; };
    if (!sensible(width) || !sensible(height)) {
      return wrong("--image-size", quoted(text) + " is no size in pixels: write 1024 or 1920x1080");
    }
    media.width = *width;
    media.height = *height;
  } else if (media.images > 0) {
    question.assumptions.push_back(fmt::format("pictures of {:.0f} x {:.0f} pixels", media.width, media.height));
  }
  if (!(media.images > 0) && !(media.audio_s > 0)) return media;
  const Result<Model> model = knowledge.catalogue.find_model(question.query.model);
  if (!model) return model.error();
  if (question.query.device.empty()) return wrong("--device", "name the device that encodes pictures and sound");
  DeploymentFacts alone;
  alone.device = question.query.device;
  const Result<EncoderEstimate> e = encode(*model, alone, media, false, knowledge);
  if (!e) return wrong(media.images > 0 ? "--images" : "--audio", e.error().message);
  question.query.load.isl += e->tokens;
  return media;
}

Status answer_media(const MediaLoad& media, const Knowledge& knowledge, InferenceAnswer& answer) {
  if (!(media.images > 0) && !(media.audio_s > 0)) return {};
  const Result<Model> model = knowledge.catalogue.find_model(answer.query.model);
  if (!model) return model.error();
  const bool ideal = answer.query.engine == "ideal" || answer.query.engine == "roofline";
  const Result<EncoderEstimate> e = encode(*model, answer.facts, media, ideal, knowledge);
  if (!e) return e.error();
  const std::string what = media.images > 0 ? fmt::format("{} {} a prompt", format_number(media.images),
                                                          media.images == 1 ? "picture" : "pictures")
                                            : fmt::format("{} of sound a prompt", format(Seconds(media.audio_s)));
  const Interval i = encoder_interval(e->seconds);
  const std::string range =
      ideal ? std::string() : fmt::format(" ({}–{})", format(Seconds(i.low)), format(Seconds(i.high)));
  answer.assumptions.push_back(
      fmt::format("{} are {} tokens on top of the text; the encoder of {} parameters takes {}{} before "
                  "each prompt",
                  what, format_number(e->tokens, 9), format_count(e->parameters), format(Seconds(e->seconds)), range));
  if (answer.refusal) return {};
  const double replicas = 1.0 * answer.facts.gpus / std::max(1, answer.facts.tp * answer.facts.pp);
  add_encoder(answer.outcome.estimate, *e, answer.query.load, replicas);
  return {};
}

}  // namespace ridge::cli
