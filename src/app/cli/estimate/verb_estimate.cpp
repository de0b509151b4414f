// ridge estimate: one plan evaluated and explained; several side by side; what fits; what techniques gain.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/cli/estimate/estimate.hpp"
#include "app/cli/verbs.hpp"
#include "report/estimate/inference_report.hpp"
#include "ridge/base/text.hpp"
#include "ridge/perf/usual.hpp"
#include "ridge/serve/played_load.hpp"

namespace ridge::cli {

namespace {

Result<EstimateWord> word_of(const std::vector<std::string>& words) {
  const std::string all = "infer, train, rl, diffusion, fit, techniques or compare";
  if (words.empty())
    return Error{ErrorCode::bad_input, "",
                 "say what to estimate: " + all +
                     ". For example:\n  ridge estimate infer --model llama3.3-70b --device h200-sxm"};
  if (words.size() > 1) return Error{ErrorCode::bad_input, "", "nothing is done with " + quoted(words[1])};
  std::vector<std::string_view> names;
  for (const EstimateWord word : kEstimateWords) {
    if (name(word) == words[0]) return word;
    names.push_back(name(word));
  }
  const std::string near = nearest(words[0], names.data(), names.size());
  return Error{
      ErrorCode::bad_input, "",
      quoted(words[0]) + " cannot be estimated; " + (near.empty() ? "there are " + all : "did you mean " + near + "?")};
}

std::vector<std::string> complete_estimate_words(Session&, const std::vector<std::string>& before) {
  std::vector<std::string> offers;
  if (before.empty()) {
    for (const EstimateWord word : kEstimateWords) offers.emplace_back(name(word));
  }
  return offers;
}

}  // namespace

Result<Knowledge> knowledge_of(Session& session) {
  const Result<const Catalogue*> catalogue = session.catalogue();
  if (!catalogue) return catalogue.error();
  const Result<const Engines*> engines = session.engines();
  if (!engines) return engines.error();
  const Result<const Calibration*> calibration = session.calibration();
  if (!calibration) return calibration.error();
  return Knowledge{**catalogue, **engines, **calibration};
}

Result<WhatIfSubjects> what_if_subjects(const EstimateFlags& flags) {
  WhatIfSubjects subjects;
  const std::pair<std::string_view, std::vector<std::string>*> named[] = {
      {"--model", &subjects.models}, {"--system", &subjects.systems}, {"--device", &subjects.devices}};
  for (const auto& [flag, ids] : named) {
    if (!flags.given(flag)) continue;
    Result<std::vector<std::string>> list = split_list(flag, flags.value(flag));
    if (!list) return list.error();
    *ids = *std::move(list);
  }
  return subjects;
}

std::string nearest_lines(const Refusal& refusal) {
  std::string lines;
  std::size_t width = 0;
  for (const NearestPlan& plan : refusal.nearest) width = std::max(width, as_flags(plan.changes).size());
  for (const NearestPlan& plan : refusal.nearest) {
    lines += fmt::format("\n  {:<{}}  {}", as_flags(plan.changes), width, plan.effect);
  }
  return lines;
}

Error refusal_error(const InferenceAnswer& answer) {
  const std::string text =
      fmt::format("{} on {} cannot run: {}", answer.query.model, report::deployment_text(answer), answer.refusal->why);
  return {ErrorCode::infeasible, "", text + nearest_lines(*answer.refusal)};
}

void add_changes(const Session& session, std::vector<std::string>& assumptions) {
  for (const std::string& setting : session.options().settings) assumptions.push_back("what if " + setting);
}

/// A benchmark starts all clients at once: the prompts of that first wave wait for one another.
void add_first_token(const Session& session, const Knowledge& knowledge, InferenceAnswer& answer) {
  constexpr double kSaid = 1.2;
  constexpr double kMostTurns = 400;  // about a second
  const double steady = answer.outcome.estimate.ttft_s.mid;
  InferenceEstimate played = answer.outcome.estimate;
  play_first_token(answer.query, knowledge, played, {.turns = kMostTurns, .patience = session.patience()});
  if (played.ttft_s.mid > kSaid * steady) {
    answer.assumptions.push_back(
        fmt::format("TTFT is that of clients out of step. A benchmark that starts all at once and sends ten requests a "
                    "client sees {} in the mean",
                    format(Seconds(played.ttft_s.mid))));
  }
}

Result<InferenceAnswer> answer_question(const Session& session, const InferenceQuestion& question,
                                        const Knowledge& knowledge, bool explain) {
  Result<InferenceAnswer> answer = ridge::answer(question.query, knowledge, {.explain = explain});
  if (!answer) return answer;
  if (!answer->refusal) add_first_token(session, knowledge, *answer);
  auto& assumptions = answer->assumptions;
  assumptions.insert(assumptions.begin(), question.assumptions.begin(), question.assumptions.end());
  add_changes(session, assumptions);
  for (const std::string& sentence : session.measured()) assumptions.push_back(sentence);
  return answer;
}

double sold_memory(const Catalogue& catalogue, std::string_view device) {
  const Device* found = catalogue.device(device);
  return found != nullptr && found->memory_capacity ? found->memory_capacity->value.value() : 0;
}

/// Models that give a vector or a score read prompts and write no answer.
static Status embed(const EstimateFlags& flags, const Knowledge& knowledge, InferenceQuestion& question) {
  const auto model = knowledge.catalogue.find_model(question.query.model);
  if (!model || !model->embeds) return {};
  if (flags.given("--osl") && question.query.load.osl > 1) {
    return Error{ErrorCode::bad_input, "--osl",
                 fmt::format("{} gives a vector or a score and writes no answer: leave it out", question.query.model)};
  }
  std::erase_if(question.assumptions,
                [](const std::string& text) { return text.ends_with(" tokens out") || text.ends_with(" clients"); });
  InferenceLoad& load = question.query.load;
  if (!flags.given("--isl") && model->context > 0 && load.isl > model->context) {
    std::erase_if(question.assumptions, [](const std::string& text) { return text.ends_with(" tokens in"); });
    load.isl = model->context;
    question.assumptions.push_back(fmt::format("texts of {:.0f} tokens, the most it reads", load.isl));
  }
  load.osl = 1;  // the step that reads the prompt gives it
  if (flags.given("--concurrency") || flags.is_on("--offline")) return {};
  load.mode = LoadMode::prefill;
  if (!flags.given("--batch")) {
    load.batch = usual::kClients;
    question.assumptions.push_back(fmt::format("{:.0f} texts together", load.batch));
  }
  question.assumptions.emplace_back("texts are read, none is written");
  return {};
}

/// Models of speech: a request is a clip, its answer what was said. Long recordings are cut into clips, which are
/// sequences of their own. Seconds of sound of one of them.
static Result<double> listen(const EstimateFlags& flags, const Model& model, InferenceQuestion& question) {
  for (const char* of_pictures : {"--images", "--image-size"}) {
    if (flags.given(of_pictures)) return Error{ErrorCode::bad_input, of_pictures, model.id + " hears and does not see"};
  }
  if (flags.is_on("--prefill")) {
    return Error{ErrorCode::bad_input, "--prefill", model.id + " writes down what it hears: leave it out"};
  }
  const double clip = model.encoder.clip_s;
  double sound = clip;
  if (flags.given("--audio")) {
    const Result<double> said = sound_of(flags);
    if (!said) return said.error();
    sound = *said;
  }
  InferenceLoad& load = question.query.load;
  const double clips = std::ceil(sound / clip);
  const double each = sound / clips;
  std::erase_if(question.assumptions,
                [](const std::string& text) { return text.ends_with(" tokens in") || text.ends_with(" tokens out"); });
  if (!flags.given("--isl")) load.isl = usual::kSpeechPrompt;
  if (!flags.given("--osl")) {
    load.osl = std::max(1.0, std::round(usual::kSpeechTokens * each / clip));
    question.assumptions.push_back(
        fmt::format("{:.0f} tokens are said in {}, as in MLPerf's clips", load.osl, format(Seconds(each))));
  }
  if (clips > 1) {
    load.concurrency *= clips;
    load.batch *= clips;
    question.assumptions.push_back(
        fmt::format("{} of sound are {:.0f} clips, each a sequence of its own", format(Seconds(sound)), clips));
  } else if (!flags.given("--audio")) {
    question.assumptions.push_back(fmt::format("clips of {}", format(Seconds(clip))));
  }
  return each;
}

Result<int> estimate_infer(Session& session, const EstimateFlags& flags) {
  if (flags.is_on("--disaggregate")) return estimate_pools(session, flags);
  for (const char* of_pools :
       {"--prefill-device", "--prefill-tp", "--prefill-dp", "--prefill-ep", "--prefill-redundant-experts",
        "--prefill-precision", "--prefill-power-cap", "--pools", "--kv-link"}) {
    if (flags.given(of_pools)) return Error{ErrorCode::bad_input, of_pools, "is for pools apart: add --disaggregate"};
  }
  if (flags.given("--lengths")) return estimate_context(session, flags);
  if (flags.given("--cp")) return Error{ErrorCode::bad_input, "--cp", "is of long prompts: add --lengths 128k,1M"};
  Result<InferenceQuestion> question = inference_question(flags, session.software_date());
  if (!question) return question.error();
  const Result<Knowledge> knowledge = knowledge_of(session);
  if (!knowledge) return knowledge.error();
  if (const Status s = embed(flags, *knowledge, *question); !s) return s.error();
  const Result<Model> model = knowledge->catalogue.find_model(question->query.model);
  double sound = 0;
  Result<MediaLoad> media = MediaLoad{};
  InferenceLoad asked = question->query.load;  // without what pictures and sound make of it
  Changes said;
  for (const char* key : {"images", "image_size", "audio"}) {
    const std::string flag = ask::flag_of(*ask::find_field(key));
    if (flags.given(flag)) said.push_back({key, flags.value(flag)});
  }
  if (model && model->cross_tokens() > 0) {
    const Result<double> heard = listen(flags, *model, *question);
    if (!heard) return heard.error();
    sound = *heard;
    asked.isl = question->query.load.isl;
    asked.osl = question->query.load.osl;
  } else {
    media = media_question(flags, *knowledge, *question);
  }
  if (!media) return media.error();
  Result<InferenceAnswer> answer = answer_question(session, *question, *knowledge, true);
  if (!answer) return answer.error();
  if (const Status s = answer_media(*media, *knowledge, *answer); !s) return s.error();
  const report::InferenceReportOptions options{.operators = flags.is_on("--explain"),
                                               .sold_bytes = sold_memory(knowledge->catalogue, answer->facts.device),
                                               .embeds = model && model->embeds,
                                               .sound_s = sound,
                                               .asked = asked,
                                               .media = std::move(said)};
  if (session.form() == Form::json) {
    session.print(report::inference_json(*answer, options).text());
    return answer->refusal ? kRefused : kFine;
  }
  if (answer->refusal) return refusal_error(*answer);
  if (session.form() == Form::csv) {
    session.print(to_csv(options.operators ? report::operator_table(*answer) : report::inference_table(*answer)));
    return kFine;
  }
  session.print(report::inference_page(*answer, options));
  return kFine;
}

static Action declare_estimate(Options& options) {
  struct Arguments {
    std::vector<std::string> words;
    EstimateFlags flags;
  };
  auto arguments = std::make_shared<Arguments>();
  options.words("infer|train|rl|diffusion|fit|techniques|compare", arguments->words, "what to estimate",
                complete_estimate_words);
  arguments->flags.declare(options);
  return [arguments](Session& session) -> Result<int> {
    const Result<EstimateWord> word = word_of(arguments->words);
    if (!word) return word.error();
    const EstimateFlags& flags = arguments->flags;
    if (const Status s = flags.check(*word); !s) return s.error();
    if (const Status s = flags.valid(session, *word == kCompare || *word == kFit); !s) return s.error();
    Result<WhatIfSubjects> subjects = what_if_subjects(flags);
    if (!subjects) return subjects.error();
    session.about(*std::move(subjects));
    switch (*word) {
      case kInfer:
        return estimate_infer(session, flags);
      case kFit:
        return estimate_fit(session, flags);
      case kTechniques:
        return estimate_techniques(session, flags);
      case kCompare:
        return estimate_compare(session, flags);
      case kTrain:
        return estimate_train(session, flags);
      case kRl:
        return estimate_rl(session, flags);
      case kDiffusion:
        return estimate_diffusion(session, flags);
    }
    return kFine;
  };
}

template <EstimateWord word>
static bool estimate_takes(const OptionText& option) {
  return (option.kinds & word) != 0;
}

static constexpr VerbKind kEstimateKinds[] = {
    {"infer", estimate_takes<kInfer>, "serving: throughput, latency, memory and energy",
     "--model --device --gpus --precision --concurrency --isl --osl",
     "ridge estimate infer --model llama3.3-70b --device h200-sxm --gpus 2 --concurrency 64\n"
     "ridge estimate infer --model deepseek-r1 --device b200-sxm-180 --gpus 8 --offline --explain"},
    {"train", estimate_takes<kTrain>, "training: time of a step, MFU, memory of every stage, days",
     "--model --device --gpus --tokens --seq-length --global-batch --task",
     "ridge estimate train --model llama3.1-70b --device h100-sxm --gpus 512 --tokens 15T\n"
     "ridge estimate train --model llama3.1-8b --device rtx4090 --task lora --seq-length 2048"},
    {"rl", estimate_takes<kRl>, "reinforcement learning: a step by phase, who waits for whom",
     "--model --device --gpus --prompts --samples",
     "ridge estimate rl --model qwen2.5-7b --device h100-sxm --gpus 32 --prompts 512 --samples 16"},
    {"diffusion", estimate_takes<kDiffusion>, "images and clips: time of one, and of training",
     "--model --device --steps --resolution",
     "ridge estimate diffusion --model flux.1-dev --device h100-sxm --steps 28"},
    {"fit", estimate_takes<kFit>, "what fits on how many devices, and what fills them", "--model --device",
     "ridge estimate fit --model deepseek-r1 --device mi300x\n"
     "ridge estimate fit --device h100-sxm,b200-sxm-180"},
    {"techniques", estimate_takes<kTechniques>, "what quantisation, paging or speculation gain here",
     "--model --device --gpus", "ridge estimate techniques --model llama3.1-8b --device h100-sxm"},
    {"compare", estimate_takes<kCompare>, "devices and layouts side by side",
     "--model --device --gpus --tp --precision",
     "ridge estimate compare --model llama3.3-70b --device h100-sxm,b200-sxm-180 --gpus 8"},
};

Verb estimate_verb() {
  return {
      "estimate",
      "does it fit, how fast is it, what is the bottleneck",
      "`infer` answers for serving: throughput, latency, memory, energy, each with an 80 % interval, the bottleneck "
      "and "
      "what would help. `train` gives the step by term, MFU, memory of every stage, days; `rl` a step of "
      "reinforcement learning by phase, who waits for whom and which split balances; `diffusion` the time of an image. "
      "`fit` says what fits where, `techniques` what quantisation, paging or speculation gain here, `compare` "
      "puts "
      "devices and plans side by side (lists: --device a,b --tp 2,4).\n\n"
      "A model is an id of the catalogue, the path of a config.json, or written out (dense:layers=32,...). What is "
      "not said is chosen and listed under 'Assumed'. A plan that cannot run ends with exit code 2, the reason, "
      "and the nearest that can.",
      "ridge estimate infer --model llama3.3-70b --device h200-sxm --gpus 2 --precision fp8 --isl 1000 --osl 250 "
      "--concurrency 64\n"
      "ridge estimate infer --model deepseek-r1 --device b200-sxm-180 --gpus 8 --offline --explain\n"
      "ridge estimate train --model llama3.1-70b --device h100-sxm --gpus 512 --tokens 15T\n"
      "ridge estimate rl --model qwen2.5-7b --device h100-sxm --gpus 32 --prompts 512 --samples 16 --answer-tokens "
      "2000 "
      "--answer-most 20k\n"
      "ridge estimate diffusion --model flux.1-dev --device h100-sxm --steps 28\n"
      "ridge estimate fit --device h100-sxm,b200-sxm-180\n"
      "ridge estimate infer --model llama3.1-8b --device h100-sxm --batch 1 --set device.hbm_bandwidth=8TB/s --json",
      declare_estimate,
      kEstimateKinds};
}

}  // namespace ridge::cli
