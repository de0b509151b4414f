#include "app/cli/plan_flags.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "app/cli/offers.hpp"
#include "app/cli/session.hpp"
#include "ridge/text.hpp"

namespace ridge::cli {

namespace {

constexpr unsigned kServePlan = static_cast<unsigned>(PlanKind::serve);
constexpr unsigned kTrainPlan = static_cast<unsigned>(PlanKind::train);
constexpr unsigned kRlPlan = static_cast<unsigned>(PlanKind::rl);
constexpr unsigned kBoth = kServePlan | kTrainPlan;
constexpr unsigned kEvery = kBoth | kRlPlan;

std::vector<std::string> offer_all_devices(Session& session, const std::vector<std::string>& before) {
  std::vector<std::string> ids = offer_devices(session, before);
  ids.insert(ids.begin(), "all");
  return ids;
}

}  // namespace

std::string_view name(PlanKind kind) {
  return kind == PlanKind::serve ? "serve" : kind == PlanKind::train ? "train" : "rl";
}

PlanFlags::PlanFlags() {
  const auto add = [&](const char* flag, const char* value, const char* help, unsigned kinds, bool describes = true,
                       Completer completer = {}) {
    flags_.push_back({flag, value, help, kinds, describes, std::move(completer)});
  };
  add("--model", "M", "an id, the path of a config.json, or written out: dense:layers=32,...", kEvery, true,
      offer_models);
  // the work
  add("--request-rate", "R", "requests per second; left out with --gpus: as many as these can take", kServePlan);
  add("--isl", "TOKENS", "input of a request", kServePlan);
  add("--osl", "TOKENS", "output of a request", kServePlan);
  add("--ttft", "TIME", "time to first token, at most: 1s", kServePlan);
  add("--tpot", "TIME", "time per output token, at most: 40ms", kServePlan);
  add("--e2e", "TIME", "time of a whole request, at most", kServePlan);
  add("--prefix-hit", "SHARE", "of the input that a prefix cache holds", kServePlan);
  add("--confidence", "SHARE", "probability with which rate and limits, or days and budget, have to hold: 80%", kBoth);
  add("--load", "SHARE", "mean load of a replica, at most, of what it is predicted to do within the limits",
      kServePlan);
  add("--max-load", "SHARE", "load at the busiest time with all replicas up, at most: 85%", kServePlan);
  add("--peak", "TIMES", "the busiest time has so many times --request-rate, and the limits hold then: 3x", kServePlan);
  add("--spares", "WHAT", "that may be down then: N+1, N+2, node or rack", kServePlan);
  add("--traffic", "FILE", "a day or week as CSV (hour, requests_per_s): the peak, and the bill of a month", kServePlan,
      true, complete_files);
  add("--growth", "SHARE", "of the traffic a month, with --traffic: 10%", kServePlan);
  add("--cold-start", "T", "until a replica that is started serves, with --traffic; 2min", kServePlan);
  add("--tokens", "N", "to train on: 15T", kTrainPlan);
  add("--days", "N", "for the run, at most", kTrainPlan);
  add("--seq-length", "TOKENS", "of one training sequence", kTrainPlan);
  add("--global-batch", "N", "sequences of one step", kTrainPlan);
  add("--task", "T", "pretrain, sft or lora", kTrainPlan, true, offer({"pretrain", "sft", "lora"}));
  add("--goodput", "SHARE", "of the time that counts: without failures and restarts", kTrainPlan);
  // the space
  add("--devices", "LIST", "all, or ids: h100-sxm,mi300x", kEvery, true, offer_all_devices);
  add("--gpus", "N", "serve: at most so many; train: on so many, or a list: 512,1024", kEvery);
  add("--engine", "E", "vllm, trtllm, sglang, ...; megatron, nemo, fsdp, ...", kEvery);
  add("--precision", "LIST", "of the weights, or of training: bf16,fp8", kEvery);
  add("--kv-precision", "LIST", "of the KV cache: bf16,fp8", kServePlan);
  add("--tp", "N", "tensor parallel, fixed", kEvery);
  add("--pp", "N", "pipeline stages, fixed", kEvery);
  add("--mixed-pools", "", "prefill and decode may run on devices of different vendors", kServePlan);
  add("--no-speculation", "", "models that predict tokens ahead do not use it", kServePlan);
  add("--vp", "N", "chunks of a stage, fixed", kTrainPlan);
  add("--cp", "N", "context parallel, fixed", kTrainPlan | kRlPlan);
  add("--ep", "N", "expert parallel, fixed", kTrainPlan | kRlPlan);
  add("--micro-batch", "N", "fixed", kTrainPlan | kRlPlan);
  add("--sharding", "S", "none, zero1, zero2, zero3 or hsdp, fixed", kTrainPlan | kRlPlan);
  add("--space", "usual|full", "what engines do by themselves, or every schedule, sharding and offload", kTrainPlan,
      true, offer({"usual", "full"}));
  // the buyer
  add("--objective", "O", "cost, time, energy or gpus", kBoth, true, offer({"cost", "time", "energy", "gpus"}));
  add("--budget", "$", "of the run, or of a year of serving: $2M", kBoth);
  add("--power", "W", "of all devices and hosts: 500kW", kBoth);
  add("--max-rack", "W", "that one rack can supply and cool: 40kW", kBoth);
  add("--air-cooled", "", "there is no liquid cooling", kBoth);
  add("--rent", "", "by the hour (the default)", kBoth);
  add("--own", "", "bought and housed", kBoth);
  add("--purchase", "P", "on-demand, spot, reserved, own, or any: the cheapest that has a price", kBoth, true,
      offer({"on-demand", "spot", "reserved", "own", "any"}));
  add("--region", "R", "prices of this region or provider only", kEvery);
  add("--price-spread", "", "a price may be any that is quoted: probabilities count the spread of quotes", kBoth);
  add("--vendors", "LIST", "only these", kBoth);
  add("--avoid-vendors", "LIST", "none of these", kBoth);
  add("--origin", "LIST", "vendors of these countries only: CN", kBoth);
  add("--destination", "C", "country of use: devices that need an export licence for it are left out", kBoth);
  add("--vendor-share", "SHARE", "of the work with one vendor, at most: 60%", kServePlan);
  add("--fleet", "LIST", "devices that are there already: h100-sxm:64", kBoth);
  add("--measured", "", "only designs of which measurements are published (software maturity)", kBoth);
  add("--announced", "", "also devices that are not on sale yet", kBoth);
  add("--profile", "P", "hyperscaler, enterprise, startup or public-sector: what such buyers usually ask", kBoth, true,
      offer({"hyperscaler", "enterprise", "startup", "public-sector"}));
  // the run
  add("--top", "N", "devices to show", kEvery, false);
  add("--explain", "N", "the plan of line N in full", kBoth, false);
  add("--why", "", "each device that is left out, and how it could come in", kBoth, false);
  add("--exhaustive", "", "evaluate every candidate, leave nothing out by bounds", kBoth, false);
  add("--threads", "N", "of this machine; all of them if left out", kBoth, false);
  add("--results", "FILE", "keep what is found: FILE.sqlite (checkpoint every second), or FILE.csv at the end", kBoth,
      false, complete_files);
  add("--resume", "", "go on where --results FILE.sqlite stopped", kBoth, false);
  add("--shard", "I/N", "search part I of N (from 0) and keep it in --results; then ridge plan merge", kBoth, false);
  add("--html", "FILE", "write a page with the front and the intervals of the best plans", kBoth, false,
      complete_files);
  add("--save", "DIR", "write the plans as plan files: DIR/1.toml, ...", kBoth, false, complete_directories);
}

void PlanFlags::declare(Options& options) {
  for (Flag& flag : flags_) {
    if (flag.value_name.empty()) {
      options.flag(flag.name, flag.on, flag.help);
    } else {
      options.text(flag.name, flag.value_name, flag.value, flag.help, flag.completer);
    }
  }
}

const PlanFlags::Flag& PlanFlags::find(std::string_view flag) const {
  const auto at = std::find_if(flags_.begin(), flags_.end(), [&](const Flag& f) { return f.name == flag; });
  assert(at != flags_.end());
  return *at;
}

const std::string& PlanFlags::value(std::string_view flag) const {
  return find(flag).value;
}

bool PlanFlags::fill(std::string_view flag, const std::string& value) {
  const auto at = std::find_if(flags_.begin(), flags_.end(), [&](const Flag& f) { return f.name == flag; });
  if (at == flags_.end()) return false;
  if (at->value.empty()) at->value = value;
  return true;
}

std::vector<std::string_view> PlanFlags::names() const {
  std::vector<std::string_view> out;
  for (const Flag& flag : flags_) out.push_back(flag.name);
  return out;
}

void PlanFlags::settle() {
  for (Flag& flag : flags_) {
    if (flag.on) flag.value = "true";
  }
}

Status PlanFlags::check(PlanKind kind) const {
  for (const Flag& flag : flags_) {
    if (flag.value.empty() || (flag.kinds & static_cast<unsigned>(kind)) != 0) continue;
    std::string meant;
    for (const PlanKind other : {PlanKind::serve, PlanKind::train, PlanKind::rl}) {
      if ((flag.kinds & static_cast<unsigned>(other)) == 0) continue;
      meant += (meant.empty() ? "" : " and ") + std::string(name(other));
    }
    return Error{ErrorCode::bad_input, flag.name,
                 fmt::format("is for {}, not for {}: leave it out", meant, name(kind))};
  }
  return {};
}

std::string PlanFlags::question(PlanKind kind) const {
  std::string out(name(kind));
  for (const Flag& flag : flags_) {
    if (flag.describes && !flag.value.empty()) out += "\n" + flag.name + "=" + flag.value;
  }
  return out;
}

void PlanFlags::restore(std::string_view question) {
  std::size_t at = question.find('\n');
  while (at != std::string_view::npos) {
    const std::size_t end = question.find('\n', at + 1);
    const std::string_view line = question.substr(at + 1, end == std::string_view::npos ? end : end - at - 1);
    const std::size_t equals = line.find('=');
    if (equals != std::string_view::npos) fill(line.substr(0, equals), std::string(line.substr(equals + 1)));
    at = end;
  }
}

}  // namespace ridge::cli
