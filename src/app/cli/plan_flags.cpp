#include "app/cli/plan_flags.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "app/cli/session.hpp"
#include "ridge/text.hpp"

namespace ridge::cli {

namespace {

constexpr unsigned kServe = static_cast<unsigned>(PlanKind::serve);
constexpr unsigned kTrain = static_cast<unsigned>(PlanKind::train);
constexpr unsigned kBoth = kServe | kTrain;

std::vector<std::string> model_ids(Session& session, const std::vector<std::string>&) {
  std::vector<std::string> ids;
  if (const auto catalogue = session.catalogue()) {
    for (const Model& model : (*catalogue)->models()) ids.push_back(model.id);
  }
  return ids;
}
std::vector<std::string> device_ids(Session& session, const std::vector<std::string>&) {
  std::vector<std::string> ids = {"all"};
  if (const auto catalogue = session.catalogue()) {
    for (const Device& device : (*catalogue)->devices()) ids.push_back(device.id);
  }
  return ids;
}

Completer words(std::vector<std::string> known) {
  return [known = std::move(known)](Session&, const std::vector<std::string>&) { return known; };
}

}  // namespace

std::string_view name(PlanKind kind) {
  return kind == PlanKind::serve ? "serve" : "train";
}

PlanFlags::PlanFlags() {
  const auto add = [&](const char* flag, const char* value, const char* help, unsigned kinds, bool describes = true,
                       Completer completer = {}) {
    flags_.push_back({flag, value, help, kinds, describes, std::move(completer)});
  };
  add("--model", "M", "an id, the path of a config.json, or written out: dense:layers=32,...", kBoth, true, model_ids);
  // the work
  add("--request-rate", "R", "requests per second; left out with --gpus: as many as these can take", kServe);
  add("--isl", "TOKENS", "input of a request", kServe);
  add("--osl", "TOKENS", "output of a request", kServe);
  add("--ttft", "TIME", "time to first token, at most: 1s", kServe);
  add("--tpot", "TIME", "time per output token, at most: 40ms", kServe);
  add("--e2e", "TIME", "time of a whole request, at most", kServe);
  add("--prefix-hit", "SHARE", "of the input that a prefix cache holds", kServe);
  add("--load", "SHARE", "mean load of a replica, of what it can do within the limits: 0.8", kServe);
  add("--tokens", "N", "to train on: 15T", kTrain);
  add("--days", "N", "for the run, at most", kTrain);
  add("--seq-length", "TOKENS", "of one training sequence", kTrain);
  add("--global-batch", "N", "sequences of one step", kTrain);
  add("--task", "T", "pretrain, sft or lora", kTrain, true, words({"pretrain", "sft", "lora"}));
  add("--goodput", "SHARE", "of the time that counts: without failures and restarts", kTrain);
  // the space
  add("--devices", "LIST", "all, or ids: h100-sxm,mi300x", kBoth, true, device_ids);
  add("--gpus", "N", "serve: at most so many; train: on so many, or a list: 512,1024", kBoth);
  add("--engine", "E", "vllm, trtllm, sglang, ...; megatron, nemo, fsdp, ...", kBoth);
  add("--precision", "LIST", "of the weights, or of training: bf16,fp8", kBoth);
  add("--kv-precision", "LIST", "of the KV cache: bf16,fp8", kServe);
  add("--tp", "N", "tensor parallel, fixed", kBoth);
  add("--pp", "N", "pipeline stages, fixed", kBoth);
  add("--mixed-pools", "", "prefill and decode may run on devices of different vendors", kServe);
  add("--no-speculation", "", "models that predict tokens ahead do not use it", kServe);
  add("--vp", "N", "chunks of a stage, fixed", kTrain);
  add("--cp", "N", "context parallel, fixed", kTrain);
  add("--ep", "N", "expert parallel, fixed", kTrain);
  add("--micro-batch", "N", "fixed", kTrain);
  add("--sharding", "S", "none, zero1, zero2, zero3 or hsdp, fixed", kTrain);
  add("--space", "usual|full", "what engines do by themselves, or every schedule, sharding and offload", kTrain, true,
      words({"usual", "full"}));
  // the buyer
  add("--objective", "O", "cost, time, energy or gpus", kBoth, true, words({"cost", "time", "energy", "gpus"}));
  add("--budget", "$", "of the run, or of a year of serving: $2M", kBoth);
  add("--power", "W", "of all devices and hosts: 500kW", kBoth);
  add("--max-rack", "W", "that one rack can supply and cool: 40kW", kBoth);
  add("--air-cooled", "", "there is no liquid cooling", kBoth);
  add("--rent", "", "by the hour (the default)", kBoth);
  add("--own", "", "bought and housed", kBoth);
  add("--purchase", "P", "on-demand, spot, reserved or own", kBoth, true,
      words({"on-demand", "spot", "reserved", "own"}));
  add("--region", "R", "prices of this region or provider only", kBoth);
  add("--vendors", "LIST", "only these", kBoth);
  add("--avoid-vendors", "LIST", "none of these", kBoth);
  add("--origin", "LIST", "vendors of these countries only: CN", kBoth);
  add("--destination", "C", "country of use: devices that need an export licence for it are left out", kBoth);
  add("--vendor-share", "SHARE", "of the work with one vendor, at most: 60%", kServe);
  add("--fleet", "LIST", "devices that are there already: h100-sxm:64", kBoth);
  add("--measured", "", "only designs of which measurements are published (software maturity)", kBoth);
  add("--announced", "", "also devices that are not on sale yet", kBoth);
  add("--profile", "P", "hyperscaler, enterprise, startup or public-sector: what such buyers usually ask", kBoth, true,
      words({"hyperscaler", "enterprise", "startup", "public-sector"}));
  // the run
  add("--top", "N", "devices to show", kBoth, false);
  add("--explain", "N", "the plan of line N in full", kBoth, false);
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
    return Error{ErrorCode::bad_input, flag.name,
                 fmt::format("is for {}, not for {}: leave it out",
                             name(kind == PlanKind::serve ? PlanKind::train : PlanKind::serve), name(kind))};
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
