// ridge emit: launch files of a plan, and the plan of a launch file.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "app/cli/estimate.hpp"
#include "app/cli/plan_file.hpp"
#include "app/cli/verbs.hpp"
#include "app/cli/wrong.hpp"
#include "report/launch_report.hpp"
#include "ridge/file.hpp"
#include "ridge/launch.hpp"
#include "ridge/text.hpp"

namespace ridge::cli {

namespace {

constexpr std::size_t kLongestFile = 1'000'000;

struct EmitArguments {
  EstimateFlags flags;
  std::string target, kind, out, check, checkpoint, image, partition;
  int cpus = 0;
};

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

Result<LaunchPlan> plan_of(Session& session, const EmitArguments& a, LaunchTarget runner, const Knowledge& knowledge) {
  EstimateFlags flags = a.flags;
  if (!flags.given("--engine")) {
    flags.set("--engine", runner == LaunchTarget::torchrun ? "torchtitan" : std::string(name(runner)));
  }
  Result<LaunchPlan> plan = Error{};
  if (trains(runner)) {
    if (runner == LaunchTarget::torchrun && !flags.given("--sharding")) flags.set("--sharding", "zero3");
    const Result<TrainingQuestion> question = training_question(flags, session.options().as_of);
    if (!question) return question.error();
    const Result<TrainingAnswer> answer = ridge::answer(question->query, question->freedom, knowledge);
    if (!answer) return answer.error();
    plan = launch_plan(*answer, knowledge, runner);
  } else {
    const Result<InferenceQuestion> question = inference_question(flags, session.options().as_of);
    if (!question) return question.error();
    const Result<InferenceAnswer> answer = ridge::answer(question->query, knowledge, {});
    if (!answer) return answer.error();
    if (answer->refusal) return refusal_error(*answer);
    plan = launch_plan(*answer, knowledge, runner);
    // A load that nobody named is no reason to cut requests short.
    if (plan && !flags.given("--isl") && !flags.given("--osl")) plan->max_length = 0;
  }
  if (plan && !a.checkpoint.empty()) plan->checkpoint = a.checkpoint;
  return plan;
}

Result<int> check(Session& session, const EmitArguments& a) {
  const Result<std::string> text = read_file(a.check, kLongestFile);
  if (!text) return text.error();
  const Result<LaunchCheck> back = read_launch(*text, a.check);
  if (!back) return back.error();
  std::vector<std::string> differing;
  bool compared = false;
  if (a.flags.given("--model")) {
    const Result<Knowledge> knowledge = knowledge_of(session);
    if (!knowledge) return knowledge.error();
    const Result<LaunchPlan> plan = plan_of(session, a, back->plan.runner, *knowledge);
    if (!plan) return plan.error();
    differing = differences(back->plan, *plan);
    compared = true;
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

LaunchOptions options_of(const EmitArguments& a, const LaunchPlan& plan, const Catalogue& catalogue) {
  LaunchOptions o;
  if (!a.image.empty()) o.image = a.image;
  if (!a.partition.empty()) o.partition = a.partition;
  if (a.cpus > 0) o.cpus_per_node = a.cpus;
  if (const Device* device = catalogue.device(plan.device.substr(0, plan.device.find('/')))) {
    o.amd = device->vendor == "AMD" || device->vendor == "amd";
  }
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
    return wrong("--for", "say what to write for: vllm, trtllm, sglang, megatron, torchrun, slurm or k8s");
  }
  const Result<LaunchTarget> target = parse_launch_target(a.target);
  if (!target) return wrong("--for", target.error().message);
  const Result<bool> training = is_training(a, *target);
  if (!training) return training.error();
  const Result<Knowledge> knowledge = knowledge_of(session);
  if (!knowledge) return knowledge.error();
  const Result<LaunchPlan> plan = plan_of(session, a, runner_of(a, *target, *training), *knowledge);
  if (!plan) return plan.error();
  const Result<std::vector<LaunchFile>> files = emit(*plan, *target, options_of(a, *plan, knowledge->catalogue));
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
  std::error_code failure;
  std::filesystem::create_directories(a.out, failure);
  if (failure) return Error{ErrorCode::bad_input, a.out, "cannot be made: " + failure.message()};
  for (const LaunchFile& file : *files) {
    const std::string path = a.out + "/" + file.name;
    if (const Status s = write_file_atomically(path, file.text); !s) return s.error();
    session.print(path + "\n");
  }
  return kFine;
}

std::vector<std::string> targets(Session&, const std::vector<std::string>&) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kLaunchTargets; ++i) names.emplace_back(name(static_cast<LaunchTarget>(i)));
  return names;
}

Action declare_emit(Options& options) {
  auto a = std::make_shared<EmitArguments>();
  options.text("--for", "TARGET", a->target, "vllm, trtllm, sglang, megatron, torchrun, slurm or k8s", targets);
  options.text("--check", "FILE", a->check, "read a launch file back; with a plan, say what differs", complete_files);
  options.text("--out", "DIR", a->out, "write all files there", complete_directories);
  options.text(std::string(kKindFlag), std::string(kKindValue), a->kind,
               "what the plan is for, where --for leaves it open");
  options.text("--checkpoint", "PATH", a->checkpoint,
               "what the engine loads: a repository or a path; else the model's id");
  options.text("--image", "IMAGE", a->image, "container of Kubernetes jobs");
  options.text("--partition", "NAME", a->partition, "of Slurm");
  options.count("--cpus-per-node", "N", a->cpus, "for slurm.conf");
  a->flags.declare_only(options, {"--model",
                                  "--device",
                                  "--system",
                                  "--gpus",
                                  "--tp",
                                  "--pp",
                                  "--ep",
                                  "--dp",
                                  "--precision",
                                  "--weight-precision",
                                  "--activation-precision",
                                  "--kv-precision",
                                  "--engine",
                                  "--engine-version",
                                  "--isl",
                                  "--osl",
                                  "--batch",
                                  "--concurrency",
                                  "--offline",
                                  "--max-batched-tokens",
                                  "--max-num-seqs",
                                  "--gpu-memory-utilization",
                                  "--vp",
                                  "--cp",
                                  "--etp",
                                  "--sharding",
                                  "--seq-length",
                                  "--global-batch",
                                  "--micro-batch",
                                  "--recompute",
                                  "--schedule",
                                  "--task",
                                  "--lora-rank",
                                  "--power-cap"});
  return [a](Session& session) { return run_emit(session, *a); };
}

}  // namespace

Verb emit_verb() {
  return {
      "emit", "launch files of a plan: vLLM, SGLang, TensorRT-LLM, Megatron, Slurm, Kubernetes",
      "Writes the command, Slurm job or Kubernetes manifests that run exactly this plan, with what was left open "
      "chosen as "
      "`ridge estimate` chooses it. --check reads such a file back, also one changed by hand, and compares it with the "
      "plan; differences end with exit code 3.",
      "ridge emit --for vllm --model llama3.3-70b --device h200-sxm --gpus 8 --tp 2 --precision fp8 --isl 1000 --osl "
      "250\n"
      "ridge emit --for slurm --kind train --model llama3.1-70b --system dgx-h100 --gpus 512 --tp 8 --pp 4 "
      "--global-batch 1024\n"
      "ridge emit --for k8s --model llama3.1-8b --device h100-sxm --gpus 1 --checkpoint "
      "meta-llama/Llama-3.1-8B-Instruct",
      declare_emit};
}

}  // namespace ridge::cli
