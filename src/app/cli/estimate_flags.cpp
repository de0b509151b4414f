#include "app/cli/estimate_flags.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>

#include "app/cli/session.hpp"
#include "ridge/text.hpp"

namespace ridge::cli {

namespace {

constexpr unsigned kServing = kInfer | kTechniques | kCompare;
constexpr unsigned kAll = kServing | kTrain | kFit | kDiffusion | kSimulate;
constexpr unsigned kDeployment = kServing | kSimulate;

std::vector<std::string> model_ids(Session& session, const std::vector<std::string>&) {
  std::vector<std::string> ids;
  if (const auto catalogue = session.catalogue()) {
    for (const Model& model : (*catalogue)->models()) ids.push_back(model.id);
  }
  return ids;
}
std::vector<std::string> device_ids(Session& session, const std::vector<std::string>&) {
  std::vector<std::string> ids;
  if (const auto catalogue = session.catalogue()) {
    for (const Device& device : (*catalogue)->devices()) ids.push_back(device.id);
  }
  return ids;
}
std::vector<std::string> system_ids(Session& session, const std::vector<std::string>&) {
  std::vector<std::string> ids;
  if (const auto catalogue = session.catalogue()) {
    for (const System& system : (*catalogue)->systems()) ids.push_back(system.id);
  }
  return ids;
}
std::vector<std::string> engine_ids(Session& session, const std::vector<std::string>&) {
  std::vector<std::string> ids;
  if (const auto engines = session.engines()) {
    for (const Engine& engine : (*engines)->all()) ids.push_back(engine.id);
  }
  return ids;
}
std::vector<std::string> format_names(Session&, const std::vector<std::string>&) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kFormats; ++i) names.emplace_back(name(static_cast<Format>(i)));
  return names;
}

Completer words(std::vector<std::string> known) {
  return [known = std::move(known)](Session&, const std::vector<std::string>&) { return known; };
}

Error wrong(std::string_view flag, std::string message) {
  return {ErrorCode::bad_input, std::string(flag), std::move(message)};
}

}  // namespace

std::string_view name(EstimateWord word) {
  switch (word) {
    case kInfer:
      return "infer";
    case kTrain:
      return "train";
    case kFit:
      return "fit";
    case kTechniques:
      return "techniques";
    case kCompare:
      return "compare";
    case kDiffusion:
      return "diffusion";
  }
  return "";
}

Error too_many_devices(std::string_view flag, double product) {
  return wrong(flag, fmt::format("the degrees multiply to {} devices, more than {} are not planned for",
                                 format_number(product, 7), format_number(kMostDevices, 7)));
}

