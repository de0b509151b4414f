#include "app/cli/plan_file.hpp"

#include <algorithm>
#include <array>

#include "catalogue/toml_document.hpp"
#include "ridge/file.hpp"
#include "ridge/report.hpp"
#include "ridge/text.hpp"

namespace ridge::cli {

namespace {

constexpr std::size_t kPlanFileLimit = 1'000'000;

/// Flags that say the same thing in different ways: at most one of a group holds.
constexpr std::array<std::array<std::string_view, 4>, 2> kAlternatives = {{
    {"--batch", "--concurrency", "--offline", "--request-rate"},
    {"--device", "--system", "", ""},
}};

/// What a flag of the line takes the place of. What a plan's replicas are used at holds for its own load alone.
struct Without {
  std::string_view said;
  std::array<std::string_view, 5> flags;
};
constexpr Without kWithout[] = {
    {"--find-rate", {"--batch", "--concurrency", "--offline", "--request-rate", "--requests"}},
    {"--workload", {"--isl", "--osl", "--prefix-hit", "--requests"}},
    {"--isl", {"--workload"}},
    {"--osl", {"--workload"}},
    {"--duration", {"--requests"}},
    {"--lease-month", {"--price"}},
    {"--batch", {"--utilization"}},
    {"--concurrency", {"--utilization"}},
    {"--offline", {"--utilization"}},
    {"--throughput", {"--utilization"}},
};
/// Of a file that says both, this is the load for verbs that know arrivals.
constexpr std::string_view kArrivals = "--request-rate";
constexpr std::string_view kArrivalsKnown = "--arrivals";

Error wrong_at(const std::string& file, std::uint32_t line, std::uint32_t column, std::string message) {
  return {ErrorCode::bad_input, place_text(file, line, column), std::move(message)};
}

std::string flag_of(std::string_view key) {
  std::string flag = "--" + std::string(key);
  std::replace(flag.begin(), flag.end(), '_', '-');
  return flag;
}

/// The value as it would stand on a command line; empty if a switch is off.
Result<std::string> value_of(const TomlMember& member, const std::string& file) {
  const TomlNode& value = member.value;
  switch (value.kind) {
    case TomlNode::Kind::text:
    case TomlNode::Kind::date:
      return value.text;
    case TomlNode::Kind::integer:
      return std::to_string(value.integer);
    case TomlNode::Kind::number:
      return exact_number(value.number);
    case TomlNode::Kind::flag:
      return std::string(value.flag ? "true" : "");
    case TomlNode::Kind::array: {
      std::string list;
      for (const TomlNode& item : value.items) {
        if (item.kind != TomlNode::Kind::text) {
          return wrong_at(file, item.line, item.column, "a list holds texts, this is " + std::string(name(item.kind)));
        }
        list += (list.empty() ? "" : ",") + item.text;
      }
      return list;
    }
    case TomlNode::Kind::table:
      break;
  }
  return wrong_at(file, value.line, value.column, "a flag has a text, a number, true or a list, not a table");
}

bool names_flag(std::string_view word, std::string_view flag) {
  return word == flag || (word.starts_with(flag) && word.size() > flag.size() && word[flag.size()] == '=');
}

bool on_line(const std::vector<std::string>& words, std::string_view flag) {
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) { return names_flag(word, flag); });
}

/// The line says it already, or says it in another way.
bool said(const std::vector<std::string>& words, std::string_view flag) {
  if (on_line(words, flag)) return true;
  for (const Without& line : kWithout) {
    if (on_line(words, line.said) && std::find(line.flags.begin(), line.flags.end(), flag) != line.flags.end()) {
      return true;
    }
  }
  for (const auto& group : kAlternatives) {
    if (std::find(group.begin(), group.end(), flag) == group.end()) continue;
    for (const std::string_view other : group) {
      if (!other.empty() && on_line(words, other)) return true;
    }
  }
  return false;
}

std::vector<std::string_view> flags_of(const std::vector<OptionText>& texts) {
  std::vector<std::string_view> names;
  for (const OptionText& text : texts) {
    if (!text.name.empty()) names.push_back(text.name);
  }
  return names;
}

}  // namespace

