#include "ridge/catalogue/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ridge/base/letters.hpp"
#include "ridge/base/text.hpp"

namespace ridge {

namespace {

using Words = std::vector<std::string>;
using Spelling = std::pair<std::string_view, std::string_view>;

/// Words after which a checkpoint still has the shape of the model it was made from.
constexpr auto kModelEndings = std::to_array<std::string_view>(
    {"instruct", "chat",      "hf",       "base", "it",   "pt",     "thinking",  "reasoning", "preview", "turbo",
     "fp8",      "nvfp4",     "mxfp4",    "fp4",  "awq",  "gptq",   "int4",      "int8",      "w4a16",   "w8a8",
     "w8a16",    "bf16",      "fp16",     "4bit", "8bit", "bnb",    "quantized", "dynamic",   "kv",      "block",
     "v0.1",     "v0.2",      "v0.4",     "v1.0", "v01",  "4k",     "8k",        "32k",       "128k",    "1m",
     "terminus", "diffusers", "original", "mlx",  "meta", "nvidia", "c4ai",      "08",        "text"});

/// What makers call a model that has the shape of another, and what people leave out of a name.
constexpr auto kModelSpellings = std::to_array<Spelling>({
    {"deepseek-v3-671b", "deepseek-v3"},
    {"r1", "deepseek-r1"},
    {"deepseek-r1-distill-llama-8b", "llama3.1-8b"},
    {"deepseek-r1-distill-llama-70b", "llama3.3-70b"},
    {"deepseek-r1-distill-qwen-1.5b", "qwen2.5-1.5b"},
    {"deepseek-r1-distill-qwen-7b", "qwen2.5-7b"},
    {"deepseek-r1-distill-qwen-14b", "qwen2.5-14b"},
    {"deepseek-r1-distill-qwen-32b", "qwen2.5-32b"},
    {"llama-3.1-nemotron-70b", "llama3.1-70b"},
    {"llama-3.3-nemotron-super-49b-v1", "llama3.3-nemotron-super-49b"},
    {"llama-3.3-nemotron-super-49b-v1.5", "llama3.3-nemotron-super-49b"},
    {"nemotron-super-49b", "llama3.3-nemotron-super-49b"},
    {"mistral-large-3-675b", "mistral-large-3"},
    {"mistral-large-3-675b-instruct-2512", "mistral-large-3"},
    {"llama-3-405b", "llama3.1-405b"},
    {"llama-405b", "llama3.1-405b"},
    {"llama2-70b-99", "llama2-70b"},
    {"llama2-70b-99.9", "llama2-70b"},
    {"gptj", "gpt-j-6b"},
    {"gptj-99", "gpt-j-6b"},
    {"bloom", "bloom-176b"},
    {"gpt3", "gpt3-175b"},
    {"qwen2-0.5b", "qwen2.5-0.5b"},
    {"qwen2-1.5b", "qwen2.5-1.5b"},
    {"qwen2-7b", "qwen2.5-7b"},
    {"qwen2-72b", "qwen2.5-72b"},
    {"qwen2.5-coder-7b", "qwen2.5-7b"},
    {"qwen2.5-coder-14b", "qwen2.5-14b"},
    {"qwen2.5-coder-32b", "qwen2.5-32b"},
    {"sdxl", "sdxl-unet"},
    {"stable-diffusion-xl", "sdxl-unet"},
    {"stable-diffusion-xl-base-1.0", "sdxl-unet"},
});

/// Words on a device that tell nothing apart: makers, brands, kinds of memory.
constexpr auto kDeviceWords = std::to_array<std::string_view>(
    {"nvidia",    "amd",    "intel",   "google",   "aws",   "amazon", "huawei",      "habana",
     "microsoft", "tesla",  "geforce", "instinct", "cloud", "gpu",    "accelerator", "hgx",
     "dgx",       "nvlink", "hbm2",    "hbm3",     "hbm3e", "grace",  "hopper",      "superchip"});

constexpr auto kDeviceSpellings = std::to_array<Spelling>({
    {"trn1", "trainium1"},
    {"trn2", "trainium2"},
    {"trn3", "trainium3"},
    {"inf2", "inferentia2"},
    {"ponte-vecchio", "max1550"},
    {"tpu-v5-lite", "tpu-v5e"},
    {"v5litepod", "tpu-v5e"},
    {"gh200-480", "gh200-96"},  // nvidia-smi names the processor's memory
    {"gb200-blackwell", "gb200-nvl72"},
    {"spark", "gb10"},
    {"jetson-thor-t5000", "jetson-thor"},
    {"thor", "jetson-thor"},
});

/// Of several that a name fits, the first that stands here: what is sold most under the bare name.
constexpr auto kUsual = std::to_array<std::string_view>({"h100-sxm", "h200-sxm", "a100-sxm-80", "a100-sxm-40",
                                                         "a100-pcie-80", "b200-sxm-180", "gh200-96",
                                                         "rtx-pro-6000-bw-ws", "rtx4090", "h20-96", "rtx-pro-5000-bw"});

bool is_word(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z');
}
bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

/// "Llama-3_1 8B" → llama, 3.1, 8b. A point between digits stays; so does the underscore of repositories that may not
/// write one ("3_1-8B"), but not one between words ("3_8b").
Words words_of(std::string_view text) {
  Words words(1);
  const auto at = [&](std::size_t i) { return i < text.size() ? lower(text[i]) : '\0'; };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = at(i);
    const bool between = i > 0 && is_digit(at(i - 1)) && is_digit(at(i + 1));
    const bool point = between && (c == '.' || (c == '_' && (i < 2 || !is_digit(at(i - 2))) && !is_word(at(i + 2))));
    if (is_word(c)) {
      words.back() += c;
    } else if (point) {
      words.back() += '.';
    } else {
      if (!words.back().empty()) words.emplace_back();
      if (c == '+') words.back() = "plus";  // Command R+
    }
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

std::string joined(const Words& words) {
  std::string out;
  for (const std::string& token : words) out += token;
  return out;
}

std::string_view without_parentheses(std::string_view name) {
  return name.substr(0, name.find(" ("));
}

template <std::size_t N>
bool contains(const std::array<std::string_view, N>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

bool is_ending(std::string_view token) {
  return contains(kModelEndings, token) || (token.size() == 4 && all_digits(token));  // "-2507"
}

/// "8b", "1.5b", "a3b", "560m": how large a model is.
bool is_size(std::string_view token) {
  if (token.starts_with('a')) token.remove_prefix(1);
  if (token.size() < 2 || (token.back() != 'b' && token.back() != 'm' && token.back() != 't')) return false;
  token.remove_suffix(1);
  return std::all_of(token.begin(), token.end(), [](char c) { return is_digit(c) || c == '.'; });
}

std::string quoted_list(const std::vector<std::string_view>& ids) {
  std::string out;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    out += i == 0 ? "" : i + 1 == ids.size() ? " or " : ", ";
    out += quoted(ids[i]);
  }
  return out;
}

/// Up to three that begin as the word does, for as long as any does: "h1000" → the h100s.
std::vector<std::string_view> alike_at_first(std::string_view word, const std::vector<std::string_view>& ids) {
  constexpr std::size_t kAlike = 3;
  std::vector<std::string_view> best;
  std::size_t longest = kAlike;
  for (const std::string_view id : ids) {
    const auto same =
        static_cast<std::size_t>(std::mismatch(word.begin(), word.end(), id.begin(), id.end()).first - word.begin());
    if (same > longest) best.clear();
    if (same < longest || best.size() == 3) continue;
    longest = same;
    best.push_back(id);
  }
  return best;
}

template <class Entries>
Error unknown(std::string_view what, std::string_view name, std::string_view folded, const Entries& entries,
              std::string_view else_works) {
  const std::string_view family = folded.substr(0, folded.find('-'));
  std::vector<std::string_view> ids;
  std::vector<std::string_view> relatives;  // better suggestions than a name that only looks alike
  for (const auto& entry : entries) {
    ids.push_back(entry.id);
    if (!family.empty() && entry.id.starts_with(family)) relatives.push_back(entry.id);
  }
  if (!relatives.empty()) ids = std::move(relatives);
  std::string near = nearest(folded, ids.data(), ids.size());
  if (near.empty()) near = quoted_list(alike_at_first(folded, ids));
  return {ErrorCode::not_found, "",
          fmt::format("there is no {} {}{}{}", what, quoted(name),
                      near.empty() ? "" : fmt::format(" (did you mean {}?)", near), else_works)};
}

Error ambiguous(std::string_view what, std::string_view name, std::vector<std::string_view> ids) {
  constexpr std::size_t kShown = 6;
  std::sort(ids.begin(), ids.end());
  if (ids.size() > kShown) ids.resize(kShown);
  return {ErrorCode::not_found, "",
          fmt::format("the {} {} may be {}: write which", what, quoted(name), quoted_list(ids))};
}

/// Spellings of models without separators, in the order in which they count.
class ModelKeys {
 public:
  explicit ModelKeys(const Catalogue& catalogue) {
    for (const Model& model : catalogue.models()) {
      Words id = words_of(model.id);
      add(0, joined(id), model);
      add(1, joined(words_of(without_parentheses(model.name))), model);
      if (id.size() > 1 && is_size(id[1])) {  // "llama 70b" leaves the generation open
        Words family = id;
        while (!family[0].empty() && (is_digit(family[0].back()) || family[0].back() == '.')) family[0].pop_back();
        if (!family[0].empty() && family[0] != id[0]) add(2, joined(family), model);
      }
      while (id.size() > 1 && is_size(id.back())) {  // "qwen3-30b", "mistral-large"
        id.pop_back();
        add(2, joined(id), model);
      }
    }
    for (const auto& [spelling, id] : kModelSpellings) {
      if (const Model* model = catalogue.model(id)) add(1, joined(words_of(spelling)), *model);
    }
  }

  static constexpr std::size_t kLevels = 3;
  [[nodiscard]] const std::vector<const Model*>* find(std::size_t level, const std::string& key) const {
    const auto at = levels_[level].find(key);
    return at == levels_[level].end() ? nullptr : &at->second;
  }

 private:
  void add(std::size_t level, const std::string& key, const Model& model) {
    std::vector<const Model*>& there = levels_[level][key];
    if (std::find(there.begin(), there.end(), &model) == there.end()) there.push_back(&model);
  }
  std::array<std::map<std::string, std::vector<const Model*>>, kLevels> levels_;
};

/// The name with fewer and fewer of its endings, those that leave out least first.
std::vector<std::string> without_endings(const Words& words) {
  constexpr std::size_t kMostEndings = 8;
  std::vector<std::size_t> endings;
  for (std::size_t i = 0; i < words.size() && endings.size() < kMostEndings; ++i) {
    if (is_ending(words[i])) endings.push_back(i);
  }
  std::vector<std::pair<int, std::string>> keys;
  for (unsigned left_out = 0; left_out < (1u << endings.size()); ++left_out) {
    std::string key;
    int count = 0;
    for (std::size_t i = 0; i < words.size(); ++i) {
      const auto at = std::find(endings.begin(), endings.end(), i);
      const bool dropped = at != endings.end() && ((left_out >> (at - endings.begin())) & 1u) != 0;
      if (dropped)
        ++count;
      else
        key += words[i];
    }
    if (!key.empty()) keys.emplace_back(count, std::move(key));
  }
  std::stable_sort(keys.begin(), keys.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> out;
  for (auto& [count, key] : keys) out.push_back(std::move(key));
  return out;
}

/// "sxm4" is an sxm, "80gb" and "80g" are 80, "pcie80g" is pcie and 80; makers and brands go.
Words device_words(std::string_view text) {
  Words out;
  for (std::string word : words_of(text)) {
    for (const std::string_view form : {"nvlink", "pcie", "sxm"}) {
      if (!word.starts_with(form) || word.size() == form.size()) continue;
      if (form != "nvlink") out.emplace_back(form);
      word.erase(0, form.size());
      if (word.size() == 1) word.clear();  // sxm5
    }
    for (const std::string_view unit : {"gib", "gb", "g"}) {
      const bool size = word.ends_with(unit) && all_digits(std::string_view(word).substr(0, word.size() - unit.size()));
      if (size) word.resize(word.size() - unit.size());
    }
    if (!word.empty() && !contains(kDeviceWords, word)) out.push_back(std::move(word));
  }
  return out;
}

/// The words of an entry and what two neighbours make together ("gaudi" and "3").
Words entry_words(const Device& device) {
  Words out;
  for (const std::string_view text : {std::string_view(device.id), std::string_view(device.name)}) {
    const Words own = device_words(text);
    out.insert(out.end(), own.begin(), own.end());
    for (std::size_t i = 1; i < own.size(); ++i) out.push_back(own[i - 1] + own[i]);
  }
  return out;
}

}  // namespace

Result<const Model*> model_named(const Catalogue& catalogue, std::string_view name) {
  if (const Model* exact = catalogue.model(name)) return exact;
  const std::size_t slash = name.rfind('/');
  const Words words = words_of(slash == std::string_view::npos ? name : name.substr(slash + 1));
  const std::vector<std::string> keys = without_endings(words);
  // One word without a number is a family: "deepseek".
  const auto specific = std::count_if(words.begin(), words.end(), [](const auto& t) { return !is_ending(t); });
  const bool numbered = std::any_of(name.begin(), name.end(), is_digit);
  const ModelKeys known(catalogue);
  for (std::size_t level = 0; level < ModelKeys::kLevels; ++level) {
    if (level == 2 && specific < 2 && !numbered) break;
    for (const std::string& key : keys) {
      const std::vector<const Model*>* hits = known.find(level, key);
      if (hits == nullptr) continue;
      if (hits->size() == 1) return hits->front();
      std::vector<std::string_view> ids;
      for (const Model* model : *hits) ids.push_back(model->id);
      return ambiguous("model", name, std::move(ids));
    }
  }
  std::string folded;
  for (const std::string& token : words) {
    if (!is_ending(token)) folded += (folded.empty() ? "" : "-") + token;
  }
  return unknown("model", name, folded, catalogue.models(),
                 "; a path to a config.json or a spec \"dense:layers=...\" works too");
}

Result<const Device*> device_named(const Catalogue& catalogue, std::string_view name) {
  if (const Device* exact = catalogue.device(name)) return exact;
  const Words words = device_words(name);
  const std::string key = joined(words);
  for (const auto& [spelling, id] : kDeviceSpellings) {
    if (joined(device_words(spelling)) != key) continue;
    if (const Device* device = catalogue.device(id)) return device;
  }
  // "4090" is a name; "-1" and "40%" are not, though some device is the first of its kind or has 40 GB.
  const bool lettered = std::any_of(key.begin(), key.end(), [](char c) { return c >= 'a' && c <= 'z'; });
  const bool is_name = lettered || (key.size() >= 3 && all_digits(key));
  std::vector<std::string_view> fitting;
  for (const Device& device : catalogue.devices()) {
    if (!is_name) break;
    if (joined(device_words(device.id)) == key) return &device;
    const Words own = entry_words(device);
    const bool fits = std::all_of(words.begin(), words.end(), [&](const auto& word) {
      return std::find(own.begin(), own.end(), word) != own.end();
    });
    if (fits || joined(device_words(without_parentheses(device.name))) == key) fitting.push_back(device.id);
  }
  if (fitting.size() == 1) return catalogue.device(fitting[0]);
  for (const std::string_view usual : kUsual) {
    if (std::find(fitting.begin(), fitting.end(), usual) != fitting.end()) return catalogue.device(usual);
  }
  if (!fitting.empty()) return ambiguous("device", name, std::move(fitting));
  std::string folded;
  for (const std::string& word : words) folded += (folded.empty() ? "" : "-") + word;
  return unknown("device", name, folded, catalogue.devices(), "");
}

std::string_view format_in_name(std::string_view model) {
  constexpr auto kFormats = std::to_array<std::string_view>(
      {"fp8", "nvfp4", "mxfp4", "fp4", "awq", "gptq", "int4", "int8", "w4a16", "w8a8", "w8a16", "bf16", "fp16"});
  const std::size_t slash = model.rfind('/');
  for (const std::string& token : words_of(slash == std::string_view::npos ? model : model.substr(slash + 1))) {
    const auto* const at = std::find(kFormats.begin(), kFormats.end(), token);
    if (at != kFormats.end()) return *at;
  }
  return {};
}

}  // namespace ridge
