// ridge emit: launch files of a plan, and the plan of a launch file.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "app/cli/estimate/estimate.hpp"
#include "app/cli/estimate/pools.hpp"
#include "app/cli/line/plan_file.hpp"
#include "app/cli/line/value.hpp"
#include "app/cli/rl/emit_rl.hpp"
#include "app/cli/session/wrong.hpp"
#include "app/cli/verbs.hpp"
#include "ask/simulation.hpp"
#include "report/site/launch_report.hpp"
#include "ridge/base/text.hpp"
#include "ridge/facility/launch.hpp"

namespace ridge::cli {

namespace {

constexpr std::size_t kLongestFile = 1'000'000;

struct EmitArguments {
  EstimateFlags flags;
  std::string target, kind, out, check, checkpoint, draft, image, partition, time, ttft, tpot;
  int cpus = 0, most = 0;
};

/// What launch files need besides the catalogue, read from data/.
struct Stock {
  Checkpoints checkpoints;
  std::vector<ModelSettings> settings;
  std::vector<EngineModel> names;
  std::vector<LaunchVendor> vendors;
  EngineReleases releases;
};
Result<Stock> stock_of(const Session& session) {
  const Result<std::string> data = session.data_directory();
  if (!data) return data.error();
  Result<Checkpoints> checkpoints = load_checkpoints(*data + "/checkpoints.csv");
  if (!checkpoints) return checkpoints.error();
  Result<std::vector<ModelSettings>> settings = load_model_settings(*data + "/model_settings.csv");
  if (!settings) return settings.error();
  Result<std::vector<EngineModel>> names = load_engine_models(*data + "/engines/models.csv");
  if (!names) return names.error();
  Result<std::vector<LaunchVendor>> vendors = load_launch_vendors(*data + "/launch");
  if (!vendors) return vendors.error();
  Result<EngineReleases> releases = EngineReleases::open(*data + "/engines/flags");
  if (!releases) return releases.error();
  return Stock{*std::move(checkpoints), *std::move(settings), *std::move(names), *std::move(vendors),
               *std::move(releases)};
}

/// Whether the plan is to train: as it says, as the target does, or as the flags look.
Result<bool> is_training(const EmitArguments& a, std::optional<LaunchTarget> target) {
  if (a.kind == "train" || a.kind == "serve") {
    const bool training = a.kind == "train";
    if (target && is_runner(*target) && trains(*target) != training) {
      return wrong("--for", fmt::format("{} cannot {}", name(*target), training ? "train" : "serve"));
    }
    return training;
  }
  if (!a.kind.empty()) return wrong(kKindFlag, ridge::quoted(a.kind) + " is neither serve nor train");
  if (target && is_runner(*target)) return trains(*target);
  constexpr std::string_view kOfTraining[] = {"--global-batch", "--seq-length", "--micro-batch", "--sharding",
                                              "--recompute"};
  return std::any_of(std::begin(kOfTraining), std::end(kOfTraining),
                     [&](std::string_view flag) { return a.flags.given(flag); });
}

/// Who runs a plan for Slurm or Kubernetes: the engine that is named, else the usual one.
LaunchTarget runner_of(const EmitArguments& a, std::optional<LaunchTarget> target, bool training) {
  if (target && is_runner(*target)) return *target;
  const Result<LaunchTarget> named = parse_launch_target(a.flags.value("--engine"));
  if (named && is_runner(*named) && trains(*named) == training) return *named;
  return training ? LaunchTarget::megatron : LaunchTarget::vllm;
}

/// The flags with what the target settles: its engine, and of vLLM the release.
EstimateFlags settled(const EmitArguments& a, LaunchTarget runner, const EngineRelease& release) {
  EstimateFlags flags = a.flags;
  if (!flags.given("--engine")) flags.set("--engine", std::string(profile_of(runner)));
  if (!flags.given("--engine-version") && release.engine == "vllm") flags.set("--engine-version", release.version);
  return flags;
}

/// A limit on a latency: as given, else what the plan is expected to hold.
Result<double> limit_of(const std::string& given, const char* flag, double expected) {
  if (given.empty()) return expected;
  const Result<Seconds> limit = parse_quantity<Seconds>(given);
  if (!limit || limit->value() <= 0) return wrong(flag, "write a time, for example 500ms");
  return limit->value();
}

struct EmittedPools {
  LaunchPools pools;
  double ttft_s = 0, tpot_s = 0;  ///< the slow end of what is predicted
};
Result<EmittedPools> pools_of(Session& session, const EmitArguments& a, LaunchTarget runner, const Knowledge& knowledge,
                              const Stock& stock, const EngineRelease& release) {
  const EstimateFlags flags = settled(a, runner, release);
  const Result<report::PoolsAnswer> answered = answer_pools(session, flags, knowledge);
  if (!answered) return answered.error();
  const std::pair<int, int> engines = report::engines_of(*answered);
  const LaunchStock known{stock.checkpoints, stock.settings, stock.names, stock.vendors};
  const LaunchWish wish{runner, a.checkpoint, a.draft};
  Result<LaunchPlan> prefill = launch_plan(answered->prefill, knowledge, known, wish);
  if (!prefill) return prefill.error();
  Result<LaunchPlan> decode = launch_plan(answered->decode, knowledge, known, wish);
  if (!decode) return decode.error();
  prefill->role = PoolRole::prefill;
  decode->role = PoolRole::decode;
  const auto times = [](LaunchPlan& p, int count) {
    p.replicas *= count;
    p.gpus *= count;
  };
  times(*prefill, engines.first);
  times(*decode, engines.second);
  decode->concurrency *= engines.second;
  // Both see the same requests.
  prefill->mode = decode->mode;
  prefill->isl = decode->isl;
  prefill->osl = decode->osl;
  prefill->concurrency = decode->concurrency;
  prefill->max_length = decode->max_length;
  prefill->release = decode->release = release.version;
  return EmittedPools{
      {*std::move(prefill), *std::move(decode)}, answered->outcome.ttft_s.high, answered->outcome.tpot_s.high};
}

Result<LaunchPlan> plan_of(Session& session, const EmitArguments& a, LaunchTarget runner, const Knowledge& knowledge,
                           const Stock& stock, const EngineRelease& release) {
  EstimateFlags flags = settled(a, runner, release);
  const LaunchStock known{stock.checkpoints, stock.settings, stock.names, stock.vendors};
  const LaunchWish wish{runner, a.checkpoint, a.draft};
  Result<LaunchPlan> plan = Error{};
  if (trains(runner)) {
    if (runner == LaunchTarget::torchrun && !flags.given("--sharding")) flags.set("--sharding", "zero3");
    const Result<TrainingQuestion> question = training_question(flags, session.software_date());
    if (!question) return question.error();
    const Result<TrainingAnswer> answer = ridge::answer(question->query, question->freedom, knowledge);
    if (!answer) return answer.error();
    plan = launch_plan(*answer, knowledge, known, wish);
  } else {
    const Result<InferenceQuestion> question = inference_question(flags, session.software_date());
    if (!question) return question.error();
    const Result<InferenceAnswer> answer = ridge::answer(question->query, knowledge, {});
    if (!answer) return answer.error();
    if (answer->refusal) return refusal_error(*answer);
    plan = launch_plan(*answer, knowledge, known, wish);
    // A load that nobody named is no reason to cut requests short.
    if (plan && !flags.given("--isl") && !flags.given("--osl") && runner != LaunchTarget::llamacpp)
      plan->max_length = 0;
  }
  if (plan) plan->release = release.version;
  return plan;
}

Result<int> check(Session& session, const EmitArguments& a) {
  const Result<std::string> text = session.files().read(a.check, kLongestFile);
  if (!text) return text.error();
  const Result<LaunchEngine> engine = launch_engine(*text, a.check);
  if (!engine) return engine.error();
  const Result<Stock> stock = stock_of(session);
  if (!stock) return stock.error();
  const std::string version = a.flags.given("--engine-version") ? a.flags.value("--engine-version") : engine->release;
  const Result<EngineRelease> release = stock->releases.load(engine_of(engine->runner), version);
  if (!release) return release.error();
  Result<LaunchCheck> back = read_launch(*text, a.check, &*release);
  if (!back) return back.error();
  const Result<Knowledge> knowledge = knowledge_of(session);
  if (!knowledge) return knowledge.error();
  estimate_again(*back, *knowledge);
  std::vector<std::string> differing;
  bool compared = false;
  if (a.flags.given("--model")) {
    Result<LaunchPlan> plan = Error{};
    if (a.flags.is_on("--disaggregate")) {
      Result<EmittedPools> pools = pools_of(session, a, back->plan.runner, *knowledge, *stock, *release);
      if (!pools) return pools.error();
      plan = back->plan.role == PoolRole::prefill ? std::move(pools->pools.prefill) : std::move(pools->pools.decode);
    } else {
      plan = plan_of(session, a, back->plan.runner, *knowledge, *stock, *release);
    }
    if (!plan) return plan.error();
    differing = differences(back->plan, *plan);
    compared = true;
    LaunchCheck planned;
    planned.plan = *plan;
    estimate_again(planned, *knowledge);
    constexpr double kNoticed = 0.99;
    if (!back->speeds.empty() && !planned.speeds.empty()) {
      const double share = back->speeds.front().second / planned.speeds.front().second;
      if (share < kNoticed) differing.push_back(fmt::format("{:.0f} % slower than the plan", 100 * (1 - share)));
    }
  }
  if (session.form() == Form::json) {
    session.print(report::launch_json(*back, differing, compared).text());
  } else if (session.form() == Form::csv) {
    session.print(to_csv(report::launch_table(back->plan)));
  } else {
    session.print(report::launch_page(*back, a.check, differing, compared));
  }
  return back->problems.empty() && differing.empty() ? kFine : kCheckFailed;
}

LaunchOptions options_of(const EmitArguments& a, const EngineRelease& release, const Catalogue& catalogue) {
  LaunchOptions o;
  o.release = &release;
  if (!a.image.empty()) o.image = a.image;
  if (!a.partition.empty()) o.partition = a.partition;
  if (a.cpus > 0) o.cpus_per_node = a.cpus;
  if (!a.time.empty()) o.time = a.time;
  o.max_replicas = a.most;
  if (const System* system = catalogue.system(a.flags.value("--system")); system != nullptr && system->host_memory) {
    o.host_memory = system->host_memory->value.value();
  }
  return o;
}

Result<int> run_emit(Session& session, const EmitArguments& a) {
  if (const Status s = a.flags.valid(session); !s) return s.error();
  Result<WhatIfSubjects> subjects = what_if_subjects(a.flags);
  if (!subjects) return subjects.error();
  session.about(*std::move(subjects));
  if (!a.check.empty()) return check(session, a);
  if (a.target.empty()) {
    return wrong("--for", "say what to write for: " + launch_target_list() +
                              "; for reinforcement learning verl, nemo-rl, openrlhf");
  }
  if (const auto framework = parse_rl_framework(a.target)) {
    return emit_rl_files(session, a.flags, *framework, a.checkpoint, a.out);
  }
  const Result<LaunchTarget> target = parse_launch_target(a.target);
  if (!target) return wrong("--for", target.error().message);
  const Result<bool> training = is_training(a, *target);
  if (!training) return training.error();
  const Result<Knowledge> knowledge = knowledge_of(session);
  if (!knowledge) return knowledge.error();
  const Result<Stock> stock = stock_of(session);
  if (!stock) return stock.error();
  const LaunchTarget runner = runner_of(a, *target, *training);
  const Result<EngineRelease> release = stock->releases.load(engine_of(runner), a.flags.value("--engine-version"));
  if (!release) return release.error();
  LaunchOptions options = options_of(a, *release, knowledge->catalogue);
  Result<std::vector<LaunchFile>> files = Error{};
  const auto limits = [&](double ttft, double tpot) -> Status {
    const Result<double> first = limit_of(a.ttft, "--ttft", ttft);
    if (!first) return first.error();
    const Result<double> next = limit_of(a.tpot, "--tpot", tpot);
    if (!next) return next.error();
    options.ttft_limit_s = *first;
    options.tpot_limit_s = *next;
    return {};
  };
  if (a.flags.is_on("--disaggregate")) {
    if (*training) return wrong("--disaggregate", "is for serving");
    const Result<EmittedPools> pools = pools_of(session, a, runner, *knowledge, *stock, *release);
    if (!pools) return pools.error();
    if (const Status s = limits(pools->ttft_s, pools->tpot_s); !s) return s.error();
    files = emit(pools->pools, *target, options);
  } else {
    const Result<LaunchPlan> plan = plan_of(session, a, runner, *knowledge, *stock, *release);
    if (!plan) return plan.error();
    LaunchCheck planned;
    planned.plan = *plan;
    if (!*training) estimate_again(planned, *knowledge);
    if (const Status s = limits(planned.slow.first, planned.slow.second); !s) return s.error();
    files = emit(*plan, *target, options);
  }
  if (!files) return files.error();
  if (a.out.empty()) {
    session.print(files->front().text);
    if (files->size() > 1) {
      std::string others;
      for (std::size_t i = 1; i < files->size(); ++i) others += (i == 1 ? "" : ", ") + (*files)[i].name;
      session.warn(fmt::format("this is {}; --out DIR also writes {}", files->front().name, others));
    }
    return kFine;
  }
  if (const Status s = session.files().make_folder(a.out); !s) return s.error();
  for (const LaunchFile& file : *files) {
    const std::string path = a.out + "/" + file.name;
    if (const Status s = session.files().write(path, file.text); !s) return s.error();
    session.print(path + "\n");
  }
  return kFine;
}

std::vector<std::string> targets(Session&, const std::vector<std::string>&) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kLaunchTargets; ++i) names.emplace_back(name(static_cast<LaunchTarget>(i)));
  for (const RlFramework f : {RlFramework::verl, RlFramework::nemo_rl, RlFramework::openrlhf}) {
    names.emplace_back(name(f));
  }
  return names;
}