Result<PlanFile> parse_plan_file(std::string_view text, const std::string& file,
                                 const std::vector<std::string_view>& known) {
  const Result<TomlNode> root = parse_toml(text, file);
  if (!root) return root.error();
  PlanFile plan;
  for (const TomlMember& member : root->members) {
    if (member.key != "kind" && member.key != "flags") {
      return wrong_at(file, member.line, member.column,
                      quoted(member.key) + " is no key of a plan; there are kind and [flags]");
    }
  }
  const TomlMember* kind = root->find("kind");
  if (kind == nullptr || (kind->value.text != "serve" && kind->value.text != "train")) {
    const std::uint32_t line = kind == nullptr ? 1 : kind->value.line;
    const std::uint32_t column = kind == nullptr ? 1 : kind->value.column;
    return wrong_at(file, line, column, R"(say what the plan is for: kind = "serve" or kind = "train")");
  }
  plan.kind = kind->value.text;
  const TomlMember* flags = root->find("flags");
  if (flags == nullptr || flags->value.kind != TomlNode::Kind::table) {
    return wrong_at(file, 1, 1, "the table [flags] is missing");
  }
  for (const TomlMember& member : flags->value.members) {
    std::string flag = flag_of(member.key);
    if (std::find(known.begin(), known.end(), flag) == known.end()) {
      const std::string near = nearest(flag, known.data(), known.size());
      return wrong_at(file, member.line, member.column,
                      "no command has a flag " + flag + (near.empty() ? "" : "; did you mean " + near + "?"));
    }
    Result<std::string> value = value_of(member, file);
    if (!value) return value.error();
    if (!value->empty()) plan.flags.emplace_back(std::move(flag), *std::move(value));
  }
  return plan;
}

std::string plan_file_text(const PlanFile& plan) {
  std::string text = "kind = \"" + plan.kind + "\"\n\n[flags]\n";
  for (const auto& [flag, value] : plan.flags) {
    std::string key = flag.substr(2);
    std::replace(key.begin(), key.end(), '-', '_');
    const bool whole = !value.empty() && value.size() < 10 &&
                       value.find_first_not_of("0123456789") == std::string::npos && (value == "0" || value[0] != '0');
    std::string escaped;
    for (const char c : value) {
      if (c == '"' || c == '\\') escaped += '\\';
      escaped += c;
    }
    text += key + " = " + (whole || value == "true" ? value : '"' + escaped + '"') + "\n";
  }
  return text;
}

Result<std::vector<std::string>> with_plan_file(std::vector<std::string> words, const Grammar& grammar) {
  const auto at =
      std::find_if(words.begin(), words.end(), [](const auto& word) { return names_flag(word, kPlanFlag); });
  if (at == words.end()) return words;
  const bool joined = at->size() > kPlanFlag.size();
  if (!joined && at + 1 == words.end()) return Error{ErrorCode::bad_input, "--plan", "its value is missing"};
  const std::string path = joined ? at->substr(kPlanFlag.size() + 1) : *(at + 1);

  std::vector<std::string_view> known = flags_of(grammar.globals);
  for (const VerbText& verb : grammar.verbs) {
    for (const std::string_view flag : flags_of(verb.options)) known.push_back(flag);
  }
  const Result<std::string> text = read_file(path, kPlanFileLimit);
  if (!text) return text.error();
  const Result<PlanFile> plan = parse_plan_file(*text, path, known);
  if (!plan) return plan.error();

  const auto verb = std::find_if(grammar.verbs.begin(), grammar.verbs.end(), [&](const VerbText& v) {
    return std::find(words.begin(), words.end(), v.verb->name) != words.end();
  });
  const auto option_of = [&](std::string_view flag) -> const OptionText* {
    for (const auto* texts : {&grammar.globals, verb != grammar.verbs.end() ? &verb->options : nullptr}) {
      if (texts == nullptr) continue;
      const auto found = std::find_if(texts->begin(), texts->end(), [&](const auto& one) { return one.name == flag; });
      if (found != texts->end()) return &*found;
    }
    return nullptr;
  };
  const auto& loads = kAlternatives.front();
  const bool arrives =
      option_of(kArrivalsKnown) != nullptr &&
      std::any_of(plan->flags.begin(), plan->flags.end(), [](const auto& entry) { return entry.first == kArrivals; });
  const bool clients = std::any_of(plan->flags.begin(), plan->flags.end(), [&](const auto& entry) {
    return entry.first != kArrivals && std::find(loads.begin(), loads.end(), entry.first) != loads.end();
  });
  const std::vector<std::string> line = words;
  for (const auto& [flag, value] : plan->flags) {
    const OptionText* option = option_of(flag);
    if (option == nullptr || said(line, flag)) continue;
    if (arrives && flag != kArrivals && std::find(loads.begin(), loads.end(), flag) != loads.end()) continue;
    if (!arrives && clients && flag == kArrivals) continue;
    words.push_back(flag);
    if (!option->value.empty()) words.push_back(value);
  }
  // Verbs that work for both kinds of plan take the file's word for which it is.
  if (verb != grammar.verbs.end() && !on_line(line, kKindFlag)) {
    const auto wants = std::any_of(verb->options.begin(), verb->options.end(), [](const OptionText& option) {
      return option.name == kKindFlag && option.value == kKindValue;
    });
    if (wants) {
      words.emplace_back(kKindFlag);
      words.push_back(plan->kind);
    }
  }
  return words;
}

}  // namespace ridge::cli
