#include "app/cli/line/plan_file.hpp"

#include <algorithm>
#include <array>

#include "catalogue/files/toml_document.hpp"
#include "ridge/base/file.hpp"
#include "ridge/base/text.hpp"
#include "ridge/report/report.hpp"

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
constexpr std::string_view kPools = "--disaggregate";
constexpr std::string_view kEnginesOfPools = "--pools";
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

/// What was given already, to the verb or to all.
class Given {
 public:
  Given(const Options& own, const Options& globals) : all_{&own, &globals} {}

  [[nodiscard]] const Options* owner(std::string_view flag) const {
    for (const Options* options : all_) {
      if (options->find(flag) != nullptr) return options;
    }
    return nullptr;
  }
  [[nodiscard]] bool given(std::string_view flag) const {
    const Options* options = owner(flag);
    return options != nullptr && options->given(flag);
  }
  /// It is said, or something that stands in its place.
  [[nodiscard]] bool said(std::string_view flag) const {
    if (given(flag)) return true;
    for (const Without& line : kWithout) {
      if (given(line.said) && std::find(line.flags.begin(), line.flags.end(), flag) != line.flags.end()) return true;
    }
    for (const auto& group : kAlternatives) {
      if (std::find(group.begin(), group.end(), flag) == group.end()) continue;
      if (std::any_of(group.begin(), group.end(), [&](auto other) { return !other.empty() && given(other); })) {
        return true;
      }
    }
    return false;
  }

 private:
  std::array<const Options*, 2> all_;
};

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
    if (value->empty() && member.value.kind != TomlNode::Kind::flag) {
      return wrong_at(file, member.value.line, member.value.column,
                      flag + ": its value is empty: write one, or leave it out");
    }
    if (value->empty()) continue;
    plan.places[flag] = place_text(file, member.value.line, member.value.column);
    plan.flags.emplace_back(std::move(flag), *std::move(value));
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

Status take_plan_file(const std::string& path, Options own, Options globals,
                      const std::vector<std::string_view>& known) {
  const Result<std::string> text = read_file(path, kPlanFileLimit);
  if (!text) return text.error();
  const Result<PlanFile> plan = parse_plan_file(*text, path, known);
  if (!plan) return plan.error();

  const Given before(own, globals);
  const auto& loads = kAlternatives.front();
  const auto is_load = [&](const auto& entry) {
    return entry.first != kArrivals && std::find(loads.begin(), loads.end(), entry.first) != loads.end();
  };
  const bool arrives =
      own.find(kArrivalsKnown) != nullptr &&
      std::any_of(plan->flags.begin(), plan->flags.end(), [](const auto& entry) { return entry.first == kArrivals; });
  const bool clients = std::any_of(plan->flags.begin(), plan->flags.end(), is_load);
  std::vector<std::pair<Options, const std::pair<std::string, std::string>*>> open;
  for (const auto& entry : plan->flags) {
    const Options* owner = before.owner(entry.first);
    if (owner == nullptr || before.said(entry.first)) continue;
    if (arrives ? is_load(entry) : clients && entry.first == kArrivals) continue;
    open.emplace_back(*owner, &entry);
  }
  // Verbs that work for both kinds of plan take the file's word for which it is.
  const OptionText* kind = own.find(kKindFlag);
  if (kind != nullptr && kind->value == kKindValue && !own.given(kKindFlag)) {
    if (const Status s = own.set(kKindFlag, {plan->kind}); !s) return s;
  }
  for (auto& [owner, entry] : open) {
    const std::string& place = plan->places.find(entry->first)->second;
    if (const Status s = owner.set(entry->first, {entry->second}, place); !s) return located(s.error(), owner.places());
    // "3P2D" is how many engines each pool has, which verbs that only need to know that there are pools take by
    // --pools.
    const bool counted = entry->first == kPools && entry->second != "true" && owner.find(kPools)->value.empty();
    if (counted && own.find(kEnginesOfPools) != nullptr && !own.given(kEnginesOfPools)) {
      if (const Status s = own.set(kEnginesOfPools, {entry->second}, place); !s) return s;
    }
  }
  return {};
}

}  // namespace ridge::cli
