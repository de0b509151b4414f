#include "evidence/measured/device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>

#include "ridge/base/text.hpp"

namespace ridge::evidence {
namespace {

/// "NVIDIA A100-SXM4-80GB" → {"nvidia", "a100", "sxm4", "80gb"}.
std::vector<std::string> name_words(std::string_view text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

bool has_digit(std::string_view word) {
  return word.find_first_of("0123456789") != std::string_view::npos;
}

/// How well a device fits what the driver says; below 0 if it is another one.
double likeness(const measure::Facts& facts, const Device& device) {
  constexpr double kMemory = 0.12, kCores = 0.001;
  const std::vector<std::string> said = name_words(facts.name);
  const std::vector<std::string> names = name_words(device.id + " " + device.name);
  const auto has = [](const std::vector<std::string>& words, const std::string& word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  // The first word with a digit is the model ("h200", "4090"); units of memory are not.
  const auto model =
      std::find_if(said.begin(), said.end(), [](const std::string& w) { return has_digit(w) && !w.ends_with("gb"); });
  if (model == said.end()) return -1;
  const bool named = has(names, *model) || has(name_words(device.id), "rtx" + *model);
  if (!named) return -1;
  if (facts.memory_bytes > 0 && device.memory_capacity) {
    const double capacity = device.memory_capacity->value.value() * perf::kReportedMemory;
    if (std::abs(facts.memory_bytes / capacity - 1) > kMemory) return -1;
  }
  if (facts.multiprocessors > 0 && device.cores) {
    if (std::abs(facts.multiprocessors / static_cast<double>(device.cores->value) - 1) > kCores) return -1;
  }
  double score = 0;
  for (const std::string& word : said) score += has(names, word) ? 1 : 0;
  // A board is called by its form where that is a card ("H200 NVL", "H100 PCIe"), and is a module where it is not.
  for (const std::string_view form : {"pcie", "nvl", "sxm"}) {
    const auto tells = [&](const std::string& w) { return w.starts_with(form); };
    const bool in_said = std::any_of(said.begin(), said.end(), tells);
    const bool in_names = std::any_of(names.begin(), names.end(), tells);
    if (in_said != in_names) score -= form == "sxm" ? 0.1 : 1;
  }
  if (facts.power_limit_w > 0 && device.tdp)
    score -= std::abs(std::log(facts.power_limit_w / device.tdp->value.value()));
  return std::max(score, 0.0);
}

KernelCase base_case(const measure::Point& p, const std::string& id, std::size_t at) {
  KernelCase c;
  c.id = fmt::format("point-{}", at + 1);
  c.source = "profile";
  c.device = id;
  c.m = p.m, c.n = p.n, c.k = p.k;
  c.batch = p.batch, c.q_heads = p.q_heads, c.kv_heads = p.kv_heads, c.head_dim = p.head_dim;
  c.q_len = p.q_len, c.kv_len = p.kv_len;
  c.experts = p.experts, c.top_k = p.top_k;
  c.group = p.group > 0 ? p.group : 1;
  c.bytes = p.bytes;
  c.measured = p.seconds;
  return c;
}

}  // namespace

Result<std::string> device_like(const measure::Profile& profile, const Catalogue& catalogue) {
  if (!profile.like.empty()) {
    const Result<Device> named = catalogue.find_device(profile.like);
    if (!named) return named.error();
    return named->id;
  }
  const Device* best = nullptr;
  double most = -1;
  std::vector<std::string_view> ids;
  for (const Device& device : catalogue.devices()) {
    ids.push_back(device.id);
    const double score = likeness(profile.facts, device);
    if (score > most) {
      most = score;
      best = &device;
    }
  }
  if (best != nullptr) return best->id;
  const std::string near = nearest(profile.facts.name, ids.data(), ids.size());
  return Error{ErrorCode::bad_input, profile.facts.name,
               fmt::format("is no device of the catalogue{}; say which it is like by a line `like = \"ID\"` in the "
                           "profile, or describe it in a file for ⟦overlay⟧",
                           near.empty() ? "" : fmt::format(" (near: {})", near))};
}

OverlayText measured_overlay(const measure::Profile& profile, const Device& device) {
  const measure::Facts& f = profile.facts;
  std::string text = fmt::format(
      "[[architecture]]\nid = \"{0}-measured\"\nbased_on = \"{0}\"\ninherits = \"{0}\"\nsource = \"outside\"\n\n"
      "[[device]]\nid = \"{1}\"\nbased_on = \"{1}\"\nreplace = true\nsource = \"outside\"\n"
      "architecture = \"{0}-measured\"\n",
      device.architecture, device.id);
  if (f.l2_bytes > 0) text += fmt::format("memory.l2 = \"{:.2f} MB\"\n", f.l2_bytes / 1e6);
  if (f.multiprocessors > 0) text += fmt::format("cores.count = {}\n", f.multiprocessors);
  if (f.pcie_generation > 0) text += fmt::format("host.pcie_generation = {}\n", f.pcie_generation);
  return {"profile of " + f.name, std::move(text)};
}

std::vector<KernelCase> measured_cases(const measure::Profile& profile, const std::string& id) {
  static const std::map<std::string_view, KernelOp> kOps = {{"gemm", KernelOp::gemm},
                                                            {"attn_prefill", KernelOp::attn_prefill},
                                                            {"moe_ffn", KernelOp::moe_ffn},
                                                            {"attn_decode", KernelOp::attn_decode},
                                                            {"norm", KernelOp::copy},
                                                            {"activation", KernelOp::copy},
                                                            {"allreduce", KernelOp::allreduce},
                                                            {"reducescatter", KernelOp::reducescatter},
                                                            {"h2d", KernelOp::h2d},
                                                            {"allgather", KernelOp::allgather},
                                                            {"alltoall", KernelOp::alltoall},
                                                            {"sendrecv", KernelOp::sendrecv}};
  constexpr double kLargeCopy = 64e6;  // below, a copy from the host is its latency
  std::vector<KernelCase> cases;
  for (std::size_t i = 0; i < profile.points.size(); ++i) {
    const measure::Point& p = profile.points[i];
    const auto op = kOps.find(p.op);
    if (op == kOps.end()) continue;
    if (op->second == KernelOp::h2d && p.bytes < kLargeCopy) continue;
    KernelCase c = base_case(p, id, i);
    c.op = op->second;
    if (!p.format.empty()) {
      const Result<Format> format = parse_format(p.format);
      if (!format) continue;
      c.weights = c.activations = *format;
    }
    c.path = perf::AttentionPath::native;
    c.routing = Routing::balanced;
    c.kernel = perf::MoeKernel::library;
    cases.push_back(std::move(c));
  }
  return cases;
}

}  // namespace ridge::evidence
