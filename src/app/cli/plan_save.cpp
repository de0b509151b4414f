#include "app/cli/plan_save.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "app/cli/plan_file.hpp"
#include "catalogue/toml_document.hpp"
#include "ridge/file.hpp"
#include "ridge/report.hpp"
#include "ridge/text.hpp"

namespace ridge::cli {

namespace {

Status write_plan(const std::string& directory, std::size_t number, const PlanFile& plan) {
  return write_file_atomically(fmt::format("{}/{}.toml", directory, number), plan_file_text(plan));
}

Status make_folder(const std::string& directory) {
  std::error_code failure;
  std::filesystem::create_directories(directory, failure);
  if (failure) return Error{ErrorCode::bad_input, "--save", directory + ": " + failure.message()};
  return {};
}

std::string text_of(double value) {
  return exact_number(value);
}

}  // namespace

Result<int> save_plans(const std::string& directory, const ServingQuest& quest, const ServingVerdict& verdict) {
  if (const Status s = make_folder(directory); !s) return s.error();
  for (std::size_t i = 0; i < verdict.plans.size(); ++i) {
    const ServingPlan& p = verdict.plans[i];
    const InferenceQuery& q = p.query;
    PlanFile file;
    file.kind = "serve";
    const auto add = [&](const char* flag, std::string value) { file.flags.emplace_back(flag, std::move(value)); };
    add("--model", q.model);
    add("--device", q.device);
    add("--gpus", std::to_string(p.replicas * q.gpus));
    add("--tp", std::to_string(q.tp));
    if (q.pp > 1) add("--pp", std::to_string(q.pp));
    if (q.dp > 1) add("--dp", std::to_string(q.dp));
    if (q.ep > 1) add("--ep", std::to_string(q.ep));
    add("--precision", std::string(ridge::name(p.facts.weights)));
    add("--kv-precision", std::string(ridge::name(p.facts.kv)));
    add("--engine", q.engine);
    add("--max-batched-tokens", text_of(q.max_batched_tokens));
    add("--isl", text_of(quest.goal.isl));
    add("--osl", text_of(quest.goal.osl));
    add("--concurrency", text_of(p.concurrency * p.replicas));
    if (const Status s = write_plan(directory, i + 1, file); !s) return s.error();
  }
  return static_cast<int>(verdict.plans.size());
}

Result<int> save_plans(const std::string& directory, const TrainingQuest& quest, const TrainingVerdict& verdict) {
  if (const Status s = make_folder(directory); !s) return s.error();
  for (std::size_t i = 0; i < verdict.plans.size(); ++i) {
    const TrainingPick& p = verdict.plans[i];
    PlanFile file;
    file.kind = "train";
    const auto add = [&](const char* flag, std::string value) { file.flags.emplace_back(flag, std::move(value)); };
    const auto degree = [&](const char* flag, int value) {
      if (value > 1) add(flag, std::to_string(value));
    };
    add("--model", quest.goal.model);
    add("--device", p.device);
    add("--engine", quest.goal.engine);
    add("--gpus", std::to_string(p.plan.gpus));
    add("--precision", std::string(ridge::name(p.precision)));
    add("--tp", std::to_string(p.plan.tp));
    add("--pp", std::to_string(p.plan.pp));
    add("--vp", std::to_string(p.plan.vp));
    degree("--cp", p.plan.cp);
    degree("--ep", p.plan.ep);
    degree("--etp", p.plan.etp);
    add("--seq-length", std::to_string(p.plan.sequence));
    add("--global-batch", std::to_string(p.plan.global_batch));
    add("--micro-batch", std::to_string(p.plan.micro_batch));
    add("--sharding", std::string(ridge::name(p.estimate.sharding)));
    add("--recompute", std::string(ridge::name(p.plan.recompute)));
    if (p.plan.schedule == Schedule::zero_bubble) add("--schedule", "zero-bubble");
    if (p.plan.schedule == Schedule::dual_pipe) add("--schedule", "dualpipe");
    if (p.plan.offload > 0) add("--offload", text_of(static_cast<double>(p.plan.offload)));
    if (quest.goal.tokens > 0) add("--tokens", text_of(quest.goal.tokens));
    if (const Status s = write_plan(directory, i + 1, file); !s) return s.error();
  }
  return static_cast<int>(verdict.plans.size());
}

Status take_profile(const std::string& data_directory, const std::string& profile, PlanFlags& flags, PlanKind kind) {
  const std::string path = data_directory + "/buyers/" + profile + ".toml";
  if (profile.find('/') != std::string::npos) return Error{ErrorCode::bad_input, "--profile", "a name, not a path"};
  const Result<std::string> text = read_file(path, 1'000'000);
  if (!text) {
    std::vector<std::string> names;
    std::error_code absent;
    for (const auto& entry : std::filesystem::directory_iterator(data_directory + "/buyers", absent)) {
      names.push_back(entry.path().stem().string());
    }
    std::sort(names.begin(), names.end());
    std::string all;
    for (const std::string& one : names) all += (all.empty() ? "" : ", ") + one;
    return Error{ErrorCode::not_found, "--profile",
                 "there is no profile " + ridge::quoted(profile) + "; there are " + all};
  }
  const Result<TomlNode> root = parse_toml(*text, path);
  if (!root) return root.error();
  for (const char* table : {"both", kind == PlanKind::serve ? "serve" : "train"}) {
    const TomlMember* part = root->find(table);
    if (part == nullptr) continue;
    for (const TomlMember& member : part->value.members) {
      std::string flag = "--" + member.key;
      std::replace(flag.begin(), flag.end(), '_', '-');
      const std::string value = member.value.kind == TomlNode::Kind::flag      ? (member.value.flag ? "true" : "")
                                : member.value.kind == TomlNode::Kind::integer ? std::to_string(member.value.integer)
                                : member.value.kind == TomlNode::Kind::number  ? exact_number(member.value.number)
                                                                               : member.value.text;
      if (!flags.fill(flag, value)) {
        return Error{ErrorCode::bad_input, place_text(path, member.line, member.column), "there is no flag " + flag};
      }
    }
  }
  return {};
}

}  // namespace ridge::cli