EstimateFlags::EstimateFlags() {
  const auto add = [&](const char* flag, const char* value, const char* help, unsigned words,
                       Completer completer = {}) {
    flags_.push_back({flag, value, help, words, std::move(completer)});
  };
  add("--model", "M", "an id, the path of a config.json, or written out: dense:layers=32,...", kAll, model_ids);
  add("--device", "D", "an id, or a share of a device: h100-sxm/mig-3g.40gb; compare and fit take a list: a,b", kAll,
      device_ids);
  add("--system", "S", "a server, rack or pod of the catalogue, instead of --device", kDeployment | kTrain, system_ids);
  add("--gpus", "N", "devices in all", kDeployment | kTrain | kDiffusion);
  add("--tp", "N", "tensor parallel", kDeployment | kTrain);
  add("--pp", "N", "pipeline stages", kDeployment | kTrain);
  add("--ep", "N", "ranks that share the experts of a layer out among them", kDeployment | kTrain);
  add("--dp", "N", "data parallel: with experts, attention ranks around them", kDeployment | kTrain);
  add("--dispatch", "HOW", "tokens reach experts on other ranks: gather, kernels, low-latency or throughput",
      kDeployment, words({"gather", "kernels", "low-latency", "throughput"}));
  add("--redundant-experts", "N", "copies of experts in each layer, so that ranks share them evenly", kDeployment);
  add("--two-batch-overlap", "on|off", "two halves of a batch hide each other's exchange of tokens", kDeployment,
      words({"on", "off"}));
  add("--eplb", "on|off", "experts are placed by their load", kDeployment, words({"on", "off"}));
  add("--precision", "F", "of weights and activations: bf16, fp16, fp8, int8, int4, awq, mxfp4, nvfp4", kAll,
      format_names);
  add("--weight-precision", "F", "of the weights alone", kDeployment, format_names);
  add("--activation-precision", "F", "of the activations alone", kDeployment, format_names);
  add("--kv-precision", "F", "of the KV cache: bf16, fp8, int8", kDeployment | kFit, format_names);
  add("--engine", "E", "vllm, trtllm, sglang, pytorch, ideal (the datasheet alone), ...", kAll, engine_ids);
  add("--engine-version", "V", "a release: 0.12", kDeployment | kTrain);
  add("--isl", "TOKENS", "input of a request", kDeployment | kFit);
  add("--osl", "TOKENS", "output of a request", kDeployment | kFit);
  add("--batch", "B", "so many sequences start together and run to the end; images of one call", kServing | kDiffusion);
  add("--concurrency", "C", "so many clients, each sends a request when the last one has ended", kDeployment);
  add("--offline", "", "all requests are there at once; the engine chooses the batch", kDeployment);
  add("--prefill", "", "prompts alone, nothing is decoded; --batch says how many together", kInfer | kCompare);
  add("--prefix-hit", "SHARE", "of the input that the prefix cache holds: 0.5 or 50%", kDeployment);
  add("--draft-tokens", "N", "speculative decoding: tokens proposed per step", kDeployment);
  add("--acceptance", "SHARE", "of proposed tokens that are accepted", kDeployment);
  add("--lora-rank", "R", "adapters applied beside the weights", kDeployment | kTrain);
  add("--power-cap", "W", "limit of each device: 500W", kDeployment | kTrain | kDiffusion);
  add("--max-batched-tokens", "N", "of the engine, per step", kDeployment);
  add("--max-num-seqs", "N", "of the engine, running at once", kDeployment);
  add("--gpu-memory-utilization", "SHARE", "of the device that the engine may fill", kDeployment);
  add("--cpu-offload-gb", "GIB", "weights of each device that wait in host memory, as vLLM counts them", kDeployment);
  add("--vp", "N", "chunks of one pipeline stage (interleaved schedule)", kTrain);
  add("--cp", "N", "context parallel", kTrain);
  add("--etp", "N", "tensor parallel inside an expert", kTrain);
  add("--sharding", "S", "of optimizer, gradients and weights: none, zero1, zero2, zero3, hsdp", kTrain,
      words({"none", "zero1", "zero2", "zero3", "hsdp"}));
  add("--seq-length", "TOKENS", "of one training sequence", kTrain);
  add("--global-batch", "N", "sequences of one step", kTrain);
  add("--micro-batch", "N", "sequences that one replica works on at once", kTrain);
  add("--recompute", "R", "none, selective, full, or unknown: the least that fits", kTrain,
      words({"none", "selective", "full", "unknown"}));
  add("--schedule", "S", "of the pipeline: 1f1b, interleaved, zero-bubble or dualpipe", kTrain,
      words({"1f1b", "interleaved", "zero-bubble", "dualpipe"}));
  add("--cp-kind", "K", "of context parallelism: ring, all-gather or ulysses", kTrain,
      words({"ring", "all-gather", "ulysses"}));
  add("--task", "T", "pretrain, sft or lora", kTrain, words({"pretrain", "sft", "lora"}));
  add("--mtp", "", "train the multi-token-prediction layers too", kTrain);
  add("--offload", "SHARE", "of the kept activations that wait in host memory", kTrain);
  add("--offload-optimizer", "", "state and update of the optimizer are on the host", kTrain);
  add("--shard-group", "N", "ranks that share one copy under --sharding hsdp; usual: a scale-up domain", kTrain);
  add("--imbalance", "X", "tokens of the busiest expert rank over the mean: 1.2", kTrain);
  add("--capacity", "X", "experts drop what exceeds this multiple of their mean load; left out: none is dropped",
      kTrain);
  add("--wide-layers", "N", "layers whose products stay in 16 bits under fp8, mxfp8 or nvfp4", kTrain);
  add("--oversubscription", "X", "ports of a pod over its links to other pods: 2 is two to one", kTrain);
  add("--pod", "N", "devices that a network without oversubscription joins", kTrain);
  add("--reduction", "WHERE", "switches that add up all-reduces: none, nvls, sharp or both", kTrain,
      words({"none", "nvls", "sharp", "both"}));
  add("--rank-order", "O", "fastest first: tp-cp-ep-dp-pp (usual) or tp-cp-ep-pp-dp", kTrain,
      words({"tp-cp-ep-dp-pp", "tp-cp-ep-pp-dp"}));
  add("--data-rate", "RATE", "at which one node reads the data set: 2GB/s; left out: never the limit", kTrain);
  add("--data-bytes", "B", "of one token in the data set; usual: 4, a 32-bit index", kTrain);
  add("--tokens", "N", "of the whole run, for days and GPU-hours: 15T", kTrain);
  add("--scale", "weak|strong", "the curve over --from to --to devices: the batch grows with them, or stays", kTrain,
      words({"weak", "strong"}));
  add("--from", "N", "devices at which the curve starts", kTrain);
  add("--to", "N", "devices at which it ends", kTrain);
  add("--svg", "FILE", "write the curve of --scale as a figure", kTrain, complete_files);
  add("--trace", "FILE", "write one step of the pipeline for a browser's trace viewer", kTrain, complete_files);
  add("--steps", "N", "denoising steps of an image", kDiffusion);
  add("--resolution", "PIXELS", "of an image: 1024, or 1920x1080", kDiffusion);
  add("--ulysses", "N", "devices that share the heads of an image", kDiffusion);
  add("--ring", "N", "devices around which keys and values of an image pass", kDiffusion);
  add("--html", "FILE", "write a page with charts: of the roofline and the operators on it, or of the step",
      kCompare | kTrain, complete_files);
  add("--disaggregate", "",
      "prompts on one pool of engines, tokens on another; the clients are those of one decode engine", kInfer);
  add("--prefill-device", "D", "of the engines for prompts, with --prefill-tp, --prefill-dp and --prefill-ep", kInfer,
      device_ids);
  add("--prefill-tp", "N", "of one engine for prompts", kInfer);
  add("--prefill-dp", "N", "of one engine for prompts: attention ranks around shared experts", kInfer);
  add("--prefill-ep", "N", "of one engine for prompts: ranks that share the experts", kInfer);
  add("--kv-link", "RATE", "out of one engine for prompts: 50GB/s; else its network cards", kInfer);
  add("--explain", "", "the operators, each with its time, bound and share of the roofline", kInfer);
}

