// The fields that only reinforcement learning has. A new one is a line here.
#include <fmt/format.h>

#include "ask/member.hpp"
#include "ridge/base/text.hpp"

namespace ridge::ask {

namespace {

constexpr double kMostRlDevices = 1'000'000;
constexpr double kMostRlTokens = 4e6;
constexpr double kMostStaleness = 1000;

constexpr Member<RlQuery> kReferenceOn = {
    .get = [](const RlQuery& q) { return q.reference ? (*q.reference ? 1.0 : 0.0) : kNothing; },
    .set = [](RlQuery& q, double value) { q.reference = value != 0; },
    .always = true};
constexpr Member<RlQuery> kEngineLogProbs = {.get = [](const RlQuery& q) { return q.old_log_probs ? 0.0 : 1.0; },
                                             .set = [](RlQuery& q, double value) { q.old_log_probs = value == 0; }};
constexpr Member<RlQuery> kGenerationFormat = {
    .get =
        [](const RlQuery& q) { return q.generation.weights ? static_cast<double>(*q.generation.weights) : kNothing; },
    .set =
        [](RlQuery& q, double value) {
          q.generation.weights = static_cast<Format>(static_cast<int>(value));
          q.generation.activations = q.generation.weights;
        },
    .always = true};
constexpr Member<RlQuery> kGenerationEngine = {
    .read = [](std::string_view text, RlQuery& q) -> Status {
      q.generation.engine = std::string(text);
      return {};
    },
    .write =
        [](const RlQuery& q) { return q.generation.engine == InferenceQuery{}.engine ? "" : q.generation.engine; }};
constexpr Member<RlQuery> kLengthShares = {
    .read = [](std::string_view text, RlQuery& q) -> Status {
      Result<std::vector<AnswerLengths::Share>> shares = parse_length_shares(text);
      if (!shares) return shares.error();
      q.answers.shares = *std::move(shares);
      return {};
    },
    .write =
        [](const RlQuery& q) {
          std::string text;
          for (const AnswerLengths::Share& s : q.answers.shares) {
            text += fmt::format("{}{}:{}", text.empty() ? "" : ",", s.tokens, s.share);
          }
          return text;
        }};
/// Read by itself, so that a number below zero is told what would do.
constexpr Member<RlQuery> kStalenessOf = {
    .read = [](std::string_view text, RlQuery& q) -> Status {
      const Result<double> batches = parse_count(text);
      if (!batches || *batches > kMostStaleness) {
        return Error{ErrorCode::bad_input, "staleness",
                     fmt::format("{} batches ahead cannot be: write 0 (answers of the present weights) to {:.0f}, for "
                                 "example 0.5",
                                 text, kMostStaleness)};
      }
      q.staleness = *batches;
      return {};
    },
    .write =
        [](const RlQuery& q) {
          return q.staleness == RlQuery{}.staleness ? std::string() : fmt::format("{}", q.staleness);
        }};
constexpr Member<RlQuery> kCriticName = {.name = &RlQuery::critic};
constexpr Member<RlQuery> kRewardName = {.name = &RlQuery::reward_model};

constexpr Word kAlgorithms[] = {{"grpo", 0}, {"dapo", 1}, {"ppo", 2}, {"online-dpo", 3}};
constexpr Word kPlacements[] = {{"colocated", 0}, {"one-step-off", 1}, {"async", 2}};
constexpr Word kOnOff[] = {{"on", 1}, {"off", 0}};

// clang-format off
constexpr Field kRlFields[] = {
    {.key = "algorithm", .value_name = "A", .help = "grpo, dapo, ppo (with critic and reward model) or online-dpo", .verbs = kRl,
     .takes = Takes::word, .words = kAlgorithms, .rl = at<&RlQuery::algorithm>()},
    {.key = "placement", .value_name = "P", .help = "colocated, or two pools: one-step-off, async", .verbs = kRl,
     .takes = Takes::word, .words = kPlacements, .rl = at<&RlQuery::placement>()},
    {.key = "generators", .value_name = "N", .help = "devices that generate, where pools are apart (default: half)", .verbs = kRl,
     .takes = Takes::whole, .low = 1, .high = kMostRlDevices, .rl = at<&RlQuery::generators>()},
    {.key = "staleness", .value_name = "BATCHES", .help = "async: batches that answers may be ahead of the weights: 0.5", .verbs = kRl,
     .takes = Takes::text, .rl = kStalenessOf},
    {.key = "partial_rollouts", .value_name = "", .help = "async: answers go on with new weights instead of being waited for", .verbs = kRl,
     .takes = Takes::on, .rl = at<&RlQuery::partial>()},
    {.key = "prompts", .value_name = "N", .help = "prompts per step", .verbs = kRl, .takes = Takes::whole, .low = 1, .high = 1e6,
     .rl = at<&RlQuery::prompts>()},
    {.key = "samples", .value_name = "N", .help = "answers per prompt", .verbs = kRl, .takes = Takes::whole, .low = 1, .high = 1e5,
     .rl = at<&RlQuery::samples>()},
    {.key = "prompt_tokens", .value_name = "TOKENS", .help = "tokens of a prompt", .verbs = kRl, .takes = Takes::count, .low = 1, .high = kMostRlTokens,
     .rl = at<&RlQuery::prompt_tokens>()},
    {.key = "answer_tokens", .value_name = "TOKENS", .help = "tokens of an answer, on average", .verbs = kRl, .takes = Takes::count, .low = 1, .high = kMostRlTokens,
     .rl = at<&RlQuery::answers, &AnswerLengths::mean>()},
    {.key = "answer_most", .value_name = "TOKENS", .help = "tokens at which an answer is cut", .verbs = kRl, .takes = Takes::whole, .low = 1, .high = kMostRlTokens,
     .rl = at<&RlQuery::answers, &AnswerLengths::most>()},
    {.key = "answer_cv", .value_name = "X", .help = "standard deviation of lengths over their mean, before the cut", .verbs = kRl,
     .takes = Takes::count, .low = 0, .high = 10, .rl = at<&RlQuery::answers, &AnswerLengths::cv>()},
    {.key = "answer_lengths", .value_name = "SHARES", .help = "lengths of answers instead: up to so many tokens, each with its share: 512:0.5,2048:0.3,8192:0.2", .verbs = kRl,
     .takes = Takes::text, .rl = kLengthShares},
    {.key = "oversample", .value_name = "X", .help = "answers drawn for each that is trained on (dynamic sampling)", .verbs = kRl,
     .takes = Takes::count, .low = 1, .high = 100, .rl = at<&RlQuery::oversample>()},
    {.key = "mini_batch", .value_name = "PROMPTS", .help = "prompts per update of the weights (default: all of the step)", .verbs = kRl,
     .takes = Takes::whole, .low = 1, .high = 1e6, .rl = at<&RlQuery::mini_batch>()},
    {.key = "epochs", .value_name = "N", .help = "times a step trains on its answers", .verbs = kRl,
     .takes = Takes::whole, .low = 1, .high = 100, .rl = at<&RlQuery::epochs>()},
    {.key = "reference", .value_name = "on|off", .help = "log-probabilities of a frozen reference model (KL term); dapo has none", .verbs = kRl,
     .takes = Takes::word, .words = kOnOff, .rl = kReferenceOn},
    {.key = "engine_log_probs", .value_name = "", .help = "train on the engine's log-probabilities, compute none again", .verbs = kRl,
     .takes = Takes::on, .rl = kEngineLogProbs},
    {.key = "critic", .value_name = "M", .help = "ppo: model that is trained to judge (default: a copy of the policy)", .verbs = kRl,
     .takes = Takes::model, .rl = kCriticName},
    {.key = "reward_model", .value_name = "M", .help = "model that judges answers", .verbs = kRl, .takes = Takes::model, .rl = kRewardName},
    {.key = "critic_gpus", .value_name = "N", .help = "devices apart for critic and reward model, of --gpus", .verbs = kRl,
     .takes = Takes::whole, .low = 1, .high = kMostRlDevices, .rl = at<&RlQuery::critic_gpus>()},
    {.key = "verifier_seconds", .value_name = "S", .help = "time that a rule or sandbox takes to judge one answer, in seconds", .verbs = kRl,
     .takes = Takes::count, .low = 0, .high = 1e5, .rl = at<&RlQuery::verifier, &Verifier::seconds>()},
    {.key = "verifier_parallel", .value_name = "N", .help = "answers that it judges at once (default: all)", .verbs = kRl,
     .takes = Takes::whole, .low = 1, .high = 1e6, .rl = at<&RlQuery::verifier, &Verifier::parallel>()},
    {.key = "gen_engine", .value_name = "E", .help = "engine that generates: vllm, sglang, trtllm", .verbs = kRl, .takes = Takes::engine, .rl = kGenerationEngine},
    {.key = "gen_tp", .value_name = "N", .help = "tensor parallelism of a generating engine", .verbs = kRl, .takes = Takes::whole, .low = 1, .high = kMostRlDevices,
     .rl = at<&RlQuery::generation, &InferenceQuery::tp>()},
    {.key = "gen_pp", .value_name = "N", .help = "pipeline stages of a generating engine", .verbs = kRl, .takes = Takes::whole, .low = 1, .high = kMostRlDevices,
     .rl = at<&RlQuery::generation, &InferenceQuery::pp>()},
    {.key = "gen_ep", .value_name = "N", .help = "ranks of a generating engine that share the experts", .verbs = kRl, .takes = Takes::whole, .low = 1, .high = kMostRlDevices,
     .rl = at<&RlQuery::generation, &InferenceQuery::ep>()},
    {.key = "gen_precision", .value_name = "F", .help = "precision of weights and activations in the generating engines", .verbs = kRl, .takes = Takes::format, .rl = kGenerationFormat},
};
// clang-format on

}  // namespace

std::span<const Field> rl_fields() {
  return kRlFields;
}

}  // namespace ridge::ask
