#include "app/cli/profiles.hpp"

#include <algorithm>

#include "app/cli/plan_file.hpp"
#include "ridge/letters.hpp"

namespace ridge::cli {

namespace {

constexpr std::string_view kFlag = "--device";
constexpr std::string_view kJoined = "--device=";
constexpr std::string_view kEnding = ".toml";

/// Calls `each(value)` for the value of every --device on the line, in place.
template <class Each>
Status for_each_device(std::vector<std::string>& words, const Each& each) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == kFlag && i + 1 < words.size()) {
      if (const Status s = each(words[i + 1]); !s) return s;
    } else if (words[i].starts_with(kJoined)) {
      std::string value = words[i].substr(kJoined.size());
      if (const Status s = each(value); !s) return s;
      words[i] = std::string(kJoined) + value;
    }
  }
  return {};
}

}  // namespace

bool names_profile(const std::vector<std::string>& words) {
  std::vector<std::string> copy = words;
  bool found = false;
  (void)for_each_device(copy, [&](const std::string& value) -> Status {
    const std::vector<std::string> parts = split(value, ',');
    found = found || std::any_of(parts.begin(), parts.end(), [](const auto& p) { return p.ends_with(kEnding); });
    return {};
  });
  return found;
}

Result<std::vector<std::string>> with_profiles(std::vector<std::string> words, Session& session) {
  const Status done = for_each_device(words, [&](std::string& value) -> Status {
    std::string out;
    for (const std::string& part : split(value, ',')) {
      std::string name = part;
      if (part.ends_with(kEnding)) {
        const Result<std::string> id = session.use_profile(part);
        if (!id) return id.error();
        name = *id;
      }
      out += (out.empty() ? "" : ",") + name;
    }
    value = std::move(out);
    return {};
  });
  if (!done) return done.error();
  return words;
}

Result<Command> measured_command(Command command, const std::vector<std::string>& words, std::span<const Verb> verbs,
                                 Session& session) {
  Result<std::vector<std::string>> line = words;
  if (std::any_of(words.begin(), words.end(), [](const auto& word) { return word.starts_with(kPlanFlag); })) {
    line = with_plan_file(words, grammar(verbs));
  }
  if (!line || !names_profile(*line)) return command;
  const Result<std::vector<std::string>> plain = with_profiles(*std::move(line), session);
  if (!plain) return plain.error();
  GlobalOptions as_before;  // only the devices are named otherwise
  return parse_command_line(*plain, verbs, as_before);
}

}  // namespace ridge::cli
