// One step of reinforcement learning put together: who does what, on which devices, and who waits.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "perf/operators/kernels.hpp"
#include "ridge/base/text.hpp"
#include "ridge/rl/rl.hpp"
#include "rl/compose.hpp"
#include "rl/drawing.hpp"
#include "rl/passes.hpp"
#include "rl/variants.hpp"

namespace ridge {

namespace {

constexpr double kUsualNetwork = 12.5e9;  ///< bytes/s per device where the catalogue says nothing
constexpr double kSharedMemory = 0.6;     ///< of a device that an engine may fill beside a sleeping trainer
constexpr double kMostSamples = 2e6;      ///< answers of one step
constexpr int kDeepestEngine = 16;        ///< pipeline stages
constexpr double kAdapterBytes = 2;       ///< of one adapter weight on its way
constexpr double kRoomyShare = 0.4;       ///< of a device that an engine's weights take where nobody says
constexpr double kPaddedBytes = 32;       ///< of a token in a batch: ids, positions, mask, log-probability in 64 bits
constexpr double kThereAndBack = 2;       ///< times that states cross to the host

Error bad_question(std::string_view where, std::string message) {
  return {ErrorCode::bad_input, std::string(where), std::move(message)};
}

class RlQuestion {
 public:
  RlQuestion(const RlQuery& query, const Knowledge& knowledge, const Patience& patience)
      : knowledge_(knowledge), patience_(patience) {
    out_.query = query;
  }

  Result<RlAnswer> run() {
    for (const auto step : {&RlQuestion::check, &RlQuestion::devices, &RlQuestion::lengths, &RlQuestion::engines}) {
      if (const Status s = (this->*step)(); !s) return s.error();
    }
    if (out_.refusal) return std::move(out_);
    for (const auto step : {&RlQuestion::trainers, &RlQuestion::drawing}) {
      if (const Status s = (this->*step)(); !s) return s.error();
      if (out_.refusal) return std::move(out_);
    }
    put_together();
    return std::move(out_);
  }

 private:
  template <class... Args>
  void assume(fmt::format_string<Args...> text, Args&&... args) {
    out_.assumptions.push_back(fmt::format(text, std::forward<Args>(args)...));
  }
  [[nodiscard]] bool apart() const { return out_.query.placement != RlPlacement::colocated; }
  [[nodiscard]] bool has_critic() const { return out_.query.algorithm == RlAlgorithm::ppo; }
  [[nodiscard]] bool has_reward_model() const { return !out_.query.reward_model.empty(); }
  [[nodiscard]] double updates() const { return std::ceil(out_.query.prompts / out_.query.mini_batch - 1e-9); }

  Status check() {
    RlQuery& q = out_.query;
    if (q.gpus < 1) return bad_question("gpus", "say how many devices, for example 32");
    if (const Result<Model> policy = knowledge_.catalogue.find_model(q.model)) {
      const bool hears = policy->cross_tokens() > 0;
      if (policy->embeds || hears) {
        return bad_question("model",
                            fmt::format("{} {}: reinforcement learning wants a model that writes answers", policy->id,
                                        hears ? "writes down what is said"
                                              : "gives a vector or a "
                                                "score"));
      }
    }
    if (!(q.staleness >= 0)) {
      return bad_question("staleness",
                          fmt::format("{} batches ahead cannot be: write 0 (answers of the present weights) or more, "
                                      "for example 0.5",
                                      format_number(q.staleness)));
    }
    if (q.samples <= 0) {
      q.samples = q.algorithm == RlAlgorithm::ppo ? 1 : q.algorithm == RlAlgorithm::online_dpo ? 2 : 16;
      assume("{} answer{} to each prompt", format_number(q.samples), q.samples == 1 ? "" : "s");
    }
    if (q.algorithm == RlAlgorithm::online_dpo && q.samples < 2) {
      return bad_question("samples", "online DPO compares two answers: write 2 or more");
    }
    if ((q.algorithm == RlAlgorithm::grpo || q.algorithm == RlAlgorithm::dapo) && q.samples < 2) {
      return bad_question("samples", fmt::format("{} compares the answers to a prompt with each other: write 2 or more",
                                                 name(q.algorithm)));
    }
    if (!(q.prompts >= 1) || !(q.prompts * q.samples * q.oversample <= kMostSamples)) {
      return bad_question("prompts", fmt::format("a step has 1 to {} answers", format_number(kMostSamples)));
    }
    if (!(q.oversample >= 1 && q.oversample <= 100)) return bad_question("oversample", "write 1 to 100");
    if (q.mini_batch <= 0) q.mini_batch = q.prompts;
    if (q.mini_batch > q.prompts) {
      assume("an update takes the {} prompts that a step has, not {}", format_number(q.prompts, 6),
             format_number(q.mini_batch, 6));
      q.mini_batch = q.prompts;
    }
    if (!q.reference) q.reference = q.algorithm != RlAlgorithm::dapo;
    if (q.reward_model.empty() && (q.algorithm == RlAlgorithm::ppo || q.algorithm == RlAlgorithm::online_dpo) &&
        q.verifier.seconds <= 0) {
      q.reward_model = q.model;
      assume("a reward model as large as the policy");
    }
    if (has_critic() && q.critic.empty()) {
      q.critic = q.model;
      assume("a critic as large as the policy");
    }
    return {};
  }