Action declare_emit(Options& options) {
  auto a = std::make_shared<EmitArguments>();
  options.text("--for", "TARGET", a->target,
               launch_target_list() + "; for reinforcement learning verl, nemo-rl, openrlhf",
               value::one_of(targets, "target"));
  options.text("--check", "FILE", a->check, "read a launch file back; with a plan, say what differs", value::file());
  options.text("--out", "DIR", a->out, "write all files there", value::made_folder());
  options.text(std::string(kKindFlag), std::string(kKindValue), a->kind,
               "what the plan is for, where --for leaves it open", value::one_of({"serve", "train"}));
  options.text("--checkpoint", "PATH", a->checkpoint,
               "repository or path that the engine loads (default: the catalogue's, in that precision)",
               value::name("._-/:@+~ "));
  options.text("--draft-model", "PATH", a->draft,
               "draft model that proposes --draft-tokens (default: the model's own MTP layers)",
               value::name("._-/:@+~ "));
  options.text("--image", "IMAGE", a->image, "container of Slurm and Kubernetes jobs (default: the engine's own)",
               value::name());
  options.text("--time", "LIMIT", a->time, "time limit of a Slurm job: 2-00:00:00 (default: seven days)",
               value::name("-:"));
  options.text("--partition", "NAME", a->partition, "partition of Slurm", value::name("._-,"));
  options.count("--cpus-per-node", "N", a->cpus, "CPUs per node, for slurm.conf");
  options.count("--max-replicas", "N", a->most, "Kubernetes: scale out to at most N replicas as requests come (KEDA)");
  options.text("--ttft", "TIME", a->ttft, "alert where the first token takes longer: 1s (default: what is predicted)",
               value::quantity<Seconds>("1s"));
  options.text("--tpot", "TIME", a->tpot, "alert where the next token takes longer: 40ms (default: what is predicted)",
               value::quantity<Seconds>("40ms"));
  a->flags.declare(options, ask::kEmit);
  a->flags.declare_alone(options, kRl);
  return [a](Session& session) { return run_emit(session, *a); };
}

}  // namespace

