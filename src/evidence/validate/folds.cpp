#include "evidence/validate/folds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "ridge/base/letters.hpp"

namespace ridge::evidence {
namespace {

std::string model_key(const Case& c, const Catalogue& catalogue) {
  if (const auto* kernel = std::get_if<KernelCase>(&c.input)) return shape_key(*kernel);
  const auto model = catalogue.find_model(c.model);
  return model ? shape_fingerprint(*model) : c.model;
}

}  // namespace

std::string shape_key(const KernelCase& c) {
  const std::string_view group = family(c.op);
  if (group == "gemm" || group == "moe") return fmt::format("{} {} {}", group, c.n, c.k);
  if (group == "attention") return fmt::format("{} {} {} {}", group, c.q_heads, c.kv_heads, c.head_dim);
  return fmt::format("{} {}", name(c.op), c.bytes);
}

std::string_view name(FoldBy by) {
  switch (by) {
    case FoldBy::models:
      return "models";
    case FoldBy::devices:
      return "devices";
    case FoldBy::sources:
      return "sources";
  }
  return "";
}

std::string shape_fingerprint(const Model& model) {
  std::string out = fmt::format("h{}", model.hidden);
  for (const LayerGroup& g : model.groups) {
    const Mixer& m = g.mixer;
    const Ffn& f = g.ffn;
    out += fmt::format("|{}x{}:{}/{}/{}w{}r{}-{}s{}/{}", g.count, static_cast<int>(m.kind), m.heads, m.kv_heads,
                       m.head_dim, m.window, m.q_lora_rank, m.kv_lora_rank, m.state_k_heads, m.state_v_heads);
    out += fmt::format("f{}:{}g{}e{}k{}s{}/{}", static_cast<int>(f.kind), f.width, f.gated ? 1 : 0, f.experts, f.top_k,
                       f.shared_experts, f.shared_width);
  }
  return out;
}

std::string publisher(std::string_view source) {
  const std::string text = lower(source);
  for (const std::string_view family : {"trtllm", "argonne", "aiconfigurator", "ml-energy"}) {
    if (text.starts_with(family)) return std::string(family);
  }
  // Korthikanti et al. 2022 measured Megatron-LM at NVIDIA.
  if (text.find("nvidia") != std::string::npos || text.starts_with("korthikanti")) return "nvidia";
  return text;
}

std::string fold_key(const Case& c, FoldBy by, const Catalogue& catalogue) {
  switch (by) {
    case FoldBy::models:
      return model_key(c, catalogue);
    case FoldBy::devices:
      return c.device;
    case FoldBy::sources:
      return publisher(c.source);
  }
  return {};
}

std::vector<Fold> make_folds(std::span<const Case> cases, FoldBy by, const Catalogue& catalogue, std::size_t limit) {
  std::map<std::string, Fold> by_key;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    Fold& fold = by_key[fold_key(cases[i], by, catalogue)];
    if (fold.cases.empty()) {
      fold.name = by == FoldBy::models    ? cases[i].model
                  : by == FoldBy::devices ? cases[i].device
                                          : publisher(cases[i].source);
      if (fold.name.empty()) fold.name = cases[i].mode;
    }
    fold.cases.push_back(i);
  }
  std::vector<Fold> parts;
  for (auto& [key, fold] : by_key) parts.push_back(std::move(fold));
  if (parts.size() <= limit) return parts;
  std::stable_sort(parts.begin(), parts.end(),
                   [](const Fold& a, const Fold& b) { return a.cases.size() > b.cases.size(); });
  std::vector<Fold> folds(limit);
  for (const Fold& part : parts) {
    Fold& smallest = *std::min_element(folds.begin(), folds.end(),
                                       [](const Fold& a, const Fold& b) { return a.cases.size() < b.cases.size(); });
    smallest.name += (smallest.name.empty() ? "" : "+") + part.name;
    smallest.cases.insert(smallest.cases.end(), part.cases.begin(), part.cases.end());
  }
  for (Fold& fold : folds) std::sort(fold.cases.begin(), fold.cases.end());
  return folds;
}

}  // namespace ridge::evidence