  Status devices() {
    RlQuery& q = out_.query;
    if (q.critic_gpus < 0 || q.critic_gpus >= q.gpus) {
      return bad_question("critic_gpus", fmt::format("{} of {} devices leave none for the policy: write 0 to {}",
                                                     q.critic_gpus, q.gpus, q.gpus - 1));
    }
    const int policy = q.gpus - q.critic_gpus;
    if (!apart()) {
      if (q.generators != 0 && q.generators != policy) {
        return bad_question("generators",
                            "colocated devices all draw and all train: leave it out, or place one-step-off");
      }
      out_.generators = out_.trainers = policy;
      return {};
    }
    if (q.generators == 0) {
      q.generators = std::max(1, policy / 2);
      assume("half of the devices draw");
    }
    if (q.generators < 1 || q.generators >= policy) {
      return bad_question("generators",
                          policy < 2 ? "one device cannot be two pools: place colocated"
                                     : fmt::format("{} of {} devices leave no pool to {}: write 1 to {}", q.generators,
                                                   policy, q.generators < 1 ? "draw" : "train", policy - 1));
    }
    out_.generators = q.generators;
    out_.trainers = policy - q.generators;
    return {};
  }

  Status lengths() {
    RlQuery& q = out_.query;
    if (q.answers.mean <= 0 && q.answers.shares.empty()) {
      q.answers.mean = usual_answer_tokens(q.answers.most);
      assumed_lengths_ = true;
      assume("answers of {} tokens on average", format_number(q.answers.mean, 4));
    }
    const Result<LengthDistribution> d = distribution_of(q.answers);
    if (!d) return d.error();
    answers_ = *d;
    moments_ = moments_of(answers_, q.prompt_tokens);
    const Result<Model> model = knowledge_.catalogue.find_model(q.model);
    if (model && model->context > 0 && q.prompt_tokens + answers_.high > model->context) {
      assume("{} was trained for {} tokens: a prompt and its longest answer are {}", model->id,
             format_number(model->context, 7), format_number(q.prompt_tokens + answers_.high, 7));
    }
    if (q.answers.shares.empty())
      assume("lengths vary by {} of their mean before they are cut", format_number(q.answers.cv));
    return {};
  }

  /// Tensor parallelism that leaves room for the cache beside the weights; 0 = whatever holds them.
  [[nodiscard]] int roomy_degree() const {
    const Result<Model> model = knowledge_.catalogue.find_model(out_.query.model);
    const Result<Device> device = knowledge_.catalogue.find_device(out_.query.device);
    if (!model || !device || !device->memory_capacity) return 0;
    const double bytes =
        count_parameters(*model).total * bytes_per_weight(out_.query.generation.weights.value_or(Format::bf16));
    const int node = device->node_size ? device->node_size->value : 1;
    int tp = 1;
    while (tp * 2 <= std::min(node, out_.generators) &&
           bytes / tp > kRoomyShare * device->memory_capacity->value.value()) {
      tp *= 2;
    }
    return tp;
  }