Verb emit_verb() {
  return {
      "emit", "launch files of a plan: engines, Megatron, Slurm, Kubernetes",
      "Writes the command, Slurm job or Kubernetes manifests that run exactly this plan, with what was left open "
      "chosen as "
      "`ridge estimate` chooses it. --check reads such a file back, also one changed by hand, and compares it with the "
      "plan; differences, and flags that the release does not take, end with exit code 3. --engine-version says for "
      "which "
      "release (data/engines/flags); else the newest.",
      "ridge emit --for vllm --model llama3.3-70b --device h200-sxm --gpus 8 --tp 2 --precision fp8 --isl 1000 --osl "
      "250\n"
      "ridge emit --for slurm --kind train --model llama3.1-70b --system dgx-h100 --gpus 512 --tp 8 --pp 4 "
      "--global-batch 1024\n"
      "ridge emit --for k8s --model meta-llama/Llama-3.1-8B-Instruct --device h100-sxm --gpus 1\n"
      "ridge emit --for sglang --model llama3.1-8b --device h100-sxm --gpus 1 --isl 4000 --osl 200 --disaggregate\n"
      "ridge emit --for llamacpp --model llama3.1-8b --device h200-sxm --gpus 1 --checkpoint model.gguf",
      declare_emit};
}

}  // namespace ridge::cli
