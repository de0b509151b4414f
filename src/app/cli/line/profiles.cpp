#include "app/cli/line/profiles.hpp"

#include "ridge/base/letters.hpp"

namespace ridge::cli {

Status use_profiles(Options options, Session& session) {
  constexpr std::string_view kEnding = ".toml";
  return options.change("--device", [&](std::string& value) -> Status {
    if (value.find(kEnding) == std::string::npos) return {};
    std::string out;
    for (const std::string& part : split(value, ',')) {
      std::string name = part;
      if (part.ends_with(kEnding)) {
        Result<std::string> id = session.use_profile(part);
        if (!id) return id.error();
        name = *std::move(id);
      }
      out += (out.empty() ? "" : ",") + name;
    }
    value = std::move(out);
    return {};
  });
}

}  // namespace ridge::cli