  /// What would do for an engine, said as what engines are asked by.
  static void of_engines(Refusal& refusal) {
    constexpr std::pair<std::string_view, std::string_view> kNames[] = {
        {"tp", "gen_tp"}, {"pp", "gen_pp"}, {"ep", "gen_ep"}, {"precision", "gen_precision"}};
    for (NearestPlan& plan : refusal.nearest) {
      std::erase_if(plan.changes, [](const auto& c) { return c.field == "gpus"; });
      for (auto& change : plan.changes) {
        for (const auto& [one, engines] : kNames) {
          if (change.field == one) change.field = engines;
        }
      }
    }
  }

  Status engines() {
    RlQuery& q = out_.query;
    InferenceQuery& g = q.generation;
    g.model = q.model;
    g.device = q.device;
    g.system = q.system;
    if (g.date.empty()) g.date = q.date;
    if (g.memory_utilization <= 0 && !apart()) {
      g.memory_utilization = kSharedMemory;
      assume("engines fill {:.0f} % of a device beside the sleeping trainer", 100 * kSharedMemory);
    }
    g.load = {.mode = LoadMode::offline,
              .isl = std::max(1.0, q.prompt_tokens),
              .osl = std::max(1.0, std::round(moments_.mean)),
              .natural_text = 1};
    if (!g.weights) {  // engines take the trainer's weights, whatever the checkpoint came in
      g.weights = Format::bf16;
      if (!g.activations) g.activations = Format::bf16;
    }
    const bool chosen = g.tp > 0;
    if (!chosen) g.tp = roomy_degree();
    if (g.tp > 0) g.gpus = g.tp * std::max(1, g.pp) * std::max(1, g.dp);
    Result<InferenceAnswer> found = ridge::answer(g, knowledge_, {.explain = false});
    if (!chosen && (!found || found->refusal)) {  // heads that do not divide: whatever holds the model
      g.tp = g.gpus = 0;
      found = ridge::answer(g, knowledge_, {.explain = false});
    }
    // A model that one scale-up domain does not hold is drawn from by a pipeline of them.
    for (int pp = 2; found && found->refusal && !chosen && g.pp <= 1 && pp <= kDeepestEngine; pp *= 2) {
      InferenceQuery deeper = found->query;
      deeper.pp = pp;
      deeper.gpus = deeper.tp * pp;
      Result<InferenceAnswer> other = ridge::answer(deeper, knowledge_, {.explain = false});
      if (other && !other->refusal) found = std::move(other);
    }
    if (!found) return found.error();
    out_.generation = found->facts;
    if (found->refusal) {
      out_.refusal = found->refusal;
      out_.refusal->why = "drawing: " + out_.refusal->why;
      of_engines(*out_.refusal);
      return {};
    }
    g = found->query;
    g.gpus = found->facts.gpus;
    if (!chosen) assume("engines of {} device{}", g.gpus, g.gpus == 1 ? "" : "s");
    for (const std::string& sentence : found->assumptions) {
      if (sentence.starts_with("engine")) assume("drawing: {}", sentence);
    }
    out_.engines = out_.generators / g.gpus;
    if (out_.engines < 1) {
      out_.refusal = Refusal{.reason = Reason::gpus_do_not_multiply,
                             .why = fmt::format("an engine takes {} devices, and {} draw", g.gpus, out_.generators),
                             .short_by = {},
                             .nearest = {{{{"generators", std::to_string(g.gpus)}}, "one engine"}}};
    }
    return {};
  }

