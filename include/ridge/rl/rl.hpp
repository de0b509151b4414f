// Reinforcement learning of a language model: one step by phase, who waits for whom, and which split balances.
//
//   RlQuery q;
//   q.model = "qwen2.5-7b"; q.device = "h100-sxm"; q.gpus = 32;
//   q.prompts = 512; q.samples = 16;
//   q.answers = {.mean = 2000, .most = 20480};
//   Result<RlAnswer> a = answer(q, knowledge);
//   if (a->refusal) say(a->refusal->why);
//   else use(a->estimate.step_s.mid, a->estimate.phase(RlPhase::generation).mid, a->estimate.balanced_generators);
//
// A step draws `prompts` x `samples` answers, judges them, passes them through the policy (and a reference, and a
// critic) for log-probabilities, trains on them and moves the new weights to the engines that draw. Answers are drawn
// by the serving simulator, engine by engine, with a length of its own for each; passes and training are those of
// ridge/perf/training.hpp at the length that gives the same attention; weights cross the slowest link between the two
// layouts. What reinforcement learning makes of these is five parameters of data/calibration/rl.toml.
//
// Pure; any thread. Refuses (bad_input, not_found) names that do not exist, lengths that are no distribution, a pool of
// zero devices, staleness below zero. A plan that does not fit is an answer with `refusal`.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ridge/base/patience.hpp"
#include "ridge/perf/answer.hpp"
#include "ridge/perf/inference.hpp"
#include "ridge/perf/training_answer.hpp"
#include "ridge/serve/simulation.hpp"
#include "ridge/serve/workload.hpp"

