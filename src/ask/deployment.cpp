// The fields of a deployment and of a training job. A new one is a line here.
#include <fmt/format.h>

#include <cmath>

#include "ask/member.hpp"
#include "ask/simulation.hpp"

namespace ridge::ask {

namespace {

constexpr unsigned kServing = kInfer | kTechniques | kCompare;
constexpr unsigned kDeployment = kServing | kSimulate;
constexpr unsigned kAll = kDeployment | kTrain | kFit | kDiffusion | kRl;

constexpr double kMostDevices = 1'000'000;  // of one plan
constexpr double kMostBought = 10'000'000;  // that a cost may be of
constexpr double kMostTokens = 1e8;
constexpr double kMostSequences = 1e7;
constexpr double kMostBatch = 1e8;
constexpr double kMostFactor = 1000;

template <auto Of>
constexpr auto plan_at(bool always = false) {
  return at<&TrainingQuery::plan, Of>(always);
}
template <auto Of>
constexpr auto load_at(bool always = false) {
  return at<&InferenceQuery::load, Of>(always);
}
template <auto Of>
constexpr auto cluster_at() {
  return at<&TrainingQuery::cluster, Of>();
}

/// Formats that are stored narrow and always widened for the product: "w4a16".
bool for_weights_alone(Format f) {
  return f == Format::int4 || f == Format::mxfp4 || is_gguf(f);
}

bool one_format(const InferenceQuery& q) {
  return q.weights && q.activations == q.weights && !for_weights_alone(*q.weights);
}

constexpr Member<InferenceQuery> kPrecision = {
    .get = [](const InferenceQuery& q) { return one_format(q) ? as_number(q.weights) : kNothing; },
    .set =
        [](InferenceQuery& q, double value) {
          assign(q.weights, value);
          if (!for_weights_alone(*q.weights)) q.activations = q.weights;
        }};
constexpr Member<InferenceQuery> kWeights = {
    .get = [](const InferenceQuery& q) { return one_format(q) ? kNothing : as_number(q.weights); },
    .set = [](InferenceQuery& q, double value) { assign(q.weights, value); }};
constexpr Member<InferenceQuery> kActivations = {
    .get = [](const InferenceQuery& q) { return one_format(q) ? kNothing : as_number(q.activations); },
    .set = [](InferenceQuery& q, double value) { assign(q.activations, value); }};

// Whoever says a batch, clients, offline or prefill says which kind of load it is.
constexpr Member<InferenceQuery> kOsl = {
    .get = [](const InferenceQuery& q) { return q.load.mode == LoadMode::prefill ? kNothing : q.load.osl; },
    .set = [](InferenceQuery& q, double value) { q.load.osl = value; },
    .always = true};
constexpr Member<InferenceQuery> kPrefill = {
    .get = [](const InferenceQuery& q) { return q.load.mode == LoadMode::prefill ? 1.0 : kNothing; },
    .set =
        [](InferenceQuery& q, double value) {
          if (value == 0) return;
          q.load.mode = LoadMode::prefill;
          q.load.osl = 1;
        },
    .always = true};
constexpr Member<InferenceQuery> kOffline = {
    .get = [](const InferenceQuery& q) { return q.load.mode == LoadMode::offline ? 1.0 : kNothing; },
    .set =
        [](InferenceQuery& q, double value) {
          if (value != 0) q.load.mode = LoadMode::offline;
        },
    .always = true};
constexpr Member<InferenceQuery> kBatch = {.get =
                                               [](const InferenceQuery& q) {
                                                 const bool said =
                                                     q.load.mode == LoadMode::fixed_batch ||
                                                     (q.load.mode == LoadMode::prefill && q.load.batch > 1);
                                                 return said ? q.load.batch : kNothing;
                                               },
                                           .set =
                                               [](InferenceQuery& q, double value) {
                                                 q.load.batch = value;
                                                 if (q.load.mode != LoadMode::prefill)
                                                   q.load.mode = LoadMode::fixed_batch;
                                               },
                                           .always = true};
constexpr Member<InferenceQuery> kConcurrency = {
    .get = [](const InferenceQuery& q) { return q.load.mode == LoadMode::closed_loop ? q.load.concurrency : kNothing; },
    .set =
        [](InferenceQuery& q, double value) {
          q.load.concurrency = value;
          q.load.mode = LoadMode::closed_loop;
        },
    .always = true};
constexpr Member<InferenceQuery> kAcceptance = {
    .get = [](const InferenceQuery& q) { return q.load.draft_tokens > 0 ? q.load.acceptance : kNothing; },
    .set = [](InferenceQuery& q, double value) { q.load.acceptance = value; },
    .always = true};

// How tokens reach their experts; left out, the engine's own way.
constexpr Member<InferenceQuery> kDispatch = {
    .get =
        [](const InferenceQuery& q) {
          return q.experts.exchange ? static_cast<double>(static_cast<int>(*q.experts.exchange)) : kNothing;
        },
    .set = [](InferenceQuery& q,
              double value) { q.experts.exchange = static_cast<ExpertExchange>(static_cast<int>(value)); },
    .always = true};
constexpr Member<InferenceQuery> kRedundantExperts = {
    .get = [](const InferenceQuery& q) { return q.experts.redundant >= 0 ? 1.0 * q.experts.redundant : kNothing; },
    .set = [](InferenceQuery& q, double value) { q.experts.redundant = static_cast<int>(value); },
    .always = true};
constexpr Member<InferenceQuery> kTwoBatches = {
    .get =
        [](const InferenceQuery& q) { return q.experts.two_batches ? (*q.experts.two_batches ? 1.0 : 0.0) : kNothing; },
    .set = [](InferenceQuery& q, double value) { q.experts.two_batches = value != 0; },
    .always = true};
constexpr Member<InferenceQuery> kRebalanced = {
    .get =
        [](const InferenceQuery& q) { return q.experts.rebalanced ? (*q.experts.rebalanced ? 1.0 : 0.0) : kNothing; },
    .set = [](InferenceQuery& q, double value) { q.experts.rebalanced = value != 0; },
    .always = true};

/// "fp8-block" is fp8 with a scale per block.
constexpr Member<TrainingQuery> kTrainingPrecision = {.read = [](std::string_view text, TrainingQuery& q) -> Status {
                                                        const Result<Format> format = parse_format(text);
                                                        if (!format) return format.error();
                                                        q.precision = *format;
                                                        q.block_scales = text == "fp8-block";
                                                        return {};
                                                      },
                                                      .write = [](const TrainingQuery& q) -> std::string {
                                                        if (!q.precision) return {};
                                                        return q.block_scales ? "fp8-block"
                                                                              : std::string(name(*q.precision));
                                                      }};
constexpr Member<TrainingQuery> kLoraRank = {
    .get = [](const TrainingQuery& q) { return q.task == TrainingTask::lora ? 1.0 * q.lora_rank : kNothing; },
    .set = [](TrainingQuery& q, double value) { q.lora_rank = static_cast<int>(value); },
    .always = true};
constexpr Member<TrainingQuery> kFrozen = {.read = [](std::string_view text, TrainingQuery& q) -> Status {
                                             const Result<Format> format = parse_format(text);
                                             if (!format) return format.error();
                                             q.frozen = *format;
                                             return {};
                                           },
                                           .write = [](const TrainingQuery& q) -> std::string {
                                             return q.frozen ? std::string(name(*q.frozen)) : std::string();
                                           }};
constexpr Member<TrainingQuery> kShardGroup = {
    .get =
        [](const TrainingQuery& q) {
          const bool said = q.plan.sharding == Sharding::hsdp && q.plan.shard_group > 0;
          return said ? 1.0 * q.plan.shard_group : kNothing;
        },
    .set = [](TrainingQuery& q, double value) { q.plan.shard_group = static_cast<int>(value); }};

template <class E>
Result<int> number_of(const Result<E>& parsed) {
  if (!parsed) return parsed.error();
  return static_cast<int>(*parsed);
}
Result<int> sharding_number(std::string_view text) {
  return number_of(parse_sharding(text));
}
Result<int> recompute_number(std::string_view text) {
  return number_of(parse_recompute(text));
}
Result<int> task_number(std::string_view text) {
  return number_of(parse_training_task(text));
}

template <class E>
constexpr Word word(std::string_view text, E value) {
  return {text, static_cast<int>(value)};
}
constexpr Word kShardings[] = {word("none", Sharding::none),   word("zero1", Sharding::zero1),
                               word("zero2", Sharding::zero2), word("zero3", Sharding::zero3),
                               word("hsdp", Sharding::hsdp),   word("unknown", Sharding::unknown)};
constexpr Word kRecomputes[] = {word("none", Recompute::none), word("selective", Recompute::selective),
                                word("full", Recompute::full), word("unknown", Recompute::unknown)};
constexpr Word kTasks[] = {word("pretrain", TrainingTask::pretrain), word("sft", TrainingTask::sft),
                           word("lora", TrainingTask::lora)};
constexpr Word kSchedules[] = {word("1f1b", Schedule::one_f_one_b), word("interleaved", Schedule::interleaved),
                               word("zero-bubble", Schedule::zero_bubble), word("dualpipe", Schedule::dual_pipe),
                               word("dual-pipe", Schedule::dual_pipe)};
constexpr Word kContexts[] = {word("ring", ContextParallel::ring), word("all-gather", ContextParallel::all_gather),
                              word("ulysses", ContextParallel::ulysses)};
constexpr Word kReductions[] = {word("none", SwitchReduction::none), word("nvls", SwitchReduction::scale_up),
                                word("sharp", SwitchReduction::scale_out), word("both", SwitchReduction::both)};
constexpr Word kOptimizers[] = {word("adamw", Optimizer::adamw), word("adamw-8bit", Optimizer::adamw_8bit),
                                word("paged-adamw", Optimizer::paged_adamw),
                                word("paged-adamw-8bit", Optimizer::paged_adamw_8bit)};
constexpr Word kOrders[] = {word("tp-cp-ep-dp-pp", RankOrder::data_before_pipeline),
                            word("tp-cp-ep-pp-dp", RankOrder::pipeline_before_data)};
constexpr Word kExchanges[] = {word("gather", ExpertExchange::gather), word("kernels", ExpertExchange::dispatch),
                               word("low-latency", ExpertExchange::low_latency),
                               word("throughput", ExpertExchange::throughput)};
constexpr Word kSwitches[] = {{"on", 1}, {"off", 0}};
constexpr Word kScalings[] = {{"weak", 0}, {"strong", 1}};

constexpr bool kAlways = true;

// clang-format off
constexpr Field kFields[] = {
    {.key = "model", .value_name = "M", .help = "catalogue id, path of a config.json, or written out: dense:layers=32,...", .verbs = kAll | kEmit | kSite,
     .takes = Takes::model, .infer = name_at<&InferenceQuery::model>(), .train = name_at<&TrainingQuery::model>()},
    {.key = "device", .value_name = "D", .help = "device id, or a share of one: h100-sxm/mig-3g.40gb; compare, fit: a list: a,b", .verbs = kAll | kEmit | kSite,
     .takes = Takes::device, .infer = name_at<&InferenceQuery::device>(), .train = name_at<&TrainingQuery::device>()},
    {.key = "system", .value_name = "S", .help = "server, rack or pod of the catalogue, instead of --device", .verbs = kDeployment | kTrain | kRl | kEmit | kSite,
     .takes = Takes::system, .infer = name_at<&InferenceQuery::system>(), .train = name_at<&TrainingQuery::system>()},
    {.key = "gpus", .value_name = "N", .help = "number of devices; serving: left out, the number that gives most per device", .verbs = kDeployment | kTrain | kDiffusion | kRl | kEmit | kSite,
     .takes = Takes::whole, .low = 1, .high = kMostBought, .infer = at<&InferenceQuery::gpus>(), .train = plan_at<&TrainingPlan::gpus>(kAlways)},
    {.key = "tp", .value_name = "N", .help = "tensor parallelism: devices that split each layer (default: chosen)", .verbs = kDeployment | kTrain | kRl | kEmit | kSite,
     .takes = Takes::whole, .low = 1, .high = kMostDevices, .infer = at<&InferenceQuery::tp>(), .train = plan_at<&TrainingPlan::tp>(kAlways)},
    {.key = "pp", .value_name = "N", .help = "pipeline parallelism: stages (default: chosen)", .verbs = kDeployment | kTrain | kRl | kEmit | kSite,
     .takes = Takes::whole, .low = 1, .high = kMostDevices, .infer = at<&InferenceQuery::pp>(), .train = plan_at<&TrainingPlan::pp>(kAlways)},
    {.key = "ep", .value_name = "N", .help = "expert parallelism: ranks that share the experts of a layer (default: chosen)", .verbs = kDeployment | kTrain | kRl | kEmit | kSite,
     .takes = Takes::whole, .low = 1, .high = kMostDevices, .infer = at<&InferenceQuery::ep>(), .train = plan_at<&TrainingPlan::ep>(kAlways)},
    {.key = "dp", .value_name = "N", .help = "data parallelism; with experts, attention ranks around them (default: chosen)", .verbs = kDeployment | kTrain | kEmit | kSite,
     .takes = Takes::whole, .low = 1, .high = kMostDevices, .infer = at<&InferenceQuery::dp>(), .train = plan_at<&TrainingPlan::dp>()},
    {.key = "dispatch", .value_name = "HOW", .help = "how tokens reach experts on other ranks: gather, kernels, low-latency or throughput (default: the engine's way)", .verbs = kDeployment | kEmit,
     .takes = Takes::word, .words = kExchanges, .infer = kDispatch},
    {.key = "redundant_experts", .value_name = "N", .help = "extra copies of experts per layer, to balance ranks (default: the engine's)", .verbs = kDeployment | kEmit,
     .takes = Takes::whole, .low = 0, .high = 4096, .infer = kRedundantExperts},
    {.key = "two_batch_overlap", .value_name = "on|off", .help = "hide the all-to-all of half a batch behind the other half (default: the engine's)", .verbs = kDeployment | kEmit,
     .takes = Takes::word, .words = kSwitches, .infer = kTwoBatches},
    {.key = "eplb", .value_name = "on|off", .help = "place experts by their load (default: the engine's)", .verbs = kDeployment | kEmit,
     .takes = Takes::word, .words = kSwitches, .infer = kRebalanced},
    {.key = "precision", .value_name = "F", .help = "precision of weights and activations: bf16, fp16, fp8, int8, int4, awq, mxfp4, nvfp4 (default: the model's)", .verbs = kAll | kEmit | kSite,
     .takes = Takes::format, .infer = kPrecision, .train = kTrainingPrecision},
    {.key = "weight_precision", .value_name = "F", .help = "precision of the weights alone (default: --precision)", .verbs = kDeployment | kEmit, .takes = Takes::format, .infer = kWeights},
    {.key = "activation_precision", .value_name = "F", .help = "precision of the activations alone (default: --precision)", .verbs = kDeployment | kEmit, .takes = Takes::format, .infer = kActivations},
    {.key = "kv_precision", .value_name = "F", .help = "precision of the KV cache: bf16, fp8, int8 (default: the engine's)", .verbs = kDeployment | kFit | kRl | kEmit,
     .takes = Takes::format, .infer = at<&InferenceQuery::kv>()},
    {.key = "engine", .value_name = "E", .help = "serving: vllm (default), trtllm, sglang, pytorch, ideal (datasheet peaks only), ...; training: megatron (default), hf-peft (default for adapters), nemo, fsdp, ...", .verbs = kAll | kEmit | kSite,
     .takes = Takes::engine, .infer = name_at<&InferenceQuery::engine>(), .train = name_at<&TrainingQuery::engine>()},
    {.key = "engine_version", .value_name = "V", .help = "release of the engine: 0.12 (default: the newest known)", .verbs = kDeployment | kTrain | kEmit | kSite,
     .takes = Takes::release, .infer = name_at<&InferenceQuery::engine_version>(), .train = name_at<&TrainingQuery::engine_version>()},
    {.key = "isl", .value_name = "TOKENS", .help = "input tokens per request (default: 1024)", .verbs = kDeployment | kFit | kEmit,
     .takes = Takes::count, .low = 0, .high = kMostTokens, .infer = load_at<&InferenceLoad::isl>(kAlways)},
    {.key = "osl", .value_name = "TOKENS", .help = "output tokens per request (default: 256)", .verbs = kDeployment | kFit | kEmit,
     .takes = Takes::count, .low = 1, .high = kMostTokens, .infer = kOsl},
    {.key = "batch", .value_name = "B", .help = "serving: fixed batch of B sequences that start together and run to the end; images: images per call", .verbs = kServing | kDiffusion | kEmit,
     .takes = Takes::whole, .low = 1, .high = kMostSequences, .infer = kBatch},
    {.key = "concurrency", .value_name = "C", .help = "closed loop of C clients: each sends its next request when the last has ended (estimate: 32)", .verbs = kDeployment | kEmit,
     .takes = Takes::count, .low = 1, .high = kMostSequences, .infer = kConcurrency},
    {.key = "offline", .value_name = "", .help = "all requests are there at once; the engine chooses the batch", .verbs = kDeployment | kEmit,
     .takes = Takes::on, .infer = kOffline},
    {.key = "prefill", .value_name = "", .help = "prefill alone, nothing is decoded; --batch sets how many prompts together", .verbs = kInfer | kCompare,
     .takes = Takes::on, .infer = kPrefill},
    {.key = "prefix_hit", .value_name = "SHARE", .help = "share of the input found in the prefix cache: 0.5 or 50% (default: 0)", .verbs = kDeployment | kEmit,
     .takes = Takes::share, .infer = load_at<&InferenceLoad::prefix_hit>()},
    {.key = "draft_tokens", .value_name = "N", .help = "speculative decoding: tokens proposed per step (default: none)", .verbs = kDeployment | kEmit,
     .takes = Takes::whole, .low = 0, .high = 64, .infer = load_at<&InferenceLoad::draft_tokens>()},
    {.key = "acceptance", .value_name = "SHARE", .help = "share of the proposed tokens that are accepted (default: 70%)", .verbs = kDeployment | kEmit, .takes = Takes::share, .infer = kAcceptance},
    {.key = "lora_rank", .value_name = "R", .help = "rank of LoRA adapters; serving: they are applied beside the weights", .verbs = kDeployment | kTrain | kRl | kEmit | kSite,
     .takes = Takes::whole, .low = 1, .high = 4096, .infer = at<&InferenceQuery::lora_rank>(), .train = kLoraRank},
    {.key = "power_cap", .value_name = "W", .help = "power limit of each device: 500W (default: the board's)", .verbs = kDeployment | kTrain | kDiffusion | kEmit | kSite,
     .takes = Takes::watts, .infer = at<&InferenceQuery::power_cap>(), .train = at<&TrainingQuery::power_cap>()},
    {.key = "max_batched_tokens", .value_name = "N", .help = "most tokens in an engine step (default: the engine's)", .verbs = kDeployment | kEmit,
     .takes = Takes::whole, .low = 1, .high = 1e7, .infer = at<&InferenceQuery::max_batched_tokens>()},
    {.key = "max_num_seqs", .value_name = "N", .help = "most requests that run at once in an engine (default: the engine's)", .verbs = kDeployment | kRl | kEmit,
     .takes = Takes::whole, .low = 1, .high = 1e6, .infer = at<&InferenceQuery::max_sequences>()},
    {.key = "gpu_memory_utilization", .value_name = "SHARE", .help = "share of the device's memory that the engine may use (default: the engine's)", .verbs = kDeployment | kRl | kEmit,
     .takes = Takes::share, .infer = at<&InferenceQuery::memory_utilization>()},
    {.key = "cpu_offload_gb", .value_name = "GIB", .help = "GiB of weights of each device kept in host memory, as vLLM counts them (default: 0)", .verbs = kDeployment | kEmit,
     .takes = Takes::gibibytes, .low = 0, .high = 1e5, .infer = at<&InferenceQuery::cpu_offload>()},
    {.key = "vp", .value_name = "N", .help = "virtual pipeline stages per device (interleaved schedule)", .verbs = kTrain | kEmit | kSite,
     .takes = Takes::whole, .low = 1, .high = kMostDevices, .train = plan_at<&TrainingPlan::vp>()},
    {.key = "cp", .value_name = "N", .help = "training: context parallelism (default: 1); serving: with --lengths, ranks that share the tokens of a prompt", .verbs = kInfer | kTrain | kRl | kEmit | kSite,
     .takes = Takes::whole, .low = 1, .high = kMostDevices, .train = plan_at<&TrainingPlan::cp>()},
    {.key = "etp", .value_name = "N", .help = "tensor parallelism inside an expert (default: 1)", .verbs = kTrain | kRl | kEmit | kSite,
     .takes = Takes::whole, .low = 1, .high = kMostDevices, .train = plan_at<&TrainingPlan::etp>()},
    {.key = "sharding", .value_name = "S", .help = "sharding of optimizer, gradients and weights: none, zero1, zero2, zero3, hsdp (default: the framework's)", .verbs = kTrain | kRl | kEmit | kSite,
     .takes = Takes::word, .words = kShardings, .parse = sharding_number, .train = plan_at<&TrainingPlan::sharding>()},
    {.key = "seq_length", .value_name = "TOKENS", .help = "tokens per training sequence (default: 8192)", .verbs = kTrain | kEmit | kSite,
     .takes = Takes::whole, .low = 1, .high = kMostBatch, .train = plan_at<&TrainingPlan::sequence>(kAlways)},
    {.key = "global_batch", .value_name = "N", .help = "sequences per step (default: by the number of devices)", .verbs = kTrain | kEmit | kSite,
     .takes = Takes::whole, .low = 1, .high = kMostBatch, .train = plan_at<&TrainingPlan::global_batch>(kAlways)},
    {.key = "micro_batch", .value_name = "N", .help = "sequences that a replica works on at once (default: chosen)", .verbs = kTrain | kRl | kEmit | kSite,
     .takes = Takes::whole, .low = 1, .high = kMostBatch, .train = plan_at<&TrainingPlan::micro_batch>(kAlways)},
    {.key = "recompute", .value_name = "R", .help = "activation recomputation: none, selective or full (default: unknown, the least that fits)", .verbs = kTrain | kRl | kEmit | kSite,
     .takes = Takes::word, .words = kRecomputes, .parse = recompute_number, .train = plan_at<&TrainingPlan::recompute>()},
    {.key = "recompute_layers", .value_name = "N", .help = "with --recompute full: layers of a stage's chunk that run forward twice (default: all)", .verbs = kTrain | kEmit | kSite,
     .takes = Takes::whole, .low = 1, .high = 100'000, .train = plan_at<&TrainingPlan::recompute_layers>()},
    {.key = "schedule", .value_name = "S", .help = "pipeline schedule: 1f1b, interleaved, zero-bubble or dualpipe", .verbs = kTrain | kEmit | kSite,
     .takes = Takes::word, .words = kSchedules, .train = plan_at<&TrainingPlan::schedule>()},
    {.key = "cp_kind", .value_name = "K", .help = "kind of context parallelism: ring (default), all-gather or ulysses", .verbs = kTrain | kEmit | kSite,
     .takes = Takes::word, .words = kContexts, .train = plan_at<&TrainingPlan::context>()},
    {.key = "task", .value_name = "T", .help = "pretrain (default), sft or lora", .verbs = kTrain | kEmit | kSite,
     .takes = Takes::word, .words = kTasks, .parse = task_number, .train = at<&TrainingQuery::task>()},
    {.key = "frozen", .value_name = "F", .help = "precision of the weights that adapters leave frozen: int4 is QLoRA (default: --precision)", .verbs = kTrain,
     .takes = Takes::format, .train = kFrozen},
    {.key = "mtp", .value_name = "", .help = "train the multi-token-prediction layers too", .verbs = kTrain | kEmit | kSite, .takes = Takes::on, .train = at<&TrainingQuery::mtp>()},
    {.key = "offload", .value_name = "SHARE", .help = "share of the kept activations in host memory (default: 0)", .verbs = kTrain | kEmit | kSite,
     .takes = Takes::share, .train = plan_at<&TrainingPlan::offload>()},
    {.key = "offload_optimizer", .value_name = "", .help = "keep state and update of the optimizer on the host", .verbs = kTrain | kRl | kEmit,
     .takes = Takes::on, .train = plan_at<&TrainingPlan::offload_optimizer>()},
    {.key = "offload_weights", .value_name = "", .help = "weights wait on the host and cross to the device layer by layer in each pass (ZeRO-3 or FSDP with CPU offload)", .verbs = kTrain,
     .takes = Takes::on, .train = plan_at<&TrainingPlan::offload_weights>()},
    {.key = "optimizer", .value_name = "O", .help = "adamw (default), adamw-8bit, paged-adamw or paged-adamw-8bit; paged state goes to the host where device memory is short", .verbs = kTrain,
     .takes = Takes::word, .words = kOptimizers, .train = plan_at<&TrainingPlan::optimizer>()},
    {.key = "shard_group", .value_name = "N", .help = "ranks that share one copy under --sharding hsdp (default: a scale-up domain)", .verbs = kTrain | kEmit,
     .takes = Takes::whole, .low = 1, .high = kMostDevices, .train = kShardGroup},
    {.key = "imbalance", .value_name = "X", .help = "load of the busiest expert rank over the mean: 1.2", .verbs = kTrain,
     .takes = Takes::count, .low = 1, .high = kMostFactor, .train = plan_at<&TrainingPlan::imbalance>()},
    {.key = "capacity", .value_name = "X", .help = "capacity of an expert over its mean load; tokens beyond it are dropped (default: none is dropped)", .verbs = kTrain | kEmit,
     .takes = Takes::count, .low = 1, .high = kMostFactor, .train = plan_at<&TrainingPlan::capacity>()},
    {.key = "wide_layers", .value_name = "N", .help = "layers that stay in 16 bits under fp8, mxfp8 or nvfp4", .verbs = kTrain | kEmit,
     .takes = Takes::whole, .low = 0, .high = 100'000, .train = at<&TrainingQuery::wide_layers>()},
    {.key = "oversubscription", .value_name = "X", .help = "oversubscription between pods of the network: 2 is two to one", .verbs = kTrain,
     .takes = Takes::count, .low = 1, .high = kMostFactor, .train = cluster_at<&TrainingCluster::oversubscription>()},
    {.key = "pod", .value_name = "N", .help = "devices that a network without oversubscription joins", .verbs = kTrain,
     .takes = Takes::whole, .low = 1, .high = kMostDevices, .train = cluster_at<&TrainingCluster::pod>()},
    {.key = "reduction", .value_name = "WHERE", .help = "all-reduces done in switches: none, nvls, sharp or both", .verbs = kTrain,
     .takes = Takes::word, .words = kReductions, .train = cluster_at<&TrainingCluster::reduction>()},
    {.key = "rank_order", .value_name = "O", .help = "order of ranks, fastest links first: tp-cp-ep-dp-pp (default) or tp-cp-ep-pp-dp", .verbs = kTrain | kEmit,
     .takes = Takes::word, .words = kOrders, .train = cluster_at<&TrainingCluster::order>()},
    {.key = "data_rate", .value_name = "RATE", .help = "rate at which one node reads the data set: 2GB/s (default: never the limit)", .verbs = kTrain,
     .takes = Takes::rate, .train = cluster_at<&TrainingCluster::data_rate>()},
    {.key = "data_bytes", .value_name = "B", .help = "bytes per token in the data set (default: 4, a 32-bit index)", .verbs = kTrain,
     .takes = Takes::count, .low = 0.1, .high = 1e9, .train = cluster_at<&TrainingCluster::data_bytes>()},
    {.key = "tokens", .value_name = "N", .help = "tokens of the whole run, for days and GPU-hours: 15T", .verbs = kTrain | kSite, .takes = Takes::count, .low = 1, .high = 1e18},
    {.key = "scale", .value_name = "weak|strong", .help = "scaling curve over --from to --to devices: weak (the batch grows with them) or strong (it stays)", .verbs = kTrain,
     .takes = Takes::word, .words = kScalings},
    {.key = "from", .value_name = "N", .help = "devices at which the curve starts", .verbs = kTrain, .takes = Takes::whole, .low = 1, .high = kMostDevices},
    {.key = "to", .value_name = "N", .help = "devices at which it ends", .verbs = kTrain, .takes = Takes::whole, .low = 1, .high = kMostDevices},
    {.key = "svg", .value_name = "FILE", .help = "write the curve of --scale as a figure", .verbs = kTrain, .takes = Takes::file},
    {.key = "trace", .value_name = "FILE", .help = "write one step of the pipeline for a browser's trace viewer", .verbs = kTrain, .takes = Takes::file},
    {.key = "steps", .value_name = "N", .help = "images: denoising steps of an image or clip; training: steps of a run of reinforcement learning or of a diffusion model", .verbs = kDiffusion | kRl | kTrain,
     .takes = Takes::whole, .low = 1, .high = 1e7},
    {.key = "resolution", .value_name = "PIXELS", .help = "pixels of an image: 1024, or 1920x1080", .verbs = kDiffusion | kTrain, .takes = Takes::pixels, .low = 1, .high = 65536},
    {.key = "text_encoders", .value_name = "", .help = "text encoders run in every training step (default: embeddings computed before)", .verbs = kTrain, .takes = Takes::on},
    {.key = "ulysses", .value_name = "N", .help = "devices that share the attention heads of an image (default: 1)", .verbs = kDiffusion, .takes = Takes::whole, .low = 1, .high = 1024},
    {.key = "ring", .value_name = "N", .help = "devices around which keys and values of an image pass (default: 1)", .verbs = kDiffusion, .takes = Takes::whole, .low = 1, .high = 1024},
    {.key = "cfg_parallel", .value_name = "N", .help = "2: the passes with and without the prompt run on devices of their own (default: 1)", .verbs = kDiffusion,
     .takes = Takes::whole, .low = 1, .high = 2},
    {.key = "frames", .value_name = "N", .help = "frames of a clip: 81", .verbs = kDiffusion | kTrain, .takes = Takes::whole, .low = 1, .high = 1e6},
    {.key = "passes", .value_name = "N", .help = "passes of the network per step: 1 where guidance is distilled, 2 with guidance", .verbs = kDiffusion,
     .takes = Takes::whole, .low = 1, .high = 8},
    {.key = "compiled", .value_name = "", .help = "kernels are fused and steps replayed as a graph: TensorRT, torch.compile", .verbs = kDiffusion, .takes = Takes::on},
    {.key = "vae_parallel", .value_name = "", .help = "devices share the work of the decoder", .verbs = kDiffusion, .takes = Takes::on},
    {.key = "attention_precision", .value_name = "F", .help = "precision of queries, keys and values: fp8 (default: bf16)", .verbs = kDiffusion,
     .takes = Takes::format},
    {.key = "lengths", .value_name = "LIST", .help = "time to first token against the length of a prompt: 128k,256k,1M", .verbs = kInfer, .takes = Takes::counts, .low = 1, .high = 1e9},
    {.key = "images", .value_name = "N", .help = "pictures in each prompt, for models that see", .verbs = kInfer, .takes = Takes::count, .low = 0.001, .high = 1e5},
    {.key = "image_size", .value_name = "PIXELS", .help = "pixels of a picture in a prompt: 1024, or 1920x1080", .verbs = kInfer, .takes = Takes::pixels, .low = 1, .high = 65536},
    {.key = "audio", .value_name = "TIME", .help = "length of the sound in each prompt, for models that hear: 30s", .verbs = kInfer, .takes = Takes::seconds},
    {.key = "html", .value_name = "FILE", .help = "write a page with charts: the roofline with the operators on it, or the step", .verbs = kCompare | kTrain | kRl,
     .takes = Takes::file},
    {.key = "disaggregate", .value_name = "", .help = "prefill and decode on engines of their own (disaggregated); --concurrency counts clients of one decode engine", .verbs = kInfer | kEmit,
     .takes = Takes::on},
    {.key = "prefill_device", .value_name = "D", .help = "device of the prefill engines (default: --device)", .verbs = kInfer | kEmit | kSimulate,
     .takes = Takes::device},
    {.key = "prefill_tp", .value_name = "N", .help = "tensor parallelism of a prefill engine", .verbs = kInfer | kEmit | kSimulate, .takes = Takes::whole, .low = 1, .high = kMostDevices},
    {.key = "prefill_dp", .value_name = "N", .help = "attention ranks around shared experts, in a prefill engine (default: 1)", .verbs = kInfer | kEmit | kSimulate,
     .takes = Takes::whole, .low = 1, .high = kMostDevices},
    {.key = "prefill_ep", .value_name = "N", .help = "ranks that share the experts, in a prefill engine", .verbs = kInfer | kEmit | kSimulate,
     .takes = Takes::whole, .low = 1, .high = kMostDevices},
    {.key = "prefill_redundant_experts", .value_name = "N", .help = "extra copies of experts per layer in a prefill engine (default: --redundant-experts)", .verbs = kInfer | kEmit | kSimulate,
     .takes = Takes::whole, .low = 0, .high = 4096},
    {.key = "prefill_precision", .value_name = "F", .help = "precision of the weights of the prefill engines (default: as the decode engines)", .verbs = kInfer | kEmit | kSimulate,
     .takes = Takes::format},
    {.key = "prefill_power_cap", .value_name = "W", .help = "power limit of each device that prefills (default: --power-cap)", .verbs = kInfer | kEmit | kSimulate,
     .takes = Takes::watts},
    {.key = "pools", .value_name = "xPyD", .help = "with --disaggregate: x prefill engines and y decode engines (default: as they balance)", .verbs = kInfer | kEmit,
     .takes = Takes::parsed, .check = can_read_pools},
    {.key = "kv_link", .value_name = "RATE", .help = "rate at which KV caches leave a prefill engine: 50GB/s (default: its network cards)", .verbs = kInfer | kEmit | kSimulate, .takes = Takes::rate},
    {.key = "explain", .value_name = "", .help = "list the operators, each with its time, bound and share of the roofline", .verbs = kInfer, .takes = Takes::on},
};
// clang-format on

}  // namespace

std::span<const Field> deployment_fields() {
  return kFields;
}

}  // namespace ridge::ask