  Result<rl::Passes> passes_of(const std::string& model, int gpus, bool policy) {
    const RlQuery& q = out_.query;
    TrainingQuery t = q.training;
    t.model = model;
    t.device = q.device;
    t.system = q.system;
    if (t.date.empty()) t.date = q.date;
    TrainingFreedom freedom = q.freedom;
    if (!policy) {  // another model on other devices has a layout of its own
      t.plan = {};
      freedom = {.tp = true, .pp = true, .ep = true, .micro_batch = true};
    }
    t.plan.gpus = gpus;
    if (q.lora_rank > 0) {
      t.task = TrainingTask::lora;
      t.lora_rank = q.lora_rank;
    } else if (t.task == TrainingTask::pretrain) {
      t.task = TrainingTask::sft;
    }
    const double sequence = q.prompt_tokens + moments_.mean;
    const rl::PassWork work{.sequences = q.prompts * q.samples,
                            .mean_tokens = sequence,
                            .attended = moments_.weighted,
                            .longest = q.prompt_tokens + answers_.high,
                            .updates = updates(),
                            .epochs = 1.0 * q.epochs,
                            .packing = q.packing};
    Result<rl::Passes> found = rl::passes(t, freedom, work, knowledge_);
    if (found && found->answer.refusal && found->answer.refusal->reason == Reason::out_of_memory &&
        !t.plan.offload_optimizer) {
      t.plan.offload_optimizer = true;
      Result<rl::Passes> lean = rl::passes(t, freedom, work, knowledge_);
      if (lean && !lean->answer.refusal) {
        assume("the optimizer of {} is on the host: it does not fit the devices", model);
        return lean;
      }
    }
    return found;
  }

  Status trainers() {
    RlQuery& q = out_.query;
    Result<rl::Passes> policy = passes_of(q.model, out_.trainers, true);
    if (!policy) return policy.error();
    policy_ = *std::move(policy);
    out_.training = policy_.answer.facts;
    if (policy_.answer.refusal) {
      out_.refusal = policy_.answer.refusal;
      out_.refusal->why = "training: " + out_.refusal->why;
      return {};
    }
    q.training = policy_.answer.query;
    out_.recompute = policy_.answer.outcome.estimate.recompute;
    out_.training.dp = q.training.plan.dp;
    const int beside = q.critic_gpus > 0 ? q.critic_gpus : out_.trainers;
    const auto other = [&](const std::string& model, const char* what, rl::Passes& into) -> Status {
      Result<rl::Passes> p = passes_of(model, beside, false);
      if (!p) return p.error();
      into = *std::move(p);
      if (into.answer.refusal) {
        out_.refusal = into.answer.refusal;
        out_.refusal->why = fmt::format("{}: {}", what, out_.refusal->why);
      }
      return {};
    };
    if (has_critic()) {
      if (const Status s = other(q.critic, "critic", critic_); !s) return s;
    }
    if (has_reward_model() && !out_.refusal) {
      if (const Status s = other(q.reward_model, "reward model", reward_); !s) return s;
    }
    return {};
  }

  Status drawing() {
    const RlQuery& q = out_.query;
    const Result<InferenceDeployment> deployment = resolve(q.generation, knowledge_);
    if (!deployment) return deployment.error();
    rl::DrawingQuestion question{.engines = out_.engines,
                                 .prompts = std::ceil(q.prompts * q.oversample),
                                 .samples = q.samples,
                                 .prompt_tokens = q.prompt_tokens,
                                 .answers = answers_,
                                 .verifier = q.verifier,
                                 .batching = q.batching,
                                 .ahead = {}};
    if (q.placement == RlPlacement::asynchronous) question.ahead = q.staleness;
    const Result<rl::Drawing> d = rl::draw(question, q.generation, *deployment, patience_);
    if (!d && d.error().code == ErrorCode::infeasible) {
      out_.refusal = Refusal{
          .reason = Reason::out_of_memory, .why = "drawing: " + d.error().message, .short_by = {}, .nearest = {}};
      return {};
    }
    if (!d) return d.error();
    drawing_ = *d;
    return {};
  }

