#include "measure/arguments.hpp"

#include <algorithm>
#include <charconv>
#include <functional>
#include <string_view>

#include "ridge/base/letters.hpp"
#include "ridge/base/text.hpp"

namespace ridge::measure {
namespace {

Error wrong(std::string where, std::string message) {
  return {ErrorCode::bad_input, std::move(where), std::move(message)};
}

Result<int> whole(const std::string& option, std::string_view text, int low, int high) {
  int value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc() || end != text.data() + text.size() || value < low || value > high) {
    return wrong(option,
                 quoted(text) + " is no whole number from " + std::to_string(low) + " to " + std::to_string(high));
  }
  return value;
}

Result<std::vector<int>> whole_list(const std::string& option, std::string_view text, int high) {
  std::vector<int> out;
  for (const std::string& part : split(text, ',')) {
    const Result<int> value = whole(option, part, 1, high);
    if (!value) return value.error();
    out.push_back(*value);
  }
  return out;
}

Result<std::vector<std::string>> words_of(const std::string& option, std::string_view text,
                                          const std::vector<std::string>& known) {
  std::vector<std::string> out = split(text, ',');
  for (const std::string& word : out) {
    if (std::find(known.begin(), known.end(), word) != known.end()) continue;
    std::string all;
    for (const std::string& one : known) all += (all.empty() ? "" : ", ") + one;
    return wrong(option, quoted(word) + " is none of " + all);
  }
  return out;
}

template <class T>
Status take(const Result<T>& from, T& into) {
  if (!from) return from.error();
  into = *from;
  return {};
}

constexpr int kMost = 1 << 30;

/// Reads the words after the task.
class Reader {
 public:
  explicit Reader(Arguments& arguments) : a_(arguments) {
    const auto number = [this](std::string name, int& into, int low, int high) {
      options_.push_back({std::move(name), [&into, low, high](const std::string& option, const std::string& value) {
                            return take(whole(option, value, low, high), into);
                          }});
    };
    number("--device", a_.device, 0, 1023);
    number("--layers", a_.model.layers, 1, 1000);
    number("--hidden", a_.model.hidden, 128, 16384);
    number("--heads", a_.model.heads, 1, 1024);
    number("--kv-heads", a_.model.kv_heads, 1, 1024);
    number("--head-dim", a_.model.head_dim, 16, 512);
    number("--ffn", a_.model.ffn, 16, 1 << 20);
    number("--vocab", a_.model.vocabulary, 16, 1 << 24);
    number("--most-tokens", a_.most_tokens, 1, kMost);
    const auto text = [this](std::string name, std::string& into) {
      options_.push_back({std::move(name), [&into](const std::string&, const std::string& value) {
                            into = value;
                            return Status();
                          }});
    };
    text("--out", a_.out);
    text("--model", a_.model.name);
    const auto list = [this](std::string name, std::vector<int>& into) {
      options_.push_back({std::move(name), [&into](const std::string& option, const std::string& value) {
                            return take(whole_list(option, value, kMost), into);
                          }});
    };
    list("--batch", a_.batches);
    list("--context", a_.contexts);
    const auto choice = [this](std::string name, std::vector<std::string>& into, std::vector<std::string> known) {
      options_.push_back({std::move(name), [&into, known](const std::string& option, const std::string& value) {
                            return take(words_of(option, value, known), into);
                          }});
    };
    choice("--only", a_.only, parts());
    choice("--precision", a_.precisions, {"bf16", "fp8"});
    choice("--phase", a_.phases, {"decode", "prefill"});
  }

  Status read(const std::vector<std::string>& words) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::string& word = words[i];
      if (word == "--quick" || word == "--full") {
        a_.full = word == "--full";
      } else if (word == "--force") {
        a_.force = true;
      } else if (word == "--ungated") {
        a_.model.gated = false;
      } else if (word == "--help" || word == "-h") {
        a_.task = Task::help;
      } else if (const Option* option = find(word); option != nullptr) {
        if (i + 1 == words.size()) return wrong(word, "a value is missing");
        if (const Status s = option->read(word, words[++i]); !s) return s;
      } else {
        return unknown(word);
      }
    }
    return {};
  }

 private:
  struct Option {
    std::string name;
    std::function<Status(const std::string&, const std::string&)> read;
  };
  [[nodiscard]] const Option* find(const std::string& word) const {
    const auto at = std::find_if(options_.begin(), options_.end(), [&](const Option& o) { return o.name == word; });
    return at == options_.end() ? nullptr : &*at;
  }
  [[nodiscard]] Error unknown(const std::string& word) const {
    std::vector<std::string_view> names = {"--quick", "--full", "--force", "--ungated", "--help"};
    for (const Option& o : options_) names.push_back(o.name);
    const std::string near = nearest(word, names.data(), names.size());
    return wrong(word, "is no option of ridge-measure" + (near.empty() ? "" : "; did you mean " + near + "?"));
  }

  Arguments& a_;
  std::vector<Option> options_;
};

}  // namespace

const std::vector<std::string>& parts() {
  static const std::vector<std::string> all = {"memory", "launch", "gemm",      "experts", "attention",
                                               "layers", "host",   "sustained", "steps",   "collectives"};
  return all;
}

Result<Arguments> parse_arguments(const std::vector<std::string>& words) {
  Arguments arguments;
  std::vector<std::string> rest = words;
  if (!rest.empty() && !rest.front().starts_with("-")) {
    if (rest.front() == "model") {
      arguments.task = Task::model;
    } else if (rest.front() == "products") {
      arguments.task = Task::products;
    } else if (rest.front() == "check") {
      arguments.task = Task::check;
    } else if (rest.front() == "help") {
      arguments.task = Task::help;
    } else {
      return wrong(rest.front(), "is no task of ridge-measure: say nothing, or model, products, check or help");
    }
    rest.erase(rest.begin());
  }
  if (const Status s = Reader(arguments).read(rest); !s) return s.error();
  const ModelShape& m = arguments.model;
  if (arguments.task == Task::model) {
    if (m.heads % m.kv_heads != 0) return wrong("--kv-heads", "does not divide --heads");
    if (m.head_dim != 128) return wrong("--head-dim", "only heads of dimension 128 are run");
    if (m.heads / m.kv_heads > 16) return wrong("--kv-heads", "more than 16 query heads per key-value head");
    if (m.hidden % 16 != 0 || m.ffn % 16 != 0 || m.vocabulary % 8 != 0) {
      return wrong("--hidden", "hidden and feed-forward width have to be multiples of 16, the vocabulary of 8");
    }
  }
  return arguments;
}

std::string usage() {
  return "ridge-measure: what this GPU reaches, as a profile that ridge reads\n"
         "\n"
         "  ridge-measure [--quick | --full] [--out FILE] [--device N] [--only PARTS] [--force]\n"
         "  ridge-measure model [--model NAME --layers N --hidden N --heads N --kv-heads N --head-dim 128 --ffn N\n"
         "                       --vocab N --ungated] [--precision bf16,fp8] [--phase decode,prefill]\n"
         "                      [--batch 1,8] [--context 1024] [--most-tokens N] [--out FILE]\n"
         "  ridge-measure products  times the products that lines of its input ask for: bf16 4096 4096 14336 (m, n, "
         "k)\n"
         "  ridge-measure check     compares its kernels with plain ones\n"
         "\n"
         "  PARTS: memory, launch, gemm, experts, attention, layers, host, sustained, steps, collectives\n";
}

}  // namespace ridge::measure