namespace ridge {

enum class RlAlgorithm : std::uint8_t {
  grpo,        ///< groups of answers to one prompt stand in for a critic; a reference holds the policy
  dapo,        ///< the same without reference; prompts whose answers are all alike may be drawn again (`oversample`)
  ppo,         ///< a critic is trained beside the policy, a reward model judges
  online_dpo,  ///< pairs of answers, judged; the loss is against the reference
};
enum class RlPlacement : std::uint8_t {
  colocated,     ///< the same devices draw, then train: states are swapped, weights resharded
  one_step_off,  ///< two pools: the next step's answers are drawn while this one trains
  asynchronous,  ///< two pools: answers flow, at most `staleness` batches ahead of the weights
};
[[nodiscard]] std::string_view name(RlAlgorithm algorithm);
[[nodiscard]] std::string_view name(RlPlacement placement);

/// Tokens of an answer. A log-normal distribution cut at `most`, whose mean after the cut is `mean`; or shares.
struct AnswerLengths {
  double mean = 0;     ///< 0 = usual_answer_tokens(most)
  double cv = 0.8;     ///< standard deviation over mean, before the cut
  double most = 4096;  ///< where an answer is cut
  struct Share {
    double tokens = 0;  ///< the greatest length of this part; lengths are even from the part before
    double share = 0;
  };
  std::vector<Share> shares = {};  ///< instead of mean and cv; they add up to 1
};
/// Where nobody says: half of what an answer may have, and at most 1,500 tokens, about what models write on
/// mathematics before training lengthens it.
[[nodiscard]] double usual_answer_tokens(double most);
/// "512:0.5,2048:0.3,8192:0.2": half of the answers have up to 512 tokens. Refuses what is unsorted or does not add up.
Result<std::vector<AnswerLengths::Share>> parse_length_shares(std::string_view text);
/// What the simulator draws from. Refuses (bad_input) a mean that the cut does not allow and shares that do not add up.
Result<LengthDistribution> distribution_of(const AnswerLengths& lengths);
/// The mean, and the length at which all answers together have the same attention: E[L²]/E[L].
struct LengthMoments {
  double mean = 0;
  double weighted = 0;
  double at_most = 0;  ///< share that is cut
};
[[nodiscard]] LengthMoments moments_of(const LengthDistribution& lengths, double prompt);

/// What judges answers besides models: a rule, or sandboxes that run code.
struct Verifier {
  double seconds = 0;   ///< of one answer
  double parallel = 0;  ///< so many at once; 0 = all
};

struct RlQuery {
  std::string model;
  std::string device;
  std::string system;
  std::string date;  ///< of the software; empty = newest
  int gpus = 0;
  RlAlgorithm algorithm = RlAlgorithm::grpo;
  RlPlacement placement = RlPlacement::colocated;
  int generators = 0;    ///< devices that draw, where pools are apart; 0 = half
  double staleness = 1;  ///< asynchronous: batches that answers may be ahead of the weights
  bool partial = false;  ///< asynchronous: answers go on with new weights instead of being waited for
  double prompts = 128;  ///< of one step
  double samples = 0;    ///< answers to each; 0 = 16, PPO 1, online DPO 2
  double prompt_tokens = 256;
  AnswerLengths answers;
  double oversample = 1;          ///< answers drawn for each that is trained on (dynamic sampling)
  double mini_batch = 0;          ///< prompts of one update of the weights; 0 = all of them
  int epochs = 1;                 ///< times a step trains on its answers
  std::optional<bool> reference;  ///< log-probabilities of a frozen copy; empty = all but DAPO
  bool old_log_probs = true;      ///< the policy's own are computed again; false: those of the engine are taken
  bool packing = true;            ///< sequences fill a row; false: each is padded to the longest
  std::string critic;             ///< PPO; empty = a copy of the policy
  std::string reward_model;       ///< judges; empty = none, PPO and online DPO: a copy of the policy
  int critic_gpus = 0;  ///< devices apart for critic and reward model, of `gpus`; 0 = they share the trainers'
  Verifier verifier;
  int lora_rank = 0;                       ///< adapters are trained, and moved, alone; 0 = all weights
  double steps = 0;                        ///< of the whole run, 0 = not asked
  std::optional<BatchingPolicy> batching;  ///< of the engines; empty = their own
  InferenceQuery generation;  ///< layout and formats of one engine; model, device and load are set from the above
  TrainingQuery training;     ///< layout of the trainers; model, device, lengths and batches are set from the above
  TrainingFreedom freedom{.tp = true, .pp = true, .ep = true, .micro_batch = true};  ///< of the trainers' layout
};

enum class RlPhase : std::uint8_t {
  generation,  ///< the whole batch, with its tail
  reward,      ///< what is left to judge once the last answer is there; reward models
  log_probs,   ///< forward pass of the policy
  reference,   ///< of the frozen copy
  values,      ///< of the critic
  training,
  critic,   ///< its training
  weights,  ///< to the engines
  swap,     ///< training state to host memory and back, where devices are shared
  other,    ///< what no model explains: batches handed around, advantages, logs
};
inline constexpr std::size_t kRlPhases = 10;
[[nodiscard]] std::string_view name(RlPhase phase);

/// Where a phase stands in a step: for a timeline. Pool 0 trains (or does all), 1 draws, 2 is a critic apart.
struct RlSpan {
  RlPhase phase = RlPhase::generation;
  int pool = 0;
  double start = 0;
  double seconds = 0;
};

struct RlEstimate {
  Interval step_s;
  std::array<Interval, kRlPhases> phases_s{};  ///< each on its own pool; those of pools apart overlap
  [[nodiscard]] const Interval& phase(RlPhase p) const { return phases_s[static_cast<std::size_t>(p)]; }
  std::vector<RlSpan> timeline;
  double tokens = 0;              ///< trained on in a step, prompts included
  Interval tokens_per_s_per_gpu;  ///< of all devices
  double updates = 1;
  double trainers_idle = 0;     ///< share of the step; colocated: of all devices, in the tail of drawing
  double generators_idle = 0;   ///< where pools are apart
  double tail_share = 0;        ///< of the drawing, after nine in ten answers were there
  double mean_running = 0;      ///< sequences per engine
  double wait_s = 0;            ///< trainers for answers, where pools are apart
  int balanced_generators = 0;  ///< devices that should draw, so that neither pool waits
  RlPhase binds = RlPhase::generation;
  double weight_bytes = 0;  ///< that reach each engine
};

/// What a step is put together from (src/rl/compose.hpp).
struct RlParts;

struct RlAnswer {
  RlQuery query;                                  ///< with every choice made
  int engines = 0, generators = 0, trainers = 0;  ///< colocated: both are all devices
  DeploymentFacts generation;
  TrainingFacts training;
  Recompute recompute = Recompute::none;  ///< of the policy's passes, as evaluated
  RlEstimate estimate;
  std::vector<Suggestion> suggestions;  ///< best first, at most three; gain in steps per second
  std::vector<std::string> assumptions;
  std::optional<Refusal> refusal;
  std::shared_ptr<const RlParts> parts;  ///< to be put together with other factors
};

struct RlOptions {
  bool suggest = true;     ///< some dozen other plans are answered too
  Patience patience = {};  ///< once it is over nothing more is suggested, and an answer is refused (refused)
};
Result<RlAnswer> answer(const RlQuery& query, const Knowledge& knowledge, const RlOptions& options = {});

/// Placements and splits of the query's devices, the fastest step first; those that cannot run are left out. Every
/// staleness and layout that the query says is kept. Refuses what answer() refuses.
Result<std::vector<RlAnswer>> plan_rl(const RlQuery& query, const Knowledge& knowledge, const Patience& patience = {});

// --- launch files ---------------------------------------------------------------------------------------------------

enum class RlFramework : std::uint8_t { verl, nemo_rl, openrlhf };
[[nodiscard]] std::string_view name(RlFramework framework);
/// "verl", "nemo-rl", "openrlhf"; nothing for other words.
[[nodiscard]] std::optional<RlFramework> parse_rl_framework(std::string_view text);

struct RlFile {
  std::string name;  ///< "verl.sh", "nemo-rl.yaml"
  std::string text;
};
/// The configuration that runs an answer: `checkpoint` is what the framework loads (a repository or a path). Data and
/// rewards are left as variables that the script asks for. Refuses (refused) an answer that cannot run and what the
/// framework has no words for, with one that has. `per_node` are the devices of one node, where a pool has as many.
Result<std::vector<RlFile>> emit_rl(const RlAnswer& answer, RlFramework framework, const std::string& checkpoint,
                                    int per_node = 8);

}  // namespace ridge