  /// Bytes of new weights that an engine takes, and the slowest link they cross.
  void weights(RlParts& parts) const {
    const RlQuery& q = out_.query;
    const Result<Model> model = knowledge_.catalogue.find_model(q.model);
    const Result<Device> device = knowledge_.catalogue.find_device(out_.generation.device);
    if (!model || !device) return;
    const double total = count_parameters(*model).total;
    // An adapter of rank r beside a matrix of m x n has r (m + n) weights: 2 r / hidden of it where both are hidden.
    parts.weight_bytes = q.lora_rank > 0
                             ? total * kAdapterBytes * std::min(1.0, 2.0 * q.lora_rank / std::max(1, model->hidden))
                             : total * bytes_per_weight(out_.generation.weights);
    const int domain = device->scale_up_domain ? device->scale_up_domain->value : 1;
    const double network = device->nic_per_direction ? device->nic_per_direction->value.value() : kUsualNetwork;
    // A node takes one copy through all of its ports and spreads it over the scale-up links.
    const int node = device->node_size ? device->node_size->value : 1;
    const double up = device->scale_up_per_direction ? device->scale_up_per_direction->value.value() : network * node;
    parts.weight_link = q.gpus == 1        ? device->memory_bandwidth->value.value()
                        : q.gpus <= domain ? up
                                           : std::min(up, network * node);
    if (!apart()) {
      parts.swap_bytes = kThereAndBack * policy_.state_bytes;
      parts.swap_link = perf::pcie_bandwidth(*device);
    }
  }

  void put_together() {
    const RlQuery& q = out_.query;
    auto parts = std::make_shared<RlParts>();
    parts->placement = q.placement;
    parts->staleness = q.staleness;
    parts->partial = q.partial;
    parts->critic_apart = q.critic_gpus > 0;
    parts->gpus = q.gpus;
    parts->generators = out_.generators;
    parts->trainers = out_.trainers;
    parts->engine_gpus = q.generation.gpus;
    parts->tokens = q.prompts * q.samples * (q.prompt_tokens + moments_.mean);
    parts->padded_bytes = q.prompts * q.samples * (q.prompt_tokens + answers_.high) * kPaddedBytes;
    parts->updates = updates() * q.epochs;
    parts->drawing = drawing_;
    parts->policy_forward_s = q.old_log_probs ? policy_.forward_s : 0;
    parts->reference_forward_s = *q.reference ? policy_.forward_s : 0;
    parts->policy_training_s = policy_.training_s;
    parts->critic_forward_s = critic_.forward_s;
    parts->critic_training_s = critic_.training_s;
    parts->reward_forward_s = reward_.forward_s;
    parts->assumed_lengths = assumed_lengths_;
    weights(*parts);
    out_.estimate = rl::compose(*parts, rl::factors_of(knowledge_.calibration));
    out_.parts = std::move(parts);
  }

  const Knowledge& knowledge_;
  const Patience& patience_;
  RlAnswer out_;
  LengthDistribution answers_;
  LengthMoments moments_;
  bool assumed_lengths_ = false;
  rl::Passes policy_, critic_, reward_;
  rl::Drawing drawing_;
};

}  // namespace

std::string_view name(RlAlgorithm algorithm) {
  constexpr std::string_view kNames[] = {"grpo", "dapo", "ppo", "online-dpo"};
  return kNames[static_cast<std::size_t>(algorithm)];
}

std::string_view name(RlPlacement placement) {
  constexpr std::string_view kNames[] = {"colocated", "one-step-off", "async"};
  return kNames[static_cast<std::size_t>(placement)];
}

std::string_view name(RlPhase phase) {
  constexpr std::string_view kNames[] = {"generation", "reward", "log-probs", "reference", "values",
                                         "training",   "critic", "weights",   "swap",      "other"};
  return kNames[static_cast<std::size_t>(phase)];
}

Result<RlAnswer> answer(const RlQuery& query, const Knowledge& knowledge, const RlOptions& options) {
  Result<RlAnswer> found = RlQuestion(query, knowledge, options.patience).run();
  if (found && !found->refusal && options.suggest) {
    found->suggestions = rl::suggestions(query, *found, knowledge, options.patience);
  }
  return found;
}

}  // namespace ridge