void EstimateFlags::declare(Options& options, unsigned words) {
  for (Flag& flag : flags_) {
    if ((flag.words & words) != 0) declare_one(options, flag);
  }
}

void EstimateFlags::declare_only(Options& options, std::initializer_list<std::string_view> names) {
  for (Flag& flag : flags_) {
    if (std::find(names.begin(), names.end(), flag.name) != names.end()) declare_one(options, flag);
  }
}

void EstimateFlags::declare_one(Options& options, Flag& flag) {
  if (flag.value_name.empty()) {
    options.flag(flag.name, flag.on, flag.help);
  } else {
    options.text(flag.name, flag.value_name, flag.value, flag.help, flag.completer);
  }
}

const EstimateFlags::Flag& EstimateFlags::find(std::string_view flag) const {
  const auto at = std::find_if(flags_.begin(), flags_.end(), [&](const Flag& f) { return f.name == flag; });
  assert(at != flags_.end());
  return *at;
}

const std::string& EstimateFlags::value(std::string_view flag) const {
  return find(flag).value;
}

bool EstimateFlags::is_on(std::string_view flag) const {
  return find(flag).on;
}

void EstimateFlags::set(std::string_view flag, std::string value) {
  Flag& found = const_cast<Flag&>(find(flag));
  if (found.value_name.empty()) {
    found.on = !value.empty();
  } else {
    found.value = std::move(value);
  }
}

Status EstimateFlags::check(EstimateWord word) const {
  for (const Flag& flag : flags_) {
    if ((flag.value.empty() && !flag.on) || (flag.words & word) != 0) continue;
    std::string meant;
    for (const EstimateWord other : kEstimateWords) {
      if ((flag.words & other) != 0) meant += (meant.empty() ? "" : ", ") + std::string(name(other));
    }
    return wrong(flag.name, fmt::format("is for {}, not for {}: leave it out", meant, name(word)));
  }
  return {};
}

Result<double> read_count(std::string_view flag, const std::string& text, double otherwise, double low, double high) {
  if (text.empty()) return otherwise;
  const Result<double> number = parse_count(text);
  if (!number) return wrong(flag, number.error().message);
  if (*number < low || *number > high) {
    return wrong(flag, fmt::format("{} is outside of {} to {}", text, format_number(low, 7), format_number(high, 7)));
  }
  return number;
}

Result<int> read_whole(std::string_view flag, const std::string& text, int otherwise, int low, int high) {
  const Result<double> number = read_count(flag, text, otherwise, low, high);
  if (!number) return number.error();
  if (*number != std::floor(*number)) return wrong(flag, fmt::format("{} is no whole number", text));
  return static_cast<int>(*number);
}

Result<double> EstimateFlags::count(std::string_view flag, double otherwise, double low, double high) const {
  return read_count(flag, value(flag), otherwise, low, high);
}

Result<int> EstimateFlags::whole(std::string_view flag, int otherwise, int low, int high) const {
  return read_whole(flag, value(flag), otherwise, low, high);
}

Result<double> EstimateFlags::share(std::string_view flag, double otherwise) const {
  const std::string& text = value(flag);
  if (text.empty()) return otherwise;
  const Result<double> number = parse_share(text);
  if (!number) return wrong(flag, number.error().message);
  return number;
}

Result<std::vector<std::string>> split_list(std::string_view flag, std::string_view text) {
  std::vector<std::string> parts;
  if (text.find(':') != std::string_view::npos) return std::vector<std::string>{std::string(text)};
  while (true) {
    const std::size_t comma = std::min(text.find(','), text.size());
    std::string part(text.substr(0, comma));
    part.erase(0, part.find_first_not_of(' '));
    part.erase(part.find_last_not_of(' ') + 1);
    if (part.empty()) return wrong(flag, "a part of the list is empty: write a,b,c");
    parts.push_back(std::move(part));
    if (comma == text.size()) return parts;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace ridge::cli
